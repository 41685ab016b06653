import type { Chunk, ChunkWindow, Json, SourceReader } from '@penstock/connector'
import type { Announced } from '../protocol.ts'
import { countSent, endOfDelivered, endOfStretch, type SkipCodes } from '../skipped.ts'
import { BatchBuilder, type BatchOrigin } from './batch-builder.ts'
import { type CarriedBatch, chunksOf } from './carried-batch.ts'
import type { Bounds, Checkpoint, ChunkMapper, FilledBatch, MappedChunk, Segment } from './filled-batch.ts'
import { memoryBytesOf } from './memory-of-rows.ts'
import { isSame, type WindowOf } from './windows.ts'

/**
 * Fills batches from the rows of a source. Records are numbered from 1 in the order of the source. A batch covers
 * consecutive records: some to deliver, some that were found invalid before, and some that are skipped.
 */

/**
 * Approximate maximum memory of a batch. While one batch is delivered, the next one is filled. The limits of the destination are
 * not enough: a compressed source is small, and rows of many short cells need much more memory than their text.
 */
const memoryBytesMax = 20 << 20

/** Maximum records that a batch covers if most of them are skipped, so that the checkpoint advances. */
const coveredMax = 100_000

/** A batch that is read again up to its place can have four times as many records by now, plus this number. */
const moreMax = 1_000

/** Where batches begin, and how they are filled. */
export type Filling = {
  readonly from: Checkpoint
  /** The number of the first record. */
  readonly firstNumber: number
  /** Answers how the rows of a chunk are mapped, by the number of its first record. */
  readonly mapperFor: (chunk: Chunk, first: number) => ChunkMapper | Promise<ChunkMapper>
  /**
   * Returns the window of a chunk, by the columns of the destination; absent if windows are not used. Called after `mapperFor`.
   */
  readonly windowOf?: WindowOf
  readonly bounds: Bounds
  /**
   * Whether the destination recognises a batch by its key, even if its rows have changed; `true` if absent. If it does, a batch
   * that is read again stays whole, even with more rows than `bounds` allow. Otherwise the bounds apply, and further rows are in
   * other batches.
   */
  readonly notesBatches?: boolean
  /** Number of records that the first batch must cover, because it may already have been delivered. */
  readonly pending: number | null
  /** Its key, and the place after it, if the source has places; `null` or absent otherwise. */
  readonly announced?: Announced | null
  /** There if an earlier transfer announced it. */
  readonly carried?: CarriedBatch | undefined
  /** The same for a batch of the previous transfer; only if reading is incremental. */
  readonly unconfirmed: number | null
  /**
   * Maximum records that a test covers, from the first record; `null`: the whole source. Batches of a test never belong to
   * another transfer.
   */
  readonly testRows: number | null
  /** The number of the last record to read, even if the source has more by now; `null`: all records. */
  readonly lastNumber?: number | null
}

/** Reads from a checkpoint and fills batches up to their bounds. It works one batch ahead. */
export const fillBatches = (reader: SourceReader, filling: Filling): AsyncGenerator<FilledBatch, void, undefined> =>
  new BatchFiller(reader, filling).fill()

/** Rows of a chunk on their way into batches. */
type MappedRows = {
  readonly chunk: Chunk
  readonly segment: Segment
  readonly window: ChunkWindow | undefined
  readonly mapped: MappedChunk
  readonly codes: SkipCodes | undefined
  /** Approximate size of each of its rows in the source and in memory. */
  readonly bytesEach: number
  readonly memoryEach: number
}

/** Fills the batches of one reader, from its first chunk to its last. */
class BatchFiller {
  readonly #reader: SourceReader
  readonly #filling: Filling
  /** The place up to which an announced batch is read again. */
  readonly #until: Json | undefined
  /** The number of the last record that a test covers, and of the last record that is read. */
  readonly #lastTested: number
  readonly #lastRead: number
  #batch: BatchBuilder
  /**
   * Number of records that the batch must cover, or can cover until its place is reached; `null`: it is filled up to the bounds.
   */
  #exactly: number | null
  /** Number of records that it covered in the previous transfer. */
  #repeats: number | null
  /** Whether the source has the same records when it is read again. */
  #isFixed: boolean
  /** The place after the last chunk, the number of records and bytes that were read up to it, and the cursor. */
  #before: Json | null
  #number: number
  #bytes: number
  #cursor: Json | undefined
  /** How many of the next records are confirmed already. */
  #skip: number

