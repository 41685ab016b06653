import net from 'node:net'
import type tls from 'node:tls'
import {
  type ConnectOptions,
  type ConnectorContext,
  ConnectorError,
  createRedact,
  type Redact,
  type TcpStream,
} from '@penstock/connector'
import pg from 'pg'
import { withGrant } from '../databases/cloud-grants.ts'
import { type ReusableSession, reuse } from '../databases/kept-sessions.ts'
import { noAnswer, tooSlow } from '../databases/problems.ts'
import type { Place } from '../databases/settings.ts'
import { completed, type Shape, type Shaped, shaped } from './answers.ts'
import { CheckedSocket } from './checked-socket.ts'
import { connectorErrorOf, type Product, postgresqlProduct, unexpectedAnswer } from './errors.ts'
import { type CopyRows, createMessageCheck } from './message-check.ts'

/** From the first packet to the end of sign-in. */
const connectTimeoutMs = 15_000
/** For statements that only look something up, or begin a transaction. */
const guardTimeoutMs = 60_000
const messageLengthMax = 1_000

/**
 * One connection, signed in. Its methods throw the driver’s errors of the server (`pg.DatabaseError`) and a `ConnectorError` for
 * all else that goes wrong; `guard` makes a `ConnectorError` of the former, too. Values come as the server wrote them.
 */
export type PostgresSession = {
  readonly place: Place
  /** Takes the secrets of the configuration out of a text of the server. */
  readonly redact: Redact
  /** Runs statements without values in one go, and resolves with the number of rows that each changed or gave. */
  execute(statements: readonly string[]): Promise<number[]>
  /** Runs one statement, and resolves with its rows: the columns of the shape, which must be there. */
  rows<const S extends Shape>(text: string, shape: S, values?: readonly unknown[]): Promise<Shaped<S>[]>
  /** Describes the rows of one statement, which is all that it may be, without running it to its end. */
  describe(text: string): Promise<readonly pg.FieldDef[]>
  /**
   * Hands a COPY to the driver, as a query of our own.
   * @param rows gets the rows of COPY instead of the query
   */
  copy(query: pg.Submittable, rows?: CopyRows): void
  /** Stops to read from the server, or continues. For rows that do not pass the driver. */
  hold(isHeld: boolean): void
  /** Hands a statement with any number of rows to the driver, as a query of our own that takes them one by one. */
  stream(query: pg.Submittable): void
  /** An error of the driver: one of the server as it is, and all else as `problemOf` has it. */
  errorOf(error: unknown): unknown
  /** Maps an error of the driver to a `ConnectorError` or the reason of the context's signal. */
  problemOf(error: unknown): unknown
  /** Ends the connection because of an answer that makes no sense, and gives the error to throw. */
  unexpected(what: string): ConnectorError
  /**
   * Does some work with this connection, and throws what its errors mean. Work that takes longer than `boundMs`, a minute
   * unless given, is given up together with the connection: a network may fall silent without a word.
   */
  guard<T>(work: () => Promise<T>, boundMs?: number): Promise<T>
  /** Ends the connection at once, and what runs in it on the server; work that waits for it fails with this error. */
  abandon(connectorError?: ConnectorError): void
  /** Whether it can still be used. */
  readonly alive: boolean
  /** Ends the connection. Never throws. */
  close(): Promise<void>
}

/**
 * Connects to the address that the egress allows for the host, and signs in.
 * @param name what the server calls the connection
 * @param product the kind of server, for messages
 */
export async function openSession(
  context: ConnectorContext,
  place: Place,
  name = keptName,
  product = postgresqlProduct,
): Promise<PostgresSession> {
  if (!context.sessions || product !== postgresqlProduct) {
    return (await connectTo(context, place, name, product)).session
  }
  // A kept session has the name of its present use, which no longer applies while it waits.
  const connect = () => connectTo(context, place, keptName, product)
  const session = await reuse(context, JSON.stringify(['postgresql', place]), connect)
  if (name === keptName) return session
  try {
    await session.guard(() => session.execute([`set application_name = ${pg.escapeLiteral(name)}`]))
    return session
  } catch (error) {
    session.abandon()
    throw error
  }
}

const keptName = 'penstock'

