import { boolean, secret } from '@penstock/connector'
import { bearer, idSetting, restApi } from '../kit/api.ts'
import {
  asWritten,
  count,
  currency,
  decimal,
  digest,
  eventId,
  flag,
  object,
  objects,
  oneOf,
  plain,
  special,
  texts,
  time,
} from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { isObject, listIn, objectIn } from '../platform-api/json.ts'
import { pinterestEcapi } from './ecapi.ts'
import { pinterestAds } from './platform.ts'

/** Other names than these Pinterest does not accept. */
const eventNames =
  `add_payment_info add_to_cart add_to_wishlist app_install app_open checkout contact custom customize_product find_location
  initiate_checkout lead page_visit schedule search signup start_trial submit_application subscribe view_category view_content
  watch_video`.split(/\s+/)
/** Pinterest has four kinds of places. Names of other platforms are mapped to these. */
const actionSources = {
  web: 'web',
  website: 'web',
  app_ios: 'app_ios',
  app_android: 'app_android',
  offline: 'offline',
  physical_store: 'offline',
  phone_call: 'offline',
}
/** Pinterest refuses a request for a key that it does not know. */
const userKeys = [
  ...['em', 'ph', 'fn', 'ln', 'ge', 'db', 'ct', 'st', 'zp', 'country', 'external_id', 'hashed_maids'],
  ...['client_ip_address', 'client_user_agent', 'click_id', 'partner_id'],
]
const customKeys = [
  ...['currency', 'value', 'content_ids', 'contents', 'num_items', 'order_id', 'content_name', 'content_category'],
  ...['content_brand', 'search_string', 'opt_out_type', 'predicted_ltv', 'np'],
  ...['external_measurement_id', 'external_measurement_vendor_id'],
]

/** Pinterest’s description of the app, and of the device, of an event. */
const appKeys =
  'app_id app_name app_package_name app_store app_version install_time user_agent window_height window_width'.split(' ')
const deviceKeys =
  `battery_level brand carrier cpu_cores external_storage_free_space external_storage_size form_factor kernel_version languages
  locale model network_type os_family os_name os_release_name os_version screen_density screen_height screen_width
  storage_free_space storage_size timezone timezone_abbr type`.split(/\s+/)
const formFactors = 'desktop laptop cellphone tablet smartwatch tv vr console other'.split(' ')
const networks = 'wifi cellular_2g cellular_3g cellular_4g cellular_5g cellular_6g ethernet unknown'.split(' ')
const systems = 'ios android macos windows linux bsd other'.split(' ')

const api = restApi({
  name: 'Pinterest',
  baseUrl: 'https://api.pinterest.com/v5',
  errors: {
    codeAt: 'code',
    statuses: {
      400: 'invalid_batch',
      422: 'invalid_batch',
      401: [
        'invalid_credentials',
        'Make a new conversion access token in its ads manager and save it in the connector.',
      ],
      403: [
        'permission_denied',
        'The user of the token needs the role admin, analyst, audience or campaign on the ad account.',
      ],
      404: ['object_not_found', 'Check the ad account ID.'],
    },
  },
})

/** The SHA-256 digest of check@example.com, which belongs to nobody. */
const noOne = '5f846d0a5c57b5a917568726f8d74120c1b412daba350607498a500cf8134ef0'

