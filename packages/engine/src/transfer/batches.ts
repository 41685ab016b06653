import type { BatchWindow, Chunk, ChunkWindow, Json, Row, SourceReader } from '@penstock/connector'
import type { Announced } from '../protocol.ts'
import { countSent, endOfStretch, type SkipCodes, type SkippedRun } from '../skipped.ts'
import { recordWords } from './row-digests.ts'
import { isSame, type WindowOf } from './windows.ts'

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
  /**
   * Its key, under which it was announced before a crash with the rows of then, how many these were, and the place behind it, if it reaches
   * that far now.
   */
  readonly announced?: { readonly key: string; readonly covered: number; readonly end?: Json }
  /** The place behind an announced batch whose rows are gone, and which comes instead of it: its key is another one. */
  readonly instead?: Json
}

export type Segment = {
  /** The checkpoint before the chunk, as the source gave it. */
  readonly before: Json | null
  readonly after: Json
  /** Number of its first record, and how many it has. */
  readonly first: number
  readonly count: number
  /** Bytes of the source up to its end. */
  readonly bytes: number
  /** Whether it has the same records when it is read again. */
  readonly fixed: boolean
} & Pick<Chunk, 'cursor' | 'cursorAfter' | 'checkpointAfter'>

export type Bounds = { readonly rowsMax: number; readonly bytesMax: number }

/**
 * About how much memory a batch may take; one is delivered while the next one is filled. The limits of the destination do not
 * bound it: a packed source is small, and rows of many short cells take much more than their text.
 */
const memoryBytesMax = 20 << 20

/** How many records a batch covers at most if most of them are skipped, so that the checkpoint moves on. */
const coveredMax = 100_000

/** A batch that is read again up to its place may have four times as many records by now, and so many more. */
const moreMax = 1_000

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
  /** Its key, and the place behind it, if the source knows such places; `null` or absent otherwise. */
  readonly announced?: Announced | null
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
  {
    from,
    firstNumber,
    mapperFor,
    windowOf,
    bounds,
    pending,
    announced,
    unconfirmed,
    testRows,
    lastNumber: last,
  }: Filling,
): AsyncGenerator<FilledBatch, void, undefined> {
  const until = announced?.end
  /** An older version announced no key, and counted the rows of every source. */
  let isFixed = reader.fixed === true || (pending !== null && !announced)
  let filledBatch = emptyBatch(
    firstNumber,
    until === undefined || !announced ? undefined : { key: announced.key, covered: pending ?? 0 },
  )
  let exactly = pending !== null && until !== undefined ? 4 * pending + moreMax : pending
  let repeats = pending === null ? unconfirmed : null
  let before = from.at
  let number = firstNumber - from.skip
  let skip = from.skip
  let bytes = from.bytes
  const lastNumber = testRows ?? Number.POSITIVE_INFINITY
  const bound = Math.min(lastNumber, last ?? Number.POSITIVE_INFINITY)
  if (firstNumber > lastNumber) return
  for await (const chunk of chunksOf(reader, from.at ?? undefined, until)) {
    if (chunk === undefined) {
      if (filledBatch.covered > 0) yield filledBatch.done(until)
      exactly = null
      repeats = null
      isFixed = reader.fixed === true
      // Rows behind the place are not among those that were confirmed before it.
      skip = 0
      before = until ?? before
      filledBatch = emptyBatch(number, undefined, filledBatch.covered > 0 ? undefined : until)
      continue
    }
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
      fixed: isFixed || chunk.checkpointAfter !== undefined,
      ...(chunk.cursor === undefined ? {} : { cursor: chunk.cursor }),
      ...(chunk.cursorAfter && testRows === null && { cursorAfter: chunk.cursorAfter }),
      ...(chunk.checkpointAfter && { checkpointAfter: chunk.checkpointAfter }),
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
      const stop = endOfStretch(codes, at, Math.max(1, capacity()), Math.min(end, at + Math.max(1, coveredLeft())))
      const kept = countSent(codes, at, stop)
      filledBatch.take(chunk, mapped, codes, segment, at, stop, window)
      filledBatch.kept += kept
      filledBatch.bytes += kept * bytesEach
      filledBatch.memoryBytes += kept * memoryEach
      at = stop
      // No batch has rows behind a window.
      if (capacity() < 1 || coveredLeft() < 1 || filledBatch.window?.ends) {
        yield filledBatch.done()
        exactly = null
        repeats = null
        isFixed = reader.fixed === true
        filledBatch = emptyBatch(segment.first + at)
      }
    }
    if (number > lastNumber || end < chunk.rows.length) break
  }
  if (filledBatch.covered > 0) yield filledBatch.done()
}

/** The chunks behind a place. If there is a second place, `undefined` comes between those up to it and those behind it. */
async function* chunksOf(
  reader: SourceReader,
  from: Json | undefined,
  until: Json | undefined,
): AsyncGenerator<Chunk | undefined> {
  if (until !== undefined) {
    yield* reader.read(from, until)
    yield undefined
  }
  yield* reader.read(until ?? from)
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

function emptyBatch(first: number, announced?: { key: string; covered: number }, instead?: Json) {
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
    done(end?: Json): FilledBatch {
      const { window } = this
      const { covered } = this
      const filled = { first, covered, rows, numbers, raws, removed, invalid, skipped, segments }
      return {
        ...filled,
        ...(digests.length > 0 && { digests }),
        ...(window && { window }),
        ...(instead !== undefined && { instead }),
        ...(announced && { announced: { ...announced, ...(end !== undefined && { end }) } }),
      }
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
