import type { Batch, Rejection } from '@penstock/connector'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, readRows, wrong } from '../platform-api/rows/events.ts'

const columns = ['email', 'email_sha256', 'idfa', 'idfa_sha256', 'maid', 'maid_sha256'] as const

export type ListRow = {
  readonly index: number
  /** The audience that is changed through its list, where the row names one. */
  readonly audienceId: string | undefined
  readonly listName: string | undefined
  readonly verb: 'add' | 'remove'
  /** The digests by which Pinterest can find the person, each of them once. */
  readonly digests: readonly string[]
}

/** What a new list is said to hold; Pinterest takes identifiers of any kind in one list. */
export function listTypeOf(given: readonly string[]): 'EMAIL' | 'IDFA' | 'MAID' {
  const has = (kind: string) => given.some((column) => column === kind || column === `${kind}_sha256`)
  if (has('email')) return 'EMAIL'
  return has('idfa') && !has('maid') ? 'IDFA' : 'MAID'
}

/** Reads the rows of a batch, and says of those that cannot be sent why. */
export const readListRows = (batch: Batch): { rows: ListRow[]; rejected: Rejection[] } => readRows(batch, readRow)

function readRow(row: BatchRow): Read<ListRow> {
  const verb = row.text('action')?.toLowerCase()
  if (verb !== 'add' && verb !== 'remove') return wrong('The action must be add or remove.', 'action')
  const audienceId = row.text('segment_id')
  if (audienceId !== undefined && !/^\d+$/.test(audienceId)) {
    return wrong('An audience of Pinterest has a number as its ID.', 'segment_id')
  }
  const digests = new Set<string>()
  for (const column of columns) {
    const value = row.text(column)
    if (value === undefined) continue
    if (!isSha256(value)) return wrong('The value is not a SHA-256 digest of 64 hexadecimal characters.', column)
    digests.add(value)
  }
  if (digests.size === 0) return wrong('The row has no identifier that Pinterest can use to find the person.', 'email')
  return {
    read: { index: row.index, audienceId, listName: row.text('segment_name'), verb, digests: [...digests] },
  }
}
