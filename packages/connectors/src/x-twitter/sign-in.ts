import { type ConnectorContext, secret, text } from '@penstock/connector'
import type { Auth } from '../kit/api.ts'

/** How the connectors that read from X sign in: keys of OAuth 1.0a. */
export const signIn = {
  clientId: text({
    keepsState: 'credential',
    label: 'Client ID',
    description: 'API key (consumer key) of your app at X',
    required: true,
  }),
  clientSecret: secret({
    label: 'Client secret',
    description: 'API key secret (consumer secret) that belongs to it',
    required: true,
  }),
  refreshToken: secret({
    label: 'Refresh token',
    description: 'Access token of the user at X, which does not expire and is used instead of a refresh token',
    required: true,
  }),
  accessTokenSecret: secret({
    label: 'Access token secret',
    description: 'Secret that belongs to the access token; needed to move data',
  }),
}

/** Signs each request with these keys. */
export const signatures: Auth = {
  open: async (context: ConnectorContext) => (await import('../x-ads/oauth1.ts')).openSignatures(context),
}
