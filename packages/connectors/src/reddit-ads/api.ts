import { type ErrorFact, restApi } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { nextAddressIn } from '../platform-api/next-page.ts'

const redditOrigin = 'https://ads-api.reddit.com'

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

/** The path of the next page in an answer. Throws `malformed_response` if it is not a path of Reddit's API. */
export function nextPath({ json }: Answer): string | undefined {
  const { next_url: next } = objectIn(objectIn(json).pagination)
  const url = nextAddressIn(next, redditApi.baseUrl, redditApi.name)
  return url && url.pathname.slice(new URL(redditApi.baseUrl).pathname.length) + url.search
}
