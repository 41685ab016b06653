import type { ConnectorContext } from '@penstock/connector'
import { type Auth, type ErrorFact, type RestApi, restApi } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { googleCodes } from './error-codes.ts'

const denied: ErrorFact = [
  'permission_denied',
  'Check that the API is enabled in the Google Cloud project of the client, and that the user who signed in may read this.',
]

/** The reasons for which older APIs of Google refuse with 403 what they would answer with 429. */
const limits = new Set(['quotaExceeded', 'rateLimitExceeded', 'userRateLimitExceeded', 'dailyLimitExceeded'])

function isLimited({ status, json }: Answer): ErrorFact | undefined {
  const reasons = listIn(objectIn(objectIn(json).error).errors).map((one) => textIn(objectIn(one).reason) ?? '')
  return status === 403 && reasons.some((reason) => limits.has(reason)) ? 'rate_limited' : undefined
}

/**
 * An API of Google that reads reports. @param name for messages @param baseUrl without a slash at its end
 * @param special meanings of the API itself, which have priority
 */
export const googleReports = (
  name: string,
  baseUrl: string,
  special?: (answer: Answer) => ErrorFact | undefined,
): RestApi =>
  restApi({
    name,
    baseUrl,
    errors: {
      codeAt: 'error.status',
      codes: googleCodes,
      statuses: {
        400: ['request_refused', 'Check the breakdowns and the metrics: not all of them can be combined.'],
        401: ['expired_credentials', 'Authorize the connector again, or save a new refresh token.'],
        403: denied,
        404: ['object_not_found', 'Check the ID, and that the user who signed in may read it.'],
      },
      special: (answer) => special?.(answer) ?? isLimited(answer),
    },
  })

/** The cursor of the next page of a list of Google. On the last page, it is absent or empty. */
export function nextPageToken({ json }: Answer): unknown {
  const { nextPageToken: token } = objectIn(json)
  return token === '' ? undefined : token
}

/** Signs in with the refresh token of the connector, for a scope of Google. @param headers more headers of every request */
export const googleAuth = (
  scope: string,
  headers?: (context: ConnectorContext) => Readonly<Record<string, string>>,
): Auth => ({
  open: async (context) => {
    const { googleTokens } = await import('../google-ads/access.ts')
    const tokens = googleTokens(context, scope)
    if (!headers) return tokens
    return { ...tokens, headers: async (refused) => ({ ...(await tokens.headers(refused)), ...headers(context) }) }
  },
})
