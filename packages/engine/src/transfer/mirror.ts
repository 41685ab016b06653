import { type Chunk, ConnectorError, type Row } from '@penstock/connector'
import type { DigestRecords, TransferHost } from '../protocol.ts'
import type { FilledBatch } from './batches.ts'
import { foldKey } from './fold-key.ts'
import { KeyPageWriter, rowsOfPage } from './key-pages.ts'
import { type DigestTable, goneRecord, RowDigester, recordWords, uncertainRecord } from './row-digests.ts'

/**
 * A mirror: rows that left the source are removed at the destination (docs/decisions/0073-mirrors.md). The state has the key of each row
 * that was sent. A key is stored before its row is sent for the first time, and counts until its removal is confirmed.
 */

/** Why a row without a key is rejected. */
export const withoutKey = 'There is no value for the key, by which a mirror finds the row again.'

/** The part of a mirror's work that needs its keys, for one session of a transfer. */
export class Mirror {
  readonly #host: Pick<TransferHost, 'readKeys'>
  readonly #table: DigestTable
  readonly #keyNames: readonly string[]
  readonly #digester: RowDigester
  readonly #record = new Uint32Array(recordWords)
  #chunks = 0
  #valid = 0
  #unknown = 0

  /**
   * @param table the records of the connection: its marks are of keys that the source has
   * @param key of the digests
   * @param keyNames the columns by which the destination removes rows
   */
  constructor(host: Pick<TransferHost, 'readKeys'>, table: DigestTable, key: Buffer, keyNames: readonly string[]) {
    this.#host = host
    this.#table = table
    this.#keyNames = keyNames
    this.#digester = new RowDigester(key, keyNames, undefined, { salt: null, folds: true })
  }

  /** Called with each chunk of the source. Throws `invalid_setting` if it shows that not all rows are read. */
  begin(chunk: Pick<Chunk, 'cursor' | 'cursorAfter' | 'readsAll' | 'removed' | 'window'>): void {
    this.#chunks += 1
    const whyNot = whyNotWhole(chunk)
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
   * The source has a row that is rejected: what the destination has under its key stays.
   * @param key as far as it was mapped; `undefined` if it was not, so that it could be any row
   */
  seeRejected(key: Row | undefined): void {
    if (key && isKey(key)) this.#digester.writeKey(key, this.#record, 0)
    this.see(key ?? [], this.#record, 0)
  }

  /** Begins again, because the source is read again from its beginning. */
  restart(): void {
    this.#chunks = 0
    this.#valid = 0
    this.#unknown = 0
    this.#table.unmark()
  }

  /** How many rows of the source have no key that is known. */
  get unknown(): number {
    return this.#unknown
  }

  /** How many rows with a key the source has. */
  get valid(): number {
    return this.#valid
  }

  /** Throws `invalid_setting` if a source without rows may have been read from where an earlier transfer ended. @param hasCursor whether one left a cursor */
  assertWhole(hasCursor: boolean): void {
    if (hasCursor && this.#chunks === 0) throw notWhole('it continues after an earlier transfer')
  }

  /** How many keys of earlier transfers the source has, and how many it lacks. */
  count(): { readonly stays: number; readonly leaves: number } {
    const { marked, others } = this.#table.countMarked('seen')
    return { stays: marked, leaves: others }
  }

  /**
   * The keys that the source lacks, each once, as rows of the key columns with the records to store when they are gone. Keys that count as
   * one leave together. To be read once.
   */
  async *missing(): AsyncGenerator<{ readonly key: Row; readonly record: readonly number[] }, void, undefined> {
    const others = new Set<string>()
    for await (const { high, low, key } of this.#rows()) {
      if (!this.#table.lacksMark('seen', high, low) || !this.#take(high, low, key, others)) continue
      this.#digester.writeKey(key, this.#record, 0)
      if (this.#record[0] !== high || this.#record[1] !== low)
        throw new Error('A stored key is not the one of its record')
      yield { key, record: goneRecord(high, low) }
    }
  }

  /** All records of the connection with their keys, in pages, without the keys that are gone. It leaves no marks. */
  async *pages(): AsyncGenerator<DigestRecords, void, undefined> {
    const pages = new KeyPageWriter()
    const others = new Set<string>()
    for await (const { high, low, key } of this.#rows()) {
      if (!this.#take(high, low, key, others)) continue
      const page = pages.add(this.#table.recordOf(high, low), key)
      if (page) yield page
    }
    this.#table.unmark()
    const last = pages.flush()
    if (last) yield last
  }

  /** Whether a key comes for the first time. @param others keys that have another form, which came before */
  #take(high: number, low: number, key: Row, others: Set<string>): boolean {
    if (!this.#table.hasKey(high, low)) return false
    if (key.every((cell) => foldKey(cell) === String(cell))) return this.#table.mark('taken', high, low)
    const text = JSON.stringify(key)
    const isNew = !others.has(text)
    others.add(text)
    return isNew
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
      const page = pages.add(
        uncertainRecord(high, low),
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

  async *#rows(): AsyncGenerator<{ readonly high: number; readonly low: number; readonly key: Row }, void, undefined> {
    for (let after = 0; ; ) {
      const read = await this.#host.readKeys(after)
      if (!read) return
      for (const page of read.pages) yield* rowsOfPage(page)
      after = read.last
    }
  }
}

/** Why a source does not give all of its rows, by a chunk of it, as the end of a sentence; `undefined` if it does. */
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