/** Conversions on websites, in apps and offline, for an ad account of Pinterest. */
export const pinterestConversions = eventDestination({
  slug: 'pinterest-conversions',
  name: 'Pinterest Conversions',
  platform: pinterestAds,
  dataType: 'Conversions',
  description: 'Reports conversions to Pinterest, whether they happened on a website, in an app or offline.',
  notes:
    'Each person needs an e-mail address, the advertising ID of a device, or an IP address together with a user agent; other values only add to these. Pinterest reports for each event whether it was accepted. It counts events with the same event_id once, but offline events every time: do not interrupt a transfer of offline events, and do not send its rows again. Create the token in the ads manager of Pinterest, under conversions. You need the consent of the people; report people who objected with opt_out or opt_out_type.',
  tested: 'Our own test server, which follows the OpenAPI document of Pinterest’s events; not Pinterest itself.',
  api: { version: 'v5 (5.23.0)', ends: 'No end is known.' },
  secrets: {
    conversionToken: secret({
      label: 'Conversion access token',
      description: 'Conversion access token from the ads manager of Pinterest',
      required: true,
    }),
  },
  platformApi: api,
  auth: bearer('conversionToken'),
  settings: {
    adAccountId: idSetting({
      label: 'Ad account ID',
      description: 'ID of the ad account that the conversions belong to',
      required: true,
      pattern: /^\d+$/,
      example: '549755885175',
    }),
    testMode: boolean({
      label: 'Test only',
      description: 'Pinterest only validates the events and does not record them',
    }),
  },
  batch: { rowsMax: 1000, bytesMax: 2_000_000 },
  request: (events, { settings, isProbe }) => ({
    path: `/ad_accounts/${String(settings.adAccountId).trim()}/events`,
    query: isProbe || settings.testMode === true ? { test: 'true' } : {},
    body: { data: events },
  }),
  answer: {
    refuses: [400, 422],
    refusal: 'Pinterest does not accept the event',
    // At the top of an answer, or in the details of a partial failure.
    results: ({ status, json }, sent) => {
      if (status >= 300 && status !== 400 && status !== 422) return undefined
      const { events, details } = objectIn(json)
      const results = listIn(events).length > 0 ? listIn(events) : listIn(objectIn(details).events)
      return results.length === sent.length ? results.map(reasonOf) : undefined
    },
  },
  // Conversion tokens can read nothing, so Pinterest tries an event, which it does not record.
  probe: {
    names: 'ad account',
    credentials: 'conversion access token',
    stranger: { adAccountId: '1' },
    events: () => [
      {
        event_name: 'custom',
        action_source: 'web',
        event_id: 'penstock-check',
        event_time: Math.floor(Date.now() / 1000),
        user_data: { em: [noOne] },
      },
    ],
  },
  ecapi: pinterestEcapi,
  columns: {
    event_name: oneOf('event_name', 'Name of the event: checkout, lead, signup, page_visit, custom …', {
      values: asWritten(...eventNames),
      wanted: `one of ${eventNames.join(', ')}`,
      required: true,
      synonyms: ['event', 'event_type'],
    }),
    event_time: time('event_time', 'When it happened, in seconds since 1970', {
      unit: 'seconds',
      synonyms: ['timestamp', 'occurred_at'],
    }),
    action_source: oneOf('action_source', 'Where the event happened: web, app_ios, app_android or offline', {
      values: actionSources,
      wanted: 'web, app_ios, app_android or offline',
      required: true,
    }),
    event_id: eventId('event_id', 'ID by which Pinterest recognises a repeated event; recommended'),
    // Not hashed as a whole: its values must already be hashed where Pinterest requires that, or they are rejected.
    user_data: object('user_data', 'Object that identifies the person by hashed values, such as em', {
      oneOf: 'identifier',
    }),
    email: digest('user_data.em[]', 'E-mail address', 'email'),
    maid: digest('user_data.hashed_maids[]', 'Advertising ID of a mobile device', 'device-id', {
      synonyms: ['madid', 'mobile_ad_id', 'idfa', 'gaid', 'aaid'],
    }),
    client_ip_address: plain(
      'user_data.client_ip_address',
      'IP address of the visitor; used together with client_user_agent',
      { identifies: true, synonyms: ['ip', 'ip_address', 'client_ip'] },
    ),
    client_user_agent: plain('user_data.client_user_agent', 'User agent of the visitor’s browser', {
      synonyms: ['user_agent'],
    }),
    phone: digest('user_data.ph[]', 'Phone number', 'phone-digits'),
    first_name: digest('user_data.fn[]', 'First name', 'name-joined', { synonyms: ['fn', 'given_name'] }),
    last_name: digest('user_data.ln[]', 'Last name', 'name-joined', { synonyms: ['ln', 'family_name', 'surname'] }),
    gender: digest('user_data.ge[]', 'Gender: m, f or n', 'gender-or-n'),
    date_of_birth: digest('user_data.db[]', 'Date of birth', 'birth-date', {
      synonyms: ['db', 'dob', 'birth_date', 'birthday'],
    }),
    city: digest('user_data.ct[]', 'City', 'city'),
    state: digest('user_data.st[]', 'State or province', 'state'),
    zip: digest('user_data.zp[]', 'Postal code', 'postal-code'),
    country: digest('user_data.country[]', 'Country', 'country'),
    external_id: digest('user_data.external_id[]', 'Your own ID of the person', 'external-id'),
    click_id: plain('user_data.click_id', 'Click ID from Pinterest’s cookie _epik or the parameter epik', {
      fromUrl: ['event_source_url', 'epik'],
      synonyms: ['epik', '_epik'],
    }),
    partner_id: plain('user_data.partner_id', 'ID of the visitor at another provider, such as RampID'),
    event_source_url: plain('event_source_url', 'URL of the page on which it happened', {
      synonyms: ['page_url', 'url'],
    }),
    opt_out: flag('opt_out', 'Whether the person has opted out of tracking'),
    opt_out_type: plain('custom_data.opt_out_type', 'How Pinterest must limit the use of the data: LDP', {
      consent: { use: 'sale', denied: 'LDP' },
    }),
    custom_data: object('custom_data', 'Object with the value, the currency and the products', {
      keys: customKeys,
      synonyms: ['properties'],
    }),
    // Pinterest wants amounts as texts.
    value: decimal('custom_data.value', 'Value of the event, in the currency', {
      as: 'text',
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
      keys: {
        id: 'text',
        item_name: 'text',
        item_category: 'text',
        item_brand: 'text',
        item_price: 'text',
        quantity: 'whole',
      },
      items: {
        id: 'id',
        name: 'item_name',
        price: 'item_price',
        quantity: 'quantity',
        brand: 'item_brand',
        category: 'item_category',
      },
    }),
    content_name: plain('custom_data.content_name', 'Name of the product or page'),
    content_category: plain('custom_data.content_category', 'Category of the products', {
      synonyms: ['item_category'],
    }),
    content_brand: plain('custom_data.content_brand', 'Brand of the products', { synonyms: ['item_brand'] }),
    num_items: count('custom_data.num_items', 'How many products', { synonyms: ['number_items'] }),
    search_string: plain('custom_data.search_string', 'What was searched for'),
    predicted_ltv: decimal('custom_data.predicted_ltv', 'Predicted value of the person to you over time', {
      as: 'text',
    }),
    app_id: plain('app_id', 'ID of the app in its store'),
    app_name: plain('app_name', 'Name of the app'),
    app_version: plain('app_version', 'Version of the app'),
    device_brand: plain('device_brand', 'Brand of the device'),
    device_carrier: plain('device_carrier', 'Mobile carrier of the device'),
    device_model: plain('device_model', 'Model of the device'),
    device_type: plain('device_type', 'Type of the device'),
    os_version: plain('os_version', 'Version of the operating system of the device'),
    app_info: object('app_info', 'Object with information on the app, such as app_store and install_time', {
      keys: appKeys,
    }),
    app_package_name: plain('app_info.app_package_name', 'Package name of the app', {
      lengthMax: 200,
      synonyms: ['bundle_id'],
    }),
    app_store: plain('app_info.app_store', 'Store from which the app was installed', { lengthMax: 100 }),
    install_time: time('app_info.install_time', 'When the app was installed', { unit: 'seconds', required: false }),
    device_info: object('device_info', 'Object with information on the device, such as os_family and screen_width', {
      keys: deviceKeys,
    }),
    form_factor: oneOf('device_info.form_factor', 'Form of the device: cellphone, tablet, desktop …', {
      values: asWritten(...formFactors),
      wanted: `one of ${formFactors.join(', ')}`,
    }),
    network_type: oneOf('device_info.network_type', 'Kind of network: wifi, cellular_5g, ethernet …', {
      values: asWritten(...networks),
      wanted: `one of ${networks.join(', ')}`,
    }),
    os_family: oneOf('device_info.os_family', 'Operating system of the device: ios, android, windows …', {
      values: asWritten(...systems),
      wanted: `one of ${systems.join(', ')}`,
      synonyms: ['os_name', 'platform'],
    }),
    locale: plain('device_info.locale', 'Language and region of the device: en-us', { lengthMax: 35 }),
    timezone: plain('device_info.timezone', 'Time zone of the device', { lengthMax: 40 }),
    screen_width: count('device_info.screen_width', 'Width of the screen in pixels'),
    screen_height: count('device_info.screen_height', 'Height of the screen in pixels'),
    language: special('Language of the person, in two letters'),
    wifi: flag('wifi', 'Whether the device was connected to a wireless network'),
  },
  constants: { partner_name: 'ss-penstock' },
  person: {
    anyOf: ['user_data.em', 'user_data.hashed_maids', ['user_data.client_ip_address', 'user_data.client_user_agent']],
    missing:
      'Pinterest finds a person by an e-mail address, the advertising ID of a device, or an IP address and a user agent together.',
    field: 'email',
  },
  finish: (event, row) => {
    const user = Object.entries(objectIn(event.user_data)).filter(([key]) => userKeys.includes(key))
    const language = row.text('language')?.slice(0, 2).toLowerCase() ?? ''
    return {
      read: {
        ...event,
        user_data: Object.fromEntries(user),
        ...(/^[a-z]{2}$/.test(language) && { language }),
      },
    }
  },
})

/** Pinterest's messages are omitted, because they can quote what was sent. */
function reasonOf(result: unknown): string | undefined {
  const status = isObject(result) ? result.status : undefined
  if (status === 'processed') return undefined
  return status === 'failed'
    ? 'Pinterest could not process the event (status failed).'
    : 'Pinterest did not confirm that it processed the event.'
}
