import type { Finding, InspectionContext } from '@penstock/connector'
import { objectIn, parseJson, textIn } from '../platform-api/json.ts'
import { type BatchRow, rowsOf } from '../platform-api/rows/batch-rows.ts'
import { assertDataset } from './check.ts'

/** What Meta expects in events of websites. */
const expected = ['client_user_agent', 'event_source_url'] as const

/** Looks for the dataset, and for values that Meta expects of events of websites and that the rows lack. */
export async function inspectConversions(context: InspectionContext): Promise<readonly Finding[]> {
  await assertDataset(context)
  return websiteFindings(context)
}

/** A warning for each value that events of websites lack among the rows. */
function websiteFindings({ columns, rows }: InspectionContext): Finding[] {
  const events = [...rowsOf({ columns, rows })].filter((row) => row.text('action_source')?.toLowerCase() === 'website')
  return expected.flatMap((column) => {
    const lacking = events.filter((row) => valueIn(row, column) === undefined).length
    if (lacking === 0) return []
    const message = `${lacking} of ${events.length} events of websites have no ${column}. Meta expects it of them, and may not use events without it: map a column to ${column}.`
    return [{ code: 'expected_value_missing' as const, message, ...(columns.includes(column) ? { column } : {}) }]
  })
}

/** The user agent can be in the object that describes the person. */
const valueIn = (row: BatchRow, column: (typeof expected)[number]): string | undefined =>
  row.text(column) ??
  (column === 'client_user_agent' ? textIn(objectIn(parseJson(row.text('user_data') ?? ''))[column]) : undefined)
