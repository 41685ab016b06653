import type { SchemaElement } from 'hyparquet'
import type { ColumnType } from './column-types.ts'
import type { Cell } from './rows.ts'

/** How columns are stored in files that are written: the types of Parquet, and cells as their values. */

/** A value in the form that the library accepts; null if there is no value. */
export type StoredValue =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | null
  | readonly StoredValue[]
  | { readonly [name: string]: StoredValue }

/** How the values of a column are stored that has one value in each row. */
export type StoredLeaf = {
  readonly element: Pick<SchemaElement, 'converted_type' | 'logical_type' | 'precision' | 'scale' | 'type_length'> & {
    readonly type: NonNullable<SchemaElement['type']>
  }
  /** Whether the older name of the type is only for the end of the file, since the library would convert values by it. */
  readonly convertedAtEnd?: boolean
  /** The stored form of a cell that is not null; `undefined` if the column cannot store it exactly. */
  readonly storedOf: (cell: Exclude<Cell, null>) => StoredValue | undefined
  /** The form that a cell must have, to follow “A value is not”. */
  readonly needed: string
}

const textColumn: StoredLeaf = {
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  storedOf: String,
  needed: 'text',
}

/** More digits are no decimal that other programs read. */
const precisionMax = 38

/** How a column of a type that is not nested is stored. If no type of Parquet can store its values exactly, it is text. */
export function storedLeaf(type: ColumnType | null): StoredLeaf {
  switch (type?.kind) {
    case 'boolean':
      return { element: { type: 'BOOLEAN' }, storedOf: truthOf, needed: 'true or false' }
    case 'smallint':
    case 'integer':
      return {
        element: { type: 'INT32' },
        storedOf: (cell) => numberWithin(wholeOf(cell), 32),
        needed: 'a whole number',
      }
    case 'bigint':
      return { element: { type: 'INT64' }, storedOf: (cell) => within(wholeOf(cell), 64), needed: 'a whole number' }
    case 'double':
      return { element: { type: 'DOUBLE' }, storedOf: doubleOf, needed: 'a number' }
    case 'date':
      return {
        element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
        storedOf: daysOf,
        needed: 'a date',
      }
    case 'timestamp':
    case 'instant':
      return timeColumn(type.kind === 'instant', type.digits ?? 6)
    case 'decimal':
      return type.precision === undefined || type.precision < 1 || type.precision > precisionMax
        ? textColumn
        : decimalColumn(type.precision, type.scale ?? 0)
    case 'json':
      return {
        element: { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } },
        convertedAtEnd: true,
        storedOf: jsonOf,
        needed: 'JSON',
      }
    case 'bytes':
      return { element: { type: 'BYTE_ARRAY' }, storedOf: bytesOf, needed: 'bytes' }
    default:
      return textColumn
  }
}

const truthOf = (cell: Exclude<Cell, null>): boolean | undefined =>
  typeof cell === 'boolean' ? cell : cell === 'true' ? true : cell === 'false' ? false : undefined

function wholeOf(cell: Exclude<Cell, null>): bigint | undefined {
  if (typeof cell === 'number') return Number.isSafeInteger(cell) ? BigInt(cell) : undefined
  return typeof cell === 'string' && /^-?\d{1,39}$/.test(cell) ? BigInt(cell) : undefined
}

const within = (value: bigint | undefined, bits: number): bigint | undefined =>
  value !== undefined && BigInt.asIntN(bits, value) === value ? value : undefined

function numberWithin(value: bigint | undefined, bits: number): number | undefined {
  const fitting = within(value, bits)
  return fitting === undefined ? undefined : Number(fitting)
}

function doubleOf(cell: Exclude<Cell, null>): number | undefined {
  if (typeof cell === 'number') return cell
  if (cell === 'NaN' || cell === 'Infinity' || cell === '-Infinity') return Number(cell)
  if (typeof cell !== 'string' || !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(cell)) return undefined
  const number = Number(cell)
  return Number.isFinite(number) ? number : undefined
}

