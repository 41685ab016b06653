import { digest, each, listOf, nonEmptyText, objectOf, oneOf, positiveNumber, wholeNumber } from './body-schema.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'
import { refusal } from './reddit-server.ts'

/**
 * The events of Reddit's Conversions API v3, written from what is published of it: no key that a schema does not have, times
 * in milliseconds of the past seven days, digests, all of a request or nothing. It refuses events named `Refused`.
 */
export type RedditEvents = PlatformServer & {
  /** The accepted events, by type and conversion ID. Reddit keeps the first of each. */
  readonly events: Map<string, Record<string, unknown>>
}

export const redditConversionToken = 'reddit-conversion-token'
export const redditPixel = 'a2_loyal'

const products = listOf(
  objectOf({ ...each('id name category', nonEmptyText), ...each('quantity item_price', positiveNumber) }),
)
const options = objectOf({ ...each('country region', nonEmptyText), modes: listOf(nonEmptyText) })
const eventSchema = objectOf(
  {
    event_at: wholeNumber,
    action_source: oneOf('WEBSITE APP PHYSICAL_STORE OTHER'),
    type: objectOf(
      {
        tracking_type: oneOf('PAGE_VISIT VIEW_CONTENT SEARCH ADD_TO_CART ADD_TO_WISHLIST LEAD PURCHASE SIGN_UP CUSTOM'),
        custom_event_name: nonEmptyText,
      },
      ['tracking_type'],
    ),
    ...each('click_id event_source_url', nonEmptyText),
    user: objectOf({
      ...each('email phone_number external_id ip_address idfa aaid', digest),
      ...each('user_agent uuid', nonEmptyText),
      screen_dimensions: objectOf(each('width height', positiveNumber)),
      data_processing_options: options,
    }),
    metadata: objectOf({
      conversion_id: nonEmptyText,
      currency: (value) => typeof value === 'string' && /^[A-Z]{3}$/.test(value),
      ...each('value item_count', positiveNumber),
      products,
    }),
  },
  ['event_at', 'action_source', 'type'],
)

type RedditEvent = Record<string, unknown> & { type: Record<string, unknown> }

function isEvent(event: unknown): event is RedditEvent {
  if (!eventSchema(event)) return false
  const { event_at: time, action_source: source, type, event_source_url: page } = event as RedditEvent
  const age = Date.now() - Number(time)
  if (age > 168 * 3_600_000 || age < -300_000) return false
  if (page !== undefined && source !== 'WEBSITE') return false
  if (type.custom_event_name === 'Refused') return false
  return (type.tracking_type === 'CUSTOM') === (type.custom_event_name !== undefined)
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
    const { events: all, partner, test_id: testId = 't2', ...more } = data ?? {}
    if (typeof testId !== 'string' || testId === '') return refusal(400)
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
