import { secret, text } from '@penstock/connector'

/** How the connectors that read from X sign in. */
export const signIn = {
  clientId: text({ label: 'Client ID', description: 'ID of the app that you registered with X', required: true }),
  clientSecret: secret({ label: 'Client secret', description: 'Secret that belongs to the client ID', required: true }),
  refreshToken: secret({
    label: 'Refresh token',
    description: 'Long-lived token that renews access to X',
    required: true,
  }),
}
