import { mirrorsRows, type SideShape } from '@penstock/engine'
import type {
  ConnectionState,
  ConnectionTable,
  Drift,
  Reject,
  Role,
  Schedule,
  Transfer,
  TransferError,
  TransferLogLine,
  TransferPart,
} from '@penstock/wire'
import { maybeSeconds, unixSeconds } from '../time.ts'
import type { ConnectionTableRow } from './connection-tables-queries.ts'
import type { DriftRow, TableDriftRow } from './drift-queries.ts'
import type { LogRow } from './log-queries.ts'
import type { PartRow } from './parts-queries.ts'
import type { TransferRow } from './queries.ts'
import type { RejectRow } from './reject-queries.ts'
import type { Reasons } from './reject-reasons.ts'
import type { ScheduleRow } from './schedule-queries.ts'
import type { ConnectionStateRow } from './state-queries.ts'

export const viewTransfer = (row: TransferRow): Transfer => ({
  id: row.id,
  connectionId: row.connectionId,
  accountId: row.accountId,
  status: row.status,
  trigger: row.trigger,
  startedBy: row.startedBy,
  test: row.testRows !== null,
  backfill: row.backfill,
  ...(row.tables && { tables: row.tables }),
  createdTime: unixSeconds(row.createdTime),
  startedTime: maybeSeconds(row.startedTime),
  finishedTime: maybeSeconds(row.finishedTime),
  records: { read: row.read, sent: row.sent, accepted: row.accepted, rejected: row.rejected },
  removed: row.removed,
  skipped: {
    filtered: row.filtered,
    unchanged: row.unchanged,
    duplicates: row.duplicates,
    noConsent: row.noConsent,
    controlGroup: row.controlGroup,
  },
  bytes: row.bytes,
  progress: row.progress,
  attempt: row.attempt,
  waitsForGroup: row.waitsForGroup,
  columnChanges: row.columnChanges ?? [],
  rules: row.ruleResults ?? [],
  error: viewErrorOf(row),
})

type ErrorRow = Pick<TransferRow, 'errorCode' | 'errorMessage' | 'errorSide' | 'srcConnectorId' | 'destConnectorId'>

/** The error of a transfer; `null` if it has none. */
export const viewErrorOf = ({
  errorCode: code,
  errorMessage,
  errorSide: side,
  ...row
}: ErrorRow): TransferError | null =>
  code === null ? null : viewError({ code, message: errorMessage ?? '', side }, row)

/** An error with its side; `null` if it belongs to neither. */
export function viewError(
  { code, message, side }: { code: string; message: string; side: Role | null },
  { srcConnectorId, destConnectorId }: { srcConnectorId: string; destConnectorId: string },
): TransferError {
  if (side === null) return { code, message, side: 'service', connectorId: null }
  return side === 'Source'
    ? { code, message, side: 'source', connectorId: srcConnectorId }
    : { code, message, side: 'destination', connectorId: destConnectorId }
}

/**
 * @param again why the last replay rejected it again; null if it did not, or if the reason is not kept any more
 * @param record with its values, or the redacted copy
 * @param isShown whether these are its values
 */
export const viewReject = (
  { number, row, place, count, field, table, replayed, structural, superseded, state, resentBy }: RejectRow,
  { reason, others }: Reasons,
  again: Reasons | null,
  record: Reject['record'],
  edited: Reject['record'] | undefined,
  isShown: boolean,
): Reject => ({
  number,
  ...(table !== null && { table }),
  row,
  place,
  count,
  field,
  reason,
  ...(others.length > 0 && { otherFaults: others.map((fault) => ({ ...fault })) }),
  record,
  edited: edited ?? null,
  structural,
  superseded,
  editable: isShown && !replayed && !superseded && table === null,
  state,
  resent:
    resentBy === null
      ? null
      : {
          transferId: resentBy,
          reason: again?.reason ?? null,
          ...(again && again.others.length > 0 && { otherFaults: again.others.map((fault) => ({ ...fault })) }),
        },
})

export const viewLogLine = ({ number, attempt, ms, kind, text }: LogRow): TransferLogLine => ({
  number,
  attempt,
  time: Math.floor(ms / 1000),
  kind,
  text,
})

export const viewPart = (row: PartRow): TransferPart => ({
  number: row.number,
  ...(row.table !== null && { table: row.table }),
  status: row.status,
  attempt: row.attempt,
  records: { read: row.read, accepted: row.accepted, rejected: row.rejected },
  progress: row.progress,
  startedTime: maybeSeconds(row.startedTime),
  finishedTime: maybeSeconds(row.finishedTime),
  error: viewErrorOf(row),
})

export const viewConnectionTable = (row: ConnectionTableRow): ConnectionTable => ({
  table: row.table,
  destination: row.destination,
  status: row.tableStatus,
  cursor: row.cursor,
  resetTime: maybeSeconds(row.resetTime),
  lastResult:
    row.transferId && row.status && row.finishedTime
      ? {
          transferId: row.transferId,
          status: row.status,
          records: { read: row.read, accepted: row.accepted, rejected: row.rejected },
          finishedTime: unixSeconds(row.finishedTime),
          error: viewErrorOf(row),
        }
      : null,
  changes: row.changes ?? [],
})

export const viewDrift = ({
  connectionId,
  drift,
  shape,
  changes,
  tables,
}: DriftRow & { readonly tables: readonly TableDriftRow[] }): Drift => ({
  connectionId,
  drift,
  source: viewShape(shape?.source),
  destination: viewShape(shape?.destination),
  changes: changes ?? [],
  ...(tables.length > 0 && { tables: tables.map((one) => ({ table: one.table, changes: one.changes ?? [] })) }),
})

/**
 * @param afresh why the next transfer reads everything though there is a cursor
 * @param removedRowsStay that it copies a table again
 */
export const viewState = (
  row: ConnectionStateRow,
  { afresh, removedRowsStay }: Record<'afresh' | 'removedRowsStay', string | undefined>,
): ConnectionState => ({
  connectionId: row.connectionId,
  cursor: row.cursor,
  rows: row.rows,
  since: maybeSeconds(row.since),
  mirrored: row.mirrored && mirrorsRows(row.destConfig),
  removed: row.removed,
  ...(afresh !== undefined && { afresh }),
  ...(removedRowsStay !== undefined && { removedRowsStay }),
})

const viewShape = (shape: SideShape | null | undefined): Drift['source'] =>
  shape ? shape.columns.map(({ name, type, required, key }) => ({ name, type, required, key })) : null

export const viewSchedule = (row: ScheduleRow): Schedule => ({
  connectionId: row.connectionId,
  cron: row.cron,
  timezone: row.timezone,
  enabled: row.enabled,
  nextTime: row.enabled ? maybeSeconds(row.nextTime) : null,
  lastTime: maybeSeconds(row.lastTime),
  paused: row.paused,
})
