import { setTimeout as sleep } from 'node:timers/promises'
import { type Cell, type Chunk, ConnectorError } from '@penstock/connector'
import pg from 'pg'
import { type ChangedRow, type Deletes, removalsIn, rowsOfChange } from '../../databases/row-changes.ts'
import { cellOf, type PostgresCellKind } from '../cells.ts'
import { isNested, shown } from '../plan.ts'
import type { PostgresSession } from '../session.ts'
import { hasSeen, lsnText, snapshotIn } from './snapshot.ts'
import type { RowChange } from './stream.ts'

const { escapeIdentifier } = pg

/** Columns of the table as they are read. */
export type TableColumn = { readonly name: string; readonly kind: PostgresCellKind; readonly type: string }

export type ChangeRows = {
  /** The table, or the part of it that is published, as a statement names it. */
  readonly table: string
  readonly columns: readonly TableColumn[]
  /** Names of the columns that identify a row. */
  readonly keys: readonly string[]
  /** Whether two rows may have the same key until their transaction ends. */
  readonly sharesKeys: boolean
  /** Whether rows end with `changeColumns`. */
  readonly withChange: boolean
  readonly deletes: Deletes
}

/** The columns that say what happened to a row. */
export const changeColumns = ['_operation', '_committed_time', '_lsn'] as const

/** The cells of `changeColumns` of a row that was copied. */
export const copiedCells: readonly Cell[] = ['copy', null, null]

/** How many rows are looked up by one statement: their columns may be large. */
const lookUpMax = 50
/** How long a commit may wait, for a synchronous standby perhaps. */
const visibleMaxMs = 60_000
const visiblePauseMs = 50

type Pending = ChangedRow<RowChange>

/**
 * Makes rows of changes, in their order. A value that PostgreSQL does not send because it has not changed is the one that the row
 * has now; if the row is not there any more, the change is skipped, since its removal follows.
 *
 * Rows that exchange their keys have the same key for a while. Then the row that was removed may not be the one that has the key in the
 * end, or at the destination, and what was sent of the other one may be long ago. So the row that has the key now decides: a later
 * change of it follows.
 * @returns the rows, and the change of each
 * @param session a second one, while the first one reads the changes
 */
