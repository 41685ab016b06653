import { ConnectorError, type Discover, type Discovered, type DiscoveryContext } from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import { discovered } from '../kit/run/discover.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { tokenIn } from '../platform-api/next-page.ts'
import { openDatabricks } from './databricks-api.ts'
import { describe, sourceOf } from './plan.ts'
import { discoverColumns } from './target.ts'

/** SQL warehouses of the workspace. */
export const discoverWarehouses: Discover = async (context) => {
  const { json } = await openDatabricks(context).askObject({ path: '/api/2.0/sql/warehouses' })
  const found = listIn(json.warehouses)
    .map(objectIn)
    .flatMap(({ id, name }): Discovered[] => {
      const value = textIn(id)
      const label = textIn(name)?.slice(0, 200)
      return value !== undefined && /^[\w-]{1,100}$/.test(value)
        ? [{ value, kind: 'object', ...(label === undefined ? {} : { label }) }]
        : []
    })
  return pageOfAll(found, context)
}

type Place = 'catalog' | 'schema'

/** A list of Unity Catalog, page by page. @param needs the settings that are needed first */
const listed =
  (what: 'catalogs' | 'schemas' | 'tables' | 'volumes', kind: Discovered['kind'], needs: readonly Place[]): Discover =>
  (context) => {
    const databricks = openDatabricks(context)
    const within = Object.fromEntries(needs.map((key) => [`${key}_name`, needed(context, key)]))
    return discovered(context, { kind, id: /^[^/\0]+$/ }, async (pageToken) => {
      const query = { ...within, max_results: '50', page_token: pageToken }
      const { json } = await databricks.askObject({ path: `/api/2.1/unity-catalog/${what}`, query })
      return {
        items: listIn(json[what])
          .map(objectIn)
          .map(({ name }) => ({ id: name })),
        next: tokenIn(json.next_page_token, 'Databricks'),
      }
    })
  }

/** Catalogs that the user can see. */
export const discoverCatalogs = listed('catalogs', 'object', [])
/** Schemas of the catalog. */
export const discoverSchemas = listed('schemas', 'schema', ['catalog'])
/** Tables and views of the schema. */
export const discoverTables = listed('tables', 'table', ['catalog', 'schema'])
/** Volumes of the schema. */
export const discoverVolumes = listed('volumes', 'object', ['catalog', 'schema'])

/** Columns of the table that rows go to. */
export const discoverTargetColumns: Discover = async (context) => {
  for (const key of ['catalog', 'schema', 'table'] as const) needed(context, key)
  return discoverColumns({ ...context, settings: { warehouse: '-', volume: '-', ...context.settings } })
}

/** The columns of the table, or of the query, for which the warehouse starts. */
export const discoverSourceColumns: Discover = async (context) => {
  if (context.settings.dataSourceType !== 'SQL Query') return discoverTargetColumns(context)
  const { source, at } = sourceOf(context.settings)
  // A person waits for the answer.
  const columns = await describe(openDatabricks(context), source, { ...at, waitMs: 20_000 })
  return pageOfAll(
    columns.map(({ name, type }) => ({ value: name, kind: 'column', type: type.slice(0, 100) })),
    context,
  )
}

function needed({ settings }: DiscoveryContext, key: Place | 'table'): string {
  const value = textIn(settings[key])?.trim()
  if (value) return value
  throw new ConnectorError('invalid_setting', `Set the ${key} first.`)
}
