import type { MysqlCellKind } from '../cells.ts'
import { BrokenEvent, type ByteReader } from './bytes.ts'
import { columnTypes, type LoggedColumn } from './table-map.ts'

/**
 * A value of a row in the log: its text as the server writes it in a result, whose session has the time zone UTC;
 * `unread` if only the server can write it as text.
 */
export type LoggedValue = string | null | typeof unread
export const unread: unique symbol = Symbol('unread')

/** Decodes a text; `unread` if only the server can. */
export type Charset = (bytes: Buffer) => string | typeof unread

/** Reads one value that is not null, and moves behind it. Texts are in the character set of the column. */
export function readValue(reader: ByteReader, column: LoggedColumn, charset: Charset | undefined): LoggedValue {
  const { type, meta, isUnsigned } = column
  switch (type) {
    case columnTypes.tiny:
      return String(isUnsigned ? reader.uint(1) : reader.int(1))
    case columnTypes.short:
      return String(isUnsigned ? reader.uint(2) : reader.int(2))
    case columnTypes.int24:
      return String(isUnsigned ? reader.uint(3) : reader.int(3))
    case columnTypes.long:
      return String(isUnsigned ? reader.uint(4) : reader.int(4))
    case columnTypes.longLong:
      return String(isUnsigned ? reader.uint64() : reader.int64())
    case columnTypes.float:
      return String(reader.float())
    case columnTypes.double:
      return numberText(reader.double())
    case columnTypes.newDecimal:
      return decimalIn(reader, meta >> 8, meta & 0xff)
    case columnTypes.year:
      return yearText(reader.uint(1))
    case columnTypes.date:
    case columnTypes.newDate:
      return dateText(reader.uint(3))
    case columnTypes.time:
      return timeIn(reader, meta)
    case columnTypes.datetime:
      return datetimeIn(reader, meta)
    case columnTypes.timestamp:
      return timestampIn(reader, meta)
    case columnTypes.bit:
      return bitsIn(reader.bytes(Math.ceil(meta / 8)))
    case columnTypes.enum:
      return enumText(column, reader.uint(meta), charset)
    case columnTypes.set:
      return setText(column, bitsOf(reader.bytes(meta)), charset)
    case columnTypes.varchar:
      return textIn(column, reader.bytes(reader.uint(meta > 255 ? 2 : 1)), charset)
    case columnTypes.string:
      return stringIn(column, reader.bytes(reader.uint(meta > 255 ? 2 : 1)), charset)
    case columnTypes.blob:
      return textIn(column, reader.bytes(reader.uint(sizeIn(meta))), charset)
    case columnTypes.compressedVarchar:
      reader.skip(reader.uint(meta > 255 ? 2 : 1))
      return unread
    case columnTypes.compressedBlob:
    case columnTypes.geometry:
    case columnTypes.json:
    case columnTypes.vector:
      reader.skip(reader.uint(sizeIn(meta)))
      return unread
    default:
      throw new BrokenEvent(`a column of the unknown type ${type}`)
  }
}

/** The kind of cell that a column of the log gives; a column that is of another kind by now is looked up. */
export function loggedKind({ type, collation }: LoggedColumn): MysqlCellKind {
  switch (type) {
    case columnTypes.longLong:
    case columnTypes.newDecimal:
      return 'digits'
    case columnTypes.float:
      return 'float'
    case columnTypes.double:
    case columnTypes.tiny:
    case columnTypes.short:
    case columnTypes.int24:
    case columnTypes.long:
    case columnTypes.year:
      return 'number'
    case columnTypes.date:
    case columnTypes.newDate:
      return 'day'
    case columnTypes.datetime:
      return 'local-time'
    case columnTypes.timestamp:
      return 'time'
    case columnTypes.bit:
      return 'bits'
    case columnTypes.enum:
    case columnTypes.set:
      return 'choice'
    default:
      return collation === bytesCollation ? 'bytes' : 'text'
  }
}

const bytesCollation = 63

function sizeIn(meta: number): number {
  if (meta < 1 || meta > 4) throw new BrokenEvent('a length of an unknown size')
  return meta
}

/** A number as JavaScript writes it; zero keeps its sign. */
const numberText = (number: number): string => (Object.is(number, -0) ? '-0' : String(number))

function textIn({ collation }: LoggedColumn, bytes: Buffer, charset: Charset | undefined): LoggedValue {
  if (collation === bytesCollation) return `\\x${bytes.toString('hex')}`
  return charset ? charset(bytes) : unread
}

/** Of a BINARY, the log leaves out the zeros at the end. */
function stringIn(column: LoggedColumn, bytes: Buffer, charset: Charset | undefined): LoggedValue {
  if (column.collation !== bytesCollation) return textIn(column, bytes, charset)
  return `\\x${bytes.toString('hex').padEnd(2 * column.meta, '0')}`
}

