import { type Cell, isDay } from '@penstock/connector'
import { shortest } from './float32.ts'
import { ignoresZone, withoutOffset } from './timestamps.ts'

/**
 * Reads cells as the values of typed columns, exactly: a value that a column would round, shorten or interpret differently has a
 * reason instead.
 */

/** A value, null if there is none, or why the cell is none, in a sentence without its text. */
export type ReadValue<Value = unknown> = { readonly value: Value | null } | { readonly reason: string }

/** Reads the cells of a column. */
export type ReadCell<Value = unknown> = (cell: Cell) => ReadValue<Value>

const none = { value: null }

/** A reading for which an empty text is no value, as in every column that holds no text. */
const filled =
  <Value>(read: (text: string) => ReadValue<Value>): ReadCell<Value> =>
  (cell) =>
    cell === null || cell === '' ? none : read(String(cell))

/** Sentences about numbers, which the SQL of loads has as well. */
export const numberReasons = {
  none: 'A value is not a number.',
  tooLarge: 'A number is too large for the column.',
  tooManyDigits: 'A number has more digits than the floating-point column keeps.',
} as const
const notANumber = { reason: numberReasons.none }
const tooLarge = { reason: numberReasons.tooLarge }

/** The digits of a number, without its sign: before and behind the point. */
type Digits = { readonly sign: string; readonly whole: string; readonly fraction: string }

/** Takes a number apart; exponents beyond ±400 are none that a column could hold. */
function digitsOf(text: string): Digits | undefined {
  const [, sign, first = '', second = '', exponent = '0'] =
    /^\s*([+-]?)(?=\d|\.\d)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text) ?? []
  const shift = Number(exponent)
  if (sign === undefined || Math.abs(shift) > 400) return undefined
  const digits = first + second
  const point = first.length + shift
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits.padEnd(point, '0')
  const at = Math.max(0, point)
  const whole = padded.slice(0, at).replace(/^0+/, '')
  const fraction = padded.slice(at).replace(/0+$/, '')
  return { sign: sign === '-' && whole + fraction !== '' ? '-' : '', whole, fraction }
}

/** Reads whole numbers between two bounds as text without an exponent. */
export const readWholeNumber = (min: bigint, max: bigint): ReadCell<string> =>
  filled((text) => {
    const digits = digitsOf(text)
    if (!digits) return notANumber
    if (digits.fraction !== '') return { reason: 'A value has decimal places, but the column stores whole numbers.' }
    if (digits.whole.length > 80) return tooLarge
    const number = BigInt(`${digits.sign}${digits.whole || '0'}`)
    return number < min || number > max ? tooLarge : { value: String(number) }
  })

/**
 * Reads decimals with at most so many digits before and behind the point, as text without an exponent.
 * @param wholeMax digits before the point
 * @param scale digits behind it
 */
export const readDecimal = (wholeMax: number, scale: number): ReadCell<string> =>
  filled((text) => {
    const digits = digitsOf(text)
    if (!digits) return notANumber
    const { sign, whole, fraction } = digits
    if (fraction.length > scale)
      return { reason: `A value has more than ${scale} decimal places. The column stores ${scale}.` }
    if (whole.length > wholeMax) return tooLarge
    return { value: `${sign}${whole || '0'}${fraction === '' ? '' : `.${fraction}`}` }
  })

const tooManyDigits = { reason: numberReasons.tooManyDigits }

/** Whether a number is what a text says, digit by digit. */
function isExact(text: string, kept: number): boolean {
  const [given, held] = [digitsOf(text), digitsOf(String(kept))]
  return given?.sign === held?.sign && given?.whole === held?.whole && given?.fraction === held?.fraction
}

/** A text of so few digits that 64 bits keep all of them. */
const fewDigits = /^-?[\d.]{1,15}$/

/** Reads whole numbers with a sign, of so many bits. */
export const readSigned = (bits: bigint): ReadCell => readWholeNumber(-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n)

/** Reads finite floating-point numbers of which 64 bits keep all digits. */
export const readFloat: ReadCell<number> = (cell) =>
  typeof cell === 'number' && Number.isFinite(cell) ? { value: cell } : floatOf(cell)

const floatOf: ReadCell<number> = filled((text) => {
  if (!digitsOf(text)) return notANumber
  const value = Number(text)
  if (!Number.isFinite(value)) return tooLarge
  if (value === 0 && isExact(text, 0)) return { value: 0 }
  return fewDigits.test(text) || isExact(text, value) ? { value } : tooManyDigits
})

/** Reads floating-point numbers of which 32 bits keep all digits; stores make infinities of larger ones. */
export const readFloat32: ReadCell<number> = (cell) => {
  const read = readFloat(cell)
  if ('reason' in read || read.value === null) return read
  const kept = Math.fround(read.value)
  if (!Number.isFinite(kept)) return tooLarge
  return shortest(kept) === read.value ? read : tooManyDigits
}

