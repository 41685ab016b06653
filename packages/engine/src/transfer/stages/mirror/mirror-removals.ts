import { type Chunk, ConnectorError, type Row } from '@penstock/connector'
import type { TransferHost, TransferJob, TransferState } from '../../../protocol.ts'
import { beginning, type Checkpoint, type ChunkMapper, type FilledBatch } from '../../filled-batch.ts'
import type { Sides } from '../../sides.ts'
import { encodeRecords, goneRecord, recordWords, uncertainRecord } from '../changed-rows/row-digests.ts'
import type { Mirror } from './mirror.ts'
import { type HeldKeys, heldKeys, idOf, type NameKeys } from './mirror-notations.ts'

/** Maximum rows of a removal that are sent together, even if the destination accepts more. */
const rowsAtOnceMax = 10_000

/** The parts of a session that the removal of rows needs. */
export type RemovalDeps = {
  readonly host: Pick<TransferHost, 'reportLine' | 'doubtRows'>
  readonly job: Pick<TransferJob, 'replaceShareMin'>
  /** As it was when the session began. */
  readonly state: Pick<TransferState, 'range' | 'read' | 'checkpoint' | 'confirmed' | 'cursor'>
  readonly sides: Pick<Sides, 'bounds' | 'columns' | 'openReader'>
  readonly signal: AbortSignal
  readonly mapperFor: (chunk: Chunk) => Promise<ChunkMapper>
  /** The records that are confirmed, and the checkpoint after them. */
  readonly confirmed: { readonly read: number; readonly checkpoint: Checkpoint | null }
  readonly onProgress: () => void
  readonly nameKeys: NameKeys
  /** Resolves once the last confirmation is stored. */
  readonly settled: () => Promise<void>
}

/**
 * The rows that a mirror removes, in batches that are numbered after the records of the source. Call it after all of these are
 * confirmed. A session that did not read the whole source reads it again. Rows that have two notations of a key are sent again.
 * @throws ConnectorError `confirmation_needed` before the first batch, if too few rows would be left
 */
export async function* removalsOf(mirror: Mirror, deps: RemovalDeps): AsyncGenerator<FilledBatch, void, undefined> {
  const { state, job, host, sides, confirmed, onProgress } = deps
  if (!mirror.removes || state.range || !mirror.isWhole) return
  if (state.read > 0 || state.checkpoint !== null) await readAgain(mirror, deps)
  mirror.assertWhole(state.cursor !== null)
  const { stays, leaves: all } = mirror.count()
  if (all === 0) return
  if (mirror.unknown > 0) return await host.reportLine({ side: null, text: notRemoved(mirror.unknown, all) })
  const held = await heldKeys(mirror, deps.nameKeys, onProgress)
  const leaves = all - held.held.size
  if (leaves > 0 && !state.confirmed) assertEnoughStays(stays + held.held.size, leaves, job.replaceShareMin)
  const batches = new BehindSource(sides, confirmed)
  yield* sentAgain(held, batches, deps)
  if (held.isPartial) return await host.reportLine({ side: null, text: notAll })
  const places = sides.columns.map((name) => mirror.keyNames.indexOf(name))
  for await (const found of mirror.missing()) {
    onProgress()
    if (held.held.has(idOf(found)) || !mirror.take(found)) continue
    const row = places.map((place) => found.key[place] ?? null)
    const full = batches.add({ row, raw: row, record: goneRecord(found.high, found.low) }, 'removed')
    if (full) yield full
  }
  const last = batches.flush('removed')
  if (last) yield last
}

/**
 * Sends rows again whose keys the destination treats as the same as keys that were removed from the source, because it may have
 * the values of the removed row. From then on, the state contains only the notation of the source.
 */
