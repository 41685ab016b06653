import { createHash } from 'node:crypto'
import type { Batch, BatchWindow, Chunk, ChunkWindow, Json, Row, SourceReader } from '@penstock/connector'
import type { ColumnTypes } from '../map-rows.ts'
import { countSent, endOfStretch, runsWithin, type SkipCodes, type SkippedRun } from '../skipped.ts'
import { recordWords } from './row-digests.ts'
import { isSame, type WindowOf, windowOfHalf } from './windows.ts'

/**
 * Fills batches from the rows of a source. Records are numbered from 1 in the order of the source. A batch covers
 * consecutive records: some to deliver, some that were found invalid before, and some that are skipped.
 */

/** Where reading continues: `skip` records after `at`. */
export type Checkpoint = { readonly at: Json | null; readonly skip: number; readonly bytes: number }
export const beginning: Checkpoint = { at: null, skip: 0, bytes: 0 }

/** Turns the records of a chunk into what the destination wants; invalid ones have an error instead, and others may be skipped. */
export type ChunkMapper = (chunk: Pick<Chunk, 'rows' | 'errors' | 'removed'>) => MappedChunk | Promise<MappedChunk>

export type MappedChunk = {
  readonly rows: readonly Row[]
  readonly errors: ReadonlyMap<number, InvalidRow['error']>
  /** Absent if no row is skipped. An error of the source comes first: such a row is invalid. */
  readonly skipped?: SkipCodes
  /** A record of 4 numbers for each row (`row-digests.ts`), if the state of the connection has digests. */
  readonly digests?: Uint32Array
}

/** A record that is not sent. */
export type InvalidRow = {
  readonly number: number
  readonly raw: Row
  readonly error: { readonly field?: string; readonly reason: string }
  /** Whether it was to be removed at the destination. */
  readonly removed?: true
}

/** The rows of one batch, and what must be known of the records that it covers. */
export type FilledBatch = {
  /** Number of the first record that it covers, and how many it covers. */
  readonly first: number
  readonly covered: number
  readonly rows: readonly Row[]
  /** For each of `rows`: its number, and the record as the source gave it. */
  readonly numbers: readonly number[]
  readonly raws: readonly Row[]
  /** Indexes of `rows` that are to be removed at the destination. */
  readonly removed: ReadonlySet<number>
  /** 4 numbers for each of `rows`, if they have digests. */
  readonly digests?: readonly number[]
  readonly invalid: readonly InvalidRow[]
  /** The stretches of it that have skipped records, in order. */
  readonly skipped: readonly SkippedRun[]
  /** The chunks that it was filled from, in order; all but the first begin inside it. */
  readonly segments: readonly Segment[]
  /** The window that all its rows belong to. Such a batch may have no rows. */
  readonly window?: BatchWindow
  /** There if its rows are no records of the source: they left it, and the checkpoint stays this one. */
  readonly left?: Checkpoint
}

type Segment = {
  /** The checkpoint before the chunk, as the source gave it. */
  readonly before: Json | null
  readonly after: Json
  /** Number of its first record, and how many it has. */
  readonly first: number
  readonly count: number
  /** Bytes of the source up to its end. */
  readonly bytes: number
} & Pick<Chunk, 'cursor' | 'cursorAfter'>

export type Bounds = { readonly rowsMax: number; readonly bytesMax: number }

/**
 * About how much memory a batch may take; one is delivered while the next one is filled. The limits of the destination do not
 * bound it: a packed source is small, and rows of many short cells take much more than their text.
 */
const memoryBytesMax = 20 << 20

/** How many records a batch covers at most if most of them are skipped, so that the checkpoint moves on. */
const coveredMax = 100_000

