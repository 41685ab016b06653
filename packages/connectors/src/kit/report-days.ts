/** Days of reports: texts YYYY-MM-DD, which compare like the days they are. Pure functions, for facts and for the kit. */

/** The day `count` days later, or earlier if negative. */
export const addDays = (day: string, count: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + count * 86_400_000).toISOString().slice(0, 10)

/** The number of days from one day to another, both included. 1 if they are the same. */
export const daysFrom = (from: string, to: string): number =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000) + 1

/** The days from one to another, both included. */
export const eachDay = (from: string, to: string): string[] =>
  Array.from({ length: Math.max(0, daysFrom(from, to)) }, (_, index) => addDays(from, index))

/** Formats by time zone, because creating one is slow. */
const dayFormats = new Map<string, Intl.DateTimeFormat>()
const offsetFormats = new Map<string, Intl.DateTimeFormat>()
const kept = (formats: Map<string, Intl.DateTimeFormat>, zone: string, make: () => Intl.DateTimeFormat) => {
  const format = formats.get(zone) ?? make()
  formats.set(zone, format)
  return format
}

/** The day that it is in a time zone, now or at a time in milliseconds since 1970. */
export const todayIn = (zone: string, at = Date.now()): string =>
  kept(dayFormats, zone, () => new Intl.DateTimeFormat('en-CA', { timeZone: zone })).format(at)

/** Whether this program knows a time zone. */
export function isZone(zone: string): boolean {
  try {
    todayIn(zone)
    return true
  } catch {
    return false
  }
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** How far the clocks of a time zone are ahead of UTC at a time, in milliseconds. */
export function offsetMs(zone: string, at: number): number {
  const make = () => new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const parts = kept(offsetFormats, zone, make).formatToParts(at)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours, minutes = '0', seconds = '0'] = /([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?/.exec(name) ?? []
  if (hours === undefined) return 0
  const ms = Number(hours) * hourMs + Number(minutes) * minuteMs + Number(seconds) * 1_000
  return sign === '-' ? -ms : ms
}

/**
 * The time at which a day begins in a time zone, in milliseconds since 1970: midnight by the clocks of that day, which daylight
 * saving moves. If they skip midnight, the first time of the day.
 */
export function beginOfDay(day: string, zone: string): number {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  // No clock is further from UTC than 14 hours, and no zone changes its clocks twice within two days.
  const before = midnight - offsetMs(zone, midnight - 15 * hourMs)
  if (offsetMs(zone, before) === midnight - before) return before
  const after = midnight - offsetMs(zone, midnight + 15 * hourMs)
  return offsetMs(zone, after) === midnight - after ? after : before
}

/** A time as ISO 8601 with the offset of a time zone: `2026-03-29T00:00:00.000+01:00`. */
export function isoIn(zone: string, at: number): string {
  const offset = offsetMs(zone, at)
  const minutes = Math.abs(offset) / minuteMs
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${new Date(at + offset).toISOString().slice(0, -1)}${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}
