import type { SourceContext } from '@penstock/connector'
import pg from 'pg'
import { changeSettingsOf } from '../../databases/row-changes.ts'
import type { Reading } from '../../databases/settings.ts'
import { type PostgresPlan, planReading } from '../plan.ts'
import type { PostgresSession } from '../session.ts'
import { nameOf } from '../table.ts'
import { assertKeys, assertLogged, findPublication, type Publication } from './publication.ts'
import type { ChangeRows } from './rows.ts'
import type { ChangesPlace } from './slot.ts'
import { type Stamp, stampOf } from './stamp.ts'
import { findTable, isUniqueAtAnyTime, type SourceTable } from './table.ts'

const { escapeIdentifier } = pg

/** The table, the publication and the plan of a transfer, known before it reads the first row. */
export type Prepared = {
  readonly table: SourceTable
  readonly publication: Publication
  readonly plan: PostgresPlan
  readonly rows: ChangeRows
  readonly stamp: Stamp
}

/**
 * Looks up the table and what the publication gives of it, and plans a copy of the same rows and columns. Throws a `ConnectorError` if
 * the changes would not be all changes of the copied rows. In a transaction.
 */
export async function prepareReading(
  session: PostgresSession,
  {
    reading,
    changes,
    context,
  }: { readonly reading: Reading; readonly changes: ChangesPlace; readonly context: SourceContext },
): Promise<Prepared> {
  const { deletes, withChange } = changeSettingsOf(context.settings)
  const table = await findTable(session, changes)
  const keys = reading.keys.length > 0 ? reading.keys : table.primaryKey
  assertLogged(table)
  assertKeys(table, keys)
  const publication = await findPublication(session, changes, table, deletes)
  const query = publishedRows(changes, publication)
  const plan = await planReading(
    session,
    { ...reading, keys, ...(query !== undefined && { from: { query } }) },
    context,
  )
  const typeOf = new Map(table.columns.map(({ name, type }) => [name, type]))
  const rows: ChangeRows = {
    table: query === undefined ? nameOf(changes) : `(${query})`,
    columns: plan.columns.map((name, at) => ({
      name,
      kind: plan.kinds[at] ?? 'text',
      type: typeOf.get(name) ?? 'text',
    })),
    keys,
    sharesKeys: !(await isUniqueAtAnyTime(session, table, keys)),
    withChange,
    deletes,
  }
  return { table, publication, plan, rows, stamp: await stampOf(session, table, publication) }
}

/** The part of the table that is published, as a query; `undefined` if it is the whole table. */
function publishedRows(place: ChangesPlace, { columns, filter }: Publication): string | undefined {
  if (!columns && filter === undefined) return undefined
  const where = filter === undefined ? '' : ` where ${filter}`
  return `select ${columns?.map(escapeIdentifier).join(', ') ?? '*'} from ${nameOf(place)}${where}`
}
