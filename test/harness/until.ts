import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'

/** How soon a condition is looked at again: at first, and at most, once it has been waited for. */
const pollMs = 10
const pollMaxMs = 50

/**
 * Waits for a condition: calls `look` repeatedly until it finds something, and returns that. Fails with `what` if nothing is
 * found within `withinMs`.
 */
export async function until<T>(what: string, look: () => T | Promise<T>, withinMs = 120_000): Promise<NonNullable<T>> {
  const startedMs = performance.now()
  for (;;) {
    const found = await look()
    if (found) return found
    const waitedMs = performance.now() - startedMs
    assert(waitedMs < withinMs, `not within ${withinMs / 1000} seconds: ${what}`)
    // The interval grows, because looking takes processor time from the work that is waited for.
    await delay(Math.min(pollMaxMs, pollMs + waitedMs / 20))
  }
}

/** Waits for a promise. Fails with `what` if it has not settled after `withinMs`. It limits a test and measures nothing. */
export async function bounded<T>(what: string, promise: Promise<T>, withinMs: number): Promise<T> {
  const done = new AbortController()
  const late = delay(withinMs, undefined, { signal: done.signal }).then(() =>
    assert.fail(`not within ${withinMs / 1000} seconds: ${what}`),
  )
  try {
    return await Promise.race([promise, late])
  } finally {
    done.abort()
    late.catch(() => {})
  }
}
