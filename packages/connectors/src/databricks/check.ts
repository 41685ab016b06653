import { type Check, type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { openTable } from '../kit/warehouse/table.ts'
import { assertConnectivity } from '../platform-api/call.ts'
import { textIn } from '../platform-api/json.ts'
import { openDatabricks } from './databricks-api.ts'
import { sourceOf } from './plan.ts'
import { databricksTables, findTable, targetOf } from './target.ts'

/** Reaches the workspace, signs in, and looks up the table that a connection names. Nothing is written, and no warehouse starts. */
export const checkDestination: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${openDatabricks(context).origin}/`)],
  ['authentication', signIn],
  ['permissions', lookUp],
)

/** Reaches the workspace, signs in, and looks up the table that a connection names. Nothing is read, and no warehouse starts. */
export const checkSource: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${openDatabricks(context).origin}/`)],
  ['authentication', signIn],
  ['permissions', lookAt],
)

async function signIn(context: ConnectorContext): Promise<string> {
  const { json } = await openDatabricks(context).askObject({ path: '/api/2.0/preview/scim/v2/Me', repeatable: false })
  const name = textIn(json.displayName) ?? textIn(json.userName) ?? 'by another name'
  return `Databricks knows ${name.slice(0, 100)}.`
}

async function lookUp(context: ConnectorContext): Promise<string> {
  if (context.settings.table === undefined) return 'Permissions are checked when a connection names a table.'
  const target = targetOf(context.settings)
  if (target.create) return 'A table that is missing is created by the transfer.'
  await openTable(databricksTables, openDatabricks(context), target, [])
  return 'The catalog shows the table.'
}

async function lookAt(context: ConnectorContext): Promise<string> {
  const { settings } = context
  if (settings.table === undefined && settings.sqlQuery === undefined) {
    return 'Permissions are checked when a connection names a table or a query.'
  }
  const { reading } = sourceOf(settings)
  if ('query' in reading.from) return 'Whether the query can be run is seen when the warehouse runs it.'
  const [catalog = '', schema = '', table = ''] = ['catalog', 'schema', 'table'].map(
    (key) => textIn(settings[key])?.trim() ?? '',
  )
  const found = await findTable(openDatabricks(context), { path: [catalog, schema, table] })
  if (found) return `The catalog shows the table, which has ${found.columns.length} columns.`
  throw new ConnectorError('table_not_found', 'There is no such catalog, schema or table; check the settings.')
}
