/** What the screen “Deleted” says. */
export const deleted = {
  title: 'Deleted connections',
  help: (days: number) => `A deleted connection can be restored for ${days} days. After that it is gone for good.`,
  search: 'Search by name or connector',
  none: 'Nothing is deleted',
  noneHelp: 'What you delete waits here until it is restored or its time is over.',
  noneFound: 'No deleted connection fits',
  name: 'Name',
  ends: 'From and to',
  deletedAt: 'Deleted',
  daysLeft: 'Days left',
  left: (days: number) => (days === 1 ? '1 day left' : `${days} days left`),
  lastDay: 'Less than a day left',
  restore: 'Restore',
  restoreNamed: (name: string) => `Restore ${name}`,
  restored: (name: string) => `${name} was restored. It stays disabled until you enable it.`,
  open: 'Open',
  otherEnvironment: (environment: string) =>
    `It was made in the environment ${environment}, and can be restored there.`,
  cannot: (name: string) => `${name} cannot be restored yet`,
  connectorGone: (connector: string) =>
    `${connector} was removed from this sub-account. Add it again, then restore the connection; its secrets have to be entered anew.`,
  anyConnector: 'One of its connectors',
  findConnector: 'Find it in the catalogue',
}
