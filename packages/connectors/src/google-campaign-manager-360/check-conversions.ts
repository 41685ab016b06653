import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { googleTokens } from '../google-ads/access.ts'
import { openApi } from '../kit/run/open-api.ts'
import { assertConnectivity } from '../platform-api/call.ts'
import type { JsonObject } from '../platform-api/json.ts'
import { campaignManager, campaignManagerAuth, ddmConversions, profileOf, profilesIn } from './campaign-manager.ts'

/** Checks the access to Campaign Manager 360. It reports the rights of a user profile only with conversions. */
export const checkConversions: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${new URL(campaignManager.baseUrl).origin}/`)],
  [
    'authentication',
    async (context) => {
      await googleTokens(context, ddmConversions).token()
      return 'Google accepts the OAuth client and the refresh token.'
    },
  ],
  [
    'permissions',
    async (context) => {
      const list = await profileList(context)
      const { length } = profilesIn(list)
      if (context.settings.profileId === undefined && length > 1)
        return `The user has ${length} user profiles; each connection says which one sends conversions.`
      profileOf(context.settings, list)
      return 'The user has a user profile that can send conversions.'
    },
  ],
)

/** Checks that the user has the user profile of the connection, or only one. */
export async function assertProfile(context: ConnectorContext): Promise<void> {
  profileOf(context.settings, await profileList(context))
}

async function profileList(context: ConnectorContext): Promise<JsonObject> {
  const client = await openApi(context, campaignManager, campaignManagerAuth)
  // A check responds immediately, whatever the answer.
  return (await client.askObject({ path: '/userprofiles', repeatable: false })).json
}
