import type { FormField, FormValues } from './form-field.ts'

/** Settings whose values name the files that are read. */
const places = ['files', 'path', 'bucketUri', 'blobUri'] as const
const endings: readonly (readonly [ending: RegExp, format: string])[] = [
  [/\.(csv|tsv|txt)$/i, 'CSV'],
  [/\.(json|jsonl|ndjson)$/i, 'NDJSON'],
  [/\.parquet$/i, 'Parquet'],
  [/\.xlsx?$/i, 'Excel'],
  [/\.avro$/i, 'Avro'],
  [/\.(duckdb|ddb)$/i, 'DuckDB'],
]
const packed = /\.(gz|bz2|zst)$/i

/**
 * Values with the format that the name of the file shows, to leave out settings of other formats: a CSV file has no sheets. They
 * are not for sending.
 * @param fileName undefined: as the settings name it
 */
export function withKnownFormat(fields: readonly FormField[], values: FormValues, fileName?: string): FormValues {
  const format = fields.find(({ name }) => name === 'format')
  if (values.format !== 'auto' || !format) return values
  const name = fileName ?? places.map((place) => String(values[place] ?? '')).find((one) => one !== '') ?? ''
  const [, known] = endings.find(([ending]) => ending.test(name.trim().replace(packed, ''))) ?? []
  return known && format.options?.includes(known) ? { ...values, format: known } : values
}
