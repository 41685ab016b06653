import { ecapiEventTypes, ecapiItemKeys, ecapiSources } from '@penstock/connector'
import {
  digest,
  each,
  listOf,
  nonEmptyText,
  objectOf,
  oneOf,
  type Schema,
  text,
  trueOrFalse,
  wholeNumber,
} from './body-schema.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * A receiver of ECAPI 1.0, written from the text of the standard: no field that it does not have, hashed values, a currency
 * with each value. It merges events with the same data set and ID. Requests of `/list` are lists of at most 10 events.
 */
export type EcapiServer = PlatformServer & {
  /** The merged events, by data set and ID. */
  readonly events: Map<string, Record<string, unknown>>
}

export const ecapiToken = 'ecapi-token'

const float: Schema = (value) => typeof value === 'number' && Number.isFinite(value)
const anything: Schema = () => true
const address = objectOf({
  ...each('first_name last_name street postal_code', digest),
  city: (value) => typeof value === 'string' && value === value.toLowerCase(),
  state: (value) => typeof value === 'string' && value === value.toLowerCase(),
  country_code: (value) => typeof value === 'string' && /^[a-z]{2}$/.test(value),
  address_type: (value) => [1, 2, 3].includes(value as number),
  ext: anything,
})
const item = objectOf(Object.fromEntries(ecapiItemKeys.map((key) => [key, anything])))
const user = objectOf({
  ...each('customer_identifier gender', digest),
  ...each('email_address phone_numbers', listOf(digest)),
  ...each('gpp_string click_id impression_id event_ip_address event_user_agent ifa', nonEmptyText),
  ...each('landing_ip_address landing_user_agent', nonEmptyText),
  ...each('utcoffset age_range', wholeNumber),
  mmt_only: trueOrFalse,
  uids: listOf(objectOf({ id: text, source: text, atype: wholeNumber, ext: anything })),
  customer_segments: listOf(nonEmptyText),
  gpp_sid: listOf(wholeNumber),
  address: listOf(address),
  ext: anything,
})
const properties = objectOf({
  ...each('transaction_id page_url referrer search_term shipping_tier ad_source login_method group_id', text),
  ...each('lead_source lead_status lead_reason promotion_id promotion_name', text),
  ...each('coupon payment_type', listOf(nonEmptyText)),
  ...each('shipping tax', float),
  items: listOf(item),
  ext: anything,
})
const event = objectOf(
  {
    ...each('data_set_id id custom_event', nonEmptyText),
    timestamp: wholeNumber,
    event_type: oneOf(ecapiEventTypes.join(' ')),
    source: oneOf(ecapiSources.join(' ')),
    value: float,
    currency_code: (value) => typeof value === 'string' && /^[A-Z]{3}$/.test(value),
    user_data: user,
    properties,
    ext: anything,
  },
  ['data_set_id', 'timestamp', 'event_type'],
)

type Event = {
  data_set_id: string
  id?: string
  event_type: string
  custom_event?: string
  value?: number
  currency_code?: string
}

function isAccepted(one: unknown): one is Event {
  if (!event(one)) return false
  const { event_type, custom_event, value, currency_code } = one as Event
  if (event_type === 'custom' ? custom_event === undefined : custom_event !== undefined) return false
  return custom_event !== 'refused' && (value === undefined || currency_code !== undefined)
}

export async function startEcapi(): Promise<EcapiServer> {
  const events: EcapiServer['events'] = new Map()
  const server = await startPlatform(({ method, path, headers, json }: Received): Reply => {
    const isSignedIn = headers.authorization === `Bearer ${ecapiToken}` || headers['x-api-key'] === ecapiToken
    if (!isSignedIn) return { status: 401, json: { error: 'may quote jane@example.com' } }
    const wanted = ['/v1/events', '/v1/list', '/v1/data'].indexOf(path)
    if (method !== 'POST' || wanted < 0) return { status: 404, text: '' }
    const given = wanted === 0 ? [json] : wanted === 1 ? json : (json as { data?: unknown } | undefined)?.data
    if (!Array.isArray(given) || given.length === 0 || given.length > 10 || !given.every(isAccepted)) {
      return { status: 400, json: { error: 'may quote jane@example.com' } }
    }
    for (const one of given) {
      const key = `${one.data_set_id}\n${one.id ?? events.size}`
      events.set(key, { ...events.get(key), ...one })
    }
    return { json: { status: 'ok' } }
  })
  return Object.assign(server, { events })
}
