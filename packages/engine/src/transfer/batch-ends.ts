import type { Json } from '@penstock/connector'
import { runsWithin } from '../skipped.ts'
import { beginning, type Checkpoint, type DeliveredRows, type FilledBatch } from './filled-batch.ts'
import { recordWords } from './stages/changed-rows/row-digests.ts'
import { windowOfHalf } from './windows.ts'

/** The checkpoint after a batch, and the cursor where the next transfer begins. */
export function endOf(filledBatch: FilledBatch): {
  checkpoint: Checkpoint
  cursor: Json | undefined
} {
  const { first, covered, segments, left } = filledBatch
  if (left) return { checkpoint: left, cursor: undefined }
  const next = first + covered
  const last = segments.findLast((segment) => segment.first < next || (segment.count === 0 && segment.first === next))
  if (!last) return { checkpoint: beginning, cursor: undefined }
  const isWhole = next === last.first + last.count
  // A chunk without rows has a separate place.
  const place = last.count === 0 ? undefined : placeBehind(filledBatch)
  const checkpoint =
    isWhole || place !== undefined
      ? { at: place ?? last.after, skip: 0, bytes: last.bytes }
      : { at: last.before, skip: next - last.first, bytes: last.bytes }
  const cursor = last.cursorAfter
    ? last.cursorAfter(next - last.first)
    : // Not every chunk has a cursor.
      segments.findLast(({ first: begin, count, cursor }) => begin + count <= next && cursor !== undefined)?.cursor
  return { checkpoint, cursor }
}

/** The place in the source after a batch, if it can be found again even if rows before it were added or removed. */
export function placeBehind(filledBatch: FilledBatch): Json | undefined {
  const { first, covered, segments, left, announced } = filledBatch
  if (announced?.end !== undefined) return announced.end
  const last = segments.findLast((segment) => segment.first < first + covered)
  return left ? undefined : last?.checkpointAfter?.(first + covered - last.first)
}

/** Divides a batch of more than one row into two batches. */
export function halve(filledBatch: FilledBatch): [FilledBatch, FilledBatch] {
  const middle = filledBatch.rows.length >> 1
  const border = filledBatch.numbers[middle] as number
  const end = filledBatch.first + filledBatch.covered
  const { window, digests, left, instead, unread, unsent, notedBy, delivered } = filledBatch
  const part = (
    from: number,
    until: number,
    rowsFrom: number,
    rowsUntil: number,
    half: 'first' | 'second',
  ): FilledBatch => ({
    first: from,
    covered: until - from,
    rows: filledBatch.rows.slice(rowsFrom, rowsUntil),
    numbers: filledBatch.numbers.slice(rowsFrom, rowsUntil),
    raws: filledBatch.raws.slice(rowsFrom, rowsUntil),
    removed: new Set(
      [...filledBatch.removed].flatMap((at) => (at >= rowsFrom && at < rowsUntil ? [at - rowsFrom] : [])),
    ),
    ...(digests && { digests: digests.slice(rowsFrom * recordWords, rowsUntil * recordWords) }),
    invalid: filledBatch.invalid.filter(({ number }) => number >= from && number < until),
    ...(unread && { unread }),
    ...(unsent && { unsent }),
    skipped: runsWithin(filledBatch.skipped, from, until),
    segments: filledBatch.segments
      .filter(
        (segment) =>
          (segment.first < until && segment.first + segment.count > from) ||
          (segment.count === 0 && segment.first === until),
      )
      // A table that has changed is cut elsewhere.
      .map((segment) => ({ ...segment, fixed: segment.fixed && !segment.checkpointAfter })),
    ...(window && { window: windowOfHalf(window, half) }),
    ...(left && { left }),
    ...(instead !== undefined && { instead }),
    ...(notedBy !== undefined && { notedBy }),
    ...(delivered && { delivered: deliveredWithin(delivered, from, until) }),
  })
  return [
    part(filledBatch.first, border, 0, middle, 'first'),
    part(border, end, middle, filledBatch.rows.length, 'second'),
  ]
}

function deliveredWithin({ numbers, raws, records }: DeliveredRows, from: number, until: number): DeliveredRows {
  const [begin, end] = [from, until].map((border) => numbers.filter((number) => number < border).length)
  return {
    numbers: numbers.slice(begin, end),
    raws: raws.slice(begin, end),
    records: records.slice((begin ?? 0) * recordWords, (end ?? 0) * recordWords),
  }
}

/** Whether a batch requires work, and not only its checkpoint must be stored. */
export const isSent = ({ rows, invalid, window }: FilledBatch): boolean =>
  rows.length > 0 || invalid.length > 0 || window?.ends === true
