import { randomUUID } from 'node:crypto'
import { refuse } from '../refusal.ts'
import { eventBounds } from './bounds.ts'

/** Events of the tracking API of Segment and RudderStack (docs/event-streams.md). */

type Item = Readonly<Record<string, unknown>>

/** Calls by the last part of their path. Segment's browser library uses only the first letter. */
const calls: Readonly<Record<string, string>> = {
  track: 'track',
  identify: 'identify',
  page: 'page',
  screen: 'screen',
  group: 'group',
  alias: 'alias',
  merge: 'merge',
  audiencelist: 'audiencelist',
  t: 'track',
  i: 'identify',
  p: 'page',
  s: 'screen',
  g: 'group',
  a: 'alias',
}
const batchCalls = ['batch', 'b', 'import']

/** The paths of the tracking API behind `/v1/`. */
export const trackingPaths: readonly string[] = [...Object.keys(calls), ...batchCalls]

const isObject = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The events of a call as the vendors document them: `timestamp` is corrected by the clock of the client, `receivedAt` is set,
 * and `context` and `integrations` of a batch are added to each event. Refuses with `invalid_request` a body that is not a
 * call.
 * @param call the part of the path behind `/v1/`
 * @returns the events; an element of the batch that is not an object is returned unchanged
 */
export function trackingEvents(call: string, body: unknown, receivedMs: number): unknown[] {
  if (!isObject(body)) return refuse('invalid_request', [{ field: 'body', message: 'is not a JSON object' }])
  const type = calls[call]
  if (type !== undefined) return [trackingEvent({ ...body, type }, {}, receivedMs)]
  const { batch } = body
  if (!Array.isArray(batch)) return refuse('invalid_request', [{ field: 'body.batch', message: 'is not a list' }])
  return batch.map((item) => (isObject(item) ? trackingEvent(item, body, receivedMs) : item))
}

function trackingEvent(item: Item, batch: Item, receivedMs: number): Item {
  const { writeKey: _, ...rest } = item
  const sentMs = timeOf(item.sentAt) ?? timeOf(batch.sentAt)
  const given = timeOf(item.originalTimestamp) ?? timeOf(item.timestamp)
  const originalMs = given ?? receivedMs
  const event: Record<string, unknown> = { ...rest }
  for (const key of ['context', 'integrations'] as const) {
    const shared = batch[key]
    if (isObject(shared)) event[key] = { ...shared, ...(isObject(item[key]) && (item[key] as object)) }
  }
  event.messageId = messageIdOf(item.messageId) ?? randomUUID()
  event.originalTimestamp = iso(originalMs)
  if (sentMs !== undefined) event.sentAt = iso(sentMs)
  event.receivedAt = iso(receivedMs)
  event.timestamp = iso(sentMs === undefined ? originalMs : receivedMs - (sentMs - originalMs))
  return event
}

/** The ID of an event without control characters. Undefined if it has no ID. */
export function messageIdOf(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const id = String(value)
    .replace(/\p{Cc}/gu, '')
    .trim()
  return id === '' || id.length > eventBounds.messageId ? undefined : id
}

/** Times that every destination can store. */
const [earliestMs, latestMs] = [Date.UTC(1, 0, 1), Date.UTC(9_999, 11, 31)]
const iso = (ms: number): string => new Date(Math.min(latestMs, Math.max(earliestMs, ms))).toISOString()

/** A time in ISO 8601, or in milliseconds, as clients send it. */
function timeOf(value: unknown): number | undefined {
  const isText = typeof value === 'string' && value.length <= 40
  const ms = typeof value === 'number' ? value : isText ? Date.parse(value) : Number.NaN
  return Number.isFinite(ms) ? ms : undefined
}
