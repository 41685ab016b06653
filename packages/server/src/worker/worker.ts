import { setTimeout as delay } from 'node:timers/promises'
import { Logger as QueueLogger, type Runner, run } from 'graphile-worker'
import { type Database, openDatabase } from '../db/database.ts'
import { statement } from '../db/statement.ts'
import type { Logger } from '../log.ts'
import { purge } from './purge.ts'

/** Jobs that this program knows, by the names in the queue. */
export const purgeTask = 'purge'

/** At 03:15 UTC every day; a day that was missed while nothing ran is made up for at the next start. */
const crontab = `15 3 * * * ${purgeTask} ?fill=1d&jobKey=${purgeTask}`
const concurrentJobs = 2
/** One to listen for jobs, one to keep its books. */
const queueConnections = 2
const restartMs = 2_000

export type Worker = { stop(): Promise<void> }

/**
 * Works on background jobs, on the same database, until stopped; any number of processes may. Should the queue give up,
 * as it can when the database is away for long, it is started again.
 */
export async function startWorker(databaseUrl: string, log: Logger): Promise<Worker> {
  // Its own pool: neither do jobs wait for requests, nor requests for jobs.
  const database = openDatabase({
    url: databaseUrl,
    poolSize: concurrentJobs + queueConnections,
    onIdleError: (err) => log.warn({ err }, 'a database connection of the job queue broke'),
  })
  const stopping = new AbortController()
  let runner = await runQueue(database, log)
  const supervise = async () => {
    while (!stopping.signal.aborted) {
      try {
        await runner.promise
      } catch (err) {
        log.warn({ err }, 'the job queue stopped; starting it again')
      }
      while (!stopping.signal.aborted) {
        await delay(restartMs, undefined, { signal: stopping.signal }).catch(() => {})
        if (stopping.signal.aborted) return
        try {
          runner = await runQueue(database, log)
          break
        } catch (err) {
          log.warn({ err }, 'the job queue does not start; trying again')
        }
      }
    }
  }
  const supervised = supervise()
  return {
    stop: async () => {
      stopping.abort()
      await runner.stop().catch(() => {})
      await supervised
      await database.close()
    },
  }
}

function runQueue(database: Database, log: Logger): Promise<Runner> {
  return run({
    pgPool: database.pool,
    concurrency: concurrentJobs,
    noHandleSignals: true,
    crontab,
    logger: new QueueLogger(() => (level, message) => {
      // The queue tells every poll and every job; what a person must know is warnings and errors.
      if (level === 'error') log.error({ queue: message }, 'job queue')
      else if (level === 'warning') log.warn({ queue: message }, 'job queue')
    }),
    taskList: {
      [purgeTask]: async () => log.info({ purged: await purge(database) }, 'purged'),
    },
  })
}

const countWaitingJobs = statement<Record<never, never>, { waiting: number }>(`
  select count(*) as waiting from graphile_worker.jobs where run_at <= now() and locked_at is null and attempts < max_attempts
`)

/** How many jobs are due and not begun. */
export const waitingJobs = async (database: Database): Promise<number> =>
  (await countWaitingJobs.first(database, {}))?.waiting ?? 0
