import { type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { tenantOf } from './journeys-api.ts'
import { tokensOf } from './marketing-cloud-api.ts'
import { originOf } from './tenant.ts'

/** Checks whether Marketing Cloud issues a token. Only an event, which starts a journey, shows its permissions. */
export async function assertClient(context: ConnectorContext): Promise<string> {
  await tokensOf(context, tenantOf(context)).token()
  return 'Marketing Cloud accepts the client.'
}

export const checkJourneys = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${originOf(tenantOf(context))}/`)],
  ['authentication', assertClient],
)
