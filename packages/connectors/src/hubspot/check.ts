import { checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { hubspotOrigin, paths } from './api.ts'
import { openHubSpot } from './sign-in.ts'

/** Tries the credentials. The preview of a connection checks whether they give access to its object type. */
export const checkHubSpot = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${hubspotOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await (await openHubSpot(context)).askObject({ path: paths.account })
      return 'HubSpot accepts the credentials.'
    },
  ],
)
