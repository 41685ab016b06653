import { hash } from 'node:crypto'
import { type Cell, type Chunk, ConnectorError, type Json, type Row, type SourceReader } from '@penstock/connector'
import { skipCode } from '../../../skipped.ts'
import type { MappedChunk } from '../../filled-batch.ts'
import type { DuplicateKeys } from './duplicate-keys.ts'
import {
  type DuplicateIndexes,
  type DuplicateSettings,
  duplicateIndexes,
  isDecidedInAdvance,
} from './duplicate-settings.ts'
import { hashWords, KeyTable, TooManyKeys } from './key-table.ts'
import { compareOrder, orderBytesOf } from './order-values.ts'

/**
 * Sends one record of each key, and skips the others (docs/decisions/rows-to-send.md). The first record of a key is found while
 * records are read. For all other choices, the source is read in advance, so that the record with the winning value wins wherever
 * it is.
 */

/** A record that was sent: its number, and a part of the hash of its key. */
type SentKey = { readonly number: number; readonly word: number }

/** How many keys were sent up to a record, and the sum of their hashes: stored with the checkpoint. */
type SentKeys = { readonly keys: number; readonly sum: number }

/** Maps a chunk, with everything but duplicates. */
type PlainMapper = (chunk: Chunk) => Promise<{
  readonly mapping: { readonly columns: readonly string[] }
  readonly mapped: MappedChunk
}>

export type DuplicatesDeps = {
  readonly settings: DuplicateSettings
  readonly keys: DuplicateKeys
  /** Names the transfer in the hashes of keys. */
  readonly transferId: string
  /** The checkpoint, and how many records are confirmed. */
  readonly checkpoint: Json | null
  readonly read: number
  readonly testRows: number | null
  /** The columns by which the destination removes rows, if it does. */
  readonly removesBy: readonly string[] | undefined
}

const duplicateCode = skipCode('duplicates')
const numberMax = 2 ** 32 - 1

/** The duplicates of one session of a transfer. */
export class Duplicates {
  readonly #deps: DuplicatesDeps
  readonly #keys: DuplicateKeys
  readonly #table: KeyTable
  readonly #isLeast: boolean
  readonly #winner: DuplicateSettings['winner']
  readonly #stored: SentKeys
  #indexes: DuplicateIndexes | undefined
  /** Keys that were sent and are not confirmed, in the order of the records. */
  #sent: SentKey[] = []
  #confirmed: SentKeys
  /** Records that were found changed after the source was read in advance. */
  #changed = 0
  #holdsCursor = false
  #seesAgain = false
  readonly #hash = new Uint32Array(hashWords)

  constructor(deps: DuplicatesDeps) {
    const { keys, settings, checkpoint } = deps
    this.#deps = deps
    this.#winner = settings.winner
    this.#isLeast = settings.winner === 'Least'
    this.#keys = keys
    const words = settings.winner === 'First' ? 0 : settings.winner === 'Last' ? 2 : 1
    keys.table ??= new KeyTable(words, keys.bytesMax)
    this.#table = keys.table
    keys.owner = this
    this.#stored = storedIn(checkpoint)
    this.#confirmed = this.#stored
  }

  /** Whether the source is read in advance. */
  get #isTwice(): boolean {
    return isDecidedInAdvance(this.#deps.settings)
  }

  /** The number of the last record to send, if the source was read in advance and can grow at its end in the meantime. */
  get lastNumber(): number | null {
    return this.#holdsCursor ? (this.#keys.surveyed ?? null) : null
  }

  /** Whether the cursor of the source is stored only after all records are sent, because a failed transfer must be repeated. */
  get holdsCursor(): boolean {
    return this.#holdsCursor
  }

