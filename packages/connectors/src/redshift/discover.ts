import type { Discover, Discovered, DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { discover as discoverBucket } from '../amazon-s3/files.ts'
import { inDatabase, likeOf, tableIn } from '../databases/discovery.ts'
import { readingOf } from '../databases/settings.ts'
import { pageIn, pageOfAll, windowOf } from '../discovery/pages.ts'
import type { PostgresSession } from '../postgresql/session.ts'
import { typeNameOf } from './cells.ts'
import { discoverColumns } from './inspect.ts'
import { describe, sourceOf } from './plan.ts'
import { defaultPort, openRedshift } from './session.ts'
import { batchesTable } from './table.ts'

const schemaIn = ({ settings: { schema } }: DiscoveryContext): string =>
  typeof schema === 'string' && schema !== '' ? schema : 'public'

/** Schemas that the user can use. */
export const discoverSchemas: Discover = inDatabase(defaultPort, openRedshift, async (session, context) => {
  const window = windowOf(context)
  const rows = await session.rows(
    `select nspname as value from pg_namespace
      where substring(nspname, 1, 3) <> 'pg_' and nspname not in ('information_schema', 'catalog_history')
        and has_schema_privilege(nspname, 'usage') and nspname ilike $1
      order by nspname limit ${window.limit} offset ${window.offset}`,
    { value: 'text' },
    [likeOf(context)],
  )
  return pageIn(
    rows.map(({ value }) => ({ value, kind: 'schema' })),
    window,
  )
})

/** Tables and views of the schema that the user can read. */
export const discoverSources: Discover = inDatabase(defaultPort, openRedshift, (session, context) =>
  tables(session, context, 'select'),
)

/** Tables of the schema that the user can write to. */
export const discoverDestinations: Discover = inDatabase(defaultPort, openRedshift, (session, context) =>
  tables(session, context, 'insert'),
)

async function tables(
  session: PostgresSession,
  context: DiscoveryContext,
  right: 'select' | 'insert',
): Promise<DiscoveredPage> {
  const window = windowOf(context)
  const kinds = right === 'select' ? "'r', 'v'" : "'r'"
  const rows = await session.rows(
    `select relname as value, relkind = 'v' as view
       from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = $1 and relkind in (${kinds}) and relname <> '${batchesTable}' and relname ilike $2
        and case when has_schema_privilege(nspname, 'usage')
                 then has_table_privilege(quote_ident(nspname) || '.' || quote_ident(relname), '${right}') end
      order by relname limit ${window.limit} offset ${window.offset}`,
    { value: 'text', view: 'boolean' },
    [schemaIn(context), likeOf(context)],
  )
  const found = rows.map(({ value, view }): Discovered => ({ value, kind: view ? 'view' : 'table' }))
  return pageIn(found, window)
}

/** The columns of the query, or of the table. */
export const discoverSourceColumns: Discover = inDatabase(defaultPort, openRedshift, async (session, context) => {
  if (context.settings.dataSourceType !== 'SQL Query') tableIn(context)
  const columns = await describe(session, sourceOf(readingOf(context.settings, 'public')))
  return pageOfAll(
    columns.map((column) => ({ value: column.name, kind: 'column', type: typeNameOf(column) })),
    context,
  )
})

/** Columns of the table that rows go to. */
export const discoverTargetColumns: Discover = async (context) => {
  tableIn(context)
  return discoverColumns(context)
}

/** Buckets and folders for staged files. */
export const discoverStaging: Discover = (context) => discoverBucket(context, 'stagingPath', true)
