import type { Cell, ColumnType } from '@penstock/connector'
import { localTime } from '../databases/timestamps.ts'

/** A column of a result, as Snowflake describes it. */
export type SnowflakeColumn = {
  readonly name: string
  /** `FIXED`, `TEXT`, `TIMESTAMP_NTZ` and so on, in capitals. */
  readonly type: string
  /** Digits behind the point of a FIXED. */
  readonly scale: number
  /** Digits of a FIXED. */
  readonly precision?: number
  /** NOT NULL. */
  readonly isRequired?: boolean
  /** Whether texts that differ can be the same: it has a collation. */
  readonly isCollated?: boolean
  /** The most characters of a TEXT. */
  readonly length?: number
}

/**
 * Converts the text of a type to a cell. Whole numbers are numbers unless digits would be lost. Decimals stay text. Days, times
 * and timestamps are ISO 8601, timestamps with their offset. Bytes are \x and hexadecimal digits. Semi-structured values are
 * JSON texts, unchanged.
 */
export function cellOf(text: string | null, { type, scale }: SnowflakeColumn): Cell {
  if (text === null) return null
  switch (type) {
    case 'FIXED': {
      const number = scale > 0 ? Number.NaN : Number(text)
      return Number.isSafeInteger(number) ? number : text
    }
    case 'REAL': {
      const number = Number(text)
      // NaN and the infinities are not numbers of JSON.
      return Number.isFinite(number) ? number : text
    }
    case 'BOOLEAN':
      return text === 'true' || text === '1'
    case 'DATE':
      return dayOf(text)
    case 'TIME':
      return timeOf(text)
    case 'TIMESTAMP_NTZ':
      return timestampOf(text)?.local ?? text
    case 'TIMESTAMP_LTZ':
      return withZone(text, 0)
    case 'TIMESTAMP_TZ':
      return withZone(text, timestampOf(text)?.offsetMinutes ?? 0)
    case 'BINARY':
      return /^([0-9A-F]{2})*$/i.test(text) ? `\\x${text.toLowerCase()}` : text
    default:
      return text
  }
}

/** The type of a column, for destinations that have types. `null` if it is text. */
export function columnTypeOf({ type, scale, precision = 38 }: SnowflakeColumn): ColumnType | null {
  switch (type) {
    case 'FIXED':
      return scale === 0 && precision <= 18 ? { kind: 'bigint' } : { kind: 'decimal', precision, scale }
    case 'REAL':
      return { kind: 'double' }
    case 'BOOLEAN':
      return { kind: 'boolean' }
    case 'DATE':
      return { kind: 'date' }
    case 'TIMESTAMP_NTZ':
      return { kind: 'timestamp', digits: 9 }
    case 'TIMESTAMP_LTZ':
    case 'TIMESTAMP_TZ':
      return { kind: 'instant', digits: 9 }
    case 'BINARY':
      return { kind: 'bytes' }
    case 'VARIANT':
    case 'OBJECT':
    case 'ARRAY':
    case 'MAP':
    case 'VECTOR':
      return { kind: 'json' }
    default:
      return null
  }
}

/** The text that identifies a row's place in the order. It is the same for equal values, and `literalOf` accepts it. */
export function orderTextOf(text: string | null, { type }: SnowflakeColumn): string | null {
  if (text === null) return null
  if (type === 'DATE') return dayOf(text)
  if (type === 'TIME') return withNanoseconds(timeOf(text))
  if (type.startsWith('TIMESTAMP_')) return withNanoseconds(timestampOf(text)?.local ?? text)
  return text
}

/** A time or time with nine digits behind its point, as the formats below have them. */
export function withNanoseconds(text: string): string {
  const [whole = '', fraction = ''] = text.split('.')
  return `${whole}.${fraction.padEnd(9, '0')}`
}

/**
 * SQL that turns such a text, as a bound variable, into a value to compare with. `undefined` if the type cannot be ordered by.
 */
