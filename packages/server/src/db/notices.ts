import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { currentUrl, type DatabaseUrl } from './database.ts'
import { createSockets } from './sockets.ts'

/**
 * News between processes on the same database, by LISTEN and NOTIFY: "this token, this account, this key is no longer
 * what you remember". A process that cannot hear must not remember, so listeners are told when hearing stops and starts.
 */
const channel = 'penstock'

export type Listener = {
  /** News of the topic; `value` is what it is about. */
  onMessage?: (value: string) => void
  /** The connection was lost: messages may be missed until `onReconnect`. */
  onDisconnect?: () => void
  /** Hearing again; runs before any news is delivered, on the listening connection. A throw counts as a lost connection. */
  onReconnect?: (client: pg.Client) => Promise<void>
}

export type Notices = {
  readonly hearing: boolean
  on(topic: string, listener: Listener): void
  /** Starts to listen and keeps at it until closed; resolves once it hears for the first time. */
  start(): Promise<void>
  close(): Promise<void>
}

const retryMs = 500
const heartbeatMs = 5_000
const timeoutMs = 5_000

/** SQL that sends news; in a transaction it goes out with the commit. */
export const notify = `select pg_notify('${channel}', :topic || ':' || :value)`

export function createNotices(url: DatabaseUrl, onError: (error: unknown) => void): Notices {
  const sockets = createSockets()
  const listeners: { topic: string; listener: Listener }[] = []
  let client: pg.Client | undefined
  let hearing = false
  let closed = false
  let heartbeat: NodeJS.Timeout | undefined

  const deliver = (payload: string) => {
    const topic = payload.slice(0, payload.indexOf(':'))
    for (const entry of listeners)
      if (entry.topic === topic) entry.listener.onMessage?.(payload.slice(topic.length + 1))
  }

  const lose = (lost: pg.Client) => {
    // A connection that was given up may still report its end when the next one hears already.
    if (lost !== client || !hearing) return
    clearInterval(heartbeat)
    hearing = false
    for (const { listener } of listeners) listener.onDisconnect?.()
    void lost.end().catch(() => {})
    if (!closed) void keepConnecting()
  }

  const connect = async () => {
    const fresh = new pg.Client({
      connectionString: currentUrl(url),
      stream: sockets.open,
      application_name: 'penstock notices',
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    })
    fresh.on('error', () => lose(fresh))
    fresh.on('end', () => lose(fresh))
    fresh.on('notification', (message) => deliver(message.payload ?? ''))
    try {
      await fresh.connect()
      await fresh.query(`listen ${channel}`)
      for (const { listener } of listeners) await listener.onReconnect?.(fresh)
      if (closed) throw new Error('Closed while it was connecting')
    } catch (error) {
      await fresh.end().catch(() => {})
      throw error
    }
    client = fresh
    hearing = true
    // A connection that died without a word would leave us deaf and unaware.
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
    get hearing() {
      return hearing
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
