import type { Chunk, ChunkWindow, Row, Values } from '@penstock/connector'
import type { RowMapping } from '../../../map-rows.ts'
import type { Confirmation, DigestPage, DigestRecords, TransferHost, TransferState } from '../../../protocol.ts'
import { mirrorsRows, sendsChangedRows } from '../../../settings.ts'
import { deliveredCode, skipCode } from '../../../skipped.ts'
import type { Rejected } from '../../confirmation.ts'
import type { FilledBatch, MappedChunk } from '../../filled-batch.ts'
import { readAhead } from '../../read-ahead.ts'
import { Mirror, textOfKey, withoutKey } from '../mirror/mirror.ts'
import type { RecoveredRows, WantedRows } from '../repeated-rows/recovered-rows.ts'
import type { Stage, StageResult } from '../stage.ts'
import {
  DigestTable,
  decodeRecords,
  encodeRecords,
  goneRecord,
  RowDigester,
  recordWords,
  refusedRecord,
  uncertainRecord,
} from './row-digests.ts'
import { indexesOf } from './row-keys.ts'

/**
 * Skips the rows that the destination already has, by their digests from earlier transfers (docs/decisions/rows-to-send.md). The
 * digests are a log of records, in which the last record of a key is valid. Before a row is sent whose key has a record, a record
 * marks the key as uncertain. After the destination confirmed the row, a record contains its digest.
 */

/** A log with more pages is written again if its pages are small or many of its records are superseded. */
const pagesMax = 64
const pageRecords = 16_384

/** Rows that the destination has, by their records, and the number of each. */
type DigestsOfRows = { readonly numbers: readonly number[]; readonly records: readonly number[] }

/** The parts of a transfer that it needs. */
export type ChangedRowsDeps = {
  readonly host: Pick<TransferHost, 'readDigests' | 'readKeys' | 'doubtRows' | 'replaceDigests'>
  readonly state: Pick<TransferState, 'digests' | 'testRows' | 'replay' | 'deliveryStates'>
  /** The columns that identify a row; `undefined` means all columns. */
  readonly keyNames: readonly string[] | undefined
  /** The settings of the destination: which rows are sent, and whether rows that left the source are removed. */
  readonly settings: Values
  /** Called while digests are read. */
  readonly onProgress: () => void
  /** The window of a chunk, if the destination supports windows. */
  readonly windowOf?: (chunk: Chunk) => ChunkWindow | undefined
}

/** The digests of a connection, while one session of a transfer uses them. */
export class ChangedRows implements Stage {
  readonly #host: ChangedRowsDeps['host']
  readonly #key: Buffer
  readonly #salt: string | null
  /** There if the keys of rows are kept. */
  readonly mirror: Mirror | undefined
  /** Rows that the destination has from announced batches. */
  recovered: RecoveredRows | undefined
  /**
   * Whether rows are skipped. A test and a replay send all of their rows, and so does a transfer of all rows that keeps the keys
   * of a mirror.
   */
  readonly #leavesOut: boolean
  readonly #keyNames: readonly string[] | undefined
  #table: DigestTable
  #digester: RowDigester | undefined
  #keyIndexes: readonly number[] | undefined
  readonly #windowOf: NonNullable<ChangedRowsDeps['windowOf']>
  /** Rows that the destination has, and that are not confirmed. */
  #unconfirmed: DigestsOfRows[] = []

  private constructor(
    { host, state, keyNames, settings, windowOf = () => undefined }: ChangedRowsDeps,
    digests: NonNullable<TransferState['digests']>,
    table: DigestTable,
  ) {
    this.#host = host
    this.#key = Buffer.from(digests.key, 'base64')
    this.#salt = digests.salt
    this.#table = table
    const isWhole = state.testRows === null && state.replay === null
    this.#leavesOut = isWhole && sendsChangedRows(settings)
    this.#keyNames = keyNames
    this.#windowOf = windowOf
    const removes = isWhole && mirrorsRows(settings)
    this.mirror = digests.keys && keyNames ? new Mirror(host, table, this.#key, keyNames, removes) : undefined
  }

  /** Whether rows that the destination already has are skipped. */
  get leavesOut(): boolean {
    return this.#leavesOut
  }

  /** Reads the digests of a connection; `undefined` if the connection has no digests, because it sends all rows. */
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
    // Rows that the destination may drop if the transfer ends without success must stay separate.
    const isSettled = state.deliveryStates.length === 0
    if (isSettled && pages > pagesMax && (superseded || pages > (4 * read) / pageRecords)) {
      await host.replaceDigests(opened.mirror ? opened.mirror.pages() : certainPages(table))
    }
    return opened
  }

