import {
  asConnectorError,
  type Chunk,
  type ChunkWindow,
  ConnectorError,
  type Destination,
  type Row,
  type Values,
} from '@penstock/connector'
import type { DigestPage, DigestRecords, TransferHost, TransferState } from '../protocol.ts'
import { mirrorsRows, sendsChangedRows } from '../settings.ts'
import { skipCode } from '../skipped.ts'
import type { ChunkMapper, FilledBatch, MappedChunk } from './batches.ts'
import { Mirror, withoutKey } from './mirror.ts'
import { readAhead } from './read-ahead.ts'
import { DigestTable, decodeRecords, encodeRecords, RowDigester, recordWords, uncertainRecord } from './row-digests.ts'

/**
 * Leaves out the rows that the destination has already, by their digests from earlier transfers
 * (docs/decisions/0067-changed-rows.md). The digests are a log of records: the last record of a key counts. Before a row is
 * sent whose key has a record, a record makes the key uncertain; after the destination confirmed the row, a record has its digest.
 */

/** A log with more pages is written again if its pages are small or many of its records are superseded. */
const pagesMax = 64
const pageRecords = 16_384

/**
 * The names of the columns that identify a row; `undefined`: all columns do.
 * @param upsertKeys the key columns of the destination with these settings, if it has some: by another key, rows could be taken for
 *   unchanged that it has replaced
 * @throws ConnectorError `invalid_setting` if no key is named
 */
export function keyOfRows(
  { rowKey }: Values,
  upsertKeys: readonly string[] | undefined,
): readonly string[] | undefined {
  if (upsertKeys) return upsertKeys
  const names = String(rowKey ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length === 1 && names[0] === '*') return undefined
  if (names.length > 0) return names
  throw new ConnectorError(
    'invalid_setting',
    'Only changed rows are sent, but no columns identify a row. Enter them under "Row key", or * for all columns.',
    { side: 'Destination' },
  )
}

/** The indexes of the key columns. Throws a `ConnectorError` if the destination gets no such column. */
function indexesOf(names: readonly string[] | undefined, columns: readonly string[]): readonly number[] | undefined {
  return names?.map((name) => {
    const index = columns.indexOf(name)
    if (index >= 0) return index
    const message = `The row key names the column ${name}, which the destination does not get. Map a column to it, or change the row key.`
    throw new ConnectorError('invalid_setting', message, { side: 'Destination' })
  })
}

/**
 * The columns that identify a row of a mirror.
 * @throws ConnectorError `not_supported` if the destination does not remove rows with these settings
 */
function keyOfMirror({ removesBy }: Pick<Destination, 'removesBy'>, settings: Values): readonly string[] {
  const names = removesBy?.(settings)
  if (names) return names
  const message =
    'A mirror removes rows at the destination, which it does not do with these settings. Select a write mode with a key, such as Upsert, or send new and changed rows.'
  throw new ConnectorError('not_supported', message, { side: 'Destination' })
}

/**
 * The columns that identify a row with these settings of a destination; `undefined`: all of them.
 * @throws ConnectorError if no key is named, or a mirror cannot remove rows
 */
export const keyWith = (deliver: Pick<Destination, 'windowKeys' | 'removesBy'>, settings: Values) =>
  mirrorsRows(settings) ? keyOfMirror(deliver, settings) : keyOfRows(settings, deliver.windowKeys?.(settings))

/**
 * Why a transfer with these settings fails, as a finding of a preview; none if all rows are sent.
 * @param columns that the destination gets
 */
export function keyFindings(
  deliver: Pick<Destination, 'windowKeys' | 'removesBy'> | undefined,
  settings: Values,
  columns: readonly string[],
): { code: 'invalid_setting' | 'not_supported'; message: string; column: null }[] {
  if (!sendsChangedRows(settings) || !deliver) return []
  try {
    indexesOf(keyWith(deliver, settings), columns)
    return []
  } catch (error) {
    const { code, message } = asConnectorError(error) ?? {}
    if (message === undefined) throw error
    return [{ code: code === 'not_supported' ? code : 'invalid_setting', message, column: null }]
  }
}

