import type { Cell, ColumnType } from '@penstock/connector'
import { notOrdered } from '../databases/keyset.ts'
import { splitTypes } from '../databases/nested-types.ts'
import { quoteText } from './target-columns.ts'

/** A column of a result, as ClickHouse describes it. */
export type ReadColumn = {
  readonly name: string
  /** As ClickHouse writes it, as in `Nullable(Int64)`. */
  readonly type: string
  /** The same without Nullable and LowCardinality, as in `Int64`. */
  readonly bare: string
}

/** A column by its name and its type, as the head of an answer has them. */
export const readColumnOf = (name: string, type: string): ReadColumn => ({ name, type, bare: bareTypeOf(type) })

/** A type without what only says how it is stored. */
export function bareTypeOf(type: string): string {
  const [, inner] = /^(?:LowCardinality|Nullable)\((.*)\)$/s.exec(type) ?? []
  if (inner !== undefined) return bareTypeOf(inner)
  const [, value] = /^SimpleAggregateFunction\(\w+, (.*)\)$/s.exec(type) ?? []
  return value === undefined ? type : bareTypeOf(value)
}

type Kind = 'whole' | 'decimal' | 'float' | 'truth' | 'day' | 'time' | 'bytes' | 'nested' | 'text'

function kindOf(bare: string): Kind {
  if (/^U?Int\d+$/.test(bare)) return 'whole'
  if (bare.startsWith('Decimal(')) return 'decimal'
  if (/^B?Float\d+$/.test(bare)) return 'float'
  if (bare === 'Bool') return 'truth'
  if (bare === 'Date' || bare === 'Date32') return 'day'
  if (/^DateTime(64)?\b/.test(bare)) return 'time'
  if (/^(Fixed)?String\b/.test(bare)) return 'bytes'
  if (/^(Array|Map|Tuple|Nested|JSON|Object|Variant|Dynamic|Point|Ring|LineString|Polygon|Multi)/.test(bare))
    return 'nested'
  return 'text'
}

const decimalOf = (bare: string): { readonly precision: number; readonly scale: number } => {
  const [, precision = '0', scale = '0'] = /^Decimal\((\d{1,2}), ?(\d{1,2})\)$/.exec(bare) ?? []
  return { precision: Number(precision), scale: Number(scale) }
}

