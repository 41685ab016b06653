import { secret, text } from '@penstock/connector'

/** How every Criteo connector signs in. */
export const signIn = {
  clientId: text({
    label: 'Client ID',
    description: 'ID of your application at Criteo',
    required: true,
  }),
  clientSecret: secret({
    label: 'Client secret',
    description: 'Secret of that application',
    required: true,
  }),
  refreshToken: secret({
    label: 'Refresh token',
    description: 'Token that Criteo granted at sign-in; new access tokens are fetched with it',
    required: true,
  }),
}