export function literalOf({ type, scale }: SnowflakeColumn): string | undefined {
  switch (type) {
    case 'FIXED':
      return `to_number(?, 38, ${scale})`
    case 'TEXT':
      return '?'
    case 'BOOLEAN':
      return 'to_boolean(?)'
    case 'DATE':
      return `to_date(?, 'YYYY-MM-DD')`
    case 'TIME':
      return `to_time(?, 'HH24:MI:SS.FF9')`
    case 'TIMESTAMP_NTZ':
      return `to_timestamp_ntz(?, '${timestampFormat}')`
    // The session's time zone is UTC, so a text without an offset is a time in it.
    case 'TIMESTAMP_LTZ':
      return `to_timestamp_ltz(?, '${timestampFormat}')`
    case 'TIMESTAMP_TZ':
      return `to_timestamp_tz(?, '${timestampFormat}')`
    case 'BINARY':
      return `to_binary(?, 'HEX')`
    default:
      return undefined
  }
}

const timestampFormat = 'YYYY-MM-DD"T"HH24:MI:SS.FF9'

/** SQL that returns different texts for different values, for a digest of the row. */
export function textSqlOf(expression: string, { type }: SnowflakeColumn): string {
  switch (type) {
    case 'TEXT':
      return expression
    case 'DATE':
      return `to_varchar(${expression}, 'YYYY-MM-DD')`
    case 'TIME':
      return `to_varchar(${expression}, 'HH24:MI:SS.FF9')`
    case 'TIMESTAMP_NTZ':
    case 'TIMESTAMP_LTZ':
      return `to_varchar(${expression}, '${timestampFormat}')`
    case 'TIMESTAMP_TZ':
      return `to_varchar(${expression}, '${timestampFormat}TZHTZM')`
    case 'BINARY':
      return `hex_encode(${expression})`
    // The text of a float has not all of its digits.
    case 'REAL':
      return `to_varchar(hash(${expression}))`
    case 'VARIANT':
    case 'OBJECT':
    case 'ARRAY':
    case 'MAP':
      return `to_json(to_variant(${expression}))`
    case 'GEOGRAPHY':
    case 'GEOMETRY':
      return `st_aswkt(${expression})`
    case 'VECTOR':
      return `to_json(to_variant(to_array(${expression})))`
    default:
      return `to_varchar(${expression})`
  }
}

const nanosecondsOfSecond = 1_000_000_000n

/** `days since 1970` as a day. A text that is not a number is returned unchanged. */
function dayOf(text: string): string {
  if (!/^-?\d{1,8}$/.test(text)) return text
  return localTime(BigInt(text) * 86_400n * nanosecondsOfSecond)?.slice(0, -9) ?? text
}

/** `seconds since midnight` as a time. */
function timeOf(text: string): string {
  const nanoseconds = nanosecondsOf(text)
  return nanoseconds === undefined ? text : (localTime(nanoseconds)?.slice(11) ?? text)
}

type Timestamp = { readonly local: string; readonly nanoseconds: bigint; readonly offsetMinutes: number }

/** `seconds since 1970`, and behind a space the offset in minutes, of which Snowflake makes a positive number with 1440. */
function timestampOf(text: string): Timestamp | undefined {
  const [seconds = '', offset = '1440'] = text.split(' ')
  const nanoseconds = nanosecondsOf(seconds)
  if (nanoseconds === undefined || !/^\d{1,4}$/.test(offset)) return undefined
  const local = localTime(nanoseconds)
  return local === undefined ? undefined : { local, nanoseconds, offsetMinutes: Number(offset) - 1440 }
}

function withZone(text: string, offsetMinutes: number): string {
  const timestamp = timestampOf(text)
  if (!timestamp) return text
  if (offsetMinutes === 0) return `${timestamp.local}Z`
  const local = localTime(timestamp.nanoseconds + BigInt(offsetMinutes) * 60n * nanosecondsOfSecond)
  const minutes = Math.abs(offsetMinutes)
  const part = (number: number) => String(number).padStart(2, '0')
  return `${local}${offsetMinutes < 0 ? '-' : '+'}${part(Math.floor(minutes / 60))}:${part(minutes % 60)}`
}

function nanosecondsOf(text: string): bigint | undefined {
  const [, sign, seconds = '', fraction] = /^(-?)(\d{1,20})(?:\.(\d{1,9}))?$/.exec(text) ?? []
  if (seconds === '') return undefined
  // The documentation of Snowflake shows timestamps with a zone once as seconds, and once as nanoseconds without a point.
  const isNanoseconds = fraction === undefined && seconds.length > 15
  const nanoseconds = isNanoseconds
    ? BigInt(seconds)
    : BigInt(seconds) * nanosecondsOfSecond + BigInt((fraction ?? '').padEnd(9, '0'))
  return sign === '-' ? -nanoseconds : nanoseconds
}
