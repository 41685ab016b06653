import { type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { adsOrigin, askParts, openAds } from './ads-api.ts'
import { accountOf } from './deliver-customer-lists.ts'

/** Reads the ad account that a connection names. */
export async function assertAccount(context: ConnectorContext): Promise<void> {
  const id = accountOf(context.settings.advertiserId)
  const { parts } = await askParts(openAds(context), { path: `/adaccounts/${encodeURIComponent(id)}` }, 'adaccounts')
  if (parts.some(({ adaccount }) => textIn(objectIn(adaccount).id) === id)) return
  throw new ConnectorError('object_not_found', 'Snapchat does not show the ad account; check the Advertiser ID.')
}

export const checkCustomerLists = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${adsOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openAds(context).askObject({ path: '/me' })
      return 'Snapchat accepts the refresh token.'
    },
  ],
  [
    'permissions',
    async (context) => {
      if (context.settings.advertiserId === undefined) {
        return 'Nothing to check until a connection has an ad account.'
      }
      await assertAccount(context)
      return 'The token has access to the ad account.'
    },
  ],
)
