import type { Cell } from '@penstock/connector'
import { ignoresZone, withoutOffset } from '../databases/timestamps.ts'
import { readFloat } from '../databases/typed-values.ts'
import type { SnowflakeColumn } from './cells.ts'

/** How the cells of a column are written. */
export type ColumnWriter = {
  /** The text of a cell. Null if it has no text. An empty text is treated as missing unless the column is a text column. */
  readonly text: (cell: Cell) => string | null
  /** SQL that converts SQL of such a text to a value of the column. */
  readonly value: (text: string) => string
  /** Why the column might not store exactly this text, as a sentence without the value. `undefined` if it stores it exactly. */
  readonly doubt: (text: string) => string | undefined
}

/** Chooses how a column is written by its type. If Snowflake cannot parse a value, the statement fails. */
export function writerFor({ type, scale }: SnowflakeColumn): ColumnWriter {
  const writer = { text: filled, value: (text: string) => text, doubt: () => undefined }
  switch (type) {
    case 'TEXT':
      return { ...writer, text: (cell) => (cell === null ? null : String(cell)) }
    case 'FIXED':
      return { ...writer, value: (text) => `to_number(${text}, 38, ${scale})`, doubt: (text) => doubtOf(text, scale) }
    case 'REAL':
      return { ...writer, value: (text) => `to_double(${text})`, doubt: floatDoubt }
    case 'BOOLEAN':
      return { ...writer, value: (text) => `to_boolean(${text})` }
    case 'DATE':
      return { ...writer, value: (text) => `to_date(${text})` }
    case 'TIME':
      return { ...writer, value: (text) => `to_time(${text})` }
    // Without a zone the column means UTC, as everywhere in this connector.
    case 'TIMESTAMP_NTZ':
      return {
        text: (cell) => filled(cell, withoutOffset),
        value: (text) => `to_timestamp_ntz(${text})`,
        doubt: zoneDoubt,
      }
    case 'TIMESTAMP_LTZ':
      return { ...writer, value: (text) => `to_timestamp_ltz(${text})` }
    case 'TIMESTAMP_TZ':
      return { ...writer, value: (text) => `to_timestamp_tz(${text})` }
    case 'BINARY':
      return { ...writer, text: (cell) => filled(cell, hexadecimalOf), value: (text) => `to_binary(${text}, 'HEX')` }
    case 'VARIANT':
      return { ...writer, value: (text) => `parse_json(${text})` }
    case 'OBJECT':
      return { ...writer, value: (text) => `to_object(parse_json(${text}))` }
    case 'ARRAY':
      return { ...writer, value: (text) => `to_array(parse_json(${text}))` }
    default:
      return writer
  }
}

function filled(cell: Cell, change: (text: string) => string = (text) => text): string | null {
  return cell === null || cell === '' ? null : change(String(cell))
}

/** Bytes are base64 or, from sources, \x and hexadecimal digits. Other texts stay, and Snowflake refuses them. */
function hexadecimalOf(text: string): string {
  if (/^\\x([0-9a-f]{2})*$/i.test(text)) return text.slice(2)
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
    ? Buffer.from(text, 'base64').toString('hex')
    : text
}

/** Snowflake would ignore a zone that is not understood here. */
const zoneDoubt = (text: string): string | undefined =>
  ignoresZone(text) ? 'A value has a time zone in an unknown form; write an offset such as +01:00.' : undefined

/** Snowflake would round what a floating-point number of 64 bits does not hold. */
const floatDoubt = (text: string): string | undefined => {
  const read = readFloat(text)
  return 'reason' in read ? read.reason : undefined
}

/** Snowflake would round what has more decimal places than the column. */
function doubtOf(text: string, scale: number): string | undefined {
  const [, , fraction = '', exponent] = /^\s*[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text) ?? []
  if (!/\d/.test(text) || !number.test(text)) return 'A value is not a number.'
  const places = fraction.replace(/0+$/, '').length - Number(exponent ?? 0)
  return /[1-9]/.test(text) && places > scale
    ? `A value has more than ${scale} decimal places. The column stores ${scale}.`
    : undefined
}

const number = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?\s*$/
