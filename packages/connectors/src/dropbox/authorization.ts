import { type AuthorizationServer, authorizationAt } from '@penstock/connector'

const dropbox: AuthorizationServer = {
  slug: 'dropbox',
  name: 'Dropbox',
  authorizeUrl: 'https://www.dropbox.com/oauth2/authorize',
  tokenUrl: 'https://api.dropboxapi.com/oauth2/token',
  // Dropbox documents PKCE instead of the app's secret, not in addition to it.
  pkce: false,
  // Without it, Dropbox grants four hours and no refresh token.
  authorizeParameters: { token_access_type: 'offline' },
  registration: 'Create an app with scoped access in the App Console of Dropbox, and enable these permissions for it.',
  withoutRefreshToken: 'Check that the app at Dropbox has scoped access, then authorize the connector again.',
}

/** Dropbox, for a user's files and the name of the account. */
export const authorization = authorizationAt(dropbox, [
  'account_info.read',
  'files.metadata.read',
  'files.content.read',
  'files.content.write',
])
