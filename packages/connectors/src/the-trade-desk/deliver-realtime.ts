import {
  type ConnectorContext,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
} from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { codeOf } from './conversion-values.ts'
import { realTimeEventOf } from './realtime-rows.ts'

export const insightOrigin = 'https://insight.adsrvr.org'

/** Sends events. The Trade Desk names by their places, from 0, those that it does not accept. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { advertiserId, merchantId, trackingTagId, universalPixelId } = context.settings
  const settings = Object.fromEntries(
    Object.entries({
      adv: advertiserId,
      merchant_id: merchantId,
      tracker_id: trackingTagId,
      upixel_id: universalPixelId,
    })
      .map(([key, value]) => [key, textIn(value)?.trim()] as const)
      .filter(([, value]) => value),
  )
  const client = openInsight(context)
  const refusals = new Refusals('The Trade Desk')
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => realTimeEventOf(row, settings))
      const sent = await send(client, refusals, events)
      return { bytes: sent.bytes, rejected: [...rejected, ...sent.rejected] }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

function openInsight(context: ConnectorContext): PlatformClient {
  return openPlatform(context, {
    name: 'The Trade Desk',
    baseUrl: insightOrigin,
    headers: { 'ttd-auth': String(context.secrets.apiToken ?? '') },
  })
}

type Events = readonly RowEvent<JsonObject>[]

/**
 * Sends events, and what is left of them again where The Trade Desk refuses a request because of some: it does not say that it
 * took the others.
 */
async function send(
  client: PlatformClient,
  refusals: Refusals,
  events: Events,
): Promise<{ bytes: number; rejected: Rejection[] }> {
  let left = events
  let bytes = 0
  const rejected: Rejection[] = []
  while (left.length > 0) {
    const data = left.map(({ event }) => event)
    const answer = await refusals.count(
      () => client.askObject({ path: '/track/realtimeconversion', method: 'POST', body: { data }, expects }),
      ({ status }) => (status === 400 ? 'some events are not valid.' : undefined),
    )
    bytes += answer.bytesSent
    const blamed = blamedOf(answer.json, left)
    rejected.push(...[...blamed].map(([event, reason]) => ({ index: event.index, reason })))
    if (answer.status !== 400) break
    if (blamed.size === 0) {
      throw new ConnectorError(
        'invalid_batch',
        'The Trade Desk refuses the events because of their content (status 400).',
      )
    }
    left = left.filter((event) => !blamed.has(event))
  }
  return { bytes, rejected }
}

/** A refusal that may name events. */
const expects = ({ status, json }: Answer): boolean => status === 400 && isObject(json)

/** The events that an answer says were not taken, and why. */
function blamedOf(json: JsonObject, events: Events): Map<RowEvent<JsonObject>, string> {
  const blamed = new Map<RowEvent<JsonObject>, string>()
  for (const one of listIn(json.EventResponses).map(objectIn)) {
    const event = events[numberIn(one.EventIndex) ?? -1]
    if (!event || one.Successful !== false || blamed.has(event)) continue
    const codes = listIn(one.EventErrors)
      .slice(0, 5)
      .map((error) => codeOf(objectIn(error).Error))
    blamed.set(event, `The Trade Desk did not accept the event (${codes.length > 0 ? codes.join(', ') : 'Unknown'}).`)
  }
  return blamed
}
