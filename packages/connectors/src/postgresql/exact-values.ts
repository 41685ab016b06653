import { isIP } from 'node:net'
import { type Cell, isDay } from '@penstock/connector'
import { repeatedName } from '../databases/json-texts.ts'
import { ignoresZone, withoutOffset } from '../databases/timestamps.ts'
import {
  numberReasons,
  type ReadCell,
  readDecimal,
  readFloat,
  readFloat32,
  readWholeNumber,
  tooPrecise,
} from '../databases/typed-values.ts'
import { reasonOf } from './errors.ts'

/**
 * What PostgreSQL would interpret, evaluate, round or cut: it reads `1/2/26`, `tomorrow`, `0x1F` and `on`, and rounds to the digits of a column.
 * A column accepts the forms that its type has in any database, and what PostgreSQL itself prints.
 */

/** Why a column would store another value than this text, as a sentence without it; `undefined` if it would store it or refuse it. */
export type Problem = (text: string) => string | undefined

/** The numbers of a type, such as 10 and 2 of `numeric(10,2)`. */
type Modifiers = readonly number[]

/**
 * @param oid of the type of the column, or of its elements
 * @param column its name, and its type with modifiers
 */
export function problemFor(
  oid: number,
  { name, fullType }: { readonly name: string; readonly fullType: string },
): Problem | undefined {
  const [, ...parts] = /\((-?\d+)(?:,(-?\d+))?\)/.exec(fullType) ?? []
  const problem = problems[oid]?.(parts.flatMap((part) => (part === undefined ? [] : [Number(part)])))
  if (!problem) return undefined
  // In the words for what the server itself refuses.
  const refused = new Map<string | undefined, string>([
    [numberReasons.tooLarge, reasonOf('22003', { field: name })],
    [textTooLong, reasonOf('22001', { field: name })],
  ])
  return (text) => {
    const reason = problem(text)
    return refused.get(reason) ?? reason
  }
}

/** The text of a whole number as PostgreSQL reads it: `1.0`, as other programs write it, is 1. */
export const wholeText = (text: string): string => {
  if (plainWhole.test(text)) return text
  const read = anyWhole(text)
  return 'value' in read && read.value !== null ? read.value : text
}

const plainWhole = /^-?\d{1,18}$/
const anyWhole = readWholeNumber(-(2n ** 64n), 2n ** 64n)

const reading =
  (read: ReadCell): Problem =>
  (text) => {
    const found = read(text)
    return 'reason' in found ? found.reason : undefined
  }

const whole = (bits: bigint) => {
  const problem = reading(readWholeNumber(-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n))
  // Of so few digits, all fit.
  const short = new RegExp(`^-?\\d{1,${bits === 16n ? 4 : bits === 32n ? 9 : 18}}$`)
  return (): Problem => (text) => (short.test(text) ? undefined : problem(text))
}

const special = /^(?:NaN|-?Infinity)$/
const unlessSpecial =
  (problem: Problem): Problem =>
  (text) =>
    special.test(text) ? undefined : problem(text)

const numeric = ([precision, scale = 0]: Modifiers): Problem => {
  if (precision === undefined) {
    return unlessSpecial((text) => (decimal.test(text) ? undefined : numberReasons.none))
  }
  if (scale < 0) {
    const zeros = new RegExp(`^[^1-9]*$|0{${-scale}}$`)
    const problem = reading(readDecimal(precision - scale, 0))
    return unlessSpecial((text) => {
      const read = readDecimal(precision - scale, 0)(text)
      const isRounded = 'value' in read && !zeros.test(String(read.value))
      return isRounded ? `A value would be rounded to ${-scale} zeros, which the column has.` : problem(text)
    })
  }
  return unlessSpecial(reading(readDecimal(Math.max(0, precision - scale), scale)))
}
const decimal = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,6})?\s*$/

const truth = (): Problem => (text) =>
  /^(?:true|false|t|f|1|0)$/i.test(text)
    ? undefined
    : 'A value is not true or false. Expected true, false, t, f, 1 or 0.'

