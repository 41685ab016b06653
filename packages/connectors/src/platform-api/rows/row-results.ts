import type { Rejection } from '@penstock/connector'

/**
 * The result that a platform reports for the rows of one request: by index in the request, by a key that was sent along, or
 * only as a number of rows. Rows without blame are accepted.
 *
 * Indexes count the sent items, not the rows of the batch. Rows that were rejected before were not sent, and several rows of
 * one person may be one item.
 */
export type RowBlame =
  | { readonly at: number; readonly reason: string; readonly field?: string }
  | { readonly key: string; readonly reason: string; readonly field?: string }
  | { readonly count: number; readonly reason: string }

/** One item of a request: its rows in the batch, and the key that it was sent with. */
export type SentItem = { readonly rows: readonly number[]; readonly key?: string }

/**
 * The rejections of the rows that a platform blames. A row that is blamed twice is rejected once, with the first reason. Blame
 * for items that were not sent is ignored, and no more rows are rejected than were sent. A key blames every item that was sent
 * with it, and a row with several items is rejected with the first of them.
 */
export function rejectionsOf(sent: readonly SentItem[], blamed: Iterable<RowBlame>): Rejection[] {
  const rejections: Rejection[] = []
  const byKey = new Map<string, SentItem[]>()
  for (const item of sent) {
    if (item.key !== undefined) byKey.set(item.key, (byKey.get(item.key) ?? []).concat(item))
  }
  const itemsBlamed = (blame: { at: number } | { key: string }): readonly SentItem[] =>
    'at' in blame ? [sent[blame.at]].filter((item) => item !== undefined) : (byKey.get(blame.key) ?? [])
  const left = new Set(sent.flatMap(({ rows }) => rows))
  const counted: Extract<RowBlame, { count: number }>[] = []
  for (const blame of blamed) {
    if ('count' in blame) {
      counted.push(blame)
      continue
    }
    const { reason, field } = blame
    for (const index of itemsBlamed(blame).flatMap(({ rows }) => rows)) {
      if (left.delete(index)) rejections.push({ index, reason, ...(field === undefined ? {} : { field }) })
    }
  }
  let unnamed = left.size
  for (const { count, reason } of counted) {
    // The count of a platform can be something other than a number.
    const rows = count > 0 ? Math.min(unnamed, Math.floor(count)) : 0
    unnamed -= rows
    if (rows > 0) rejections.push({ count: rows, reason })
  }
  return rejections
}

/** How many rows were rejected for each reason. @param reasons one for each row */
export const countsOf = (reasons: readonly string[]): { readonly count: number; readonly reason: string }[] =>
  [...Map.groupBy(reasons, (reason) => reason)].map(([reason, { length: count }]) => ({ count, reason }))
