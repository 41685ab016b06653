import type { SourceAnswer } from '@penstock/wire'
import { useRef, useState } from 'react'
import { readNow } from '../../api/queries.ts'
import { type ConnectorOfAccount, parametersOf } from '../connectors/of-account.ts'
import type { SourceSettings } from './use-settings.ts'

/** An answer, and for what it was. */
export type AskedAnswer = {
  readonly stream: string
  /** The text of the definition. */
  readonly text: string
  /** The number of the page, from 1. */
  readonly page: number
  readonly reply: SourceAnswer
}

/**
 * Sends the request of a stream with the settings as they are typed. A new request ends the one before.
 * @param stream its name; empty: nothing is sent
 * @param text the text of the definition
 */
export function useAsk(
  of: ConnectorOfAccount,
  stream: string,
  text: string,
  { changes, isJudgedRight, fail }: SourceSettings,
) {
  const [asked, setAsked] = useState<AskedAnswer>()
  const [asking, setAsking] = useState(false)
  const sending = useRef<AbortController>(undefined)
  /** @param page what an answer named as its next page; undefined: the first one */
  const ask = async (page?: string) => {
    if (!isJudgedRight() || stream === '') return
    sending.current?.abort()
    const now = new AbortController()
    sending.current = now
    setAsking(true)
    try {
      const body = {
        settings: { stream },
        ...(Object.keys(changes).length > 0 ? { secretConfig: changes } : {}),
        ...(page === undefined ? {} : { page }),
      }
      const { reply } = await readNow('askSource', { ...parametersOf(of), body, signal: now.signal })
      if (now.signal.aborted) return
      setAsked((last) => ({ stream, text, reply, page: page === undefined || last === undefined ? 1 : last.page + 1 }))
    } catch (error) {
      if (!now.signal.aborted) fail(error)
    } finally {
      if (sending.current === now) setAsking(false)
    }
  }
  return { ask, asking, asked: asked?.stream === stream ? asked : undefined }
}
