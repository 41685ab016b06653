import { type Check, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { listIn } from '../platform-api/json.ts'
import { campaignManagerOrigin, onlyProfile, openCampaignManager } from './campaign-manager.ts'

/** Checks the access to Campaign Manager 360; what a user profile may do is said only of conversions. */
export const checkConversions: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${campaignManagerOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openCampaignManager(context).tokens.token()
      return 'Google accepts the OAuth client and the refresh token.'
    },
  ],
  [
    'permissions',
    async (context) => {
      const { ask, profileId } = openCampaignManager(context)
      // A check answers at once, whatever comes.
      const { json } = await ask({ path: '/userprofiles', repeatable: false })
      const profiles = listIn(json.items).length
      if (context.settings.profileId !== undefined) await profileId()
      else if (profiles > 1)
        return `The user has ${profiles} user profiles; each connection says which one sends conversions.`
      else onlyProfile(json)
      return 'The user has a user profile that can send conversions.'
    },
  ],
)
