import type { Shape } from '@penstock/engine'
import { type ColumnChange, limits } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import type { Db } from '../db/database.ts'
import { refuse, requireEditable } from '../refusal.ts'
import * as queries from './drift-queries.ts'
import { holdRunnable } from './queries.ts'
import type { TransferDeps } from './transfers.ts'
import { viewDrift } from './view.ts'

/** The reaction of a connection to columns that changed since its last successful transfer. */

/** All tables of a connection. */
const allTables = 1_000

/** Answers 404 if there is no such connection. */
export async function getDrift({ db, account, id }: Call<'getDrift'>): Promise<Answer<'getDrift'>> {
  return { reply: viewDrift(await readDrift(db, account.id, id)) }
}

async function readDrift(db: Db, accountId: string, connectionId: string) {
  const row = (await queries.findDrift.first(db, { accountId, connectionId })) ?? refuse('not_found')
  const tables = await queries.findTableChanges.all(db, { connectionId, only: null, size: limits.driftTablesMax })
  return { ...row, tables }
}

/** The columns that the newest transfer found, and the changes that the next one follows. */
const acceptedShape = (
  { shape, foundShape }: Pick<queries.DriftRow, 'shape' | 'foundShape'>,
  changes: readonly ColumnChange[],
  adds: boolean,
): Shape => ({
  source: null,
  destination: null,
  ...foundShape,
  accepted: [...(shape?.accepted ?? []), ...changes],
  adds: [...(shape?.adds ?? []), ...(adds ? changes.filter(isAdded).map(({ column }) => column) : [])],
})

const isAdded = ({ side, change }: ColumnChange): boolean => side === 'source' && change === 'added'

/**
 * Sets what changes do, and accepts the ones that stopped the newest transfer: the next transfer is compared with the columns that
 * it found, and follows the changes: it adds columns, and maps columns that were renamed. Of many tables, each has its changes.
 */
export async function setDrift(
  { db: tx, account, id: connectionId, body }: Call<'setDrift'>,
  deps: TransferDeps,
): Promise<Answer<'setDrift'>> {
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  requireEditable(row, deps)
  if (row.status === 'deleted') refuse('connection_deleted')
  const { accept = false, add = false, tables: only } = body
  for (const [field, isSet] of [
    ['add', add],
    ['tables', only !== undefined],
  ] as const) {
    if (isSet && !accept) refuse('invalid_request', [{ field: `body.${field}`, message: needsAccept[field] }])
  }
  const before = await readDrift(tx, account.id, connectionId)
  await queries.putDrift.run(tx, {
    connectionId,
    drift: body.drift ?? before.drift,
    shape: accept && !only && before.changes ? JSON.stringify(acceptedShape(before, before.changes, add)) : null,
  })
  const accepted = accept ? await acceptTables(tx, connectionId, { only: only ?? null, add }) : []
  const after = await readDrift(tx, account.id, connectionId)
  return {
    reply: viewDrift(after),
    audited: {
      before: { drift: before.drift, changes: before.changes?.length ?? 0 },
      after: {
        drift: after.drift,
        changes: after.changes?.length ?? 0,
        ...(add && { add: true }),
        ...(accepted.length > 0 && { tables: accepted }),
      },
    },
  }
}

const needsAccept = {
  add: 'needs accept: columns are added with the changes that are accepted',
  tables: 'needs accept: only changes of these tables are accepted',
}

/** Accepts the changes of tables. Refuses tables without changes. @returns the names of the tables */
async function acceptTables(
  tx: Db,
  connectionId: string,
  { only, add }: { only: readonly string[] | null; add: boolean },
): Promise<readonly string[]> {
  const found = await queries.findTableChanges.all(tx, { connectionId, only, size: allTables })
  const names = found.map(({ table }) => table)
  const other = only?.findIndex((name) => !names.includes(name)) ?? -1
  if (other >= 0) {
    const message = 'is not a table whose changed columns wait to be accepted'
    refuse('invalid_request', [{ field: `body.tables.${other}`, message }])
  }
  const shapes = found.map((table) => JSON.stringify(acceptedShape(table, table.changes ?? [], add)))
  if (names.length > 0) await queries.putTableShapes.run(tx, { connectionId, names, shapes })
  return names
}
