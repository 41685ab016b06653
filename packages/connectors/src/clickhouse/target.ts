import { ConnectorError, type Values } from '@penstock/connector'
import { writingOf } from '../databases/settings.ts'
import { tableError } from '../databases/table-findings.ts'
import { inspectionsOf } from '../kit/warehouse/inspect.ts'
import { type Tables, type Target, writeModeOf } from '../kit/warehouse/table.ts'
import { type ClickHouseApi, openClickHouse } from './clickhouse-api.ts'
import { type ClickHouseColumn, columnOf, quoteName, quoteText } from './target-columns.ts'

/** The table that rows go to, as the settings name it. */
export type ClickHouseTarget = Target & {
  readonly database: string
  /** With its database, quoted. */
  readonly name: string
}

/** Reads the settings of the destination. Throws `invalid_setting` if one is missing. */
export function targetOf(settings: Values): ClickHouseTarget {
  const {
    schema: database,
    table,
    keys,
    create,
  } = writingOf({ ...settings, schema: settings.database ?? '' }, 'default')
  const name = `${quoteName(database)}.${quoteName(table)}`
  return { database, table, name, where: `the database ${database}`, mode: writeModeOf(settings), keys, create }
}

/** The columns of a table that rows can be written to. `undefined` if the table does not exist. */
async function find(
  clickhouse: ClickHouseApi,
  { database, table }: Pick<ClickHouseTarget, 'database' | 'table'>,
): Promise<{ readonly columns: readonly ClickHouseColumn[] } | undefined> {
  const rows = await clickhouse.run(
    `select name, type, default_kind from system.columns where database = ${quoteText(database)} and table = ${quoteText(table)} order by position`,
  )
  const columns = rows.flatMap((row) => columnOf(row) ?? [])
  return columns.length > 0 ? { columns } : undefined
}

type Found = { readonly columns: readonly ClickHouseColumn[] }

export const clickhouseTables: Tables<ClickHouseApi, ClickHouseTarget, Found> = {
  targetOf,
  use: (context, work) => work(openClickHouse(context)),
  find,
  create: (clickhouse, target, names) => clickhouse.run(creationOf(target, names)),
  async assertCreatable(clickhouse, { database }) {
    const [found] = await clickhouse.run(`select name from system.databases where name = ${quoteText(database)}`)
    if (!found) throw new ConnectorError('table_not_found', `There is no database ${database}; check the setting.`)
  },
  async keyErrors(clickhouse, { database, table }, keys) {
    const [[engine = '', sortingKey = ''] = []] = await clickhouse.run(
      `select engine, sorting_key from system.tables where database = ${quoteText(database)} and name = ${quoteText(table)}`,
    )
    const named = keys.map(({ name }) => name)
    const sorted = String(sortingKey)
      .split(',')
      .map((name) => name.trim().replaceAll('`', ''))
    const isKey = sorted.length === named.length && named.every((name) => sorted.includes(name))
    if (/^(Replicated|Shared)?ReplacingMergeTree$/.test(String(engine)) && isKey) return []
    const message = `The table does not have the engine ReplacingMergeTree with the sorting key ${named.join(', ')}; create one that has, or choose another key.`
    return [tableError('key_not_unique', message)]
  },
}

export const { inspect, tryRows, discoverColumns } = inspectionsOf(clickhouseTables)

/** The statement that creates a table with columns of text. For an upsert, a table that replaces rows with the same key. */
function creationOf({ name, keys }: ClickHouseTarget, names: readonly string[]): string {
  const isKey = (column: string) => keys.some((key) => key.toLowerCase() === column.toLowerCase())
  const columns = names.map((column) => `${quoteName(column)} ${isKey(column) ? 'String' : 'Nullable(String)'}`)
  const order = names.filter(isKey).map(quoteName)
  const engine = keys.length > 0 ? `ReplacingMergeTree order by (${order.join(', ')})` : 'MergeTree order by tuple()'
  return `create table if not exists ${name} (${columns.join(', ')}) engine = ${engine} settings non_replicated_deduplication_window = 1000`
}
