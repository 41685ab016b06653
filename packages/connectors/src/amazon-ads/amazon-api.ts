import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { RestApi } from '../kit/api.ts'
import { openApi } from '../kit/run/open-api.ts'
import type { Credentials, PlatformClient } from '../platform-api/client.ts'
import { enteredToken } from '../platform-api/entered-token.ts'
import { textIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'
import { amazonAdsApi, clientIdOf } from './api.ts'

const tokenOrigin = 'https://api.amazon.com'

/** Access tokens of Login with Amazon, renewed by the refresh token, which stays the same. */
export function openAmazonTokens(context: ConnectorContext): AccessTokens {
  const { clientSecret, refreshToken } = context.secrets
  if (!clientSecret || !refreshToken) {
    const message =
      'The connector has no client secret or no refresh token of Login with Amazon; save both in the connector.'
    throw new ConnectorError('invalid_credentials', message)
  }
  return openTokens(context, {
    platform: 'Amazon',
    url: `${tokenOrigin}/auth/o2/token`,
    grant: { type: 'refresh_token' },
    client: { id: clientIdOf(context), secret: String(clientSecret) },
    renewal: 'authorize the connector again, or sign in with Amazon again and save the new refresh token in it',
  })
}

/** The same, but the access token that a person saved has priority, if the connector accepts one. */
export function openSavedTokens(context: ConnectorContext): Credentials {
  const { authType, accessToken } = context.secrets
  const saved = authType === 'api-token' ? textIn(accessToken) : undefined
  const tokens = openAmazonTokens(context)
  return saved === undefined ? tokens : enteredToken(saved, tokens)
}

/** Opens an API of Amazon Ads, signed in. Everything throws connector errors. */
export const openAmazonAds = (context: ConnectorContext, api: RestApi): Promise<PlatformClient> =>
  openApi(context, api, { open: async (one) => openAmazonTokens(one) })

/** Asks for the profiles of the user who signed in, which changes nothing. */
export async function assertProfiles(context: ConnectorContext): Promise<void> {
  const client = await openAmazonAds(context, amazonAdsApi(context))
  await client.ask({
    path: '/v2/profiles',
    headers: { 'amazon-advertising-api-clientid': clientIdOf(context) },
  })
}
