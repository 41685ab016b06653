import { isDay } from '@penstock/connector'
import { limits } from '@penstock/wire'
import { databaseNow } from '../db/clock.ts'
import type { Db } from '../db/database.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'

const dayMs = 86_400_000

/** The days of a report. By default this month. Refuses days that no calendar has, and too many. */
export async function readDays(db: Db, { startDate, endDate }: { startDate?: string; endDate?: string }) {
  const given = Object.entries({ startDate, endDate })
  refuseFieldErrors(
    given
      .filter(([, day]) => day !== undefined && !isDay(day))
      .map(([name]) => ({ field: `query.${name}`, message: 'must be a calendar day, YYYY-MM-DD' })),
  )
  const end = endDate ?? (await databaseNow(db)).toISOString().slice(0, 10)
  const start = startDate ?? `${end.slice(0, 7)}-01`
  const days = (Date.parse(end) - Date.parse(start)) / dayMs + 1
  if (days < 1) refuse('invalid_request', [{ field: 'query.endDate', message: 'must not be before startDate' }])
  if (days > limits.reportDaysMax) {
    refuse('invalid_request', [
      { field: 'query.startDate', message: `must be at most ${limits.reportDaysMax} days before endDate` },
    ])
  }
  return { startDate: start, endDate: end }
}
