import { type AuthorizationServer, authorizationAt } from '@penstock/connector'

const amazon: AuthorizationServer = {
  slug: 'amazon-ads',
  name: 'Amazon',
  authorizeUrl: 'https://www.amazon.com/ap/oa',
  tokenUrl: 'https://api.amazon.com/auth/o2/token',
  pkce: false,
  registration:
    'Create a security profile of Login with Amazon in the developer console, and ask Amazon to allow it to use the Ads API.',
  withoutRefreshToken: 'Check that Amazon has allowed the security profile to use the Ads API.',
}
const scopes = ['advertising::campaign_management']

/** How connectors of Amazon Ads are authorized, by Login with Amazon. */
export const authorization = authorizationAt(amazon, scopes)

/** The same for connectors to which a person can give tokens. */
export const authorizationOrTokens = authorizationAt(amazon, scopes, { sets: { authType: 'oauth2' } })
