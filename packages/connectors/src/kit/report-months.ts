import { select, type Values } from '@penstock/connector'
import type { ChangedFacts, ReportDays } from './report-facts.ts'

/** The setting `granularity` of a report that can have a row for each month instead of each day. */
export const granularity = select({
  label: 'Granularity',
  description: 'A row for each day, or for each month. The day of a month is its first day',
  options: ['Day', 'Month'],
  default: 'Day',
})

/** Whether a connection chose months. */
export const isMonthly = ({ granularity }: Values): boolean => granularity === 'Month'

/** The facts of a connection that chose months. `undefined` if it did not. @param days the facts of days */
export const monthsOf = (settings: Values, days: ReportDays): ChangedFacts | undefined =>
  isMonthly(settings) ? { days: { ...days, by: 'month' } } : undefined

/** The first day of the month of a day. */
export const firstOfMonth = (day: string): string => `${day.slice(0, 7)}-01`

/** The last day of the month of a day. */
export function lastOfMonth(day: string): string {
  const [year = 0, month = 0] = day.split('-').map(Number)
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
}
