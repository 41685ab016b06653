/**
 * Whether a volume is far from usual, from the records that a connection delivered on days of one weekday.
 *
 * v is the last whole day (UTC), and h1 … h8 are the same weekday of the 8 weeks before. Days before the first delivery of the
 * connection are skipped, and at least 4 days must remain:
 *
 *   m   = the median of h
 *   mad = the median of |h − m|
 *   far = |v − m| > max(m × percent / 100, 3 × 1.4826 × mad, 100)   and   m > 0
 *
 * The median ignores single outliers, such as a holiday. Three times 1.4826 × mad is three standard deviations if the days vary
 * by chance. If the days vary a lot, the volume must be further away. A difference of 100 records or fewer is never far.
 */

/** Weeks that are looked at, and of how many there must be deliveries. */
export const weeksOfHistory = 8
const weeksMin = 4
const deviations = 3 * 1.4826
const recordsMin = 100

/**
 * @param day records of the last whole day
 * @param history records of the same weekday in the weeks before, without those before the first delivery
 */
export function isVolumeUnusual(day: number, history: readonly number[], percent: number): boolean {
  if (history.length < weeksMin) return false
  const usual = median(history)
  if (usual === 0) return false
  const spread = median(history.map((one) => Math.abs(one - usual)))
  return Math.abs(day - usual) > Math.max((usual * percent) / 100, deviations * spread, recordsMin)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2
}