/** Where batches begin, and how they are filled. */
export type Filling = {
  readonly from: Checkpoint
  /** The number of the first record. */
  readonly firstNumber: number
  /** Answers how the rows of a chunk are mapped, by the number of its first record. */
  readonly mapperFor: (chunk: Chunk, first: number) => ChunkMapper | Promise<ChunkMapper>
  /** Answers the window of a chunk, by the columns of the destination; absent if none is used. Called after `mapperFor`. */
  readonly windowOf?: WindowOf
  readonly bounds: Bounds
  /** How many records the first batch must cover: that of a batch that may have been delivered already. */
  readonly pending: number | null
  /** The same of a batch of the transfer before this one, which counts where reading is incremental. */
  readonly unconfirmed: number | null
  /** At most how many records a test covers, from its first; `null`: all of the source. Its batches are no other transfer's. */
  readonly testRows: number | null
  /** The number of the last record that is read, although the source has more by now; `null`: all. */
  readonly lastNumber?: number | null
}

/** Reads on from a checkpoint and fills batches up to their bounds, one ahead of the one that is asked for. */
export async function* fillBatches(
  reader: SourceReader,
  { from, firstNumber, mapperFor, windowOf, bounds, pending, unconfirmed, testRows, lastNumber: last }: Filling,
): AsyncGenerator<FilledBatch, void, undefined> {
  let filledBatch = emptyBatch(firstNumber)
  let exactly = pending
  let repeats = pending === null ? unconfirmed : null
  let before = from.at
  let number = firstNumber - from.skip
  let skip = from.skip
  let bytes = from.bytes
  const lastNumber = testRows ?? Number.POSITIVE_INFINITY
  const bound = Math.min(lastNumber, last ?? Number.POSITIVE_INFINITY)
  if (firstNumber > lastNumber) return
  for await (const chunk of reader.read(from.at ?? undefined)) {
    // Behind the last row, a chunk without rows can have the cursor.
    if (chunk.rows.length > 0 && number > bound) break
    const map = await mapperFor(chunk, number)
    const window = testRows === null ? windowOf?.(chunk) : undefined
    if (filledBatch.covered > 0 && !isSame(filledBatch.window, window)) {
      yield filledBatch.done()
      exactly = null
      repeats = null
      filledBatch = emptyBatch(number)
    }
    bytes += skip > 0 ? 0 : chunk.bytes
    const segment: Segment = {
      before,
      after: chunk.checkpoint,
      first: number,
      count: chunk.rows.length,
      bytes,
      ...(chunk.cursor === undefined ? {} : { cursor: chunk.cursor }),
      ...(chunk.cursorAfter && testRows === null && { cursorAfter: chunk.cursorAfter }),
    }
    if (!chunk.cursorAfter) repeats = null
    before = chunk.checkpoint
    number += chunk.rows.length
    if (chunk.rows.length === 0 && skip === 0 && (window?.ends || chunk.settles)) {
      filledBatch.take(chunk, none, undefined, segment, 0, 0, window)
      yield filledBatch.done()
      exactly = null
      filledBatch = emptyBatch(number)
      continue
    }
    if (skip >= chunk.rows.length) {
      skip -= chunk.rows.length
      continue
    }
    const mapped = await map(chunk)
    const codes = skipCodesOf(mapped, chunk)
    const bytesEach = Math.max(1, chunk.bytes / chunk.rows.length)
    const memoryEach = memoryBytesOf(chunk.rows)
    let at = skip
    skip = 0
    const end = Math.min(chunk.rows.length, bound + 1 - segment.first)
    while (at < end) {
      const { rowsMax, bytesMax } = boundsOf(bounds, repeats)
      const coveredLeft = () => (exactly ?? repeats ?? Math.max(rowsMax, coveredMax)) - filledBatch.covered
      const capacity = () =>
        exactly === null
          ? Math.floor(
              Math.min(
                rowsMax - filledBatch.kept,
                (bytesMax - filledBatch.bytes) / bytesEach,
                (memoryBytesMax - filledBatch.memoryBytes) / memoryEach,
              ),
            )
          : coveredLeft()
      const until = endOfStretch(codes, at, Math.max(1, capacity()), Math.min(end, at + Math.max(1, coveredLeft())))
      const kept = countSent(codes, at, until)
      filledBatch.take(chunk, mapped, codes, segment, at, until, window)
      filledBatch.kept += kept
      filledBatch.bytes += kept * bytesEach
      filledBatch.memoryBytes += kept * memoryEach
      at = until
      // No batch has rows behind a window.
      if (capacity() < 1 || coveredLeft() < 1 || filledBatch.window?.ends) {
        yield filledBatch.done()
        exactly = null
        repeats = null
        filledBatch = emptyBatch(segment.first + at)
      }
    }
    if (number > lastNumber || end < chunk.rows.length) break
  }
  if (filledBatch.covered > 0) yield filledBatch.done()
}

