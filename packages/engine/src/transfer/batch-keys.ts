import { createHash } from 'node:crypto'
import type { Batch, Json } from '@penstock/connector'
import type { ColumnTypes } from '../map-rows.ts'
import type { BatchStart, TransferState } from '../protocol.ts'
import { placeBehind } from './batch-ends.ts'
import type { FilledBatch } from './filled-batch.ts'
import { announcedRowsOf, type Repeating } from './stages/repeated-rows/recovered-rows.ts'

/** The key of a batch. A destination uses it to recognise a repeated batch. */

/** Scope of the key of a batch, in addition to its records. */
export type KeyScope = {
  readonly transferId: string
  readonly connectionId: string
  /** The settings of both sides. Batches under different settings never have the same key. */
  readonly settings: Json
  /** Changes the keys, even if the same rows follow the same cursor. */
  readonly salt?: string | null | undefined
}

/**
 * The batch in the form that the destination receives. Its key is the same for the same records of the same transfer, in every
 * attempt. If the source can return different records when it is read again, the key depends on them: records are then delivered
 * twice rather than not at all. In an incremental transfer, the key depends on the rows and the cursor before them, so the next
 * transfer has the same key for the same rows.
 */
export function batchOf(
  filledBatch: FilledBatch,
  scope: KeyScope,
  columns: readonly string[],
  types?: ColumnTypes,
): Batch {
  const { first, rows, removed, window } = filledBatch
  const { notedBy, announced } = filledBatch
  return {
    key: keyOf(filledBatch, scope, columns),
    ...(notedBy !== undefined && { transferId: notedBy }),
    ...(announced && { isRepeated: true }),
    columns,
    ...(types && { types }),
    rows,
    ...(removed.size > 0 && { removed }),
    firstRow: first,
    ...(window && { window }),
  }
}

/** Keys that were created for the announcement or the delivery of the same batch. */
const known = new WeakMap<
  FilledBatch,
  { readonly scope: KeyScope; readonly columns: readonly string[]; readonly key: string }
>()

/** Whether the batch can have different records when it is read again. */
const isCounted = ({ segments, left }: FilledBatch): boolean => !left && segments.some(({ fixed }) => !fixed)

function keyOf(filledBatch: FilledBatch, scope: KeyScope, columns: readonly string[]): string {
  const { first, covered, rows, raws, removed, segments, window, left, announced, instead, digests, delivered } =
    filledBatch
  if (announced) return announced.key
  const made = known.get(filledBatch)
  if (made?.scope === scope && made.columns === columns) return made.key
  const hash = createHash('sha256')
  const [begun] = segments
  if (begun?.cursorAfter) {
    const { connectionId, settings, salt } = scope
    const place = [connectionId, settings, begun.cursorAfter(first - begun.first), columns]
    hash.update(JSON.stringify(salt ? [...place, salt] : place))
    for (const row of rows) hash.update(JSON.stringify(row))
    if (removed.size > 0) hash.update(JSON.stringify([...removed]))
  } else {
    hash.update(`${scope.transferId} ${first} ${covered}`)
    // Rows that were confirmed in the meantime are not sent again, so the batch has different rows.
    if (digests) hash.update(Uint32Array.from(digests))
    else if (isCounted(filledBatch)) for (const raw of raws) hash.update(JSON.stringify(raw))
  }
  // Rows that equal delivered rows are in a different batch.
  if (delivered) hash.update(Uint32Array.from(delivered.records))
  if (instead !== undefined) hash.update(JSON.stringify(instead))
  // Another attempt may find other rows that were removed from the source.
  if (left) hash.update(JSON.stringify(rows))
  // Windows without rows follow each other at the same place.
  if (window) hash.update(JSON.stringify(window.scope))
  const key = hash.digest('hex').slice(0, 32)
  known.set(filledBatch, { scope, columns, key })
  return key
}

/** The announcement of a batch before it is sent, so that it can be repeated unchanged after a crash. */
export type Announcement = Pick<BatchStart, 'pending' | 'announced'>

/** The announcement of a batch. A batch without records has no announcement. */
export function announcementOf(
  filledBatch: FilledBatch,
  scope: KeyScope,
  columns: readonly string[],
  repeating: Repeating & { readonly sendsChanged: boolean },
): Announcement {
  if (filledBatch.covered === 0) return { pending: null }
  // Number of records when it was first announced: the destination may have the batch with these records.
  const pending = filledBatch.announced?.covered ?? filledBatch.covered
  const end = placeBehind(filledBatch)
  const rows = announcedRowsOf(filledBatch, repeating)
  const isRepeatedLater = rows
    ? repeating.sendsChanged || repeating.isIncremental
    : filledBatch.segments[0]?.cursorAfter !== undefined
  if (end === undefined && !rows && !isRepeatedLater && !isCounted(filledBatch)) return { pending }
  const { first, notedBy } = filledBatch
  return {
    pending,
    announced: {
      first,
      key: keyOf(filledBatch, scope, columns),
      ...(end !== undefined && { end }),
      ...(notedBy !== undefined && { transferId: notedBy }),
      ...(isRepeatedLater && { settings: digestOfSettings(scope) }),
      ...(rows && { rows }),
    },
  }
}

/** The settings of both sides of a transfer. */
export const settingsOf = ({ source, destination }: Pick<TransferState, 'source' | 'destination'>): Json => [
  source?.settings ?? null,
  destination.settings,
]

/** The state of a transfer without the batch of an earlier one, if it was announced under other settings. */
export function withoutOthers(state: TransferState): TransferState {
  const { announced } = state
  const isOwn = announced?.transferId === undefined
  if (isOwn || announced.settings === digestOfSettings({ settings: settingsOf(state) })) return state
  return { ...state, pending: null, announced: null }
}

/** A transfer compares it to find out whether the previous transfer had the same settings. */
const digestOfSettings = ({ settings }: Pick<KeyScope, 'settings'>): string =>
  createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 32)
