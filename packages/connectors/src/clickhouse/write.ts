import { createHash } from 'node:crypto'
import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { throwFirst } from '../databases/table-findings.ts'
import { mirrorErrors, nameKeysBy } from '../kit/warehouse/key-names.ts'
import { type JudgedRow, keyTextBy, partOf } from '../kit/warehouse/rows.ts'
import { openTable } from '../kit/warehouse/table.ts'
import { type BatchName, type Loaded, openLoadingWriter } from '../kit/warehouse/writer.ts'
import type { Taken } from '../platform-api/rows/halving.ts'
import { literalOfValue } from './cells.ts'
import { type ClickHouseApi, openClickHouse } from './clickhouse-api.ts'
import { type ClickHouseTarget, clickhouseTables, targetOf } from './target.ts'
import { type ClickHouseColumn, jsonOf, quoteName } from './target-columns.ts'
import { deletionsOf, type StagedLines, stagedLines, windowStoreOf } from './windows.ts'

export { inspect, tryRows } from './target.ts'

type Work = {
  readonly clickhouse: ClickHouseApi
  readonly target: ClickHouseTarget
  readonly columns: readonly ClickHouseColumn[]
  readonly keys: readonly number[]
}

/** Opens a writer: finds the table, and creates it if the settings allow that. Does not empty the table yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const clickhouse = openClickHouse(context)
  const target = targetOf(context.settings)
  const { columns, keys } = await openTable(clickhouseTables, clickhouse, target, context.columns)
  throwFirst(mirrorErrors(context.settings, columns))
  const work: Work = { clickhouse, target, columns, keys }
  return openLoadingWriter(context, {
    name: 'ClickHouse',
    columns,
    replaces: target.mode === 'Replace',
    empty: () => clickhouse.run(`truncate table ${target.name}`),
    load: (rows, name) => insert(work, name, rows),
    remove: (rows) => remove(work, rows),
    nameKeys: nameKeysBy(columns, target.keys),
    windows: keys.length > 0 ? windowStoreOf(clickhouse, { ...target, columns, keys }) : undefined,
  })
}

/**
 * Inserts rows. The same rows of the same transfer have the same token. If the table was emptied again, later rows have another
 * one.
 */
async function insert(
  { clickhouse, target, columns, keys }: Work,
  { key, batch }: BatchName,
  all: readonly JudgedRow[],
): Promise<Loaded<StagedLines>> {
  const items = keys.length > 0 ? lastOfEachKey(all, columns) : all
  const parts = [target.name, key, partOf(batch.rows, all)]
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
