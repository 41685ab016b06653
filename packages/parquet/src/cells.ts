import { isUtf8 } from 'node:buffer'
import type { ColumnType } from './column-types.ts'
import type { Stored } from './encodings.ts'
import type { Cell } from './rows.ts'
import type { Element } from './schema.ts'

/** Values of Parquet as cells, with all digits that they have. */

/** The replacement for bytes that should be text and are not. */
export const noText = Symbol('no text')

/** Converts a stored value to a cell. */
export type FromStored = (value: Stored) => Cell | typeof noText

/** How the values of a column become cells. */
export function cellsOf(element: Element): FromStored {
  const { type, converted, logical, scale } = element
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') return (value) => decimalOf(value, scale)
  if (converted === 'DATE' || logical?.type === 'DATE') return dateOf
  if (logical?.type === 'TIME') return (value) => timeOf(value, logical.digits)
  if (logical?.type === 'TIMESTAMP') {
    return logical.utc ? (value) => timestampOf(value, logical.digits) : (value) => localTimeOf(value, logical.digits)
  }
  switch (converted) {
    case 'TIMESTAMP_MILLIS':
      return (value) => timestampOf(value, 3)
    case 'TIMESTAMP_MICROS':
      return (value) => timestampOf(value, 6)
    case 'TIME_MILLIS':
      return (value) => timeOf(value, 3)
    case 'TIME_MICROS':
      return (value) => timeOf(value, 6)
  }
  switch (type) {
    case 'BOOLEAN':
      return (value) => value === true
    case 'INT32':
      return isUnsigned(element, 32) ? (value) => Number(value) >>> 0 : numberOf
    case 'INT64':
      return isUnsigned(element, 64) ? (value) => wholeCell(BigInt.asUintN(64, value as bigint)) : numberOf
    case 'INT96':
      return (value) => timestampOf(nanosecondsOf(value as Buffer), 9)
    case 'FLOAT':
      return floatOf
    case 'DOUBLE':
      return numberOf
    case 'FIXED_LEN_BYTE_ARRAY':
      if (logical?.type === 'UUID') return uuidOf
      return logical?.type === 'FLOAT16' ? halfOf : hexadecimalOf
    case 'BYTE_ARRAY':
      return isText(element) ? textOf : hexadecimalOf
  }
}

/** The type of a column, if it is one that can be declared; `null` for texts and all other types. */
export function typeOfElement(element: Element): ColumnType | null {
  const { type, converted, logical, scale, precision } = element
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    return precision > 0 ? { kind: 'decimal', precision, scale } : null
  }
  if (converted === 'DATE' || logical?.type === 'DATE') return { kind: 'date' }
  if (logical?.type === 'TIMESTAMP') return { kind: logical.utc ? 'instant' : 'timestamp', digits: logical.digits }
  if (converted === 'TIMESTAMP_MILLIS') return { kind: 'instant', digits: 3 }
  if (converted === 'TIMESTAMP_MICROS') return { kind: 'instant', digits: 6 }
  if (logical?.type === 'TIME' || converted === 'TIME_MILLIS' || converted === 'TIME_MICROS') return null
  switch (type) {
    case 'BOOLEAN':
      return { kind: 'boolean' }
    case 'INT32':
      return { kind: isUnsigned(element, 32) ? 'bigint' : 'integer' }
    case 'INT64':
      return isUnsigned(element, 64) ? { kind: 'decimal', precision: 20, scale: 0 } : { kind: 'bigint' }
    case 'INT96':
      return { kind: 'instant', digits: 9 }
    case 'FLOAT':
    case 'DOUBLE':
      return { kind: 'double' }
    case 'FIXED_LEN_BYTE_ARRAY':
      if (logical?.type === 'FLOAT16') return { kind: 'double' }
      return { kind: logical?.type === 'UUID' ? 'uuid' : 'bytes' }
    case 'BYTE_ARRAY':
      if (converted === 'JSON' || logical?.type === 'JSON') return { kind: 'json' }
      return isText(element) ? null : { kind: 'bytes' }
  }
}

const isUnsigned = ({ converted, logical }: Element, bits: number): boolean =>
  converted === `UINT_${bits}` ||
  // The smaller ones have the bits of the larger.
  (bits === 32 && (converted === 'UINT_8' || converted === 'UINT_16')) ||
  (logical?.type === 'INTEGER' && !logical.signed && (logical.bits === bits || (bits === 32 && logical.bits < bits)))

