import { retryAfterMs } from '@penstock/connector'

/** Beyond this, a number of seconds is a time since 1970 and no wait: the ninth of September 2001. */
const epochSecondsMin = 1_000_000_000
/** No platform asks for more than a day; what does is no wait. */
const waitMsMax = 24 * 60 * 60 * 1000

/**
 * How long an answer asks to wait, in milliseconds: by `Retry-After`, else by the time at which its rate limit is reset
 * (`RateLimit-Reset` of the IETF's draft and its forms at platforms), in seconds from now, or in seconds or milliseconds
 * since 1970. `undefined` where it says nothing that can be used.
 */
export function waitMsOf({ headers }: { readonly headers: Headers }, now = Date.now()): number | undefined {
  const asked = retryAfterMs({ headers }, now)
  if (asked !== undefined) return asked
  for (const name of ['ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset', 'x-ratelimit-reset-after']) {
    const value = headers.get(name)?.trim() ?? ''
    if (!/^\d+(\.\d+)?$/.test(value)) continue
    const number = Number(value)
    const waitMs =
      number < epochSecondsMin ? number * 1000 : (number < epochSecondsMin * 1000 ? number * 1000 : number) - now
    if (waitMs <= waitMsMax) return Math.max(0, waitMs)
  }
  return undefined
}
