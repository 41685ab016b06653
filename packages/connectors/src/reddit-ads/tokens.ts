import type { ConnectorContext } from '@penstock/connector'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

/** Access tokens by the refresh token of the connector, which stays the same. */
export const openTokensOf = (context: ConnectorContext): AccessTokens =>
  openTokens(context, {
    platform: 'Reddit',
    renewal: 'authorize the connector again, or sign in to Reddit again and save what it gives in the connector',
    url: 'https://www.reddit.com/api/v1/access_token',
    grant: { type: 'refresh_token' },
    client: {
      id: String(context.secrets.clientId ?? ''),
      secret: String(context.secrets.clientSecret ?? ''),
      in: 'header',
    },
  })
