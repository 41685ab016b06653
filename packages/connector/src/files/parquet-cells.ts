import { isUtf8 } from 'node:buffer'
import type { ParquetParsers, SchemaElement } from 'hyparquet'
import type { Cell } from '../rows.ts'

/**
 * Values of Parquet as cells. Columns that the library would turn into numbers or moments with fewer digits than they
 * have are read as they are stored, and brought into text here.
 */

/** What stands for bytes that should be text and are none. */
export const noText = Symbol('no text')

type FromStored = (value: unknown) => Cell | typeof noText

/** How the values of a column are read: the element to read them by, and what makes a cell of one. */
export type ColumnReading = { readonly element: SchemaElement; readonly cellOf: FromStored }

/** How a column is to be read that is no group of others. */
export function readingOf(element: SchemaElement): ColumnReading {
  const { converted_type: converted, logical_type: logical, type } = element
  const { converted_type: _converted, logical_type: _logical, ...stored } = element
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    const scale = element.scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0)
    return { element: stored, cellOf: (value) => decimalOf(value, scale) }
  }
  if (converted === 'DATE' || logical?.type === 'DATE') return { element: stored, cellOf: dateOf }
  if (logical?.type === 'TIMESTAMP' || logical?.type === 'TIME') {
    const { unit, isAdjustedToUTC } = logical
    const digits = unit === 'NANOS' ? 9 : unit === 'MICROS' ? 6 : 3
    const of = logical.type === 'TIME' ? timeOf : isAdjustedToUTC ? momentOf : localTimeOf
    return { element: stored, cellOf: (value) => of(value, digits) }
  }
  if (converted === 'TIMESTAMP_MILLIS') return { element: stored, cellOf: (value) => momentOf(value, 3) }
  if (converted === 'TIMESTAMP_MICROS') return { element: stored, cellOf: (value) => momentOf(value, 6) }
  if (converted === 'TIME_MILLIS') return { element: stored, cellOf: (value) => timeOf(value, 3) }
  if (converted === 'TIME_MICROS') return { element: stored, cellOf: (value) => timeOf(value, 6) }
  if (type === 'FLOAT') return { element, cellOf: floatOf }
  if (type === 'FIXED_LEN_BYTE_ARRAY' && logical?.type !== 'UUID' && logical?.type !== 'FLOAT16') {
    return { element: stored, cellOf: hexadecimalOf }
  }
  const binary = converted === 'BSON' || logical?.type === 'GEOMETRY' || logical?.type === 'GEOGRAPHY'
  return { element: binary ? stored : element, cellOf: binary ? hexadecimalOf : plainOf }
}

/** What the library calls while it reads. */
export const parsers: Partial<ParquetParsers> = {
  stringFromBytes: (bytes) => bytes && textOf(bytes),
  jsonFromBytes: (bytes) => bytes && textOf(bytes),
  dateFromDays: (days) => (days === undefined || days === null ? days : dateOf(days)),
  timestampFromMilliseconds: (millis) => (isNone(millis) ? millis : momentOf(millis, 3)),
  timestampFromMicroseconds: (micros) => (isNone(micros) ? micros : momentOf(micros, 6)),
  timestampFromNanoseconds: (nanos) => (isNone(nanos) ? nanos : momentOf(nanos, 9)),
}

const isNone = (value: unknown): boolean => value === undefined || value === null

/** A group of columns as JSON text. */
export function nestedOf(value: unknown): Cell | typeof noText {
  if (isNone(value)) return null
  let broken = false
  const text = JSON.stringify(value, (_key, inner: unknown) => {
    if (inner === noText) broken = true
    if (typeof inner === 'bigint') return cellOfBigint(inner)
    if (inner instanceof Uint8Array) return isUtf8(inner) ? Buffer.from(inner).toString() : hexadecimalOf(inner)
    return ArrayBuffer.isView(inner) ? [...(inner as unknown as Iterable<unknown>)] : inner
  })
  return broken ? noText : text
}

function textOf(bytes: Uint8Array): string | typeof noText {
  if (!isUtf8(bytes)) return noText
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}

const cellOfBigint = (value: bigint): Cell =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value)

function plainOf(value: unknown): Cell | typeof noText {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return cellOfBigint(value)
    case 'symbol':
      return noText
    default:
      if (isNone(value)) return null
      return value instanceof Uint8Array ? textOf(value) : nestedOf(value)
  }
}

/** The shortest number that is the same one in single precision: 0.1 and not 0.10000000149011612. */
function floatOf(value: unknown): Cell {
  if (typeof value !== 'number') return null
  if (!Number.isFinite(value)) return String(value)
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}

const hexadecimalOf = (value: unknown): Cell =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : null

function decimalOf(value: unknown, scale: number): Cell {
  const unscaled = wholeOf(value)
  if (unscaled === undefined) return null
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const sign = unscaled < 0n ? '-' : ''
  return scale > 0 ? `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}` : `${sign}${digits}`
}

/** A whole number out of what is stored: bytes are big-endian, in two's complement. */
function wholeOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return BigInt(value)
  if (!(value instanceof Uint8Array)) return undefined
  if (value.length === 0) return 0n
  return BigInt.asIntN(value.length * 8, BigInt(`0x${Buffer.from(value).toString('hex')}`))
}

function dateOf(value: unknown): Cell {
  if (typeof value !== 'number') return null
  const date = new Date(value * 86_400_000)
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString().slice(0, -14)
}

/** Divides as a calendar does: the rest is never negative. */
function splitSeconds(value: bigint, digits: number): { seconds: bigint; fraction: string } {
  const units = 10n ** BigInt(digits)
  const rest = ((value % units) + units) % units
  return { seconds: (value - rest) / units, fraction: String(rest).padStart(digits, '0') }
}

/** A moment in time, which ends in Z. */
function momentOf(value: unknown, digits: number): Cell {
  const local = localTimeOf(value, digits)
  return typeof local === 'string' && local.includes('T') ? `${local}Z` : local
}

/** A date and a time of day in whatever place. */
function localTimeOf(value: unknown, digits: number): Cell {
  const whole = wholeOf(value)
  if (whole === undefined) return null
  const { seconds, fraction } = splitSeconds(whole, digits)
  const date = new Date(Number(seconds) * 1000)
  // Beyond the years that a calendar of JavaScript has, only the number is left.
  return Number.isNaN(date.getTime()) ? String(whole) : `${date.toISOString().slice(0, -5)}.${fraction}`
}

function timeOf(value: unknown, digits: number): Cell {
  const whole = wholeOf(value)
  if (whole === undefined) return null
  const { seconds, fraction } = splitSeconds(whole, digits)
  return `${new Date(Number(seconds) * 1000).toISOString().slice(11, 19)}.${fraction}`
}
