import { limits } from '../limits.ts'
import { operation } from '../operation.ts'
import { connectionIds, filter, page, yes } from '../parameters.ts'
import { replayRows } from '../reject-terms.ts'
import { oneOf } from '../schemas/kinds.ts'
import {
  Preview,
  PreviewConnection,
  Replayable,
  ReplayTransfer,
  StartTransfer,
  Transfer,
  TransferLogLine,
  TransferPart,
} from '../schemas.ts'
import { connectionTransferOrders, transferOrders, transferStatuses } from '../terms.ts'
import { Type } from '../type.ts'

const startedTransfer = {
  status: 'queued',
  startedTime: null,
  finishedTime: null,
  bytes: 0,
  progress: null,
  attempt: 0,
  error: null,
  records: { read: 0, sent: 0, accepted: 0, rejected: 0 },
  removed: 0,
  skipped: { filtered: 0, unchanged: 0, duplicates: 0, noConsent: 0, controlGroup: 0 },
} as const

/** Transfers and previews. */
export const transfers = {
  listAllTransfers: operation({
    tag: 'Transfers',
    summary: 'List transfers',
    description:
      'Lists the transfers of all connections of one sub-account, or of all sub-accounts if `accountId` is omitted, newest first by default. With `latest` and a `status`, it lists the connections whose newest transfer has this status.',
    actsIn: 'organization or account',
    scope: 'transfers:read',
    query: {
      status: filter(transferStatuses, 'Keeps transfers with this status'),
      latest: yes('If true, lists only the newest transfer of each connection. A status filter applies to these'),
      connectionIds,
      sort: filter(transferOrders, 'Order of the list; - reverses it'),
      ...page,
    },
    reply: Transfer,
    list: 'paged',
    done: 'Transfers listed',
  }),
  previewConnection: operation({
    tag: 'Transfers',
    summary: 'Preview a transfer',
    description:
      'Reads up to 100 records and maps them to the fields of the destination. Sends nothing. Returns the records, statistics for each field, and `findings`: problems at the destination that would make a transfer fail or reject records. With `unmapped`, it returns the columns of the source, and proposed columns for each field. With `partial`, it applies the valid entries of an unfinished mapping, and tries its expressions. Values that can identify a person are masks that keep only their form; with a `view`, all values are whole.',
    reads: true,
    actsIn: 'account',
    scope: 'records:read',
    body: PreviewConnection,
    reply: Preview,
    done: 'Connection previewed',
    refusals: ['connection_deleted', 'connection_not_ready', 'transfer_not_supported', 'platform_refused'],
  }),
  startTransfer: operation({
    tag: 'Transfers',
    summary: 'Start a transfer',
    description:
      'Starts a transfer of an active connection in the background. Given settings apply to this transfer only. If a transfer of the connection is already active, it is returned and no second transfer is started. With `test`, it really sends the next few records as a test: the next transfer sends them again, and volume, reports, alerts and the status of the connection do not change. With `backfill`, it reads a range of the source again, such as some days of a report, and the cursor of the connection does not change.',
    actsIn: 'account',
    scope: 'transfers:run',
    body: StartTransfer,
    reply: Transfer,
    success: 202,
    done: 'Transfer started',
    already: 'A transfer of this connection is already active',
    refusals: [
      'account_disabled',
      'connection_not_active',
      'transfer_active',
      'transfer_blacked_out',
      'transfer_not_supported',
      'test_not_supported',
      'backfill_not_supported',
      'quota_exceeded',
    ],
    shows: startedTransfer,
  }),
  listTransfers: operation({
    tag: 'Transfers',
    summary: 'List the transfers of a connection',
    description: 'Lists the transfers of a connection, newest first by default.',
    actsIn: 'account',
    scope: 'transfers:read',
    query: {
      status: filter(transferStatuses, 'Keeps transfers with this status'),
      sort: filter(
        connectionTransferOrders,
        'Order of the list; - reverses it. By duration, read and rejected, transfers that have not ended are first, or last with -',
      ),
      ...page,
    },
    reply: Transfer,
    list: 'paged',
    done: 'Transfers listed',
  }),
  getTransfer: operation({
    tag: 'Transfers',
    summary: 'Get a transfer',
    description: 'Returns a transfer: its status, its progress and its record counts.',
    actsIn: 'account',
    scope: 'transfers:read',
    reply: Transfer,
    done: 'Transfer found',
  }),
  cancelTransfer: operation({
    tag: 'Transfers',
    summary: 'Cancel a transfer',
    description:
      'Stops a transfer. Records that the destination confirmed stay there and are counted. The rest is not sent. Cancelling again changes nothing.',
    actsIn: 'account',
    scope: 'transfers:run',
    reply: Transfer,
    done: 'Transfer cancelled',
    refusals: ['transfer_ended'],
    shows: { status: 'cancelled' },
  }),
  listTransferLog: operation({
    tag: 'Transfers',
    summary: 'List the log of a transfer',
    description: `Lists the steps of each attempt of a transfer, oldest first: sides opened, batches sent, confirmed and rejected, and waits. Lines contain counts and messages of errors, but no values of records. For each attempt, ${limits.transferLogLinesMax} lines are kept, the first and the last ones, for up to ${limits.transferLogAttemptsMax} attempts. An active transfer adds its lines every few seconds.`,
    actsIn: 'account',
    scope: 'transfers:read',
    query: { ...page },
    reply: TransferLogLine,
    list: 'paged',
    done: 'Log listed',
  }),
  listTransferParts: operation({
    tag: 'Transfers',
    summary: 'List the parts of a transfer',
    description:
      'Lists the parts of a transfer that several workers share, in the order of the source: their status, counts and errors. A transfer that one worker moves as a whole has no parts. If the connection moves many tables, each table is a part.',
    actsIn: 'account',
    scope: 'transfers:read',
    query: { ...page },
    reply: TransferPart,
    list: 'paged',
    done: 'Parts listed',
  }),
  getReplayable: operation({
    tag: 'Transfers',
    summary: 'Count the records that a replay would send',
    description:
      'Counts the rejected records of a transfer: records that a replay would send, records that earlier replays delivered, and records that were not kept.',
    actsIn: 'account',
    scope: 'transfers:read',
    reply: Replayable,
    done: 'Rejected records counted',
  }),
  replayTransfer: operation({
    tag: 'Transfers',
    summary: 'Replay the rejected records of a transfer',
    description:
      'Starts a new transfer of only the rejected records, as they were read or with their corrected values, with the current settings of the connection. Records that an earlier replay delivered are not sent again. `rejects` includes the number of records that cannot be sent because they were not kept.',
    actsIn: 'account',
    scope: 'transfers:run',
    query: {
      rows: Type.Optional(
        oneOf(replayRows, {
          description:
            'all, the default: every record that can be sent again. ready: without structural records that are not corrected. corrected: only records with corrected values',
          examples: ['corrected'],
        }),
      ),
    },
    reply: ReplayTransfer,
    success: 202,
    done: 'Transfer started',
    already: 'A transfer of this connection is already active',
    refusals: [
      'account_disabled',
      'connection_not_active',
      'nothing_to_replay',
      'transfer_active',
      'transfer_blacked_out',
      'transfer_not_supported',
      'quota_exceeded',
    ],
    shows: { ...startedTransfer, trigger: 'replay' },
  }),
  retryTransfer: operation({
    tag: 'Transfers',
    summary: 'Retry the failed parts of a transfer',
    description:
      'Continues a transfer in parts that failed or was cancelled, or of whose tables some failed. The parts that did not succeed continue after their last confirmed record, with the current secrets and the settings of the start of the transfer. Nothing is sent twice, and the transfer keeps its identifier. A transfer cannot be retried once a later transfer of the connection was started.',
    actsIn: 'account',
    scope: 'transfers:run',
    reply: Transfer,
    done: 'Failed parts are retried',
    success: 202,
    already: 'The transfer is already active',
    refusals: [
      'account_disabled',
      'connection_not_active',
      'nothing_to_retry',
      'transfer_active',
      'transfer_blacked_out',
      'transfer_not_supported',
      'quota_exceeded',
    ],
    shows: { ...startedTransfer, status: 'running' },
  }),
} as const