/** The parts of a transfer that it needs. */
export type ChangedRowsDeps = {
  readonly host: Pick<TransferHost, 'readDigests' | 'readKeys' | 'doubtRows' | 'replaceDigests'>
  readonly state: Pick<TransferState, 'digests' | 'testRows' | 'replay' | 'deliveryStates'>
  /** The columns that identify a row; `undefined`: all of them. */
  readonly keyNames: readonly string[] | undefined
  /** Whether rows that left the source are removed. */
  readonly mirrors: boolean
  /** Called while digests are read. */
  readonly onProgress: () => void
}

/** The digests of a connection, while one session of a transfer works with them. */
export class ChangedRows {
  readonly #host: ChangedRowsDeps['host']
  readonly #key: Buffer
  readonly #salt: string | null
  /** There if rows that left the source are removed. */
  readonly mirror: Mirror | undefined
  /** Whether rows are left out. A test and a replay send all of theirs. */
  readonly #leavesOut: boolean
  readonly #keyNames: readonly string[] | undefined
  #table: DigestTable
  #digester: RowDigester | undefined
  #keyIndexes: readonly number[] | undefined

  private constructor(
    { host, state, keyNames, mirrors }: ChangedRowsDeps,
    digests: NonNullable<TransferState['digests']>,
    table: DigestTable,
  ) {
    this.#host = host
    this.#key = Buffer.from(digests.key, 'base64')
    this.#salt = digests.salt
    this.#table = table
    this.#leavesOut = state.testRows === null && state.replay === null
    this.#keyNames = keyNames
    this.mirror = mirrors && keyNames ? new Mirror(host, table, this.#key, keyNames) : undefined
  }

  /** Reads the digests of a connection; `undefined` if it has none, because all of its rows are sent. */
  static async open(deps: ChangedRowsDeps): Promise<ChangedRows | undefined> {
    const { host, state, onProgress } = deps
    if (!state.digests) return undefined
    const { records } = state.digests
    const table = new DigestTable(records)
    const opened = new ChangedRows(deps, state.digests, table)
    let pages = 0
    let read = 0
    // The supervisor reads the next pages while the records of these go into the table.
    for await (const { item: page } of readAhead(pagesOf(host), 1)) {
      onProgress()
      const found = decodeRecords(page.digests)
      read += found.length / recordWords
      if (read > records) throw new Error('A connection has more digests than it had when the transfer was opened')
      table.fill(found)
      pages += page.pages
    }
    const superseded = read > 1.3 * table.size
    // Rows that the destination may drop if the transfer ends without success must stay apart.
    const isSettled = state.deliveryStates.length === 0
    if (isSettled && pages > pagesMax && (superseded || pages > (4 * read) / pageRecords)) {
      await host.replaceDigests(opened.mirror ? opened.mirror.pages() : certainPages(table))
    }
    return opened
  }

  /**
   * Maps as a mapping does, digests the rows, and skips the ones that the destination has. Rows of a window are all sent.
   * @param chunk the one that is mapped
   * @param window of the chunk, if the destination takes it
   */
  async mapperOf(
    columns: readonly string[],
    map: ChunkMapper,
    chunk: Pick<Chunk, 'cursor' | 'cursorAfter' | 'readsAll' | 'removed' | 'window'>,
    window?: ChunkWindow,
  ): Promise<ChunkMapper> {
    if (this.#leavesOut) this.mirror?.begin(chunk)
    if (window) {
      await this.#clear()
      return map
    }
    this.#keyIndexes ??= indexesOf(this.#keyNames, columns)
    const options = { salt: this.#salt, folds: this.mirror !== undefined }
    this.#digester ??= new RowDigester(this.#key, columns, this.#keyIndexes, options)
    return async (chunk) => this.#mark(chunk, await map(chunk))
  }

  #mark(chunk: Parameters<ChunkMapper>[0], mapped: MappedChunk): MappedChunk {
    const { rows } = mapped
    const digester = this.#digester as RowDigester
    const digests = this.#digestsOf(chunk, mapped)
    let { skipped, errors } = mapped
    let isOwn = false
    this.#table.prefetch(digests)
    for (let i = 0; i < rows.length; i += 1) {
      const at = i * recordWords
      if (digests[at + 1] === 0) continue
      if (this.mirror && !this.mirror.see(digester.keyOf(rows[i] as Row), digests, at)) {
        errors = new Map(errors).set(i, { reason: withoutKey })
        continue
      }
      // The destination has no row with this key afterwards.
      if (chunk.removed?.has(i)) digests.set(uncertainRecord(digests[at] as number, digests[at + 1] as number), at)
      else if (this.#leavesOut && this.#table.hasRow(digests, at)) {
        if (!isOwn) skipped = skipped?.slice() ?? new Uint8Array(rows.length)
        isOwn = true
        ;(skipped as Uint8Array)[i] = unchangedCode
        continue
      }
      this.#table.forget(digests[at] as number, digests[at + 1] as number)
    }
    return { ...mapped, errors, digests, ...(skipped && { skipped }) }
  }

  /** A record for each row that may be sent, and zeros for the others, of which a mirror learns that the source has them. */
  #digestsOf(chunk: Parameters<ChunkMapper>[0], { rows, errors, skipped }: MappedChunk): Uint32Array {
    const digester = this.#digester as RowDigester
    const digests = new Uint32Array(rows.length * recordWords)
    for (const [i, row] of rows.entries()) {
      if (chunk.errors?.has(i)) this.mirror?.seeRejected(undefined)
      // The source has a duplicate, although another record is sent for it.
      if (skipped?.[i] === duplicateCode) this.mirror?.seeRejected(digester.keyOf(row))
      if (chunk.errors?.has(i) || (skipped && skipped[i] !== 0)) continue
      const error = errors.get(i)
      if (!error) digester.write(row, digests, i)
      // Nothing of a row is mapped if its filter fails.
      else this.mirror?.seeRejected(error.field === 'filter' ? undefined : digester.keyOf(row))
    }
    return digests
  }

  /**
   * Stores that it is uncertain what the destination has under the keys of a batch. To be called before the batch is sent.
   * @param settled resolves once the confirmation before it is stored, since pages are stored one after the other
   */
  async doubt({ rows, digests = [], left }: FilledBatch, settled = async (): Promise<void> => {}): Promise<void> {
    if (this.mirror && !left && digests.length > 0) {
      const columns = this.#keyIndexes ?? []
      for (const page of this.mirror.newKeys({ rows, digests, columns })) {
        await settled()
        await this.#host.doubtRows(page)
      }
    }
    const doubts: number[] = []
    for (let at = 0; at < digests.length; at += recordWords) {
      const high = digests[at] as number
      const low = digests[at + 1] as number
      if (left) this.#table.forget(high, low)
      if (this.#table.takeForgotten(high, low)) doubts.push(...uncertainRecord(high, low))
    }
    if (doubts.length === 0) return
    await settled()
    await this.#host.doubtRows({ records: encodeRecords(Uint32Array.from(doubts)), keys: null })
  }

  /** Forgets everything, because the destination removes rows that are missing in a window. */
  async #clear(): Promise<void> {
    if (this.#table.size === 0) return
    await this.#host.replaceDigests([])
    this.#table = new DigestTable(0)
  }
}

const duplicateCode = skipCode('duplicates')
const unchangedCode = skipCode('unchanged')

async function* pagesOf(host: Pick<TransferHost, 'readDigests'>): AsyncGenerator<DigestPage, void, undefined> {
  for (let after = 0; ; ) {
    const page = await host.readDigests(after)
    if (!page) return
    yield page
    after = page.last
  }
}

function* certainPages(table: DigestTable): Generator<DigestRecords, void, undefined> {
  for (const page of table.certain(pageRecords)) yield { records: encodeRecords(page), keys: null }
}
