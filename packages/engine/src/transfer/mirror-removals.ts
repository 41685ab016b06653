import { type Chunk, ConnectorError, type Row } from '@penstock/connector'
import type { TransferHost, TransferJob, TransferState } from '../protocol.ts'
import { beginning, type Checkpoint, type ChunkMapper, type FilledBatch } from './batches.ts'
import type { Mirror } from './mirror.ts'
import type { Sides } from './sides.ts'

/** Rows of a removal that are sent at once, whatever the destination takes. */
const rowsAtOnceMax = 10_000

/** The parts of a session that the removal of rows needs. */
export type RemovalDeps = {
  readonly host: Pick<TransferHost, 'note'>
  readonly job: Pick<TransferJob, 'replaceShareMin'>
  /** As it was when the session began. */
  readonly state: Pick<TransferState, 'testRows' | 'replay' | 'range' | 'read' | 'checkpoint' | 'confirmed' | 'cursor'>
  readonly sides: Pick<Sides, 'bounds' | 'columns' | 'openReader'>
  readonly signal: AbortSignal
  readonly mapperFor: (chunk: Chunk) => Promise<ChunkMapper>
  /** The records that are confirmed, and the checkpoint after them. */
  readonly confirmed: { readonly read: number; readonly checkpoint: Checkpoint | null }
  readonly onProgress: () => void
}

/**
 * The rows that a mirror removes, in batches that are numbered behind the records of the source. To be called once all of these are
 * confirmed. A session that did not read all of the source reads it again.
 * @throws ConnectorError `confirmation_needed` before the first batch, if too few rows would be left
 */
export async function* removalsOf(mirror: Mirror, deps: RemovalDeps): AsyncGenerator<FilledBatch, void, undefined> {
  const { state, job, host, sides, confirmed } = deps
  if (state.testRows !== null || state.replay || state.range) return
  if (state.read > 0 || state.checkpoint !== null) await readAgain(mirror, deps)
  mirror.assertWhole(state.cursor !== null)
  const { stays, leaves } = mirror.count()
  if (leaves === 0) return
  if (mirror.unknown > 0) return await host.note(notRemoved(mirror.unknown, leaves))
  if (!state.confirmed) assertEnoughStays(stays, leaves, job.replaceShareMin)
  const places = sides.columns.map((name) => mirror.keyNames.indexOf(name))
  let first = confirmed.read + 1
  let rows: Row[] = []
  let digests: number[] = []
  let bytes = 0
  const batch = (): FilledBatch => {
    const filled = removalOf(rows, digests, first, confirmed.checkpoint ?? beginning)
    first += rows.length
    rows = []
    digests = []
    bytes = 0
    return filled
  }
  for await (const { key, record } of mirror.missing()) {
    deps.onProgress()
    rows.push(places.map((place) => key[place] ?? null))
    digests.push(...record)
    bytes += JSON.stringify(key).length
    if (rows.length >= Math.min(sides.bounds.rowsMax, rowsAtOnceMax) || bytes >= sides.bounds.bytesMax) yield batch()
  }
  if (rows.length > 0) yield batch()
}

/** Looks at all rows of the source, because this session continued after a checkpoint. */
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

const removalOf = (rows: readonly Row[], digests: readonly number[], first: number, left: Checkpoint): FilledBatch => ({
  first,
  covered: rows.length,
  rows,
  numbers: rows.map((_, i) => first + i),
  raws: rows,
  removed: new Set(rows.keys()),
  digests,
  invalid: [],
  skipped: [],
  segments: [],
  left,
})

/** Throws `confirmation_needed` if fewer rows than a share would be left, or none. */
function assertEnoughStays(stays: number, leaves: number, shareMin: number): void {
  const all = stays + leaves
  if (stays >= Math.max(1, Math.ceil(all * shareMin))) return
  throw new ConnectorError(
    'confirmation_needed',
    `This would remove ${count(leaves)} of the ${count(all)} rows that earlier transfers sent, because the source does not have them any more. Nothing was removed: check the source, or start the transfer with "confirm": true.`,
  )
}

const notRemoved = (unknown: number, leaves: number): string =>
  `Nothing was removed, although the source lacks ${count(leaves)} ${leaves === 1 ? 'row' : 'rows'} that earlier transfers sent: ${
    unknown === 1
      ? '1 record of it was rejected before its key was known, and could be one of them.'
      : `${count(unknown)} records of it were rejected before their keys were known, and could be some of them.`
  }`

const count = (n: number): string => n.toLocaleString('en')