const clock = String.raw`(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.(\d+))?)?`
const offset = String.raw` ?(?:[Zz]|[+-]\d\d(?::?[0-5]\d(?::[0-5]\d)?)?)`
const year = String.raw`\d{4,7}`
const era = '(?: BC)?'
const dayForm = new RegExp(`^(${year}-\\d\\d-\\d\\d)(?:[T ]00:00(?::00(?:\\.0+)?)?)?(${era})$`)
const timeForm = new RegExp(`^(${year}-\\d\\d-\\d\\d)(?:[Tt ]${clock})?${era}$`)
const instantForm = new RegExp(`^(${year}-\\d\\d-\\d\\d)[Tt ]${clock}${offset}${era}$`)
const clockForm = new RegExp(`^(?:${clock}|24:00(?::00(?:\\.0+)?)?)$`)
const clockWithOffset = new RegExp(`^(?:${clock}|24:00(?::00(?:\\.0+)?)?)${offset}$`)
const endless = /^-?infinity$/

/** A year of more than four digits, and one before Christ, is left to the server. */
const isPossible = (day: string): boolean => day.length > 10 || isDay(day) || day.startsWith('0000')

const notADate = 'A value is not a valid date. Expected the form YYYY-MM-DD.'
const fractionProblem = (fraction: string | undefined, digits: number): string | undefined =>
  (fraction?.replace(/0+$/, '').length ?? 0) > digits ? tooPrecise(digits) : undefined

const day = (): Problem => (given) => {
  if (endless.test(given)) return undefined
  const text = withoutOffset(given)
  const [, found = ''] = dayForm.exec(text) ?? []
  if (found !== '') return isPossible(found) ? undefined : 'A value is not a valid date.'
  const hasTime = timeForm.test(text) || instantForm.test(text)
  return hasTime ? 'A value has a time of day, which a date does not keep.' : notADate
}

const time =
  ([digits = 6]: Modifiers): Problem =>
  (given) => {
    if (endless.test(given)) return undefined
    const [, found = '', fraction] = timeForm.exec(withoutOffset(given)) ?? []
    if (found !== '') return isPossible(found) ? fractionProblem(fraction, digits) : 'A value is not a valid date.'
    return ignoresZone(given)
      ? 'A time has its zone in a form that a column without a zone would ignore; write an offset such as +02:00.'
      : 'A value is not a valid date and time. Expected the form YYYY-MM-DD HH:MM:SS.'
  }

const instant =
  ([digits = 6]: Modifiers): Problem =>
  (text) => {
    if (endless.test(text)) return undefined
    const [, found = '', fraction] = instantForm.exec(text) ?? []
    if (found !== '') return isPossible(found) ? fractionProblem(fraction, digits) : 'A value is not a valid date.'
    return timeForm.test(text)
      ? 'A value has no time zone. Add an offset such as +02:00, or name the time zone in the mapping: {"column": "…", "timezone": "Europe/Berlin"}.'
      : 'A value is not a valid date and time. Expected the form YYYY-MM-DDTHH:MM:SS+00:00.'
  }

const timeOfDay =
  (form: RegExp, expected: string) =>
  ([digits = 6]: Modifiers): Problem =>
  (text) => {
    const found = form.exec(text)
    return found
      ? fractionProblem(found[1], digits)
      : `A value is not a valid time of day. Expected the form ${expected}.`
  }

const unit = `(?:years?|mons?|months?|weeks?|days?|hours?|mins?|minutes?|secs?|seconds?)`
const worded = new RegExp(
  `^(?=.)(?:[+-]?\\d+ ${unit}(?: (?=.)|$))*(?:[+-]?\\d+(?:\\.(\\d+))? (?:secs?|seconds?))?(?:[+-]?\\d{2,}:[0-5]\\d:[0-5]\\d(?:\\.(\\d+))?)?$`,
)
const iso =
  /^-?P(?=.)(?:-?\d+Y)?(?:-?\d+M)?(?:-?\d+W)?(?:-?\d+D)?(?:T(?=.)(?:-?\d+H)?(?:-?\d+M)?(?:-?\d+(?:\.(\d+))?S)?)?$/

const interval =
  ([digits = 6]: Modifiers): Problem =>
  (text) => {
    if (text === '0' || /^-?infinity$/.test(text)) return undefined
    const found = worded.exec(text) ?? iso.exec(text)
    return found
      ? fractionProblem(found[1] ?? found[2], digits)
      : 'A value is not a valid interval. Expected a form such as 1 day 02:30:00, or P1DT2H30M.'
  }

const textTooLong = 'A text is too long for the column.'

