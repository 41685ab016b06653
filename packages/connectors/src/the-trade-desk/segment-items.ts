import type { Batch, Rejection } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import { type BatchRow, rowsOf } from '../platform-api/rows/batch-rows.ts'
import type { FailedLine } from './data-api.ts'
import { itemNumberOf } from './failed-lines.ts'
import { type IdType, idTypes, problemOfId } from './user-ids.ts'

/** One identifier and one segment, which The Trade Desk accepts or rejects together. */
type Entry = {
  readonly type: IdType
  readonly id: string
  readonly segment: string
  adds: boolean
  readonly rows: number[]
}

export type SegmentItems = {
  readonly items: readonly unknown[]
  readonly rejected: Rejection[]
  /** The rows that lines speak of which were not taken. */
  rejectedBy(failed: readonly FailedLine[]): Rejection[]
}

const segmentLengthMax = 256
const minutesOfDay = 24 * 60

/**
 * Makes items of the rows of a batch, one of each identifier. Where several rows speak of the same identifier and segment,
 * only what the last one says is sent; it answers for them all.
 * @param days how long a person stays in a segment
 */
export function makeItems(batch: Batch, days: number): SegmentItems {
  const entries = new Map<string, Entry>()
  const rejected: Rejection[] = []
  for (const row of rowsOf(batch)) {
    const problem = problemOf(row)
    if (problem) {
      rejected.push({ index: row.index, ...problem })
      continue
    }
    const segment = row.text('segment_name') ?? ''
    for (const type of idTypes) {
      const id = row.text(type)
      if (id === undefined) continue
      const key = keyOf(type, id, segment)
      const entry = entries.get(key) ?? { type, id, segment, adds: true, rows: [] }
      entry.adds = row.text('action')?.toLowerCase() === 'add'
      entry.rows.push(row.index)
      entries.set(key, entry)
    }
  }
  const items = [...entries.values()].map(({ type, id, segment, adds }) => ({
    [type]: id,
    // A time to live of nothing ends the membership.
    Data: [{ Name: segment, TtlInMinutes: adds ? days * minutesOfDay : 0 }],
  }))
  return { items, rejected, rejectedBy: (failed) => rejectionsOf(entries, failed) }
}

const keyOf = (type: string, id: string, segment: string) => `${type}\n${id}\n${segment}`

function problemOf(row: BatchRow): { reason: string; field?: string } | undefined {
  const segment = row.text('segment_name')
  if (segment === undefined) return { reason: 'The name of the segment is missing.', field: 'segment_name' }
  if (segment.length > segmentLengthMax) {
    return { reason: `The name of a segment has at most ${segmentLengthMax} characters.`, field: 'segment_name' }
  }
  const action = row.text('action')?.toLowerCase()
  if (action !== 'add' && action !== 'remove') return { reason: 'The action must be add or remove.', field: 'action' }
  const given = idTypes.filter((type) => row.text(type) !== undefined)
  if (given.length === 0)
    return { reason: 'The row has no identifier that could be used to find the person.', field: 'TDID' }
  for (const type of given) {
    const reason = problemOfId(type, row.text(type) ?? '')
    if (reason !== undefined) return { reason, field: type }
  }
  return undefined
}

/** Codes of lines, in sentences. */
const reasons: Readonly<Record<string, string>> = {
  MissingUserId: 'The Trade Desk finds no identifier in it',
  UserNotMapped: 'The Trade Desk does not know the identifier',
  DataNameTooLong: 'The name of the segment is too long for The Trade Desk',
  InvalidTtlInMinutes: 'The Trade Desk does not accept this number of days',
  InvalidParameterFormat: 'The identifier is not of the form that The Trade Desk takes',
  TargetingDataCreationLimitExceeded: 'The Trade Desk makes no more segments for this advertiser now',
  TargetingDataCountLimitExceeded: 'The advertiser has as many segments as The Trade Desk allows',
  TenantRestrictionsExternalData: 'The Trade Desk does not let this advertiser send data',
  TargetingDataDisabled: 'The segment is disabled at The Trade Desk',
  Uid2Error: 'The Trade Desk cannot use the UID2; people may have opted out',
}

/**
 * Which rows the failed lines mean. Lines repeat the identifier and the segment, or number the item from 1, in a field of
 * their own or in the message (“Invalid UID2, item #2”). Lines that do neither can only be counted.
 */
function rejectionsOf(entries: ReadonlyMap<string, Entry>, failed: readonly FailedLine[]): Rejection[] {
  const byRow = new Map<number, Rejection>()
  const inOrder = [...entries.values()]
  let unknown = 0
  for (const line of failed) {
    const type = idTypes.find((each) => textIn(line[each]) !== undefined)
    const named = type && entries.get(keyOf(type, String(line[type]), String(line.DataName ?? '')))
    const entry = named ?? inOrder[itemNumberOf(line) - 1]
    if (!entry) unknown++
    for (const index of entry?.rows ?? []) byRow.set(index, { index, reason: reasonOf(line), field: entry?.type ?? '' })
  }
  const rows = new Set([...entries.values()].flatMap((entry) => entry.rows)).size
  const count = Math.min(unknown, rows - byRow.size)
  const uncounted =
    count > 0 ? [{ count, reason: 'The Trade Desk did not accept it, and did not report the row.' }] : []
  return [...[...byRow.values()].sort((a, b) => (a.index ?? 0) - (b.index ?? 0)), ...uncounted]
}

function reasonOf(line: FailedLine): string {
  const code = textIn(line.ErrorCode) ?? 'Unknown'
  const known = Object.hasOwn(reasons, code) ? reasons[code] : undefined
  return known
    ? `${known} (${code}).`
    : `The Trade Desk did not accept it (${/^\w{1,60}$/.test(code) ? code : 'Unknown'}).`
}
