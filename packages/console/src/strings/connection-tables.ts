import type { ConnectionTable, ConnectionTableStatus } from '@penstock/wire'

/** The texts about the tables of a connection that moves many tables. */
export const connectionTables = {
  title: 'Tables',
  search: 'Search tables',
  table: 'Table',
  destination: 'Destination',
  status: 'Status',
  anyStatus: 'Any status',
  read: 'Read',
  accepted: 'Accepted',
  rejected: 'Rejected',
  lastTime: 'Last transfer',
  statuses: {
    active: 'Active',
    failing: 'Failing',
    paused: 'Paused',
    missing: 'Missing',
  } satisfies Record<ConnectionTableStatus, string>,
  results: {
    succeeded: 'Delivered',
    failed: 'Failed',
    cancelled: 'Cancelled',
  } satisfies Record<NonNullable<ConnectionTable['lastResult']>['status'], string>,
  changes: (n: number) => (n === 1 ? '1 changed column waits' : `${n} changed columns wait`),
  none: 'No tables yet',
  noneHelp: 'The first transfer lists the tables of the source.',
  noneFound: 'No table fits',
  to: (destination: string) => `to ${destination}`,
  actions: (table: string) => `Actions of ${table}`,
  run: 'Move now',
  started: (table: string) => `A transfer of ${table} was started`,
  pause: 'Pause',
  paused: (table: string) => `${table} is paused. Transfers skip it.`,
  resume: 'Resume',
  resumed: (table: string) => `${table} is resumed. The next transfer moves it.`,
  copyAgain: 'Copy again',
  copyTitle: (table: string) => `Copy ${table} again?`,
  copyHelp:
    'All rows of the table are read and sent again, and no other table is moved. A destination that adds rows gets duplicates.',
  isPaused: 'The table is paused.',
  isMissing: 'The last transfer did not find the table.',
}
