import { type ErrorFact, restApi } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { isObject, numberIn, objectIn } from '../platform-api/json.ts'

const tiktokOrigin = 'https://business-api.tiktok.com'

/** Some of the rows of a request were not taken. */
export const partlyTaken = 20001
/** Something in the request is not valid. */
export const invalidParameter = 40002

/** TikTok's code in an answer. `undefined` if the answer is not from TikTok. */
export const codeOf = ({ json }: Pick<Answer, 'json'>): number | undefined => numberIn(objectIn(json).code)

const all = (fact: ErrorFact, ...codes: readonly number[]): Record<string, ErrorFact> =>
  Object.fromEntries(codes.map((code) => [String(code), fact]))

/**
 * TikTok's API for Business. It answers 200 whatever happened, and reports the result by a code in the body. A code that is
 * about one kind of request, such as that its rows are not valid, is for the caller to expect.
 */
export const tiktokApi = restApi({
  name: 'TikTok',
  baseUrl: `${tiktokOrigin}/open_api/v1.3`,
  errors: {
    codeAt: 'code',
    codes: {
      '0': 'success',
      ...all('rate_limited', 40016, 40100, 40133),
      ...all('platform_error', 40200, 40700),
      ...all(
        ['invalid_credentials', 'Create a new access token and save it in the connector.'],
        ...[40101, 40102, 40103, 40104, 40105, 40106, 40113, 40115, 40119, 40125],
      ),
      '40001': [
        'permission_denied',
        'Check that the token belongs to the pixel, app, event set or advertiser of the connection, and that TikTok has allowed your app to use this API.',
      ],
      ...all('conflict', 40201, 40202),
      // The report is too large, so fewer days are read in one report.
      '40067': 'batch_too_large',
      '60001': 'platform_error',
    },
    otherCodes: 'request_refused',
    special: (answer) => {
      const code = codeOf(answer)
      if (code !== undefined) return code >= 50_000 && code < 60_000 ? 'platform_error' : undefined
      return isObject(answer.json) && answer.status >= 200 && answer.status < 300 ? 'malformed_response' : undefined
    },
  },
})
