import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { accountPath, openReddit, redditOrigin } from './reddit-api.ts'

/** Whether the ad account of the connection is seen, where one is named. */
export async function assertAccount(context: ConnectorContext): Promise<string> {
  const { advertiserId } = context.settings
  if (advertiserId === undefined) return 'Nothing to check until a connection has an ad account.'
  await openReddit(context).askObject({ path: accountPath(advertiserId) })
  return 'The credentials have access to the ad account.'
}

export const checkReddit: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${redditOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openReddit(context).askObject({ path: '/me' })
      return 'Reddit accepts the app and the refresh token.'
    },
  ],
  ['permissions', assertAccount],
)
