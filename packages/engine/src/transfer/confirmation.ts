import { type Delivery, type Json, placeOfRow, type Rejection, type Row, type RowFault } from '@penstock/connector'
import type { PlaceInFile, Skipped } from '@penstock/wire/rules'
import { redactRow } from '../mapping/redact.ts'
import { type Confirmation, type KeptReject, protocolLimits } from '../protocol.ts'
import { countSkipped, nothingSkipped, sumSkipped, totalSkipped } from '../skipped.ts'
import { storable } from '../storable.ts'
import { endOf } from './batch-ends.ts'
import type { FilledBatch } from './filled-batch.ts'

/** The results of batches, as the ledger stores them. */

/** The result of a batch, or of a flush, without its rows. */
export type Entry = {
  readonly read: number
  readonly sent: number
  /** How many of its rows were removed at the destination. */
  readonly removed: number
  readonly skipped: Skipped
  readonly bytes: number
  readonly rejects: readonly Rejected[]
  /** The checkpoint and the cursor after the batch; absent for a flush. */
  readonly end: ReturnType<typeof endOf> | undefined
  readonly deliveryState: Json | undefined
  readonly state: Json | undefined
  /** The batch; it is not stored with the entry. */
  readonly batch?: FilledBatch
  /** Whether its rows were sent, and not only rejected or skipped before. */
  readonly isDelivered?: boolean
  /** Answers of the platform about rows of the batch, by their index; not stored with the entry. */
  readonly answers?: Delivery['answers']
}

/** One rejected row, or several that are only counted. */
export type Rejected = {
  /** The number of the record; `null` if it is unknown. */
  readonly row: number | null
  readonly place?: PlaceInFile | undefined
  readonly count: number
  readonly field: string | null
  readonly reason: string
  readonly others?: readonly RowFault[]
  readonly raw: Row | undefined
  readonly structural?: boolean
}

/** The entry of a batch that was delivered, or whose rows were all invalid. */
export const entryOf = (filledBatch: FilledBatch, delivery: Delivery | undefined): Entry => ({
  read: filledBatch.covered,
  sent: (delivery ? filledBatch.rows.length : 0) + (filledBatch.delivered?.numbers.length ?? 0),
  removed: delivery ? removedIn(filledBatch, delivery) : 0,
  skipped: countSkipped(filledBatch.skipped),
  bytes: delivery?.bytes ?? 0,
  rejects: [...invalidOf(filledBatch), ...rejectedOf(filledBatch, delivery?.rejected)].sort(byRow),
  end: endOf(filledBatch),
  deliveryState: delivery?.deliveryState,
  state: delivery?.state,
  batch: filledBatch,
  isDelivered: delivery !== undefined,
  ...(delivery?.answers && { answers: delivery.answers }),
})

const removedIn = ({ removed }: FilledBatch, { rejected = [] }: Delivery): number =>
  removed.size - rejected.filter(({ index = -1 }) => removed.has(index)).length

/** The entry of a flush. Its rejections by index refer to the last batch that was held. */
export const flushEntryOf = (flushed: Delivery, lastHeld: FilledBatch | undefined): Entry => ({
  read: 0,
  sent: 0,
  removed: 0,
  skipped: nothingSkipped,
  bytes: flushed.bytes,
  end: undefined,
  deliveryState: flushed.deliveryState,
  state: flushed.state,
  rejects: rejectedOf(lastHeld, flushed.rejected).sort(byRow),
})

/**
 * Adds up the confirmations of the destination.
 * @param columns of the source
 * @param rejectsLeft number of further rejected rows that can be kept
 * @throws if a destination rejected more rows than it received
 */
