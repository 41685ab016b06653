import { orderOf } from '@penstock/expressions/local'

/**
 * Days of birth as YYYYMMDD. Accepts only unambiguous dates: the year first; the day first with dots, because dates with dots
 * never have the month first; other separators if one number can only be the day; and English names of months.
 */

/** The separator of the parts: a sign with or without spaces around it, or only spaces. */
const between = String.raw`(\s*[-–/._:|]\s*|\s+)`
const unseparated = /^(\d{4})(\d{2})(\d{2})(?:[T ]\d{2}:?\d{2}.*)?$/s
const yearFirst = new RegExp(String.raw`^(\d{4})${between}(\d{1,2})${between}(\d{1,2})(?:[T ]\d{2}:?\d{2}.*)?$`, 's')
const yearLast = new RegExp(String.raw`^(\d{1,2})${between}(\d{1,2})${between}(\d{4})$`)
const dayNameYear = /^(\d{1,2})(?:st|nd|rd|th)?[\s._/-]+([a-z]{3,9})\.?,?[\s._/-]+(\d{4})$/i
const nameDayYear = /^([a-z]{3,9})\.?[\s._/-]+(\d{1,2})(?:st|nd|rd|th)?,?[\s._/-]+(\d{4})$/i
const months = `january february march april may june july august september october november december`.split(' ')

/** Eight digits; `undefined` if the text is not a day, could be two different days, is before 1900 or is in the future. */
export function normaliseBirthDate(text: string): string | undefined {
  const trimmed = text.trim()
  let match = unseparated.exec(trimmed)
  if (match) return calendarDay(Number(match[1]), Number(match[2]), Number(match[3]))
  match = yearFirst.exec(trimmed)
  if (match) return calendarDay(Number(match[1]), Number(match[3]), Number(match[5]))
  match = yearLast.exec(trimmed)
  if (match) {
    const [, first = '', before = '', second = '', after = '', year = ''] = match
    const hasDots = before.trim() === '.' && after.trim() === '.'
    const order = orderOf(+first, +second, hasDots)
    if (order === undefined) return undefined
    return order === 'DMY' ? calendarDay(+year, +second, +first) : calendarDay(+year, +first, +second)
  }
  match = dayNameYear.exec(trimmed)
  if (match) return calendarDay(Number(match[3]), monthNamed(match[2] ?? ''), Number(match[1]))
  match = nameDayYear.exec(trimmed)
  return match ? calendarDay(Number(match[3]), monthNamed(match[1] ?? ''), Number(match[2])) : undefined
}

/** The month's number; 0 if no month has this name. `sept` is as common as `sep`. */
function monthNamed(name: string): number {
  const wanted = name.toLowerCase()
  return (
    months.findIndex((month) => month === wanted || month.slice(0, 3) === wanted || month.slice(0, 4) === wanted) + 1
  )
}

/** The month of birth as two digits, from a number or an English name; `undefined` if it is not a month from 1 to 12. */
export function normaliseBirthMonth(text: string): string | undefined {
  const [, digits, name] = /^(?:(\d{1,2})|([a-z]{3,9}))\.?$/i.exec(text.trim()) ?? []
  const month = digits === undefined ? monthNamed(name ?? '') : Number(digits)
  return month >= 1 && month <= 12 ? twoDigits(month) : undefined
}

/** The day of the month of birth as two digits; `undefined` if it is not a number from 1 to 31. */
export function normaliseBirthDay(text: string): string | undefined {
  const day = Number(/^(\d{1,2})(?:\.|st|nd|rd|th)?$/i.exec(text.trim())?.[1] ?? 0)
  return day >= 1 && day <= 31 ? twoDigits(day) : undefined
}

/** The year of birth as four digits; `undefined` if it is not a year from 1900 to the current year. */
export function normaliseBirthYear(text: string): string | undefined {
  const year = /^\d{4}$/.exec(text.trim())?.[0]
  return Number(year) >= 1900 && Number(year) <= new Date().getUTCFullYear() ? year : undefined
}

const twoDigits = (number: number): string => String(number).padStart(2, '0')

function calendarDay(year: number, month: number, day: number): string | undefined {
  if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1900) return undefined
  const timestamp = Date.UTC(year, month - 1, day)
  if (timestamp > Date.now() || new Date(timestamp).getUTCDate() !== day) return undefined
  return `${year}${twoDigits(month)}${twoDigits(day)}`
}