async function* sentAgain(
  { held }: HeldKeys,
  batches: BehindSource,
  { host, sides, signal, mapperFor, onProgress, settled }: RemovalDeps,
): AsyncGenerator<FilledBatch, void, undefined> {
  const left = Map.groupBy(held, ([, present]) => present)
  left.delete(undefined)
  if (left.size === 0) return
  const store = async (records: number[]): Promise<void> => {
    const stored = records.splice(0)
    if (stored.length === 0) return
    await settled()
    await host.doubtRows({ records: encodeRecords(Uint32Array.from(stored)), keys: null })
  }
  const [uncertain, gone]: [number[], number[]] = [[], []]
  /** The other notation is removed only after the row is sent. Until then, an interruption leads here again. */
  async function* send(batch: FilledBatch | undefined): AsyncGenerator<FilledBatch, void, undefined> {
    if (!batch) return
    await store(uncertain)
    yield batch
    await store(gone)
  }
  const reader = await sides.openReader(signal)
  try {
    for await (const chunk of reader.read()) {
      onProgress()
      const { rows, errors, digests } = await (await mapperFor(chunk))(chunk)
      for (const [i, row] of rows.entries()) {
        const [high = 0, low = 0] = [digests?.[i * recordWords], digests?.[i * recordWords + 1]]
        const others = left.get(idOf({ high, low }))
        if (!others || errors.has(i) || chunk.removed?.has(i)) continue
        const record = [...(digests?.subarray(i * recordWords, (i + 1) * recordWords) ?? [])]
        uncertain.push(...uncertainRecord(high, low))
        gone.push(...others.splice(0).flatMap(([id]) => goneRecord(...numbersIn(id))))
        yield* send(batches.add({ row, raw: chunk.rows[i] ?? [], record }, 'written'))
      }
    }
  } finally {
    await reader.close()
  }
  yield* send(batches.flush('written'))
}

const numbersIn = (id: string): [high: number, low: number] => {
  const [high = '', low = ''] = id.split(' ')
  return [Number(high), Number(low)]
}

type RowBehind = { readonly row: Row; readonly raw: Row; readonly record: readonly number[] }

/** Fills batches of rows that are numbered after the records of the source, with the checkpoint of its end. */
class BehindSource {
  readonly #bounds: RemovalDeps['sides']['bounds']
  readonly #left: Checkpoint
  #first: number
  #rows: RowBehind[] = []
  #bytes = 0

  constructor({ bounds }: Pick<Sides, 'bounds'>, { read, checkpoint }: RemovalDeps['confirmed']) {
    this.#bounds = bounds
    this.#left = checkpoint ?? beginning
    this.#first = read + 1
  }

  /** Adds a row. Returns a batch if it is full with it. */
  add(added: RowBehind, kind: 'written' | 'removed'): FilledBatch | undefined {
    this.#rows.push(added)
    this.#bytes += JSON.stringify(added.row).length
    const { rowsMax, bytesMax } = this.#bounds
    return this.#rows.length >= Math.min(rowsMax, rowsAtOnceMax) || this.#bytes >= bytesMax
      ? this.flush(kind)
      : undefined
  }

  /** The batch of the remaining rows; `undefined` if there are no rows left. */
  flush(kind: 'written' | 'removed'): FilledBatch | undefined {
    const [rows, first] = [this.#rows, this.#first]
    if (rows.length === 0) return undefined
    this.#rows = []
    this.#bytes = 0
    this.#first += rows.length
    return {
      first,
      covered: rows.length,
      rows: rows.map(({ row }) => row),
      numbers: rows.map((_, i) => first + i),
      raws: rows.map(({ raw }) => raw),
      removed: new Set(kind === 'removed' ? rows.keys() : []),
      digests: rows.flatMap(({ record }) => record),
      invalid: [],
      skipped: [],
      segments: [],
      left: this.#left,
    }
  }
}

/** Reads all rows of the source again, because this session continued after a checkpoint. */
async function readAgain(mirror: Mirror, { sides, signal, mapperFor, onProgress }: RemovalDeps): Promise<void> {
  mirror.restart()
  const reader = await sides.openReader(signal)
  try {
    for await (const chunk of reader.read()) {
      onProgress()
      const map = await mapperFor(chunk)
      await map(chunk)
    }
  } finally {
    await reader.close()
  }
}

/** Throws `confirmation_needed` if no rows would be left, or less than a share of them. */
function assertEnoughStays(stays: number, leaves: number, shareMin: number): void {
  const all = stays + leaves
  if (stays >= Math.max(1, Math.ceil(all * shareMin))) return
  throw new ConnectorError(
    'confirmation_needed',
    `This would remove ${count(leaves)} of the ${count(all)} rows that earlier transfers sent, because the source does not have them any more. Nothing was removed: check the source, or start the transfer with "confirm": true.`,
  )
}

const notAll =
  'Nothing was removed: very many keys are the same to the destination as others that left the source. The next transfer continues.'

const notRemoved = (unknown: number, leaves: number): string =>
  `Nothing was removed, although the source lacks ${count(leaves)} ${leaves === 1 ? 'row' : 'rows'} that earlier transfers sent: ${
    unknown === 1
      ? '1 record of it was rejected before its key was known, and could be one of them.'
      : `${count(unknown)} records of it were rejected before their keys were known, and could be some of them.`
  }`

const count = (n: number): string => n.toLocaleString('en')