const msOfDay = 86_400_000

function daysOf(cell: Exclude<Cell, null>): number | undefined {
  const ms = typeof cell === 'string' ? dayMs(cell) : undefined
  return ms === undefined ? undefined : ms / msOfDay
}

/** The beginning of a day of the calendar in UTC, in milliseconds since 1970. */
function dayMs(day: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return undefined
  const ms = Date.parse(`${day}T00:00:00Z`)
  // 30 February is read as a day in March.
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day ? undefined : ms
}

function timeColumn(isInstant: boolean, digits: 3 | 6 | 9): StoredLeaf {
  const unit = ({ 3: 'MILLIS', 6: 'MICROS', 9: 'NANOS' } as const)[digits]
  // The older names exist only for instants, and not for nanoseconds.
  const converted = isInstant && unit !== 'NANOS' ? { converted_type: `TIMESTAMP_${unit}` as const } : {}
  return {
    element: {
      type: 'INT64',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: isInstant, unit },
      ...converted,
    },
    storedOf: (cell) => (typeof cell === 'string' ? unitsOf(cell, isInstant, digits) : undefined),
    needed: isInstant ? 'a time with its zone' : 'a time without a zone',
  }
}

/** Units with this number of fractional digits of a second, since 1970. */
function unitsOf(text: string, isInstant: boolean, digits: number): bigint | undefined {
  const [, day = '', hours, minutes, seconds = '0', fraction = '', zone = ''] =
    /^(\d{4}-\d\d-\d\d)[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? []
  const ms = dayMs(day)
  if (ms === undefined || isInstant !== (zone !== '')) return undefined
  if (/[1-9]/.test(fraction.slice(digits))) return undefined
  const [, sign, offsetHours = '0', offsetMinutes = '0'] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? []
  const offset = (sign === '-' ? -60 : 60) * (Number(offsetHours) * 60 + Number(offsetMinutes))
  const whole = ms / 1000 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) - offset
  return within(BigInt(whole) * 10n ** BigInt(digits) + BigInt(fraction.slice(0, digits).padEnd(digits, '0')), 64)
}

function decimalColumn(precision: number, scale: number): StoredLeaf {
  // The largest one with its sign.
  const bits = (10n ** BigInt(precision)).toString(2).length + 1
  return {
    element: {
      ...(precision <= 18 ? { type: 'INT64' } : { type: 'FIXED_LEN_BYTE_ARRAY', type_length: Math.ceil(bits / 8) }),
      converted_type: 'DECIMAL',
      logical_type: { type: 'DECIMAL', precision, scale },
      precision,
      scale,
    },
    storedOf: (cell) => unscaledOf(String(cell), precision, scale),
    needed: `a decimal of at most ${precision} digits, ${scale} of them behind the point`,
  }
}

function unscaledOf(text: string, precision: number, scale: number): bigint | undefined {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?$/.exec(text) ?? []
  if (whole === '' || /[1-9]/.test(fraction.slice(scale))) return undefined
  const digits = `${whole}${fraction.slice(0, scale).padEnd(scale, '0')}`.replace(/^0+(?=\d)/, '')
  if (digits.length > precision) return undefined
  return sign === '-' ? -BigInt(digits) : BigInt(digits)
}

/** Invalid JSON becomes a JSON text, so that every value of the column is JSON. */
function jsonOf(cell: Exclude<Cell, null>): string {
  if (typeof cell !== 'string') return JSON.stringify(cell)
  try {
    JSON.parse(cell)
    return cell
  } catch {
    return JSON.stringify(cell)
  }
}

function bytesOf(cell: Exclude<Cell, null>): Uint8Array | undefined {
  const digits = typeof cell === 'string' ? /^\\x((?:[0-9a-f]{2})*)$/i.exec(cell)?.[1] : undefined
  return digits === undefined ? undefined : Buffer.from(digits, 'hex')
}