  constructor(reader: SourceReader, filling: Filling) {
    const { from, firstNumber, pending, announced, unconfirmed, testRows, lastNumber } = filling
    this.#reader = reader
    this.#filling = filling
    this.#until = announced?.end
    this.#lastTested = testRows ?? Number.POSITIVE_INFINITY
    this.#lastRead = Math.min(this.#lastTested, lastNumber ?? Number.POSITIVE_INFINITY)
    const hasPlace = announced?.end !== undefined
    this.#batch = new BatchBuilder(firstNumber, {
      announced: hasPlace ? { key: announced.key, covered: pending ?? 0 } : undefined,
      notedBy: announced?.transferId,
    })
    this.#exactly = pending !== null && hasPlace ? 4 * pending + moreMax : pending
    this.#repeats = pending === null ? unconfirmed : null
    // An older version announced no key, and counted the rows of every source.
    this.#isFixed = reader.fixed === true || (pending !== null && !announced)
    this.#before = from.at
    this.#number = firstNumber - from.skip
    this.#bytes = from.bytes
    this.#skip = from.skip
  }

  async *fill(): AsyncGenerator<FilledBatch, void, undefined> {
    const { from, firstNumber, mapperFor, windowOf, carried, testRows } = this.#filling
    if (firstNumber > this.#lastTested) return
    const openBehind = carried && (() => carried.openBehind(this.#cursor))
    for await (const chunk of chunksOf(this.#reader, from.at ?? undefined, this.#until, openBehind)) {
      if (chunk === undefined) {
        yield* this.#passPlace()
        continue
      }
      // After the last row, a chunk without rows can contain the cursor.
      if (chunk.rows.length > 0 && this.#number > this.#lastRead) break
      const map = await mapperFor(chunk, this.#number)
      const window = testRows === null ? windowOf?.(chunk) : undefined
      yield* this.#changeWindow(window)
      const segment = this.#beginSegment(chunk)
      if (chunk.rows.length === 0 && this.#skip === 0 && (window?.ends || chunk.settles)) {
        yield this.#settle(chunk, segment, window)
      } else if (this.#skip >= chunk.rows.length) {
        this.#skip -= chunk.rows.length
      } else {
        const mapped = await map(chunk)
        yield* this.#takeRows({
          chunk,
          segment,
          window,
          mapped,
          codes: skipCodesOf(mapped, chunk),
          bytesEach: Math.max(1, chunk.bytes / chunk.rows.length),
          memoryEach: memoryBytesOf(chunk.rows),
        })
        if (this.#number > this.#lastRead + 1 || this.#number > this.#lastTested) break
      }
    }
    if (this.#batch.covered > 0) yield this.#batch.done()
  }

  /** The place after an announced batch is reached. The following rows are in other batches. */
  *#passPlace(): Generator<FilledBatch, void, undefined> {
    const isFilled = this.#batch.covered > 0
    if (isFilled) yield this.#batch.done(this.#until)
    this.#beginBatch(this.#number, { instead: isFilled ? undefined : this.#until })
    this.#endRepetition()
    // Rows after the place do not include rows that were confirmed before it.
    this.#skip = 0
    this.#before = this.#until ?? this.#before
  }

  /** A batch has rows of at most one window. */
  *#changeWindow(window: ChunkWindow | undefined): Generator<FilledBatch, void, undefined> {
    if (this.#batch.covered === 0 || isSame(this.#batch.window, window)) return
    yield this.#batch.done()
    this.#beginBatch(this.#number)
    this.#repeats = null
  }

  /** Counts the records of a chunk. */
  #beginSegment(chunk: Chunk): Segment {
    this.#bytes += this.#skip > 0 ? 0 : chunk.bytes
    const isTest = this.#filling.testRows !== null
    const segment: Segment = {
      before: this.#before,
      after: chunk.checkpoint,
      first: this.#number,
      count: chunk.rows.length,
      bytes: this.#bytes,
      fixed: this.#isFixed || chunk.checkpointAfter !== undefined,
      ...(chunk.cursor === undefined ? {} : { cursor: chunk.cursor }),
      ...(chunk.cursorAfter && !isTest && { cursorAfter: chunk.cursorAfter }),
      ...(chunk.checkpointAfter && { checkpointAfter: chunk.checkpointAfter }),
      ...(chunk.places && { places: chunk.places }),
    }
    if (!chunk.cursorAfter) this.#repeats = null
    this.#cursor = chunk.cursorAfter?.(chunk.rows.length) ?? this.#cursor
    this.#before = chunk.checkpoint
    this.#number += chunk.rows.length
    return segment
  }

  /** A chunk without rows ends a window, or completes the rows that were read before it. */
  #settle(chunk: Chunk, segment: Segment, window: ChunkWindow | undefined): FilledBatch {
    this.#batch.take(chunk, none, undefined, segment, { from: 0, until: 0 }, window)
    const settled = this.#batch.done()
    this.#beginBatch(this.#number)
    return settled
  }

  /** Fills batches with the rows of a chunk that are not confirmed. The last batch stays open if it has room. */
  *#takeRows(rows: MappedRows): Generator<FilledBatch, void, undefined> {
    const { chunk, segment, window, mapped, codes, bytesEach, memoryEach } = rows
    let at = this.#skip
    this.#skip = 0
    const end = Math.min(chunk.rows.length, this.#lastRead + 1 - segment.first)
    while (at < end) {
      const batch = this.#batch
      const bounds = boundsOf(this.#filling.bounds, this.#repeats, this.#exactly !== null)
      const isBounded = this.#exactly === null || (this.#until !== undefined && this.#filling.notesBatches === false)
      const room = () => (isBounded ? Math.floor(roomIn(batch, bounds, rows)) : this.#coveredLeft(bounds))
      const until = Math.min(end, at + Math.max(1, this.#coveredLeft(bounds)))
      const most = endOfStretch(codes, at, Math.max(1, room()), until)
      const stop = batch.kept > 0 ? most : endOfDelivered(codes, at, most)
      const kept = countSent(codes, at, stop)
      batch.take(chunk, mapped, codes, segment, { from: at, until: stop }, window)
      batch.kept += kept
      batch.bytes += kept * bytesEach
      batch.memoryBytes += kept * memoryEach
      at = stop
      // Delivered rows are confirmed before others are sent, so that another crash does not repeat them.
      const isDelivered = batch.kept === 0 && batch.hasDelivered && !codes?.[at]
      // No batch has rows after the end of a window.
      if (room() >= 1 && this.#coveredLeft(bounds) >= 1 && !batch.window?.ends && !isDelivered) continue
      yield batch.done()
      this.#beginBatch(segment.first + at)
      this.#endRepetition()
    }
  }

  /** Number of further records that the batch can cover. */
  #coveredLeft({ rowsMax }: Bounds): number {
    return (this.#exactly ?? this.#repeats ?? Math.max(rowsMax, coveredMax)) - this.#batch.covered
  }

  #beginBatch(first: number, origin?: BatchOrigin): void {
    this.#batch = new BatchBuilder(first, origin)
    this.#exactly = null
  }

  /** The following batches are not repeated ones. */
  #endRepetition(): void {
    this.#repeats = null
    this.#isFixed = this.#reader.fixed === true
  }
}

/** How many rows of a chunk fit into a batch. */
const roomIn = (
  { kept, bytes, memoryBytes }: BatchBuilder,
  { rowsMax, bytesMax }: Bounds,
  { bytesEach, memoryEach }: MappedRows,
): number => Math.min(rowsMax - kept, (bytesMax - bytes) / bytesEach, (memoryBytesMax - memoryBytes) / memoryEach)

/**
 * Bounds of a repeated batch, of this transfer or of another one. Bytes are estimated by the average of each chunk. Chunks can
 * now begin at other rows, so the estimate for the same rows can be higher. The bound is therefore higher, too, but it exists.
 */
function boundsOf(bounds: Bounds, repeats: number | null, comesAgain: boolean): Bounds {
  if (repeats === null && !comesAgain) return bounds
  return { rowsMax: Math.min(bounds.rowsMax, repeats ?? bounds.rowsMax), bytesMax: 4 * bounds.bytesMax }
}

const none: MappedChunk = { rows: [], errors: new Map() }

/** The codes of a chunk, without the codes of rows that the source could not read. */
function skipCodesOf({ skipped }: MappedChunk, { errors }: Chunk): SkipCodes | undefined {
  if (!skipped?.some((code) => code !== 0)) return undefined
  if (!errors?.size) return skipped
  return skipped.map((code, i) => (errors.has(i) ? 0 : code))
}
