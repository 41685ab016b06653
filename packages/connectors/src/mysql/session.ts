import net from 'node:net'
import { type ConnectorContext, ConnectorError, type TcpStream } from '@penstock/connector'
import mysql from 'mysql2'
import { withGrant } from '../databases/cloud-grants.ts'
import { type ReusableSession, reuse } from '../databases/kept-sessions.ts'
import { noAnswer, tooSlow } from '../databases/problems.ts'
import type { Place } from '../databases/settings.ts'
import { bounds } from './bounds.ts'
import { connectorErrorOf } from './errors.ts'
import { guardPackets, invalidAnswer, type PacketGuard } from './packet-guard.ts'
import { foundIn, type LookupRow, type RawRow, valueIn } from './raw-rows.ts'

/** One connection, signed in. Its methods throw the driver’s errors; `guard` makes `ConnectorError`s of them. */
export type MysqlSession = {
  readonly place: Place
  /** Runs one statement and resolves with its rows, whose values are texts. */
  run(sql: string, values?: readonly unknown[]): Promise<LookupRow[]>
  /** Runs one statement that changes rows. `warnings` are those of the server. */
  change(statement: MysqlStatement): Promise<Changed>
  /** The columns of a query, without its rows. */
  describe(sql: string): Promise<readonly mysql.FieldPacket[]>
  /** Runs one statement and hands out its rows as they come. */
  stream(sql: string, sink: RowSink): void
  /** Asks for a log, and hands out its packets as they come; afterwards the connection can be used for nothing else. */
  dump(request: Buffer, sink: DumpSink): void
  pause(): void
  resume(): void
  /** Maps an error to a `ConnectorError` or the reason of the context's signal. Returns a defect unchanged. */
  problemOf(error: unknown): unknown
  /**
   * Does some work with this connection, and throws what its errors mean. Work that takes longer than `boundMs`, five
   * minutes unless said otherwise, is given up together with the connection: a network may fall silent without a word.
   */
  guard<T>(work: () => Promise<T>, boundMs?: number): Promise<T>
  /** Ends the connection at once; work that waits for it fails with this error. */
  abandon(connectorError?: ConnectorError): void
  /** Rejects when the connection is lost or abandoned. */
  readonly lost: Promise<never>
  /** Whether it can still be used. */
  readonly alive: boolean
  /** Disconnects. Never throws. */
  close(): Promise<void>
}

export type MysqlStatement = {
  readonly sql: string
  readonly values?: readonly unknown[]
  /** The data for LOAD DATA LOCAL. Without it, a server that asks for a file receives nothing. */
  readonly infileStreamFactory?: () => NodeJS.ReadableStream
}

export type Changed = { readonly rows: number; readonly warnings: number }

/** Where rows go that are read one by one. Exactly one of `end` and `fail` is called in the end, `fail` maybe twice. */
export type RowSink = {
  readonly row: (row: RawRow) => void
  readonly end: () => void
  readonly fail: (error: unknown) => void
}

/** Where the events of a log go. Exactly one of `end` and `fail` is called in the end, `fail` maybe twice. */
export type DumpSink = {
  readonly event: (bytes: Buffer) => void
  readonly end: () => void
  /** @param refusal what the server says, if it refuses to continue */
  readonly fail: (error: unknown, refusal?: { readonly errno: number; readonly message: string }) => void
}

/** Members of the driver that its types lack. */
type Driver = mysql.Connection & {
  packetParser: { execute(bytes: Buffer): void }
  write(bytes: Buffer): void
  readonly sequenceId: number
}

/**
 * Connects to the address that the egress allows for the host, and signs in. Throws `ConnectorError`s.
 * @param infile whether LOAD DATA LOCAL may be used
 */
export const openSession = (context: ConnectorContext, place: Place, infile = false): Promise<MysqlSession> =>
  reuse(context, JSON.stringify(['mysql', infile, place]), () => connectTo(context, place, infile))

