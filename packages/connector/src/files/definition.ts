/** Helpers for definitions of file connectors; none of them reads or writes a file. */
import type { Values } from '../values.ts'
import { formatFields, readFields, writeFields, writeOptionsOf } from './fields.ts'

export { formatFields, readFields, writeFields }

/** About how many bytes a part has, so that a write to the disk or the network and a ledger entry are worth it. */
export const usualPartBytes: number = 4 << 20

/**
 * Limits of a batch of a file destination. Rows that are encoded early are short-lived objects, which costs a third
 * less processor time than batches as large as parts. A batch of Parquet is a row group, and small row groups make
 * large files.
 */
export const fileBatch = (settings: Values): { rowsMax: number; bytesMax: number } => ({
  rowsMax: 20_000,
  bytesMax: writeOptionsOf(settings).format === 'Parquet' ? 4 << 20 : 512 << 10,
})

/** Why a file destination has one writer write all rows. */
export function whyNotPartsOfFiles({ severalFiles, outputPath }: Values): string | undefined {
  if (severalFiles !== true) {
    return 'the connection writes one file: select Several files to share the work between workers'
  }
  if (typeof outputPath !== 'string' || outputPath.endsWith('/')) return undefined
  return 'the output path may name one file: end it with a slash'
}
