import { secret, text } from '@penstock/connector'

/**
 * How a connector signs in with an OAuth client of one's own.
 * @param user whose refresh token it is: `a user of Ad Manager`
 * @param needed for what it is needed, if configurations of the connector were saved without it
 */
export function googleSignIn(user: string, needed?: string) {
  const options = (label: string, description: string) => ({
    label,
    description: needed === undefined ? description : `${description}; needed ${needed}`,
    ...(needed === undefined && { required: true }),
  })
  return {
    clientId: text({
      keepsState: 'credential',
      ...options('Client ID', 'ID of an OAuth client in your Google Cloud project'),
    }),
    clientSecret: secret(options('Client secret', 'Secret of that OAuth client')),
    refreshToken: secret(options('Refresh token', `Token that Google granted to ${user} at sign-in`)),
  }
}
