import type { ColumnType } from '@penstock/connector'

const precisionMax = 65
const scaleMax = 30

/** The type of a column that is created. */
export function typeOf(type: ColumnType): string {
  switch (type.kind) {
    case 'decimal': {
      const { precision = 0, scale = 0 } = type
      const isBounded = precision > 0 && precision <= precisionMax && scale <= Math.min(scaleMax, precision)
      return isBounded ? `decimal(${precision}, ${scale})` : 'longtext'
    }
    case 'timestamp':
    case 'instant':
      return 'datetime(6)'
    case 'bytes':
      return 'longblob'
    case 'json':
    case 'list':
    case 'struct':
    case 'uuid':
    case 'text':
      return 'longtext'
    default:
      return type.kind
  }
}
