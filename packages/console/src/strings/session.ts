/** The texts of the sign-in. */
export const session = {
  title: 'Sign in to Penstock',
  help: 'Use the client credentials of your organization. The service prints them on its first start and saves them in credentials.json.',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  signIn: 'Sign in',
  expired: 'Your session has ended. Sign in again to continue.',
}
