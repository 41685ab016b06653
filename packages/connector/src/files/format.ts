import type { DestinationContext } from '../destination.ts'

/** Format of a file in settings; `auto` detects it from the content. */
export const readFormats = ['auto', 'CSV', 'NDJSON', 'Parquet', 'Excel', 'Avro', 'DuckDB'] as const
export type FileFormat = (typeof readFormats)[number]

export const writeFormats = ['CSV', 'NDJSON', 'Parquet'] as const
export type WriteFormat = (typeof writeFormats)[number]

/** Encoding of bytes in text formats: `\x` and hexadecimal digits, as in databases, or Base64. */
export const binaryForms = ['Hexadecimal', 'Base64'] as const
export type BinaryForm = (typeof binaryForms)[number]

const extensions: Readonly<Record<string, WriteFormat | 'JSON'>> = {
  csv: 'CSV',
  tsv: 'CSV',
  txt: 'CSV',
  ndjson: 'NDJSON',
  jsonl: 'NDJSON',
  json: 'JSON',
  parquet: 'Parquet',
  parq: 'Parquet',
  pq: 'Parquet',
}

/** Format of a file by the extension of its name, without the extension of a compression; otherwise CSV. */
export function formatOfName(name: string): WriteFormat | 'JSON' {
  const extension = /\.([a-z0-9]+)(?:\.(?:gz|zst|zstd|bz2))?$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  return (Object.hasOwn(extensions, extension) && extensions[extension]) || 'CSV'
}

/** Extension of a written file, without the first dot: `csv`, `ndjson.gz`. Parquet is compressed inside. */
export function extensionOf(format: WriteFormat, gzip: boolean): string {
  return gzip && format !== 'Parquet' ? `${format.toLowerCase()}.gz` : format.toLowerCase()
}

/**
 * The name of the file that a transfer writes, `20260131T120000Z-<transferId>.csv`: the same after a crash, and in the
 * order of time where files are listed by name.
 */
export function fileNameOf(context: Pick<DestinationContext, 'startedTime' | 'transferId'>, extension: string): string {
  const time = new Date(context.startedTime).toISOString().replace(/[-:]|\.\d+/g, '')
  return `${time}-${context.transferId}.${extension}`
}
