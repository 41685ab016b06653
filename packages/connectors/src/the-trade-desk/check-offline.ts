import { asConnectorError, type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { textIn } from '../platform-api/json.ts'
import { offlineOrigin, sendConversions } from './offline-api.ts'

/** A signed request without a conversion changes nothing. The Trade Desk looks at the signature before it misses conversions. */
export async function sendNothing(context: ConnectorContext): Promise<void> {
  try {
    await sendConversions(context, textIn(context.settings.offlineDataProviderId)?.trim() ?? '', [])
  } catch (error) {
    if (asConnectorError(error)?.code !== 'invalid_batch') throw error
  }
}

export const checkOffline = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${offlineOrigin}/`)],
  [
    'authentication',
    async (context) => {
      try {
        await sendNothing(context)
      } catch (error) {
        // Denied access means that the signature was accepted; the next step is about that.
        if (asConnectorError(error)?.code !== 'permission_denied') throw error
      }
      return 'The Trade Desk accepts the signature.'
    },
  ],
  [
    'permissions',
    async (context) => {
      if (context.settings.offlineDataProviderId === undefined) {
        return 'Nothing to check until a connection has a data provider.'
      }
      await sendNothing(context)
      return 'The provider may send offline conversions.'
    },
  ],
)
