import { secret, text } from '@penstock/connector'

/** How every Criteo connector signs in. */
export const signIn = {
  clientId: text({
    keepsState: 'credential',
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
    description: 'Refresh token that Criteo granted at sign-in; Penstock exchanges it for access tokens',
    required: true,
  }),
}
