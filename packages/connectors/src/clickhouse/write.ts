import { createHash } from 'node:crypto'
import {
  type Batch,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type TriedRows,
  type Values,
} from '@penstock/connector'
import { inspectRows, type JudgedRow, judgeRows, keyTextBy, matchColumns } from '../databases/judged-rows.ts'
import { type Loaded, openLoadingWriter } from '../databases/loading-writer.ts'
import { writingOf } from '../databases/settings.ts'
import { type FatalTableProblem, keysNotDelivered, tableNotFound, throwFirst } from '../databases/table-findings.ts'
import type { Taken } from '../platform-api/rows/halving.ts'
import { literalOfValue } from './cells.ts'
import { type ClickHouse, openClickHouse } from './clickhouse-api.ts'
import { type ClickHouseColumn, columnOf, jsonOf, quoteName, quoteText } from './target-columns.ts'
import { deletionsOf, type StagedLines, stagedLines, windowStoreOf } from './windows.ts'

/** Where rows go, as the settings name it. */
type ClickHouseTarget = {
  readonly database: string
  readonly table: string
  /** With its database, quoted. */
  readonly name: string
  readonly replace: boolean
  /** As the settings name them; empty unless rows are upserted. */
  readonly keyNames: readonly string[]
  readonly create: boolean
}

function targetOf(settings: Values): ClickHouseTarget {
  const {
    schema: database,
    table,
    keys: keyNames,
    create,
  } = writingOf({ ...settings, schema: settings.database ?? '' }, 'default')
  const name = `${quoteName(database)}.${quoteName(table)}`
  return { database, table, name, replace: settings.writeMode === 'Replace', keyNames, create }
}

/** The columns of a table that rows can be written to; none if there is no such table. */
export async function findColumns(
  clickhouse: ClickHouse,
  { database, table }: { readonly database: string; readonly table: string },
): Promise<readonly ClickHouseColumn[]> {
  const rows = await clickhouse.run(
    `select name, type, default_kind from system.columns where database = ${quoteText(database)} and table = ${quoteText(table)} order by position`,
  )
  return rows.flatMap((row) => columnOf(row) ?? [])
}

/** The table's columns for the delivered ones, the indexes of those of the key, and what prevents writing to them. */
async function judge(
  clickhouse: ClickHouse,
  { database, table, keyNames }: ClickHouseTarget,
  delivered: readonly string[],
  found: readonly ClickHouseColumn[],
): Promise<{ columns: ClickHouseColumn[]; keys: number[]; errors: FatalTableProblem[] }> {
  if (found.length === 0) {
    return { columns: [], keys: [], errors: [tableNotFound(table, `the database ${database}`)] }
  }
  const { columns, errors } = matchColumns(table, delivered, found)
  const keyed = keyNames.map((key) => columns.findIndex(({ name }) => name.toLowerCase() === key.toLowerCase()))
  errors.push(...keysNotDelivered(keyNames.filter((_, at) => keyed[at] === -1)))
  const keys = [...new Set(keyed)].filter((at) => at >= 0)
  if (keyNames.length > 0 && errors.length === 0) {
    const [[engine = '', sortingKey = ''] = []] = await clickhouse.run(
      `select engine, sorting_key from system.tables where database = ${quoteText(database)} and name = ${quoteText(table)}`,
    )
    const named = keys.map((at) => columns[at]?.name ?? '')
    const sorted = String(sortingKey)
      .split(',')
      .map((name) => name.trim().replaceAll('`', ''))
    const isKey = sorted.length === named.length && named.every((name) => sorted.includes(name))
    if (!/^(Replicated|Shared)?ReplacingMergeTree$/.test(String(engine)) || !isKey) errors.push(notReplacing(named))
  }
  // A key without a value would never be found again.
  const needed = columns.map((column, at) => (keys.includes(at) ? { ...column, needed: true, isKey: true } : column))
  return { columns: needed, keys, errors }
}

const notReplacing = (keys: readonly string[]): FatalTableProblem => ({
  code: 'key_not_unique',
  columns: [],
  describe: () =>
    `The table does not have the engine ReplacingMergeTree with the sorting key ${keys.join(', ')}; create one that has, or choose another key.`,
})

type Work = {
  readonly clickhouse: ClickHouse
  readonly target: ClickHouseTarget
  readonly columns: readonly ClickHouseColumn[]
  readonly keys: readonly number[]
}

