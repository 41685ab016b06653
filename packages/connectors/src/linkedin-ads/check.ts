import { type Check, type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { meaningBy, openApi } from '../kit/run/open-api.ts'
import { assertConnectivity } from '../platform-api/call.ts'
import { linkedinMarketing, linkedinOrigin } from './api.ts'
import { accountForm, accountUrn, roles, rolesMean } from './roles.ts'
import { openLinkedInTokens } from './tokens.ts'

/** Checks whether the signed-in user has a role with write access on the ad account, or on any if no account is named. */
export async function assertRole(context: ConnectorContext): Promise<string> {
  const account = accountUrn(context.settings.adAccountId)
  if (account !== '' && !accountForm.test(account)) {
    throw new ConnectorError('invalid_setting', 'Ad account ID must be the number of an ad account at LinkedIn.')
  }
  const client = await openApi(context, linkedinMarketing, { open: async () => openLinkedInTokens(context) })
  const errorOf = meaningBy(linkedinMarketing, (answer) => rolesMean(answer, account))
  await client.askObject({ ...roles, errorOf })
  return account === '' ? 'The user may change an ad account.' : 'The user may change the ad account.'
}

export const checkLinkedIn: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${linkedinOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openLinkedInTokens(context).token()
      return 'LinkedIn accepts the app and the refresh token.'
    },
  ],
  ['permissions', assertRole],
)
