import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Logger as QueueLogger, run, type WorkerEvents } from 'graphile-worker'
import type { ClientBase } from 'pg'
import { type DatabaseUrl, openDatabase } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { purge } from './purge.ts'
import { unlock } from './queries.ts'

/** Jobs that this program knows, by the names in the queue. */
export const purgeTask = 'purge'
export const transferTask = 'transfer'

/** At 03:15 UTC every day; a day that was missed while nothing ran is made up for at the next start. */
const crontab = `15 3 * * * ${purgeTask} ?fill=1d&jobKey=${purgeTask}`
/** One to listen for jobs, one to record their state. */
const queueConnections = 2
const heartbeatMs = 5_000
/** How long the answer to a heartbeat may take; a database that takes longer is away. */
const heartbeatTimeoutMs = 5_000
/** How long active jobs may continue once the queue has to stop; those that take longer are aborted, and run again. */
const finishMs = 10_000
const unlockMs = 2_000

/** The job queue while it runs, with connections of its own. */
export type Queue = {
  /** Resolves once everything of it is closed; with the error, where the queue was not asked to stop. */
  readonly ended: Promise<Error | undefined>
}

/**
 * Runs jobs until asked to stop, or until the database is away: at the first connection that breaks or does not answer, all
 * are given up. The library alone would lend out a dead connection again and again.
 *
 * @param stopRequested resolves when the queue is to stop
 * @param owners names under which this process locked jobs; the run adds its own. Those from before are dead, and what
 *   they left locked is done again: the library alone would wait for four hours.
 * @param work runs transfers until none is left to claim
 * @param rejectDays how long rejected records are kept
 * @param auditDays how long events of the audit log are kept
 */
export async function runQueue(
  databaseUrl: DatabaseUrl,
  {
    stopRequested,
    owners,
    concurrentJobs,
    work,
    rejectDays,
    auditDays,
    log,
  }: {
    stopRequested: Promise<void>
    owners: string[]
    concurrentJobs: number
    work: () => Promise<void>
    rejectDays: number
    auditDays: number
    log: Logger
  },
): Promise<Queue> {
  // Its own pool: neither do jobs wait for requests, nor requests for jobs.
  const database = openDatabase({ url: databaseUrl, poolSize: concurrentJobs + queueConnections })
  const { promise: lost, resolve: lose } = Promise.withResolvers<Error>()
  const over = new AbortController()
  const events: WorkerEvents = new EventEmitter()
  events.on('pool:create', ({ workerPool }) => void owners.push(workerPool.id))
  events.on('pool:listen:success', ({ client }) => void sendHeartbeats(client, lose, over.signal))
  events.on('pool:listen:error', ({ error }) => lose(error as Error))
  events.on('worker:getJob:error', ({ error }) => lose(error as Error))
  try {
    await unlock.run(database, { names: owners })
    const runner = await run({
      pgPool: database.pool,
      noHandleSignals: true,
      crontab,
      events,
      logger: new QueueLogger(() => (level, message) => {
        // The queue logs every poll and every job; operators need only warnings and errors.
        if (level === 'error') log.error({ queue: message }, 'job queue')
        else if (level === 'warning') log.warn({ queue: message }, 'job queue')
      }),
      preset: {
        // Only in batches does the library catch it where the end of a job cannot be written down.
        worker: { concurrentJobs, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
      },
      taskList: {
        [transferTask]: work,
        [purgeTask]: async () => log.info({ purged: await purge(database, rejectDays, auditDays) }, 'purged'),
      },
    })
    const gaveUp = runner.promise.then(
      () => new Error('The job queue stopped without a request'),
      (error: Error) => error,
    )
    const end = async () => {
      const reason = await Promise.race([lost, gaveUp, stopRequested.then(() => undefined)])
      over.abort()
      // Where the database is away nothing can finish; without connections the library at least does not wait for it.
      if (reason) await database.close()
      const stopped = runner.stop().catch(() => {})
      const isFinished = await settles(stopped, finishMs)
      if (!reason) {
        if (!isFinished) await settles(unlock.run(database, { names: owners }), unlockMs)
        await database.close()
      }
      return reason
    }
    return { ended: end() }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Whether a promise settles in time; a rejection counts as settled. */
async function settles(promise: Promise<unknown>, withinMs: number): Promise<boolean> {
  const done = new AbortController()
  const late = delay(withinMs, false, { signal: done.signal })
  const isSettled = await Promise.race([promise.then(() => true).catch(() => true), late])
  done.abort()
  return isSettled
}

/** Sends heartbeats: a connection that only listens does not notice when the database is gone. */
async function sendHeartbeats(client: ClientBase, lose: (error: Error) => void, signal: AbortSignal): Promise<void> {
  for (;;) {
    await delay(heartbeatMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const heartbeatTimeout = setTimeout(() => lose(new Error('The database does not answer')), heartbeatTimeoutMs)
    await client.query('select 1').catch(lose)
    clearTimeout(heartbeatTimeout)
  }
}
