import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { textIn } from '../platform-api/json.ts'
import { openClickHouse } from './clickhouse-api.ts'
import { describe, sourceOf } from './plan.ts'
import { clickhouseTables, targetOf } from './target.ts'

/** Reaches the server, signs in, and looks up the table that a connection names. Nothing is written. */
export const checkDestination: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${openClickHouse(context).origin}/ping`)],
  ['authentication', signIn],
  ['permissions', lookUp],
)

/** Reaches the server, signs in, and checks that the user can read the table of a connection. Reads no rows. */
export const checkSource: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${openClickHouse(context).origin}/ping`)],
  ['authentication', signIn],
  ['permissions', lookAt],
)

async function signIn(context: ConnectorContext): Promise<string> {
  const [row = []] = await openClickHouse(context).run('select currentUser(), version()')
  return `ClickHouse ${textIn(row[1])?.slice(0, 40) ?? ''} knows the user ${textIn(row[0])?.slice(0, 100) ?? ''}.`
}

async function lookUp(context: ConnectorContext): Promise<string> {
  if (context.settings.table === undefined) return 'Permissions are checked when a connection names a table.'
  const target = targetOf({ ...context.settings, writeMode: 'Append' })
  const found = await clickhouseTables.find(openClickHouse(context), target)
  return found ? `The table has ${found.columns.length} columns.` : 'The table does not exist yet.'
}

async function lookAt(context: ConnectorContext): Promise<string> {
  const { settings } = context
  if (settings.table === undefined && settings.sqlQuery === undefined) {
    return 'The privileges of the user are checked when a connection names a table or a query.'
  }
  const { source, at } = sourceOf(settings)
  const columns = await describe(openClickHouse(context), source, { ...at, waitMs: 60_000 })
  return `The user may read what the connection names, which has ${columns.length} columns.`
}
