import { type ConnectLinkStatus, limits } from '@penstock/wire'

/** The texts of the screen “Connect links”. */
export const connectLinks = {
  title: 'Connect links',
  help: 'One-time pages where a customer configures connectors of this sub-account without signing in.',
  create: 'Create a connect link',
  none: 'No connect links yet',
  noneHelp: `Create a link and send it to a customer, or show it in your product. Ended links are kept for ${limits.connectLinkKeptDays} days.`,
  connectors: 'Connectors',
  connectorsHelp:
    'The customer configures these connectors and sees nothing else. Connectors that the sub-account lacks are added.',
  chooseConnectors: 'Choose connectors',
  chooseOne: 'Choose at least one connector.',
  noConnectors: 'No matching connectors',
  redirect: 'Redirect URL',
  redirectHelp:
    'Optional. An https address of your site. Without it, the customer sees a page that confirms that all is done.',
  expiry: 'Valid for',
  expiries: { '3600': '1 hour', '86400': '1 day', '604800': '7 days' } as const,
  expiryHelp: `The customer has ${limits.connectPageMinutes} minutes after opening it.`,
  created: 'The connect link was created',
  copyTitle: 'Copy the link now',
  copyHelp:
    'This is the only time that the link is shown. Anyone who has it can open it once, so send it only to the customer. If you lose it, revoke it and create another one.',
  link: 'Connect link',
  copied: 'I have copied the link',
  connection: 'Creates a connection',
  openConnection: 'Open the connection',
  state: 'Status',
  status: {
    pending: 'Not opened yet',
    opened: 'Open',
    completed: 'Completed',
    cancelled: 'Cancelled',
    expired: 'Expired',
    revoked: 'Revoked',
  } satisfies Record<ConnectLinkStatus, string>,
  createdTime: 'Created',
  ends: 'Ends',
  actions: (names: string) => `Actions for the link to ${names}`,
  revoke: 'Revoke',
  revokeTitle: 'Revoke this connect link?',
  revokeHelp:
    'The link can no longer be opened, and an open page stops working. Everything that the customer saved is kept. This cannot be undone.',
  revoked: 'The connect link was revoked',
  alreadyEnded: 'The link has ended.',
}
