import type { Scope, UserRole } from '@penstock/wire'

type Resource = Scope extends infer S ? (S extends `${infer R}:${string}` ? R : never) : never

/** What people and API keys may do, in words; what each scope means exactly, the contract says. */
export const access = {
  everything: 'Everything',
  allAccounts: 'All sub-accounts',
  more: (n: string) => `and ${n} more`,
  resource: {
    accounts: 'Sub-accounts',
    connectors: 'Connectors',
    secrets: 'Secrets',
    connections: 'Connections',
    transfers: 'Transfers',
    records: 'Records',
    reports: 'Reports',
    clients: 'API keys',
    connect: 'Connect links',
    sessions: 'Session tokens',
    users: 'People',
    organization: 'Organization settings',
    webhooks: 'Webhooks',
    audit: 'Audit log',
    alerts: 'Alerts',
  } satisfies Record<Resource, string>,
  verb: { read: 'view', write: 'change', run: 'run' } as Readonly<Record<string, string>>,
  role: { owner: 'Owner', admin: 'Admin', editor: 'Editor', viewer: 'Viewer' } satisfies Record<UserRole, string>,
  asRole: (role: string) => `${role}: the same as a person with this role`,
  notInRole: (role: string, what: string) => `Your role (${role}) does not include: ${what}.`,
  notInKey: (what: string) => `The API key that you are signed in with does not include: ${what}.`,
  forbidden: 'You may not see or do this',
  askOwner: 'Ask an owner of your organization if you need it.',
  notHigher: 'You cannot give what you may not do yourself.',
  limited: 'You are limited to named sub-accounts, and this concerns the whole organization.',
  onlyPeople: 'You are signed in with an API key, and only people can do this.',
  accounts: 'Sub-accounts',
  accountsAll: 'All, later ones included',
  accountsNamed: 'Only these',
  pickAccounts: 'Sub-accounts that it is limited to',
  searchAccounts: 'Search by name',
  noAccounts: 'No matching sub-accounts',
}