  /** Forgets all rows if the destination supports windows, because all of their rows are sent. */
  async begin({ source, mapping }: Marked): Promise<void> {
    if (this.#windowOf(source)) await this.#clear()
    else this.#openDigester(mapping.columns)
  }

  /** Computes the digests of the rows, and skips rows that the destination already has. Rows of a window are all sent. */
  mark(mapped: MappedChunk, { source }: Pick<Marked, 'source'>): MappedChunk {
    return this.#windowOf(source) ? mapped : this.#mark(source, mapped)
  }

  #openDigester(columns: readonly string[]): RowDigester {
    this.#keyIndexes ??= indexesOf(this.#keyNames, columns)
    const options = { salt: this.#salt, ...(this.mirror && { formOf: textOfKey }) }
    this.#digester ??= new RowDigester(this.#key, columns, this.#keyIndexes, options)
    return this.#digester
  }

  /**
   * Finds the rows of an announced batch in a chunk, if they are not confirmed.
   * @param columns that the destination gets
   * @returns the indexes of the rows in the chunk, and a record for each row
   */
  find(
    wanted: WantedRows,
    columns: readonly string[],
    chunk: Pick<Chunk, 'errors' | 'removed'>,
    { rows, errors, skipped }: MappedChunk,
  ): { readonly indexes: readonly number[]; readonly records: readonly number[] } {
    const digester = this.#openDigester(columns)
    const record = new Uint32Array(recordWords)
    const [indexes, records]: [number[], number[]] = [[], []]
    for (const [i, row] of rows.entries()) {
      const isLeftOut = chunk.errors?.has(i) || chunk.removed?.has(i) || errors.has(i) || (skipped && skipped[i] !== 0)
      if (isLeftOut) continue
      digester.write(row, record, 0)
      if (this.#table.hasRow(record, 0) || !wanted.take(record, 0)) continue
      this.#table.forget(record[0] as number, record[1] as number)
      indexes.push(i)
      records.push(...record)
    }
    return { indexes, records }
  }

  #mark(chunk: Chunk, mapped: MappedChunk): MappedChunk {
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
      if (chunk.removed?.has(i)) {
        const record = this.mirror ? goneRecord : uncertainRecord
        digests.set(record(digests[at] as number, digests[at + 1] as number), at)
      } else if (this.#leavesOut) {
        const hasRow = this.#table.hasRow(digests, at)
        if (hasRow || this.recovered?.take(digests, at)) {
          if (!isOwn) skipped = skipped?.slice() ?? new Uint8Array(rows.length)
          isOwn = true
          ;(skipped as Uint8Array)[i] = hasRow ? unchangedCode : deliveredCode
          continue
        }
      }
      this.#table.forget(digests[at] as number, digests[at + 1] as number)
    }
    return { ...mapped, errors, digests, ...(skipped && { skipped }) }
  }

