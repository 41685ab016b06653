import { type ConnectorContext, ConnectorError, type DestinationContext } from '@penstock/connector'
import type { Place } from './settings.ts'

/** The operations that the sessions of all databases share. A session is one authenticated connection. */
export type DatabaseSession = {
  readonly place: Place
  /** Whether it can still be used. */
  readonly alive: boolean
  /** Does some work with the connection within a time, and throws what its errors mean. */
  guard<T>(work: () => Promise<T>, boundMs?: number): Promise<T>
  /** Ends the connection at once; work that waits for it fails with this error. */
  abandon(connectorError?: ConnectorError): void
  /** Disconnects. Never throws. */
  close(): Promise<void>
}

/** Signs in at a database. Throws a `ConnectorError`. */
export type OpenSession<Session extends DatabaseSession> = (context: ConnectorContext, place: Place) => Promise<Session>

/** Does some work with a session, which it closes. Throws what the errors of the work mean. */
export async function inSession<Session extends DatabaseSession, T>(
  session: Session,
  work: (session: Session) => Promise<T>,
  boundMs?: number,
): Promise<T> {
  try {
    return await session.guard(() => work(session), boundMs)
  } finally {
    await session.close()
  }
}

const beginBoundMs = 30_000
/** More than a server's own bound for any of the statements, which says more about what happened. */
const transactionBoundMs = 1_800_000

/** The connection of a writer, from one transaction to the next. */
export class WriterSession<Session extends DatabaseSession> {
  #session: Session
  readonly #connect: () => Promise<Session>
  readonly #signal: AbortSignal

  private constructor(session: Session, connect: () => Promise<Session>, signal: AbortSignal) {
    this.#session = session
    this.#connect = connect
    this.#signal = signal
  }

  /** Connects, and does some first work. Throws a `ConnectorError`. */
  static async open<Session extends DatabaseSession, T>(
    { signal }: Pick<DestinationContext, 'signal'>,
    connect: () => Promise<Session>,
    work: (session: Session) => Promise<T>,
  ): Promise<{ connection: WriterSession<Session>; prepared: T }> {
    const session = await connect()
    try {
      const prepared = await session.guard(() => work(session))
      return { connection: new WriterSession(session, connect, signal), prepared }
    } catch (error) {
      await session.close()
      throw error
    }
  }

  /** Begins a transaction: in a new connection where the last one did not outlive the time between batches. */
  async begin<T>(begin: (session: Session) => Promise<T>): Promise<{ session: Session; begun: T }> {
    this.#signal.throwIfAborted()
    const last = this.#session
    if (last.alive) {
      try {
        return { session: last, begun: await last.guard(() => begin(last), beginBoundMs) }
      } catch (problem) {
        if (!(problem instanceof ConnectorError) || problem.action !== 'retry') throw problem
      }
    }
    last.abandon()
    await last.close()
    const session = await this.#connect()
    this.#session = session
    return { session, begun: await session.guard(() => begin(session)) }
  }

  close(): Promise<void> {
    return this.#session.close()
  }
}

/** Does the work of a transaction that has begun. An error ends the connection, which settles what it leaves open. */
export async function inTransaction<T>(session: DatabaseSession, work: () => Promise<T>): Promise<T> {
  try {
    return await session.guard(work, transactionBoundMs)
  } catch (problem) {
    session.abandon()
    throw problem
  }
}
