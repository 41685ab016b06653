import { createHmac, hash } from 'node:crypto'
import type { Cell, Row } from '@penstock/connector'
import { recordBytes } from '../../../protocol.ts'

/**
 * Digests of rows, by which a transfer recognises rows that its destination already has (docs/decisions/rows-to-send.md). A
 * record is 16 bytes: 8 of the key of a row, 8 of the row. Both are SHA-512/256 of a secret and the values, shortened: a record
 * reveals nothing without the key of the connection. A truncated hash cannot be extended, so HMAC is not needed, which would take
 * four times as long.
 */

/** Numbers of 32 bits of a record. */
export const recordWords = 4

/** The last word of a record whose key is uncertain: the values of the destination under it are not known. */
const uncertain = 0
/** The same of a key that became uncertain in this session, and is not stored as that. */
const forgotten = 1
/** The word before an uncertain one, if the destination no longer has a row with the key. */
const gone = 1
/** The same of a new key, with a part of the digest of its row: if this row is rejected, the destination has no row of the connection with the key. */
const fresh = 2
/** The same for a rejected row. It is relevant for a key only if it is the first row of a fresh key. */
const refused = 3
/** The bits of that word that contain its meaning. The other bits belong to the digest. */
const meaningBits = 3
const marked = (digest: number, meaning: number): number => ((digest & ~meaningBits) | meaning) >>> 0

/** Creates the records of rows with certain columns. */
export class RowDigester {
  /** Secrets of 64 hexadecimal characters, derived from the key with HMAC-SHA-256. */
  readonly #key: string
  readonly #row: string
  readonly #keyIndexes: readonly number[] | undefined
  readonly #formOf: ((cell: Cell) => Cell) | undefined

  /**
   * @param key of the connection, 32 bytes
   * @param columns that the destination gets: the same values in other columns are a different row
   * @param keyIndexes of the columns that identify a row; `undefined`: all columns
   * @param options.salt changes the digest of every row, but of no key; `null`: no salt
   * @param options.formOf the form in which a cell of a key is compared; by default unchanged
   */
  constructor(
    key: Buffer,
    columns: readonly string[],
    keyIndexes: readonly number[] | undefined,
    { salt, formOf }: { readonly salt: string | null; readonly formOf?: (cell: Cell) => Cell },
  ) {
    const derived = (purpose: string, names: readonly string[]) =>
      createHmac('sha256', key)
        .update(JSON.stringify([purpose, names]))
        .digest('hex')
    const keyColumns = keyIndexes?.map((index) => columns[index] as string) ?? columns
    this.#key = derived('key', keyColumns)
    this.#row = derived('row', salt === null ? columns : [salt, ...columns])
    this.#keyIndexes = keyIndexes
    this.#formOf = formOf
  }

  /** The cells by which a row is found again. */
  keyOf(row: Row): Row {
    return this.#keyIndexes ? this.#keyIndexes.map((index) => row[index] ?? null) : row
  }

