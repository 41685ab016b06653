/** What signing in says. */
export const session = {
  title: 'Sign in to Penstock',
  help: 'With the client credentials of your organization. On a first start the service prints them, and keeps them in credentials.json.',
  clientId: 'Client id',
  clientSecret: 'Client secret',
  signIn: 'Sign in',
  expired: 'Your session has ended. Sign in again to go on where you were.',
}
