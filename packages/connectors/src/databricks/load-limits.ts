import type { TableForm } from '@penstock/connector'
import type { StoredFile } from '@penstock/connector/files'

/** Why Databricks does not load a file as a worker reads it: the end of a sentence. Its readers know a compression by the name. */
export function whyNotFile({ name }: StoredFile, { compression, types, columns }: TableForm): string | undefined {
  const last = name.slice(name.lastIndexOf('/') + 1)
  if (/[*?[\]{},\\:%#"]/.test(name)) return `the name of ${name} has a sign that means something else to Databricks`
  if (/^[._]/.test(last)) return `the name of ${name} begins with a sign that hides it from Databricks`
  if (types) {
    const names = new Set(columns.map((column) => column.toLowerCase()))
    return names.size < columns.length ? `two columns of ${name} have names that differ in their case alone` : undefined
  }
  if (compression === 'zstd') return `${name} is compressed with zstd`
  const packed = /\.(gz|bz2|zst|zstd|snappy|lz4|deflate|xz)$/i.exec(last)?.[1]?.toLowerCase()
  return (packed ?? 'none') === (compression === 'gzip' ? 'gz' : 'none')
    ? undefined
    : `the name of ${name} does not say how it is compressed`
}
