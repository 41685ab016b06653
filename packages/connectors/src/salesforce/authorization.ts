import { type AuthorizationServer, authorizationAt } from '@penstock/connector'

const server: AuthorizationServer = {
  slug: 'salesforce',
  name: 'Salesforce',
  authorizeUrl: 'https://login.salesforce.com/services/oauth2/authorize',
  tokenUrl: 'https://login.salesforce.com/services/oauth2/token',
  pkce: true,
  registration:
    'Create an External Client App in Salesforce, with the OAuth scopes “Manage user data via APIs (api)” and “Perform requests at any time (refresh_token, offline_access)”, and package it for the organizations that will use it.',
  withoutRefreshToken:
    'Check that the app has the scope refresh_token and that its refresh token policy does not expire tokens immediately.',
}

/** Salesforce, on behalf of a user of a production organization. */
export const authorization = authorizationAt(server, ['api', 'refresh_token'], { sets: { authType: 'oauth2' } })
