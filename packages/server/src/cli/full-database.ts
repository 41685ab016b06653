import { setTimeout as delay } from 'node:timers/promises'
import { isFull } from '../db/errors.ts'
import type { Logger } from '../log.ts'
import { CommandRuntimeError } from './runtime.ts'

/** The interval of retries, and the interval of log lines about them. */
const tryAgainMs = 2_000
const sayAgainMs = 60_000

/** A person or a supervisor of processes asked to stop before the start was over. */
export class StoppedWaiting extends Error {
  override readonly name = 'StoppedWaiting'
}

/**
 * Runs a step of a start. If the database has no free connection, logs that, waits and runs the step again, until other
 * processes end or an operator raises the limit.
 * @param stopSignal resolves when the process must stop
 * @param step leaves nothing open if it fails
 * @throws StoppedWaiting if the process must stop while it waits, else the error of the step
 */
export async function whileFull<T>(log: Logger, stopSignal: Promise<void>, step: () => Promise<T>): Promise<T> {
  let saidMs = Number.NEGATIVE_INFINITY
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof CommandRuntimeError ? error.isFull : isFull(error))) throw error
    }
    if (performance.now() - saidMs > sayAgainMs) {
      saidMs = performance.now()
      log.warn(
        'the database has no connection left; waiting for one. Raise max_connections there, or lower PENSTOCK_DATABASE_POOL and PENSTOCK_TRANSFERS',
      )
    }
    const done = new AbortController()
    const waited = delay(tryAgainMs, true, { signal: done.signal })
    const isOver = await Promise.race([waited, stopSignal.then(() => false)])
    done.abort()
    if (isOver) continue
    waited.catch(() => {})
    throw new StoppedWaiting('Stopped while it waited for a connection to the database')
  }
}
