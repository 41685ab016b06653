import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseUrl } from './addresses.ts'
import { type Database, openDatabase } from './database.ts'
import { isAway, isDeadlock, isTooSlow } from './errors.ts'
import { hasReplayed, type LogPosition, loggedPosition } from './replica-queries.ts'

/** A standby that serves reads, which show everything that was committed before they began. */
export type Replica = {
  /**
   * Does work that only reads. It runs on the replica if the replica shows everything that the primary has committed by now,
   * and otherwise on the primary.
   * @param work can be called twice
   */
  read<T>(work: (db: Database) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** How often a replica that is behind is asked again, and the pause before, in milliseconds. */
const looks = 4
const pauseMs = 5
/** For how long a replica that failed is not asked, in milliseconds. */
const restMs = 10_000

/**
 * Opens the connections to a replica when they are needed.
 * @param database the primary
 * @param onError called for a replica that cannot be used for a while
 */
export function openReplica(
  database: Database,
  url: DatabaseUrl,
  { poolSize, onError }: { poolSize: number; onError: (error: unknown) => void },
): Replica {
  const replica = openDatabase({ url, poolSize, onIdleError: onError })
  let restUntilMs = 0
  const isCurrent = async (logged: LogPosition): Promise<boolean> => {
    for (let look = 1; ; look++) {
      if ((await hasReplayed.first(replica, logged))?.reached) return true
      if (look === looks) return false
      await delay(pauseMs)
    }
  }
  return {
    read: async (work) => {
      if (performance.now() < restUntilMs) return work(database)
      const logged = await loggedPosition.first(database, {})
      try {
        if (logged && (await isCurrent(logged))) return await work(replica)
      } catch (error) {
        // A replica cancels what reads rows that its primary has removed.
        if ((!isAway(error) && !isDeadlock(error)) || isTooSlow(error)) throw error
        if (isAway(error)) {
          restUntilMs = performance.now() + restMs
          onError(error)
        }
      }
      return work(database)
    },
    close: replica.close,
  }
}
