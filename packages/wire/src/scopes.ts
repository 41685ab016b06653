/**
 * Permissions of a token. Each operation names the scope that it requires. Client credentials, sessions and the roles
 * of people are sets of scopes. Access depends only on scopes and on the sub-accounts that the token is limited to.
 */
export const scopes = {
  'accounts:read': 'List and get sub-accounts',
  'accounts:write': 'Add, edit and delete sub-accounts',
  'connectors:read': 'Read the catalogue, and the added connectors with their configuration, without secrets',
  'connectors:write': 'Add, configure, check and remove connectors',
  'secrets:write': 'Save and clear the secrets of connectors, and authorize connectors with a click',
  'connections:read': 'List and get connections, their history, uploaded files, and what needs attention',
  'connections:write': 'Create, change, activate, disable, delete and restore connections, and upload and delete files',
  'transfers:read': 'List and get transfers and schedules',
  'transfers:run': 'Start, replay and cancel transfers, and set schedules',
  'records:read': 'Read records: previews, values of discovered columns, and the records that transfers rejected',
  'records:edit': 'Correct the values of rejected records, which a replay then sends',
  'records:erase': 'Erase the stored records of a person, and the person at the platforms of destinations',
  'reports:read': 'Read reports',
  'clients:read': 'List client credentials, without their secrets',
  'clients:write': 'Create, rename, rotate and revoke client credentials',
  'connect:read': 'List and get connect links',
  'connect:write': 'Create and revoke connect links',
  'sessions:write': 'Create session tokens for one sub-account',
  'users:read': 'List people, invitations and their roles',
  'users:write': 'Invite people, change their roles, and remove them',
  'users:provision': 'Create, change, deactivate and remove people and groups by SCIM, and nothing else',
  'organization:read': 'Read the settings of the organization, such as single sign-on and branding',
  'organization:write': 'Change how people sign in: single sign-on and sign-in rules',
  'branding:write': 'Change the branding of connect links, and which sites may show them',
  'webhooks:read': 'List webhooks and their deliveries, without secrets',
  'webhooks:write': 'Create, change, test and delete webhooks, rotate their secrets, and replay deliveries',
  'audit:read': 'Read the audit log',
  'alerts:read': 'List and get alert rules and incidents',
  'alerts:write': 'Create, change, test, mute and delete alert rules, and acknowledge incidents',
} as const satisfies Record<string, string>

export type Scope = keyof typeof scopes
/** Every scope, in the order of the table. */
export const scopeNames = Object.keys(scopes) as Scope[]

/** Scopes that a session token can have: scopes of one sub-account that grant no access to others. */
export const sessionScopes = [
  'accounts:read',
  'connectors:read',
  'connectors:write',
  'secrets:write',
  'connections:read',
  'connections:write',
  'transfers:read',
  'transfers:run',
  'records:read',
  'records:edit',
  'reports:read',
] as const satisfies readonly Scope[]
export type SessionScope = (typeof sessionScopes)[number]

const viewer = [
  'accounts:read',
  'connectors:read',
  'connections:read',
  'transfers:read',
  'reports:read',
  'alerts:read',
] as const
const editor = [
  ...viewer,
  'connectors:write',
  'secrets:write',
  'connections:write',
  'transfers:run',
  'records:read',
  'records:edit',
  'alerts:write',
] as const
/** Without the scopes that allow a person to sign in as any other person of the organization: these are for owners. */
const admin = scopeNames.filter((scope) => scope !== 'organization:write' && scope !== 'users:provision')

/** Scopes of people by their role, in all sub-accounts or in the sub-accounts to which they are limited. */
export const userRoles = {
  owner: scopeNames,
  admin,
  editor,
  viewer,
} as const satisfies Record<string, readonly Scope[]>
export type UserRole = keyof typeof userRoles
export const userRoleNames = Object.keys(userRoles) as UserRole[]

/** Scopes of the page of a connect link, only for the connectors of the link. */
export const connectLinkScopes = [
  'connectors:read',
  'connectors:write',
  'secrets:write',
] as const satisfies readonly Scope[]