async function connectTo(
  context: ConnectorContext,
  place: Place,
  name: string,
  product: Product,
): Promise<ReusableSession<PostgresSession>> {
  const { signal } = context
  const { host } = place
  signal.throwIfAborted()
  // The libraries for tokens are loaded when a token is needed.
  const password =
    place.signIn === 'password'
      ? place.password
      : await (await import('../databases/cloud-passwords.ts')).tokenOf(context, place)
  const redact = createRedact([password])
  const server = { host, product }
  /** Whom the connection serves. A session that is kept serves several contexts, one after the other. */
  let served: ConnectorContext | undefined = context
  const connect = (options: ConnectOptions) => (served ?? context).egress.connect(host, place.port, options)
  const stream = await connect({ signal, timeoutMs: connectTimeoutMs }).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : withoutSecrets(connectorErrorOf(error, place, product, redact, true), redact)
  })
  const check = createMessageCheck(server)
  const socket = new CheckedSocket({ server, stream, tls: tlsOf(place), check })
  const client = new pg.Client({
    // Only a name here: the stream is connected.
    host,
    port: place.port,
    database: place.database,
    user: place.user,
    // Asked for rather than given, because for an empty one the driver would look into the environment and into files.
    password: () => password,
    // TLS is the socket's own.
    ssl: false,
    stream: () => socket,
    application_name: name,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The driver would make dates and lists of its own of them.
    types: { getTypeParser: () => (text: string) => text },
  })
  let alive = true
  /** Why the connection ended. */
  let given: ConnectorError | undefined
  let connecting = true
  const problemOf = (error: unknown): unknown => {
    if (served?.signal.aborted) return served.signal.reason
    return withoutSecrets(given ?? connectorErrorOf(error, place, product, redact, connecting), redact)
  }
  const errorOf = (error: unknown): unknown => (error instanceof pg.DatabaseError ? error : problemOf(error))
  client.on('error', (error) => {
    alive = false
    // Later queries fail only with "the connection is not usable".
    if (!(error instanceof pg.DatabaseError)) given ??= connectorErrorOf(error, place, product, redact, connecting)
  })
  client.on('end', () => {
    alive = false
  })
  const abandon = (connectorError?: ConnectorError): void => {
    if (connectorError) given ??= connectorError
    if (alive && !connecting) cancel(connect, client)
    alive = false
    socket.destroy()
  }
  const stop = () => abandon()
  const follow = (next: ConnectorContext | undefined): void => {
    served?.signal.removeEventListener('abort', stop)
    served = next
    next?.signal.addEventListener('abort', stop, { once: true })
  }
  follow(context)
  const connectTimer = setTimeout(() => abandon(noAnswer(host, connectTimeoutMs)), connectTimeoutMs)
  try {
    await client.connect()
  } catch (error) {
    const problem = withGrant(problemOf(error), place)
    abandon()
    follow(undefined)
    throw problem
  } finally {
    clearTimeout(connectTimer)
  }
  connecting = false

  /** The results of one or more statements. */
  async function query(asked: pg.QueryConfig): Promise<pg.QueryResult[]> {
    try {
      const results: pg.QueryResult | pg.QueryResult[] = await client.query(asked)
      return [results].flat()
    } catch (error) {
      throw errorOf(error)
    }
  }

  /** The result of one statement. */
  async function queryOne(asked: pg.QueryConfig): Promise<pg.QueryResult> {
    const results = await query(asked)
    completed(server, [asked.text], results)
    return results[0] as pg.QueryResult
  }

  const session: PostgresSession = {
    place,
    redact,
    execute: async (statements) => completed(server, statements, await query({ text: statements.join('; ') })),
    async rows(text, shape, values) {
      const { rows } = await queryOne({ text, ...(values ? { values: [...values] } : {}) })
      return shaped(server, rows, shape)
    },
    // The extended protocol refuses more than one statement.
    describe: async (text) => (await queryOne({ text, queryMode: 'extended' } as pg.QueryConfig)).fields,
    copy(query, rows) {
      check.expectCopy(rows)
      client.query(query)
    },
    hold: (isHeld) => socket.hold(isHeld),
    stream(query) {
      check.expectRows()
      client.query(query)
    },
    errorOf,
    problemOf,
    unexpected(what) {
      const connectorError = unexpectedAnswer(server, what)
      abandon(connectorError)
      return connectorError
    },
    async guard(work, boundMs = guardTimeoutMs) {
      const timer = setTimeout(() => abandon(tooSlow(host, boundMs)), boundMs)
      try {
        return await work()
      } catch (error) {
        if (error instanceof pg.DatabaseError || served?.signal.aborted) throw problemOf(error)
        throw error instanceof ConnectorError ? withoutSecrets(error, redact) : error
      } finally {
        clearTimeout(timer)
      }
    },
    abandon,
    get alive() {
      return alive
    },
    async close() {
      follow(undefined)
      if (alive) {
        alive = false
        const cut = setTimeout(() => socket.destroy(), 5_000)
        await client.end().catch(() => {})
        clearTimeout(cut)
      }
      socket.destroy()
    },
  }
  return {
    session,
    rollBack: async () => void (await session.execute(['rollback'])),
    reset: async () => void (await session.execute(['discard all'])),
    follow,
  }
}

/** The same error, with a message without secrets. */
function withoutSecrets(connectorError: ConnectorError, redact: Redact): ConnectorError {
  const message = redact(connectorError.message, messageLengthMax)
  if (message === connectorError.message) return connectorError
  return connectorError.with({ message })
}

/** Encrypted with whom: anyone for `require`, the one whom the host's name means for `verify-full`. */
function tlsOf({ tls, host, ca }: Place): tls.ConnectionOptions | undefined {
  if (tls === 'disable') return undefined
  // The name is sent to the server and compared with its certificate, though the connection goes to an address.
  const servername = net.isIP(host) === 0 ? { servername: host } : {}
  if (tls === 'require') return { rejectUnauthorized: false, ...servername }
  return { rejectUnauthorized: true, ...servername, ...(ca ? { ca } : {}) }
}

/**
 * Asks the server to cancel a query. A server that sorts would otherwise notice that the client is gone only when it sends the
 * first row. Such a request is a connection of its own, unencrypted by design, and is never answered.
 */
function cancel(connect: (options: ConnectOptions) => Promise<TcpStream>, client: pg.Client): void {
  const { processID, secretKey } = client as unknown as { processID?: number | null; secretKey?: number | null }
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return
  const request = Buffer.alloc(16)
  request.writeInt32BE(16, 0)
  request.writeInt32BE(80_877_102, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  connect({ timeoutMs: connectTimeoutMs }).then(
    (socket) => {
      socket.on('error', () => {})
      socket.unref()
      socket.end(request)
    },
    () => {},
  )
}