export function confirmationOf(
  entries: readonly Entry[],
  progress: number | null,
  columns: readonly string[],
  rejectsLeft: number,
): Confirmation {
  const rejects = entries.flatMap((entry) => entry.rejects)
  const total = (of: (entry: Entry) => number) => entries.reduce((sum, entry) => sum + of(entry), 0)
  const counts = {
    read: total(({ read }) => read),
    sent: total(({ sent }) => sent),
    removed: total(({ removed }) => removed),
    bytes: total(({ bytes }) => bytes),
    rejected: rejects.reduce((sum, { count }) => sum + count, 0),
  }
  const skipped = sumSkipped(entries.map((entry) => entry.skipped))
  if (counts.rejected > counts.read - totalSkipped(skipped)) {
    throw new Error('A destination rejected more records than it was sent')
  }
  const accepted = counts.read - counts.rejected - totalSkipped(skipped)
  const end = entries.findLast((entry) => entry.end)?.end
  const names = columns.map(storable)
  return {
    ...counts,
    // A destination may not report which rows it rejected.
    removed: Math.min(counts.removed, accepted),
    skipped,
    progress,
    checkpoint: (end?.checkpoint as Json | undefined) ?? null,
    // Not every batch has a cursor. Each cursor covers the batches before it.
    cursor: entries.findLast((entry) => entry.end?.cursor !== undefined)?.end?.cursor ?? null,
    deliveryState: entries.findLast(({ deliveryState }) => deliveryState !== undefined)?.deliveryState ?? null,
    state: entries.findLast(({ state }) => state !== undefined)?.state ?? null,
    rejects: rejects.slice(0, Math.max(0, rejectsLeft)).map((reject) => keptOf(reject, names)),
    superseded: [],
    digests: null,
    outcomes: [],
  }
}

function keptOf(
  { row, place, count, field, reason, others = [], raw, structural = false }: Rejected,
  names: readonly string[],
): KeptReject {
  const text = raw && JSON.stringify(raw)
  return {
    row,
    place: place ? storablePlace(place) : null,
    count,
    field: field === null ? null : storable(field),
    reason: storable(reason),
    others: others.slice(0, othersMax).map((fault) => ({
      field: fault.field === undefined ? null : storable(fault.field),
      reason: storable(fault.reason),
    })),
    record: JSON.stringify(raw ? redactRow(names, raw) : {}),
    raw: text === undefined || text.length > protocolLimits.rawLengthMax ? null : text,
    structural,
    key: null,
    superseded: false,
  }
}

/** A place as it is stored. A long name keeps its end, by which files of one folder differ. */
function storablePlace({ file, sheet, unit, number }: PlaceInFile): PlaceInFile | null {
  const cut = (name: string) => storable(name.length > nameLengthMax ? `…${name.slice(-nameLengthMax)}` : name)
  return number >= 1 && Number.isSafeInteger(number)
    ? { file: cut(file), sheet: sheet && cut(sheet), unit, number }
    : null
}
const nameLengthMax = 500

/** The place of a record of a batch in its file. */
function placeIn({ segments }: FilledBatch, number: number): PlaceInFile | undefined {
  const of = segments.find(({ first, count }) => number >= first && number < first + count)
  return of?.places && placeOfRow(of.places, number - of.first)
}

/** Maximum further faults that are kept for one row. */
const othersMax = 50

const invalidOf = (filledBatch: FilledBatch): Rejected[] =>
  filledBatch.invalid.map(({ number, raw, error, removed }) => ({
    row: number,
    place: placeIn(filledBatch, number),
    count: 1,
    field: error.field ?? null,
    reason: error.reason,
    ...(error.others && { others: error.others }),
    // Sent again, it would be written and not removed.
    raw: removed ? undefined : raw,
    ...(filledBatch.unread?.has(number) && { structural: true }),
  }))

/** Throws if a destination names a row that it did not receive. */
const rejectedOf = (filledBatch: FilledBatch | undefined, rejected: readonly Rejection[] = []): Rejected[] =>
  rejected.map(({ index, count = 1, field = null, reason, others }) => {
    if (index === undefined) return { row: null, count, field, reason, raw: undefined }
    const row = filledBatch?.numbers[index]
    if (!filledBatch || row === undefined) throw new Error('A destination rejected a record that it was not sent')
    const raw = filledBatch.removed.has(index) ? undefined : filledBatch.raws[index]
    const place = placeIn(filledBatch, row)
    return { row, place, count: 1, field, reason, ...(others && { others }), raw }
  })

/** In the order of the source; rows without a number come last. */
const byRow = (a: Rejected, b: Rejected): number => (a.row ?? Infinity) - (b.row ?? Infinity)
