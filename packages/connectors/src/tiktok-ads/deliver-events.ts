import type { DestinationContext, DestinationWriter, Rejection } from '@penstock/connector'
import { type RowEvent, readEvents } from '../platform-api/events.ts'
import { isObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { Refusals } from '../platform-api/refusals.ts'
import { type EventSource, eventOf, type TikTokEvent } from './event-rows.ts'
import { track } from './events-api.ts'

/** Which setting says where events of a source belong, and what it is called. */
const settingOf: Readonly<Record<EventSource, readonly [key: string, label: string]>> = {
  web: ['pixelCode', 'Pixel code'],
  app: ['appId', 'App ID'],
  offline: ['offlineEventSetId', 'Offline event set ID'],
}

type Sent = { bytes: number; rejected: Rejection[] }

/** Sends events, those of one source in one request. TikTok keeps one of those that have the same name and ID. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const refusals = new Refusals('TikTok')
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => eventOf(batch, row))
      let bytes = 0
      for (const source of ['web', 'app', 'offline'] as const) {
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

async function sendSource(
  context: DestinationContext,
  refusals: Refusals,
  source: EventSource,
  events: readonly RowEvent<TikTokEvent>[],
): Promise<Sent> {
  const [key, label] = settingOf[source]
  const id = textIn(context.settings[key])
  if (id !== undefined) return send(context, refusals, source, id, events)
  const reason = `Events of the kind ${source} need the setting “${label}” of the connection.`
  return { bytes: 0, rejected: events.map(({ index }) => ({ index, reason, field: 'event_source' })) }
}

/**
 * Sends events, and finds out which ones TikTok does not take. Where it does not say, they are sent again in halves, under
 * the same IDs, so that what was taken already does not count twice.
 */
async function send(
  context: DestinationContext,
  refusals: Refusals,
  source: EventSource,
  sourceId: string,
  events: readonly RowEvent<TikTokEvent>[],
): Promise<Sent> {
  const testCode = textIn(context.settings.testEventCode)
  const body = {
    event_source: source,
    event_source_id: sourceId,
    ...(testCode === undefined ? {} : { test_event_code: testCode }),
    data: events.map(({ event }) => event.body),
  }
  const { taken, data, bytesSent } = await refusals.count(
    () => track(context, body),
    (reply) => (reply.taken === 'none' ? notTaken : undefined),
  )
  if (taken === 'all') return { bytes: bytesSent, rejected: [] }
  const blamed = taken === 'some' ? blamedEvents(data, events) : undefined
  const [only] = events
  if (blamed) return { bytes: bytesSent, rejected: blamed.map(({ index }) => ({ index, reason: notTaken })) }
  if (only && events.length === 1) return { bytes: bytesSent, rejected: [{ index: only.index, reason: notTaken }] }
  const middle = Math.ceil(events.length / 2)
  const first = await send(context, refusals, source, sourceId, events.slice(0, middle))
  const second = await send(context, refusals, source, sourceId, events.slice(middle))
  return { bytes: bytesSent + first.bytes + second.bytes, rejected: [...first.rejected, ...second.rejected] }
}

const notTaken = 'TikTok did not take the event; check its name, its context and its properties.'

/**
 * The events that an answer blames, by their IDs or their places; `undefined` unless it blames each one clearly.
 * How TikTok lists them is not known for sure.
 */
function blamedEvents(
  data: unknown,
  events: readonly RowEvent<TikTokEvent>[],
): readonly RowEvent<TikTokEvent>[] | undefined {
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
