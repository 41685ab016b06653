import { addDays } from '../report-days.ts'
import { firstOfMonth, lastOfMonth } from '../report-months.ts'
import type { ReportPosition, ReportReading } from './report-reading.ts'

/** The requested reports, each of some days of one account. */

/**
 * Where reading resumes: on a day of an account. `ends` are the last days of the next reports, if these are shorter than usual:
 * a report that was begun, and its halves. After a crash, the same rows must be read in the same order.
 */
export type ReportPlace = ReportPosition & {
  readonly account: string
  readonly from: string
  readonly ends: readonly string[]
}

/** The first day and the last one, YYYY-MM-DD. */
export type DayRange = { readonly from: string; readonly to: string }

/**
 * The days of an account that are read.
 * @param through the last day that was read by transfers before
 * @param today in its time zone
 * @param resumed where reading resumes
 * @param range the days of a part of the transfer
 */
export type AskedDays = {
  readonly through: string | undefined
  readonly today: string
  readonly resumed?: ReportPlace | undefined
  readonly range?: DayRange | undefined
  readonly isSample?: boolean
}

/** @param rest the last days of the reports that come behind this one, if they are not as long as usual */
export type Unit = DayRange & { readonly rest: readonly string[] }

/**
 * The reports to ask for of an account, the first days first. In a sample, one of the newest day before today. Without days, it is all
 * that there is today.
 */
export function* unitsOf(
  { facts, plan }: ReportReading,
  { through, today, resumed, range, isSample = false }: AskedDays,
): Generator<Unit> {
  const days = facts.days && { ...facts.days, ...facts.levels[plan.level]?.days }
  if (!days) {
    if (resumed === undefined || resumed.from <= today) yield { from: today, to: today, rest: [] }
    return
  }
  const isByMonth = days.by === 'month'
  const firstOf = (day: string) => (isByMonth ? firstOfMonth(day) : day)
  const newest = addDays(today, -(days.newest ?? 0))
  const wished = plan.endDate !== undefined && isByMonth ? lastOfMonth(plan.endDate) : plan.endDate
  const last = range?.to ?? (wished !== undefined && wished < newest ? wished : newest)
  if (isSample) {
    const day = last < today ? last : addDays(today, -1)
    return yield { from: firstOf(day), to: day, rest: [] }
  }
  // The days that the platform restates are read again.
  const next = through === undefined ? addDays(today, -days.lookBack) : addDays(through, 1 - plan.lookBackDays)
  const oldest = addDays(today, -days.backMax)
  const begin = through === undefined ? (plan.startDate ?? next) : latest(plan.startDate ?? next, next)
  let from = firstOf(range?.from ?? latest(begin, oldest))
  if (resumed) {
    from = latest(resumed.from, from)
    // A report that was begun is read to its end, even if the days have changed.
    let first = resumed.from
    for (const [index, to] of resumed.ends.entries()) {
      yield { from: first, to, rest: resumed.ends.slice(index + 1) }
      first = addDays(to, 1)
      from = first
    }
  }
  while (from <= last) {
    const end = isByMonth ? lastOfMonth(from) : addDays(from, days.chunk - 1)
    const to = end < last ? end : last
    yield { from, to, rest: [] }
    from = addDays(to, 1)
  }
}

const latest = (a: string, b: string): string => (a > b ? a : b)
