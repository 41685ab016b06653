/** Helpers for definitions of file connectors; they do not read or write files. */
import type { Values } from '../values.ts'
import { formatFields, readFields, writeFields, writeOptionsOf } from './fields.ts'

export { formatFields, readFields, writeFields }

/** Approximate bytes of a part, large enough for a write to the disk or the network and a ledger entry. */
export const usualPartBytes: number = 4 << 20

/**
 * Limits of a batch of a file destination. Rows that are encoded early are short-lived objects, which uses a third less
 * processor time than batches of the size of parts. A batch of Parquet is a row group, and small row groups make large files.
 */
export const fileBatch = (settings: Values): { rowsMax: number; bytesMax: number } => ({
  rowsMax: 20_000,
  bytesMax: writeOptionsOf(settings).format === 'Parquet' ? 4 << 20 : 512 << 10,
})

/** Why only one writer writes all rows of a file destination. */
export function whyNotPartsOfFiles({ severalFiles, outputPath }: Values): string | undefined {
  if (severalFiles !== true) {
    return 'the connection writes one file: select Several files to share the work between workers'
  }
  if (typeof outputPath !== 'string' || outputPath.endsWith('/')) return undefined
  return 'the output path may name one file: end it with a slash'
}
