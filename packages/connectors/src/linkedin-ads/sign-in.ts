import { secret, text } from '@penstock/connector'

/** How every LinkedIn Ads connector signs in. */
export const signIn = {
  clientId: text({
    keepsState: 'credential',
    label: 'Client ID',
    description: 'ID of your app in the developer portal of LinkedIn',
    required: true,
  }),
  clientSecret: secret({
    label: 'Client secret',
    description: 'Secret of that app',
    required: true,
  }),
  refreshToken: secret({
    label: 'Refresh token',
    description: 'Token that LinkedIn granted to a user of the ad account at sign-in',
    required: true,
  }),
}
