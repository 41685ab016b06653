import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { openTable } from '../kit/warehouse/table.ts'
import { assertConnectivity } from '../platform-api/call.ts'
import { makeBigQuery, origin } from './jobs.ts'
import { describe, sourceOf } from './plan.ts'
import { bigQueryTables, targetOf } from './target.ts'

/** Reaches Google, signs in, and has BigQuery examine the query that a connection names. Nothing is run or billed. */
export const check: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${origin}/`)],
  ['authentication', signIn],
  ['permissions', permission],
)

/** Reaches Google, signs in, and looks up the table that a connection names. Nothing is created. */
export const checkDestination: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${origin}/`)],
  ['authentication', signIn],
  ['permissions', lookUp],
)

async function lookUp(context: ConnectorContext): Promise<string> {
  const { dataset, table } = context.settings
  if (dataset === undefined || table === undefined) {
    return 'Which tables the service account may write to is checked when a connection names one.'
  }
  const bigQuery = makeBigQuery(context)
  const target = targetOf(context.settings)
  if (target.create) {
    await bigQuery.list(target.dataset)
    return `${bigQuery.account.email} may list the tables of the dataset.`
  }
  const { found } = await openTable(bigQueryTables, bigQuery, target, [])
  return `${bigQuery.account.email} finds the table, which has ${found.columns.length} columns.`
}

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
