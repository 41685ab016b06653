import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectorError } from '@penstock/connector'
import pg from 'pg'
import { isObject, listIn, textIn } from '../platform-api/json.ts'
import type { PostgresSession } from './session.ts'

/**
 * Numbers of a sequence are given to transactions in their order, but the transactions commit in any order. A cursor that
 * passes a number whose transaction is still open would never return to it. So before rows are read up to a number, the
 * transactions that were writing to the tables when it was found must be over.
 */

const pauseMs = 200
/** Locks that a transaction holds until its end on each table that it has inserted into or updated. */
const writingModes = ['RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']

/**
 * Waits until all transactions are over that write to these tables now.
 * Throws `retry` where one takes longer than `lagSeconds`; with 0, nothing is waited for.
 * @param tables quoted names with their schemas
 */
export async function waitForWriters(
  session: PostgresSession,
  tables: readonly string[],
  lagSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  if (lagSeconds === 0 || tables.length === 0) return
  const deadline = performance.now() + lagSeconds * 1000
  let waitedFor: readonly string[] | undefined
  while (true) {
    const writers: string[] = await writersOf(session, tables, waitedFor)
    if (writers.length === 0) return
    if (performance.now() > deadline) throw writersRunning(writers.length, lagSeconds)
    waitedFor ??= writers
    // The signal's own reason is what callers know.
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/**
 * The transactions that write to these tables, to partitions and to what they are partitions of.
 * @param among only these, and those that were prepared, which are known by another name afterwards
 */
async function writersOf(
  session: PostgresSession,
  tables: readonly string[],
  among: readonly string[] | undefined,
): Promise<string[]> {
  const isAmong =
    among === undefined ? '' : `and (virtualtransaction = any($2::text[]) or virtualtransaction like '-1/%')`
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
        and relation in (select id from family) and mode in (${writingModes.map(pg.escapeLiteral).join(', ')}) ${isAmong}`,
    { name: 'text' },
    among === undefined ? [tables] : [tables, among],
  )
  return rows.map(({ name }) => name)
}

const writersRunning = (count: number, lagSeconds: number): ConnectorError =>
  new ConnectorError(
    'writers_running',
    `${count} ${count === 1 ? 'transaction has' : 'transactions have'} been writing to the table for more than ${lagSeconds} seconds, the lag of this source. Rows that they add later could be missed: end them, raise the lag, or use a time as the cursor.`,
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
