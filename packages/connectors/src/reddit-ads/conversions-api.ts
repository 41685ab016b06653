import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import type { RowEvent } from '../platform-api/rows/events.ts'
import type { Taken } from '../platform-api/rows/halving.ts'
import { basePath, errorOf, redditOrigin } from './reddit-api.ts'

export type RedditEvent = RowEvent<JsonObject>

/** Makes the function that sends events to the pixel of a connection. */
export function openConversions(
  context: ConnectorContext,
): (events: readonly RedditEvent[]) => Promise<Taken<RedditEvent>> {
  const path = `/pixels/${pixelIn(context.settings.pixelId)}/conversion_events`
  const reddit = openPlatform(context, {
    name: 'Reddit',
    baseUrl: redditOrigin + basePath,
    headers: { authorization: `Bearer ${String(context.secrets.conversionToken ?? '')}` },
    errorOf: errorOfEvents,
  })
  return async (events) => {
    const body = { data: { partner: 'PENSTOCK', events: events.map(({ event }) => event) } }
    const expects = (answer: Answer) => isRefusal(answer)
    const answer = await reddit.askObject({ method: 'POST', path, body, expects })
    const { status, json, bytesSent } = answer
    if (isRefusal(answer)) return { bytes: bytesSent, refused: `Reddit does not take the event (status ${status}).` }
    const message = textIn(objectIn(json.data).message)
    const counted = /\bprocessed (\d{1,9}) conversion events?\b/i.exec(message ?? '')?.[1]
    const isWhole = counted === undefined || Number(counted) === events.length
    if (message === undefined || !isWhole) {
      throw new ConnectorError('malformed_response', 'Reddit did not say that it processed all events of the request.')
    }
    return { bytes: bytesSent }
  }
}

/** The ID of a pixel, which is that of its ad account. */
function pixelIn(pixelId: unknown): string {
  const id = String(pixelId ?? '').trim()
  if (/^[A-Za-z0-9_]{1,64}$/.test(id)) return id
  throw new ConnectorError('invalid_setting', 'Pixel ID must be the ID of a pixel at Reddit, such as a2_abc.')
}

/** Whether an answer refuses what was sent, all of it, be it with a status of success. */
function isRefusal(answer: Answer): boolean {
  if (errorOf(answer)?.code === 'invalid_batch') return true
  const { json } = answer
  return isObject(json) && (json.success === false || listIn(json.invalid_events).length > 0) && answer.status < 400
}

/** The same as for audiences; what is said of the credentials is about the conversion access token. */
function errorOfEvents(answer: Answer): ConnectorError | undefined {
  const error = errorOf(answer)
  switch (error?.code) {
    case 'expired_credentials':
      return new ConnectorError(
        'invalid_credentials',
        'Reddit does not accept the conversion access token; make a new one in its events manager and save it in the connector.',
      )
    case 'permission_denied':
      return new ConnectorError(
        'permission_denied',
        'Reddit denies access (status 403); the conversion access token must be one of the account that the pixel belongs to.',
      )
    case 'object_not_found':
      return new ConnectorError('object_not_found', 'Reddit does not know the pixel; check its ID.')
    default:
      return error
  }
}
