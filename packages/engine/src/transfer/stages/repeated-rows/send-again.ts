import type { Announced } from '../../../protocol.ts'
import { nothingSkipped } from '../../../skipped.ts'
import type { FilledBatch } from '../../filled-batch.ts'
import type { ChangedRows } from '../changed-rows/changed-rows.ts'
import { recordWords } from '../changed-rows/row-digests.ts'
import type { AnnouncedBefore, RepeatTools, StageContext } from '../stage.ts'
import { type RecoveredRows, WantedRows } from './recovered-rows.ts'
import type { SentRows } from './sent-rows.ts'

/**
 * Sends announced batches again if their rows are found by their values, with the announced rows that the source still has
 * unchanged.
 */

/**
 * A source without places is read further than an announced batch, because rows may have moved: four times the batch, plus this
 * number.
 */
const moreMax = 1_000

/** Finds rows of announced batches again, and skips them when they are read. */
export type RowFinder = Pick<ChangedRows, 'find' | 'recovered'> &
  Partial<Pick<ChangedRows, 'sending' | 'keep'>> &
  Partial<Pick<SentRows, 'opened' | 'skip'>>

type SendAgainDeps = RepeatTools &
  Pick<StageContext, 'openReader' | 'mapBefore' | 'onProgress'> & { readonly finder: RowFinder }

/** The announced batches whose rows can be found again, the latest one first. */
export const recoverable = ({ announced }: AnnouncedBefore): readonly Announced[] =>
  announced ? [...(announced.rows ? [announced] : []), ...(announced.earlier ?? [])] : []

/** Its records are counted when they are read as records of the source. */
export const uncounted = { read: 0, sent: 0, removed: 0, skipped: nothingSkipped, rejects: [], end: undefined }

/** Sends one announced batch again, and records which of its rows the destination has. */
export async function sendAgain(announced: Announced, recovered: RecoveredRows, deps: SendAgainDeps): Promise<void> {
  const { rows } = announced
  if (!rows) return
  const { finder, begin, send, add, settled } = deps
  const wanted = new WantedRows(announced, rows)
  const batch = await findRows(wanted, deps)
  const { digests = [] } = batch
  if (batch.rows.length === 0) return
  await begin()
  await finder.sending?.(batch, settled)
  const sent = await send(batch)
  if (!sent) return
  const { bytes, held, recalled, deliveryState, state } = sent.delivery
  const isUnknown = sent.rejected.some(({ index }) => index === undefined)
  const refused = wanted.rejectedOf(digests, new Set(sent.rejected.flatMap(({ index }) => index ?? [])), recalled)
  for (const at of batch.rows.keys()) if (!isUnknown && !refused.has(at)) recovered.add(digests, at * recordWords)
  add({ ...uncounted, bytes, deliveryState, state }, held ? batch : undefined)
}

/** The rows of an announced batch that the source still has. */
async function findRows(
  wanted: WantedRows,
  { finder, openReader, mapBefore, onProgress }: SendAgainDeps,
): Promise<FilledBatch> {
  const { announced, rows: from } = wanted
  const [rows, raws, digests]: [FilledBatch['rows'][number][], FilledBatch['raws'][number][], number[]] = [[], [], []]
  const readMax = announced.end === undefined ? 4 * from.covered + moreMax : Number.POSITIVE_INFINITY
  // This transfer may not know the places of another transfer. It begins after the confirmed records of that transfer.
  const isElsewhere = announced.transferId !== undefined && from.followsCursor
  let read = 0
  const reader = await openReader()
  try {
    for await (const chunk of reader.read(isElsewhere ? undefined : (from.begin ?? undefined), announced.end)) {
      onProgress()
      const { mapping, mapped } = await mapBefore(chunk)
      const found = finder.find(wanted, mapping.columns, chunk, mapped)
      for (const at of found.indexes) {
        rows.push(mapped.rows[at] ?? [])
        raws.push(chunk.rows[at] ?? [])
      }
      for (const word of found.records) digests.push(word)
      read += chunk.rows.length
      if (wanted.isComplete || read >= readMax) break
    }
  } finally {
    await reader.close()
  }
  const { first, key, transferId } = announced
  const numbers = rows.map((_, at) => first + at)
  const nothing = { removed: new Set<number>(), invalid: [], skipped: [], segments: [] }
  const known = { key, covered: wanted.size }
  const notedBy = transferId === undefined ? {} : { notedBy: transferId }
  return { ...nothing, first, covered: rows.length, rows, raws, digests, numbers, announced: known, ...notedBy }
}
