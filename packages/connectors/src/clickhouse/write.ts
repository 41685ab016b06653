import { createHash } from 'node:crypto'
import {
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type TriedRows,
  type Values,
} from '@penstock/connector'
import { inspectRows, type JudgedRow, judgeRows, matchColumns } from '../databases/judged-rows.ts'
import { openLoadingWriter } from '../databases/loading-writer.ts'
import { writingOf } from '../databases/settings.ts'
import { type FatalTableProblem, tableNotFound, throwFirst } from '../databases/table-findings.ts'
import type { Taken } from '../platform-api/rows/halving.ts'
import { type ClickHouse, openClickHouse } from './clickhouse-api.ts'
import { type ClickHouseColumn, columnOf, jsonOf, quoteName, quoteText } from './target-columns.ts'

/** Where rows go, as the settings name it. */
type ClickHouseTarget = {
  readonly database: string
  readonly table: string
  /** With its database, quoted. */
  readonly name: string
  readonly replace: boolean
  readonly create: boolean
}

function targetOf(settings: Values): ClickHouseTarget {
  const {
    schema: database,
    table,
    create,
  } = writingOf({ ...settings, schema: settings.database ?? '', writeMode: 'Insert' }, 'default')
  const name = `${quoteName(database)}.${quoteName(table)}`
  return { database, table, name, replace: settings.writeMode === 'Replace', create }
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

/** The table's columns for the delivered ones, and what prevents writing to them. */
function judge(
  { database, table }: ClickHouseTarget,
  delivered: readonly string[],
  found: readonly ClickHouseColumn[],
) {
  const missing: FatalTableProblem[] = [tableNotFound(table, `the database ${database}`)]
  return found.length === 0 ? { columns: [], errors: missing } : matchColumns(table, delivered, found)
}

type Work = {
  readonly clickhouse: ClickHouse
  readonly target: ClickHouseTarget
  readonly columns: readonly ClickHouseColumn[]
}

/** Opens a writer: finds the table, and creates it if it may. Empties nothing yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const clickhouse = openClickHouse(context)
  const target = targetOf(context.settings)
  let found = await findColumns(clickhouse, target)
  if (found.length === 0 && target.create) {
    const names = [...new Set(context.columns)].map((name) => `${quoteName(name)} Nullable(String)`).join(', ')
    await clickhouse.run(
      `create table if not exists ${target.name} (${names}) engine = MergeTree order by tuple() settings non_replicated_deduplication_window = 1000`,
    )
    found = await findColumns(clickhouse, target)
  }
  const { columns, errors } = judge(target, context.columns, found)
  throwFirst(errors)
  const work: Work = { clickhouse, target, columns }
  return openLoadingWriter(context, {
    name: 'ClickHouse',
    columns,
    replaces: target.replace,
    empty: () => clickhouse.run(`truncate table ${target.name}`),
    load: (rows, key) => insert(work, key, rows),
  })
}

/** Inserts rows. The same rows of the same transfer have the same token; rows that come after the table was emptied again have another one. */
async function insert(
  { clickhouse, target, columns }: Work,
  key: string,
  items: readonly JudgedRow[],
): Promise<Taken<JudgedRow>> {
  const parts = [target.name, key, ...items.map(({ index }) => String(index))]
  const token = `penstock-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}`
  const lines = items.map((item) => `${lineOf(columns, item)}\n`).join('')
  const names = columns.map(({ name }) => quoteName(name)).join(', ')
  const bytes = Buffer.byteLength(lines)
  const code = await clickhouse.insert(`insert into ${target.name} (${names}) format JSONEachRow`, lines, token)
  return code === undefined
    ? { bytes }
    : { bytes, refused: `ClickHouse cannot write a value of the row (code ${code}).` }
}

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
  const { columns, errors } = judge(target, context.columns, found)
  return inspectRows(errors, columns, context)
}

/** Judges rows by the columns of the table, as a delivery does before it sends them. */
export async function tryRows(context: InspectionContext): Promise<TriedRows> {
  const target = targetOf(context.settings)
  const { columns, errors } = judge(target, context.columns, await findColumns(openClickHouse(context), target))
  if (errors.length > 0) return { rejected: [] }
  const untried = columns
    .filter(({ isUnjudged }) => isUnjudged)
    .map(({ name, type }) => `the ${type.split('(')[0]} values of ${name}`)
  return { rejected: judgeRows(columns, context).doubtful, ...(untried.length > 0 ? { untried } : {}) }
}
