import type { TransferPart } from '@penstock/wire'

/** The texts about the parts of a transfer. */
export const transferParts = {
  title: 'Parts',
  help: (done: number, all: number) => `${done} of ${all} parts are delivered. Workers share them.`,
  number: 'Part',
  /** Of a transfer that moves many tables. */
  ofTables: {
    title: 'Tables',
    help: (done: number, all: number) => `${done} of ${all} tables are delivered.`,
    number: 'Table',
    retry: 'Retry the failed tables',
    retried: 'The failed tables are being retried',
    more: (n: string) => `More tables are in the API: ${n}.`,
  },
  status: 'Status',
  read: 'Read',
  accepted: 'Accepted',
  rejected: 'Rejected',
  attempt: 'Attempts',
  statuses: {
    queued: 'Queued',
    running: 'Running',
    succeeded: 'Delivered',
    failed: 'Failed',
    cancelled: 'Cancelled',
    skipped: 'Skipped',
  } satisfies Record<TransferPart['status'], string>,
  retry: 'Retry the failed parts',
  retried: 'The failed parts are being retried',
  more: (n: string) => `More parts are in the API: ${n}.`,
}
