import { asConnectorError, type DiscoveredPage, type DiscoveryContext } from '@penstock/connector'
import type { DatabaseSession } from './sessions.ts'

/** How a database is asked for a few values of columns. */
export const sampling = {
  /** Rows that are looked at: any, so that nothing is sorted. */
  rows: 20,
  /** Characters of each value; more are not shown. */
  characters: 200,
  /** How long the statement may take. */
  seconds: 5,
} as const

/**
 * The columns of a page with values of a few rows, if the caller may see them. If the database does not give them in time, the columns
 * come without.
 * @param read the values of the columns with these names, row by row
 */
export async function withSamples(
  page: DiscoveredPage,
  { withSamples: wanted, signal }: DiscoveryContext,
  session: Pick<DatabaseSession, 'guard'>,
  read: (names: readonly string[]) => Promise<readonly (readonly (string | null)[])[]>,
): Promise<DiscoveredPage> {
  if (!wanted || page.items.length === 0) return page
  try {
    const rows = await session.guard(() => read(page.items.map(({ value }) => value)), 2_000 * sampling.seconds)
    const items = page.items.map((item, at) => ({ ...item, samples: rows.map((row) => row[at] ?? null) }))
    return { ...page, items }
  } catch (error) {
    signal.throwIfAborted()
    if (asConnectorError(error)) return page
    throw error
  }
}
