import type {
  Batch,
  Delivery,
  DestinationContext,
  DestinationWriter,
  Rejection,
  Row,
  Values,
} from '@penstock/connector'

/** The operation that gets the rows that left the source, and the columns by which it finds them. */
export type Removal = { readonly operation: string; readonly by: readonly string[] }

/** The removal that a connection of HTTP API chose; `undefined` without one. */
export function removalIn({ removal, removeBy }: Values): Removal | undefined {
  const by = String(removeBy ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return removal === undefined || removal === '' || by.length === 0 ? undefined : { operation: String(removal), by }
}

/**
 * A writer that sends rows by one operation, and rows to remove by another.
 * @param writes the writer of the other rows
 * @param removes the writer of the operation that removes, which gets only the columns `by`
 */
export function withRemovals(
  writes: DestinationWriter,
  removes: DestinationWriter,
  { by }: Removal,
): DestinationWriter {
  return {
    async deliver(batch) {
      const { kept, removed } = partsOf(batch, by)
      const rejected: Rejection[] = []
      let bytes = 0
      for (const [writer, part] of [
        [writes, kept],
        [removes, removed],
      ] as const) {
        if (part.places.length === 0) continue
        const delivery = await writer.deliver(part.batch)
        rejected.push(...inBatch(delivery, part.places))
        bytes += delivery.bytes
      }
      return { bytes, rejected }
    },
    async close() {
      await Promise.all([writes.close?.(), removes.close?.()])
    },
  }
}

type Part = { readonly batch: Batch; readonly places: readonly number[] }

/** The rows to send and the rows to remove, with their places in the batch. Of several rows with one key, the last one decides. */
function partsOf(batch: Batch, by: readonly string[]): { readonly kept: Part; readonly removed: Part } {
  const { rows, columns, removed = new Set<number>() } = batch
  const at = by.map((name) => columns.indexOf(name))
  const keyOf = (row: Row) => at.map((index) => row[index] ?? null)
  const last = new Map(rows.map((row, place) => [JSON.stringify(keyOf(row).map(String)), place]))
  const isLast = (place: number) => last.get(JSON.stringify(keyOf(rows[place] ?? []).map(String))) === place
  const places = [...rows.keys()]
  const kept = places.filter((place) => !removed.has(place))
  const gone = places.filter((place) => removed.has(place) && isLast(place))
  const { types: _, removed: __, ...rest } = batch
  return {
    kept: { batch: { ...rest, rows: kept.map((place) => rows[place] ?? []) }, places: kept },
    removed: { batch: { ...rest, columns: by, rows: gone.map((place) => keyOf(rows[place] ?? [])) }, places: gone },
  }
}

/** Rejections with the places of the whole batch. */
const inBatch = ({ rejected = [] }: Delivery, places: readonly number[]): readonly Rejection[] =>
  rejected.map((one) => (one.index === undefined ? one : { ...one, index: places[one.index] ?? one.index }))

/** The context in which the operation that removes is opened. */
export const removingContext = (context: DestinationContext, { operation, by }: Removal): DestinationContext => {
  const { types: _, rows: __, ...rest } = context
  return { ...rest, columns: by, settings: { ...context.settings, operation } }
}
