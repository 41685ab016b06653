/** The texts about passkeys. */
export const passkeys = {
  title: 'Passkeys',
  help: 'Sign in with your fingerprint, face or PIN instead of a password.',
  none: 'You have no passkeys yet.',
  unusable: 'This browser cannot use passkeys on this page. Passkeys require https.',
  add: 'Add a passkey',
  addHelp: 'Your browser asks you to confirm. Name the device, so that you recognise the passkey in the list.',
  name: 'Name',
  added: (name: string) => `The passkey ${name} was added`,
  backedUp: 'Synchronised with your other devices',
  created: 'Added',
  lastUsed: 'Last used',
  remove: 'Remove',
  removeNamed: (name: string) => `Remove the passkey ${name}`,
  removeTitle: (name: string) => `Remove the passkey ${name}?`,
  removeHelp:
    'You can no longer sign in with it. Sessions that started with it continue. Also delete it in your browser or password manager.',
  removed: (name: string) => `The passkey ${name} was removed`,
  givenUp: 'Cancelled. Try again, and confirm in the dialog of your browser.',
  otherHost:
    'Passkeys work only at the public address of the service, which must have a host name. Open the console there.',
  registered: 'This device already has a passkey of yours.',
  signIn: 'Sign in with a passkey',
  firstTitle: 'Add a passkey to continue',
  firstHelp: (organization: string) =>
    `For ${organization}, a password alone is not enough. Add a passkey now. From then on, sign in with your fingerprint, face or PIN.`,
  signOut: 'Sign out',
}
