import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * TikTok's Events API, as strict as it is known to be. It answers 200 whatever happens and puts a code into the body; the
 * token and the rights are looked at before the events.
 */

export type TikTokServer = PlatformServer & {
  /** The stored events, by name and ID: the first of each. */
  readonly events: Map<string, Record<string, unknown>>
  /** How it lists events that it does not accept: by their IDs, by their places, or not at all. */
  listing: { by: 'event_id' | 'index' | 'nothing' }
}

export const tiktokSecrets = { accessToken: 'tiktok-token' }
export const tiktokSettings = { pixelCode: 'CPIXEL', appId: '7001', offlineEventSetId: '9001' }
const ids: Readonly<Record<string, string>> = { web: 'CPIXEL', app: '7001', offline: '9001', crm: '8001' }

export const coded = (code: number, data: unknown = {}): Reply => ({
  json: { code, message: 'may quote jane@example.com', request_id: 'r', data },
})

export async function startTikTok(): Promise<TikTokServer> {
  const events = new Map<string, Record<string, unknown>>()
  const listing: TikTokServer['listing'] = { by: 'event_id' }
  const server = await startPlatform((received) => answer(received, events, listing))
  return Object.assign(server, { events, listing })
}

function answer(
  { method, path, headers, json }: Received,
  events: TikTokServer['events'],
  listing: TikTokServer['listing'],
): Reply {
  if (`${method} ${path}` !== 'POST /open_api/v1.3/event/track/') return { status: 404, text: '404 page not found' }
  if (headers['content-type'] !== 'application/json') return coded(40002)
  if (!headers['access-token']) return coded(40104)
  if (headers['access-token'] !== tiktokSecrets.accessToken) return coded(40105)
  const { event_source, event_source_id, data } = json as Record<string, unknown>
  const id = ids[String(event_source)]
  if (id === undefined || !event_source_id) return coded(40002)
  if (event_source_id !== id) return coded(40001)
  if (!Array.isArray(data) || data.length === 0 || data.length > 1000) return coded(40002)
  const bad = data.flatMap((event, index) => (isGood(event, String(event_source)) ? [] : [index]))
  for (const [index, event] of data.entries()) {
    const key = `${event.event}\n${event.event_id}`
    if (!bad.includes(index) && !events.has(key)) events.set(key, { ...event, event_source })
  }
  if (bad.length === 0) return coded(0)
  if (bad.length === data.length) return coded(40002)
  const { by } = listing
  if (by === 'nothing') return coded(20001)
  const failed = bad.map((index) => (by === 'index' ? { index } : { event_id: data[index].event_id }))
  return coded(20001, { failed_events: failed })
}

const standard = /^[A-Z][A-Za-z]+( \d+)?$/

const eventKeys = [
  'event',
  'event_time',
  'event_id',
  'user',
  'properties',
  'page',
  'app',
  'ad',
  'lead',
  'limited_data_use',
]

function isGood(event: Record<string, unknown>, source: string): boolean {
  const { event: name, event_time: time, event_id: id, user } = event
  const now = Date.now() / 1000
  if (!standard.test(String(name)) || typeof id !== 'string') return false
  if (typeof time !== 'number' || !Number.isInteger(time) || time > now + 60) return false
  if ((source === 'web' || source === 'app') && time < now - 7 * 86_400) return false
  if (Object.keys(event).some((key) => !eventKeys.includes(key))) return false
  if (typeof user !== 'object' || user === null || Object.keys(user).length === 0) return false
  return Object.entries(user)
    .filter(([key]) => ['email', 'phone', 'external_id'].includes(key))
    .every(([, values]) => Array.isArray(values) && values.every((value) => /^[0-9a-f]{64}$/.test(value)))
}
