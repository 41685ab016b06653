import {
  type ReadCell,
  readAs,
  readBytes,
  readDay,
  readDecimal,
  readFloat,
  readFloat32,
  readInstant,
  readJsonText,
  readSigned,
  readText,
  readTime,
  readTimeOfDay,
  readTruth,
} from '../databases/typed-values.ts'
import type { TargetColumn } from '../kit/warehouse/table.ts'

/** A column of a table that rows go to. */
export type RedshiftColumn = TargetColumn & {
  /** The type as Redshift writes it, such as `character varying(20)`. The stage's column has it too. */
  readonly type: string
  /** Whether a value is nested JSON in the staged file. */
  readonly isJson: boolean
}

/** The longest text of Redshift, in bytes. */
export const textBytesMax = 65_535

type Reader = Pick<RedshiftColumn, 'read' | 'isPadded'> &
  Partial<Pick<RedshiftColumn, 'isJson' | 'isUnjudged' | 'isIncomparable'>>

/**
 * A column as the catalogue describes it.
 * @param type with its length or precision
 * @param fallback the expression of its default, if it has one
 */
export function columnOf(name: string, type: string, isRequired: boolean, fallback: string | null): RedshiftColumn {
  const reader = readerFor(type)
  return {
    name,
    type,
    needed: isRequired && fallback === null,
    isGenerated: /^"?identity"?\(/.test(fallback ?? ''),
    read: reader.read,
    isJson: reader.isJson ?? false,
    isUnjudged: reader.isUnjudged ?? false,
    isAmbiguous: reader.isUnjudged ?? false,
    isPadded: reader.isPadded ?? false,
    isIncomparable: reader.isIncomparable ?? false,
  }
}

function readerFor(type: string): Reader {
  const [, base = type, first, second] =
    /^([a-z ]+?)(?:\((\d+)(?:,\s*(\d+))?\))?((?: with| without).*)?$/.exec(type) ?? []
  const zoned = type.endsWith('with time zone')
  switch (base) {
    case 'smallint':
      return { read: readSigned(16n) }
    case 'integer':
      return { read: readSigned(32n) }
    case 'bigint':
      return { read: readSigned(64n) }
    case 'numeric':
      return { read: readDecimal(Number(first ?? 18) - Number(second ?? 0), Number(second ?? 0)) }
    case 'real':
      return { read: readFloat32, isIncomparable: true }
    case 'double precision':
      return { read: readFloat, isIncomparable: true }
    case 'boolean':
      return { read: readTruth }
    case 'character varying':
    case 'text':
      return {
        read: readStored(readText(Math.min(Number(first ?? textBytesMax), textBytesMax), 'bytes')),
        isPadded: true,
      }
    case 'character':
      return { read: readSingleBytes(readStored(readText(Number(first ?? 1), 'bytes'))), isPadded: true }
    case 'date':
      return { read: readDay() }
    case 'timestamp':
      return { read: zoned ? readInstant(6, '+00') : readTime(6) }
    case 'time':
      return zoned ? { read: readText(), isUnjudged: true } : { read: readTimeOfDay(6) }
    case 'super':
      return { read: readJsonText, isJson: true, isIncomparable: true }
    case 'binary varying':
    case 'varbyte':
      return {
        read: readAs(readBytes(first === undefined ? undefined : Number(first)), (bytes) => bytes.toString('hex')),
        isIncomparable: true,
      }
    default:
      return { read: readText(), isUnjudged: true, isIncomparable: true }
  }
}

/** Texts without the character that no column holds. */
const readStored =
  (read: ReadCell<string>): ReadCell<string> =>
  (cell) => {
    const text = read(cell)
    return 'value' in text && text.value?.includes('\0')
      ? { reason: 'A text has the character U+0000, which Redshift does not store.' }
      : text
  }

/** Texts for CHAR, which holds characters of one byte. */
const readSingleBytes =
  (read: ReadCell<string>): ReadCell<string> =>
  (cell) => {
    const text = read(cell)
    return 'value' in text && text.value !== null && Buffer.byteLength(text.value) > text.value.length
      ? { reason: 'A text has characters of several bytes, which a column of type CHAR does not store.' }
      : text
  }