async function connectTo(
  context: ConnectorContext,
  place: Place,
  infile: boolean,
): Promise<ReusableSession<MysqlSession>> {
  const { signal } = context
  signal.throwIfAborted()
  if (place.tls === 'verify-full' && net.isIP(place.host) !== 0) throw nameNeeded()
  // The libraries for tokens are loaded when a token is needed.
  const password =
    place.signIn === 'password'
      ? place.password
      : await (await import('../databases/cloud-passwords.ts')).tokenOf(context, place)
  const options = { signal, timeoutMs: bounds.signInMs }
  const socket = await context.egress.connect(place.host, place.port, options).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : connectorErrorOf(error, place, true)
  })
  let alive = true
  let connecting = true
  let given: ConnectorError | undefined
  /** Whom the connection serves. A session that is kept serves several contexts, one after the other. */
  let served: ConnectorContext | undefined = context
  const problemOf = (error: unknown): unknown =>
    served?.signal.aborted ? served.signal.reason : (given ?? connectorErrorOf(error, place, connecting))
  let reportLost = (_error: Error) => {}
  const lost = new Promise<never>((_, reject) => {
    reportLost = reject
  })
  lost.catch(() => {})
  const abandon = (connectorError?: ConnectorError): void => {
    socket.destroy()
    if (!alive) return
    given = connectorError
    alive = false
    reportLost(new Error('abandoned'))
  }
  const stop = () => abandon()
  const follow = (next: ConnectorContext | undefined): void => {
    served?.signal.removeEventListener('abort', stop)
    served = next
    next?.signal.addEventListener('abort', stop, { once: true })
  }
  follow(context)
  const connectTimer = setTimeout(() => abandon(noAnswer(place.host, bounds.signInMs)), bounds.signInMs)
  let connection: Driver | undefined
  let guard: PacketGuard | undefined
  const release = () => {
    clearTimeout(connectTimer)
    follow(undefined)
  }
  try {
    connection = mysql.createConnection(optionsFor(place, { password, socket, infile })) as Driver
    guard = guardDriver(connection, place.host, abandon)
    connection.on('error', (error: Error) => {
      alive = false
      reportLost(error)
      // The driver only sends its quit command, and a server need not answer that.
      socket.destroy()
    })
    socket.on('close', () => {
      alive = false
      reportLost(Object.assign(new Error('closed'), { code: 'PROTOCOL_CONNECTION_LOST' }))
    })
    const opened = connection
    const connected = new Promise<void>((resolve, reject) => {
      opened.connect((error) => (error ? reject(error) : resolve()))
    })
    connected.catch(() => {})
    await Promise.race([connected, lost])
  } catch (error) {
    const problem = withGrant(problemOf(error), place)
    abandon()
    release()
    throw problem
  }
  clearTimeout(connectTimer)
  connecting = false
  const opened = connection
  const packets = guard

  /** An error that the driver came with: what is neither the server's nor the network's is a failure to read an answer. */
  const ofDriver = (error: unknown): unknown =>
    connectorErrorOf(error, place, false) instanceof ConnectorError
      ? error
      : invalidAnswer(place.host, 'an answer cannot be read', error)

  type Answer = { result: unknown; fields: mysql.FieldPacket[] | undefined }
  const query = (statement: MysqlStatement): Promise<Answer> => {
    const answered = new Promise<Answer>((resolve, reject) => {
      packets.expect({ infile: statement.infileStreamFactory !== undefined, lookup: true })
      opened.query({ ...statement, ...rawRows } as unknown as mysql.QueryOptions, (error, result, fields) =>
        error ? reject(ofDriver(error)) : resolve({ result, fields }),
      )
    })
    // Ignore whichever of both comes second.
    answered.catch(() => {})
    return Promise.race([answered, lost])
  }

  const session: MysqlSession = {
    place,
    async run(sql, values = []) {
      const { result, fields } = await query({ sql, values })
      return foundIn(place.host, result, fields)
    },
    async change(statement) {
      const { affectedRows, warningStatus } = (await query(statement)).result as mysql.ResultSetHeader
      // A server that answers with rows has changed none.
      return { rows: Number(affectedRows ?? 0), warnings: Number(warningStatus ?? 0) }
    },
    async describe(sql) {
      const { fields = [] } = await query({ sql })
      if (fields.length === 0) throw invalidAnswer(place.host, notAnswered)
      return fields
    },
    stream(sql, { row, end, fail }) {
      packets.expect({ infile: false, lookup: false })
      const rows = opened.query({ sql, ...rawRows } as unknown as mysql.QueryOptions)
      rows.on('result', (result) => {
        try {
          if (!Array.isArray(result)) throw invalidAnswer(place.host, notAnswered)
          row(result as unknown as RawRow)
        } catch (error) {
          fail(error)
          abandon()
        }
      })
      rows.on('error', (error: unknown) => fail(problemOf(ofDriver(error))))
      rows.on('end', end)
      // A connection that is cut is not always heard of through the query.
      lost.catch((error: unknown) => fail(problemOf(error)))
    },
    dump(request, { event, end, fail }) {
      const refused = (payload: Buffer) => {
        const errno = payload.readUInt16LE(1)
        // A mark and five characters of the state come before the message.
        const message = payload.toString('utf8', payload[3] === 0x23 ? 9 : 3)
        fail(problemOf(Object.assign(new Error(message), { errno, sqlState: '', code: '' })), { errno, message })
      }
      packets.expect({ infile: false, lookup: false, log: { event, end, error: refused } })
      opened.write(framed(request))
      lost.catch((error: unknown) => fail(problemOf(error)))
    },
    pause: () => opened.pause(),
    resume: () => opened.resume(),
    problemOf,
    async guard(work, boundMs = bounds.statementMs) {
      const timer = setTimeout(() => abandon(tooSlow(place.host, boundMs)), boundMs)
      try {
        return await work()
      } catch (error) {
        throw problemOf(error)
      } finally {
        clearTimeout(timer)
      }
    },
    abandon,
    lost,
    get alive() {
      return alive
    },
    async close() {
      release()
      if (!alive) return
      alive = false
      const cut = setTimeout(() => socket.destroy(), 5_000)
      await Promise.race([new Promise<void>((resolve) => opened.end(() => resolve())), lost.catch(() => {})])
      clearTimeout(cut)
      socket.destroy()
    },
  }
  /** Of texts that are sent and received, as the sign-in agreed it. A reset replaces it by the default of the server. */
  let collation: string | undefined
  return {
    session,
    rollBack: async () => void (await session.run('rollback')),
    async reset() {
      collation ??= await collationOf(session)
      packets.expect({ infile: false, lookup: true })
      const done = new Promise<void>((resolve, reject) => {
        opened.reset((error) => (error ? reject(ofDriver(error)) : resolve()))
      })
      done.catch(() => {})
      await Promise.race([done, lost])
      await session.run(`set names utf8mb4 collate ${collation}`)
    },
    follow,
  }
}

