import type { ChangeLogStatus } from '@penstock/wire'

/** The texts about the log of a server from which a connection reads changes. */
export const changeLog = {
  title: 'Change log',
  slot: (slot: string, server: string) => `Replication slot ${slot} at ${server}`,
  binaryLog: (server: string) => `Binary log of ${server}`,
  notMeasured: 'It is measured after the next transfer.',
  kept: (size: string) => `The server keeps ${size} of its log for this connection.`,
  keptOf: (size: string, limit: string) =>
    `The server keeps ${size} of its log for this connection. Its limit is ${limit}.`,
  keptIdle: (size: string) =>
    `The server keeps ${size} of its log for this connection. The log grows with each change of any table until you enable the connection or drop the slot.`,
  behind: (size: string) => `${size} left to read.`,
  behindFiles: (size: string, n: number) => `${size} in ${n} ${n === 1 ? 'file' : 'files'} left to read.`,
  removesAfter: (hours: string) => `The server removes files after ${hours} hours.`,
  delivered: 'Changes delivered up to',
  measured: 'Measured',
  problem: (why: string) => `The last measurement failed: ${why}`,
  status: {
    reserved: 'The server has all changes.',
    extended: 'The server has all changes, but keeps more of its log than usual.',
    unreserved: 'The server will soon remove changes that have not been read. Run a transfer now.',
    lost: 'The server no longer has all changes. Start a full refresh: the next transfer then copies the table again.',
  } satisfies Record<ChangeLogStatus, string>,
  warning: 'The source log needs attention',
  drop: 'Drop the slot',
  dropTitle: (slot: string) => `Drop ${slot}?`,
  dropHelp:
    'The server no longer keeps its log for this connection. The next transfer creates the slot again and copies the whole table. Rows that are removed from the table in the meantime can stay at the destination.',
  dropped: 'The slot is being dropped.',
  leftTitle: 'Unused replication slots',
  leaving: (slot: string, server: string) => `${slot} at ${server} is being dropped.`,
  leavingProblem: (why: string) => `The last attempt to drop it failed: ${why}`,
  stays: (slot: string, server: string, why: string) =>
    `Penstock cannot drop ${slot} at ${server}, and the server keeps its log for it. ${why} If nothing needs the slot, run this on the server:`,
  whenDisabled: (slot: string, size: string | undefined) =>
    `The server still keeps its log for the replication slot ${slot}${size === undefined ? '' : ` (${size} now)`}. If you do not enable the connection again soon, drop the slot under Configuration.`,
  whenDeleted: (slot: string, size: string | undefined) =>
    `The server keeps its log for the replication slot ${slot}${size === undefined ? '' : ` (${size} now)`} for another 30 days. Then Penstock drops the slot. To free the log now, drop the slot under Configuration before you delete the connection.`,
  whenChanged: (slot: string) =>
    `If the connection no longer reads the replication slot ${slot}, Penstock drops the slot within half an hour, unless you change the settings back.`,
}