  /**
   * A record for each row that may be sent, and zeros for other rows. A mirror learns from the records which rows the source has.
   */
  #digestsOf(chunk: Chunk, { rows, errors, skipped }: MappedChunk): Uint32Array {
    const digester = this.#digester as RowDigester
    const digests = new Uint32Array(rows.length * recordWords)
    for (const [i, row] of rows.entries()) {
      if (chunk.errors?.has(i)) this.mirror?.seeRejected(undefined)
      // The source has a duplicate, although another record is sent for it.
      if (skipped?.[i] === duplicateCode) this.mirror?.seeDuplicate(digester.keyOf(row))
      if (chunk.errors?.has(i) || (skipped && skipped[i] !== 0)) continue
      const error = errors.get(i)
      if (!error) digester.write(row, digests, i)
      else this.mirror?.seeRejected(error.isUnmapped ? undefined : digester.keyOf(row))
    }
    return digests
  }

  /**
   * Records that the values of the destination under the keys of a batch are uncertain.
   * @param settled resolves after the previous confirmation is stored, because pages are stored one after the other
   */
  async sending({ rows, digests = [], left }: FilledBatch, settled = async (): Promise<void> => {}): Promise<void> {
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
      const digest = digests[at + 3] === 0 ? undefined : digests[at + 2]
      if (this.#table.takeForgotten(high, low, digest)) doubts.push(...uncertainRecord(high, low))
    }
    if (doubts.length === 0) return
    await settled()
    await this.#host.doubtRows({ records: encodeRecords(Uint32Array.from(doubts)), keys: null })
  }

  /** Learns which rows of a batch the destination has. */
  added({ batch, isDelivered }: Pick<StageResult, 'batch' | 'isDelivered'>): undefined {
    const digests = batch && digestsIn(batch, isDelivered)
    if (digests) this.#unconfirmed.push(digests)
  }

  /** Confirms rows that the destination has from an announced batch, and that were not read again. */
  keep(records: readonly number[]): void {
    this.#unconfirmed.push({ numbers: Array.from({ length: records.length / recordWords }, () => 0), records })
  }

  /** Adds the digests of the rows that the destination has now. */
  confirming(confirmation: Confirmation, rejects: readonly Rejected[]): Confirmation {
    const digests = digestsOf(this.#unconfirmed, rejects)
    this.#unconfirmed = []
    return { ...confirmation, digests }
  }

  /** Forgets everything, because the destination removes rows that are missing in a window. */
  async #clear(): Promise<void> {
    if (this.#table.size === 0) return
    await this.#host.replaceDigests([])
    this.#table = new DigestTable(0)
  }
}

/** A chunk whose rows are marked. */
type Marked = { readonly source: Chunk; readonly mapping: Pick<RowMapping, 'columns'> }

/** The digests of the rows that a batch delivered, and of the rows that the destination already had. */
function digestsIn({ numbers, digests, announced, delivered }: FilledBatch, isDelivered: boolean) {
  // A batch that was announced before may be at the destination with its earlier rows.
  const own = isDelivered && digests && !announced ? { numbers, records: digests } : undefined
  if (!own || !delivered) return own ?? delivered
  // The last record of a key counts.
  const all = [own, delivered].flatMap((some) =>
    some.numbers.map((number, i) => ({ number, record: some.records.slice(i * recordWords, (i + 1) * recordWords) })),
  )
  all.sort((a, b) => a.number - b.number)
  return { numbers: all.map(({ number }) => number), records: all.flatMap(({ record }) => record) }
}

/**
 * The digests of the rows that the destination accepted, and the keys of the rejected rows; nothing if it did not report which
 * rows it rejected.
 */
function digestsOf(all: readonly DigestsOfRows[], rejects: readonly Rejected[]): string | null {
  if (rejects.some(({ row }) => row === null)) return null
  const rejected = new Set(rejects.map(({ row }) => row))
  const records = all.flatMap((digests) => {
    if (rejected.size === 0) return digests.records
    return digests.numbers.flatMap((number, i) =>
      rejected.has(number)
        ? refusedOf(digests.records, i)
        : digests.records.slice(i * recordWords, (i + 1) * recordWords),
    )
  })
  return records.length === 0 ? null : encodeRecords(Uint32Array.from(records))
}

/** A rejected removal changes nothing: the row stays. */
const refusedOf = (records: readonly number[], i: number): readonly number[] => {
  const [high = 0, low = 0, digest = 0, last = 0] = records.slice(i * recordWords, (i + 1) * recordWords)
  return last === 0 ? [] : refusedRecord(high, low, digest)
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
