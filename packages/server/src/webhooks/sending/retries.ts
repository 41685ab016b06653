import { limits } from '@penstock/wire'

/** When a delivery that failed is tried again. */

const hour = 3_600_000
/** Delays after the first failure, the second, and so on. The last delay applies to all later failures. */
const delaysMs = [5_000, 30_000, 2 * 60_000, 10 * 60_000, 30 * 60_000, hour, 2 * hour, 4 * hour, 8 * hour]
/** Maximum pause that a receiver can ask for with `Retry-After`. */
export const retryAfterMsMax = 8 * hour

/**
 * When to retry. Undefined if the delivery is given up. Retries end `webhookRetryHours` after it was queued, with a last one at
 * that time. Delays vary by a fifth, so that deliveries that failed together are not retried together.
 * @param retries attempts since it was queued, including the failed one
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
