import { secret, text } from '@penstock/connector'

/** How the Google Ads connectors sign in. */
export const signIn = {
  clientId: text({
    label: 'Client ID',
    description: 'ID of an OAuth client in your Google Cloud project',
    required: true,
  }),
  clientSecret: secret({
    label: 'Client secret',
    description: 'Secret of that OAuth client',
    required: true,
  }),
  refreshToken: secret({
    label: 'Refresh token',
    description: 'Token that Google granted to a user of the Google Ads account at sign-in',
    required: true,
  }),
}
