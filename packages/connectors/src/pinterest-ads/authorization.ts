import { type AuthorizationServer, authorizationAt } from '@penstock/connector'

const pinterest: AuthorizationServer = {
  slug: 'pinterest-ads',
  name: 'Pinterest',
  authorizeUrl: 'https://www.pinterest.com/oauth/',
  tokenUrl: 'https://api.pinterest.com/v5/oauth/token',
  pkce: false,
  clientIn: 'header',
  scopeSeparator: ',',
  // Apps from before September 2025 get a refresh token that cannot be renewed without it.
  tokenParameters: { continuous_refresh: 'true' },
  registration: 'Create an app in Pinterest’s developer portal, and ask Pinterest for standard access.',
  withoutRefreshToken: 'Check in Pinterest’s developer portal that the app has standard access.',
}

/** How the connectors are authorized that change lists at Pinterest. */
export const authorization = authorizationAt(pinterest, ['ads:read', 'ads:write'], { sets: { authType: 'oauth2' } })

/** The same for connectors that change campaigns, which sign in in one way. */
export const postingAuthorization = authorizationAt(pinterest, ['ads:read', 'ads:write'])

/** The same for connectors that only read. */
export const readAuthorization = authorizationAt(pinterest, ['ads:read'])
