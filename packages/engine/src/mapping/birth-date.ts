/**
 * Days of birth as YYYYMMDD. Read are days that can mean one day only: year first; day first with dots, as nobody writes
 * the month first with dots; with slashes or hyphens where one number can only be the day; and with English names of months.
 */

const yearFirst = /^(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?:[T ]\d{2}:?\d{2}.*)?$/s
const yearLast = /^(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4})$/
const dayNameYear = /^(\d{1,2})(?:st|nd|rd|th)?[\s-]+([a-z]{3,9})\.?,?[\s-]+(\d{4})$/i
const nameDayYear = /^([a-z]{3,9})\.?[\s-]+(\d{1,2})(?:st|nd|rd|th)?,?[\s-]+(\d{4})$/i
const months = `january february march april may june july august september october november december`.split(' ')

/** Eight digits; `undefined` where the text is no day, may be one of two days, or lies before 1900 or ahead. */
export function normaliseBirthDate(text: string): string | undefined {
  const trimmed = text.trim()
  let match = yearFirst.exec(trimmed)
  if (match) {
    const [, year = '', separator, month = '', day = ''] = match
    return separator === '' && trimmed.length < 8 ? undefined : calendarDay(+year, +month, +day)
  }
  match = yearLast.exec(trimmed)
  if (match) {
    const [, first = '', separator, second = '', year = ''] = match
    if (separator === '.' || +first > 12) return calendarDay(+year, +second, +first)
    return +second > 12 || +first === +second ? calendarDay(+year, +first, +second) : undefined
  }
  match = dayNameYear.exec(trimmed)
  if (match) return calendarDay(Number(match[3]), monthNamed(match[2] ?? ''), Number(match[1]))
  match = nameDayYear.exec(trimmed)
  return match ? calendarDay(Number(match[3]), monthNamed(match[1] ?? ''), Number(match[2])) : undefined
}

/** The month's number; 0 where none is called so. `sept` is as common as `sep`. */
function monthNamed(name: string): number {
  const wanted = name.toLowerCase()
  return (
    months.findIndex((month) => month === wanted || month.slice(0, 3) === wanted || month.slice(0, 4) === wanted) + 1
  )
}

function calendarDay(year: number, month: number, day: number): string | undefined {
  if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1900) return undefined
  const moment = Date.UTC(year, month - 1, day)
  if (moment > Date.now() || new Date(moment).getUTCDate() !== day) return undefined
  return `${year}${month < 10 ? '0' : ''}${month}${day < 10 ? '0' : ''}${day}`
}
