import type { Discovered, DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import pg from 'pg'
import { inDatabase, likeOf, tableIn } from '../databases/discovery.ts'
import { sampling, withSamples } from '../databases/samples.ts'
import { bareQuery } from '../databases/settings.ts'
import { tableNotFound, throwFirst } from '../databases/table-findings.ts'
import { pageIn, pageOfAll, windowOf } from '../discovery/pages.ts'
import type { Shape } from './answers.ts'
import { beginReading } from './read.ts'
import { openSession, type PostgresSession } from './session.ts'
import { batchesTable } from './table.ts'

const port = 5432
const { escapeIdentifier } = pg

/** Schemas that the user may use. */
export const discoverSchemas = inDatabase(port, openSession, async (session, context) => {
  const window = windowOf(context)
  const rows = await session.rows(
    `select nspname as value from pg_namespace
      where nspname !~ '^pg_' and nspname <> 'information_schema' and has_schema_privilege(oid, 'usage') and nspname ilike $1
      order by nspname limit $2::int offset $3::int`,
    { value: 'text' },
    [likeOf(context), window.limit, window.offset],
  )
  return pageIn(
    rows.map(({ value }) => ({ value, kind: 'schema' })),
    window,
  )
})

/** Tables and views of the schema that the user may read, with an estimate of their rows. */
export const discoverSources = inDatabase(port, openSession, (session, context) => tables(session, context, 'select'))

/** Tables of the schema that the user may write to. */
export const discoverDestinations = inDatabase(port, openSession, (session, context) =>
  tables(session, context, 'insert'),
)

async function tables(
  session: PostgresSession,
  context: DiscoveryContext,
  right: 'select' | 'insert',
): Promise<DiscoveredPage> {
  const window = windowOf(context)
  const rows = await session.rows(
    `select relname as value, relkind in ('v', 'm') as view,
            least(greatest(reltuples, -1), 1e15)::int8 as rows
       from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = $1 and relkind = any(array['r', 'p', 'f', 'v', 'm']::"char"[]) and not relispartition
        and relname <> $2 and relname ilike $3
        and case when has_schema_privilege(relnamespace, 'usage')
                 then has_table_privilege(pg_class.oid, '${right}') or has_any_column_privilege(pg_class.oid, '${right}') end
        and (relkind <> 'm' or '${right}' = 'select')
      order by relname limit $4::int offset $5::int`,
    { value: 'text', view: 'boolean', rows: 'integer' },
    [schemaIn(context), batchesTable, likeOf(context), window.limit, window.offset],
  )
  const found = rows.map(({ value, view, rows: estimate }): Discovered => {
    // A table that was never analysed has -1, a view 0.
    const known = estimate > 0 ? { rows: estimate } : {}
    return { value, kind: view ? 'view' : 'table', ...known }
  })
  return pageIn(found, window)
}

/** Columns of the table, or of the result of the query, with their types and their part in the key. */
export const discoverColumns = inDatabase(port, openSession, async (session, context) => {
  const { dataSourceType, sqlQuery } = context.settings
  if (dataSourceType === 'SQL Query' && typeof sqlQuery === 'string') {
    const page = pageOfAll(await columnsOfQuery(session, sqlQuery), context)
    return withSamples(page, context, session, (names) => valuesOf(session, `(${bareQuery(sqlQuery)}\n)`, names))
  }
  const table = tableIn(context)
  const schema = schemaIn(context)
  const rows = await session.rows(
    `select attname as value, format_type(atttypid, atttypmod) as type,
            coalesce(attnum = any(i.indkey::int2[]), false) as key,
            attnotnull and not atthasdef and attidentity = '' as required
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
       left join pg_index i on i.indrelid = c.oid and i.indisprimary
      where nspname = $1 and relname = $2 order by attnum`,
    { value: 'text', type: 'text', key: 'boolean', required: 'boolean' },
    [schema, table],
  )
  if (rows.length === 0) throwFirst([tableNotFound(table, `the schema ${schema}`)])
  const page = pageOfAll(
    rows.map((row) => ({ ...row, kind: 'column' })),
    context,
  )
  const source = `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`
  return withSamples(page, context, session, (names) => valuesOf(session, source, names))
})

/** The first characters of values of a few rows, as texts as a transfer reads them. The session is in a transaction afterwards. */
async function valuesOf(
  session: PostgresSession,
  source: string,
  names: readonly string[],
): Promise<(string | null)[][]> {
  await session.execute([...beginReading, `set local statement_timeout = '${sampling.seconds}s'`])
  const columns = names.map((name, at) => `left((${escapeIdentifier(name)})::text, ${sampling.characters}) as v${at}`)
  const shape: Shape = Object.fromEntries(names.map((_, at) => [`v${at}`, 'text?']))
  // Values of a statement make the server refuse more than one of them.
  const rows = await session.rows(
    `select ${columns.join(', ')} from (select * from ${source} as source limit $1::int) as few`,
    shape,
    [sampling.rows],
  )
  return rows.map((row) => names.map((_, at) => row[`v${at}`] as string | null))
}

async function columnsOfQuery(session: PostgresSession, query: string): Promise<Discovered[]> {
  const fields = await session.describe(`select * from (${bareQuery(query)}\n) as source limit 0`)
  const types = await session.rows(
    'select oid, format_type(oid, -1) as type from pg_type where oid = any($1::oid[])',
    { oid: 'integer', type: 'text' },
    [fields.map(({ dataTypeID }) => dataTypeID)],
  )
  const typeOf = new Map(types.map(({ oid, type }) => [oid, type]))
  return fields.map(({ name, dataTypeID }) => {
    const type = typeOf.get(dataTypeID)
    return { value: name, kind: 'column', ...(type === undefined ? {} : { type }) }
  })
}

function schemaIn({ settings }: DiscoveryContext): string {
  return typeof settings.schema === 'string' && settings.schema !== '' ? settings.schema : 'public'
}
