import type { Normalisation } from '@penstock/connector'
import {
  asWritten,
  type ColumnOptions,
  count,
  currency,
  decimal,
  digest,
  type EventColumn,
  type EventColumns,
  eventId,
  flag,
  limitedUse,
  object,
  objects,
  oneOf,
  plain,
  special,
  texts,
  time,
} from '../kit/columns.ts'

/** Kinds of place in which an event happened, as Meta names them. */
export const actionSources: readonly string[] = [
  'website',
  'app',
  'email',
  'chat',
  'phone_call',
  'physical_store',
  'system_generated',
  'business_messaging',
  'other',
]

/** The name of an event, its time and its place. */
export const eventColumns = (example: string, place: EventColumn): EventColumns => ({
  event_name: plain('event_name', `Name of the event, for example ${example}`, {
    required: true,
    synonyms: ['event'],
  }),
  event_time: time('event_time', 'When it happened, in seconds since 1970', {
    unit: 'seconds',
    // Meta refuses a whole request for one event that is older.
    daysMax: { by: 'action_source', of: { physical_store: 62 }, else: 7 },
    synonyms: ['timestamp', 'occurred_at'],
  }),
  action_source: place,
})

/** @param options.listed the values that the mapping lists; “call center” is our name for Meta's phone_call */
export const placeColumn = (
  description: string,
  options: { listed: readonly string[]; required?: boolean; usual?: string },
): EventColumn =>
  oneOf('action_source', description, {
    values: { ...asWritten(...actionSources), call_center: 'phone_call' },
    wanted: `one of ${actionSources.join(', ')}`,
    ...options,
  })

/** A digest, to which Meta's own library for web servers appends an identifier of the library. */
const hashed = (to: string, description: string, normalise: Normalisation, synonyms?: readonly string[]) =>
  digest(`user_data.${to}`, description, normalise, { suffix: /\.[\w-]{2,8}$/, ...(synonyms && { synonyms }) })
const identifier = (key: string, description: string, options?: ColumnOptions) =>
  plain(`user_data.${key}`, description, { identifies: true, ...options })

/** By what Meta finds the person of an event: an object of Meta's form, or a column for each value. */
export const personColumns: EventColumns = {
  user_data: object(
    'user_data',
    // Not hashed as a whole: its values must already be hashed where Meta requires that, or they are rejected.
    'Object that identifies the person by at least one hashed value, such as em or ph',
    { identifies: true, synonyms: ['user'] },
  ),
  email: hashed('em[]', 'E-mail address', 'email'),
  phone: hashed('ph[]', 'Phone number', 'phone-digits'),
  first_name: hashed('fn', 'First name', 'name-joined', ['fn', 'given_name']),
  last_name: hashed('ln', 'Last name', 'name-joined', ['ln', 'family_name', 'surname']),
  date_of_birth: hashed('db', 'Date of birth', 'birth-date', ['db', 'dob', 'birth_date', 'birthday']),
  gender: hashed('ge', 'Gender', 'gender', ['ge']),
  city: hashed('ct', 'City', 'city', ['ct']),
  state: hashed('st', 'State or province', 'state', ['st']),
  zip: hashed('zp', 'Postal code', 'postal-code', ['zp']),
  country: hashed('country', 'Country', 'country'),
  // Meta also accepts it unhashed, and an object can contain it unhashed.
  external_id: {
    ...identifier('external_id[]', 'Your own ID of the person', {
      normalise: 'external-id',
      synonyms: ['customer_id', 'user_id'],
    }),
    hashed: ['sha256'],
  },
  external_ids: texts(
    '@external_ids',
    'Several IDs of your own of the person, as a JSON list or separated by semicolons or commas; each is hashed, unless it is a digest',
    { identifies: true, normalise: 'external-id' },
  ),
  client_ip_address: identifier('client_ip_address', 'IP address of the visitor', {
    synonyms: ['ip', 'ip_address', 'client_ip'],
  }),
  client_user_agent: identifier(
    'client_user_agent',
    'User agent of the visitor’s browser; expected by Meta for events of websites',
    { synonyms: ['user_agent'] },
  ),
  fbc: identifier('fbc', 'Click ID of Meta from its cookie _fbc', { synonyms: ['_fbc'] }),
  click_id: plain('@click', 'Parameter fbclid of the landing page, if there is no fbc', {
    identifies: true,
    synonyms: ['fbclid'],
    fromUrl: ['event_source_url', 'fbclid'],
  }),
  fbp: identifier('fbp', 'Browser ID of Meta from its cookie _fbp', { synonyms: ['_fbp'] }),
  madid: identifier('madid', 'Advertising ID of a mobile device, not hashed', {
    normalise: 'device-id',
    synonyms: ['maid', 'mobile_ad_id', 'idfa', 'gaid', 'aaid'],
  }),
  anon_id: identifier('anon_id', 'ID of the installation of an app', { synonyms: ['anonymous_id'] }),
  subscription_id: identifier('subscription_id', 'ID of the subscription in this transaction'),
  lead_id: identifier('lead_id', 'ID of the lead from a lead ad of Meta'),
  fb_login_id: identifier('fb_login_id', 'ID that Meta issued when the person first signed in to the app'),
  ctwa_clid: identifier('ctwa_clid', 'Click ID of an ad that leads to WhatsApp'),
  page_id: identifier('page_id', 'ID of the page that a message belongs to'),
  page_scoped_user_id: identifier('page_scoped_user_id', 'ID of the person for a page in Messenger'),
  ig_account_id: identifier('ig_account_id', 'ID of the Instagram account that a message belongs to'),
  ig_sid: identifier('ig_sid', 'ID of the person for an Instagram account'),
}