/** So many characters, of which PostgreSQL cuts blanks at the end without an error. */
const tooLong =
  (length: number): Problem =>
  (text) =>
    text.length > length && [...text].length > length ? textTooLong : undefined

const padded = ([length = 1]: Modifiers): Problem => {
  const long = tooLong(length)
  return (text) =>
    long(text) ??
    (text.endsWith(' ') && [...text].length < length
      ? `A text ends with a blank, which a column of type char(${length}) does not keep.`
      : undefined)
}

const money = (): Problem => (text) =>
  /^-?\$?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d{1,2})?$/.test(text)
    ? undefined
    : 'A value is not an amount of money. Expected the form 1234.50, with at most 2 decimal places.'

const unless = (form: RegExp, reason: string) => (): Problem => (text) => (form.test(text) ? undefined : reason)

const address = (): Problem => (text) => {
  const [, ip = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  return isIP(ip) > 0 && (bits === undefined || String(Number(bits)) === bits)
    ? undefined
    : 'A value is not a valid IP address.'
}

const json = (): Problem => (text) => {
  const name = repeatedName(text)
  return name === undefined
    ? undefined
    : 'A value has an object with the same name twice, of which the column would keep one.'
}

/** Each number of a text must be one that 64 bits keep. */
const coordinates = (): Problem => (text) => {
  for (const [number] of text.matchAll(/[+-]?[\d.]+(?:[eE][+-]?\d+)?/g)) {
    const read = readFloat(number)
    if ('reason' in read) return read.reason
  }
  return undefined
}

/** The bounds of a range or a multirange, or the elements of an array as PostgreSQL prints it. */
export function partsProblem(text: string, problem: Problem): string | undefined {
  const list = text.replace(/^(?:\[[^\]=]*\])+=/, '')
  for (const [part, quoted] of list.matchAll(/"((?:[^"\\]|\\.|"")*)"|[^[\](){},"]+/gs)) {
    const value = quoted === undefined ? part.trim() : quoted.replace(/\\(.)|""/gs, (_, one) => one ?? '"')
    if (value === '' || (quoted === undefined && /^(?:null|empty)$/i.test(value))) continue
    const found = problem(value)
    if (found !== undefined) return found
  }
  return undefined
}

const bounds = (of: (modifiers: Modifiers) => Problem) => (): Problem => (text) => partsProblem(text, of([]))

const uuid = /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32})$/i

/** By the identifiers that PostgreSQL gives its own types. */
const problems: Readonly<Record<number, (modifiers: Modifiers) => Problem>> = {
  16: truth,
  20: whole(64n),
  21: whole(16n),
  23: whole(32n),
  26: () => reading(readWholeNumber(0n, 2n ** 32n - 1n)),
  700: () => unlessSpecial(reading(readFloat32)),
  701: () => unlessSpecial(reading(readFloat)),
  790: money,
  650: address,
  869: address,
  1042: padded,
  1043: ([length]) => (length === undefined ? () => undefined : tooLong(length)),
  1082: day,
  1083: timeOfDay(clockForm, 'HH:MM:SS'),
  1114: time,
  1184: instant,
  1186: interval,
  1266: timeOfDay(clockWithOffset, 'HH:MM:SS+00:00'),
  1560: unless(/^[01]*$/, 'A value is not a string of bits. Expected 0 and 1.'),
  1562: unless(/^[01]*$/, 'A value is not a string of bits. Expected 0 and 1.'),
  1700: numeric,
  2950: unless(uuid, 'A value is not a valid UUID.'),
  3802: json,
  ...Object.fromEntries([600, 601, 602, 603, 604, 628, 718].map((oid) => [oid, coordinates])),
  ...Object.fromEntries([3912, 4535].map((oid) => [oid, bounds(day)])),
  ...Object.fromEntries([3908, 4533].map((oid) => [oid, bounds(time)])),
  ...Object.fromEntries([3910, 4534].map((oid) => [oid, bounds(instant)])),
}

/** The problem of a cell by its text. An empty text is missing, and the server judges booleans. */
export const problemOfCell =
  (problem: Problem) =>
  (cell: Cell): string | undefined =>
    cell === null || cell === '' || typeof cell === 'boolean'
      ? undefined
      : problem(Object.is(cell, -0) ? '-0' : String(cell))