/** Opens a writer: finds the table, and creates it if it may. Empties nothing yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const clickhouse = openClickHouse(context)
  const target = targetOf(context.settings)
  let found = await findColumns(clickhouse, target)
  if (found.length === 0 && target.create) {
    await clickhouse.run(creationOf(target, context.columns))
    found = await findColumns(clickhouse, target)
  }
  const { columns, keys, errors } = await judge(clickhouse, target, context.columns, found)
  throwFirst(errors)
  const work: Work = { clickhouse, target, columns, keys }
  return openLoadingWriter(context, {
    name: 'ClickHouse',
    columns,
    replaces: target.replace,
    empty: () => clickhouse.run(`truncate table ${target.name}`),
    load: (rows, key, batch) => insert(work, key, rows, batch),
    remove: (rows) => remove(work, rows),
    windows: keys.length > 0 ? windowStoreOf(clickhouse, { ...target, columns, keys }) : undefined,
  })
}

/** The statement that creates a table with columns of text; of an upsert, one that replaces the rows with the same key. */
function creationOf({ name, keyNames }: ClickHouseTarget, delivered: readonly string[]): string {
  const isKey = (column: string) => keyNames.some((key) => key.toLowerCase() === column.toLowerCase())
  const distinct = [...new Set(delivered)]
  const columns = distinct.map((column) => `${quoteName(column)} ${isKey(column) ? 'String' : 'Nullable(String)'}`)
  const keys = distinct.filter(isKey).map(quoteName)
  const engine = keyNames.length > 0 ? `ReplacingMergeTree order by (${keys.join(', ')})` : 'MergeTree order by tuple()'
  return `create table if not exists ${name} (${columns.join(', ')}) engine = ${engine} settings non_replicated_deduplication_window = 1000`
}

/** Inserts rows. The same rows of the same transfer have the same token; rows that come after the table was emptied again have another one. */
async function insert(
  { clickhouse, target, columns, keys }: Work,
  key: string,
  all: readonly JudgedRow[],
  batch: Batch,
): Promise<Loaded<StagedLines>> {
  const items = keys.length > 0 ? lastOfEachKey(all, columns) : all
  const parts = [target.name, key, ...all.map(({ index }) => String(index))]
  const token = `penstock-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}`
  const lines = items.map((item) => `${lineOf(columns, item)}\n`).join('')
  const names = columns.map(({ name }) => quoteName(name)).join(', ')
  const bytes = Buffer.byteLength(lines)
  const code = await clickhouse.insert(`insert into ${target.name} (${names}) format JSONEachRow`, lines, token)
  if (code !== undefined) return { bytes, refused: refusalOf(code) }
  const isStaged = batch.window !== undefined && keys.length > 0 && all.length === batch.rows.length
  return { bytes, ...(isStaged && { stage: stagedLines({ columns, keys }, items) }) }
}

/** Of several rows with the same key, the last one, whatever the table keeps of one insert. */
function lastOfEachKey(rows: readonly JudgedRow[], columns: readonly ClickHouseColumn[]): readonly JudgedRow[] {
  const keyOf = keyTextBy(columns)
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()]
}

/** Deletes all versions of rows by their keys. Rows that are inserted later stay. */
async function remove(
  { clickhouse, target, columns, keys }: Work,
  rows: readonly JudgedRow[],
): Promise<Taken<JudgedRow>> {
  const keyed = keys.flatMap((at) => columns[at] ?? [])
  const tuples = rows.map(({ values }) =>
    keyed.map((column) => literalOfValue(values[columns.indexOf(column)], column)),
  )
  let bytes = 0
  for (const statement of deletionsOf(target.name, keyed, tuples)) {
    bytes += Buffer.byteLength(statement)
    const code = await clickhouse.deleteRows(statement)
    if (code !== undefined) return { bytes, refused: refusalOf(code) }
  }
  return { bytes }
}

const refusalOf = (code: number): string => `ClickHouse cannot write a value of the row (code ${code}).`

const lineOf = (columns: readonly ClickHouseColumn[], { values }: JudgedRow): string =>
  `{${columns.flatMap((column, at) => jsonOf(column, values[at] ?? null) ?? []).join(',')}}`

/** Looks up the table and holds columns and values against it; creates nothing. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const target = targetOf(context.settings)
  const clickhouse = openClickHouse(context)
  const found = await findColumns(clickhouse, target)
  if (found.length === 0 && target.create) {
    const [database] = await clickhouse.run(
      `select name from system.databases where name = ${quoteText(target.database)}`,
    )
    if (database) return []
    throw new ConnectorError('table_not_found', `There is no database ${target.database}; check the setting.`)
  }
  const { columns, errors } = await judge(clickhouse, target, context.columns, found)
  return inspectRows(errors, columns, context)
}

/** Judges rows by the columns of the table, as a delivery does before it sends them. */
export async function tryRows(context: InspectionContext): Promise<TriedRows> {
  const target = targetOf(context.settings)
  const clickhouse = openClickHouse(context)
  const found = await findColumns(clickhouse, target)
  const { columns, errors } = await judge(clickhouse, target, context.columns, found)
  if (errors.length > 0) return { rejected: [] }
  const untried = columns
    .filter(({ isUnjudged }) => isUnjudged)
    .map(({ name, type }) => `the ${type.split('(')[0]} values of ${name}`)
  return { rejected: judgeRows(columns, context).doubtful, ...(untried.length > 0 ? { untried } : {}) }
}