const digitsOf = (bare: string): number => Number(/^DateTime64\((\d)/.exec(bare)?.[1] ?? 0)

/**
 * SQL that converts a value to text. Every value is read as text, because the JSON of numbers depends on settings that a user
 * with readonly = 1 cannot change.
 */
export function textSqlOf(expression: string, { bare }: ReadColumn): string {
  switch (kindOf(bare)) {
    case 'bytes':
      return expression
    case 'truth':
      return `toString(toUInt8(${expression}))`
    case 'time':
      return `toString(toTimeZone(${expression}, 'UTC'))`
    case 'nested':
      return `toJSONString(${expression})`
    default:
      return `toString(${expression})`
  }
}

/**
 * Converts such a text to a cell. Whole numbers are numbers unless digits would be lost. Decimals are text with all their
 * decimal places. Days are ISO 8601, and so are times, in UTC. Lists, maps and tuples are JSON.
 */
export function cellOf(text: string | null, { bare }: ReadColumn): Cell {
  if (text === null) return null
  switch (kindOf(bare)) {
    case 'whole': {
      const number = Number(text)
      return Number.isSafeInteger(number) ? number : text
    }
    case 'float': {
      const number = Number(text)
      // NaN and the infinities are not numbers of JSON.
      return text !== '' && Number.isFinite(number) ? number : text
    }
    case 'truth':
      return text === '1'
    case 'decimal':
      return withScale(text, decimalOf(bare).scale)
    case 'time': {
      const [seconds = '', fraction = ''] = timeTextOf(text).split('.')
      const digits = fraction.replace(/0+$/, '')
      return `${seconds.replace(' ', 'T')}${digits === '' ? '' : `.${digits}`}Z`
    }
    case 'bytes':
      return bare === 'String' ? text : text.replace(/\0+$/, '')
    default:
      return text
  }
}

/** A setting decides whether servers omit the trailing zeros of a decimal. */
function withScale(text: string, scale: number): string {
  if (scale === 0 || !/^-?\d+(\.\d+)?$/.test(text)) return text
  const [whole = '', fraction = ''] = text.split('.')
  return `${whole}.${fraction.padEnd(scale, '0')}`
}

/** A time in UTC as ClickHouse's functions accept it, from either of its two formats. */
const timeTextOf = (text: string): string => text.replace('T', ' ').replace(/Z$/, '')

/**
 * The type of a column, for destinations that have types. `null` if it is text, or has more digits than decimals of other
 * stores.
 */
export function columnTypeOf({ bare }: ReadColumn): ColumnType | null {
  switch (kindOf(bare)) {
    case 'whole':
      if (/^(UInt(8|16|32)|Int(8|16|32|64))$/.test(bare)) return { kind: 'bigint' }
      return bare === 'UInt64' ? { kind: 'decimal', precision: 20, scale: 0 } : null
    case 'decimal': {
      const { precision, scale } = decimalOf(bare)
      return precision >= 1 && precision <= 38 ? { kind: 'decimal', precision, scale } : null
    }
    case 'float':
      return { kind: 'double' }
    case 'truth':
      return { kind: 'boolean' }
    case 'day':
      return { kind: 'date' }
    case 'time':
      return { kind: 'instant', digits: digitsOf(bare) > 6 ? 9 : digitsOf(bare) > 3 ? 6 : 3 }
    case 'nested':
      return nestedTypeOf(bare, 0)
    default:
      return null
  }
}

/** Types within each other that are declared. */
const levelsMax = 10

/**
 * The type of a list, or of a tuple whose values have names. The JSON of other tuples is like the JSON of a list of anything.
 */
function nestedTypeOf(bare: string, level: number): ColumnType | null {
  const [, name, inside = ''] = /^(Array|Tuple|Nested)\((.*)\)$/s.exec(bare) ?? []
  if (name === undefined || level === levelsMax) return { kind: 'json' }
  const typeOf = (type: string): ColumnType | null => {
    const inner = bareTypeOf(type.trim())
    const kind = kindOf(inner)
    if (kind === 'nested') return nestedTypeOf(inner, level + 1)
    // Within JSON, times have the time zone of their column or of the server.
    return kind === 'time' ? null : columnTypeOf(readColumnOf('', inner))
  }
  if (name === 'Array') return { kind: 'list', items: typeOf(inside) }
  const fields = splitTypes(inside, `'"\``).map((field) => {
    const [, quoted, plain = '', type = ''] = /^\s*(?:`((?:[^`\\]|\\.)*)`|(\w+))\s+(\S.*)$/s.exec(field) ?? []
    return { name: quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1'), type: typeOf(type) }
  })
  if (fields.some((field) => field.name === '')) return { kind: 'json' }
  const struct: ColumnType = { kind: 'struct', fields }
  return name === 'Nested' ? { kind: 'list', items: struct } : struct
}

/** SQL of the text by which a row is found again in its order. Of a text these are its bytes, which need not be UTF-8. */
export const orderSqlOf = (expression: string, column: ReadColumn): string =>
  kindOf(column.bare) === 'bytes' ? `hex(${expression})` : textSqlOf(expression, column)

/** SQL of the value that such a text means. Throws `invalid_setting` if rows cannot be ordered by the column. */
export function literalOf(text: string, { name, type, bare }: ReadColumn): string {
  const kind = kindOf(bare)
  if (kind === 'nested' || kind === 'float' || bare.startsWith('AggregateFunction')) {
    throw notOrdered({ name, type })
  }
  const [, length] = /^FixedString\((\d{1,6})\)$/.exec(bare) ?? []
  switch (kind) {
    case 'bytes': {
      const bytes = `unhex(${quoteText(text)})`
      return length === undefined ? bytes : `toFixedString(${bytes}, ${length})`
    }
    case 'truth':
      return text === '1' ? 'true' : 'false'
    case 'time':
      return bare.startsWith('DateTime64')
        ? `toDateTime64(${quoteText(timeTextOf(text))}, ${digitsOf(bare)}, 'UTC')`
        : `toDateTime(${quoteText(timeTextOf(text))}, 'UTC')`
    default:
      return `cast(${quoteText(text)} as ${bare})`
  }
}

/** SQL of a value that was judged for a column. Throws as `literalOf` does. */
export function literalOfValue(
  value: unknown,
  { name, type }: { readonly name: string; readonly type: string },
): string {
  const column = readColumnOf(name, type)
  const text = typeof value === 'boolean' ? String(Number(value)) : String(value)
  return literalOf(kindOf(column.bare) === 'bytes' ? Buffer.from(text).toString('hex').toUpperCase() : text, column)
}

/** The kind of cursor that a column can be: `number`, `time` or `day`. `undefined` if the column cannot be a cursor. */
export function cursorKindOf({ bare }: ReadColumn): 'number' | 'time' | 'day' | undefined {
  const kind = kindOf(bare)
  if (kind === 'whole' || kind === 'decimal') return 'number'
  return kind === 'time' || kind === 'day' ? kind : undefined
}
