import { type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { originOf, sendItems } from './data-api.ts'

/** A signed request without an item changes nothing. The Trade Desk looks at the signature before it misses the items. */
async function sendNothing(context: ConnectorContext): Promise<void> {
  try {
    await sendItems(context, [])
  } catch (error) {
    if (!(error instanceof ConnectorError && error.code === 'invalid_batch')) throw error
  }
}

export const checkFirstParty = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${originOf(context.settings.dataCenter)}/`)],
  [
    'authentication',
    async (context) => {
      try {
        await sendNothing(context)
      } catch (error) {
        // Denied access means that the signature was accepted; the next step checks permissions.
        if (!(error instanceof ConnectorError && error.code === 'permission_denied')) throw error
      }
      return 'The Trade Desk accepts the signature.'
    },
  ],
  [
    'permissions',
    async (context) => {
      await sendNothing(context)
      return 'The advertiser may send first-party data.'
    },
  ],
)
