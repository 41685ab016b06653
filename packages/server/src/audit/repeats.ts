import type { Logger } from '../log.ts'

/** Frequent events, such as guesses: equal ones within an interval become one event with a count. */
export type Repeats<E extends { times: number }> = {
  /** Counts `event` with waiting events of the same key. `merge` changes the waiting event. */
  add(key: string, event: E, merge?: (waiting: E, event: E) => void): void
  /** Writes what waits. */
  flush(): Promise<void>
  /** Writes what waits, and no longer writes on its own. */
  close(): Promise<void>
}

/** Limit of waiting keys. Further events are only counted, in the service's own log. */
const keysMax = 10_000

/**
 * Collects events, and writes them after a delay. Events that cannot be written, since the database is unavailable, are
 * written with the next ones.
 */
export function createRepeats<E extends { times: number }>(
  windowMs: number,
  write: (events: readonly E[]) => Promise<void>,
  log: Pick<Logger, 'warn'>,
): Repeats<E> {
  let waiting = new Map<string, E>()
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let closed = false

  const add: Repeats<E>['add'] = (key, event, merge) => {
    const found = waiting.get(key)
    if (found) {
      found.times += event.times
      merge?.(found, event)
    } else if (waiting.size < keysMax) waiting.set(key, event)
    else dropped += event.times
    if (!closed) timer ??= setTimeout(() => void flush(), windowMs).unref()
  }
  const writeWaiting = async () => {
    clearTimeout(timer)
    timer = undefined
    const events = waiting
    waiting = new Map()
    if (dropped > 0) log.warn({ events: dropped }, 'audit events dropped: too many concurrent events')
    dropped = 0
    if (events.size === 0) return
    try {
      await write([...events.values()])
    } catch (err) {
      log.warn({ err }, 'writing audit events failed; retrying')
      for (const [key, event] of events) add(key, event)
    }
  }
  const flush = () => {
    writing = writing.then(writeWaiting)
    return writing
  }
  return {
    add,
    flush,
    close: () => {
      closed = true
      return flush()
    },
  }
}
