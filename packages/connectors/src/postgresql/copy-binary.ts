import type { Cell, RawColumn } from '@penstock/connector'
import type { ReadableLayout } from '../databases/copy-text.ts'

/**
 * Rows in the binary format of PostgreSQL's COPY: the number of fields, and each field as its length and its bytes. The servers need not
 * format and parse values. The values of the types in `binaryTypes` can be read here, as the same texts that COPY writes in a session
 * whose times are UTC and ISO.
 */

/** The bytes before the first row (a signature, no flags, no extension), and after the last one: a number of fields that no row has. */
export const binaryEnds = {
  head: Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1'),
  end: Buffer.from([0xff, 0xff]),
}

/** The text of a value, whose bytes are valid only during the call; `undefined` if the bytes are no value of the type. */
type Reader = (bytes: Buffer, from: number, to: number) => string | undefined

const ofLength =
  (length: number, read: (bytes: Buffer, from: number) => string): Reader =>
  (bytes, from, to) =>
    to - from === length ? read(bytes, from) : undefined

const text: Reader = (bytes, from, to) => bytes.toString('utf8', from, to)

const readers: Readonly<Record<number, Reader>> = {
  // boolean
  16: ofLength(1, (bytes, from) => (bytes[from] === 0 ? 'f' : 't')),
  // bytea
  17: (bytes, from, to) => `\\x${bytes.toString('hex', from, to)}`,
  // bigint, smallint, integer
  20: ofLength(8, (bytes, from) => String(bytes.readBigInt64BE(from))),
  21: ofLength(2, (bytes, from) => String(bytes.readInt16BE(from))),
  23: ofLength(4, (bytes, from) => String(bytes.readInt32BE(from))),
  // text, json, varchar
  25: text,
  114: text,
  1043: text,
  // double precision
  701: ofLength(8, (bytes, from) => textOfNumber(bytes.readDoubleBE(from))),
  // date, timestamp, timestamptz
  1082: ofLength(4, (bytes, from) => dateText(bytes.readInt32BE(from))),
  1114: ofLength(8, (bytes, from) => timestampText(bytes.readBigInt64BE(from), '')),
  1184: ofLength(8, (bytes, from) => timestampText(bytes.readBigInt64BE(from), '+00')),
  // numeric
  1700: (bytes, from, to) => numericText(bytes, from, to),
  // uuid
  2950: ofLength(16, (bytes, from) =>
    bytes.toString('hex', from, from + 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  ),
  // jsonb, of which only the first version exists
  3802: (bytes, from, to) => (bytes[from] === 1 ? bytes.toString('utf8', from + 1, to) : undefined),
}

/** The types whose values can be read, as identifiers in `pg_type`. */
export const binaryTypes: ReadonlySet<number> = new Set(Object.keys(readers).map(Number))

/**
 * @param cellOf makes a cell of the text of a column
 * @param onBroken is called for bytes that are not such a row; it throws
 */
export function copyBinaryLayout(
  columns: readonly RawColumn[],
  cellOf: (text: string | null, column: number) => Cell,
  onBroken: () => never,
): ReadableLayout {
  const readersOf = columns.map(({ type }) => readers[type.id] ?? text)
  function readFields(
    bytes: Buffer,
    from: number,
    to: number,
    wanted: readonly number[],
    call: (text: string | null, field: number) => void,
  ): void {
    if (to - from < 2 || bytes.readInt16BE(from) !== columns.length) onBroken()
    let at = from + 2
    let next = 0
    for (let field = 0; next < wanted.length; field++) {
      if (at + 4 > to) onBroken()
      const length = bytes.readInt32BE(at)
      at += 4
      const end = at + Math.max(0, length)
      if (length < -1 || end > to) onBroken()
      if (field === wanted[next]) {
        call(length === -1 ? null : (readersOf[field]?.(bytes, at, end) ?? onBroken()), field)
        next += 1
      }
      at = end
    }
  }
  return {
    format: 'copy-binary',
    columns,
    read: readFields,
    open(bytes, from, to, wanted, into) {
      readFields(bytes, from, to, wanted, (value, column) => {
        into[column] = cellOf(value, column)
      })
    },
  }
}

/**
 * Finds where the fields of a row begin, with their lengths. The bytes are a whole row.
 * @param into gets the offset of each field, and the end of the last one
 */
export function binaryBounds(bytes: Buffer, from: number, to: number, fields: number, into: Uint32Array): void {
  let at = from + 2
  for (let field = 0; field < fields; field++) {
    into[field] = at
    // The server refuses a row that is no row.
    at = at + 4 > to ? to : Math.min(to, at + 4 + Math.max(0, bytes.readInt32BE(at)))
  }
  into[fields] = at
}

const textOfNumber = (number: number): string => (Object.is(number, -0) ? '-0' : String(number))

const infinities: ReadonlyMap<number, string> = new Map([
  [0x7fffffff, 'infinity'],
  [-0x80000000, '-infinity'],
])

/** @param days since 2000-01-01 */
function dateText(days: number): string {
  const endless = infinities.get(days)
  if (endless !== undefined) return endless
  const { date, era } = dateOf(days)
  return date + era
}

/**
 * The date of a day in the Gregorian calendar, by the algorithm of Howard Hinnant (days_from_civil). `Date` knows 200 million fewer years.
 * @param days since 2000-01-01
 */
function dateOf(days: number): { date: string; era: string } {
  // Days since 0000-03-01, in eras of 400 years.
  const shifted = days + 730_425
  const era = Math.floor(shifted / 146_097)
  const ofEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  )
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * ofYear + 2) / 153)
  const day = ofYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  const [shown, suffix] = year > 0 ? [year, ''] : [1 - year, ' BC']
  return { date: `${String(shown).padStart(4, '0')}-${two(month)}-${two(day)}`, era: suffix }
}

