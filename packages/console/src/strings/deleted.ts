/** The texts of the screen “Deleted”. */
export const deleted = {
  title: 'Deleted connections',
  help: (days: number) =>
    `You can restore a deleted connection for ${days} days. After that, it is removed permanently.`,
  search: 'Search by name or connector',
  none: 'No deleted connections',
  noneHelp: 'Connections that you delete are listed here until you restore them or they are removed permanently.',
  noneFound: 'No matching deleted connections',
  name: 'Name',
  sides: 'Source and destination',
  deletedAt: 'Deleted',
  by: (name: string) => `by ${name}`,
  restorable: 'Can be restored',
  until: (day: string) => `until ${day}`,
  left: (days: number) => (days === 1 ? '1 day left' : `${days} days left`),
  lastDay: 'Less than 1 day left',
  restore: 'Restore',
  restoreNamed: (name: string) => `Restore ${name}`,
  restored: (name: string) => `${name} was restored. It stays disabled until you enable it.`,
  open: 'Open',
  otherEnvironment: (environment: string) => `It belongs to the environment ${environment}. Restore it there.`,
  cannot: (name: string) => `${name} cannot be restored yet`,
  connectorGone: (connector: string) =>
    `${connector} was removed from this sub-account. Add it again, enter its secrets, then restore the connection.`,
  anyConnector: 'One of its connectors',
  findConnector: 'Find it in the catalogue',
}
