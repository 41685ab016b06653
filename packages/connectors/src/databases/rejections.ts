import type { Batch, Delivery, Json, Rejection } from '@penstock/connector'

type Group = Pick<Rejection, 'reason' | 'field' | 'others'> & { rows: number[]; count?: number }

/** Rejections as they are kept beside a batch, grouped by reason: most rows fail for the same few. */
export function packRejections(rejections: readonly Rejection[]): Json {
  const groups = new Map<string, Group>()
  for (const { index, count, ...why } of rejections) {
    const key = JSON.stringify(why)
    const group = groups.get(key) ?? { ...why, rows: [] }
    groups.set(key, group)
    if (index !== undefined) group.rows.push(index)
    else if (count !== undefined) group.count = (group.count ?? 0) + count
  }
  return [...groups.values()] as Json[]
}

/** The same rejections, in the order of their rows. */
export function unpackRejections(packed: unknown): Rejection[] {
  const groups: Group[] = Array.isArray(packed) ? packed : []
  return inOrder(
    groups.flatMap(({ rows, count, ...why }) => [
      ...rows.map((index): Rejection => ({ index, ...why })),
      ...(count === undefined ? [] : [{ count, ...why }]),
    ]),
  )
}

export const inOrder = (rejections: Rejection[]): Rejection[] =>
  rejections.sort((a, b) => (a.index ?? 0) - (b.index ?? 0))

/** Whether a destination recognised a batch that was announced before, as a part of the delivery. */
export const recalls = ({ isRepeated }: Pick<Batch, 'isRepeated'>, recalled: boolean): Pick<Delivery, 'recalled'> =>
  isRepeated ? { recalled } : {}
