import type { ResultOf } from '@penstock/client'
import type { ConnectorAuthorization, ConnectorDefinition } from '@penstock/wire'
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { readOnce, useRead, useWrite } from '../../api/queries.ts'
import { notifyDone } from '../../components/notify.ts'
import { authorization as say } from '../../strings/authorization.ts'
import { forgetCheck } from './kept-checks.ts'
import { type ConnectorOfAccount, parametersOf } from './of-account.ts'

/** Connecting a connector with a click: a person consents at the platform, in another tab. */

const againMs = 2_000

/** A link that was given out, which counts until it expires. */
type Link = {
  /** The version of the configuration from before. */
  readonly version: string | undefined
  readonly expiresMs: number
  /** Where to go, if the browser has blocked the tab. */
  readonly blockedUrl: string | undefined
}

export type Connecting = {
  /** Opens the platform in a new tab. Only in the handler of a click, or the browser blocks the tab. */
  connect: () => void
  /** The link is being created. */
  busy: boolean
  /** A tab was opened, and nothing was granted yet. */
  waiting: boolean
  blockedUrl: string | undefined
  /** Nothing was granted: the person declined, or the platform or the service refused it. */
  ended: 'declined' | 'failed' | undefined
  /** Why there is no link. */
  failure: unknown
}

/**
 * Whether a connector can be connected with a click, and whether it is.
 * @param definition undefined while it is not known
 */
export const useAuthorization = (
  of: ConnectorOfAccount,
  definition: Pick<ConnectorDefinition, 'authorization'> | undefined,
  { enabled = true }: { enabled?: boolean } = {},
): UseQueryResult<ResultOf<'getConnectorAuthorization'>, Error> =>
  useRead('getConnectorAuthorization', parametersOf(of), { enabled: enabled && Boolean(definition?.authorization) })

/** Whether the button that connects is shown. */
export const isConnectable = (authorization: ConnectorAuthorization | undefined): boolean =>
  authorization?.supported === true && authorization.available

/**
 * Connects a connector with a click.
 * @param platform its name
 * @param onConnected called once what was granted is saved
 */
export function useConnect(
  { accountId, connectorId, configurationId }: ConnectorOfAccount,
  platform: string,
  onConnected: () => void = () => {},
): Connecting {
  const of = parametersOf({ accountId, connectorId, configurationId })
  const queries = useQueryClient()
  const authorize = useWrite('authorizeConnector')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const [link, setLink] = useState<Link>()
  const [ended, setEnded] = useState<'declined' | 'failed'>()
  const reading = { enabled: link !== undefined, againAfterMs: againMs }
  const configuration = useRead('getConnectorConfiguration', of, reading)
  const authorization = useRead('getConnectorAuthorization', of, reading)
  const isDone =
    link !== undefined &&
    authorization.data?.reply.authorized === true &&
    configuration.data !== undefined &&
    configuration.data.etag !== link.version
  const attempt = link && authorization.data?.reply.attempt
  useEffect(() => {
    if (attempt !== 'declined' && attempt !== 'failed') return
    setLink(undefined)
    setEnded(attempt)
  }, [attempt])
  const done = () => {
    setLink(undefined)
    forgetCheck({ accountId, connectorId, configurationId })
    void readOnce('getConnector', { accountId, id: connectorId }).then(
      ({ reply }) => notifyDone(say.done(reply.name)),
      () => {}, // The page shows that it is connected all the same.
    )
    void queries.invalidateQueries()
    onConnected()
  }
  const latest = useRef(done)
  latest.current = done
  useEffect(() => {
    if (isDone) latest.current()
  }, [isDone])
  useEffect(() => {
    if (!link) return
    const timer = setTimeout(() => setLink(undefined), Math.max(0, link.expiresMs - Date.now()))
    return () => clearTimeout(timer)
  }, [link])

  const connect = async () => {
    const tab = openTab(say.opening(platform))
    setFailure(undefined)
    setEnded(undefined)
    setBusy(true)
    try {
      const { etag } = await readOnce('getConnectorConfiguration', of, { fresh: true })
      const { reply } = await authorize.mutateAsync(of)
      // Drops the result of the previous attempt.
      await readOnce('getConnectorAuthorization', of, { fresh: true })
      setLink({ version: etag, expiresMs: reply.expiresTime * 1000, blockedUrl: tab ? undefined : reply.url })
      tab?.location.replace(reply.url)
    } catch (error) {
      tab?.close()
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return {
    connect: () => void connect(),
    busy,
    ended,
    failure,
    waiting: link !== undefined,
    blockedUrl: link?.blockedUrl,
  }
}

/** A tab that cannot reach this page. Null where the browser blocks it. */
function openTab(text: string): Window | null {
  const tab = window.open('', '_blank')
  if (tab) {
    tab.opener = null
    tab.document.title = text
    tab.document.body.textContent = text
  }
  return tab
}
