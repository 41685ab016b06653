import type { ChangeLogStatus } from '@penstock/wire'

/** The texts about the log of a server from which a connection reads changes. */
export const changeLog = {
  title: 'Log of changes',
  slot: (slot: string, server: string) => `Replication slot ${slot} at ${server}`,
  binaryLog: (server: string) => `Binary log of ${server}`,
  notMeasured: 'It is measured after the transfer.',
  kept: (size: string) => `The server keeps ${size} of its log for it.`,
  keptOf: (size: string, limit: string) => `The server keeps ${size} of its log for it, and at most ${limit}.`,
  keptIdle: (size: string) =>
    `The server keeps ${size} of its log for it, and more with each change of any table, until you enable the connection or drop the slot.`,
  behind: (size: string) => `${size} are to be read.`,
  behindFiles: (size: string, n: number) => `${size} in ${n} ${n === 1 ? 'file' : 'files'} are to be read.`,
  removesAfter: (hours: string) => `The server removes files after ${hours} hours.`,
  delivered: 'Delivered: changes until',
  measured: 'Measured',
  problem: (why: string) => `It could not be measured the last time: ${why}`,
  status: {
    reserved: 'The server has all changes.',
    extended: 'The server has all changes, and keeps more of its log than usual for them.',
    unreserved: 'The server soon removes changes that are still to be read. Run a transfer now.',
    lost: 'The server does not have all changes any more. With a full refresh, the next transfer copies the table again.',
  } satisfies Record<ChangeLogStatus, string>,
  warning: 'The log of the source needs attention',
  drop: 'Drop the slot',
  dropTitle: (slot: string) => `Drop ${slot}?`,
  dropHelp:
    'The server no longer keeps its log for this connection. The next transfer creates the slot again and copies the whole table, and rows that were removed from the table meanwhile can stay at the destination.',
  dropped: 'The slot is being dropped.',
  leftTitle: 'Replication slots that are not read any more',
  leaving: (slot: string, server: string) => `${slot} at ${server} is being dropped.`,
  leavingProblem: (why: string) => `It could not be dropped the last time: ${why}`,
  stays: (slot: string, server: string, why: string) =>
    `Penstock cannot drop ${slot} at ${server}, and the server keeps its log for it. ${why} If nothing needs the slot, run at that server:`,
  whenDisabled: (slot: string, size: string | undefined) =>
    `The server still keeps its log for the replication slot ${slot}${size === undefined ? '' : ` (${size} now)`}. If you do not enable the connection again soon, drop the slot under Configuration.`,
  whenDeleted: (slot: string, size: string | undefined) =>
    `The server keeps its log for the replication slot ${slot}${size === undefined ? '' : ` (${size} now)`} for these 30 days. Then Penstock drops the slot. To free the log now, drop the slot under Configuration before you delete.`,
  whenChanged: (slot: string) =>
    `If the connection does not read the replication slot ${slot} any more, Penstock drops the slot within half an hour, unless you change the settings back.`,
}
