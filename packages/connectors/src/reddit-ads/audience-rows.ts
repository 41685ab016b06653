import type { Batch, Rejection } from '@penstock/connector'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, readRows, wrong } from '../platform-api/rows/events.ts'
import { audienceIdIn } from './reddit-api.ts'

/** Our columns and Reddit's, in the order in which they are sent. */
const keys = { email_sha256: 'EMAIL_SHA256', maid_sha256: 'MAID_SHA256' } as const

/** The digests of one person, by Reddit's names of their columns. */
export type Person = readonly (readonly [column: string, digest: string])[]

export type AudienceRow = {
  readonly index: number
  readonly segmentId: string | undefined
  readonly segmentName: string | undefined
  readonly verb: 'add' | 'remove'
  readonly person: Person
}

/** SHA-256 of the advertising ID that devices give whose owner does not want to be tracked: all of it zeros. */
const zeroIdDigest = '12b9377cbe7e5c94e8a70d9d23929523d14afa954793130f8a3959c7b849aca8'

/** Reads the rows of a batch, and says of those that cannot be sent why. */
export function readAudienceRows(batch: Batch): { rows: AudienceRow[]; rejected: Rejection[] } {
  return readRows(batch, readRow)
}

function readRow(row: BatchRow): Read<AudienceRow> {
  const verb = row.text('action')?.toLowerCase()
  if (verb !== 'add' && verb !== 'remove') return wrong('The action must be add or remove.', 'action')
  const segmentId = row.text('segment_id')
  if (segmentId !== undefined && audienceIdIn(segmentId) === undefined) {
    return wrong('The value is not an ID of an audience at Reddit.', 'segment_id')
  }
  const person: [string, string][] = []
  let isUntracked = false
  for (const [column, key] of Object.entries(keys)) {
    const digest = row.text(column)
    if (digest === undefined) continue
    if (digest === zeroIdDigest) {
      isUntracked = true
      continue
    }
    if (!isSha256(digest)) return wrong('The value is not a SHA-256 digest of 64 hexadecimal characters.', column)
    person.push([key, digest])
  }
  if (person.length === 0) {
    const reason = 'The row has no identifier that Reddit can use to find the person.'
    return wrong(reason, isUntracked ? 'maid_sha256' : 'email_sha256')
  }
  return { read: { index: row.index, segmentId, segmentName: row.text('segment_name'), verb, person } }
}
