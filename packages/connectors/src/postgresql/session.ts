import net from 'node:net'
import type { ConnectorContext, Outcome } from '@penstock/connector'
import pg from 'pg'
import { noAnswer, tooSlow } from '../databases/faults.ts'
import type { Place } from '../databases/settings.ts'
import { outcomeOf } from './errors.ts'

const connectTimeoutMs = 15_000

/** One connection, signed in. Its methods throw the driver’s errors; `guard` makes `Outcome`s of them. */
export type Session = {
  readonly place: Place
  /** Runs one statement, or several without values, and resolves with the rows of the (last) one. */
  run<R extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<R[]>
  /** Runs one statement and resolves with the number of rows that it changed. */
  change(text: string, values?: readonly unknown[]): Promise<number>
  /** Runs several statements without values in one go, and resolves with the number of rows that each changed. */
  changes(text: string): Promise<number[]>
  /** Describes the rows of one statement, which is all that it may be, without running it to its end. */
  describe(text: string): Promise<readonly pg.FieldDef[]>
  /** Hands a query of our own to the driver. */
  submit(query: pg.Submittable): void
  /** What an error of this connection means: an `Outcome`, the reason of the context's signal, or a defect as it is. */
  faultOf(error: unknown): unknown
  /**
   * Does some work with this connection, and throws what its errors mean. Work that takes longer than `boundMs`, five
   * minutes unless said otherwise, is given up together with the connection: a network may fall silent without a word.
   */
  guard<T>(work: () => Promise<T>, boundMs?: number): Promise<T>
  /** Ends the connection at once, and what runs in it on the server; whoever waits for it is told this outcome. */
  abandon(outcome?: Outcome): void
  /** Whether it can still be used. */
  readonly alive: boolean
  /** Takes leave. Never throws. */
  close(): Promise<void>
}

/** Connects to the address that the egress allows for the host, and signs in. */
export async function openSession(context: ConnectorContext, place: Place): Promise<Session> {
  const { signal } = context
  signal.throwIfAborted()
  const ip = await context.egress.resolve(place.host, place.port)
  signal.throwIfAborted()
  const socket = new net.Socket()
  const client = new pg.Client({
    host: ip,
    port: place.port,
    database: place.database,
    user: place.user,
    // Asked for rather than given, because for an empty one the driver would look into the environment and into files.
    password: () => place.password,
    ssl: tlsOf(place),
    stream: () => socket,
    application_name: 'penstock',
    client_encoding: 'UTF8',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  let alive = true
  let given: Outcome | undefined
  let connecting = true
  const faultOf = (error: unknown): unknown =>
    signal.aborted ? signal.reason : (given ?? outcomeOf(error, place, connecting))
  client.on('error', () => {
    alive = false
  })
  client.on('end', () => {
    alive = false
  })
  const abandon = (outcome?: Outcome): void => {
    if (!alive) return
    given = outcome
    alive = false
    if (!connecting) cancel(ip, place.port, client)
    socket.destroy(new Error('abandoned'))
  }
  const stop = () => abandon()
  signal.addEventListener('abort', stop, { once: true })
  const connectTimer = setTimeout(() => abandon(noAnswer(place.host, connectTimeoutMs)), connectTimeoutMs)
  try {
    await client.connect()
  } catch (error) {
    const fault = faultOf(error)
    abandon()
    signal.removeEventListener('abort', stop)
    throw fault
  } finally {
    clearTimeout(connectTimer)
  }
  connecting = false

  /** With several statements, the result of the last. */
  async function query<R extends pg.QueryResultRow>(asked: object): Promise<pg.QueryResult<R>> {
    const result: pg.QueryResult<R> | pg.QueryResult<R>[] = await client.query<R>(asked as pg.QueryConfig)
    const last = Array.isArray(result) ? result.at(-1) : result
    if (!last) throw new Error('The driver gave no result')
    return last
  }

  return {
    place,
    run: async <R extends pg.QueryResultRow>(text: string, values?: readonly unknown[]) =>
      (await query<R>({ text, values })).rows,
    change: async (text, values) => (await query({ text, values })).rowCount ?? 0,
    async changes(text) {
      const results: pg.QueryResult | pg.QueryResult[] = await client.query(text)
      return [results].flat().map(({ rowCount }) => rowCount ?? 0)
    },
    // The extended protocol refuses more than one statement.
    describe: async (text) => (await query({ text, queryMode: 'extended' })).fields,
    submit: (query) => void client.query(query),
    faultOf,
    async guard(work, boundMs = 300_000) {
      const timer = setTimeout(() => abandon(tooSlow(place.host, boundMs)), boundMs)
      try {
        return await work()
      } catch (error) {
        throw faultOf(error)
      } finally {
        clearTimeout(timer)
      }
    },
    abandon,
    get alive() {
      return alive
    },
    async close() {
      signal.removeEventListener('abort', stop)
      if (!alive) return
      alive = false
      const cut = setTimeout(() => socket.destroy(), 5_000)
      await client.end().catch(() => {})
      clearTimeout(cut)
    },
  }
}

/** Encrypted with whom: anyone for `require`, the one whom the host's name means for `verify-full`. */
function tlsOf({ tls, host, ca }: Place): pg.ClientConfig['ssl'] {
  if (tls === 'disable') return false
  // The name is told to the server and looked for in its certificate, though the connection goes to an address.
  const servername = net.isIP(host) === 0 ? { servername: host } : {}
  if (tls === 'require') return { rejectUnauthorized: false, ...servername }
  return { rejectUnauthorized: true, ...servername, ...(ca ? { ca } : {}) }
}

/**
 * Asks the server to cancel what runs: one that sorts would otherwise notice only when it sends its first row that nobody
 * is there any more. Such a request is a connection of its own, unencrypted by design, and is never answered.
 */
function cancel(ip: string, port: number, client: pg.Client): void {
  const { processID, secretKey } = client as unknown as { processID?: number | null; secretKey?: number | null }
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return
  const request = Buffer.alloc(16)
  request.writeInt32BE(16, 0)
  request.writeInt32BE(80_877_102, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  const socket = net.connect({ host: ip, port, timeout: connectTimeoutMs })
  socket.on('error', () => {})
  socket.on('timeout', () => socket.destroy())
  socket.unref()
  socket.end(request)
}
