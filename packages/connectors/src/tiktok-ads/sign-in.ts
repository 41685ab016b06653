import { secret, text } from '@penstock/connector'

/** How the connectors that were consented to at TikTok sign in. */
export const signIn = {
  clientId: text({
    keepsState: 'credential',
    label: 'App ID',
    description: 'ID of your OAuth app at TikTok',
    required: true,
  }),
  clientSecret: secret({ label: 'App secret', description: 'Secret that belongs to the app ID', required: true }),
  accessToken: secret({
    label: 'Long-lived access token',
    description: 'Token that TikTok issued when access was granted',
    required: true,
  }),
}
