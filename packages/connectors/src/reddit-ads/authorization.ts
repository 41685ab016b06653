import { type AuthorizationServer, authorizationAt } from '@penstock/connector'

const reddit: AuthorizationServer = {
  slug: 'reddit-ads',
  name: 'Reddit',
  authorizeUrl: 'https://www.reddit.com/api/v1/authorize',
  tokenUrl: 'https://www.reddit.com/api/v1/access_token',
  pkce: false,
  clientIn: 'header',
  scopeSeparator: ',',
  // Without it, Reddit grants an hour and no refresh token.
  authorizeParameters: { duration: 'permanent' },
  registration: 'Create a developer application in Reddit’s Business Manager.',
  withoutRefreshToken: 'Check that the application at Reddit is a web app.',
}

/** How Reddit's audiences are authorized. */
export const authorization = authorizationAt(reddit, ['adsread', 'adsedit'])

/** The same for connectors that only read. */
export const readAuthorization = authorizationAt(reddit, ['adsread'])
