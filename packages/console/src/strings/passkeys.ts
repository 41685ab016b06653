/** The texts about passkeys. */
export const passkeys = {
  title: 'Passkeys',
  help: 'Sign in with your fingerprint, face or PIN in place of a password.',
  none: 'You have no passkeys yet.',
  unusable: 'This browser cannot use passkeys on this page. They need https.',
  add: 'Add a passkey',
  addHelp: 'Your browser asks you to confirm. Name the device, so that you recognize the passkey in the list.',
  name: 'Name',
  added: (name: string) => `The passkey ${name} was added`,
  backedUp: 'Synchronized to your other devices',
  created: 'Added',
  lastUsed: 'Last used',
  remove: 'Remove',
  removeNamed: (name: string) => `Remove the passkey ${name}`,
  removeTitle: (name: string) => `Remove the passkey ${name}?`,
  removeHelp:
    'You cannot sign in with it any more. Sessions that it began continue. Delete it in your browser or password manager too.',
  removed: (name: string) => `The passkey ${name} was removed`,
  givenUp: 'Cancelled. Try again, and confirm in the dialog of your browser.',
  otherHost:
    'Passkeys work at the public address of the service alone, which must have a host name. Open the console there.',
  registered: 'This device has a passkey of yours already.',
  signIn: 'Sign in with a passkey',
  firstTitle: 'Add a passkey to continue',
  firstHelp: (organization: string) =>
    `${organization} accepts no password alone. Add a passkey once: with your fingerprint, face or PIN you sign in from now on.`,
  signOut: 'Sign out',
}
