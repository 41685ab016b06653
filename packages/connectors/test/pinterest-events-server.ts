import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * The events of Pinterest's API v5, written from its OpenAPI document (5.23.0): no key that a schema does not have, amounts
 * as texts, lists of digests, and a status for each event. It fails events of the page `refused`.
 */
export type PinterestEvents = PlatformServer & {
  /** What was recorded, by event ID. */
  readonly events: Map<string, Record<string, unknown>>
}

export const conversionToken = 'pina-conversion-token'
export const eventsAccount = '549'

const error = (status: number, code: number): Reply => ({
  status,
  json: { code, message: 'may quote jane@example.com' },
})
const words = (text: string) => new Set(text.split(/\s+/))
const known = {
  event: words(`event_name action_source event_time event_id user_data event_source_url app_id app_name app_version
    device_brand device_carrier device_model device_type os_version custom_data opt_out partner_name language wifi`),
  user: words(`em ph fn ln ge db ct st zp country external_id hashed_maids client_ip_address client_user_agent click_id
    partner_id`),
  custom: words(`currency value content_ids contents num_items order_id search_string opt_out_type content_name
    content_category content_brand predicted_ltv np`),
  item: words('id item_name item_category item_brand item_price quantity'),
}
const names = words(`add_payment_info add_to_cart add_to_wishlist app_install checkout custom initiate_checkout lead
  page_visit search signup subscribe view_category view_content watch_video`)
const numbers = words('num_items quantity event_time')
const booleans = words('opt_out wifi')
const lists = words('content_ids contents em ph fn ln ge db ct st zp country external_id hashed_maids')

const hasSchema = (object: unknown, keys: ReadonlySet<string>): object is Record<string, unknown> =>
  typeof object === 'object' &&
  object !== null &&
  Object.entries(object).every(([key, value]) => {
    if (!keys.has(key)) return false
    if (key === 'user_data' || key === 'custom_data') return typeof value === 'object'
    if (numbers.has(key)) return Number.isSafeInteger(value)
    if (booleans.has(key)) return typeof value === 'boolean'
    return lists.has(key) ? Array.isArray(value) : typeof value === 'string'
  })

function isEvent(event: unknown): event is Record<string, unknown> {
  if (!hasSchema(event, known.event)) return false
  const { event_name, action_source, event_time, event_id, user_data: user, custom_data: custom = {} } = event
  if (!names.has(String(event_name)) || !words('web offline app_ios app_android').has(String(action_source)))
    return false
  if (event_time === undefined || !event_id || !hasSchema(user, known.user) || !hasSchema(custom, known.custom))
    return false
  for (const [key, value] of Object.entries(user)) {
    if (lists.has(key) && !(value as unknown[]).every((digest) => /^[0-9a-f]{64}$/.test(String(digest)))) return false
  }
  if (!((custom.contents as unknown[] | undefined) ?? []).every((item) => hasSchema(item, known.item))) return false
  return Boolean(user.em ?? user.hashed_maids ?? (user.client_ip_address && user.client_user_agent))
}

export async function startPinterestEvents(): Promise<PinterestEvents> {
  const events: PinterestEvents['events'] = new Map()
  const server = await startPlatform((received: Received) => {
    const { method, path, headers, query, json } = received
    if (`${method} ${path}` === 'GET /') return { text: 'Pinterest' }
    if (headers.authorization !== `Bearer ${conversionToken}`) return error(401, 2)
    if (`${method} ${path}` !== `POST /v5/ad_accounts/${eventsAccount}/events`) return error(403, 29)
    if (headers['content-type'] !== 'application/json') return error(415, 1)
    const { data, ...others } = (json ?? {}) as Record<string, unknown>
    if (!Array.isArray(data) || data.length < 1 || data.length > 1000 || Object.keys(others).length > 0)
      return error(400, 1)
    if (!data.every(isEvent)) return error(400, 4196)
    const results = data.map((event) => {
      if (event.event_source_url === 'https://refused.example.com/') {
        return { status: 'failed', error_message: 'may quote jane@example.com', warning_message: null }
      }
      const id = String(event.event_id)
      if (query.get('test') !== 'true' && !events.has(id)) events.set(id, event)
      return { status: 'processed', error_message: null, warning_message: '' }
    })
    const processed = results.filter(({ status }) => status === 'processed').length
    return {
      json: { num_events_received: data.length, num_events_processed: processed, events: results },
    }
  })
  return Object.assign(server, { events })
}
