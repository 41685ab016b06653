import type { Cell, ColumnType } from '@penstock/connector'
import { notOrdered } from '../databases/keyset.ts'
import { localTime } from '../databases/timestamps.ts'
import { nestedTypeOf } from './nested-types.ts'
import { quoteText } from './target-columns.ts'

/** A column of a result, as Databricks describes it. */
export type ResultColumn = {
  readonly name: string
  /** In capitals and without spaces, as in `BIGINT`, or `DECIMAL(12,2)`. */
  readonly type: string
  /** As Databricks writes it, as in `struct<fullName:string>`. */
  readonly declared?: string
}

const isNested = (type: string): boolean => /^(ARRAY|MAP|STRUCT|VARIANT|OBJECT)\b/.test(type)
const isText = (type: string): boolean => /^(STRING|CHAR|VARCHAR)\b/.test(type)
const isWhole = (type: string): boolean => /^(TINYINT|BYTE|SMALLINT|SHORT|INT|INTEGER|BIGINT|LONG)$/.test(type)
const isFloat = (type: string): boolean => /^(FLOAT|REAL|DOUBLE)$/.test(type)
const decimalOf = (type: string): { readonly precision: number; readonly scale: number } | undefined => {
  const [, precision, scale] = /^DECIMAL\((\d{1,2}),(\d{1,2})\)$/.exec(type) ?? []
  return precision === undefined ? undefined : { precision: Number(precision), scale: Number(scale) }
}

/** SQL that converts a value to text, independently of the session's time zone and formats. */
export function textSqlOf(expression: string, { type }: ResultColumn): string {
  if (isText(type)) return expression
  if (isNested(type)) return `to_json(${expression})`
  if (type === 'BINARY') return `hex(${expression})`
  if (type === 'TIMESTAMP') return `cast(unix_micros(${expression}) as string)`
  return `cast(${expression} as string)`
}

/**
 * Converts such a text to a cell. Whole numbers are numbers unless digits would be lost. Decimals stay text. Times are ISO
 * 8601, and in UTC if they have a zone. Bytes are \x and hexadecimal digits. Lists, maps and structs are JSON.
 */
export function cellOf(text: string | null, { type }: ResultColumn): Cell {
  if (text === null) return null
  if (isWhole(type)) {
    const number = Number(text)
    return Number.isSafeInteger(number) ? number : text
  }
  if (isFloat(type)) {
    const number = Number(text)
    // NaN and the infinities are not numbers of JSON.
    return text !== '' && Number.isFinite(number) ? number : text
  }
  if (type === 'BOOLEAN') return text === 'true'
  if (type === 'BINARY') return `\\x${text.toLowerCase()}`
  if (type === 'TIMESTAMP') {
    const local = /^-?\d{1,18}$/.test(text) ? localTime(BigInt(text) * 1000n) : undefined
    return local === undefined ? text : `${local}Z`
  }
  return type === 'TIMESTAMP_NTZ' ? text.replace(' ', 'T') : text
}

/** The type of a column, for destinations that have types. `null` if it is text. */
export function columnTypeOf({ type, declared }: ResultColumn): ColumnType | null {
  if (isWhole(type)) return { kind: 'bigint' }
  if (isFloat(type)) return { kind: 'double' }
  if (isNested(type)) return nestedTypeOf(declared ?? type, scalarTypeOf) ?? { kind: 'json' }
  const decimal = decimalOf(type)
  if (decimal) return { kind: 'decimal', precision: decimal.precision, scale: decimal.scale }
  const kinds: Readonly<Record<string, ColumnType>> = {
    BOOLEAN: { kind: 'boolean' },
    BINARY: { kind: 'bytes' },
    DATE: { kind: 'date' },
    TIMESTAMP: { kind: 'instant' },
    TIMESTAMP_NTZ: { kind: 'timestamp' },
  }
  return kinds[type] ?? null
}

/** The type of a value within JSON, in which bytes are Base64. */
const scalarTypeOf = (declared: string): ColumnType | null => {
  const type = declared.toUpperCase().replaceAll(' ', '')
  return type === 'BINARY' ? null : columnTypeOf({ name: '', type })
}

/** SQL of the value that a text of `textSqlOf` means. Throws `invalid_setting` if rows cannot be ordered by the column. */
export function literalOf(text: string, { name, type }: ResultColumn): string {
  if (isText(type)) return quoteText(text)
  if (type === 'TIMESTAMP') return `timestamp_micros(cast(${quoteText(text)} as BIGINT))`
  if (type === 'BINARY') return `unhex(${quoteText(text)})`
  if (isWhole(type) || decimalOf(type) || /^(BOOLEAN|DATE|TIMESTAMP_NTZ)$/.test(type)) {
    return `cast(${quoteText(text)} as ${type})`
  }
  throw notOrdered({ name, type })
}

/** The kind of cursor that a column can be: `number`, `time` or `day`. `undefined` if the column cannot be a cursor. */
export function cursorKindOf({ type }: ResultColumn): 'number' | 'time' | 'day' | undefined {
  if (isWhole(type) || decimalOf(type)) return 'number'
  if (type === 'DATE') return 'day'
  return type === 'TIMESTAMP' || type === 'TIMESTAMP_NTZ' ? 'time' : undefined
}
