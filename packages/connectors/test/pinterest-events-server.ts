import {
  digest,
  each,
  listOf,
  nonEmptyText,
  objectOf,
  oneOf,
  positiveNumber,
  type Schema,
  text,
  trueOrFalse,
  wholeNumber,
} from './body-schema.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * The events of Pinterest's API v5, written from its OpenAPI document (5.23.0) and, for the names of events, its page about them: no key that a schema does not have, amounts
 * as texts, lists of digests, and a status for each event. It fails events of the page `refused`.
 */
export type PinterestEvents = PlatformServer & {
  /** The recorded events, by event ID. */
  readonly events: Map<string, Record<string, unknown>>
}

export const conversionToken = 'pina-conversion-token'
export const eventsAccount = '549'

const error = (status: number, code: number): Reply => ({
  status,
  json: { code, message: 'may quote jane@example.com' },
})
const user = objectOf({
  ...each('em ph fn ln ge db ct st zp country external_id hashed_maids', listOf(digest)),
  ...each('client_ip_address client_user_agent click_id partner_id', text),
})
const contents = listOf(
  objectOf({ ...each('id item_name item_category item_brand item_price', text), quantity: wholeNumber }),
)
const custom = objectOf({
  ...each('currency value order_id search_string opt_out_type content_name', text),
  ...each('content_category content_brand predicted_ltv np', text),
  content_ids: listOf(() => true),
  contents,
  num_items: wholeNumber,
})
const short =
  (lengthMax: number): Schema =>
  (value) =>
    typeof value === 'string' && value.length <= lengthMax
const app = objectOf({
  ...each('app_id app_name app_package_name', short(200)),
  ...each('app_store app_version', short(100)),
  user_agent: text,
  ...each('install_time window_height window_width', positiveNumber),
})
const device = objectOf({
  ...each('brand carrier kernel_version model os_name os_release_name os_version type', short(100)),
  ...each('battery_level cpu_cores external_storage_free_space external_storage_size', positiveNumber),
  ...each('screen_density screen_height screen_width storage_free_space storage_size', positiveNumber),
  form_factor: oneOf('desktop laptop cellphone tablet smartwatch tv vr console other'),
  network_type: oneOf('wifi cellular_2g cellular_3g cellular_4g cellular_5g cellular_6g ethernet unknown'),
  os_family: oneOf('ios android macos windows linux bsd other'),
  languages: listOf(text),
  locale: short(35),
  timezone: short(40),
  timezone_abbr: short(5),
})
const eventSchema = objectOf(
  {
    event_name: oneOf(`add_payment_info add_to_cart add_to_wishlist app_install app_open checkout contact custom
      customize_product find_location initiate_checkout lead page_visit schedule search signup start_trial submit_application
      subscribe view_category view_content watch_video`),
    action_source: oneOf('web offline app_ios app_android'),
    event_time: wholeNumber,
    event_id: nonEmptyText,
    user_data: user,
    ...each('event_source_url app_id app_name app_version device_brand device_carrier', text),
    ...each('device_model device_type os_version partner_name language', text),
    custom_data: custom,
    app_info: app,
    device_info: device,
    ...each('opt_out wifi', trueOrFalse),
  },
  ['event_name', 'action_source', 'event_time', 'event_id', 'user_data'],
)

function isEvent(event: unknown): event is Record<string, unknown> {
  if (!eventSchema(event)) return false
  const { user_data } = event as { user_data: Record<string, unknown> }
  return Boolean(user_data.em ?? user_data.hashed_maids ?? (user_data.client_ip_address && user_data.client_user_agent))
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
