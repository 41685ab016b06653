import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { makeBigQuery, origin } from './jobs.ts'
import { describe, sourceOf } from './plan.ts'

/** Reaches Google, signs in, and has BigQuery examine the query that a connection names. Nothing is run or billed. */
export const check: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${origin}/`)],
  ['authentication', signIn],
  ['permissions', permission],
)

async function signIn(context: ConnectorContext): Promise<string> {
  const { account } = makeBigQuery(context)
  await account.token()
  return `Google accepts the key of ${account.email}.`
}

async function permission(context: ConnectorContext): Promise<string> {
  if (context.settings.sqlQuery === undefined) {
    return 'What the service account may read is checked when a connection has a query.'
  }
  const bigQuery = makeBigQuery(context)
  const columns = await describe(bigQuery, sourceOf(context.settings))
  return `${bigQuery.account.email} may run the query, which gives ${columns.length} columns.`
}