/** Columns that are not marked as text are bytes in every row, even if some values are valid text. */
const isText = ({ converted, logical }: Element): boolean =>
  converted === 'UTF8' ||
  converted === 'ENUM' ||
  converted === 'JSON' ||
  logical?.type === 'STRING' ||
  logical?.type === 'ENUM' ||
  logical?.type === 'JSON'

function textOf(value: Stored): string | typeof noText {
  const bytes = value as Buffer
  return isUtf8(bytes) ? bytes.toString('utf8') : noText
}

/** Whole numbers and fractions; text if a number would lose digits. */
function numberOf(value: Stored): Cell {
  if (typeof value === 'bigint') return wholeCell(value)
  const number = value as number
  if (!Number.isFinite(number)) return String(number)
  return Object.is(number, -0) ? '-0' : number
}

const wholeCell = (value: bigint): Cell =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value)

/** The shortest number that is the same one in single precision: 0.1 and not 0.10000000149011612. */
function floatOf(value: Stored): Cell {
  const number = value as number
  if (!Number.isFinite(number)) return numberOf(number)
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(number.toPrecision(digits))
    if (Math.fround(short) === number) return numberOf(short)
  }
  return numberOf(number)
}

/** Half precision: a sign, five bits of exponent, ten of fraction. */
function halfOf(value: Stored): Cell {
  const bytes = value as Buffer
  if (bytes.length !== 2) return hexadecimalOf(value)
  const bits = bytes.readUInt16LE()
  const sign = bits >> 15 === 1 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  if (exponent === 31) return fraction > 0 ? 'NaN' : String(sign * Number.POSITIVE_INFINITY)
  return numberOf(sign * (exponent === 0 ? 2 ** -24 * fraction : 2 ** (exponent - 25) * (1024 + fraction)))
}

/** Bytes as PostgreSQL shows them, which no plain text of a column is taken for. */
const hexadecimalOf = (value: Stored): string => `\\x${(value as Buffer).toString('hex')}`

function uuidOf(value: Stored): string {
  const hex = (value as Buffer).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** No program writes decimals with more bytes than this, and converting them would take long. */
const decimalBytesMax = 128

function decimalOf(value: Stored, scale: number): Cell | typeof noText {
  if (Buffer.isBuffer(value) && value.length > decimalBytesMax) return noText
  const unscaled = wholeOf(value)
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const sign = unscaled < 0n ? '-' : ''
  return scale > 0 ? `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}` : `${sign}${digits}`
}

/** A whole number from its stored value: bytes are big-endian, in two's complement. */
function wholeOf(value: Stored): bigint {
  if (!Buffer.isBuffer(value)) return BigInt(value)
  return value.length === 0 ? 0n : BigInt.asIntN(value.length * 8, BigInt(`0x${value.toString('hex')}`))
}

/** Nanoseconds since 1970, from the nanoseconds of a day and the number of the day. */
const nanosecondsOf = (value: Buffer): bigint =>
  (BigInt(value.readInt32LE(8)) - 2_440_588n) * 86_400_000_000_000n + value.readBigInt64LE(0)

function dateOf(value: Stored): Cell {
  const date = new Date(Number(value) * 86_400_000)
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString().slice(0, -14)
}

/** Divides as a calendar does: the rest is never negative. */
function splitSeconds(value: bigint, digits: number): { seconds: bigint; fraction: string } {
  const units = 10n ** BigInt(digits)
  const rest = ((value % units) + units) % units
  return { seconds: (value - rest) / units, fraction: String(rest).padStart(digits, '0') }
}

/** A time in time, which ends in Z. */
function timestampOf(value: Stored, digits: number): string {
  const local = localTimeOf(value, digits)
  return local.includes('T') ? `${local}Z` : local
}

/** A local date and time of day, without a zone. */
function localTimeOf(value: Stored, digits: number): string {
  const whole = wholeOf(value)
  const { seconds, fraction } = splitSeconds(whole, digits)
  const date = new Date(Number(seconds) * 1000)
  // Beyond the years that a calendar of JavaScript has, only the number is left.
  return Number.isNaN(date.getTime()) ? String(whole) : `${date.toISOString().slice(0, -5)}.${fraction}`
}

/** A time of day. If the value is not a time of day, returns only the number. */
function timeOf(value: Stored, digits: number): string {
  const whole = wholeOf(value)
  const { seconds, fraction } = splitSeconds(whole, digits)
  if (seconds < 0n || seconds >= 86_400n) return String(whole)
  return `${new Date(Number(seconds) * 1000).toISOString().slice(11, 19)}.${fraction}`
}
