/** Times and durations as APIs write them. */

const units = { Y: 365 * 86_400, M: 30 * 86_400, W: 7 * 86_400, D: 86_400 } as const
const clock = { H: 3_600, M: 60, S: 1 } as const
const duration =
  /^([+-])?P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/

/** The milliseconds of a duration of ISO 8601, in which a month has 30 days and a year 365; `undefined` if it is not valid. */
export function durationMs(text: string): number | undefined {
  const [, sign, years, months, weeks, days, hours, minutes, seconds] = duration.exec(text.trim()) ?? []
  const all = [years, months, weeks, days, hours, minutes, seconds]
  if (all.every((one) => one === undefined)) return undefined
  const sizes = [units.Y, units.M, units.W, units.D, clock.H, clock.M, clock.S]
  const total = all.reduce((sum, one, index) => sum + Number(one ?? 0) * (sizes[index] ?? 0), 0)
  return (sign === '-' ? -1000 : 1000) * total
}

/** A time in milliseconds since 1970, and whether its text includes a time zone. */
export type ReadTime = { readonly ms: number; readonly hasZone: boolean }

const day = /^\d{4}-\d\d(-\d\d)?$/
const dayAndTime = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)\s*(Z|UTC|[+-]\d\d:?\d\d)?$/i

/**
 * Reads a day or a time in ISO 8601 (a time without a zone is UTC), or seconds or milliseconds since 1970: a text of at least 9
 * digits, or any number. `undefined` if the value is not a time.
 */
export function readTime(value: unknown): ReadTime | undefined {
  const isNumber = typeof value === 'number' || /^-?\d{9,14}(\.\d+)?$/.test(String(value))
  if (isNumber) {
    const number = Number(value)
    return timeOf(Math.abs(number) < 1e11 ? number * 1000 : number, true)
  }
  if (typeof value !== 'string' || value.length > 64) return undefined
  const text = value.trim()
  if (day.test(text)) return timeOf(Date.parse(text), false)
  const found = dayAndTime.exec(text)
  if (!found) return undefined
  const [, date, time = '', zone] = found
  const offset =
    zone && /^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone?.replace(/^utc$/i, 'Z')
  return timeOf(Date.parse(`${date}T${time.replace(',', '.')}${(offset ?? 'Z').toUpperCase()}`), zone !== undefined)
}

const timeOf = (ms: number, hasZone: boolean): ReadTime | undefined =>
  Math.abs(ms) <= 8.64e15 && !Number.isNaN(ms) ? { ms: Math.trunc(ms), hasZone } : undefined

/** The same for other forms with an unambiguous date, such as RFC 2822. */
export const readAnyTime = (value: unknown): ReadTime | undefined =>
  readTime(value) ??
  (typeof value === 'string' && value.length <= 64 && /[A-Za-z]{3}/.test(value)
    ? timeOf(Date.parse(value.trim()), true)
    : undefined)

/** The milliseconds since 1970 of a time in any of these forms; `undefined` if the value is not a time. */
export const timeMs = (value: unknown): number | undefined => readAnyTime(value)?.ms

/** A time in ISO 8601 with UTC; milliseconds are omitted if they are zero. */
export const isoOf = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

const places: Readonly<Record<string, readonly [number, number]>> = {
  yyyy: [0, 4],
  yy: [2, 4],
  MM: [5, 7],
  dd: [8, 10],
  HH: [11, 13],
  mm: [14, 16],
  ss: [17, 19],
  SSS: [20, 23],
}
const parts = /yyyy|yy|MM|dd|HH|mm|ss|SSS|'[^']*'/g

/** Whether a form has letters without a meaning that are not between single quotes. */
export const hasUnknownLetters = (form: string): boolean => /[A-Za-z]/.test(form.replaceAll(parts, ' '))

/**
 * Writes a time by its parts in UTC, in a form of yyyy, yy, MM, dd, HH, mm, ss, SSS, other signs, and letters between single
 * quotes. Empty if its year does not have four digits.
 */
export function formatMs(ms: number, form: string): string {
  const digits = new Date(ms).toISOString()
  if (digits.length !== 24) return ''
  return form.replaceAll(parts, (part) => {
    const place = places[part]
    return place ? digits.slice(...place) : part.slice(1, -1)
  })
}

const directives: Readonly<Record<string, string>> = {
  Y: 'yyyy',
  y: 'yy',
  m: 'MM',
  d: 'dd',
  H: 'HH',
  M: 'mm',
  S: 'ss',
  f: "SSS'000'",
  _ms: 'SSS',
  z: "'+0000'",
  Z: "'UTC'",
  F: 'yyyy-MM-dd',
  T: 'HH:mm:ss',
  '%': "'%'",
}

/** A format of `strftime`, such as `%Y-%m-%d`, as a form of {@link formatMs}; `undefined` if it contains anything else. */
export function formOfStrftime(format: string): string | undefined {
  let isKnown = true
  const form = format.replaceAll(/%(_ms|.)|([A-Za-z]+)/g, (_, directive?: string, letters?: string) => {
    if (letters !== undefined) return `'${letters}'`
    const written = directives[directive ?? '']
    isKnown &&= written !== undefined
    return written ?? ''
  })
  return isKnown && !form.includes("''") ? form : isKnown ? form.replaceAll("''", '') : undefined
}
