import type { TransferErrorCode } from '@penstock/wire'

/** The fault of a configuration, after the name of its connector. */
const refusals: Partial<Record<TransferErrorCode, string>> = {
  invalid_credentials: 'refused the credentials',
  expired_credentials: 'reports that the credentials have expired',
  account_restricted: 'restricted the account',
  address_not_allowed: 'has an address that is not allowed',
  certificate_not_trusted: 'has a certificate that is not trusted',
  clock_skewed: 'refused requests because the clock of this service is wrong',
  host_key_not_trusted: 'has an unexpected host key',
  host_not_found: 'was not found',
  insecure_address: 'has an address without encryption',
  invalid_address: 'has an invalid address',
  path_not_allowed: 'has a path that is not allowed',
  permission_denied: 'denied permission',
  terms_not_accepted: 'requires you to accept its terms',
  unreachable: 'does not answer',
  wrong_protocol: 'uses another protocol',
}
const connections = (n: number) => (n === 1 ? '1 connection' : `${n} connections`)

/** The texts about failing connections, grouped by their causes. */
export const failing = {
  /** @param code of the error */
  atFault: (connector: string, code: string | undefined) =>
    `${connector} ${(code !== undefined && Object.hasOwn(refusals, code) && refusals[code as TransferErrorCode]) || 'needs other settings'}`,
  columns: (connector: string) => `Columns changed in ${connector}`,
  confirmation: 'Waiting for confirmation',
  others: 'Other causes',
  othersHelp: 'One connection each',
  bare: (connector: string) => `${connector} is not configured`,
  waits: (connector: string) => `${connector} does not answer`,
  retries: 'A transfer is retrying',
  waitsHelp: 'Penstock retries automatically',
  since: 'since',
  connections,
  connectionsOf: (n: number, cause: string) => `${connections(n)}: ${cause}`,
  shown: (n: number, groups: number) =>
    `${connections(n)} in ${groups === 1 ? '1 group' : `${groups} groups`}. The address of this view includes the search, filters and grouping, so you can share it.`,
  notAll: (n: string) => `Only the first ${n} connections that need attention are grouped.`,
  account: 'Sub-account',
  everyAccount: 'All sub-accounts',
  groupBy: 'Group by',
  by: { cause: 'Cause', account: 'Sub-account', none: 'None' },
  search: 'Search name, sub-account, connector, reason',
  none: 'Nothing is failing',
  noneHelp: 'No connection is broken, offline or failing.',
  noneFound: 'No matching connections',
  reason: 'Reason',
  showMore: (n: number) => `Show ${n} more`,
  showAll: (n: string) => `Show all ${n}`,
  open: (n: number) => `Show ${n}`,

  // Cures
  review: (n: number) => (n === 1 ? 'Review the columns' : `Review the columns of ${n} connections`),
  decide: 'Decide',
  edit: (connector: string) => `Edit ${connector}`,
  reconnect: (platform: string) => `Reconnect ${platform}`,
  retry: 'Try again now',
  retryOf: (cause: string) => `Try again now: ${cause}`,
  newSecret: (label: string) => `New ${label.charAt(0).toLowerCase()}${label.slice(1)}`,
  /** @param user who signs in, if it is known @param host where, if it is known */
  secretOf: (label: string, user: string | undefined, host: string | undefined) =>
    `${label}${user ? ` of ${user}` : ''}${host ? ` at ${host}` : ''}`,
  show: (label: string) => `Show ${label}`,
  saveAndRun: (n: number) => (n === 1 ? 'Save and run' : `Save and run ${n} connections`),
  saved: 'The new value was saved',
  checkFailed: (message: string) => `Saved, but the check failed: ${message}`,
  run: (n: number) => (n === 1 ? 'Activate and run' : `Activate and run ${n} connections`),
  ran: (n: number) => (n === 1 ? '1 transfer has started' : `${n} transfers have started`),

  // After a cure
  works: (name: string) => `${name} was saved`,
  stopped: (n: number) =>
    n === 1
      ? '1 connection was stopped by this. Activate it.'
      : `${n} connections were stopped by this. Activate them.`,
  stoppedAt: 'stopped',
  notNow: 'Not now',
}
