import type { SkipReason, TransferTrigger } from '@penstock/wire'

/** The texts of the screen “Transfer”. */
export const transfer = {
  title: 'Transfer',
  titleOf: (name: string) => `Transfer of ${name}`,
  of: 'Connection',
  isTest:
    'This is a test. Its records were sent, and the next transfer sends them again. They do not count towards volume, reports or alerts.',
  all: 'All transfers',

  settled: 'All rows accepted after resending',
  nothingRead: 'No rows were read',

  account: 'Record summary',
  read: 'Read',
  accepted: 'Accepted',
  rejected: 'Rejected',
  unsettled: 'Unconfirmed',
  readHelp: 'from the source',
  acceptedHelp: 'confirmed by the destination',
  rejectedHelp: 'each with its reason',
  unsettledHelp: 'read, but not confirmed',
  soFar: 'So far',
  addsUp: 'Every record that was read is accounted for.',
  addsUpSoFar: 'Confirmed so far. The figures change as the destination confirms records.',
  addsUpNot: 'The transfer ended before these records were confirmed.',
  equation: (read: string, terms: readonly { n: string; label: string }[]) =>
    `${read} read = ${terms.map(({ n, label }) => `${n} ${label.toLowerCase()}`).join(' + ')}`,
  skipped: {
    filtered: { label: 'Filtered', help: 'excluded by the filter' },
    unchanged: { label: 'Unchanged', help: 'same as last accepted' },
    duplicates: { label: 'Duplicates', help: 'same key as another record' },
    noConsent: { label: 'No consent', help: 'without the required consent' },
    controlGroup: { label: 'Control group', help: 'held back to compare' },
  } satisfies Record<SkipReason, { label: string; help: string }>,
  sent: (sent: string, size: string) => `${sent} sent to the destination · ${size}`,
  removed: (n: string) => `Rows removed at the destination, because they are no longer in the source: ${n}`,
  progress: 'Progress',
  progressUnknown: 'The source does not report its size.',
  waits: 'Waiting for a worker',
  dealtWith: (part: string) => `${part} of the source processed`,

  triggers: {
    manual: 'Started by a user or an API call',
    schedule: 'Started by the schedule',
    replay: 'Replay of rejected records',
    dependency: 'Started after another connection',
    url: 'Started by a trigger',
    rejects: 'Started by rejected records of another connection',
  } satisfies Record<TransferTrigger, string>,
  startedAfter: (connection: string) => `Started after ${connection}`,
  startedByTrigger: (name: string) => `Started by the trigger ${name}`,
  startedBy: (who: string) => `Started by ${who}`,
  replayedBy: (who: string) => `Replay of rejected records, started by ${who}`,
  timing: 'Timing',
  requested: 'Requested',
  ended: 'Ended',
  queuedFor: 'Queued for',
  took: 'Duration',
  speed: 'Speed',
  rowsPerSecond: (n: string) => `${n} rows/s`,
  underSecond: 'less than a second',
  notYet: 'not yet',
  trigger: 'Trigger',
  attempts: 'Attempts',
  attemptsOf: (n: number) =>
    n === 0
      ? '0 attempts'
      : n === 1
        ? '1 attempt'
        : `${n} attempts: a worker was lost, and another one continued after the last confirmed record.`,
  failed: 'The transfer failed',
  endedWith: 'The transfer ended with this error',
  retrying: 'Temporary error, retrying',
  code: (code: string) => `Code ${code}`,
  next: {
    configure: { src: 'Edit the source connector', dest: 'Edit the destination connector' },
    check: { src: 'Check the source connector', dest: 'Check the destination connector' },
    settings: 'Change the settings',
    mapping: 'Change the mapping',
    account: 'Open the sub-accounts',
    connection: 'Open the connection',
  },

  cancel: 'Cancel the transfer',

  replaceGuard: {
    title: 'Nothing was changed. Confirm that this transfer may replace the data.',
    act: 'Check the source. If it is correct, run again and replace the data at the destination.',
    button: 'Run and replace',
    confirmTitle: 'Replace the data at the destination?',
    help: 'All data at the destination is replaced by the current data of the source, even if there is much less of it.',
  },
  mirrorGuard: {
    title: 'Nothing was removed. Confirm that this transfer may remove these rows.',
    act: 'Check the source. If it is correct, run again and remove the rows at the destination.',
    button: 'Run and remove',
    confirmTitle: 'Remove the rows at the destination?',
    help: 'All rows from earlier transfers that are no longer in the source are removed at the destination, even if these are most of the rows.',
  },
}