  /** Writes the first half of the record of a row with these cells of its key. @param at index of the record */
  writeKey(key: Row, into: Uint32Array, at: number): void {
    writeHalf(this.#key, this.#formOf ? key.map(this.#formOf) : key, into, at * recordWords)
  }

  /** Writes the record of a row. @param at index of the record in `into` */
  write(row: Row, into: Uint32Array, at: number): void {
    this.writeKey(this.keyOf(row), into, at)
    writeHalf(this.#row, row, into, at * recordWords + 2)
  }
}

/**
 * Writes the record of a row that is identified by all of its values, with a single digest.
 * @param secret a text with the names of the columns that no value can contain
 * @param at index of the record among the records of `into`
 */
export function writeWhole(secret: string, row: Row, into: Uint32Array, at: number): void {
  const begin = at * recordWords
  writeHalf(secret, row, into, begin)
  into.copyWithin(begin + 2, begin, begin + 2)
}

function writeHalf(secret: string, cells: Row, into: Uint32Array, at: number): void {
  // Creating a buffer for each digest would take longer than the digest itself.
  const digest = hash('sha512-256', secret + JSON.stringify(cells), 'binary')
  into[at] = wordIn(digest, 0)
  // The smallest numbers have special meanings.
  into[at + 1] = Math.max(2, wordIn(digest, 4) >>> 0)
}

/** A number of 4 bytes, least significant first, which can be negative. */
const wordIn = (bytes: string, at: number): number =>
  bytes.charCodeAt(at) |
  (bytes.charCodeAt(at + 1) << 8) |
  (bytes.charCodeAt(at + 2) << 16) |
  (bytes.charCodeAt(at + 3) << 24)

/** The record that marks a key as uncertain. */
export const uncertainRecord = (high: number, low: number): readonly number[] => [high, low, 0, uncertain]

/**
 * The record that marks a key as uncertain of which no row was sent before. @param digest the third number of the record of its
 * row
 */
export const freshRecord = (high: number, low: number, digest: number): readonly number[] => [
  high,
  low,
  marked(digest, fresh),
  uncertain,
]

/** The record of a key whose row the destination rejected. @param digest the third number of the record of the row */
export const refusedRecord = (high: number, low: number, digest: number): readonly number[] => [
  high,
  low,
  marked(digest, refused),
  uncertain,
]

/** The record of a key that a mirror removed. */
export const goneRecord = (high: number, low: number): readonly number[] => [high, low, gone, uncertain]

/** Words of the records whose slots are prefetched together: 256 cache lines are a small part of the cache. */
const prefetchedWords = 256 * recordWords

/** Of keys that the source has, and of keys that were taken from pages. */
export type Mark = 'seen' | 'taken'

/**
 * The records of a connection in memory, found by key: 16 bytes for each slot, and a quarter more slots than records. Its keys do
 * not change after it is filled, but the information about their rows does.
 */
export class DigestTable {
  readonly #slots: Uint32Array
  readonly #capacity: number
  /** A bit for each slot and kind of mark, once there are marks. */
  #marks: { [Kind in Mark]?: Uint8Array } = {}
  #size = 0
  // biome-ignore lint/correctness/noUnusedPrivateClassMembers: V8 can remove a read whose result is not kept.
  #fetched = 0

  /** @param records maximum number of records */
  constructor(records: number) {
    this.#capacity = Math.max(16, Math.ceil(records * 1.25))
    this.#slots = new Uint32Array(this.#capacity * recordWords)
  }

  /** How many keys it has, certain or not. */
  get size(): number {
    return this.#size
  }

  /**
   * Adds records in their order: the last record of a key is valid. A fresh or refused record keeps the information that the
   * destination may have a row.
   */
  fill(records: Uint32Array): void {
    const slots = this.#slots
    let added = 0
    for (let from = 0; from < records.length; from += prefetchedWords) {
      const some = records.subarray(from, from + prefetchedWords)
      this.prefetch(some)
      for (let at = 0; at + 3 < some.length; at += recordWords) {
        const slot = this.#find(some[at] as number, some[at + 1] as number)
        if (slots[slot + 1] === 0) added += 1
        const before = slots[slot + 1] === 0 ? gone : this.#uncertaintyOf(slot)
        for (let word = 0; word < recordWords; word += 1) slots[slot + word] = some[at + word] as number
        slots[slot + 2] = this.#settled(slot, before)
      }
    }
    this.#size += added
  }

  /**
   * Loads the slots of some records into the cache of the processor, because they are at random places of the memory. The
   * processor reads many of them concurrently here, but only a few while rows are hashed or records are written.
   * @param records whole records, some thousands: those of one chunk
   */
  prefetch(records: Uint32Array): void {
    const slots = this.#slots
    let words = 0
    for (let at = 0; at < records.length; at += recordWords) {
      words ^= slots[this.#homeOf(records[at] as number)] as number
    }
    this.#fetched = words
  }

  /** Whether it has records of this key, although the destination may no longer have a row with it. */
  knows(high: number, low: number): boolean {
    return this.#slots[this.#find(high, low) + 1] !== 0
  }

  /** Turns a key that is gone into a fresh key, which the source has. @param digest as in `freshRecord` */
  renew(high: number, low: number, digest: number): void {
    const slot = this.#find(high, low)
    if (this.#slots[slot + 1] === 0 || this.#mayHave(slot)) return
    this.#slots[slot + 2] = marked(digest, fresh)
    this.mark('seen', high, low)
  }

  /** Whether the destination may have a row with this key. */
  hasKey(high: number, low: number): boolean {
    return this.#mayHave(this.#find(high, low))
  }

  /** Marks a key that it contains. Returns whether it contains the key, and the key was not marked before. */
  mark(kind: Mark, high: number, low: number): boolean {
    const slot = this.#find(high, low)
    if (!this.#mayHave(slot)) return false
    this.#marks[kind] ??= new Uint8Array(Math.ceil(this.#capacity / 8))
    const marks = this.#marks[kind]
    const at = slot / recordWords
    const byte = marks[at >> 3] as number
    const bit = 1 << (at & 7)
    marks[at >> 3] = byte | bit
    return (byte & bit) === 0
  }

  /** Whether it has a key that is not marked. */
  lacksMark(kind: Mark, high: number, low: number): boolean {
    const slot = this.#find(high, low)
    return this.#mayHave(slot) && !this.#isMarked(kind, slot / recordWords)
  }

  /** Whether it has a key that is marked. */
  hasMark(kind: Mark, high: number, low: number): boolean {
    const slot = this.#find(high, low)
    return this.#mayHave(slot) && this.#isMarked(kind, slot / recordWords)
  }

  /** Removes all marks. */
  unmark(): void {
    this.#marks = {}
  }

  /** Number of marked keys, and of other keys, that the destination may have. */
  countMarked(kind: Mark): { readonly marked: number; readonly others: number } {
    let [marked, others] = [0, 0]
    for (let at = 0; at < this.#capacity; at += 1) {
      if (!this.#mayHave(at * recordWords)) continue
      if (this.#isMarked(kind, at)) marked += 1
      else others += 1
    }
    return { marked, others }
  }

  /** The record of a key; its row is uncertain if it is not known. */
  recordOf(high: number, low: number): readonly number[] {
    const slot = this.#find(high, low)
    const [first, second] = [this.#slots[slot + 2] as number, this.#slots[slot + 3] as number]
    if (second === uncertain && (first & meaningBits) === fresh) return freshRecord(high, low, first)
    return second <= forgotten ? uncertainRecord(high, low) : [high, low, first, second]
  }

  /** Whether the destination has this row under its key, as far as is certain. */
  hasRow(record: Uint32Array, at: number): boolean {
    const slot = this.#find(record[at] as number, record[at + 1] as number)
    return this.#slots[slot + 2] === record[at + 2] && this.#slots[slot + 3] === record[at + 3]
  }

  /** Makes a known key uncertain. From then on, each row with this key is treated as changed. */
  forget(high: number, low: number): void {
    const slot = this.#find(high, low)
    if (this.#slots[slot + 1] === 0 || this.#slots[slot + 3] === uncertain) return
    this.#slots[slot + 2] = 0
    this.#slots[slot + 3] = forgotten
  }

  /**
   * Whether a key became uncertain and this is not stored yet, or whether a row other than the first one is sent for a fresh key.
   * From then on it is treated as stored.
   * @param digest as in `freshRecord`; `undefined` if the row is removed
   */
  takeForgotten(high: number, low: number, digest: number | undefined): boolean {
    const slot = this.#find(high, low)
    const [first, second] = [this.#slots[slot + 2] as number, this.#slots[slot + 3]]
    const isFresh = second === uncertain && (first & meaningBits) === fresh
    const isOther = isFresh && digest !== undefined && first !== marked(digest, fresh)
    if (this.#slots[slot + 1] === 0 || (second !== forgotten && !isOther)) return false
    this.#slots[slot + 2] = 0
    this.#slots[slot + 3] = uncertain
    return true
  }

  /** All records whose row is certain, in arrays of limited length. */
  *certain(recordsMax: number): Generator<Uint32Array, void, undefined> {
    const slots = this.#slots
    let page = new Uint32Array(recordsMax * recordWords)
    let filled = 0
    for (let slot = 0; slot < slots.length; slot += recordWords) {
      if ((slots[slot + 3] as number) <= forgotten) continue
      page.set(slots.subarray(slot, slot + recordWords), filled)
      filled += recordWords
      if (filled < page.length) continue
      yield page
      page = new Uint32Array(recordsMax * recordWords)
      filled = 0
    }
    if (filled > 0) yield page.subarray(0, filled)
  }

  #isMarked(kind: Mark, at: number): boolean {
    return (((this.#marks[kind]?.[at >> 3] ?? 0) >> (at & 7)) & 1) === 1
  }

  /** The third word of an uncertain key: 0, gone, or the third word of a fresh key. */
  #uncertaintyOf(slot: number): number {
    return this.#slots[slot + 3] === uncertain ? (this.#slots[slot + 2] as number) : 0
  }

  /** The third word of a slot that was just filled. @param before the previous knowledge about its key */
  #settled(slot: number, before: number): number {
    const now = this.#slots[slot + 2] as number
    if (this.#slots[slot + 3] !== uncertain) return now
    const isUnsent = before === gone
    const wasFresh = (before & meaningBits) === fresh
    // The row was sent again, and was rejected before as well.
    if ((now & meaningBits) === refused) return isUnsent || before === marked(now, fresh) ? gone : 0
    if ((now & meaningBits) === fresh) return isUnsent ? now : wasFresh ? before : 0
    return now
  }

  #mayHave(slot: number): boolean {
    const slots = this.#slots
    return slots[slot + 1] !== 0 && !(slots[slot + 2] === gone && slots[slot + 3] === uncertain)
  }

  /** The slot where the search for a key begins. */
  #homeOf(high: number): number {
    return Math.floor((high / 2 ** 32) * this.#capacity) * recordWords
  }

  /** The slot of a key, or the free slot for it. */
  #find(high: number, low: number): number {
    const slots = this.#slots
    let slot = this.#homeOf(high)
    while (slots[slot + 1] !== 0 && (slots[slot] !== high || slots[slot + 1] !== low)) {
      slot += recordWords
      if (slot === slots.length) slot = 0
    }
    return slot
  }
}

/** Records as a message has them: base64 of their words, least significant byte first. */
export const encodeRecords = (records: Uint32Array): string =>
  Buffer.from(records.buffer, records.byteOffset, records.byteLength).toString('base64')

/** The records of a message. */
export function decodeRecords(text: string): Uint32Array {
  const bytes = Buffer.from(text, 'base64')
  const copy = new Uint8Array(bytes.length - (bytes.length % recordBytes))
  copy.set(bytes.subarray(0, copy.length))
  return new Uint32Array(copy.buffer)
}
