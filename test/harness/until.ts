import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 10

/**
 * Waits for a condition: looks again and again until `look` finds something, and gives it back.
 * Fails with `what` where that has not come after `withinMs`.
 */
export async function until<T>(what: string, look: () => T | Promise<T>, withinMs = 30_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const found = await look()
    if (found) return found
    assert(Date.now() < deadline, `not within ${withinMs / 1000} seconds: ${what}`)
    await delay(pollMs)
  }
}

/** Waits for a promise; fails with `what` where it has not settled after `withinMs`. Bounds a test, measures nothing. */
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
