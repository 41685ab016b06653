import { type ErrorFact, restApi } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'

export const redditOrigin = 'https://ads-api.reddit.com'

/** Reddit's Ads API v3. The meaning of its errors about credentials and objects depends on the kind of these. */
export const redditApi = restApi({
  name: 'Reddit',
  baseUrl: `${redditOrigin}/api/v3`,
  errors: { statuses: { 400: 'invalid_batch', 422: 'invalid_batch', 429: 'rate_limited' } },
})

/** A JSON that Reddit cannot read is refused like credentials. */
export function isUnreadableJson({ status, json }: Answer): ErrorFact | undefined {
  const { explanation, message } = objectIn(objectIn(json).error)
  const isAboutContent = [explanation, message].some((said) => /^JSON error\b/i.test(textIn(said) ?? ''))
  return status === 403 && isAboutContent ? 'invalid_batch' : undefined
}

/** The path of the page that an answer names as the next one; `undefined` if it names none, or one elsewhere. */
export function nextPath({ json }: Answer): string | undefined {
  const url = URL.parse(textIn(objectIn(objectIn(json).pagination).next_url) ?? '', redditOrigin)
  const base = new URL(redditApi.baseUrl).pathname
  const isOwn = url?.origin === redditOrigin && url.pathname.startsWith(`${base}/`)
  return isOwn ? url.pathname.slice(base.length) + url.search : undefined
}
