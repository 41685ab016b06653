import { retryAfterMs } from '@penstock/connector'
import { listIn, objectIn, textIn } from './json.ts'

/** Beyond this, a number of seconds is a time since 1970 and no wait: the ninth of September 2001. */
const epochSecondsMin = 1_000_000_000
/** Longer waits are ignored, since no platform asks for more than a day. */
const waitMsMax = 24 * 60 * 60 * 1000

/** Headers with the time of the reset, in the order in which they are believed. */
const resetHeaders = [
  'ratelimit-reset',
  'ratelimit-reset-after',
  'x-ratelimit-reset',
  'x-account-rate-limit-reset',
  'x-rate-limit-reset',
  'x-ratelimit-reset-after',
  'x-rate-limit-reset-after',
]

/**
 * How long an answer asks to wait, in milliseconds: by `Retry-After`, else by the time at which its rate limit is reset
 * (`RateLimit-Reset` and `RateLimit` of the IETF's drafts, and their forms at platforms), in seconds from now, in seconds or
 * milliseconds since 1970, or as a time of ISO 8601. Without these, its body can have the wait. `undefined` if it says nothing that can
 * be used.
 */
export function waitMsOf(
  { headers, json }: { readonly headers: Headers; readonly json?: unknown },
  now = Date.now(),
): number | undefined {
  return retryAfterMs({ headers }, now) ?? waitInHeaders(headers, now) ?? waitInBody(json)
}

function waitInHeaders(headers: Headers, now: number): number | undefined {
  for (const name of resetHeaders) {
    const waitMs = waitUntil(headers.get(name)?.trim() ?? '', now)
    if (waitMs !== undefined && waitMs <= waitMsMax) return Math.max(0, waitMs)
  }
  // Parses `"default";r=0;t=30` for each limit that is used up.
  const waits = [...(headers.get('ratelimit') ?? '').matchAll(/;\s*r=0\s*;\s*t=(\d{1,5})\b/g)]
  return waits.length === 0 ? undefined : Math.max(...waits.map(([, seconds]) => Number(seconds) * 1000))
}

/**
 * The wait in a body: `retryDelay` in the details of an error of Google, such as `30s` (`RetryInfo`, and the quota errors of Google Ads), or
 * the words `Retry after 30 seconds` of a message.
 */
function waitInBody(json: unknown): number | undefined {
  const body = objectIn([json].flat()[0])
  const delays = listIn(objectIn(body.error).details)
    .map(objectIn)
    .flatMap(({ retryDelay, errors }) => [
      retryDelay,
      ...listIn(errors).map((one) => objectIn(objectIn(objectIn(one).details).quotaErrorDetails).retryDelay),
    ])
  const seconds = [
    ...delays.map((delay) => /^(\d{1,5}(?:\.\d{1,9})?)s$/.exec(textIn(delay) ?? '')?.[1]),
    /\bretry after (\d{1,5}) seconds?\b/i.exec(textIn(body.message) ?? '')?.[1],
  ]
  const waits = seconds.flatMap((one) => (one === undefined ? [] : [Math.ceil(Number(one) * 1000)]))
  return waits.length === 0 ? undefined : Math.min(waitMsMax, Math.max(...waits))
}

function waitUntil(value: string, now: number): number | undefined {
  if (/^\d{4}-\d\d-\d\dT/.test(value)) {
    const timestamp = Date.parse(value)
    return Number.isNaN(timestamp) ? undefined : timestamp - now
  }
  if (!/^\d+(\.\d+)?$/.test(value)) return undefined
  const number = Number(value)
  if (number < epochSecondsMin) return number * 1000
  return (number < epochSecondsMin * 1000 ? number * 1000 : number) - now
}
