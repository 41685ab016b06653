import type { WindowScope } from '@penstock/connector'
import type { ReportColumn } from '../report-columns.ts'
import { eachDay } from '../report-days.ts'
import type { ReadFacts, ReportRequest } from '../report-facts.ts'
import type { ReportReading } from './report-reading.ts'

/** The columns by which rows of different reports differ. */

const columnOf = ({ always, columns }: ReadFacts, is: (column: ReportColumn | undefined) => boolean): string =>
  always.find((name) => is(columns[name])) ?? ''

const accountColumn = (facts: ReadFacts): string => columnOf(facts, (column) => column?.of === 'account')
const dayColumn = (facts: ReadFacts): string => columnOf(facts, (column) => column?.isDay === true)

/** The column of the account, and the column of the day if there are days. */
export const scopeColumns = (facts: ReadFacts): readonly string[] => [
  accountColumn(facts),
  ...(facts.days ? [dayColumn(facts)] : []),
]

/** Everything that the platform has of an account on some days replaces its earlier records, unless the setting says otherwise. */
export function scopeOf(
  { facts, plan }: ReportReading,
  { account, from, to }: Pick<ReportRequest, 'account' | 'from' | 'to'>,
): WindowScope | undefined {
  if (plan.settings.vanishedRows === 'Keep') return undefined
  return { [accountColumn(facts)]: [account], ...(facts.days && { [dayColumn(facts)]: eachDay(from, to) }) }
}
