import type { Reject, Schedule, Transfer } from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import type { RejectRow, ScheduleRow, TransferRow } from './queries.ts'

const maybeSeconds = (moment: Date | null) => (moment ? unixSeconds(moment) : null)

export const viewTransfer = (row: TransferRow): Transfer => ({
  id: row.id,
  connectionId: row.connectionId,
  accountId: row.accountId,
  status: row.status,
  trigger: row.trigger,
  createdTime: unixSeconds(row.createdTime),
  startedTime: maybeSeconds(row.startedTime),
  finishedTime: maybeSeconds(row.finishedTime),
  records: { read: row.read, sent: row.sent, accepted: row.accepted, rejected: row.rejected },
  bytes: row.bytes,
  progress: row.progress,
  attempt: row.attempt,
  error: viewError(row),
})

type ErrorRow = Pick<TransferRow, 'errorCode' | 'errorMessage' | 'errorSide' | 'srcConnectorId' | 'destConnectorId'>

/** The error of a transfer, with the side that it happened at; null where there is none. */
export function viewError({ errorCode: code, errorMessage, errorSide, ...row }: ErrorRow): Transfer['error'] {
  if (code === null) return null
  const message = errorMessage ?? ''
  if (errorSide === null) return { code, message, side: 'service', connectorId: null }
  return errorSide === 'Source'
    ? { code, message, side: 'source', connectorId: row.srcConnectorId }
    : { code, message, side: 'destination', connectorId: row.destConnectorId }
}

export const viewReject = ({ row, count, field, record }: RejectRow, reason: string): Reject => ({
  row,
  count,
  field,
  reason,
  record,
})

export const viewSchedule = (row: ScheduleRow): Schedule => ({
  connectionId: row.connectionId,
  cron: row.cron,
  timezone: row.timezone,
  enabled: row.enabled,
  nextTime: row.enabled ? maybeSeconds(row.nextTime) : null,
  lastTime: maybeSeconds(row.lastTime),
  paused: row.paused,
})
