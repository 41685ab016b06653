import { type ConnectorContext, ConnectorError, retryAfterMs } from '@penstock/connector'
import { type Answer, call } from '../platform-api/call.ts'
import { isObject, numberIn } from '../platform-api/json.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'

export const tiktokOrigin = 'https://business-api.tiktok.com'

export type TrackReply = {
  /** `all`: every event was taken. `some`: not all. `none`: refused because of what is in it. */
  readonly taken: 'all' | 'some' | 'none'
  readonly data: unknown
  readonly bytesSent: number
}

/** Sends events of one source. Throws connector errors for all that has nothing to do with the events themselves. */
export async function track(
  context: ConnectorContext,
  body: { event_source: string; event_source_id: string; test_event_code?: string; data: readonly unknown[] },
): Promise<TrackReply> {
  const answer = await call(context, {
    url: `${tiktokOrigin}/open_api/v1.3/event/track/`,
    method: 'POST',
    headers: { 'access-token': String(context.secrets.accessToken ?? '') },
    body: { ...body, partner_name: 'Penstock' },
  })
  const { code, data } = read(answer)
  const { bytesSent } = answer
  if (code === 0) return { taken: 'all', data, bytesSent }
  if (code === 20001) return { taken: 'some', data, bytesSent }
  if (code === 40002) return { taken: 'none', data, bytesSent }
  throw connectorErrorOfCode(code, answer)
}

/** TikTok answers 200 whatever happened, and says in the body what it was. */
function read(answer: Answer): { code: number; data: unknown } {
  const { json } = answer
  const code = isObject(json) ? numberIn(json.code) : undefined
  if (isObject(json) && code !== undefined) return { code, data: json.data }
  if (answer.status < 200 || answer.status > 299) throw connectorErrorOfStatus('TikTok', answer)
  throw new ConnectorError('malformed_response', 'TikTok answered with something other than its JSON.')
}

function connectorErrorOfCode(code: number, { headers }: Answer): ConnectorError {
  if (code === 40100) {
    const message = 'TikTok limits how often may be called (code 40100).'
    return new ConnectorError('rate_limited', message, { afterMs: retryAfterMs({ headers }) })
  }
  if (code === 40102 || code === 40104 || code === 40105) {
    const message = `TikTok does not accept the access token (code ${code}); create a new one and save it in the connector.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (code === 40001) {
    const message =
      'TikTok denies access (code 40001); check that the token belongs to the pixel, app or offline event set of the connection.'
    return new ConnectorError('permission_denied', message)
  }
  if (code >= 50_000 && code < 60_000) {
    return new ConnectorError('platform_error', `TikTok has an internal error (code ${code}).`)
  }
  return new ConnectorError('request_refused', `TikTok refused the request with its code ${code}.`)
}
