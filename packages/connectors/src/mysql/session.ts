import net from 'node:net'
import { type ConnectorContext, Outcome } from '@penstock/connector'
import mysql from 'mysql2'
import { noAnswer, tooSlow } from '../databases/faults.ts'
import type { Place } from '../databases/settings.ts'
import { outcomeOf } from './errors.ts'

const connectTimeoutMs = 15_000

/** One connection, signed in. Its methods throw the driver’s errors; `guard` makes `Outcome`s of them. */
export type Session = {
  readonly place: Place
  readonly connection: mysql.Connection
  /** Runs one statement and resolves with its rows. */
  run<Found = Record<string, unknown>>(sql: string, values?: readonly unknown[]): Promise<Found[]>
  /** Runs one statement that changes rows. `warnings` are those of the server. */
  change(statement: Statement): Promise<Changed>
  /** What the columns of a query are, without its rows. */
  describe(sql: string): Promise<readonly mysql.FieldPacket[]>
  /** What an error of this connection means: an `Outcome`, the reason of the context's signal, or a defect as it is. */
  faultOf(error: unknown): unknown
  /**
   * Does some work with this connection, and throws what its errors mean. Work that takes longer than `boundMs`, five
   * minutes unless said otherwise, is given up together with the connection: a network may fall silent without a word.
   */
  guard<T>(work: () => Promise<T>, boundMs?: number): Promise<T>
  /** Ends the connection at once; whoever waits for it is told this outcome. */
  abandon(outcome?: Outcome): void
  /** Rejects when the connection is lost or abandoned. */
  readonly lost: Promise<never>
  /** Whether it can still be used. */
  readonly alive: boolean
  /** Takes leave. Never throws. */
  close(): Promise<void>
}

export type Statement = {
  readonly sql: string
  readonly values?: readonly unknown[]
  /** What LOAD DATA LOCAL reads; a server that asks for a file without it gets nothing. */
  readonly infileStreamFactory?: () => NodeJS.ReadableStream
}

export type Changed = { readonly rows: number; readonly warnings: number }

/** Connects to the address that the egress allows for the host, and signs in. */
export async function openSession(context: ConnectorContext, place: Place): Promise<Session> {
  const { signal } = context
  signal.throwIfAborted()
  if (place.tls === 'verify-full' && net.isIP(place.host) !== 0) throw nameNeeded()
  const ip = await context.egress.resolve(place.host, place.port)
  signal.throwIfAborted()
  const socket = net.connect({
    host: ip,
    port: place.port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 10_000,
  })
  let alive = true
  let connecting = true
  let given: Outcome | undefined
  const faultOf = (error: unknown): unknown =>
    signal.aborted ? signal.reason : (given ?? outcomeOf(error, place, connecting))
  let tellGone = (_error: Error) => {}
  const gone = new Promise<never>((_, reject) => {
    tellGone = reject
  })
  gone.catch(() => {})
  const abandon = (outcome?: Outcome): void => {
    if (!alive) return
    given = outcome
    alive = false
    socket.destroy()
    tellGone(new Error('abandoned'))
  }
  const stop = () => abandon()
  signal.addEventListener('abort', stop, { once: true })
  const connectTimer = setTimeout(() => abandon(noAnswer(place.host, connectTimeoutMs)), connectTimeoutMs)
  let connection: mysql.Connection | undefined
  const release = () => {
    clearTimeout(connectTimer)
    signal.removeEventListener('abort', stop)
  }
  try {
    connection = mysql.createConnection(optionsFor(place, socket))
    connection.on('error', (error: Error) => {
      alive = false
      tellGone(error)
    })
    socket.on('close', () => {
      alive = false
      tellGone(Object.assign(new Error('closed'), { code: 'PROTOCOL_CONNECTION_LOST' }))
    })
    const opened = connection
    const connected = new Promise<void>((resolve, reject) => {
      opened.connect((error) => (error ? reject(error) : resolve()))
    })
    connected.catch(() => {})
    await Promise.race([connected, gone])
  } catch (error) {
    const fault = faultOf(error)
    abandon()
    release()
    throw fault
  }
  clearTimeout(connectTimer)
  connecting = false
  const opened = connection

  type Answer = { result: unknown; fields: mysql.FieldPacket[] | undefined }
  const query = (options: object): Promise<Answer> => {
    const answered = new Promise<Answer>((resolve, reject) => {
      opened.query(options as mysql.QueryOptions, (error, result, fields) =>
        error ? reject(error) : resolve({ result, fields }),
      )
    })
    // Whichever of both comes second is nobody's business.
    answered.catch(() => {})
    return Promise.race([answered, gone])
  }

  return {
    place,
    connection: opened,
    run: async <Found>(sql: string, values: readonly unknown[] = []) =>
      (await query({ sql, values })).result as Found[],
    async change(statement) {
      const { affectedRows, warningStatus } = (await query(statement)).result as mysql.ResultSetHeader
      return { rows: affectedRows, warnings: warningStatus }
    },
    describe: async (sql) => (await query({ sql })).fields ?? [],
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
    lost: gone,
    get alive() {
      return alive
    },
    async close() {
      release()
      if (!alive) return
      alive = false
      const cut = setTimeout(() => socket.destroy(), 5_000)
      await Promise.race([new Promise<void>((resolve) => opened.end(() => resolve())), gone.catch(() => {})])
      clearTimeout(cut)
      socket.destroy()
    },
  }
}

/** The driver looks for names in certificates, and would take one of localhost for that of any address. */
const nameNeeded = (): Outcome =>
  new Outcome(
    'refused',
    'host_name_needed',
    'The TLS mode verify-full needs the name of the host, because an address is not looked for in certificates; give its name, or set the TLS mode to require.',
  )

function optionsFor(place: Place, socket: net.Socket): mysql.ConnectionOptions {
  const { host, port, database, user, password, tls, ca } = place
  return {
    // The host is only a name here, told to the server and looked for in its certificate; the socket goes to the address.
    ...{ host, port, database, user, password, stream: socket },
    ...(tls === 'disable'
      ? {}
      : {
          ssl:
            tls === 'require'
              ? { rejectUnauthorized: false }
              : { rejectUnauthorized: true, verifyIdentity: true, ...(ca ? { ca } : {}) },
        }),
    charset: 'utf8mb4',
    timezone: 'Z',
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    jsonStrings: true,
    connectTimeout: connectTimeoutMs,
    multipleStatements: false,
  }
}
