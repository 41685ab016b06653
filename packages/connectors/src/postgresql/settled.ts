import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectorError } from '@penstock/connector'
import pg from 'pg'
import { isObject, listIn, textIn } from '../platform-api/json.ts'
import type { PostgresSession } from './session.ts'

/**
 * Numbers of a sequence are given to transactions in their order, but the transactions commit in any order, and a row with a time
 * may be committed long after it. A cursor that passes a row whose transaction is still open would never return to it. So before
 * rows are read up to a number, the transactions that were writing to the tables when it was found must be over; up to a time,
 * those of them that began before it.
 */

const pauseMs = 200
/** Locks that a transaction holds until its end on each table that it has inserted into or updated. */
const writingModes = ['RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']

/**
 * Waits for the end of all transactions that currently write to these tables. Throws `retry` if one takes longer than
 * `lagSeconds`; does not wait if it is 0. Throws `not_supported` if rows are read up to a number on a standby, which
 * does not know the writers.
 * @param tables quoted names with their schemas
 * @param isTime whether rows are read up to `lagSeconds` before this transaction. Then it waits only for transactions
 * that began before
 */
export async function waitForWriters(
  session: PostgresSession,
  tables: readonly string[],
  { lagSeconds, isTime }: { lagSeconds: number; isTime: boolean },
  signal: AbortSignal,
): Promise<void> {
  if (lagSeconds === 0 || tables.length === 0) return
  if (await isStandby(session)) {
    if (isTime) return
    throw standby(session.place.host)
  }
  const begunBefore = isTime ? lagSeconds : undefined
  const deadline = performance.now() + lagSeconds * 1000
  let waitedFor: readonly string[] | undefined
  while (true) {
    const writers: string[] = await writersOf(session, tables, begunBefore, waitedFor)
    if (writers.length === 0) return
    if (performance.now() > deadline) throw writersRunning(writers.length, lagSeconds)
    waitedFor ??= writers
    // The signal's own reason is what callers know.
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/**
 * The transactions that write to these tables, to partitions and to what they are partitions of.
 * @param begunBefore only transactions that began so many seconds before this one, or whose start the user cannot see
 * @param among only these, and prepared transactions, which have another name once they are prepared
 */
async function writersOf(
  session: PostgresSession,
  tables: readonly string[],
  begunBefore: number | undefined,
  among: readonly string[] | undefined,
): Promise<string[]> {
  const isAmong =
    among === undefined ? '' : `and (virtualtransaction = any($2::text[]) or virtualtransaction like '-1/%')`
  const isBegun =
    begunBefore === undefined
      ? ''
      : `and coalesce((select xact_start from pg_stat_activity where pg_stat_activity.pid = pg_locks.pid) <= now() - make_interval(secs => ${begunBefore}), true)`
  const rows = await session.rows(
    `with recursive family (id) as (
       select to_regclass(name)::oid from unnest($1::text[]) as name
       union
       select case when id = inhrelid then inhparent else inhrelid end
         from family join pg_inherits on id in (inhrelid, inhparent)
     )
     select distinct virtualtransaction as name
       from pg_locks
      where locktype = 'relation' and granted and pid is distinct from pg_backend_pid()
        and database = (select oid from pg_database where datname = current_database())
        and relation in (select id from family) and mode in (${writingModes.map(pg.escapeLiteral).join(', ')}) ${isAmong} ${isBegun}`,
    { name: 'text' },
    among === undefined ? [tables] : [tables, among],
  )
  return rows.map(({ name }) => name)
}

const writersRunning = (count: number, lagSeconds: number): ConnectorError =>
  new ConnectorError(
    'writers_running',
    `${count} ${count === 1 ? 'transaction has' : 'transactions have'} been writing to the table for more than ${lagSeconds} seconds, the lag of this source. Rows that they add later could be missed: end them, or raise the lag.`,
  )

async function isStandby(session: PostgresSession): Promise<boolean> {
  const [row] = await session.rows('select pg_is_in_recovery() as standby', { standby: 'boolean' })
  return row?.standby ?? false
}

const standby = (host: string): ConnectorError =>
  new ConnectorError(
    'not_supported',
    `${host} is a standby, which does not know the transactions that write. Rows that were committed late would be missed if the cursor is not a time. Use a time as the cursor, with a lag that is longer than transactions and replication take, or connect to the primary server.`,
  )

/** The tables that a plan of EXPLAIN (VERBOSE, FORMAT JSON) reads, quoted and with their schemas, each once. */
export function tablesIn(plan: unknown): string[] {
  const tables = new Set<string>()
  const nodes: unknown[] = [plan]
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (!isObject(node)) continue
    const name = textIn(node['Relation Name'])
    const schema = textIn(node.Schema)
    if (name !== undefined && schema !== undefined) {
      tables.add(`${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`)
    }
    nodes.push(...listIn(node.Plans))
  }
  return [...tables]
}
