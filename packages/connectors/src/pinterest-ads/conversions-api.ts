import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn } from '../platform-api/json.ts'
import type { RowEvent } from '../platform-api/rows/events.ts'
import type { Taken } from '../platform-api/rows/halving.ts'
import { accountPath, pinterestOrigin } from './pinterest-api.ts'

export type Event = RowEvent<JsonObject>

/**
 * Makes the function that sends events to the ad account of a connection.
 * @param testOnly whether Pinterest only tries the events, and records none
 */
export function openConversions(
  context: ConnectorContext,
  testOnly: boolean,
): (events: readonly Event[]) => Promise<Taken<Event>> {
  const path = `${accountPath(context.settings.adAccountId)}/events`
  const token = String(context.secrets.conversionToken ?? '')
  const pinterest = openPlatform(context, {
    name: 'Pinterest',
    baseUrl: `${pinterestOrigin}/v5`,
    headers: { authorization: `Bearer ${token}` },
    errorOf,
  })
  const query = testOnly ? { test: 'true' } : {}
  return async (events) => {
    const body = { data: events.map(({ event }) => event) }
    const expects = ({ status }: Answer) => status === 400 || status === 422
    const { status, json, bytesSent } = await pinterest.askObject({ method: 'POST', path, query, body, expects })
    const results = resultsIn(json)
    if (results.length === events.length) {
      return { bytes: bytesSent, blamed: events.flatMap((item, at) => blameOf(item, results[at])) }
    }
    if (status === 400 || status === 422) {
      const code = numberIn(json.code)
      const shown = code === undefined ? `status ${status}` : `status ${status}, code ${code}`
      return { bytes: bytesSent, refused: `Pinterest does not accept the event (${shown}).` }
    }
    throw new ConnectorError('malformed_response', 'Pinterest did not report the result of each event.')
  }
}

/** What is said of each event: at the top of an answer, or in the details of a partial failure. */
function resultsIn(json: JsonObject): readonly unknown[] {
  const top = listIn(json.events)
  return top.length > 0 ? top : listIn(objectIn(json.details).events)
}

/** Pinterest's words are left out: they may quote what was sent. */
function blameOf(item: Event, result: unknown): { item: Event; reason: string }[] {
  const status = isObject(result) ? result.status : undefined
  if (status === 'processed') return []
  const reason =
    status === 'failed'
      ? 'Pinterest could not process the event (status failed).'
      : 'Pinterest did not confirm that it processed the event.'
  return [{ item, reason }]
}

/** What Pinterest's answers to events mean. */
function errorOf({ status, json }: Answer): ConnectorError | undefined {
  if (status < 400 || status === 429 || status >= 500) return undefined
  const code = numberIn(objectIn(json).code)
  const shown = code === undefined ? `status ${status}` : `status ${status}, code ${code}`
  if (status === 401) {
    const message = `Pinterest does not accept the conversion access token (${shown}); make a new one in its ads manager and save it in the connector.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (status === 403) {
    const message = `Pinterest denies access (${shown}); the user of the token needs the role admin, analyst, audience or campaign on the ad account.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 404) {
    const message = `Pinterest does not know the ad account (${shown}); check its ID.`
    return new ConnectorError('object_not_found', message)
  }
  return new ConnectorError('request_refused', `Pinterest refused the request (${shown}).`)
}
