import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { textIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'
import { originOf } from './region.ts'

export const tokenOrigin = 'https://api.amazon.com'

/** The client ID of Login with Amazon; connectors have one of two names for it. */
export const clientIdOf = ({ secrets }: Pick<ConnectorContext, 'secrets'>): string =>
  textIn(secrets.clientId ?? secrets.apiClientId) ?? ''

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

/** Opens the API of Amazon Ads in the region of the connection, signed in. Everything throws connector errors. */
export const openAmazonAds = (context: ConnectorContext): PlatformClient =>
  openPlatform(context, {
    name: 'Amazon',
    baseUrl: originOf(context),
    credentials: openAmazonTokens(context),
    errorOf,
  })

/** Asks for the profiles of the user who signed in, which changes nothing. */
export async function assertProfiles(context: ConnectorContext): Promise<void> {
  await openAmazonAds(context).ask({
    path: '/v2/profiles',
    headers: { 'amazon-advertising-api-clientid': clientIdOf(context) },
  })
}

function errorOf({ status }: Answer): ConnectorError | undefined {
  switch (status) {
    case 401: {
      const message =
        'Amazon does not accept the access token; sign in with Amazon again and save the new refresh token in the connector.'
      return new ConnectorError('invalid_credentials', message)
    }
    case 403: {
      const message =
        'Amazon denies access; check the IDs of the advertiser and the region, that the user who signed in may edit in the Events Manager (event_manager_edit), and that Amazon has allowed your application to use its Ads API.'
      return new ConnectorError('permission_denied', message)
    }
    default:
      return undefined
  }
}