async function collationOf(session: MysqlSession): Promise<string> {
  const { host } = session.place
  const [row] = await session.run('select @@session.collation_connection as collation')
  const name = valueIn(host, row, 'collation')
  if (!/^utf8mb4_\w+$/.test(name)) throw invalidAnswer(host, 'its collation is not one of utf8mb4')
  return name
}

/** A command is the first packet of its exchange. */
function framed(payload: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUIntLE(payload.length, 0, 3)
  return Buffer.concat([head, payload])
}

const notAnswered = 'it confirms a query instead of answering it'

/** Rows as lists of bytes, read without code that is made from the names of columns. */
const rawRows = { rowsAsArray: true, typeCast: false, disableEval: true }

/** Puts the guard before the driver's parser, which gets all bytes of the server, be they encrypted on their way or not. */
function guardDriver(driver: Driver, host: string, abandon: (connectorError: ConnectorError) => void): PacketGuard {
  const parser = driver.packetParser
  const execute = parser.execute.bind(parser)
  const guard = guardPackets({
    host,
    sequence: () => driver.sequenceId,
    refuse: abandon,
    pass(packets) {
      try {
        execute(packets)
      } catch (error) {
        abandon(invalidAnswer(host, 'an answer cannot be read', error))
      }
    },
  })
  driver.packetParser = { execute: guard.receive }
  return guard
}

/** The driver looks for names in certificates, and would take one of localhost for that of any address. */
const nameNeeded = (): ConnectorError =>
  new ConnectorError(
    'invalid_address',
    'The TLS mode verify-full needs the name of the host, because certificates are not checked for addresses; enter the host name.',
  )

function optionsFor(
  { host, port, database, user, signIn, tls, ca }: Place,
  of: { readonly password: string; readonly socket: TcpStream; readonly infile: boolean },
): mysql.ConnectionOptions {
  return {
    // The host is only a name here, sent to the server and compared with its certificate; the socket connects to the address.
    host,
    port,
    database,
    user,
    password: of.password,
    // Tokens of clouds are sent as they are, inside TLS.
    enableCleartextPlugin: signIn !== 'password',
    stream: of.socket,
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
    supportBigNumbers: true,
    bigNumberStrings: true,
    connectTimeout: bounds.signInMs,
    multipleStatements: false,
    flags: ['-SESSION_TRACK', '-MULTI_RESULTS', '-CLIENT_QUERY_ATTRIBUTES', ...(of.infile ? [] : ['-LOCAL_FILES'])],
  }
}
