import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { accountPath, adsOrigin, openX } from './ads-api.ts'

/** Whether the ad account of the connection is seen. */
export async function assertAccount(context: ConnectorContext): Promise<string> {
  await openX(context)({ path: accountPath(context.settings.accountId) })
  return 'The keys have access to the ad account.'
}

export const checkX: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${adsOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openX(context)({ path: '/accounts', query: { count: '1' } })
      return 'X accepts the keys and the access token.'
    },
  ],
)
