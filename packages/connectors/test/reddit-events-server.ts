import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'
import { refusal } from './reddit-server.ts'

/**
 * The events of Reddit's Conversions API v3, written from what is published of it: no key that a schema does not have, times
 * in milliseconds of the past seven days, digests, all of a request or nothing. It refuses events named `Refused`.
 */
export type RedditEvents = PlatformServer & {
  /** What was taken, by type and conversion ID: Reddit keeps the first. */
  readonly events: Map<string, Record<string, unknown>>
}

export const redditConversionToken = 'reddit-conversion-token'
export const redditPixel = 'a2_loyal'

const words = (text: string) => text.split(/\s+/)
const known = {
  event: words('event_at action_source type click_id event_source_url user metadata'),
  type: words('tracking_type custom_event_name'),
  user: words(`email phone_number external_id ip_address user_agent uuid idfa aaid screen_dimensions
    data_processing_options`),
  metadata: words('conversion_id currency value item_count products'),
  product: words('id name category quantity item_price'),
  screen: words('width height'),
  options: words('country region modes'),
}
const types = words('PAGE_VISIT VIEW_CONTENT SEARCH ADD_TO_CART ADD_TO_WISHLIST LEAD PURCHASE SIGN_UP CUSTOM')
const digests = words('email phone_number external_id ip_address idfa aaid')
const numbers = words('event_at value item_count quantity item_price width height')
const objects = words('type user metadata screen_dimensions data_processing_options')

/** Whether an object has no other keys, and values of their types. */
const hasSchema = (object: unknown, keys: readonly string[]): object is Record<string, unknown> =>
  typeof object === 'object' &&
  object !== null &&
  Object.entries(object).every(([key, value]) => {
    if (!keys.includes(key) || value === null || value === '') return false
    if (numbers.includes(key)) return typeof value === 'number' && value >= 0
    if (objects.includes(key)) return typeof value === 'object'
    return key === 'products' || key === 'modes' ? Array.isArray(value) : typeof value === 'string'
  })

function isEvent(event: unknown): event is Record<string, unknown> {
  if (!hasSchema(event, known.event)) return false
  const { event_at: time, action_source: source, type, user = {}, metadata = {}, event_source_url: page } = event
  if (!hasSchema(type, known.type) || !hasSchema(user, known.user) || !hasSchema(metadata, known.metadata)) return false
  const age = Date.now() - Number(time)
  if (!Number.isSafeInteger(time) || age > 168 * 3_600_000 || age < -300_000) return false
  if (!words('WEBSITE APP PHYSICAL_STORE OTHER').includes(String(source))) return false
  if (page !== undefined && source !== 'WEBSITE') return false
  if (!types.includes(String(type.tracking_type)) || type.custom_event_name === 'Refused') return false
  if ((type.tracking_type === 'CUSTOM') !== (type.custom_event_name !== undefined)) return false
  if (!digests.every((key) => user[key] === undefined || /^[0-9a-f]{64}$/.test(String(user[key])))) return false
  if (metadata.currency !== undefined && !/^[A-Z]{3}$/.test(String(metadata.currency))) return false
  if (!((metadata.products as unknown[] | undefined) ?? []).every((one) => hasSchema(one, known.product))) return false
  const { screen_dimensions: screen = {}, data_processing_options: options = {} } = user
  return hasSchema(screen, known.screen) && hasSchema(options, known.options)
}

export async function startRedditEvents(): Promise<RedditEvents> {
  const events: RedditEvents['events'] = new Map()
  const server = await startPlatform(({ method, path, headers, json }: Received): Reply => {
    if (`${method} ${path}` === 'GET /') return { text: 'Reddit' }
    if (headers.authorization !== `Bearer ${redditConversionToken}`) return refusal(401)
    const pixel = /^\/api\/v3\/pixels\/(\w+)\/conversion_events$/.exec(path)?.[1]
    if (method !== 'POST' || pixel === undefined) return refusal(404)
    if (pixel !== redditPixel) return refusal(403)
    if (headers['content-type'] !== 'application/json' || !headers['user-agent']) return refusal(400)
    const { data, ...others } = (json ?? {}) as { data?: Record<string, unknown> }
    const { events: all, partner, ...more } = data ?? {}
    if (Object.keys({ ...others, ...more }).length > 0 || typeof partner !== 'string') return refusal(400)
    if (!Array.isArray(all) || all.length === 0 || all.length > 1000 || !all.every(isEvent)) return refusal(400)
    for (const event of all) {
      const { conversion_id: id } = event.metadata as Record<string, unknown>
      const key = `${JSON.stringify(event.type)}\n${id}`
      if (!events.has(key)) events.set(key, event)
    }
    return { json: { data: { message: `Successfully processed ${all.length} conversion events.` } } }
  })
  return Object.assign(server, { events })
}
