import type { Db } from '../db/database.ts'
import { dropDeliveryStatesOfActive, failActive, saveCursorsOfActive, saveTablesOfActive } from './ending-queries.ts'
import * as queries from './schedule-queries.ts'

/**
 * Stops transfers and schedules when a backup has been restored: no data moves automatically, since the original
 * database may still be in use, and destinations may contain more data than the backup.
 */

/** Reason of the pause of the schedules. */
export type PauseReason = 'restore' | 'operator'

/**
 * Ends the transfers that were queued or running in the backup, as failed; the next transfer of an incremental
 * connection begins after the last confirmed record.
 * @returns how many they were
 */
export async function endRestoredTransfers(db: Db): Promise<number> {
  await saveCursorsOfActive.run(db, {})
  await saveTablesOfActive.run(db, {})
  await dropDeliveryStatesOfActive.run(db, {})
  return failActive.run(db, {
    code: 'restored',
    message:
      'The database was restored from a backup that was made before this transfer had ended. Start a new transfer.',
  })
}

/** Keeps every schedule from starting transfers, in all processes, until `resumeSchedules`. */
export const pauseSchedules = (db: Db, reason: PauseReason) => queries.pauseSchedules.run(db, { reason })

/** Lets schedules start transfers again; one that was due meanwhile starts one transfer. Returns whether they were paused. */
export const resumeSchedules = async (db: Db): Promise<boolean> => (await queries.resumeSchedules.run(db, {})) > 0

/** Since when and why no schedule starts anything, and what to do, for the operator; undefined if none is paused. */
export async function describePause(db: Db): Promise<string | undefined> {
  const pause = await queries.findPause.first(db, {})
  if (!pause) return undefined
  const by = pause.reason === 'restore' ? 'when a backup was restored' : 'by an operator'
  return `Schedules are paused since ${pause.createdTime.toISOString()}, ${by}: none starts a transfer. To resume them: penstock schedules resume`
}
