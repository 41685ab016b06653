import type { ConnectorContext } from '@penstock/connector'
import type { Credentials } from '../platform-api/client.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

const accountsOrigin = 'https://accounts.snapchat.com'

/** Access tokens of Snapchat, renewed by the refresh token, which stays the same. */
export const openSnapchatTokens = (context: ConnectorContext): AccessTokens =>
  openTokens(context, {
    platform: 'Snapchat',
    url: `${accountsOrigin}/login/oauth2/access_token`,
    grant: { type: 'refresh_token' },
    client: { id: String(context.secrets.clientId ?? ''), secret: String(context.secrets.clientSecret ?? '') },
    renewal:
      'authorize the connector again, or grant access again at Snapchat and save the new refresh token in the connector',
  })

/** The same for conversions. The reference has the token only as a query parameter, so messages must not quote addresses. */
export function openConversionTokens(context: ConnectorContext): Credentials {
  const tokens = openSnapchatTokens(context)
  return {
    renews: true,
    in: 'query',
    headers: async (refused) => ({ access_token: await tokens.token(refused?.access_token) }),
  }
}
