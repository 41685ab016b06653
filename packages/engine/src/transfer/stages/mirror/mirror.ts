import { type Cell, type Chunk, ConnectorError, type Row, type SourceReader } from '@penstock/connector'
import type { DigestRecords, TransferHost } from '../../../protocol.ts'
import type { FilledBatch } from '../../filled-batch.ts'
import { type DigestTable, freshRecord, RowDigester, recordWords } from '../changed-rows/row-digests.ts'
import { KeyPageWriter, rowsOfPage } from './key-pages.ts'

/**
 * A mirror: rows that left the source are removed at the destination (docs/decisions/rows-to-send.md). The state has the key of each row
 * that was sent. A key is stored before its row is sent for the first time, and counts until its removal is confirmed.
 */

/** Why a row without a key is rejected. */
export const withoutKey = 'There is no value for the key, by which a mirror finds the row again.'

/**
 * The form in which a cell of a key is compared: a source may return a number as a text. Other notations of a value are different
 * keys.
 */
export const textOfKey = (cell: Cell): string | null => (cell === null ? null : String(cell))

/** Keys of rejected rows that are kept, so that no row is removed that has such a key in another notation. */
const rejectedMax = 100_000

/** A key with the first numbers of its record. */
export type FoundKey = { readonly key: Row; readonly high: number; readonly low: number }

/** The part of a mirror's work that needs its keys, for one session of a transfer. */
export class Mirror {
  readonly #host: Pick<TransferHost, 'readKeys'>
  readonly #table: DigestTable
  readonly #keyNames: readonly string[]
  /** Whether rows that were removed from the source are removed. A transfer that only keeps the keys removes nothing. */
  readonly removes: boolean
  readonly #digester: RowDigester
  readonly #record = new Uint32Array(recordWords)
  #follows: SourceReader['follows']
  #chunks = 0
  #valid = 0
  #unknown = 0
  /** Keys of rejected rows that the state does not have. */
  #rejected: Row[] = []

  /**
   * @param table the records of the connection; keys that the source has are marked in it
   * @param key of the digests
   * @param keyNames the columns by which the destination removes rows
   * @param removes whether this transfer removes rows
   */
  constructor(
    host: Pick<TransferHost, 'readKeys'>,
    table: DigestTable,
    key: Buffer,
    keyNames: readonly string[],
    removes: boolean,
  ) {
    this.removes = removes
    this.#host = host
    this.#table = table
    this.#keyNames = keyNames
    this.#digester = new RowDigester(key, keyNames, undefined, { salt: null, formOf: textOfKey })
  }

  /** Whether the whole source is read, so that missing rows can be found. False if it continues with changes. */
  get isWhole(): boolean {
    return this.#follows !== 'changes'
  }

  /** Called when the source is opened, before its first chunk. */
  open({ follows }: Pick<SourceReader, 'follows'>): void {
    this.#follows = follows
  }

  /** Whether the cursor is stored only once rows are removed. */
  get holdsCursor(): boolean {
    return this.removes && this.#follows === 'whole'
  }

  /** Called with each chunk of the source. Throws `invalid_setting` if it shows that not all rows are read. */
  begin(chunk: Pick<Chunk, 'cursor' | 'cursorAfter' | 'readsAll' | 'removed' | 'window'>): void {
    this.#chunks += 1
    const whyNot = this.#follows || !this.removes ? undefined : whyNotWhole(chunk)
    if (whyNot !== undefined) throw notWhole(whyNot)
  }

  /** The source has a row with this key. @returns false if it is no key: then it could be any row */
  see(key: Row, record: Uint32Array, at: number): boolean {
    if (!isKey(key)) {
      this.#unknown += 1
      return false
    }
    this.#valid += 1
    this.#table.mark('seen', record[at] as number, record[at + 1] as number)
    return true
  }

