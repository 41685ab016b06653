import { gzipSync } from 'node:zlib'
import { Refusal } from './bigquery-tables.ts'

/** Where an extract job writes, and a load reads. */
export type BigQueryStorage = {
  put(bucket: string, name: string, bytes: Uint8Array): void
  /** The buckets whose files it may load; none unless given. */
  readonly buckets?: ReadonlyMap<string, ReadonlyMap<string, { readonly bytes: Buffer }>>
}

/** The extract jobs that are known here. */
export type ExtractConfiguration = {
  readonly sourceTable: { readonly projectId: string; readonly datasetId: string; readonly tableId: string }
  readonly destinationUris: readonly string[]
  readonly destinationFormat: string
  readonly compression: string
  readonly fieldDelimiter?: string
  readonly printHeader?: boolean
}

/** A result: rows of values as BigQuery keeps them. */
type Extracted = {
  readonly fields: readonly { readonly name: string }[]
  readonly rows: readonly (readonly unknown[])[]
}

/** A table that is larger is only written to an address with a `*`; BigQuery's limit is 1 GB. */
const oneFileBytes = 1_000_000_000

/** Writes a result as CSV or lines of JSON, in two objects if the address has a `*`, by the published rules of BigQuery. */
export function extractResult(
  { fields, rows }: Extracted,
  {
    destinationUris,
    destinationFormat,
    compression,
    fieldDelimiter,
    printHeader,
    sourceTable: _,
    ...strange
  }: ExtractConfiguration,
  storage: BigQueryStorage | undefined,
  bytes: number,
): { readonly failed?: Refusal; readonly files?: number } {
  const [, bucket = '', object = ''] = /^gs:\/\/([^/]+)\/(.+)$/.exec(destinationUris[0] ?? '') ?? []
  const isCsv = destinationFormat === 'CSV'
  if (Object.keys(strange).length > 0 || destinationUris.length !== 1 || object === '')
    throw new Refusal(400, 'invalid')
  if (isCsv ? fieldDelimiter !== ',' || !printHeader : destinationFormat !== 'NEWLINE_DELIMITED_JSON') {
    throw new Refusal(400, 'invalid', 'a format is not known')
  }
  if (!storage) return { failed: new Refusal(403, 'accessDenied', 'Permission denied while writing data.') }
  const isMany = object.includes('*')
  if (bytes > oneFileBytes && !isMany) return { failed: new Refusal(400, 'invalid', 'too large for one file') }
  const middle = isMany ? Math.ceil(rows.length / 2) : rows.length
  const parts = isMany ? [rows.slice(0, middle), rows.slice(middle)] : [rows]
  for (const [number, part] of parts.entries()) {
    const lines = isCsv
      ? [fields.map(({ name }) => name), ...part].map((row) => row.map(cellOf).join(','))
      : part.map((row) => JSON.stringify(Object.fromEntries(fields.map(({ name }, at) => [name, row[at]]))))
    const text = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    storage.put(
      bucket,
      object.replace('*', String(number).padStart(12, '0')),
      compression === 'GZIP' ? gzipSync(text) : text,
    )
  }
  return { files: parts.length }
}

function cellOf(value: unknown): string {
  if (value === null) return ''
  const text = String(value)
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
