import type { ColumnType } from '@penstock/connector'

/** Whether values of a type are kept as JSON. */
export const isJsonType = (type: ColumnType | null): boolean =>
  type?.kind === 'json' || type?.kind === 'list' || type?.kind === 'struct'

const precisionMax = 1000

/** The type of a column that is created. */
export function typeOf(type: ColumnType): string {
  switch (type.kind) {
    case 'decimal': {
      const { precision, scale = 0 } = type
      const isBounded = precision !== undefined && precision > 0 && precision <= precisionMax && scale <= precision
      return isBounded ? `numeric(${precision}, ${scale})` : 'numeric'
    }
    case 'double':
      return 'double precision'
    case 'instant':
      return 'timestamptz'
    case 'list':
      return isJsonType(type.items) ? 'jsonb' : `${typeOf(type.items ?? { kind: 'text' })}[]`
    case 'json':
    case 'struct':
      return 'jsonb'
    case 'bytes':
      return 'bytea'
    default:
      return type.kind
  }
}
