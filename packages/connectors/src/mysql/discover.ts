import type { Discovered } from '@penstock/connector'
import { inDatabase, likeOf, tableIn } from '../databases/discovery.ts'
import { sampling, withSamples } from '../databases/samples.ts'
import { bareQuery } from '../databases/settings.ts'
import { tableNotFound, throwFirst } from '../databases/table-findings.ts'
import { pageIn, pageOfAll, windowOf } from '../discovery/pages.ts'
import { quoteName } from './plan.ts'
import { countIn, type LookupRow, valueIn } from './raw-rows.ts'
import { type MysqlSession, openSession } from './session.ts'

const port = 3306

/** Tables and views of the database that the user may see, with an estimate of their rows. */
export const discoverTables = inDatabase(port, openSession, async (session, context) => {
  const { host } = session.place
  const window = windowOf(context)
  const rows = await session.run(
    `select table_name as name, table_type as type, table_rows as estimate from information_schema.tables
      where table_schema = database() and table_name <> 'penstock_batches' and lower(table_name) like lower(?)
      order by table_name limit ${window.limit} offset ${window.offset}`,
    [likeOf(context)],
  )
  const found = rows.map((row): Discovered => {
    const isView = valueIn(host, row, 'type').includes('VIEW')
    const estimate = row.estimate ? countIn(host, row, 'estimate') : 0
    const known = estimate > 0 ? { rows: estimate } : {}
    return { value: valueIn(host, row, 'name'), kind: isView ? 'view' : 'table', ...known }
  })
  return pageIn(found, window)
})

/** Columns of the table, or of the result of the query, with their types and their part in the key. */
export const discoverColumns = inDatabase(port, openSession, async (session, context) => {
  const { dataSourceType, sqlQuery } = context.settings
  if (dataSourceType === 'SQL Query' && typeof sqlQuery === 'string') {
    const fields = await session.describe(`select * from (${bareQuery(sqlQuery)}\n) as source limit 0`)
    const page = pageOfAll(
      fields.map(({ name }) => ({ value: name, kind: 'column' })),
      context,
    )
    return withSamples(page, context, session, (names) => valuesOf(session, `(${bareQuery(sqlQuery)}\n)`, names))
  }
  const table = tableIn(context)
  const rows = await session.run(
    `select column_name as name, column_type as type, column_key as keyed, is_nullable as nullable,
            column_default as fallback, extra, generation_expression as generation
       from information_schema.columns where table_schema = database() and table_name = ? order by ordinal_position`,
    [table],
  )
  if (rows.length === 0) throwFirst([tableNotFound(table, 'the database')])
  const page = pageOfAll(
    rows.map(
      (row): Discovered => ({
        value: valueIn(session.place.host, row, 'name'),
        kind: 'column',
        type: valueIn(session.place.host, row, 'type'),
        key: row.keyed === 'PRI',
        required: isRequired(row),
      }),
    ),
    context,
  )
  return withSamples(page, context, session, (names) => valuesOf(session, quoteName(table), names))
})

/** The first characters of values of a few rows, as texts, in which a question mark is for bytes that are none. */
async function valuesOf(session: MysqlSession, source: string, names: readonly string[]): Promise<(string | null)[][]> {
  await session.run("set session time_zone = '+00:00'")
  await session.run('start transaction read only')
  const columns = names.map(
    (name, at) => `left(convert(${quoteName(name)} using utf8mb4), ${sampling.characters}) as v${at}`,
  )
  // MariaDB reads the first comment, MySQL the second, and each takes the other's for a comment.
  const rows = await session.run(
    `/*M!100100 set statement max_statement_time = ${sampling.seconds} for */
     select /*+ max_execution_time(${sampling.seconds}000) */ ${columns.join(', ')}
       from (select * from ${source} as source limit ${sampling.rows}) as few`,
  )
  return rows.map((row) => names.map((_, at) => row[`v${at}`] ?? null))
}

const isRequired = ({ nullable, fallback, extra, generation }: LookupRow): boolean =>
  nullable === 'NO' && fallback === null && !generation && !/auto_increment|generated/i.test(extra ?? '')
