import pg from 'pg'
import { currentUrl, type DatabaseUrl, passOver, refuseStandby } from './addresses.ts'
import { isAway, isDeadlock } from './errors.ts'
import { idleTransactionMsDefault, keepAliveOptions } from './liveness.ts'
import type { Run } from './run.ts'
import { sessionSettings, transactionSettings } from './session-settings.ts'
import { createSockets } from './sockets.ts'
import { connectionTo } from './tls.ts'
import { types } from './types.ts'

/**
 * Access to PostgreSQL. Terms:
 * database     the pool; each statement on it is a separate transaction
 * transaction  one connection between BEGIN and COMMIT
 * db           either of them, for statements that work in both
 */

/** Runs statements. */
export type Db = { query(run: Run<Record<string, unknown>>): unknown }

/** A transaction. */
export type Transaction = Db & {
  /**
   * Adds a statement to the `begin`, in the message of the first statement: a text without parameters and without rows.
   * With `lastly`, the whole transaction is one message, so that a process that stops leaves no locks.
   */
  firstly(text: string): void
  /** Runs the action after the commit, and only then. */
  afterCommit(action: () => void): void
  /**
   * The last statement of the transaction. It is sent together with the commit, so that its locks are held as short as
   * possible. A transaction has at most one. If it fails, the transaction fails.
   */
  lastly(run: (db: Db) => Promise<unknown>): void
}

/** The actor of a transaction, which the triggers of the database read from `penstock.actor`. */
export type TransactionActor = { readonly kind: string; readonly id?: string | null; readonly name?: string | null }

/** The pool. */
export type Database = Db & {
  readonly pool: pg.Pool
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. If PostgreSQL aborts the
   * transaction because of a deadlock, it is retried up to twice. So `work` must use only the transaction.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, actor?: TransactionActor): Promise<T>
  /** Ends every connection. A connection that is still in use, or whose server does not respond, is cut after two seconds. */
  close(): Promise<void>
}

export type DatabaseOptions = {
  url: DatabaseUrl
  /**
   * A pooler in transaction mode, to connect to instead of `url`. Each transaction can then run in a different session of the
   * server. So statements are not prepared by name, and limits are set in each transaction.
   */
  poolerUrl?: string | undefined
  /** Connections at most. */
  poolSize?: number
  /** How long a transaction can wait for this process before the server ends it, in milliseconds. */
  idleTransactionMs?: number
  /** Called for connections that broke while idle. The pool replaces them. */
  onIdleError?: (error: Error) => void
}

export const poolSizeDefault = 10
const connectTimeoutMs = 5_000
const statementTimeoutMs = 30_000
/** A server that says nothing at all, not even that it gave up on the statement, is away. */
const idleTimeoutMs = statementTimeoutMs + 5_000
const deadlockTries = 3

export function openDatabase({
  url,
  poolerUrl,
  poolSize = poolSizeDefault,
  idleTransactionMs = idleTransactionMsDefault,
  onIdleError,
}: DatabaseOptions): Database {
  const sockets = createSockets()
  const limits = { statement_timeout: statementTimeoutMs, idle_in_transaction_session_timeout: idleTransactionMs }
  const shared = poolerUrl === undefined ? undefined : transactionSettings(limits)
  const pool = new pg.Pool({
    Client: poolerUrl === undefined ? clientTo(url, sessionSettings(limits)) : clientTo(poolerUrl, ''),
    stream: sockets.open,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: idleTimeoutMs,
    ...keepAliveOptions,
    application_name: 'penstock',
    types,
  })
  pool.on('error', (error) => onIdleError?.(error))
  // While a connection is in use, its user gets the error. The listener only prevents that the event ends the process.
  pool.on('connect', (client) => void client.on('error', () => {}))
  // The driver's types allow such runs only on clients. Its pool passes them on.
  const poolQuery = pool.query.bind(pool) as unknown as (run: pg.Submittable, done: (error?: Error) => void) => void
  return {
    pool,
    query: (run) => {
      if (shared) run.shareSession([shared.statement])
      poolQuery(run, (error) => error && run.fail(error))
    },
    transaction: (work, actor) => runTransaction(pool, shared, work, actor),
    close: async () => {
      await Promise.all([pool.end(), sockets.closed()])
    },
  }
}

/**
 * The driver's client. It asks for the address of the server each time that it is created, and is connected after its session
 * has its settings. The settings are not sent with the start of the connection, because poolers refuse unknown settings there.
 * So the connection timeout of the pool covers both steps.
 */
function clientTo(url: DatabaseUrl, ours: string): new () => pg.Client {
  const settings = [ours, refuseStandby(url)].filter(Boolean).join('; ')
  class LimitedClient extends pg.Client {
    readonly #address: string

    constructor(options: pg.ClientConfig = {}) {
      const address = currentUrl(url)
      super({ ...options, ...connectionTo(address) })
      this.#address = address
      // The pool listens only once it has the connection: one that breaks before would end the process.
      this.on('error', () => {})
    }

    connectAndLimit(done: (error: Error | null) => void): void {
      super.connect((failure: Error | null) => {
        if (failure) passOver(url, this.#address)
        if (failure || settings === '') return done(failure)
        this.query(settings, (refusal) => {
          if (refusal) {
            passOver(url, this.#address)
            void this.end().catch(() => {})
          }
          done(refusal ?? null)
        })
      })
    }
  }
  // Only the pool calls it, and passes a callback. The driver's types also allow a promise.
  LimitedClient.prototype.connect = LimitedClient.prototype.connectAndLimit as pg.Client['connect']
  return LimitedClient
}

/** Settings of a session that a pooler shares. */
type SharedSettings = ReturnType<typeof transactionSettings>

/** Statements at the beginning of a transaction. */
const openingOf = (actor: TransactionActor | undefined, shared: SharedSettings | undefined): string[] => {
  const opening = shared ? [shared.begin, shared.statement] : ['begin']
  if (!actor) return opening
  const { kind, id = null, name = null } = actor
  return [...opening, `set local penstock.actor = ${pg.escapeLiteral(JSON.stringify({ kind, id, name }))}`]
}

async function runTransaction<T>(
  pool: pg.Pool,
  shared: SharedSettings | undefined,
  work: (tx: Transaction) => Promise<T>,
  actor: TransactionActor | undefined,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const client = await pool.connect()
    const opening = openingOf(actor, shared)
    const committed: (() => void)[] = []
    let broken: Error | undefined
    let begun = false
    let last: ((db: Db) => Promise<unknown>) | undefined
    const send = (run: Run<Record<string, unknown>>) => {
      if (shared) run.shareSession()
      if (!begun) run.preceding = opening
      begun = true
      client.query(run)
    }
    try {
      const result = await work({
        query: send,
        firstly: (text) => void opening.push(text),
        afterCommit: (action) => void committed.push(action),
        lastly: (run) => {
          if (last) throw new Error('A transaction ends with one statement')
          last = run
        },
      })
      if (last) {
        await last({
          query: (run) => {
            run.commits = true
            send(run)
          },
        })
      } else if (begun) await client.query('commit')
      for (const action of committed) action()
      return result
    } catch (error) {
      // When a connection breaks, its transaction ends. Asking for a rollback would only wait again.
      if (isAway(error)) broken = error as Error
      else if (begun) {
        await client.query('rollback').catch((rollbackError: Error) => {
          broken = rollbackError
        })
      }
      if (!isDeadlock(error) || attempt === deadlockTries) throw error
    } finally {
      client.release(broken)
    }
  }
}
