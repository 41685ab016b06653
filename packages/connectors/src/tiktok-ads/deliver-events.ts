import type { DestinationContext, DestinationWriter, Rejection } from '@penstock/connector'
import { isObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { sendInHalves, type Taken } from '../platform-api/rows/halving.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { eventOf, eventSources, type TikTokEvent, type TikTokEventSource } from './event-rows.ts'
import { track } from './events-api.ts'

/** Which setting says where events of a source belong, and what it is called. */
export const settingOf: Readonly<Record<TikTokEventSource, readonly [key: string, label: string]>> = {
  web: ['pixelCode', 'Pixel code'],
  app: ['appId', 'App ID'],
  offline: ['offlineEventSetId', 'Offline event set ID'],
  crm: ['crmEventSetId', 'CRM event set ID'],
}

/** Sends events, those of one source in one request. TikTok keeps one of those that have the same name and ID. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const refusals = new Refusals('TikTok')
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => eventOf(batch, row))
      let bytes = 0
      for (const source of eventSources) {
        const ofSource = events.filter(({ event }) => event.source === source)
        if (ofSource.length === 0) continue
        const sent = await sendSource(context, refusals, source, ofSource)
        bytes += sent.bytes
        rejected.push(...sent.rejected)
      }
      return { bytes, rejected }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

type Events = readonly RowEvent<TikTokEvent>[]

async function sendSource(
  context: DestinationContext,
  refusals: Refusals,
  source: TikTokEventSource,
  events: Events,
): Promise<{ bytes: number; rejected: Rejection[] }> {
  const [key, label] = settingOf[source]
  const id = textIn(context.settings[key])
  if (id !== undefined) return sendInHalves(events, refusals, (some) => send(context, source, id, some))
  const reason = `Events of the kind ${source} need the setting “${label}” of the connection.`
  return { bytes: 0, rejected: events.map(({ index }) => ({ index, reason, field: 'event_source' })) }
}

async function send(
  context: DestinationContext,
  source: TikTokEventSource,
  sourceId: string,
  events: Events,
): Promise<Taken<RowEvent<TikTokEvent>>> {
  const testCode = textIn(context.settings.testEventCode)
  const {
    taken,
    data,
    bytesSent: bytes,
  } = await track(context, {
    event_source: source,
    event_source_id: sourceId,
    ...(testCode === undefined ? {} : { test_event_code: testCode }),
    data: events.map(({ event }) => event.body),
  })
  if (taken === 'all') return { bytes }
  const blamed = taken === 'some' ? blamedEvents(data, events) : undefined
  return blamed ? { bytes, blamed: blamed.map((item) => ({ item, reason: notTaken })) } : { bytes, refused: notTaken }
}

const notTaken = 'TikTok did not accept the event; check its name, its context and its properties.'

/**
 * The events that an answer blames, by their IDs or their places; `undefined` unless it blames each one clearly.
 * How TikTok lists them is not known for sure.
 */
function blamedEvents(data: unknown, events: Events): Events | undefined {
  const list = Array.isArray(data) ? data : Object.values(objectIn(data)).find(Array.isArray)
  const entries = listIn(list).filter(isObject)
  if (entries.length === 0) return undefined
  const found = entries.map((entry) => {
    const id = textIn(entry.event_id)
    if (id !== undefined) return events.find(({ event }) => event.body.event_id === id)
    const place = numberIn(entry.index ?? entry.event_index)
    return place === undefined ? undefined : events[place]
  })
  const known = found.filter((event) => event !== undefined)
  return known.length === entries.length ? [...new Set(known)] : undefined
}
