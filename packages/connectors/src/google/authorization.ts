import { type Authorization, type AuthorizationServer, authorizationAt, type Values } from '@penstock/connector'

const google: AuthorizationServer = {
  slug: 'google',
  name: 'Google',
  authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  issuer: 'https://accounts.google.com',
  pkce: true,
  // Google returns a refresh token with offline access. After the first time, it does so only if consent is requested again.
  authorizeParameters: { access_type: 'offline', prompt: 'consent' },
  registration:
    'Create an OAuth client of the type “Web application” in the Google Cloud console, in a project in which the APIs of the connectors are enabled, and put the scopes on its consent screen.',
  withoutRefreshToken:
    'Remove the access of the app in the security settings of the Google account, then authorize the connector again.',
}

/**
 * Authorization at Google for one scope. Each connector asks only for the access that it needs. @param sets other secrets that
 * choose this way to sign in
 */
export const googleAuthorization = (scope: string, sets: Values = {}): Authorization =>
  authorizationAt(google, [scope], { sets })

/** For the connectors on the Data Manager API. */
export const dataManagerAuthorization = googleAuthorization('https://www.googleapis.com/auth/datamanager')
