import { type ConnectLinkStatus, limits } from '@penstock/wire'

/** The texts of the screen “Connect links”. */
export const connectLinks = {
  title: 'Connect links',
  help: 'One-time pages on which a customer configures connectors of this sub-account, without an account of their own.',
  create: 'Create a connect link',
  none: 'No connect links yet',
  noneHelp: `Create one and send it to a customer, or have your product show it. Links that have ended are kept for ${limits.connectLinkKeptDays} days.`,
  connectors: 'Connectors',
  connectorsHelp:
    'The customer configures these, and sees nothing else. Those that the sub-account does not have are added.',
  chooseConnectors: 'Choose connectors',
  chooseOne: 'Choose at least one connector.',
  noConnectors: 'No matching connectors',
  redirect: 'Redirect URL',
  redirectHelp: 'Optional. An address of yours with https. Without it, a page says that all is done.',
  expiry: 'Can be opened for',
  expiries: { '3600': '1 hour', '86400': '1 day', '604800': '7 days' } as const,
  expiryHelp: `Once it is open, the customer has ${limits.connectPageMinutes} minutes.`,
  created: 'The connect link was created',
  copyTitle: 'Copy the link now',
  copyHelp:
    'This is the only time that the link is shown. Anyone who has it can open it, once: send it to the customer alone. If you lose it, revoke it and create another one.',
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
    'It cannot be opened any more, and a page that is open stops working. What the customer has saved stays. This cannot be undone.',
  revoked: 'The connect link was revoked',
  alreadyEnded: 'The link has ended.',
}