export async function rowsOfChanges(
  changes: readonly RowChange[],
  table: ChangeRows,
  session: () => Promise<PostgresSession>,
): Promise<Pick<Chunk, 'rows' | 'removed' | 'bytes'> & { readonly changes: readonly RowChange[] }> {
  const { keys, deletes, sharesKeys } = table
  const all = changes.flatMap((change) => rowsOfChange(change, { keys, deletes: sharesKeys ? 'add' : deletes }))
  assertKeyed(all, keys)
  const found = await withPresent(all, table, async () => {
    const helper = await session()
    await untilVisible(helper, changes)
    return helper
  })
  await nestedAsJson(found, table, session)
  const rows = found.map(({ change, operation, values }) => [
    ...table.columns.map(({ name, kind }) => cellOf(values.get(name) ?? null, kind)),
    ...(table.withChange ? [operation, new Date(change.committedMs).toISOString(), lsnOf(change)] : []),
  ])
  const removed = removalsIn(found, deletes)
  return {
    rows,
    changes: found.map(({ change }) => change),
    ...(removed.size > 0 && { removed }),
    bytes: changes.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

const lsnOf = ({ lsn }: RowChange): string => lsnText(lsn)

/** A change that was logged before the key, or the replica identity, was altered may lack a column of the key. */
function assertKeyed(pending: readonly Pending[], keys: readonly string[]): void {
  for (const { operation, values } of pending) {
    const lacking = operation === 'truncate' ? undefined : keys.find((key) => !values.has(key))
    if (lacking === undefined) continue
    throw new ConnectorError(
      'changes_lost',
      `A change was logged without the key column ${lacking}, before the key or the replica identity of the table was altered. Remove the rows at the destination, then reset the state of the connection: the next transfer copies the table again.`,
    )
  }
}

/** A transaction is in the log shortly before other sessions see its rows. */
async function untilVisible(session: PostgresSession, changes: readonly RowChange[]): Promise<void> {
  const xids = new Set(changes.map(({ xid }) => xid))
  const deadline = performance.now() + visibleMaxMs
  for (;;) {
    const [row] = await session.guard(() =>
      session.rows('select pg_current_snapshot()::text as snapshot', { snapshot: 'text' }),
    )
    const snapshot = snapshotIn(row?.snapshot ?? '')
    if (!snapshot) throw session.unexpected('a snapshot that is not valid')
    if ([...xids].every((xid) => hasSeen(snapshot, xid))) return
    if (performance.now() > deadline) {
      throw new ConnectorError('conflict', 'The server has logged a transaction, but its commit does not end.')
    }
    await sleep(visiblePauseMs)
  }
}

/** Fills in what was not sent, and which row has a key that several had. */
async function withPresent(
  pending: readonly Pending[],
  table: ChangeRows,
  session: () => Promise<PostgresSession>,
): Promise<readonly Pending[]> {
  const { columns, keys, sharesKeys, deletes } = table
  const lacks = ({ operation, values }: Pending) =>
    (operation === 'insert' || operation === 'update') && columns.some(({ name }) => !values.has(name))
  const isShared = ({ operation }: Pending) => sharesKeys && operation === 'delete'
  const wanted = pending.filter((one) => lacks(one) || isShared(one)).map(({ values }) => values)
  if (wanted.length === 0) return pending
  const present = await rowsByKey(wanted, table, session)
  return pending.flatMap((one) => {
    const row = present.get(keyOf(one.values, keys))
    if (isShared(one)) {
      if (row) return [{ ...one, operation: 'update', values: new Map(row) }]
      return deletes === 'skip' ? [] : [one]
    }
    if (!lacks(one)) return [one]
    return row ? [{ ...one, values: new Map([...row, ...one.values]) }] : []
  })
}

const keyOf = (values: ReadonlyMap<string, string | null>, keys: readonly string[]): string =>
  JSON.stringify(keys.map((key) => values.get(key) ?? null))

/** The rows of the table as they are now, by their keys. */
async function rowsByKey(
  wanted: readonly ReadonlyMap<string, string | null>[],
  { table, columns, keys }: ChangeRows,
  session: () => Promise<PostgresSession>,
): Promise<Map<string, ReadonlyMap<string, string | null>>> {
  const distinct = [...new Map(wanted.map((values) => [keyOf(values, keys), values])).values()]
  const typeOf = new Map(columns.map(({ name, type }) => [name, type]))
  const cells = columns.map(({ name }, at) => `t.${escapeIdentifier(name)}::text as c${at}`)
  const match = keys.map((key, at) => `t.${escapeIdentifier(key)} = k.k${at}::${typeOf.get(key)}`)
  const given = keys.map((_, at) => `$${at + 1}::text[]`).join(', ')
  const names = keys.map((_, at) => `k${at}`)
  const asked = names.map((name) => `k.${name} as ${name}`).join(', ')
  const statement = `select ${asked}, ${cells.join(', ')} from unnest(${given}) as k(${names.join(', ')}) join ${table} as t on ${match.join(' and ')}`
  const shape = Object.fromEntries(
    [...names, ...columns.map((_, at) => `c${at}`)].map((name) => [name, 'text?' as const]),
  )
  const present = new Map<string, ReadonlyMap<string, string | null>>()
  const helper = await session()
  for (let at = 0; at < distinct.length; at += lookUpMax) {
    const some = distinct.slice(at, at + lookUpMax)
    const rows = await helper.guard(() =>
      helper.rows(
        statement,
        shape,
        keys.map((key) => some.map((values) => values.get(key) ?? null)),
      ),
    )
    for (const row of rows) {
      const key = JSON.stringify(names.map((name) => row[name] ?? null))
      present.set(key, new Map(columns.map(({ name }, index) => [name, row[`c${index}`] ?? null])))
    }
  }
  return present
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
