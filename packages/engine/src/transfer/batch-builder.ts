import type { BatchWindow, Chunk, ChunkWindow, Json, Row } from '@penstock/connector'
import { deliveredCode, type SkipCodes, type SkippedRun } from '../skipped.ts'
import type { FilledBatch, InvalidRow, MappedChunk, Segment } from './filled-batch.ts'
import { RowCollector } from './raw/row-collector.ts'
import { recordWords } from './stages/changed-rows/row-digests.ts'

/** The identity of an announced batch. */
type AnnouncedKey = { readonly key: string; readonly covered: number }

/** Facts about a batch that are known before its first record. */
export type BatchOrigin = {
  readonly announced?: AnnouncedKey | undefined
  readonly notedBy?: string | undefined
  readonly instead?: Json | undefined
}

/** A batch while it is filled. */
export class BatchBuilder {
  readonly #first: number
  readonly #origin: BatchOrigin
  readonly #rows = new RowCollector()
  readonly #raws = new RowCollector()
  readonly #numbers: number[] = []
  readonly #removed = new Set<number>()
  readonly #digests: number[] = []
  readonly #invalid: InvalidRow[] = []
  readonly #unread = new Set<number>()
  readonly #unsent = new Map<number, Row>()
  readonly #skipped: SkippedRun[] = []
  readonly #segments: Segment[] = []
  readonly #delivered = { numbers: [] as number[], raws: [] as Row[], records: [] as number[] }
  #window: BatchWindow | undefined
  /** How many records it covers. */
  covered = 0
  /** Number of records that are not skipped, and their approximate size in the source and in memory. */
  kept = 0
  bytes = 0
  memoryBytes = 0

  /** @param first the number of its first record */
  constructor(first: number, origin: BatchOrigin = {}) {
    this.#first = first
    this.#origin = origin
  }

  get window(): BatchWindow | undefined {
    return this.#window
  }

  /** Whether it covers rows that an announced batch delivered. */
  get hasDelivered(): boolean {
    return this.#delivered.numbers.length > 0
  }

  /**
   * Adds records of a chunk.
   * @param codes of skipped rows; absent if no row of the chunk is skipped
   * @param from index of the first record
   * @param until index before which the records end
   */
  take(
    chunk: Chunk,
    mapped: MappedChunk,
    codes: SkipCodes | undefined,
    segment: Segment,
    { from, until }: { readonly from: number; readonly until: number },
    window?: ChunkWindow,
  ): void {
    this.#segments.push(segment)
    if (codes) this.#skipped.push({ first: segment.first + from, codes: codes.slice(from, until) })
    if (!codes && !chunk.errors?.size && !chunk.removed?.size && !mapped.digests && mapped.errors.size === 0) {
      for (let at = from; at < until; at++) this.#numbers.push(segment.first + at)
      this.#rows.addRange(mapped.rows, from, until)
      this.#raws.addRange(chunk.rows, from, until)
    } else this.#takeSome(chunk, mapped, codes, segment.first, { from, until })
    this.covered += until - from
    if (!window) return
    this.#window = {
      scope: window.scope,
      begins: this.#window?.begins ?? (window.begins && from === 0),
      ends: window.ends && until === chunk.rows.length,
      spoiled: this.#invalid.length > 0,
    }
  }

  /** Adds records, some of which may not be sent. */
  #takeSome(
    chunk: Chunk,
    mapped: MappedChunk,
    codes: SkipCodes | undefined,
    first: number,
    { from, until }: { readonly from: number; readonly until: number },
  ): void {
    const kept: number[] = []
    for (let at = from; at < until; at++) {
      const code = codes ? codes[at] : 0
      if (code === 0 && this.#add(chunk, mapped, first + at, at)) kept.push(at)
      else if (code === deliveredCode) this.#addDelivered(chunk, mapped, first + at, at)
    }
    this.#rows.add(mapped.rows, kept)
    this.#raws.add(chunk.rows, kept)
  }

  /** @param end the place after it, if it was announced up to that place */
  done(end?: Json): FilledBatch {
    const { announced, notedBy, instead } = this.#origin
    const [rows, digests] = [this.#rows.all(), this.#digests]
    return {
      first: this.#first,
      covered: this.covered,
      rows,
      numbers: this.#numbers,
      raws: this.#raws.all(),
      removed: this.#removed,
      invalid: this.#invalid,
      skipped: this.#skipped,
      segments: this.#segments,
      // Rows of some of its chunks can be found by their places.
      ...(rows.length > 0 && digests.length === rows.length * recordWords && { digests }),
      ...(this.#unread.size > 0 && { unread: this.#unread }),
      ...(this.#unsent.size > 0 && { unsent: this.#unsent }),
      ...(this.#window && { window: this.#window }),
      ...(instead !== undefined && { instead }),
      ...(notedBy !== undefined && { notedBy }),
      ...(this.hasDelivered && { delivered: this.#delivered }),
      ...(announced && { announced: { ...announced, ...(end !== undefined && { end }) } }),
    }
  }

  /** Adds a row, or the reason why it is not sent. @returns whether the row is sent */
  #add(chunk: Chunk, mapped: MappedChunk, number: number, at: number): boolean {
    const broken = chunk.errors?.get(at)
    const error: InvalidRow['error'] | undefined = broken === undefined ? mapped.errors.get(at) : { reason: broken }
    const isRemoved = chunk.removed?.has(at) ?? false
    if (error) {
      if (broken !== undefined) this.#unread.add(number)
      else if (!error.isUnmapped) this.#unsent.set(number, mapped.rows[at] as Row)
      this.#invalid.push({ number, raw: chunk.rows[at] as Row, error, ...(isRemoved && { removed: true }) })
      return false
    }
    if (isRemoved) this.#removed.add(this.#numbers.length)
    this.#numbers.push(number)
    if (mapped.digests) addRecord(this.#digests, mapped.digests, at)
    return true
  }

  #addDelivered(chunk: Chunk, { digests }: MappedChunk, number: number, at: number): void {
    this.#delivered.numbers.push(number)
    this.#delivered.raws.push(chunk.rows[at] as Row)
    if (digests) addRecord(this.#delivered.records, digests, at)
  }
}

function addRecord(records: number[], digests: Uint32Array, at: number): void {
  for (let word = at * recordWords; word < (at + 1) * recordWords; word++) records.push(digests[word] as number)
}
