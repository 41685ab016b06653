import type { Cell, ColumnType } from '@penstock/connector'
import { notOrdered } from '../databases/keyset.ts'
import { localTime } from '../databases/timestamps.ts'
import { listIn, objectIn } from '../platform-api/json.ts'

/** A column of a result, or a field within one, as BigQuery describes it. */
export type FieldType = {
  readonly name: string
  /** `INTEGER`, `TIMESTAMP`, `RECORD` and so on, in the names of the older SQL. */
  readonly type: string
  readonly repeated: boolean
  /** Of a RECORD. */
  readonly fields: readonly FieldType[]
}

/** The API's names of types, by their names in SQL. */
const legacyNames: Readonly<Record<string, string>> = {
  INT64: 'INTEGER',
  FLOAT64: 'FLOAT',
  BOOL: 'BOOLEAN',
  STRUCT: 'RECORD',
  DECIMAL: 'NUMERIC',
  BIGDECIMAL: 'BIGNUMERIC',
}

export const fieldsIn = (fields: unknown): readonly FieldType[] =>
  listIn(fields).map((field) => {
    const { name, type, mode, fields: inner } = objectIn(field)
    const known = String(type).toUpperCase()
    return {
      name: String(name),
      type: legacyNames[known] ?? known,
      repeated: mode === 'REPEATED',
      fields: fieldsIn(inner),
    }
  })

const types: Readonly<Record<string, ColumnType>> = {
  INTEGER: { kind: 'bigint' },
  FLOAT: { kind: 'double' },
  BOOLEAN: { kind: 'boolean' },
  DATE: { kind: 'date' },
  DATETIME: { kind: 'timestamp' },
  TIMESTAMP: { kind: 'instant' },
  NUMERIC: { kind: 'decimal', precision: 38, scale: 9 },
  BYTES: { kind: 'bytes' },
  JSON: { kind: 'json' },
}

/**
 * The type of a column, for destinations that have types. `null` if it is text, or has more digits than decimals of other
 * stores.
 */
export function columnTypeOf({ type, repeated, fields }: FieldType): ColumnType | null {
  const one: ColumnType | null =
    type === 'RECORD'
      ? { kind: 'struct', fields: fields.map((field) => ({ name: field.name, type: columnTypeOf(field) })) }
      : (types[type] ?? null)
  return repeated ? { kind: 'list', items: one } : one
}

/**
 * Converts a value to a cell. Whole numbers are numbers unless digits would be lost. Decimals stay text. Timestamps are ISO
 * 8601 in UTC. Bytes are \x and hexadecimal digits. Records and lists are JSON.
 */
export function cellOf(value: unknown, field: FieldType): Cell {
  if (value === null || value === undefined) return null
  if (field.repeated || field.type === 'RECORD') return JSON.stringify(nestedOf(value, field))
  return plainOf(String(value), field.type)
}

function plainOf(text: string, type: string): Cell {
  switch (type) {
    case 'INTEGER': {
      const number = Number(text)
      return Number.isSafeInteger(number) ? number : text
    }
    case 'FLOAT': {
      const number = Number(text)
      // NaN and the infinities are not numbers of JSON.
      return Number.isFinite(number) ? number : text
    }
    case 'BOOLEAN':
      return text === 'true'
    case 'TIMESTAMP':
      return timestampOf(text)
    case 'BYTES':
      return `\\x${Buffer.from(text, 'base64').toString('hex')}`
    default:
      return text
  }
}

type Nested = Cell | readonly Nested[] | { readonly [name: string]: Nested }

function nestedOf(value: unknown, field: FieldType): Nested {
  if (value === null || value === undefined) return null
  if (field.repeated) {
    const one = { ...field, repeated: false }
    return listIn(value).map((each) => nestedOf(objectIn(each).v, one))
  }
  if (field.type !== 'RECORD') return plainOf(String(value), field.type)
  const cells = listIn(objectIn(value).f)
  return Object.fromEntries(field.fields.map((inner, at) => [inner.name, nestedOf(objectIn(cells[at]).v, inner)]))
}

/** Microseconds since 1970 as a time. Any other text is returned unchanged. */
function timestampOf(text: string): string {
  const local = /^-?\d{1,18}$/.test(text) ? localTime(BigInt(text) * 1000n) : undefined
  return local === undefined ? text : `${local}Z`
}

/** The values of a row, in the order of its columns. */
export const valuesIn = (row: unknown): readonly unknown[] => listIn(objectIn(row).f).map((cell) => objectIn(cell).v)

/**
 * Types of parameters for columns by which rows can be ordered. Floats are not included, because their texts can lack digits.
 */
const parameterTypes: Readonly<Record<string, string>> = {
  INTEGER: 'INT64',
  NUMERIC: 'NUMERIC',
  BIGNUMERIC: 'BIGNUMERIC',
  BOOLEAN: 'BOOL',
  STRING: 'STRING',
  BYTES: 'BYTES',
  DATE: 'DATE',
  TIME: 'TIME',
  DATETIME: 'DATETIME',
  TIMESTAMP: 'TIMESTAMP',
}

/** The type of a parameter that is compared with a column. Throws `invalid_setting` if rows cannot be ordered by it. */
export function parameterTypeOf({ name, type, repeated }: FieldType): string {
  const known = repeated ? undefined : parameterTypes[type]
  if (known !== undefined) return known
  throw notOrdered({ name, type: repeated ? 'lists' : type })
}

/** The text that identifies a row's place in the order, as a parameter expects it. */
export function orderTextOf(value: unknown, { type }: FieldType): string | null {
  if (value === null || value === undefined) return null
  return type === 'TIMESTAMP' ? timestampOf(String(value)) : String(value)
}
