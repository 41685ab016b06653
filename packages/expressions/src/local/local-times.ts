import { isDay } from '@penstock/wire/rules'
import type { DateForm, LocalForm, LocalRead } from './local-forms.ts'
import { inUtc } from './timezones.ts'

const clock = String.raw`(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(?:\s*([AaPp])\.?[Mm]\.?)?)?`
const zone = String.raw`\s*(Z|z|UTC|[+-]\d{2}:?\d{2})?`
const dayLast = new RegExp(String.raw`^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})${clock}${zone}$`)
const yearLast = new RegExp(String.raw`^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})${clock}${zone}$`)

/**
 * Reads a time such as `22.11.2026`, `25/12/2026 10:00`, `2026-11-22 10:00` or `11/22/2026 5:30 PM`, and returns it in ISO 8601,
 * in UTC if a time zone is known. Days with dots have the day first. For other days without a form, one of both numbers must be
 * above 12. ISO 8601 with a zone, seconds since 1970 and any other text are not changed. A time that the clocks skip becomes an
 * hour later. A time that the clocks show twice means the first one.
 * @param needsZone whether a time without a zone cannot be used
 */
export function readLocalTime(given: string, { dates, timezone }: LocalForm, needsZone: boolean): LocalRead {
  const text = given.trim()
  const parts = partsOf(text, dates)
  if (parts === undefined) return { text: given }
  if (typeof parts === 'string') return { wrong: parts }
  const { day, time, offset, isCanonical } = parts
  if (offset !== undefined) return { text: isCanonical ? given : `${day}T${time ?? '00:00:00'}${offset}` }
  if (timezone !== undefined) return { text: inUtc(day, time ?? '00:00:00', timezone) }
  if (needsZone) {
    // The destination may need only a day.
    if (time === undefined) return { text: day }
    return {
      wrong:
        'has no time zone: add one to the values, or say it in the mapping, {"column": "…", "timezone": "Europe/Berlin"}, or in the setting defaultTimezone',
    }
  }
  return { text: isCanonical ? given : time === undefined ? day : `${day}T${time}` }
}

type Parts = { day: string; time: string | undefined; offset: string | undefined; isCanonical: boolean }

/** `undefined`: no time of these forms. A text: why it cannot be read. */
function partsOf(text: string, form: DateForm | undefined): Parts | string | undefined {
  const iso = dayLast.exec(text)
  const found = iso ?? yearLast.exec(text)
  if (!found) return undefined
  const [
    ,
    first = '',
    separator = '',
    second = '',
    third = '',
    hour,
    minute = '00',
    seconds = '00',
    fraction = '',
    half,
  ] = found
  let [year, month, day] = [first, second, third]
  if (!iso) {
    year = third
    const order = form === 'DMY' || form === 'MDY' ? form : orderOf(Number(first), Number(second), separator === '.')
    if (order === undefined) {
      return 'can be read in two ways: say in the mapping which comes first, the day or the month, {"column": "…", "dates": "DMY"} or "MDY"'
    }
    ;[month, day] = order === 'DMY' ? [second, first] : [first, second]
  }
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (!isDay(date)) return 'is not a valid date'
  const whole = { day: date, offset: offsetOf(found[10]), isCanonical: iso !== null && separator === '-' }
  if (hour === undefined) return { ...whole, time: undefined }
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  if (
    hours > 23 ||
    Number(minute) > 59 ||
    Number(seconds) > 59 ||
    (half !== undefined && (hour === '0' || Number(hour) > 12))
  ) {
    return 'is not a time of day'
  }
  return { ...whole, time: `${String(hours).padStart(2, '0')}:${minute}:${seconds}${fraction}` }
}

/** Which of two numbers is the day; `undefined` if both can be. @param hasDots days with dots never have the month first */
export function orderOf(first: number, second: number, hasDots: boolean): 'DMY' | 'MDY' | undefined {
  if (hasDots || first > 12) return 'DMY'
  if (second > 12) return 'MDY'
  return first === second ? 'DMY' : undefined
}

/**
 * The orders in which the numbers of a day can be read, if its year is last and it has no dots, and whether it has a time of day
 * without a zone. No orders: the text is not a day, or its order makes no difference.
 */
export function dateReadings(given: string): {
  readonly orders: readonly ('DMY' | 'MDY')[]
  readonly lacksZone: boolean
} {
  const text = given.trim()
  const read = (order: 'DMY' | 'MDY') => {
    const parts = partsOf(text, order)
    return typeof parts === 'object' ? parts : undefined
  }
  const [dmy, mdy] = [read('DMY'), read('MDY')]
  const any = dmy ?? mdy
  const lacksZone = any !== undefined && any.time !== undefined && any.offset === undefined
  const isYearLast = yearLast.test(text) && !/^\d{1,2}\./.test(text)
  if (!isYearLast || (dmy && dmy.day === mdy?.day)) return { orders: [], lacksZone }
  return { orders: [...(dmy ? ['DMY' as const] : []), ...(mdy ? ['MDY' as const] : [])], lacksZone }
}

const offsetOf = (zone: string | undefined): string | undefined =>
  zone === undefined ? undefined : /^[Zz]|UTC/.test(zone) ? 'Z' : zone.replace(/^([+-]\d\d):?(\d\d)$/, '$1:$2')
