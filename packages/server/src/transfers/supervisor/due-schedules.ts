import { scheduleActor } from '../../audit/record.ts'
import type { Transaction } from '../../db/database.ts'
import type { Logger } from '../../log.ts'
import { blackoutEnd } from '../blackouts.ts'
import { nextRun } from '../times.ts'
import type { SupervisorDeps } from './deps.ts'
import * as queries from './due-schedule-queries.ts'
import { type StartDeps, startMany } from './start-many.ts'

/** Starts the transfers of schedules that are due, in every worker. */

/** Schedules of one transaction, which holds their connections. */
const dueAtOnce = 200

type ScheduleDeps = Pick<SupervisorDeps, 'database'> & StartDeps

/**
 * Starts everything that is due, in batches that several workers may take at once. A schedule that was missed many times
 * starts once, and is then due after the present time of the database, whatever the clock of this process says.
 */
export async function startDue(deps: ScheduleDeps, log: Logger, stopping?: AbortSignal): Promise<void> {
  for (let taken = dueAtOnce; taken === dueAtOnce && !stopping?.aborted; ) {
    taken = await deps.database.transaction((tx) => startBatch(tx, deps, log))
  }
}

/** @returns how many were due */
async function startBatch(tx: Transaction, deps: ScheduleDeps, log: Logger): Promise<number> {
  const taken = await queries.takeDue.all(tx, { limit: dueAtOnce })
  if (taken.length === 0) return 0
  const due = await withoutBlackouts(tx, taken)
  const nextTimes = nextTimesOf(due, log)
  await queries.moveSchedules.run(tx, { connectionIds: due.map(({ connectionId }) => connectionId), nextTimes })
  const actors = due.map((row) => ({ ...row, startedBy: scheduleActor(row.connectionId) }))
  await startMany(tx, deps, actors, { trigger: 'schedule', log })
  return taken.length
}

/** Schedules of connections in a blackout wait until its end. @returns the others */
async function withoutBlackouts(
  tx: Transaction,
  taken: readonly queries.DueScheduleRow[],
): Promise<readonly queries.DueScheduleRow[]> {
  const ends = new Map<string, string>()
  for (const { connectionId, blackout, now } of taken) {
    const end = blackout && blackoutEnd(blackout, now)
    if (end) ends.set(connectionId, end.toISOString())
  }
  if (ends.size === 0) return taken
  await queries.postponeSchedules.run(tx, { connectionIds: [...ends.keys()], ends: [...ends.values()] })
  return taken.filter(({ connectionId }) => !ends.has(connectionId))
}

/** When each is due again, after the time of the database, as a text; null if it is not. */
function nextTimesOf(due: readonly queries.DueScheduleRow[], log: Logger): (string | null)[] {
  // Many have the same, and a time zone takes a while.
  const known = new Map<string, string | null>()
  return due.map(({ connectionId, cron, timezone, now }) => {
    const key = `${timezone} ${cron}`
    let nextTime = known.get(key)
    if (nextTime !== undefined) return nextTime
    try {
      nextTime = nextRun(cron, timezone, now)?.toISOString() ?? null
    } catch (err) {
      // Such as a time zone that this version of Node.js does not know: it keeps no other schedule waiting.
      log.error(
        { err, connectionId, cron, timezone },
        'a schedule cannot be read, and does not come again: set it again',
      )
      nextTime = null
    }
    known.set(key, nextTime)
    return nextTime
  })
}
