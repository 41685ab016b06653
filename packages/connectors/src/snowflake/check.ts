import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { accountOf } from './account.ts'
import { describe, sourceOf } from './plan.ts'
import { makeSqlApi } from './sql-api.ts'

/** Reaches the account, signs in, and checks whether the role can read what the settings name. Nothing is written. */
export const check: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${accountOf(context).origin}/`)],
  ['authentication', signIn],
  ['permissions', permission],
)

/** Reaches the account and signs in. The role's privileges for writing are examined once a connection names a table. */
export const checkDestination: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${accountOf(context).origin}/`)],
  ['authentication', signIn],
)

const apiOf = (context: ConnectorContext, quiet = false) => makeSqlApi(context, accountOf(context), quiet)

async function signIn(context: ConnectorContext): Promise<string> {
  // This query needs no warehouse.
  const { rows } = await apiOf(context, true).run({ text: 'select current_user(), current_role()', timeoutSeconds: 60 })
  const [user, role] = rows[0] ?? []
  return `Snowflake knows the user ${user ?? 'by another name'}, under the role ${role ?? 'that is its default'}.`
}

async function permission(context: ConnectorContext): Promise<string> {
  const { settings } = context
  if (settings.table === undefined && settings.sqlQuery === undefined) {
    return 'What the role may read is checked when a connection has a table or a query.'
  }
  const { source, at } = sourceOf(settings)
  const columns = await describe(apiOf(context), source, { ...at, timeoutSeconds: 60 })
  return `The role may read what the connection names, which has ${columns.length} columns.`
}
