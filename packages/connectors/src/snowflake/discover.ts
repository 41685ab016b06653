import {
  ConnectorError,
  type Discover,
  type Discovered,
  type DiscoveredPage,
  type DiscoveryContext,
} from '@penstock/connector'
import { pageOfAll, windowOf } from '../discovery/pages.ts'
import { textIn } from '../platform-api/json.ts'
import { accountOf } from './account.ts'
import { describe, quoteAsIs, quoteName, type StatementPlace, sourceOf } from './plan.ts'
import { makeSqlApi } from './sql-api.ts'
import { targetOf } from './table.ts'

/** A person waits for the answer. */
const timeoutSeconds = 20

/** Warehouses that the role can see. */
export const discoverWarehouses: Discover = (context) => shown(context, 'warehouses', 'object')

/** Databases that the role can see. */
export const discoverDatabases: Discover = (context) => shown(context, 'databases', 'object')

/** Schemas of the database. */
export const discoverSchemas: Discover = (context) =>
  shown(context, 'schemas', 'schema', () => `in database ${nameIn(context, 'database')}`)

/** Tables and views of the schema, with their numbers of rows. */
export const discoverSources: Discover = (context) =>
  shown(context, 'objects', 'table', () => `in schema ${nameIn(context, 'database')}.${nameIn(context, 'schema')}`)

/** Tables of the schema, with their numbers of rows. */
export const discoverDestinations: Discover = (context) =>
  shown(context, 'tables', 'table', () => `in schema ${nameIn(context, 'database')}.${nameIn(context, 'schema')}`)

/** Columns of the table or of the result of the query. */
export const discoverColumns: Discover = async (context) => {
  const { source, at } = sourceOf(context.settings)
  return await columnsOf(context, source, at)
}

/** Columns of the table that rows go to. */
export const discoverTargetColumns: Discover = async (context) => {
  const { name, at } = targetOf(context.settings)
  return await columnsOf(context, name, at)
}

async function columnsOf(
  context: DiscoveryContext,
  source: string,
  at: Omit<StatementPlace, 'timeoutSeconds'>,
): Promise<DiscoveredPage> {
  const columns = await describe(apiOf(context), source, { ...at, timeoutSeconds })
  return pageOfAll(
    columns.map(({ name, type }) => ({ value: nameInSql(name), kind: 'column', type })),
    context,
  )
}

/**
 * A page of the results of SHOW, which returns at most 10,000 and needs no warehouse.
 * @param where throws `invalid_setting` if another setting is needed first
 */
async function shown(
  context: DiscoveryContext,
  what: string,
  kind: Discovered['kind'],
  where = () => '',
): Promise<DiscoveredPage> {
  windowOf(context)
  // The characters _ and % of a pattern match any character. So it finds some entries too many, which are removed below.
  const pattern = `%${context.search}%`.replace(/[\\']/g, '\\$&')
  const text = `show ${what} like '${pattern}' ${where()}`.trim()
  const { columns, rows } = await apiOf(context).run({ text, timeoutSeconds })
  const at = (name: string) => columns.findIndex((column) => column.name.toLowerCase() === name)
  const [nameAt, kindAt, rowsAt] = [at('name'), at('kind'), at('rows')]
  const found = rows.flatMap((row): Discovered[] => {
    const name = row[nameAt] ?? ''
    if (name === '' || name === 'PENSTOCK_BATCHES') return []
    const count = Number(row[rowsAt] ?? 0)
    return [
      {
        value: nameInSql(name),
        kind: row[kindAt]?.includes('VIEW') ? 'view' : kind,
        ...(Number.isSafeInteger(count) && count > 0 && { rows: count }),
      },
    ]
  })
  return pageOfAll(found, context)
}

// Statements contain no values of rows here, so errors can quote Snowflake.
const apiOf = (context: DiscoveryContext) => makeSqlApi(context, accountOf(context))

/** A name as settings take it: quoted, unless it means the same without quotes. */
const nameInSql = (name: string): string => (/^[A-Z_][A-Z0-9_$]*$/.test(name) ? name : quoteAsIs(name))

/** The name in a setting that is needed first, quoted. */
function nameIn({ settings }: DiscoveryContext, key: 'database' | 'schema'): string {
  const name = textIn(settings[key])?.trim()
  if (name) return quoteName(name)
  throw new ConnectorError('invalid_setting', `Set the ${key} first.`)
}
