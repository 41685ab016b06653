import type { Cell } from '@penstock/connector'
import type mysql from 'mysql2'

/**
 * How the text of a type becomes a cell. Whole numbers of 64 bits and decimals stay text, so that no digit is lost;
 * moments become ISO 8601, in UTC where the type is a moment; bytes are base64.
 */
export type CellKind =
  | 'text'
  | 'choice'
  | 'number'
  | 'digits'
  | 'bits'
  | 'day'
  | 'local-time'
  | 'time'
  | 'bytes'
  | 'geometry'

/** By the numbers that the protocol gives types. */
const kinds: Readonly<Record<number, CellKind>> = {
  0: 'digits',
  1: 'number',
  2: 'number',
  3: 'number',
  4: 'number',
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

export function kindOf(field: mysql.FieldPacket): CellKind {
  const { columnType = 253, characterSet } = field as mysql.FieldPacket & { characterSet?: number }
  const flags = Number(field.flags)
  if ((flags & 256) !== 0 || (flags & 2048) !== 0) return 'choice'
  return kinds[columnType] ?? (texts.includes(columnType) && characterSet === binary ? 'bytes' : 'text')
}

/** @param text as the server writes it in a session whose times are UTC */
export function cellOf(text: string | null, kind: CellKind): Cell {
  if (text === null) return null
  switch (kind) {
    case 'number':
    case 'bits': {
      const number = Number(text)
      return Number.isSafeInteger(number) || (kind === 'number' && Number.isFinite(number)) ? number : text
    }
    case 'local-time':
      return text.replace(' ', 'T')
    case 'time':
      // The moment zero of MySQL is none.
      return text.startsWith('0000') ? text : `${text.replace(' ', 'T')}Z`
    default:
      return text
  }
}
