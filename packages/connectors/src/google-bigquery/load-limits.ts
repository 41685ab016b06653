import type { ColumnType, TableForm } from '@penstock/connector'
import type { StoredFile } from '@penstock/connector/files'

/** Bytes of a compressed CSV file that BigQuery loads, at most. */
const packedBytesMax = 4 * 2 ** 30
/** Why BigQuery does not load a file as a worker reads it: the end of a sentence. */
export function whyNotFile(
  { name, sizeBytes }: StoredFile,
  { compression, types, columns }: TableForm,
): string | undefined {
  // A star in an address matches any characters.
  if (name.includes('*')) return `the name of ${name} has a *`
  if (types) {
    const other = columns.find((column) => !/^[A-Za-z_]\w{0,299}$/.test(column))
    if (other !== undefined) return `the name of the column ${other} of ${name} is none of BigQuery`
    if (new Set(columns.map((column) => column.toLowerCase())).size < columns.length) {
      return `two columns of ${name} have names that differ in their case alone`
    }
    const large = columns.find((_, at) => fieldOfType(types[at] ?? null) === undefined)
    return large && `the column ${large} of ${name} has a type that BigQuery loads in another way`
  }
  if (compression === 'zstd') return `${name} is compressed with zstd, which BigQuery does not load`
  if (compression === 'none' || sizeBytes <= packedBytesMax) return undefined
  return `${name} is compressed and has more than the 4 GiB that BigQuery loads`
}

/** The type of a staging table's column for values of Parquet. `undefined` for types that only a worker can read. */
export function fieldOfType(type: ColumnType | null): string | undefined {
  switch (type?.kind ?? 'text') {
    case 'text':
      return 'STRING'
    case 'smallint':
    case 'integer':
    case 'bigint':
      return 'INTEGER'
    case 'double':
      return 'FLOAT'
    case 'boolean':
      return 'BOOLEAN'
    case 'date':
      return 'DATE'
    case 'timestamp':
      return 'DATETIME'
    case 'instant':
      return 'TIMESTAMP'
    case 'decimal': {
      const { precision = 38, scale = 9 } = type as Extract<ColumnType, { kind: 'decimal' }>
      // An unsigned 64-bit number also arrives as one, but BigQuery would read it with a sign.
      return scale > 0 && scale <= 9 && precision - scale <= 29 ? 'NUMERIC' : undefined
    }
    default:
      return undefined
  }
}
