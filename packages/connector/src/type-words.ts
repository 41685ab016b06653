import type { ColumnType } from '@penstock/parquet'
import type { Cell } from './rows.ts'

/** A declared type in the words of the setting `columnTypes`, for people. */
export function typeWords(type: ColumnType): string {
  switch (type.kind) {
    case 'decimal':
      return type.precision === undefined ? 'numeric' : `numeric(${type.precision},${type.scale ?? 0})`
    case 'instant':
      return 'timestamptz'
    case 'list':
      return `${type.items ? typeWords(type.items) : 'text'}[]`
    case 'struct':
      return 'json'
    default:
      return type.kind
  }
}

/** The kind of the values of a column without a declared type; undefined if there are none, or of several kinds. */
export function kindOfValues(values: readonly Cell[]): string | undefined {
  const given = values.filter((value) => value !== null)
  const [kind, ...others] = new Set(given.map((value) => (typeof value === 'string' ? 'text' : typeof value)))
  return others.length > 0 ? undefined : kind
}
