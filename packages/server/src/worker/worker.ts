import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { countWaitingJobs } from './queries.ts'
import { type Queue, runQueue } from './queue.ts'

const restartMs = 2_000

export type Worker = {
  /** Lets jobs under way finish, for ten seconds at most, and lets go of the database. */
  stop(): Promise<void>
}

/**
 * Works on background jobs, on the same database, until stopped; any number of processes may. When the database goes
 * away the queue ends, and is started again until it succeeds. Rejects where it is away from the first.
 */
export async function startWorker(databaseUrl: string, log: Logger): Promise<Worker> {
  const stopping = new AbortController()
  const { signal } = stopping
  const told = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  const owners: string[] = []
  const start = () => runQueue(databaseUrl, { told, owners, log })
  const supervise = async (first: Queue) => {
    let queue: Queue | undefined = first
    while (!signal.aborted) {
      const err = await queue?.ended
      if (err) log.warn({ err }, 'the job queue lost the database; starting it again')
      await delay(restartMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      queue = await start().catch((err) => void log.warn({ err }, 'the job queue does not start; trying again'))
    }
    await queue?.ended
  }
  const supervised = supervise(await start())
  return {
    stop: () => {
      stopping.abort()
      return supervised
    },
  }
}

/** How many jobs are due and not begun. */
export const waitingJobs = async (database: Database): Promise<number> =>
  (await countWaitingJobs.first(database, {}))?.waiting ?? 0
