import type { Answer, Call } from '../call.ts'
import type { ConnectionDeps } from '../connections/connections.ts'
import type { Db } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { refuse, requireEditable } from '../refusal.ts'
import * as queries from './connection-tables-queries.ts'
import { findRunnable, holdRunnable } from './queries.ts'
import { recordState } from './state-queries.ts'
import { viewConnectionTable } from './view.ts'

/** The tables of a connection that moves many tables. A table is known from the first transfer that listed it. */

export async function listConnectionTables({
  db,
  account,
  id: connectionId,
  query: { q, status, size, offset },
}: Call<'listConnectionTables'>): Promise<Answer<'listConnectionTables'>> {
  if (!(await findRunnable.first(db, { accountId: account.id, id: connectionId }))) refuse('not_found')
  const filter = { connectionId, status: status ?? null, like: containing(q) }
  const [rows, count] = await Promise.all([
    queries.listTables.all(db, { ...filter, size, offset }),
    queries.countTables.first(db, filter),
  ])
  return { reply: rows.map(viewConnectionTable), total: count?.total ?? 0 }
}

/** Pauses or resumes tables. A worker that moves one of them does not stop; a table that waits for a worker is skipped. */
export async function setConnectionTables(
  { db: tx, account, id: connectionId, body: { tables: names, paused } }: Call<'setConnectionTables'>,
  deps: ConnectionDeps,
): Promise<Answer<'setConnectionTables'>> {
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  requireEditable(row, deps)
  if (row.status === 'deleted') refuse('connection_deleted')
  await requireTables(tx, connectionId, names)
  const changed = await queries.pauseTables.run(tx, { connectionId, names, paused })
  const of = nameTables(names)
  if (changed > 0) await recordState.run(tx, { connectionId, of, what: paused ? 'tables paused' : 'tables resumed' })
  const after = await queries.findTables.all(tx, { connectionId, names })
  return {
    reply: { connectionId, tables: after.map(viewConnectionTable) },
    audited: changed === 0 ? { unchanged: true } : { after: { tables: names, paused } },
  }
}

/** Refuses names that are no tables of the connection. */
export async function requireTables(
  db: Db,
  connectionId: string,
  names: readonly string[],
): Promise<readonly queries.ConnectionTableRow[]> {
  const found = await queries.findTables.all(db, { connectionId, names })
  const known = new Set(found.map(({ table }) => table))
  const other = names.findIndex((name) => !known.has(name))
  if (other >= 0) {
    refuse('invalid_request', [{ field: `body.tables.${other}`, message: 'is not a table that the connection moves' }])
  }
  return found
}

/** Refuses a transfer of tables that the connection does not move, or that are paused. */
export async function requireMovable(db: Db, connectionId: string, names: readonly string[]): Promise<void> {
  const paused = new Set(
    (await requireTables(db, connectionId, names)).flatMap((row) => (row.tableStatus === 'paused' ? [row.table] : [])),
  )
  const at = names.findIndex((name) => paused.has(name))
  if (at >= 0) refuse('invalid_request', [{ field: `body.tables.${at}`, message: 'is paused: resume it first' }])
}

/** Names of tables, for the history. */
export const nameTables = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? first : `${first} + ${others.length}`
