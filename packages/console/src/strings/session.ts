/** The texts of the sign-in, and of the links with which people set a password. */
export const session = {
  title: 'Sign in to Penstock',
  help: 'First time? Open the link of your invitation. The service prints one for the first person when it starts.',
  confirmTitle: 'Confirm that it is you',
  confirmHelp:
    'Sign in once more in the way that you did before. From then on, the account at your identity provider is enough.',
  email: 'E-mail address',
  password: 'Password',
  showPassword: 'Show or hide the password',
  organizationId: 'Organization ID',
  withSingleSignOn: 'Sign in with single sign-on',
  organizationIdHelp: 'Your administrator knows it. It is also in the address that they gave you.',
  continue: 'Continue',
  forgot: 'Forgot your password?',
  withClient: 'Sign in with client credentials',
  withPassword: 'Sign in with e-mail address and password',
  clientHelp:
    'Use the client credentials of your organization. The service prints the first ones when it starts and saves them in credentials.json.',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  signIn: 'Sign in',
  expired: 'Your session has ended. Sign in again to continue.',

  newPassword: 'New password',
  newPasswordHelp: (n: number) => `At least ${n} characters of any kind. A sentence is easy to keep in mind.`,

  accept: (organization: string) => `Join ${organization}`,
  acceptTitle: 'Accept the invitation',
  acceptHelp: (role: string) => `You are invited with the role ${role}. Set your name and a password.`,
  name: 'Your name',
  setPassword: 'Set the password and sign in',
  signedInAlready: 'Someone is signed in with this browser. Accepting the invitation signs them out here.',

  resetTitle: 'Reset your password',
  resetHelp: 'Set another password. This ends all your sessions.',
  passwordSet: 'Your new password was saved. Your sessions have ended.',
  linkInvalid: 'The link is incomplete. Copy all of it, or ask for a new one.',

  forgotTitle: 'Request a new password',
  forgotHelp: 'We send you a link with which you set another password.',
  sendLink: 'Send the link',
  sent: (email: string) =>
    `If there is a person with the address ${email}, a link is on its way. It is valid for an hour.`,
  noMail: 'This service sends no mail. Ask an owner of your organization or your operator for a link.',
  back: 'Back to sign-in',
}
