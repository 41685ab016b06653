import { type Blackout, type FieldError, weekdays } from '@penstock/wire'
import { nextRun, timezoneErrors } from './times.ts'

/** Weekly windows in which no transfer of a connection starts. */

/** How many windows that follow each other are looked at. */
const rounds = 15

/** Errors of a request. */
export const errorsOfBlackout = ({ timezone }: Blackout): FieldError[] =>
  timezoneErrors(timezone, 'body.blackout.timezone')

/**
 * The end of the windows that a time is in, which may follow each other without a gap.
 * @param at a time
 * @returns undefined if it is in none. Of more than 15 windows in a row, the end of the fifteenth
 */
export function blackoutEnd({ timezone, windows }: Blackout, at: Date): Date | undefined {
  let end: Date | undefined
  for (let round = 0; round < rounds; round += 1) {
    const now = end ?? at
    const ends = windows.flatMap((window) => endOf(window, timezone, now) ?? [])
    if (ends.length === 0) break
    end = ends.reduce((a, b) => (a > b ? a : b))
  }
  return end
}

type Window = Blackout['windows'][number]

/** Each window ends before it begins again, so a time is in it if its end comes first. */
function endOf({ days, from, to }: Window, timezone: string, now: Date): Date | undefined {
  const begins = nextRun(cronOf(days, from, 0), timezone, now)
  const ends = nextRun(cronOf(days, to, to > from ? 0 : 1), timezone, now)
  if (!begins || !ends) return undefined
  return ends <= begins ? ends : undefined
}

function cronOf(days: Window['days'], time: string, later: 0 | 1): string {
  const [hour, minute] = time.split(':').map(Number)
  // Of cron, Monday is 1.
  const numbers = days.map((day) => ((weekdays.indexOf(day) + later) % weekdays.length) + 1)
  return `${minute} ${hour} * * ${numbers.join(',')}`
}
