import type { Database } from '../db/database.ts'
import { selectQueue, selectTotals } from './sending/queries.ts'

/** How deliveries ended, and how many wait, for the metrics. */
export async function readWebhookTotals(database: Database) {
  const [queue, totals] = await Promise.all([selectQueue.first(database, {}), selectTotals.all(database, {})])
  return {
    waiting: queue?.waiting ?? 0,
    oldestSeconds: queue?.oldestSeconds ?? 0,
    outcomes: {
      delivered: 0,
      retried: 0,
      failed: 0,
      ...Object.fromEntries(totals.map(({ outcome, deliveries }) => [outcome, deliveries])),
    },
  }
}
