import { shortest } from '../databases/float32.ts'
import { numbersIn, repeatedName } from '../databases/json-texts.ts'
import type { MysqlColumn } from './table.ts'

/**
 * Why a column would silently change a value although the session is strict: the server rounds, cuts, completes and
 * reinterprets values of many types. `undefined` if the server stores the value unchanged or refuses it.
 * @param text as it is written; null if there is no value
 */
export type Doubt = (text: string | null) => string | undefined

export function doubtFor(column: MysqlColumn): Doubt {
  const { name, type, scale, needed } = column
  const value = ofType(column)
  if (type === 'timestamp' && needed) {
    // The server would put its own time there.
    const missing = `There is no value for the column ${name}, which needs one.`
    return (text) => (text === null ? missing : value(text))
  }
  const places = scale === undefined ? undefined : tooManyPlaces(name, scale)
  return (text) => (text === null ? undefined : (places?.(text) ?? value(text)))
}

function ofType({ name, type, members, octets, precision = 0 }: MysqlColumn): (text: string) => string | undefined {
  switch (type) {
    case 'tinyint':
    case 'smallint':
    case 'mediumint':
    case 'int':
    case 'bigint':
      return tooManyPlaces(name, 0)
    case 'float':
      return inexact(name, (number) => shortest(Math.fround(number)))
    case 'double':
      return inexact(name, (number) => number)
    case 'year':
      return unless(/^\d{4}$/, `A value for the column ${name} is not a year of four digits.`)
    case 'bit':
      return unless(/^\d{1,20}$/, `A value for the column ${name} is not a whole number from 0 on.`)
    case 'date':
      return dayProblem(name)
    case 'datetime':
    case 'timestamp':
      return fractionProblem(name, precision, /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?$/, 'date and time')
    case 'time':
      return fractionProblem(name, precision, /^-?(\d+ )?\d{1,3}:\d\d(:\d\d(\.\d+)?)?$/, 'time')
    case 'enum':
    case 'set':
      return memberProblem(name, type, members)
    case 'binary':
    case 'varbinary':
    case 'tinyblob':
    case 'blob':
    case 'mediumblob':
    case 'longblob':
      return bytesProblem(name, type === 'binary' ? octets : undefined)
    case 'char':
      return (text) =>
        notWellFormed(name, text) ??
        (text.endsWith(' ') ? `A text for the column ${name} ends with a space, which CHAR does not keep.` : undefined)
    case 'json':
      return jsonProblem(name)
    case 'uuid':
      return unless(
        /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i,
        `A value for the column ${name} is not a UUID in the form xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.`,
      )
    default:
      return (text) => notWellFormed(name, text)
  }
}

const unless = (form: RegExp, reason: string) => (text: string) => (form.test(text) ? undefined : reason)

const notWellFormed = (name: string, text: string): string | undefined =>
  text.isWellFormed() ? undefined : `A text for the column ${name} holds half a character, which UTF-8 cannot write.`

/** A decimal number by its digits, without zeros at either end, and how many of them stand behind the point. */
function decimalOf(text: string): { readonly digits: string; readonly places: number } | undefined {
  const found = /^\s*([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,5}))?\s*$/.exec(text)
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = found ?? []
  if (whole + fraction === '') return undefined
  const digits = (whole + fraction).replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  const places = short === '' ? 0 : fraction.length - Number(exponent) - (digits.length - short.length)
  return { digits: `${sign === '-' ? '-' : ''}${short}`, places }
}

function tooManyPlaces(name: string, scale: number): (text: string) => string | undefined {
  const reason =
    scale === 0
      ? `A number has decimal places, and the column ${name} accepts only whole numbers.`
      : `A number has more decimal places than the ${scale} that the column ${name} keeps.`
  // The server refuses a text that is not a number.
  return (text) => (whole.test(text) || (decimalOf(text)?.places ?? 0) <= scale ? undefined : reason)
}
const whole = /^-?\d{1,20}$/

function inexact(name: string, held: (number: number) => number): (text: string) => string | undefined {
  const reason = `A number has more digits than the column ${name} can hold; DECIMAL, or DOUBLE instead of FLOAT, holds more.`
  return (text) => {
    const given = decimalOf(text)
    const number = held(Number(text))
    // Beyond its range, the server refuses it.
    if (!given || !Number.isFinite(number)) return undefined
    const kept = decimalOf(Object.is(number, -0) ? '-0' : String(number))
    return kept?.digits === given.digits && kept.places === given.places ? undefined : reason
  }
}

function dayProblem(name: string): (text: string) => string | undefined {
  return (text) => {
    if (/^\d{4}-\d\d-\d\d([T ]00:00(:00(\.0+)?)?)?$/.test(text)) return undefined
    return /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text)
      ? `A value has a time of day, which the column ${name} does not keep.`
      : `A value is not a date that the column ${name} accepts, in the form YYYY-MM-DD.`
  }
}

function fractionProblem(name: string, precision: number, form: RegExp, what: string) {
  const cut = `A value has more than ${precision} digits of fractional seconds, which the column ${name} does not keep.`
  const strange = `A value is not a ${what} that the column ${name} accepts, in a form of ISO 8601.`
  return (text: string): string | undefined => {
    if (!form.test(text)) return strange
    const digits = /\.(\d+)$/.exec(text)?.[1]?.replace(/0+$/, '').length ?? 0
    return digits > precision ? cut : undefined
  }
}

/** The server also takes numbers of members, other cases, and spaces behind them. */
function memberProblem(name: string, type: 'enum' | 'set', members: readonly string[] | undefined) {
  const known = members && new Set(members)
  const reason = `A value is not one that the column ${name} accepts.`
  return (text: string): string | undefined => {
    if (!known) return undefined
    const parts = type === 'enum' || text === '' ? [text] : text.split(',')
    return (type === 'set' && text === '') || parts.every((part) => known.has(part)) ? undefined : reason
  }
}

/** MySQL keeps one of several values with the same name, and makes 64 bits of each number. MariaDB's JSON is text. */
function jsonProblem(name: string): (text: string) => string | undefined {
  const number = inexact(name, (value) => value)
  return (text) => {
    if (repeatedName(text) !== undefined) {
      return `A value for the column ${name} has an object with the same name twice, of which the column would keep one.`
    }
    for (const found of numbersIn(text)) {
      const reason = /^-?\d{1,18}$/.test(found) ? undefined : number(found)
      if (reason !== undefined) return reason
    }
    return notWellFormed(name, text)
  }
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const hexadecimal = /^\\x(?:[0-9a-f]{2})*$/i

/** Whether bytes are written as PostgreSQL gives them: `\x` and hexadecimal digits. */
export const isHexadecimal = (text: string): boolean => hexadecimal.test(text)

function bytesProblem(name: string, octets: number | undefined) {
  return (text: string): string | undefined => {
    if (!base64.test(text) && !isHexadecimal(text)) {
      return `A value for the column ${name} is neither base64 nor \\x and hexadecimal digits, in which bytes are written.`
    }
    if (octets === undefined) return undefined
    const length = isHexadecimal(text) ? (text.length - 2) / 2 : Buffer.byteLength(text, 'base64')
    return length < octets
      ? `A value has fewer bytes than the ${octets} of the column ${name}, which would add zeros.`
      : undefined
  }
}
