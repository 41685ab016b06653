import { setTimeout } from 'node:timers/promises'
import { NoAnswerError, PenstockError } from '@penstock/client'

/** Maximum concurrent calls. */
const callsAtOnce = 8

/** Runs `work` for each thing, several concurrently. Results are in the order of `things`. The first error ends it. */
export async function withBound<T, R>(
  things: readonly T[],
  work: (thing: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const take = async () => {
    while (next < things.length) {
      const index = next++
      results[index] = await work(things[index] as T, index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(callsAtOnce, things.length) }, take))
  return results
}

const triesMax = 8
const waitMaxSeconds = 120

/**
 * Makes a call that can be repeated, and repeats it if the service asks to wait or did not answer: reads, calls with an
 * idempotency key, and writes of complete values.
 */
export async function persistently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call()
    } catch (error) {
      const seconds = waitOf(error, tries)
      if (seconds === undefined || tries === triesMax) throw error
      await setTimeout(Math.min(seconds, waitMaxSeconds) * 1000)
    }
  }
}

function waitOf(error: unknown, tries: number): number | undefined {
  if (error instanceof PenstockError)
    return [408, 429, 503].includes(error.status) ? (error.retryAfterSeconds ?? tries) : undefined
  // An answer that is not one of Penstock comes from a proxy while the service restarts, or from a wrong address.
  if (error instanceof NoAnswerError && tries < 4) return error.retryAfterSeconds ?? 0.2 * 2 ** tries
  return undefined
}
