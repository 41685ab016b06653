/**
 * The wait that an answer asks for, in milliseconds, by its `Retry-After` (seconds, or an HTTP date); `undefined` without this
 * header. For the `afterMs` of a `retry`.
 */
export function retryAfterMs({ headers }: { readonly headers: Headers }, now = Date.now()): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  const timestamp = /^[A-Za-z]{3}[a-z]*,/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(timestamp) ? undefined : Math.max(0, timestamp - now)
}
