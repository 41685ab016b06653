import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from './log.ts'

/** Work in the background of every worker. */
export type BackgroundTask = {
  /** Name in the log line of a failure: `${name} failed; retrying`. */
  readonly name: string
  /** How long to wait between two looks, in milliseconds. */
  readonly everyMs: number
  /** Looks for what is due, which the database knows, and does it; takes it in a way that keeps it from the other workers. */
  readonly run: () => Promise<void>
}

/**
 * Repeats a task until the signal aborts: the one mechanism of background work
 * ([decision](../../../docs/decisions/background-work.md)). A failure, such as a database that is away, stops nothing:
 * the next look tries again.
 */
export async function repeat({ name, everyMs, run }: BackgroundTask, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await run().catch((err) => log.warn({ err }, `${name} failed; retrying`))
    await delay(everyMs, undefined, { signal }).catch(() => {})
  }
}
