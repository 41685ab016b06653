import type { Cell, Chunk } from '@penstock/connector'
import pg from 'pg'
import { type ChangedRow, type Deletes, removalsIn, rowsOfChange } from '../../databases/row-changes.ts'
import { cellOf, type PostgresCellKind } from '../cells.ts'
import { isNested, shown } from '../plan.ts'
import type { PostgresSession } from '../session.ts'
import { lsnText } from './snapshot.ts'
import type { RowChange } from './stream.ts'

const { escapeIdentifier } = pg

/** Columns of the table as they are read. */
export type TableColumn = { readonly name: string; readonly kind: PostgresCellKind; readonly type: string }

export type ChangeRows = {
  /** Quoted, with its schema. */
  readonly table: string
  readonly columns: readonly TableColumn[]
  /** Names of the columns that identify a row. */
  readonly keys: readonly string[]
  /** Whether rows end with `changeColumns`. */
  readonly withChange: boolean
  readonly deletes: Deletes
}

/** The columns that say what happened to a row. */
export const changeColumns = ['_operation', '_committed_time', '_lsn'] as const

/** The cells of `changeColumns` of a row that was copied. */
export const copiedCells: readonly Cell[] = ['copy', null, null]

/** How many rows are looked up at once: their columns may be large. */
const lookUpMax = 50

type Pending = ChangedRow<RowChange>

/**
 * Makes rows of changes, in their order. A value that PostgreSQL does not send because it has not changed is the one that the row
 * has now; if the row is not there any more, the change is left out, since its removal follows.
 * @param session beside the one that reads the changes
 */
export async function rowsOfChanges(
  changes: readonly RowChange[],
  table: ChangeRows,
  session: () => Promise<PostgresSession>,
): Promise<Pick<Chunk, 'rows' | 'removed' | 'bytes'>> {
  const pending = changes.flatMap((change) => rowsOfChange(change, table))
  const found = await withMissing(pending, table, session)
  await nestedAsJson(found, table, session)
  const rows = found.map(({ change, operation, values }) => [
    ...table.columns.map(({ name, kind }) => cellOf(values.get(name) ?? null, kind)),
    ...(table.withChange ? [operation, new Date(change.committedMs).toISOString(), lsnOf(change)] : []),
  ])
  const removed = removalsIn(found, table.deletes)
  return {
    rows,
    ...(removed.size > 0 && { removed }),
    bytes: changes.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

const lsnOf = ({ lsn }: RowChange): string => lsnText(lsn)

/** Fills in what was not sent. */
async function withMissing(
  pending: readonly Pending[],
  { table, columns, keys }: ChangeRows,
  session: () => Promise<PostgresSession>,
): Promise<readonly Pending[]> {
  const lacks = ({ operation, values }: Pending) =>
    (operation === 'insert' || operation === 'update') && columns.some(({ name }) => !values.has(name))
  const lacking = pending.filter(lacks)
  if (lacking.length === 0) return pending
  const keyOf = (values: ReadonlyMap<string, string | null>) =>
    JSON.stringify(keys.map((key) => values.get(key) ?? null))
  const typeOf = new Map(columns.map(({ name, type }) => [name, type]))
  const current = new Map<string, readonly (string | null)[]>()
  const wanted = [...new Map(lacking.map(({ values }) => [keyOf(values), values])).values()]
  const cells = columns.map(({ name }, at) => `t.${escapeIdentifier(name)}::text as c${at}`)
  const match = keys.map((key, at) => `t.${escapeIdentifier(key)} = k.k${at}::${typeOf.get(key)}`)
  const given = keys.map((_, at) => `$${at + 1}::text[]`).join(', ')
  const names = keys.map((_, at) => `k${at}`).join(', ')
  const statement = `select ${cells.join(', ')} from unnest(${given}) as k(${names}) join ${table} as t on ${match.join(' and ')}`
  const shape = Object.fromEntries(columns.map((_, at) => [`c${at}`, 'text?' as const]))
  for (let at = 0; at < wanted.length; at += lookUpMax) {
    const some = wanted.slice(at, at + lookUpMax)
    const helper = await session()
    const rows = await helper.guard(() =>
      helper.rows(
        statement,
        shape,
        keys.map((key) => some.map((values) => values.get(key) ?? null)),
      ),
    )
    for (const row of rows) {
      const texts = columns.map((_, index) => row[`c${index}`] ?? null)
      current.set(keyOf(new Map(columns.map(({ name }, index) => [name, texts[index] ?? null]))), texts)
    }
  }
  return pending.filter((one) => {
    if (!lacks(one)) return true
    const row = current.get(keyOf(one.values))
    if (!row) return false
    for (const [index, { name }] of columns.entries()) {
      if (!one.values.has(name)) one.values.set(name, row[index] ?? null)
    }
    return true
  })
}

/** Writes arrays and composites as JSON, by the same expression as a copy of the table. */
async function nestedAsJson(
  pending: readonly Pending[],
  { columns }: ChangeRows,
  session: () => Promise<PostgresSession>,
): Promise<void> {
  for (const { name, kind, type } of columns) {
    if (!isNested(kind)) continue
    const of = pending.filter(({ values }) => (values.get(name) ?? null) !== null)
    if (of.length === 0) continue
    const helper = await session()
    const rows = await helper.guard(() =>
      helper.rows(
        `select ${shown('v', kind)} as json from unnest($1::text[]) with ordinality as given(text, place),
           lateral (select text::${type} as v) as typed order by place`,
        { json: 'text?' },
        [of.map(({ values }) => values.get(name) ?? null)],
      ),
    )
    if (rows.length !== of.length) throw helper.unexpected('fewer values than were asked for')
    for (const [index, { values }] of of.entries()) values.set(name, rows[index]?.json ?? null)
  }
}