function enumText({ members }: LoggedColumn, place: number, charset: Charset | undefined): LoggedValue {
  // An invalid value.
  if (place === 0) return ''
  const member = members?.[place - 1]
  return member && charset ? charset(member) : unread
}

function setText({ members }: LoggedColumn, bits: bigint, charset: Charset | undefined): LoggedValue {
  if (!members || !charset) return bits === 0n ? '' : unread
  const texts = members.flatMap((member, at) => ((bits >> BigInt(at)) & 1n ? [charset(member)] : []))
  return texts.some((text) => typeof text !== 'string') ? unread : texts.join(',')
}

/** The lowest byte first. */
const bitsOf = (bytes: Buffer): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`)
/** The highest byte first. */
const bitsIn = (bytes: Buffer): string => String(BigInt(`0x${bytes.toString('hex') || '0'}`))

const digitsOfWord = 9
const bytesOfDigits = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4]

/** Groups of nine digits in four bytes, the highest first; the first bit is inverted, and a negative number wholly. */
function decimalIn(reader: ByteReader, precision: number, scale: number): string {
  const whole = precision - scale
  if (precision === 0 || whole < 0 || precision > 65) throw new BrokenEvent('a decimal of an unknown size')
  const groups = [
    ...(whole % digitsOfWord > 0 ? [whole % digitsOfWord] : []),
    ...Array.from({ length: Math.floor(whole / digitsOfWord) }, () => digitsOfWord),
    ...Array.from({ length: Math.floor(scale / digitsOfWord) }, () => digitsOfWord),
    ...(scale % digitsOfWord > 0 ? [scale % digitsOfWord] : []),
  ]
  const size = groups.reduce((sum, digits) => sum + (bytesOfDigits[digits] ?? 4), 0)
  const bytes = Buffer.from(reader.bytes(size))
  const isNegative = ((bytes[0] ?? 0) & 0x80) === 0
  bytes[0] = (bytes[0] ?? 0) ^ 0x80
  if (isNegative) for (const [at, byte] of bytes.entries()) bytes[at] = byte ^ 0xff
  let at = 0
  let digits = ''
  for (const count of groups) {
    const length = bytesOfDigits[count] ?? 4
    digits += String(bytes.readUIntBE(at, length)).padStart(count, '0')
    at += length
  }
  const integer = digits.slice(0, whole).replace(/^0+(?=\d)/, '') || '0'
  const text = scale > 0 ? `${integer}.${digits.slice(whole)}` : integer
  return isNegative ? `-${text}` : text
}

const two = (number: number): string => String(number).padStart(2, '0')
const four = (number: number): string => String(number).padStart(4, '0')

/** The year zero has no century. */
const yearText = (year: number): string => (year === 0 ? '0000' : String(1900 + year))

const dateText = (bits: number): string => `${four(bits >> 9)}-${two((bits >> 5) & 15)}-${two(bits & 31)}`

const fractionBytes = (decimals: number): number => {
  if (decimals > 6) throw new BrokenEvent('a time of an unknown precision')
  return Math.ceil(decimals / 2)
}

/** @param units in hundredths, ten thousandths or millionths, by the bytes that it takes */
function fractionText(units: number, decimals: number): string {
  if (decimals === 0) return ''
  return `.${String(units)
    .padStart(2 * fractionBytes(decimals), '0')
    .slice(0, decimals)}`
}

function timeIn(reader: ByteReader, decimals: number): string {
  const size = fractionBytes(decimals)
  const scale = 256 ** size
  const packed = reader.bigEndian(3 + size) - 0x80_0000 * scale
  const isNegative = packed < 0
  const value = Math.abs(packed)
  const whole = Math.floor(value / scale)
  const text = `${two((whole >> 12) & 0x3ff)}:${two((whole >> 6) & 63)}:${two(whole & 63)}`
  return `${isNegative ? '-' : ''}${text}${fractionText(value % scale, decimals)}`
}

function datetimeIn(reader: ByteReader, decimals: number): string {
  const packed = reader.bigEndian(5) - 0x80_0000_0000
  const day = Math.floor(packed / 2 ** 17)
  const clock = packed % 2 ** 17
  const months = day >> 5
  const size = fractionBytes(decimals)
  const fraction = size === 0 ? '' : fractionText(reader.bigEndian(size), decimals)
  return `${four(Math.floor(months / 13))}-${two(months % 13)}-${two(day & 31)} ${two(clock >> 12)}:${two((clock >> 6) & 63)}:${two(clock & 63)}${fraction}`
}

function timestampIn(reader: ByteReader, decimals: number): string {
  const seconds = reader.bigEndian(4)
  const size = fractionBytes(decimals)
  const units = size === 0 ? 0 : reader.bigEndian(size)
  const fraction = fractionText(units, decimals)
  if (seconds === 0 && units === 0) return `0000-00-00 00:00:00${fraction}`
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}${fraction}`
}
