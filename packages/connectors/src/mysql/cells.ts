import type { Cell, ColumnType } from '@penstock/connector'
import type mysql from 'mysql2'
import { shortest } from '../databases/float32.ts'
import { textOf } from './raw-rows.ts'

/**
 * How the text of a type becomes a cell. Whole numbers of 64 bits and decimals stay text, so that no digit is lost;
 * timestamps become ISO 8601, in UTC where the type is a time; bytes are \x and hexadecimal digits.
 */
export type MysqlCellKind =
  | 'text'
  | 'choice'
  | 'number'
  | 'float'
  | 'digits'
  | 'bits'
  | 'day'
  | 'local-time'
  | 'time'
  | 'bytes'
  | 'geometry'

/** By the numbers that the protocol gives types. */
const kinds: Readonly<Record<number, MysqlCellKind>> = {
  0: 'digits',
  1: 'number',
  2: 'number',
  3: 'number',
  4: 'float',
  5: 'number',
  7: 'time',
  8: 'digits',
  9: 'number',
  10: 'day',
  12: 'local-time',
  13: 'number',
  16: 'bits',
  246: 'digits',
  247: 'choice',
  248: 'choice',
  255: 'geometry',
}

const binary = 63
const texts = [249, 250, 251, 252, 253, 254]

export function kindOf(field: mysql.FieldPacket): MysqlCellKind {
  const { columnType = 253, characterSet } = field as mysql.FieldPacket & { characterSet?: number }
  const flags = Number(field.flags)
  if ((flags & 256) !== 0 || (flags & 2048) !== 0) return 'choice'
  return kinds[columnType] ?? (texts.includes(columnType) && characterSet === binary ? 'bytes' : 'text')
}

const isUnsigned = ({ flags }: mysql.FieldPacket): boolean => (Number(flags) & 32) !== 0

/** How many digits a text of a number has at least: of a column with ZEROFILL; 0 of others. */
export function widthOf(field: mysql.FieldPacket): number {
  const { columnLength = 0 } = field as mysql.FieldPacket & { columnLength?: number }
  return (Number(field.flags) & 64) === 0 ? 0 : columnLength
}

/**
 * The type of a column, for stores that have types; `null` if it is text. JSON of MariaDB is text, as the server has it.
 */
export function columnTypeOf(field: mysql.FieldPacket): ColumnType | null {
  const { columnType = 253, columnLength = 0, decimals } = field as mysql.FieldPacket & { columnLength?: number }
  switch (kindOf(field)) {
    case 'number':
      if (columnType === 5) return { kind: 'double' }
      return { kind: columnType === 3 && isUnsigned(field) ? 'bigint' : 'integer' }
    case 'float':
      return { kind: 'double' }
    case 'digits': {
      if (columnType === 8) return isUnsigned(field) ? { kind: 'decimal', precision: 20, scale: 0 } : { kind: 'bigint' }
      // The length is that of the text: with a point, and with a sign unless the column has none.
      const scale = Number(decimals)
      const precision = columnLength - (scale > 0 ? 1 : 0) - (isUnsigned(field) ? 0 : 1)
      return precision >= scale && precision > 0 ? { kind: 'decimal', precision, scale } : null
    }
    case 'day':
      return { kind: 'date' }
    case 'local-time':
      return { kind: 'timestamp' }
    case 'time':
      return { kind: 'instant' }
    case 'bytes':
      return { kind: 'bytes' }
    case 'text':
      return columnType === 245 ? { kind: 'json' } : null
    default:
      return null
  }
}

/**
 * A value as the server writes it in a session whose times are UTC.
 * `undefined` if it is not text in UTF-8, although it should be one.
 */
export function cellOf(value: Buffer | null, kind: MysqlCellKind): Cell | undefined {
  if (value === null) return null
  if (kind === 'text' || kind === 'choice') return textOf(value)
  // All others are ASCII.
  return cellOfText(value.toString('latin1'), kind)
}

/** The same for a value that is a text already. */
export function cellOfText(text: string, kind: MysqlCellKind): Cell {
  switch (kind) {
    case 'number':
    case 'bits':
    case 'float': {
      const number = Number(text)
      // A number of JSON has no sign of zero.
      if (!Number.isFinite(number) || Object.is(number, -0)) return text
      if (kind === 'float') return shortest(number)
      return kind === 'number' || Number.isSafeInteger(number) ? number : text
    }
    case 'local-time':
      return text.replace(' ', 'T')
    case 'time':
      // The time zero of MySQL is none.
      return text.startsWith('0000') ? text : `${text.replace(' ', 'T')}Z`
    default:
      return text
  }
}
