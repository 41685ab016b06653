import { type DestinationTrial, limits } from '@penstock/wire'
import { useRef, useState } from 'react'
import { readNow } from '../../api/queries.ts'
import { type ConnectorOfAccount, parametersOf } from '../connectors/of-account.ts'
import type { SourceSettings } from './use-settings.ts'

/** Values of a row that is tried, by its columns. */
export type TriedRow = Readonly<Record<string, string>>

/** The outcome of rows that were tried, and for what it was. */
export type TriedRows = {
  readonly operation: string
  /** The text of the definition. */
  readonly text: string
  readonly rows: readonly TriedRow[]
  /** The numbers of the rows that were sent, from 0. */
  readonly sent: readonly number[]
  readonly reply: DestinationTrial
}

const empty: readonly TriedRow[] = Array.from({ length: limits.triedRowsMax }, () => ({}))

/**
 * Sends rows by an operation with the settings as they are typed.
 * @param operation its name; empty: nothing is sent
 * @param text the text of the definition
 */
export function useTry(
  of: ConnectorOfAccount,
  operation: string,
  columns: readonly string[],
  text: string,
  { changes, isJudgedRight, fail }: SourceSettings,
) {
  const [rows, setRows] = useState(empty)
  const [parameters, setParameters] = useState<TriedRow>({})
  const [tried, setTried] = useState<TriedRows>()
  const [trying, setTrying] = useState(false)
  const sending = useRef<AbortController>(undefined)
  const given = rows.map((row) =>
    Object.fromEntries(columns.flatMap((column) => (row[column] ? [[column, row[column]] as const] : []))),
  )
  const sent = [...given.keys()].filter((at) => Object.keys(given[at] ?? {}).length > 0)
  const send = async () => {
    if (!isJudgedRight() || operation === '' || sent.length === 0) return
    sending.current?.abort()
    const now = new AbortController()
    sending.current = now
    setTrying(true)
    try {
      const body = {
        settings: { operation, parameters: new URLSearchParams(parameters).toString() },
        rows: sent.map((at) => given[at] ?? {}),
        ...(Object.keys(changes).length > 0 ? { secretConfig: changes } : {}),
      }
      const { reply } = await readNow('tryDestination', { ...parametersOf(of), body, signal: now.signal })
      if (!now.signal.aborted) setTried({ operation, text, rows, sent, reply })
    } catch (error) {
      if (!now.signal.aborted) fail(error)
    } finally {
      if (sending.current === now) setTrying(false)
    }
  }
  return {
    rows,
    sent,
    setCell: (at: number, column: string, value: string) =>
      setRows((now) => now.map((row, index) => (index === at ? { ...row, [column]: value } : row))),
    parameters,
    setParameter: (name: string, value: string) => setParameters((now) => ({ ...now, [name]: value })),
    send,
    trying,
    tried: tried?.operation === operation ? tried : undefined,
  }
}
