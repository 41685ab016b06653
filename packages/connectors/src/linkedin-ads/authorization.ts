import { type Authorization, type AuthorizationServer, authorizationAt } from '@penstock/connector'

const linkedin: AuthorizationServer = {
  slug: 'linkedin-ads',
  name: 'LinkedIn',
  authorizeUrl: 'https://www.linkedin.com/oauth/v2/authorization',
  tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
  // LinkedIn supports PKCE only for native apps, at another address.
  pkce: false,
  registration:
    'Create an app in LinkedIn’s developer portal, and ask LinkedIn for the products that the connectors use (Advertising API, Matched Audiences, Conversions API).',
  withoutRefreshToken:
    'LinkedIn grants refresh tokens to apps of approved partners of its marketing platform; ask LinkedIn for it.',
}

/** LinkedIn, for the scopes of a connector. */
export const linkedinAuthorization = (...scopes: readonly string[]): Authorization => authorizationAt(linkedin, scopes)