  /**
   * The source has a row that is rejected. The row under its key at the destination stays.
   * @param key as far as it was mapped; `undefined` if it was not mapped, so that it could be any row
   */
  seeRejected(key: Row | undefined): void {
    if (key && isKey(key)) this.#digester.writeKey(key, this.#record, 0)
    if (!this.see(key ?? [], this.#record, 0) || !key) return
    const [high = 0, low = 0] = this.#record
    if (!this.removes || this.#table.size === 0 || this.#table.hasKey(high, low)) return
    if (this.#rejected.length < rejectedMax) this.#rejected.push(key)
    else this.#unknown += 1
  }

  /** Begins again, because the source is read again from its beginning. */
  restart(): void {
    this.#chunks = 0
    this.#valid = 0
    this.#unknown = 0
    this.#rejected = []
    this.#table.unmark()
  }

  /** Number of rows of the source whose key is unknown. */
  get unknown(): number {
    return this.#unknown
  }

  /** How many rows with a key the source has. */
  get valid(): number {
    return this.#valid
  }

  /**
   * Throws `invalid_setting` if a source without rows may have been read from the end of an earlier transfer. @param hasCursor
   * whether an earlier transfer stored a cursor
   */
  assertWhole(hasCursor: boolean): void {
    if (hasCursor && this.#chunks === 0) throw notWhole('it continues after an earlier transfer')
  }

  /** How many keys of earlier transfers the source has, and how many it lacks. */
  count(): { readonly stays: number; readonly leaves: number } {
    const { marked, others } = this.#table.countMarked('seen')
    return { stays: marked, leaves: others }
  }

  /** The source has a row with this key that is a duplicate of another row, which is sent. */
  seeDuplicate(key: Row): void {
    if (isKey(key)) this.#digester.writeKey(key, this.#record, 0)
    this.see(key, this.#record, 0)
  }

  /** Whether a key is taken for the first time. */
  take({ high, low }: Pick<FoundKey, 'high' | 'low'>): boolean {
    return this.#table.mark('taken', high, low)
  }

  /** The keys that the source lacks. A key can come twice. */
  async *missing(): AsyncGenerator<FoundKey, void, undefined> {
    for await (const found of this.#keys()) {
      if (!this.#table.lacksMark('seen', found.high, found.low)) continue
      this.#digester.writeKey(found.key, this.#record, 0)
      if (this.#record[0] !== found.high || this.#record[1] !== found.low)
        throw new Error('A stored key is not the one of its record')
      yield found
    }
  }

  /**
   * The keys that the source has, in any order. A key can be repeated. Keys of rejected rows have no numbers, unless the state
   * contains them.
   */
  async *present(): AsyncGenerator<FoundKey | { readonly key: Row; readonly high?: undefined }, void, undefined> {
    for (const key of this.#rejected) yield { key }
    for await (const found of this.#keys()) {
      const { high, low } = found
      // A key that this session stored first is not in the table.
      if (this.#table.hasMark('seen', high, low) || !this.#table.knows(high, low)) yield found
    }
  }

  /** All records of the connection with their keys, in pages, without the keys that are gone. Removes all marks. */
  async *pages(): AsyncGenerator<DigestRecords, void, undefined> {
    const pages = new KeyPageWriter()
    for await (const { high, low, key } of this.#keys()) {
      if (!this.take({ high, low })) continue
      const page = pages.add(this.#table.recordOf(high, low), key)
      if (page) yield page
    }
    this.#table.unmark()
    const last = pages.flush()
    if (last) yield last
  }

  /** The keys of a batch that the state does not have yet, in pages to store before it is sent. */
  *newKeys({
    rows,
    columns,
    digests = [],
  }: Pick<FilledBatch, 'rows' | 'digests'> & { readonly columns: readonly number[] }) {
    const pages = new KeyPageWriter()
    for (const [i, row] of rows.entries()) {
      const high = digests[i * recordWords] as number
      const low = digests[i * recordWords + 1] as number
      if (this.#table.hasKey(high, low)) continue
      const digest = digests[i * recordWords + 2] as number
      this.#table.renew(high, low, digest)
      const page = pages.add(
        freshRecord(high, low, digest),
        columns.map((index) => row[index] ?? null),
      )
      if (page) yield page
    }
    const last = pages.flush()
    if (last) yield last
  }

  /** The columns by which the destination removes rows. */
  get keyNames(): readonly string[] {
    return this.#keyNames
  }

  async *#keys(): AsyncGenerator<FoundKey, void, undefined> {
    for (let after = 0; ; ) {
      const read = await this.#host.readKeys(after)
      if (!read) return
      for (const page of read.pages) yield* rowsOfPage(page)
      after = read.last
    }
  }
}

/** Why a source does not return all of its rows, by one of its chunks, as the end of a sentence; `undefined` if it does. */
export function whyNotWhole({
  cursor,
  cursorAfter,
  readsAll,
  removed,
  window,
}: Pick<Chunk, 'cursor' | 'cursorAfter' | 'readsAll' | 'removed' | 'window'>): string | undefined {
  if (removed) return 'it gives changes'
  if (window) return 'it gives the rows of a window of time'
  if (cursorAfter || (cursor !== undefined && !readsAll)) return 'it reads incrementally'
  return undefined
}

const notWhole = (whyNot: string): ConnectorError =>
  new ConnectorError(
    'invalid_setting',
    `A mirror needs a source that gives all of its rows in each transfer, but ${whyNot}. Nothing was removed. Have the source read everything, or send new and changed rows.`,
    { side: 'Destination' },
  )

const isKey = (key: Row): boolean => key.length > 0 && key.every((cell) => cell !== null && cell !== '')
