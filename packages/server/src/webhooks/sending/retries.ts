import { limits } from '@penstock/wire'

/** When a delivery that failed is tried again. */

const hour = 3_600_000
/** After the first failure, the second, and so on; the last holds for all later ones. */
const delaysMs = [5_000, 30_000, 2 * 60_000, 10 * 60_000, 30 * 60_000, hour, 2 * hour, 4 * hour, 8 * hour]
/** Maximum pause that a receiver can ask for with `Retry-After`. */
export const retryAfterMsMax = 8 * hour

/**
 * When to try again; undefined where the delivery is given up: for `webhookRetryHours` after it was queued, the last time at
 * their end. Delays vary by a fifth, so that what failed together does not come back together.
 * @param retries attempts since it was queued, the one that failed included
 */
export function nextAttempt(
  { retries, queuedTime, retryAfterMs }: { retries: number; queuedTime: Date; retryAfterMs: number | null },
  now: Date,
  random: () => number = Math.random,
): Date | undefined {
  const deadline = queuedTime.getTime() + limits.webhookRetryHours * hour
  if (now.getTime() >= deadline) return undefined
  const delayMs = delaysMs[Math.min(retries, delaysMs.length) - 1] ?? delaysMs[0] ?? 0
  const asked = Math.min(retryAfterMs ?? 0, retryAfterMsMax)
  const waitMs = Math.max(delayMs * (0.8 + 0.4 * random()), asked)
  return new Date(Math.min(now.getTime() + waitMs, deadline))
}
