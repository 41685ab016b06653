import type { SignInMethod } from '@penstock/wire'

/** The texts of the screen “Profile”. */
export const profile = {
  title: 'Profile',
  help: (email: string, organization: string) => `${email} · ${organization}`,
  you: 'You',
  name: 'Name',
  role: 'Role',
  accounts: 'Sub-accounts',
  saved: 'Your name was saved',
  password: 'Password',
  passwordHelp: 'Changing the password ends all your other sessions.',
  passwordNone: 'You have no password yet.',
  currentPassword: 'Current password',
  changePassword: 'Change the password',
  setPassword: 'Set a password',
  passwordChanged: 'Your password was changed, and your other sessions have ended',
  sessions: 'Sessions',
  sessionsHelp: 'Browsers where you are signed in.',
  current: 'This browser',
  unknownBrowser: 'Unknown browser',
  on: (browser: string, system: string) => `${browser} on ${system}`,
  signedIn: 'Signed in',
  lastUsed: 'Last used',
  method: { password: 'password', passkey: 'passkey', 'single sign-on': 'single sign-on' } satisfies Record<
    SignInMethod,
    string
  >,
  withMethod: (method: string) => `with ${method}`,
  end: 'End',
  endNamed: (browser: string) => `End the session of ${browser}`,
  ended: 'The session has ended',
  everywhere: 'Sign out everywhere',
  everywhereTitle: 'Sign out everywhere?',
  everywhereHelp: 'Ends all your sessions immediately, including the session in this browser.',
  clientHelp: 'You are signed in with client credentials. They are managed under “API keys”.',
}