/** What happened: an object in Meta's form, or a column for each value. */
export const contentColumns: EventColumns = {
  custom_data: object('custom_data', 'Object with the value, the currency and the products', {
    synonyms: ['properties'],
  }),
  value: decimal('custom_data.value', 'Value of the event, in the currency', {
    synonyms: ['conversion_value', 'revenue'],
  }),
  currency: currency('custom_data.currency', 'Currency of the value, as an ISO 4217 code', {
    synonyms: ['currency_code'],
  }),
  order_id: plain('custom_data.order_id', 'ID of the order', { synonyms: ['transaction_id'] }),
  content_ids: texts('custom_data.content_ids', 'IDs of the products, as a JSON list or separated by commas', {
    synonyms: ['item_ids', 'product_ids', 'content_id'],
  }),
  contents: objects('custom_data.contents', 'JSON list of the products, each with id, quantity and item_price', {
    items: {
      id: 'id',
      name: 'title',
      price: 'item_price',
      quantity: 'quantity',
      brand: 'brand',
      category: 'category',
    },
  }),
  content_name: plain('custom_data.content_name', 'Name of the product or page'),
  content_type: plain('custom_data.content_type', 'What the IDs refer to: product or product_group'),
  content_category: plain('custom_data.content_category', 'Category of the products', {
    synonyms: ['item_category'],
  }),
  num_items: count('custom_data.num_items', 'How many products', { synonyms: ['number_items'] }),
  search_string: plain('custom_data.search_string', 'What was searched for'),
  predicted_ltv: decimal('custom_data.predicted_ltv', 'Predicted value of the person to you over time'),
  net_revenue: decimal('custom_data.net_revenue', 'Value of the order less its costs'),
  delivery_category: plain('custom_data.delivery_category', 'How it is delivered: in_store, curbside or home_delivery'),
}

/** Further information about the event, and how Meta can use it. */
export const circumstanceColumns: EventColumns = {
  event_id: eventId('event_id', 'ID by which Meta recognises a repeated event; recommended'),
  event_source_url: plain(
    'event_source_url',
    'URL of the page on which it happened; expected by Meta for events of websites',
    { synonyms: ['page_url', 'url'] },
  ),
  referrer_url: plain('referrer_url', 'URL of the previous page', { synonyms: ['page_referrer', 'referrer'] }),
  messaging_channel: plain('messaging_channel', 'Where messages were exchanged: messenger, instagram or whatsapp'),
  opt_out: flag('opt_out', 'Whether Meta uses the event for attribution only, and not to deliver ads'),
  // Meta's own list of options, of which there is one, is a way to say yes.
  data_processing_options: flag('@limited', 'LDU or true if Meta must limit the use of the event', {
    consent: limitedUse,
    words: { ldu: true, '["ldu"]': true, '[]': false },
    synonyms: ['limited_data_use', 'ldu'],
  }),
  data_processing_options_country: count(
    '@country',
    'Country for the limited use: 1 for the USA, 0 to determine it from the IP address',
  ),
  data_processing_options_state: count(
    '@state',
    'State for the limited use: 1000 for California, 0 to determine it from the IP address',
  ),
}

/** The app of an event and its device: an object of Meta's form, or a column for each value. `event-app.ts` reads them. */
export const appColumns: EventColumns = {
  app_data: special('Object with information on the app and the device, including extinfo'),
  advertiser_tracking_enabled: special('Whether the person allowed the advertiser to track, on iOS; no by default', {
    synonyms: ['att_status'],
  }),
  application_tracking_enabled: special('Whether the person allowed tracking in the app; no by default'),
  extinfo: special('JSON list of the 16 values with which Meta describes a device'),
  app_platform: special('Operating system of the device: ios or android', { synonyms: ['os_name'] }),
  app_package_name: special('Package name or bundle ID of the app', { synonyms: ['bundle_id'] }),
  app_version: special('Version of the app'),
  os_version: special('Version of the operating system of the device'),
  device_model: special('Model of the device'),
  locale: special('Language and region of the device: en_US', { synonyms: ['device_locale'] }),
}