/**
 * Bounds of a batch that repeats one of another transfer. Bytes are estimated by the average of each chunk. Chunks may begin
 * at other rows now, so the estimate of the same rows may be higher; the bound is higher, too, but there is one.
 */
function boundsOf(bounds: Bounds, repeats: number | null): Bounds {
  if (repeats === null) return bounds
  return { rowsMax: Math.min(bounds.rowsMax, repeats), bytesMax: 4 * bounds.bytesMax }
}

const none: MappedChunk = { rows: [], errors: new Map() }

/** The codes of a chunk, without those of rows that the source could not read. */
function skipCodesOf({ skipped }: MappedChunk, { errors }: Chunk): SkipCodes | undefined {
  if (!skipped?.some((code) => code !== 0)) return undefined
  if (!errors?.size) return skipped
  return skipped.map((code, i) => (errors.has(i) ? 0 : code))
}

function emptyBatch(first: number) {
  const rows: Row[] = []
  const numbers: number[] = []
  const raws: Row[] = []
  const removed = new Set<number>()
  const digests: number[] = []
  const invalid: InvalidRow[] = []
  const skipped: SkippedRun[] = []
  const segments: Segment[] = []
  return {
    covered: 0,
    /** How many of these are not skipped. */
    kept: 0,
    bytes: 0,
    memoryBytes: 0,
    window: undefined as BatchWindow | undefined,
    take(
      chunk: Chunk,
      mapped: MappedChunk,
      codes: SkipCodes | undefined,
      segment: Segment,
      from: number,
      until: number,
      window?: ChunkWindow,
    ) {
      segments.push(segment)
      if (codes) skipped.push({ first: segment.first + from, codes: codes.slice(from, until) })
      for (let i = from; i < until; i++) {
        if (codes && codes[i] !== 0) continue
        const raw = chunk.rows[i] as Row
        const broken = chunk.errors?.get(i)
        const error = broken === undefined ? mapped.errors.get(i) : { reason: broken }
        const isRemoved = chunk.removed?.has(i) ?? false
        if (error) invalid.push({ number: segment.first + i, raw, error, ...(isRemoved && { removed: true }) })
        else {
          if (isRemoved) removed.add(rows.length)
          rows.push(mapped.rows[i] as Row)
          numbers.push(segment.first + i)
          raws.push(raw)
          if (mapped.digests) digests.push(...mapped.digests.subarray(i * recordWords, (i + 1) * recordWords))
        }
      }
      this.covered += until - from
      if (!window) return
      this.window = {
        scope: window.scope,
        begins: this.window?.begins ?? (window.begins && from === 0),
        ends: window.ends && until === chunk.rows.length,
        spoiled: invalid.length > 0,
      }
    },
    done(): FilledBatch {
      const { window } = this
      const { covered } = this
      const filled = { first, covered, rows, numbers, raws, removed, invalid, skipped, segments }
      return { ...filled, ...(digests.length > 0 && { digests }), ...(window && { window }) }
    },
  }
}

/** Memory of a cell, beside its text. */
const cellBytes = 24
const sampleRows = 32

/** Approximate memory of each row, estimated from a few of them. */
function memoryBytesOf(rows: readonly Row[]): number {
  const step = Math.ceil(rows.length / sampleRows)
  let sampled = 0
  let bytes = 0
  for (let at = 0; at < rows.length; at += step) {
    sampled++
    for (const cell of rows[at] ?? []) bytes += cellBytes + (typeof cell === 'string' ? cell.length : 0)
  }
  return Math.max(1, bytes / sampled)
}

