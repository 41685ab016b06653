import type { Discover, Discovered } from '@penstock/connector'
import { tableIn } from '../databases/discovery.ts'
import { pageOfAll, windowOf } from '../discovery/pages.ts'
import { textIn } from '../platform-api/json.ts'
import { openClickHouse } from './clickhouse-api.ts'
import { describe, sourceOf } from './plan.ts'
import { discoverColumns as discoverTarget } from './target.ts'
import { quoteText } from './target-columns.ts'

const databaseOf = (settings: { readonly database?: unknown }): string => textIn(settings.database)?.trim() || 'default'

/** Databases that the user can see. */
export const discoverDatabases: Discover = async (context) => {
  windowOf(context)
  const rows = await openClickHouse(context).run(
    `select name from system.databases where lower(name) not in ('system', 'information_schema') order by name limit 10000`,
  )
  return pageOfAll(
    rows.flatMap(([name]): Discovered[] =>
      textIn(name) === undefined ? [] : [{ value: textIn(name) ?? '', kind: 'schema' }],
    ),
    context,
  )
}

/** Tables of the database, with their numbers of rows. */
export const discoverTables: Discover = async (context) => {
  windowOf(context)
  const database = quoteText(databaseOf(context.settings))
  const rows = await openClickHouse(context).run(
    `select name, total_rows from system.tables where database = ${database} and engine not like '%View' order by name limit 10000`,
  )
  const found = rows.flatMap(([name, total]): Discovered[] => {
    const value = textIn(name)
    const count = Number(textIn(total) ?? 0)
    if (value === undefined) return []
    return [{ value, kind: 'table', ...(Number.isSafeInteger(count) && count > 0 && { rows: count }) }]
  })
  return pageOfAll(found, context)
}

/** Tables and views of the database, with the numbers of rows of tables. */
export const discoverSources: Discover = async (context) => {
  windowOf(context)
  const database = quoteText(databaseOf(context.settings))
  const rows = await openClickHouse(context).run(
    `select name, total_rows, engine from system.tables where database = ${database} and not is_temporary and not startsWith(name, '.inner') order by name limit 10000`,
  )
  const found = rows.flatMap(([name, total, engine]): Discovered[] => {
    const value = textIn(name)
    const count = Number(textIn(total) ?? 0)
    if (value === undefined) return []
    const kind = textIn(engine)?.endsWith('View') ? 'view' : 'table'
    return [{ value, kind, ...(Number.isSafeInteger(count) && count > 0 && { rows: count }) }]
  })
  return pageOfAll(found, context)
}

/** The columns of the query, or of the table. */
export const discoverSourceColumns: Discover = async (context) => {
  windowOf(context)
  if (context.settings.dataSourceType !== 'SQL Query') tableIn(context)
  const { source, at } = sourceOf(context.settings)
  // A person waits for the answer.
  const columns = await describe(openClickHouse(context), source, { ...at, waitMs: 20_000 })
  return pageOfAll(
    columns.map(({ name, type }) => ({ value: name, kind: 'column', type: type.slice(0, 100) })),
    context,
  )
}

/** Columns of the table that rows go to. */
export const discoverColumns: Discover = async (context) => {
  tableIn(context)
  return discoverTarget({ ...context, settings: { ...context.settings, database: databaseOf(context.settings) } })
}
