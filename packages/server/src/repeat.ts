import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from './log.ts'

/** Work in the background of every worker. */
export type BackgroundTask = {
  /** Name in the log line of a failure: `${name} failed; retrying`. */
  readonly name: string
  /** How long to wait between two looks, in milliseconds. */
  readonly everyMs: number
  /** Looks in the database for work that is due, and does it. It claims the work, so that no other worker does it too. */
  readonly run: () => Promise<void>
}

/**
 * Repeats a task until the signal aborts: the one mechanism of background work
 * ([decision](../../../docs/decisions/background-work.md)). A failure, for example if the database is not reachable, stops
 * nothing. The task runs again at the next interval.
 */
export async function repeat({ name, everyMs, run }: BackgroundTask, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await run().catch((err) => log.warn({ err }, `${name} failed; retrying`))
    await delay(everyMs, undefined, { signal }).catch(() => {})
  }
}
