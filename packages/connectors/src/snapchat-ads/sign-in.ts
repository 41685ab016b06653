import { secret, text } from '@penstock/connector'

/** How all of Snapchat's connectors sign in. */
export const signIn = {
  clientId: text({
    keepsState: 'credential',
    label: 'Client ID',
    description: 'ID of your OAuth app at Snapchat',
    required: true,
  }),
  clientSecret: secret({ label: 'Client secret', description: 'Secret that belongs to the client ID', required: true }),
  refreshToken: secret({
    label: 'Refresh token',
    description: 'Refresh token for access to Snapchat',
    required: true,
  }),
}
