import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { isObject, numberIn, objectIn } from '../platform-api/json.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'

export const tiktokOrigin = 'https://business-api.tiktok.com'

/**
 * Opens TikTok's API for Business, signed in. TikTok answers 200 whatever happened, and says in the body by a code what it
 * was; what the code means for a request alone, such as that its rows are not valid, is for the caller to expect.
 */
export const openTikTok = (context: ConnectorContext): PlatformClient =>
  openPlatform(context, {
    name: 'TikTok',
    baseUrl: `${tiktokOrigin}/open_api/v1.3`,
    headers: { 'access-token': String(context.secrets.accessToken ?? '') },
    errorOf,
  })

/** TikTok's code for what happened; `undefined` where the answer is none of TikTok's. */
export const codeOf = ({ json }: Pick<Answer, 'json'>): number | undefined => numberIn(objectIn(json).code)

/** Some of the rows of a request were not taken. */
export const partlyTaken = 20001
/** Something in the request is not valid. */
export const invalidParameter = 40002

const limited = new Set([40016, 40100, 40133])
const unauthenticated = new Set([40101, 40102, 40103, 40104, 40105, 40106, 40113, 40115, 40119, 40125])
const busy = new Set([40201, 40202])

function errorOf(answer: Answer): ConnectorError | null | undefined {
  const code = codeOf(answer)
  if (code === 0) return null
  if (code === undefined) {
    const isOwn = isObject(answer.json) && answer.status >= 200 && answer.status < 300
    return isOwn
      ? new ConnectorError('malformed_response', 'TikTok did not report the result of the request.')
      : undefined
  }
  if (limited.has(code)) {
    const afterMs = waitMsOf(answer)
    return new ConnectorError('rate_limited', `TikTok limits how often it may be called (code ${code}).`, { afterMs })
  }
  if (unauthenticated.has(code)) {
    const message = `TikTok does not accept the access token (code ${code}); create a new one and save it in the connector.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (code === 40001) {
    const message =
      'TikTok denies access (code 40001); check that the token belongs to the pixel, app, event set or advertiser of the connection, and that TikTok has allowed your app to use this API.'
    return new ConnectorError('permission_denied', message)
  }
  if (busy.has(code)) {
    return new ConnectorError('conflict', `TikTok is still processing an earlier change (code ${code}).`)
  }
  if ((code >= 50_000 && code < 60_000) || code === 60_001) {
    return new ConnectorError('platform_error', `TikTok has an internal error (code ${code}).`)
  }
  return new ConnectorError('request_refused', `TikTok refused the request with its code ${code}.`)
}
