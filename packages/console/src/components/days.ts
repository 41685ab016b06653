/** Days and months of reports: texts such as `2026-09-18` and `2026-09`, in UTC, as the ledger counts them. */

const dayMs = 86_400_000

/** The day of a time. @param ms milliseconds since 1970 */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The day that is `days` later; earlier if it is negative. */
export const dayAfter = (day: string, days: number): string => dayOf(Date.parse(day) + days * dayMs)

/** How many days there are from one to another, both counted; below 1 where the last is before the first. */
export const daysBetween = (first: string, last: string): number => (Date.parse(last) - Date.parse(first)) / dayMs + 1

/** Every day from one to another, both included. */
export const everyDay = (first: string, last: string): string[] =>
  Array.from({ length: Math.max(0, daysBetween(first, last)) }, (_, i) => dayAfter(first, i))

/** Every month that has one of these days. */
export const everyMonth = (first: string, last: string): string[] => [
  ...new Set(everyDay(first, last).map((day) => day.slice(0, 7))),
]

const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const fullDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const fullMonth = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' })

/** A day or a month if there is little space: `18 Sept`, `Sept 2026`. */
export const shortPeriod = (period: string): string =>
  (period.length > 7 ? shortDay : fullMonth).format(Date.parse(period))

/** From one day to another, as people write it. */
export const rangeOfDays = (first: string, last: string): string =>
  fullDay.formatRange(Date.parse(first), Date.parse(last))
