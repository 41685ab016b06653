import type { Rejection } from '@penstock/connector'

/**
 * What a platform says of the rows of one request: by the place in the request, by a key that was sent along, or only by
 * how many. What is not blamed is accepted.
 *
 * Places count what was sent, and not the rows of the batch: rows that were rejected before were not sent, and several
 * rows of one person may be one item.
 */
export type RowBlame =
  | { readonly at: number; readonly reason: string; readonly field?: string }
  | { readonly key: string; readonly reason: string; readonly field?: string }
  | { readonly count: number; readonly reason: string }

/** One item of a request: the rows of the batch that it stands for, and the key that it was sent with. */
export type SentItem = { readonly rows: readonly number[]; readonly key?: string }

/**
 * The rejections of the rows behind what a platform blames. An item that is blamed twice counts once, with the reason that
 * came first; blame for what was never sent is dropped; and no more rows are rejected than were sent.
 */
export function rejectionsOf(sent: readonly SentItem[], blamed: Iterable<RowBlame>): Rejection[] {
  const rejections: Rejection[] = []
  const byKey = new Map(sent.flatMap((item) => (item.key === undefined ? [] : [[item.key, item] as const])))
  const left = new Set(sent)
  const counted: Extract<RowBlame, { count: number }>[] = []
  for (const blame of blamed) {
    if ('count' in blame) {
      counted.push(blame)
      continue
    }
    const item = 'at' in blame ? sent[blame.at] : byKey.get(blame.key)
    if (!item || !left.delete(item)) continue
    const { reason, field } = blame
    for (const index of item.rows) rejections.push({ index, reason, ...(field === undefined ? {} : { field }) })
  }
  let unnamed = [...left].reduce((rows, item) => rows + item.rows.length, 0)
  for (const { count, reason } of counted) {
    const rows = Math.min(unnamed, Math.max(0, Math.floor(count)))
    unnamed -= rows
    if (rows > 0) rejections.push({ count: rows, reason })
  }
  return rejections
}
