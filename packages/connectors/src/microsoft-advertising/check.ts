import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { openApi } from '../kit/run/open-api.ts'
import { assertConnectivity } from '../platform-api/call.ts'
import { accountProperties, campaignManagement, microsoftOrigin } from './api.ts'
import { openCredentials, openMicrosoftTokens } from './microsoft-api.ts'

/** Checks whether the ad account of the connection is accessible. Does nothing if no connection names an account. */
export async function assertAccount(context: ConnectorContext): Promise<string> {
  const { customerId, accountId } = context.settings
  if (customerId === undefined && accountId === undefined) {
    return 'Nothing to check until a connection has an ad account.'
  }
  const auth = { open: async () => openCredentials(context) }
  await (await openApi(context, campaignManagement, auth)).askObject(accountProperties)
  return 'The credentials have access to the ad account.'
}

export const checkMicrosoft: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${microsoftOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openMicrosoftTokens(context).token()
      return 'Microsoft accepts the app and the refresh token.'
    },
  ],
  ['permissions', assertAccount],
)
