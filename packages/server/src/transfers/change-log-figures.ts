import type { Db } from '../db/database.ts'
import { countWarnings, largestLogs, latestLogs } from './supervisor/change-log-queries.ts'

/** More logs than this are not shown in the metrics. */
const shownMax = 100

/** Figures of the logs from which connections read changes, over all organizations. */
export async function changeLogFigures(db: Db) {
  const [largest, latest, counted] = await Promise.all([
    largestLogs.all(db, { limit: shownMax }),
    latestLogs.all(db, { limit: shownMax }),
    countWarnings.first(db, {}),
  ])
  return { largest, latest, warnings: counted?.warnings ?? 0 }
}
