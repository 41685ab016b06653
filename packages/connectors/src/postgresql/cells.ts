import type { Cell, ColumnType } from '@penstock/connector'

/**
 * How the text of a type becomes a cell. Whole numbers of 64 bits and decimals stay text, so that no digit is lost;
 * timestamps become ISO 8601, in UTC if they have a zone; bytes are \x and hexadecimal digits; arrays and composites
 * are JSON.
 */
export type PostgresCellKind =
  | 'text'
  | 'number'
  | 'boolean'
  | 'local-time'
  | 'time'
  | 'composite'
  | 'array'
  | 'json-array'

/** By the identifiers that PostgreSQL gives its own types, the same in every database. */
const kinds: Readonly<Record<number, PostgresCellKind>> = {
  16: 'boolean',
  21: 'number',
  23: 'number',
  26: 'number',
  700: 'number',
  701: 'number',
  1114: 'local-time',
  1184: 'time',
  // Arrays of JSON: an array within would be taken for a dimension.
  199: 'json-array',
  3807: 'json-array',
  // Lists of PostgreSQL's own catalogue, which are no arrays.
  22: 'text',
  30: 'text',
}

/**
 * @param category `typcategory`: A for arrays
 * @param kind `typtype`: c for composites
 */
export function kindOf(oid: number, category: string, kind: string): PostgresCellKind {
  return kinds[oid] ?? (category === 'A' ? 'array' : kind === 'c' || oid === 2249 ? 'composite' : 'text')
}

const types: Readonly<Record<number, ColumnType>> = {
  16: { kind: 'boolean' },
  17: { kind: 'bytes' },
  20: { kind: 'bigint' },
  21: { kind: 'smallint' },
  23: { kind: 'integer' },
  26: { kind: 'bigint' },
  114: { kind: 'json' },
  700: { kind: 'double' },
  701: { kind: 'double' },
  1082: { kind: 'date' },
  1114: { kind: 'timestamp' },
  1184: { kind: 'instant' },
  2950: { kind: 'uuid' },
  3802: { kind: 'json' },
}

/** Types of the elements of arrays, by the types of these. */
const elements: Readonly<Record<number, number>> = {
  1000: 16,
  1001: 17,
  1005: 21,
  1007: 23,
  1009: 25,
  1015: 1043,
  1016: 20,
  1021: 700,
  1022: 701,
  1028: 26,
  1115: 1114,
  1182: 1082,
  1185: 1184,
  1231: 1700,
  2951: 2950,
}

/** By how much the modifier of a type is more than what it says. */
const modifierOffset = 4

/**
 * The type of a column, for stores that have types; `null` if it is text. A decimal without a precision has numbers of any size.
 * @param dataTypeModifier of a numeric: its precision, and its scale, which has 11 bits and can be negative
 */
export function columnTypeOf(
  { dataTypeID, dataTypeModifier }: { dataTypeID: number; dataTypeModifier: number },
  kind: PostgresCellKind,
): ColumnType | null {
  const element = elements[dataTypeID]
  if (kind === 'array' && element !== undefined) {
    return { kind: 'list', items: columnTypeOf({ dataTypeID: element, dataTypeModifier }, 'text') }
  }
  if (kind === 'array' || kind === 'json-array' || kind === 'composite') return { kind: 'json' }
  if (dataTypeID !== 1700) return types[dataTypeID] ?? null
  if (dataTypeModifier < modifierOffset) return { kind: 'decimal' }
  const modifier = dataTypeModifier - modifierOffset
  const precision = modifier >> 16
  const scale = ((modifier & 0x7ff) ^ 1024) - 1024
  return scale < 0 || scale > precision ? null : { kind: 'decimal', precision, scale }
}

/** @param text as COPY writes it in a session whose times are UTC and ISO */
export function cellOf(text: string | null, kind: PostgresCellKind): Cell {
  if (text === null) return null
  switch (kind) {
    case 'number': {
      const number = Number(text)
      // NaN, the infinities and minus zero are not numbers of JSON.
      return Number.isFinite(number) && !Object.is(number, -0) ? number : text
    }
    case 'boolean':
      return text === 't'
    // `infinity`, and years before Christ, have no form in ISO 8601 that others read.
    case 'local-time':
      return timestamp.test(text) ? text.replace(' ', 'T') : text
    case 'time':
      return timestamp.test(text) ? `${text.slice(0, 10)}T${text.slice(11, -3)}Z` : text
    default:
      return text
  }
}

const timestamp = /^\d{4}-\d\d-\d\d [\d:.]+(\+00)?$/
