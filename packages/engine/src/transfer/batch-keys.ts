import { createHash } from 'node:crypto'
import type { Batch, Json } from '@penstock/connector'
import type { ColumnTypes } from '../map-rows.ts'
import type { BatchStart } from '../protocol.ts'
import { placeBehind } from './batch-ends.ts'
import type { FilledBatch } from './batches.ts'

/** The key of a batch: a destination recognises by it a batch that comes again. */

/** Scope of the key of a batch, beside its records. */
export type KeyScope = {
  readonly transferId: string
  readonly connectionId: string
  /** The settings of both sides: what is sent under others is never taken for the same. */
  readonly settings: Json
}

/**
 * The batch as the destination gets it. Its key is the same for the same records of the same transfer, in every attempt. If the
 * source can give other records when it is read again, it follows from them: they come twice rather than not at all. In an incremental transfer, the key follows from the rows and the cursor before them, so the next transfer has the same key
 * for the same rows.
 */
export function batchOf(
  filledBatch: FilledBatch,
  scope: KeyScope,
  columns: readonly string[],
  types?: ColumnTypes,
): Batch {
  const { first, rows, removed, window } = filledBatch
  return {
    key: keyOf(filledBatch, scope, columns),
    columns,
    ...(types && { types }),
    rows,
    ...(removed.size > 0 && { removed }),
    firstRow: first,
    ...(window && { window }),
  }
}

/** Keys that were made, for the announcement or for the delivery of the same batch. */
const known = new WeakMap<
  FilledBatch,
  { readonly scope: KeyScope; readonly columns: readonly string[]; readonly key: string }
>()

/** Whether its records may be others when it is read again. */
const isCounted = ({ segments, left }: FilledBatch): boolean => !left && segments.some(({ fixed }) => !fixed)

function keyOf(filledBatch: FilledBatch, scope: KeyScope, columns: readonly string[]): string {
  const { first, covered, rows, raws, removed, segments, window, left, announced, instead } = filledBatch
  if (announced) return announced.key
  const made = known.get(filledBatch)
  if (made?.scope === scope && made.columns === columns) return made.key
  const hash = createHash('sha256')
  const [begun] = segments
  if (begun?.cursorAfter) {
    const { connectionId, settings } = scope
    hash.update(JSON.stringify([connectionId, settings, begun.cursorAfter(first - begun.first), columns]))
    for (const row of rows) hash.update(JSON.stringify(row))
    if (removed.size > 0) hash.update(JSON.stringify([...removed]))
  } else {
    hash.update(`${scope.transferId} ${first} ${covered}`)
    if (isCounted(filledBatch)) for (const raw of raws) hash.update(JSON.stringify(raw))
  }
  if (instead !== undefined) hash.update(JSON.stringify(instead))
  // Another attempt may find other rows that left the source.
  if (left) hash.update(JSON.stringify(rows))
  // Windows without rows follow each other at the same place.
  if (window) hash.update(JSON.stringify(window.scope))
  const key = hash.digest('hex').slice(0, 32)
  known.set(filledBatch, { scope, columns, key })
  return key
}

/** The announcement of a batch before it is sent, so that it comes again as the same one after a crash. */
export type Announcement = Pick<BatchStart, 'pending' | 'announced'>

/** The announcement of a batch; without records it has none. */
export function announcementOf(filledBatch: FilledBatch, scope: KeyScope, columns: readonly string[]): Announcement {
  const pending = filledBatch.covered
  if (pending === 0) return { pending: null }
  const end = placeBehind(filledBatch)
  if (end === undefined && !isCounted(filledBatch)) return { pending }
  const { first } = filledBatch
  return { pending, announced: { first, key: keyOf(filledBatch, scope, columns), ...(end !== undefined && { end }) } }
}
