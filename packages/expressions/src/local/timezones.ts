/** Of the zones of a mapping, which one job reads times by. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    ...({ year: 'numeric', month: 'numeric', day: 'numeric' } as const),
    ...({ hour: 'numeric', minute: 'numeric', second: 'numeric' } as const),
  })
  formats.set(timezone, format)
  return format
}

/** Whether a time zone exists. */
export function isTimezone(name: string): boolean {
  try {
    // Not by `formatOf`, which keeps each: names come from callers, in any letter case.
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    // An offset is not a time zone, because the clocks of a place change.
    return /^[A-Za-z]/.test(name)
  } catch {
    return false
  }
}

/** By how much the clocks of a zone are ahead of UTC at a time, in milliseconds. */
function aheadMs(atMs: number, timezone: string): number {
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<string, number>
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000
}

/** A date whose UTC parts are the ones that the clocks of a zone show. */
export const shownIn = (atMs: number, timezone: string): Date => new Date(atMs + aheadMs(atMs, timezone))

/** A time that the clocks of a zone show, in UTC and ISO 8601 with the fraction that it came with. */
export function inUtc(day: string, time: string, timezone: string): string {
  const fraction = time.slice(8)
  const shownMs = Date.parse(`${day}T${time.slice(0, 8)}Z`)
  // Offsets before and after a change of the clocks. If two times show this, the earlier one is used. If the clocks skip it, the
  // offset from before the change is used.
  const candidates = [shownMs - 86_400_000, shownMs + 86_400_000].map((nearMs) => shownMs - aheadMs(nearMs, timezone))
  const shows = candidates.filter((atMs) => atMs + aheadMs(atMs, timezone) === shownMs)
  const atMs = shows.length > 0 ? Math.min(...shows) : (candidates[0] as number)
  return `${new Date(atMs).toISOString().slice(0, 19)}${fraction}Z`
}