/** Scope of the key of a batch, beside its records. */
export type KeyScope = {
  readonly transferId: string
  readonly connectionId: string
  /** The settings of both sides: what is sent under others is never taken for the same. */
  readonly settings: Json
}

/**
 * The batch as the destination gets it. Its key is the same for the same records of the same transfer, in every attempt. In
 * an incremental transfer, the key follows from the rows and the cursor before them, so the next transfer has the same key
 * for the same rows.
 */
export function batchOf(
  filledBatch: FilledBatch,
  scope: KeyScope,
  columns: readonly string[],
  types?: ColumnTypes,
): Batch {
  const { first, covered, rows, removed, segments, window, left } = filledBatch
  const hash = createHash('sha256')
  const [begun] = segments
  if (begun?.cursorAfter) {
    const { connectionId, settings } = scope
    hash.update(JSON.stringify([connectionId, settings, begun.cursorAfter(first - begun.first), columns]))
    for (const row of rows) hash.update(JSON.stringify(row))
    if (removed.size > 0) hash.update(JSON.stringify([...removed]))
  } else hash.update(`${scope.transferId} ${first} ${covered}`)
  // Another attempt may find other rows that left the source.
  if (left) hash.update(JSON.stringify(rows))
  // Windows without rows follow each other at the same place.
  if (window) hash.update(JSON.stringify(window.scope))
  const key = hash.digest('hex').slice(0, 32)
  return {
    key,
    columns,
    ...(types && { types }),
    rows,
    ...(removed.size > 0 && { removed }),
    firstRow: first,
    ...(window && { window }),
  }
}

/** The checkpoint after a batch, and the cursor where the next transfer begins. */
export function endOf({ first, covered, segments, left }: FilledBatch): {
  checkpoint: Checkpoint
  cursor: Json | undefined
} {
  if (left) return { checkpoint: left, cursor: undefined }
  const next = first + covered
  const last = segments.findLast((segment) => segment.first < next || (segment.count === 0 && segment.first === next))
  if (!last) return { checkpoint: beginning, cursor: undefined }
  const isWhole = next === last.first + last.count
  const checkpoint = isWhole
    ? { at: last.after, skip: 0, bytes: last.bytes }
    : { at: last.before, skip: next - last.first, bytes: last.bytes }
  const cursor = last.cursorAfter
    ? last.cursorAfter(next - last.first)
    : // Not every chunk has one.
      segments.findLast(({ first: begin, count, cursor }) => begin + count <= next && cursor !== undefined)?.cursor
  return { checkpoint, cursor }
}

/** Cuts a batch of more than one row in two. */
export function halve(filledBatch: FilledBatch): [FilledBatch, FilledBatch] {
  const middle = filledBatch.rows.length >> 1
  const border = filledBatch.numbers[middle] as number
  const end = filledBatch.first + filledBatch.covered
  const { window, digests, left } = filledBatch
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
    skipped: runsWithin(filledBatch.skipped, from, until),
    segments: filledBatch.segments.filter(
      (segment) =>
        (segment.first < until && segment.first + segment.count > from) ||
        (segment.count === 0 && segment.first === until),
    ),
    ...(window && { window: windowOfHalf(window, half) }),
    ...(left && { left }),
  })
  return [
    part(filledBatch.first, border, 0, middle, 'first'),
    part(border, end, middle, filledBatch.rows.length, 'second'),
  ]
}

/** How many records must be sent again together after a crash; a batch without records has no such number. */
export const pendingOf = (covered: number): number | null => (covered === 0 ? null : covered)

/** Whether anything is done with a batch, and not its checkpoint alone stored. */
export const isSent = ({ rows, invalid, window }: FilledBatch): boolean =>
  rows.length > 0 || invalid.length > 0 || window?.ends === true