  /**
   * Reads the source in advance if that is needed.
   * @param open opens the source
   */
  async prepare(open: () => Promise<SourceReader>, map: PlainMapper): Promise<void> {
    const { read } = this.#deps
    const keys = this.#keys
    if (keys.removedUntil > read || (this.#isTwice && !keys.isSurveyed)) keys.clear()
    this.#seesAgain = keys.until < read
    // A session that was interrupted may have seen some of the confirmed records again.
    this.#table.rewind(this.#seesAgain ? 0 : read)
    if (this.#isTwice && !keys.isSurveyed) {
      await this.#survey(open, map)
      keys.isSurveyed = true
    }
    this.#holdsCursor = this.#isTwice && keys.surveyed !== undefined
    if (!this.#seesAgain) keys.until = read
  }

  /** Whether another runner marked the records that are confirmed. Then they must be seen again before others are marked. */
  get seesAgain(): boolean {
    return this.#seesAgain
  }

  /** Marks the confirmed records of a chunk again. @param first the number of its first record */
  seeAgain(chunk: Chunk, mapped: MappedChunk, columns: readonly string[], first: number): MappedChunk {
    const rows = Math.min(this.#deps.read - first + 1, chunk.rows.length)
    return this.#markFrom(0, chunk, mapped, columns, first, rows)
  }

  /**
   * All confirmed records were seen again.
   * @param records how many the source has
   * @throws ConnectorError `source_changed` if it does not have the confirmed records any more
   */
  endAgain(records: number): void {
    const { read } = this.#deps
    this.#confirmed = { keys: 0, sum: 0 }
    this.#changed = 0
    const { keys, sum } = this.confirm(read) as SentKeys
    this.#keys.until = read
    if (records >= read && keys === this.#stored.keys && sum === this.#stored.sum) return
    throw new ConnectorError(
      'source_changed',
      'The source changed while the transfer was interrupted, so it is not known which keys were sent. Start a new transfer.',
      { side: 'Source' },
    )
  }

  /**
   * Skips the duplicates of a chunk.
   * @param first the number of its first record. If it is 1 again before a record is confirmed, the earlier records are forgotten
   */
  mark(chunk: Chunk, mapped: MappedChunk, columns: readonly string[], first: number): MappedChunk {
    if (first === 1) this.restart()
    const from = Math.max(0, this.#deps.read + 1 - first)
    return this.#markFrom(from, chunk, mapped, columns, first)
  }

  /** Forgets which records were marked while no record is confirmed. They are marked again from the first record. */
  restart(): void {
    if (this.#deps.read > 0 || this.#keys.owner !== this) return
    this.#sent = []
    this.#changed = 0
    this.#table.rewind(0)
    this.#keys.until = 0
  }

  /** Updates the state after records up to a number are confirmed. @returns the value to store with the checkpoint */
  confirm(number: number): Json {
    let passed = 0
    let { keys, sum } = this.#confirmed
    for (const sent of this.#sent) {
      if (sent.number > number) break
      keys += 1
      sum = (sum + sent.word) % 2 ** 32
      passed += 1
    }
    this.#sent.splice(0, passed)
    this.#confirmed = { keys, sum }
    return this.#confirmed
  }

  /** A sentence for people if the source changed after it was read in advance; `undefined` if there is no new finding. */
  takeNote(): string | undefined {
    const changed = this.#changed
    this.#changed = 0
    if (changed === 0 || !this.#isTwice) return undefined
    return `The source changed after it was read in advance: ${changed.toLocaleString('en')} records that were not there then are sent as well.`
  }

  /** How many records are sent, for a sentence. */
  get sentence(): string | undefined {
    if (!this.#isTwice) return undefined
    return `The source was read in advance to find duplicates: it has ${this.#table.size.toLocaleString('en')} different keys.`
  }

  /**
   * Call it after the last record was sent.
   * @throws ConnectorError `source_changed` if records to send are gone
   */
  end(): void {
    const missing = this.#isTwice ? this.#table.open : 0
    if (missing === 0) return
    throw new ConnectorError(
      'source_changed',
      `The source changed while it was read twice to find duplicates: ${missing.toLocaleString('en')} records that were to be sent are not there any more, and their keys may be missing at the destination. Start a new transfer.`,
      { side: 'Source' },
    )
  }

  async #survey(open: () => Promise<SourceReader>, map: PlainMapper): Promise<void> {
    const { testRows } = this.#deps
    let grows = false
    let count = 0
    await this.#each(open, testRows, map, (chunk, mapped, columns, rows) => {
      count += rows
      // All rows of a window are sent.
      grows ||= !chunk.window && (chunk.cursorAfter !== undefined || chunk.cursor !== undefined)
      this.#eachKey(chunk, mapped, columns, { from: 0, until: rows }, (at, row) => {
        if (!this.#table.seek(this.#hash)) this.#add()
        if (chunk.removed?.has(at)) this.#forget()
        else if (this.#winner === 'Last') this.#table.digest = digestOf(row)
        else {
          const value = this.#orderOf(chunk, at)
          if (this.#compare(value) > 0) this.#setValue(value)
        }
      })
    })
    if (grows) this.#keys.surveyed = count
  }

  /** Reads and maps records from the first one. @param most maximum number; `null`: all */
  async #each(
    open: () => Promise<SourceReader>,
    most: number | null,
    map: PlainMapper,
    visit: (chunk: Chunk, mapped: MappedChunk, columns: readonly string[], rows: number) => void,
  ): Promise<void> {
    let left = most ?? Number.POSITIVE_INFINITY
    const reader = await open()
    try {
      for await (const chunk of reader.read()) {
        const { mapping, mapped } = await map(chunk)
        const rows = Math.min(left, chunk.rows.length)
        visit(chunk, mapped, mapping.columns, rows)
        left -= rows
        if (left <= 0) break
      }
    } finally {
      await reader.close()
    }
  }

  #markFrom(
    from: number,
    chunk: Chunk,
    mapped: MappedChunk,
    columns: readonly string[],
    first: number,
    until = chunk.rows.length,
  ): MappedChunk {
    if (this.#keys.owner !== this) return mapped
    if (first + until - 1 > numberMax) throw tooMany('records', this.#keys.bytesMax)
    let skipped: Uint8Array | undefined
    this.#eachKey(chunk, mapped, columns, { from, until }, (at, row) => {
      const number = first + at
      if (chunk.removed?.has(at)) {
        this.#keys.removedUntil = number
        if (this.#table.seek(this.#hash)) this.#table.number = 0
      } else if (!this.#wins(number, row, chunk, at)) {
        skipped ??= Uint8Array.from(mapped.skipped ?? new Uint8Array(mapped.rows.length))
        skipped[at] = duplicateCode
      }
    })
    this.#keys.until = Math.max(this.#keys.until, first + until - 1)
    return skipped ? { ...mapped, skipped } : mapped
  }

  /**
   * Selects the key of each record that takes part. Invalid records, records that are skipped for other reasons, and records
   * without a key do not take part.
   */
  #eachKey(
    chunk: Chunk,
    { rows, errors, skipped }: MappedChunk,
    columns: readonly string[],
    { from, until }: { readonly from: number; readonly until: number },
    visit: (at: number, row: Row) => void,
  ): void {
    this.#indexes ??= duplicateIndexes(this.#deps.settings, columns, chunk.columns)
    if (chunk.removed?.size) this.#assertRemovable()
    const { key } = this.#indexes
    for (let at = from; at < until; at += 1) {
      if (errors.has(at) || chunk.errors?.has(at) || (skipped && skipped[at] !== 0)) continue
      const row = rows[at] as Row
      const cells = key ? key.map((index) => row[index] ?? null) : row
      if (cells.every(isEmpty)) continue
      const digest = hash('sha512-256', `${this.#deps.transferId}${JSON.stringify(cells)}`, 'buffer')
      for (let word = 0; word < hashWords; word += 1) this.#hash[word] = digest.readUInt32LE(4 * word)
      // An entry without a last word is free.
      this.#hash[3] = Math.max(1, this.#hash[3] as number)
      visit(at, row)
    }
  }

  /** Whether the record is sent for its key. */
  #wins(number: number, row: Row, chunk: Chunk, at: number): boolean {
    const table = this.#table
    const compares = this.#winner === 'Greatest' || this.#winner === 'Least'
    if (!table.seek(this.#hash)) {
      this.#changed += 1
      this.#add()
      if (this.#winner === 'Last') table.digest = digestOf(row)
      if (compares) this.#setValue(this.#orderOf(chunk, at))
      return this.#send(number)
    }
    // After its last removal, the key had no record when the source was read in advance: then any can be sent.
    const isOpen = this.#winner === 'Last' ? isSame(table.digest, none) : compares && !table.value
    const compared = compares && !isOpen ? this.#compare(this.#orderOf(chunk, at)) : 0
    if (table.number === 0) {
      const wins = this.#winner === 'Last' ? isOpen || isSame(table.digest, digestOf(row)) : compared >= 0
      return wins && this.#send(number)
    }
    if (compared <= 0) return false
    this.#changed += 1
    this.#setValue(this.#orderOf(chunk, at))
    return this.#send(number)
  }

  #send(number: number): true {
    this.#table.number = number
    this.#sent.push({ number, word: this.#hash[0] as number })
    return true
  }

  /** Compares with the value of the selected key. Any value wins against a missing value. */
  #compare(value: Buffer): number {
    const best = this.#table.value
    return best ? compareOrder(value, best, this.#isLeast) : 1
  }

  #orderOf(chunk: Chunk, at: number): Buffer {
    return orderBytesOf(chunk.rows[at]?.[this.#indexes?.column ?? -1])
  }

  /** No record of the key came after its removal. */
  #forget(): void {
    if (this.#winner === 'Last') this.#table.digest = none
    else this.#setValue(undefined)
  }

  #add(): void {
    this.#bounded(() => this.#table.add(this.#hash))
  }

  #setValue(value: Buffer | undefined): void {
    this.#bounded(() => {
      this.#table.value = value
    })
  }

  #bounded(change: () => void): void {
    try {
      change()
    } catch (error) {
      throw error instanceof TooManyKeys ? tooMany('keys', this.#keys.bytesMax) : error
    }
  }

  #assertRemovable(): void {
    const { removesBy, settings } = this.#deps
    const names = settings.keyNames
    if (names && removesBy && names.length === removesBy.length && names.every((name) => removesBy.includes(name)))
      return
    throw new ConnectorError(
      'invalid_setting',
      'The source also reports rows that were removed, so duplicates must have the key columns by which the destination removes rows. Leave "Key of duplicates" empty.',
      { side: 'Destination' },
    )
  }
}

const isEmpty = (cell: Cell): boolean => cell === null || (typeof cell === 'string' && cell.trim() === '')

const none = [0, 0] as const

function digestOf(row: Row): readonly [number, number] {
  const digest = hash('sha512-256', JSON.stringify(row), 'buffer')
  // Two zeros are no digest.
  return [digest.readUInt32LE(0), Math.max(1, digest.readUInt32LE(4))]
}

const isSame = ([a, b]: readonly [number, number], [c, d]: readonly [number, number]): boolean => a === c && b === d

const storedIn = (checkpoint: Json | null): SentKeys =>
  (checkpoint as { sentKeys?: SentKeys } | null)?.sentKeys ?? { keys: 0, sum: 0 }

const tooMany = (what: string, bytesMax: number): ConnectorError =>
  new ConnectorError(
    'invalid_setting',
    `The source has more ${what} than duplicates can be found among with ${Math.round(bytesMax / 2 ** 20).toLocaleString('en')} MiB of memory. Ask your operator for a higher PENSTOCK_RUNNER_MEMORY_MB, or send all records.`,
    { side: 'Destination' },
  )
