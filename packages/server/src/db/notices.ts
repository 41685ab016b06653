import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { currentUrl, type DatabaseUrl, passOver, refuseStandby } from './addresses.ts'
import { idleTransactionMsDefault, keepAliveOptions } from './liveness.ts'
import { sessionSettings } from './session-settings.ts'
import { createSockets } from './sockets.ts'
import { connectionTo } from './tls.ts'

/**
 * Notices between processes on the same database, by LISTEN and NOTIFY: this token, this account, this key has changed. A
 * process that receives no notices must not cache, so listeners learn when the connection is lost and when it is back.
 */
const channel = 'penstock'

export type NoticeListener = {
  /** Called for a notice of the topic. `value` says what the notice is about. */
  onMessage?: (value: string) => void
  /** The connection was lost. Notices can be missed until `onReconnect`. */
  onDisconnect?: () => void
  /**
   * Called when it listens again, on the listening connection and before any notice is delivered. If it throws, the connection
   * is treated as lost.
   */
  onReconnect?: (client: pg.Client) => Promise<void>
}

export type Notices = {
  readonly listening: boolean
  on(topic: string, listener: NoticeListener): void
  /** Listens until closed. Resolves when it listens for the first time. */
  start(): Promise<void>
  close(): Promise<void>
}

const retryMs = 500
const heartbeatMs = 5_000
const timeoutMs = 5_000

/** SQL that sends a notice. In a transaction, the notice is sent with the commit. */
export const notify = `select pg_notify('${channel}', :topic || ':' || :value)`
/** The same, about nothing in particular. */
export const notifyOf = (topic: string): string => `select pg_notify('${channel}', '${topic}:')`
/** The same of several values. */
export const notifyAll = `select pg_notify('${channel}', :topic || ':' || value) from unnest(:values::text[]) as value`

export function createNotices(url: DatabaseUrl, onError: (error: unknown) => void): Notices {
  const sockets = createSockets()
  const listeners: { topic: string; listener: NoticeListener }[] = []
  let client: pg.Client | undefined
  let listening = false
  let closed = false
  let heartbeat: NodeJS.Timeout | undefined

  const deliver = (payload: string) => {
    const topic = payload.slice(0, payload.indexOf(':'))
    for (const entry of listeners)
      if (entry.topic === topic) entry.listener.onMessage?.(payload.slice(topic.length + 1))
  }

  const lose = (lost: pg.Client) => {
    // A connection that was given up can report its end after the next one has started to listen.
    if (lost !== client || !listening) return
    clearInterval(heartbeat)
    listening = false
    for (const { listener } of listeners) listener.onDisconnect?.()
    void lost.end().catch(() => {})
    if (!closed) void keepConnecting()
  }

  const connect = async () => {
    const address = currentUrl(url)
    const fresh = new pg.Client({
      ...connectionTo(address),
      stream: sockets.open,
      application_name: 'penstock notices',
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      ...keepAliveOptions,
    })
    fresh.on('error', () => lose(fresh))
    fresh.on('end', () => lose(fresh))
    fresh.on('notification', (message) => deliver(message.payload ?? ''))
    try {
      await fresh.connect()
      const check = refuseStandby(url)
      if (check) await fresh.query(check)
      await fresh.query(sessionSettings({ idle_in_transaction_session_timeout: idleTransactionMsDefault }))
      await fresh.query(`listen ${channel}`)
      for (const { listener } of listeners) await listener.onReconnect?.(fresh)
      if (closed) throw new Error('Closed while it was connecting')
    } catch (error) {
      passOver(url, address)
      await fresh.end().catch(() => {})
      throw error
    }
    client = fresh
    listening = true
    // A connection can break without an error. Without heartbeats, nothing would notice.
    heartbeat = setInterval(() => void fresh.query('select 1').catch(() => lose(fresh)), heartbeatMs)
    heartbeat.unref()
  }

  const keepConnecting = async () => {
    while (!closed) {
      try {
        return await connect()
      } catch (error) {
        if (closed) return
        onError(error)
        await delay(retryMs, undefined, { ref: false })
      }
    }
  }

  return {
    get listening() {
      return listening
    },
    on: (topic, listener) => void listeners.push({ topic, listener }),
    start: connect,
    close: async () => {
      closed = true
      clearInterval(heartbeat)
      await Promise.all([client?.end().catch(() => {}), sockets.closed()])
    },
  }
}
