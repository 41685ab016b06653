import type { TableForm } from '@penstock/connector'
import type { StoredFile } from '@penstock/connector/files'

/** Bytes of a compressed CSV file that BigQuery loads, at most. */
const packedBytesMax = 4 * 2 ** 30
/** Why BigQuery does not load a file as a worker reads it: the end of a sentence. */
export function whyNotFile({ name, sizeBytes }: StoredFile, { compression }: TableForm): string | undefined {
  // A star in an address stands for any characters.
  if (name.includes('*')) return `the name of ${name} has a *`
  if (compression === 'zstd') return `${name} is compressed with zstd, which BigQuery does not load`
  if (compression === 'none' || sizeBytes <= packedBytesMax) return undefined
  return `${name} is compressed and has more than the 4 GiB that BigQuery loads`
}
