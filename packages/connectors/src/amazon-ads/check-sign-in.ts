import { type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { assertProfiles, openAmazonTokens } from './amazon-api.ts'
import { originOf } from './region.ts'

/** Whether Amazon is reached, the refresh token accepted, and the Ads API open to the application. Nothing is sent. */
export const checkSignIn = checkSteps(
  ['connectivity', (context: ConnectorContext) => assertConnectivity(context, `${originOf(context)}/`)],
  [
    'authentication',
    async (context) => {
      await openAmazonTokens(context).token()
      return 'Amazon accepts the refresh token.'
    },
  ],
  [
    'permissions',
    async (context) => {
      await assertProfiles(context)
      return 'The application may use the Ads API. Whether it may send events to an advertiser is known when the first event is sent.'
    },
  ],
)
