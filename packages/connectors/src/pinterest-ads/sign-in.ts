import { secret, text } from '@penstock/connector'

/** How the connectors that read from Pinterest sign in. */
export const signIn = {
  clientId: text({
    keepsState: 'credential',
    label: 'Client ID',
    description: 'ID of your OAuth app at Pinterest',
    required: true,
  }),
  clientSecret: secret({ label: 'Client secret', description: 'Secret that belongs to the client ID', required: true }),
  refreshToken: secret({
    label: 'Refresh token',
    description: 'Refresh token for access to Pinterest',
    required: true,
  }),
}
