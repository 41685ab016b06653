import { type Ecapi, type EcapiField, ecapiEventTypes, ecapiFields, ecapiSources } from '@penstock/connector'
import {
  asWritten,
  currency,
  decimal,
  digest,
  type EventColumns,
  eventId,
  flag,
  object,
  objects,
  oneOf,
  plain,
  texts,
  time,
  whole,
} from '../kit/columns.ts'

const user = 'user_data'
const properties = 'properties'
/** The path of an address, which `finish` puts into the list of addresses. */
const address = '@address'
/** An event needs no person, and a value that cannot be used does not stop it. */
const optional = { identifies: false, leftOutIfUnusable: true } as const
const property = (name: string, description: string) => plain(`${properties}.${name}`, description)

/** The columns of an event, named as in the standard. Values are hashed as the standard says. */
export const ecapiColumns: EventColumns = {
  data_set_id: plain('data_set_id', 'ID of the data set at the receiver, if not the one of the connection', {
    setting: 'dataSetId',
    missing: 'Neither the row nor the connection has a data set.',
    addresses: true,
  }),
  id: eventId('id', 'ID by which the receiver recognises a repeated event of the data set; recommended', {
    synonyms: ['event_id'],
  }),
  timestamp: time('timestamp', 'When it happened: seconds or milliseconds since 1970, or ISO 8601 with its time zone', {
    unit: 'seconds',
    synonyms: ['event_time', 'occurred_at'],
  }),
  event_type: oneOf('event_type', 'Type of the event: purchase, page_view … Any other is a custom event', {
    values: asWritten(...ecapiEventTypes),
    wanted: 'a type of the standard',
    otherwise: { to: 'custom_event', value: 'custom' },
    required: true,
    synonyms: ['event_name', 'event'],
  }),
  custom_event: plain('custom_event', 'Name of a custom event', { only: { at: 'event_type', is: ['custom'] } }),
  value: decimal('value', 'Value of the event, in the currency', {
    synonyms: ['conversion_value', 'revenue', 'amount'],
  }),
  currency_code: currency('currency_code', 'Currency of all amounts, as three letters', {
    with: 'value',
    setting: 'currency',
    missing: 'The value needs a currency.',
    synonyms: ['currency'],
  }),
  source: oneOf('source', 'Where it happened: website, app, physical_store …', {
    values: { ...asWritten(...ecapiSources), web: 'website' },
    wanted: `one of ${ecapiSources.join(', ')}`,
    synonyms: ['action_source'],
  }),
  user_data: object(user, 'Object of the standard that describes the person; separate columns have priority'),
  customer_identifier: digest(`${user}.customer_identifier`, 'Your own ID of the person', 'external-id', {
    ...optional,
    synonyms: ['external_id', 'customer_id', 'user_id'],
  }),
  email_address: digest(`${user}.email_address[]`, 'E-mail address', 'email', { ...optional, synonyms: ['email'] }),
  phone_numbers: digest(`${user}.phone_numbers[]`, 'Phone number', 'phone-e164', { ...optional, synonyms: ['phone'] }),
  first_name: digest(`${address}.first_name`, 'First name', 'name-joined', optional),
  last_name: digest(`${address}.last_name`, 'Last name', 'name-joined', optional),
  street: digest(`${address}.street`, 'Street address', 'street-address', optional),
  postal_code: digest(`${address}.postal_code`, 'Postal code', 'postal-code', { ...optional, synonyms: ['zip'] }),
  city: plain(`${address}.city`, 'City', { ...optional, normalise: 'name' }),
  state: plain(`${address}.state`, 'State or province', { ...optional, normalise: 'state' }),
  country_code: plain(`${address}.country_code`, 'Country', {
    ...optional,
    normalise: 'country',
    synonyms: ['country'],
  }),
  address_type: oneOf(`${address}.address_type`, 'Kind of the address: billing, shipping or unknown', {
    values: { billing: '1', shipping: '2', unknown: '3', 1: '1', 2: '2', 3: '3' },
    wanted: 'billing, shipping or unknown',
  }),
  gender: plain('@gender', 'Gender: female, male or another word; it is hashed before it is sent'),
  click_id: plain(`${user}.click_id`, 'Click ID of the receiver'),
  impression_id: plain(`${user}.impression_id`, 'Impression ID of the receiver'),
  event_ip_address: plain(`${user}.event_ip_address`, 'IP address of the person', { synonyms: ['ip', 'ip_address'] }),
  event_user_agent: plain(`${user}.event_user_agent`, 'User agent of the browser', { synonyms: ['user_agent'] }),
  landing_ip_address: plain(`${user}.landing_ip_address`, 'IP address on the landing page of the campaign'),
  landing_user_agent: plain(`${user}.landing_user_agent`, 'User agent on the landing page of the campaign'),
  ifa: plain(`${user}.ifa`, 'Advertising ID of the device', {
    ...optional,
    normalise: 'device-id',
    synonyms: ['maid', 'madid'],
  }),
  uids: objects(`${user}.uids`, 'JSON list of IDs of the person, each with id, source and atype'),
  customer_segments: texts(`${user}.customer_segments`, 'Categories of the customer, such as Gold Member'),
  utcoffset: whole(`${user}.utcoffset`, 'Local time, as minutes from UTC'),
  age_range: whole(`${user}.age_range`, 'Age range by the numbers of the standard: 1 for 18 to 20'),
  gpp_string: plain(`${user}.gpp_string`, 'Consent string of the Global Privacy Platform'),
  gpp_sid: texts('@sections', 'Sections of the consent string that apply, such as 7'),
  mmt_only: flag(`${user}.mmt_only`, 'Whether the event is used for measurement only, and not to optimise ads'),
  properties: object(properties, 'Object of the standard with more values; separate columns have priority'),
  transaction_id: plain(`${properties}.transaction_id`, 'ID of the transaction', { synonyms: ['order_id'] }),
  items: objects(`${properties}.items`, 'JSON list of the items, each with id, name, price and quantity'),
  page_url: plain(`${properties}.page_url`, 'Address of the page', { synonyms: ['event_source_url', 'url'] }),
  referrer: property('referrer', 'Address of the previous page'),
  search_term: property('search_term', 'What was searched for'),
  coupon: texts(`${properties}.coupon`, 'Codes of coupons'),
  payment_type: texts(`${properties}.payment_type`, 'How it was paid'),
  shipping: decimal(`${properties}.shipping`, 'Cost of shipping'),
  tax: decimal(`${properties}.tax`, 'Tax'),
  shipping_tier: property('shipping_tier', 'Tier of shipping'),
  ad_source: property('ad_source', 'Value of utm_source'),
  lead_source: property('lead_source', 'Source of the lead'),
  lead_status: property('lead_status', 'Status of the lead'),
  lead_reason: property('lead_reason', 'Reason of the lead'),
  login_method: property('login_method', 'How the person signed in'),
  promotion_id: property('promotion_id', 'ID of the promotion'),
  promotion_name: property('promotion_name', 'Name of the promotion'),
}

const named = (Object.keys(ecapiFields) as EcapiField[]).map((field) => [field.split('.').at(-1) ?? '', field] as const)

/** Each column is filled by the field of its name. Other properties are sent in the object `properties`. */
export const ecapiForm: Ecapi = {
  columns: Object.fromEntries(named.filter(([name]) => Object.hasOwn(ecapiColumns, name))),
}