/** Reads true and false, also as yes and no, 1 and 0. */
export const readTruth: ReadCell<boolean> = filled((text) => {
  if (/^(true|t|yes|y|1)$/i.test(text)) return { value: true }
  if (/^(false|f|no|n|0)$/i.test(text)) return { value: false }
  return { reason: 'A value is not true or false, as the column requires.' }
})

const notADay = { reason: 'A value is not a valid date.' }

/** Reads days, `YYYY-MM-DD`, between two of them. */
export const readDay = (first = '0001-01-01', last = '9999-12-31'): ReadCell<string> =>
  filled((text) =>
    /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text) && text >= first && text <= last ? { value: text } : notADay,
  )

/** Why a column does not store a time exactly that has more fractional digits than so many. */
export const tooPrecise = (digits: number): string =>
  `A value has more than ${digits} fractional digits. The column stores ${digits}.`

/** Reads times of day, `HH:MM:SS` with at most so many digits behind the second. */
export const readTimeOfDay = (digits: number): ReadCell<string> =>
  filled((text) => {
    const [, time, seconds = ':00', fraction = ''] =
      /^((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d)?(?:\.(\d+))?$/.exec(text) ?? []
    if (time === undefined) return { reason: 'A value is not a valid time of day.' }
    const kept = fraction.replace(/0+$/, '')
    return kept.length > digits ? { reason: tooPrecise(digits) } : { value: `${time}${seconds}${kept && `.${kept}`}` }
  })

/**
 * Reads times as `YYYY-MM-DD HH:MM:SS` in UTC, with at most so many digits behind the second; times without an offset are UTC.
 * A day without a time is its beginning.
 */
export const readTime = (digits: number, first = '0001-01-01', last = '9999-12-31'): ReadCell<string> =>
  filled((text) => {
    const [, day = '', time = ' 00:00:00', fraction = ''] =
      /^(\d{4}-\d\d-\d\d)( (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)?(?:\.(\d+))?$/.exec(withoutOffset(text)) ?? []
    if (day === '' || !isDay(day) || day < first || day > last) {
      return ignoresZone(text)
        ? { reason: 'A value has a time zone in an unknown form; write an offset such as +01:00.' }
        : { reason: 'A value is not a valid time.' }
    }
    const kept = fraction.replace(/0+$/, '')
    return kept.length > digits ? { reason: tooPrecise(digits) } : { value: `${day}${time}${kept && `.${kept}`}` }
  })

/** Reads texts with at most so many characters, counted as Unicode code points, or bytes in UTF-8. */
export const readText =
  (max = Number.POSITIVE_INFINITY, unit: 'characters' | 'bytes' = 'characters'): ReadCell<string> =>
  (cell) => {
    if (cell === null) return none
    const value = String(cell)
    if (!value.isWellFormed()) return { reason: 'A text is not valid Unicode.' }
    const length = unit === 'bytes' ? Buffer.byteLength(value) : value.length > max ? [...value].length : value.length
    return length > max ? { reason: 'A text is too long for the column.' } : { value }
  }

/** Reads bytes from \x and hexadecimal digits, as sources write them, or from Base64. */
export const readBytes = (max = Number.POSITIVE_INFINITY): ReadCell<Buffer> =>
  filled((text) => {
    const hexadecimal = /^\\x((?:[0-9a-f]{2})*)$/i.exec(text)?.[1]
    const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
    if (hexadecimal === undefined && !isBase64) {
      return { reason: 'A value is neither \\x with hexadecimal digits nor Base64, as the column of bytes requires.' }
    }
    const value = hexadecimal === undefined ? Buffer.from(text, 'base64') : Buffer.from(hexadecimal, 'hex')
    return value.length > max ? { reason: 'A value has more bytes than the column.' } : { value }
  })

/** Reads JSON, without changing its text: numbers keep their digits. */
export const readJsonText: ReadCell<string> = filled((text) => {
  try {
    JSON.parse(text)
  } catch {
    return { reason: 'A value is not JSON, which the column requires.' }
  }
  return text.isWellFormed() ? { value: text } : { reason: 'A text is not valid Unicode.' }
})

/** Changes what a reader reads, unless there is no value. */
export const readAs =
  <T>(read: ReadCell<T>, change: (value: T) => string): ReadCell<string> =>
  (cell) => {
    const found = read(cell)
    if ('reason' in found) return found
    return { value: found.value === null ? null : change(found.value) }
  }

/** Reads times as `readTime`, with an offset behind them, since a column would take them for times of another zone. */
export const readInstant = (digits: number, offset: 'Z' | '+00', first?: string, last?: string): ReadCell<string> =>
  readAs(readTime(digits, first, last), (time) => `${time}${offset}`)
