import type { Batch, BatchWindow } from '@penstock/connector'
import { rollBack, savepoint } from './insert.ts'
import { quoteName } from './plan.ts'
import type { MysqlSession } from './session.ts'
import { type MysqlTable, same } from './table.ts'
import { type MysqlCellWriter, writerFor } from './writers.ts'

/** No permission, other tables refer to a row, or no row can have the values: the rows then stay. */
const tolerated = new Set([1044, 1142, 1143, 1146, 1217, 1227, 1292, 1366, 1451, 1787])
const keysTable = '`penstock_window`'
const statementBytes = 512 << 10

/** A window whose keys are in a temporary table of the session. */
type Known = { readonly scope: string; readonly session: MysqlSession }

/**
 * Deletes rows that are not in a window any more, in the transaction of the window's last batch. The keys of a window are collected
 * in a temporary table, which is lost with the session: then nothing is deleted.
 */
export class MysqlWindows {
  #known: Known | undefined
  /** The session that has the temporary table. */
  #session: MysqlSession | undefined

  /** Called before the transaction of a batch. Creates the temporary table. */
  async prepare(session: MysqlSession, table: MysqlTable, { window }: Batch): Promise<void> {
    if (!window?.begins || this.#session === session) return
    this.#session = undefined
    if (await hasOtherKeys(session, table)) return
    const columns = table.keys.map((at) => quoteName(table.columns[at]?.name ?? '')).join(', ')
    const isThere = await attempt(() =>
      session.run(
        `create temporary table ${keysTable} engine = InnoDB as select ${columns} from ${table.name} limit 0`,
      ),
    )
    this.#session = isThere ? session : undefined
  }

  /**
   * Called in the transaction of a batch, after its rows.
   * @param isWhole whether all of its rows were written
   * @returns settles what is known, once the transaction is committed
   */
  async replace(
    session: MysqlSession,
    table: MysqlTable,
    { window, rows }: Batch,
    isWhole: boolean,
    packetBytes: number,
  ): Promise<() => void> {
    const forget = () => {
      this.#known = undefined
    }
    const isKnown = window?.begins || (this.#known?.session === session && this.#known.scope === scopeOf(window))
    if (!window || window.spoiled || !isWhole || !isKnown || this.#session !== session) return forget
    if (window.begins) await session.run(`delete from ${keysTable}`)
    const writers = table.keys.map((at) => writerFor(table.columns[at] as MysqlTable['columns'][number]))
    const limit = Math.min(statementBytes, Math.floor(packetBytes / 4))
    for (const values of keysOf(rows, table, writers, limit))
      await session.run(`insert into ${keysTable} values ${values}`)
    if (window.ends) {
      await deleteRows(session, table, window)
      return forget
    }
    return () => {
      this.#known = { scope: scopeOf(window), session }
    }
  }
}

/**
 * Whether an upsert can find a row by another unique key than that of the settings. It then keeps the key of the row that was there,
 * which would look as if it had vanished.
 */
async function hasOtherKeys(session: MysqlSession, { name, columns, keys }: MysqlTable): Promise<boolean> {
  const parts = await session.run(
    `select index_name as \`key\`, column_name as name from information_schema.statistics
      where table_schema = database() and table_name = ? and non_unique = 0`,
    [name.slice(1, -1).replaceAll('``', '`')],
  )
  const names = keys.map((at) => columns[at]?.name ?? '')
  return [...Map.groupBy(parts, ({ key }) => key).values()].some((index) => {
    const isDelivered = index.every((part) => columns.some((column) => same(column.name, part.name ?? '')))
    const isKey =
      index.length === names.length && index.every((part) => names.some((one) => same(one, part.name ?? '')))
    return isDelivered && !isKey
  })
}

const scopeOf = (window: BatchWindow | undefined): string => JSON.stringify(window?.scope)

/** The keys of rows as text of statements, of so many characters at most. */
function* keysOf(
  rows: Batch['rows'],
  { keys }: MysqlTable,
  writers: readonly MysqlCellWriter[],
  limit: number,
): Generator<string> {
  let tuples: string[] = []
  let length = 0
  for (const row of rows) {
    const tuple = `(${writers.map((writer, at) => literalOf(writer, row[keys[at] ?? -1] ?? null)).join(',')})`
    if (tuples.length > 0 && length + tuple.length > limit) {
      yield tuples.join(',')
      tuples = []
      length = 0
    }
    tuples.push(tuple)
    length += tuple.length + 1
  }
  if (tuples.length > 0) yield tuples.join(',')
}

function literalOf(writer: MysqlCellWriter, cell: Batch['rows'][number][number]): string {
  const text = writer.text(cell)
  return text === null ? 'null' : writer.literal(text)
}

/** Deletes the rows of a scope whose keys are not in the temporary table. */
async function deleteRows(session: MysqlSession, table: MysqlTable, { scope }: BatchWindow): Promise<void> {
  const within: string[] = []
  for (const [name, values] of Object.entries(scope)) {
    const column = table.columns.find((one) => same(one.name, name))
    if (!column) return
    const writer = writerFor(column)
    const literals = values.map((value) =>
      writer.doubt(writer.text(value)) === undefined ? literalOf(writer, value) : undefined,
    )
    // A number that is compared with another text would be anything.
    if (literals.includes(undefined)) return
    within.push(`${table.name}.${quoteName(column.name)} in (${literals.join(', ')})`)
  }
  const isSame = table.keys.map((at) => {
    const name = quoteName(table.columns[at]?.name ?? '')
    return `known.${name} = ${table.name}.${name}`
  })
  await session.run(savepoint)
  const isDone = await attempt(() =>
    session.run(
      `delete from ${table.name} where ${within.join(' and ')} and not exists (select 1 from ${keysTable} as known where ${isSame.join(' and ')})`,
    ),
  )
  if (!isDone) await session.run(rollBack)
}

/** Whether some work was done; not if the server refused it for a reason that is tolerated. */
async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (tolerated.has(Number((error as { errno?: unknown }).errno))) return false
    throw error
  }
}
