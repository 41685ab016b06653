import type { ConnectorContext } from '@penstock/connector'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

/** Access tokens of LinkedIn, by the refresh token of the connector. */
export function openLinkedInTokens(context: ConnectorContext): AccessTokens {
  const { clientId, clientSecret } = context.secrets
  return openTokens(context, {
    platform: 'LinkedIn',
    renewal: 'authorize the connector again, or sign in to LinkedIn again and save what it gives in the connector',
    url: 'https://www.linkedin.com/oauth/v2/accessToken',
    // The refresh token lives for a year from the sign-in on, and stays the same.
    grant: { type: 'refresh_token' },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
  })
}