const two = (number: number): string => (number < 10 ? `0${number}` : String(number))

const dayMicros = 86_400_000_000n
const [endlessPast, endlessFuture] = [-(2n ** 63n), 2n ** 63n - 1n]

/** @param micros microseconds since 2000-01-01 */
function timestampText(micros: bigint, zone: string): string {
  if (micros === endlessFuture) return 'infinity'
  if (micros === endlessPast) return '-infinity'
  let days = micros / dayMicros
  if (micros < days * dayMicros) days -= 1n
  const { date, era } = dateOf(Number(days))
  const ofDay = Number(micros - days * dayMicros)
  const seconds = Math.floor(ofDay / 1e6)
  const fraction = ofDay % 1e6
  const shownFraction = fraction === 0 ? '' : `.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`
  const time = `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return `${date} ${time}${shownFraction}${zone}${era}`
}

const [negative, notANumber, positiveInfinity, negativeInfinity] = [0x4000, 0xc000, 0xd000, 0xf000]

/** A decimal: the number of its groups of four digits, the weight of the first group, its sign, its scale, and the groups. */
function numericText(bytes: Buffer, from: number, to: number): string | undefined {
  if (to - from < 8) return undefined
  const groups = bytes.readUInt16BE(from)
  const weight = bytes.readInt16BE(from + 2)
  const sign = bytes.readUInt16BE(from + 4)
  const scale = bytes.readUInt16BE(from + 6)
  if (to - from !== 8 + 2 * groups || scale > 0x3fff) return undefined
  if (sign === notANumber) return 'NaN'
  if (sign === positiveInfinity) return 'Infinity'
  if (sign === negativeInfinity) return '-Infinity'
  const groupAt = (power: number): string => {
    const index = weight - power
    return String(index >= 0 && index < groups ? bytes.readUInt16BE(from + 8 + 2 * index) : 0).padStart(4, '0')
  }
  let whole = ''
  for (let power = weight; power >= 0; power--) whole += groupAt(power)
  let fraction = ''
  for (let power = -1; fraction.length < scale; power--) fraction += groupAt(power)
  const shown = whole.replace(/^0+(?=\d)/, '') || '0'
  return (sign === negative ? '-' : '') + shown + (scale > 0 ? `.${fraction.slice(0, scale)}` : '')
}
