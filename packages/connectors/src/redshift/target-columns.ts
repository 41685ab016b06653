import type { JudgedColumn } from '../databases/judged-rows.ts'
import {
  type ReadCell,
  readBytes,
  readDay,
  readDecimal,
  readFloat,
  readFloat32,
  readJsonText,
  readText,
  readTime,
  readTimeOfDay,
  readTruth,
  readWholeNumber,
} from '../databases/typed-values.ts'

/** A column of a table that rows go to. */
export type RedshiftColumn = JudgedColumn & {
  /** As Redshift writes it, such as `character varying(20)`; also of the column that rows are staged in. */
  readonly type: string
  /** Values come from a sequence always. */
  readonly isGenerated: boolean
  /** Whether a value is JSON of its own in the staged file. */
  readonly isJson: boolean
  /** Whether only Redshift can judge its values. */
  readonly isUnjudged: boolean
  /** Whether rows can be found again by it. */
  readonly isComparable: boolean
}

/** The longest text of Redshift, in bytes. */
export const textBytesMax = 65_535

type Reader = Pick<RedshiftColumn, 'read'> & Partial<Pick<RedshiftColumn, 'isJson' | 'isUnjudged' | 'isComparable'>>

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
    isComparable: reader.isComparable ?? true,
  }
}

const whole = (bits: bigint): ReadCell => readWholeNumber(-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n)

function readerFor(type: string): Reader {
  const [, base = type, first, second] =
    /^([a-z ]+?)(?:\((\d+)(?:,\s*(\d+))?\))?((?: with| without).*)?$/.exec(type) ?? []
  const zoned = type.endsWith('with time zone')
  switch (base) {
    case 'smallint':
      return { read: whole(16n) }
    case 'integer':
      return { read: whole(32n) }
    case 'bigint':
      return { read: whole(64n) }
    case 'numeric':
      return { read: readDecimal(Number(first ?? 18) - Number(second ?? 0), Number(second ?? 0)) }
    case 'real':
      return { read: readFloat32, isComparable: false }
    case 'double precision':
      return { read: readFloat, isComparable: false }
    case 'boolean':
      return { read: readTruth }
    case 'character varying':
    case 'text':
      return { read: readStored(readText(Math.min(Number(first ?? textBytesMax), textBytesMax), 'bytes')) }
    case 'character':
      return { read: readSingleBytes(readStored(readText(Number(first ?? 1), 'bytes'))) }
    case 'date':
      return { read: readDay() }
    case 'timestamp':
      return { read: zoned ? inUtc(readTime(6)) : readTime(6) }
    case 'time':
      return zoned ? { read: readText(), isUnjudged: true } : { read: readTimeOfDay(6) }
    case 'super':
      return { read: readJsonText, isJson: true, isComparable: false }
    case 'binary varying':
    case 'varbyte':
      return { read: hexadecimal(readBytes(first === undefined ? undefined : Number(first))), isComparable: false }
    default:
      return { read: readText(), isUnjudged: true, isComparable: false }
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

const inUtc =
  (read: ReadCell<string>): ReadCell<string> =>
  (cell) => {
    const time = read(cell)
    return 'value' in time && time.value !== null ? { value: `${time.value}+00` } : time
  }

const hexadecimal =
  (read: ReadCell<Buffer>): ReadCell<string> =>
  (cell) => {
    const bytes = read(cell)
    return 'reason' in bytes ? bytes : { value: bytes.value?.toString('hex') ?? null }
  }
