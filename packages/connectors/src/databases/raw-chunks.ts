import { type Chunk, type ColumnType, type RawLayout, type RawPiece, RawRows } from '@penstock/connector'
import { checkpointOf, type Spot } from './checkpoints.ts'

/** Raw rows as a database sends them: the bytes of some rows, and the offset of each with the end of the last one. */
export type RawBlock = Pick<RawPiece, 'bytes' | 'bounds'>

/** How raw rows are read, which are ordered by columns that always have a value, and that together differ in all rows. */
export type RawReading = {
  readonly columns: readonly string[]
  readonly types?: readonly (ColumnType | null)[]
  readonly layout: RawLayout
  /** The texts by which a row is ordered. */
  readonly spotOf: (bytes: Buffer, from: number, to: number) => readonly string[]
}

/** Makes chunks of the raw rows that come after a spot, with the place behind each row. Only the order of the last row is read. */
export async function* rawChunksOf(
  { columns, types, layout, spotOf }: RawReading,
  { bound }: Spot,
  blocks: AsyncIterable<readonly RawBlock[]>,
): AsyncGenerator<Chunk> {
  for await (const some of blocks) {
    for (const { bytes, bounds } of some) {
      const count = bounds.length - 1
      const rows = new RawRows(layout, [{ bytes, bounds, from: 0, until: count }])
      const checkpointAfter = (passed: number) =>
        checkpointOf({ after: spotOf(bytes, bounds[passed - 1] ?? 0, bounds[passed] ?? 0), skip: 1, bound })
      yield {
        columns,
        ...(types && { types }),
        rows: rows.rows,
        bytes: rows.bytes,
        checkpoint: checkpointAfter(count),
        checkpointAfter,
      }
    }
  }
}
