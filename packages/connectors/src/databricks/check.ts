import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { textIn } from '../platform-api/json.ts'
import { openDatabricks } from './databricks-api.ts'
import { openTable, targetOf } from './target.ts'

/** Reaches the workspace, signs in, and looks up the table that a connection names. Nothing is written, and no warehouse starts. */
export const checkDestination: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${openDatabricks(context).origin}/`)],
  ['authentication', signIn],
  ['permissions', lookUp],
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
  await openTable(openDatabricks(context), target, [])
  return 'The catalog shows the table.'
}
