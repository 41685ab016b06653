import { secret, select, text } from '@penstock/connector'

const clientId = text({
  keepsState: 'credential',
  label: 'Client ID',
  description: 'ID of the Login with Amazon application that makes the calls',
  required: true,
})
const clientSecret = secret({
  label: 'Client secret',
  description: 'Secret of that application, from its security profile',
  required: true,
})
const refreshToken = secret({
  label: 'Refresh token',
  description: 'Refresh token that was granted at sign-in; Penstock exchanges it for access tokens',
  required: true,
})

/** For connectors that only sign in with Amazon. */
export const signIn = { clientId, clientSecret, refreshToken }

/** For the connectors that also take tokens which were obtained elsewhere. */
export const signInOrTokens = {
  authType: select({
    keepsState: 'credential',
    label: 'Sign-in method',
    description: 'Sign in with Amazon, or enter tokens that you already have',
    options: ['oauth2', 'api-token'],
    labels: { oauth2: 'Sign in with Amazon', 'api-token': 'Access token' },
    default: 'oauth2',
  }),
  clientId,
  clientSecret,
  accessToken: secret({
    label: 'Access token',
    description: 'Token that is sent with each API call until it expires',
    required: true,
    when: { authType: 'api-token' },
  }),
  refreshToken,
}
