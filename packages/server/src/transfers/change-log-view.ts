import type { Connector } from '@penstock/connector'
import type { ChangeLogStatus, ConnectionState } from '@penstock/wire'
import { maybeSeconds, unixSeconds } from '../time.ts'

/** A log of a connection, as it was last measured. */
export type ChangeLogRow = {
  slot: string
  server: string
  measuredTime: Date | null
  status: ChangeLogStatus | null
  keptBytes: number | null
  safeBytes: number | null
  limitBytes: number | null
  behindBytes: number | null
  behindFiles: number | null
  olderFiles: number | null
  keptSeconds: number | null
  deliveredTime: Date | null
  problem: string | null
  warns: boolean
  leavingSince: Date | null
  stays: boolean
}

/** The log that the connection reads, and the slots that it left behind. */
export function viewChangeLogs(
  rows: readonly ChangeLogRow[],
  source: Connector,
): Pick<ConnectionState, 'changeLog' | 'leftSlots'> {
  const read = rows.find(({ leavingSince }) => leavingSince === null)
  const left = rows.flatMap((row) => viewLeft(row, source))
  return { ...(read && { changeLog: viewLog(read) }), ...(left.length > 0 && { leftSlots: left }) }
}

const viewLog = (row: ChangeLogRow): NonNullable<ConnectionState['changeLog']> => ({
  server: row.server,
  slot: row.slot || null,
  status: row.status,
  keptBytes: row.keptBytes,
  safeBytes: row.safeBytes,
  limitBytes: row.limitBytes,
  behindBytes: row.behindBytes,
  behindFiles: row.behindFiles,
  olderFiles: row.olderFiles,
  keptSeconds: row.keptSeconds,
  deliveredTime: maybeSeconds(row.deliveredTime),
  measuredTime: maybeSeconds(row.measuredTime),
  problem: row.problem,
  warns: row.warns,
})

const viewLeft = (
  { slot, server, stays, problem, leavingSince }: ChangeLogRow,
  source: Connector,
): NonNullable<ConnectionState['leftSlots']> =>
  leavingSince === null || slot === ''
    ? []
    : [
        {
          server,
          slot,
          since: unixSeconds(leavingSince),
          stays,
          problem,
          statement: source.source?.changeLog?.release?.statement(slot) ?? '',
        },
      ]
