import { text } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import {
  count,
  currency,
  decimal,
  digest,
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
import { eventDestination } from '../kit/event-destination.ts'
import type { Answer } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { authorization } from './authorization.ts'
import { snapchatEcapi } from './ecapi.ts'
import { snapchatAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Snapchat has three kinds of places. Names of other platforms are mapped to these. */
const actionSources = {
  web: 'WEB',
  website: 'WEB',
  mobile_app: 'MOBILE_APP',
  app: 'MOBILE_APP',
  offline: 'OFFLINE',
  physical_store: 'OFFLINE',
  phone_call: 'OFFLINE',
  email: 'OFFLINE',
  chat: 'OFFLINE',
  system_generated: 'OFFLINE',
  other: 'OFFLINE',
}
const ofApp = { at: 'action_source', is: ['MOBILE_APP'] }
const limited = { at: '@limited', is: [true] }

const statusOf = ({ json }: Answer): string => (textIn(objectIn(json).status) ?? '').toUpperCase()

const api = restApi({
  name: 'Snapchat',
  baseUrl: 'https://tr.snapchat.com/v3',
  errors: {
    codeAt: 'errors.codes',
    statuses: {
      400: ['request_refused', 'It named no event; check the Pixel ID and the Snap App ID.'],
      401: ['invalid_credentials', 'Grant access again at Snapchat and save the new refresh token in the connector.'],
      403: [
        'permission_denied',
        'Check the ID of the pixel or app, and that the member who granted access has a role on it.',
      ],
      404: ['object_not_found', 'Check the Pixel ID and the Snap App ID.'],
    },
  },
})

/** Conversions on websites, in apps and offline, for Snapchat. */
export const snapchatConversions = eventDestination({
  slug: 'snapchat-conversions',
  name: 'Snapchat Conversions',
  platform: snapchatAds,
  dataType: 'Conversions',
  description: 'Reports conversions to Snapchat, whether they happened on a website, in an app or offline.',
  notes:
    'Each person needs an e-mail address, a phone number, the advertising ID of a device, or an IP address together with a user agent; other values only add to these. Web and offline events belong to a pixel, app events to a Snap App ID; the member of the organization who granted access needs a role on it. Events older than 37 days are rejected before they are sent; send them within an hour for the best results. You need the consent of the people; report opted-out people with limited_data_use. Snapchat keeps one of several events with the same name and event_id within 48 hours.',
  tested:
    'Our own test server, which follows the published documentation of Snapchat’s Conversions API and its Business SDK; not Snapchat itself.',
  api: { version: 'Conversions API v3', ends: 'no end is announced; version 2 is retired' },
  secrets: signIn,
  authorization,
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openConversionTokens(context) },
  settings: {
    pixelId: text({
      asked: true,
      label: 'Pixel ID',
      description: 'ID of the Snap Pixel that web and offline events belong to',
    }),
    snapAppId: text({
      asked: true,
      label: 'Snap App ID',
      description: 'ID of the app at Snapchat that app events belong to',
    }),
    appId: text({
      asked: true,
      label: 'App ID',
      description: 'Number of the app in the App Store, or its package name at Google Play, for events without one',
    }),
    testEventCode: text({
      label: 'Test event code',
      description: 'Code from Snapchat Events Manager; events with it are shown there as tests',
    }),
  },
  batch: { rowsMax: 2000, bytesMax: 2_000_000 },
  // Events of apps belong to an app of Snapchat, all others to a pixel.
  targets: {
    at: '@asset',
    settings: { pixel: ['pixelId', 'Pixel ID'], app: ['snapAppId', 'Snap App ID'] },
    field: 'action_source',
  },
  request: (events, { id = '', settings, isProbe }) => {
    const path = `/${encodeURIComponent(id)}/events`
    if (isProbe) return { method: 'GET', path: `${path}/validate/stats` }
    const code = textIn(settings.testEventCode)
    return { path, body: { data: events.map((event) => (code ? { ...event, test_event_code: code } : event)) } }
  },
  answer: {
    refuses: (answer) => (answer.status < 300 || answer.status === 400) && statusOf(answer) === 'INVALID',
    refusal: 'Snapchat did not accept the event; check its name, its time, the person and the value',
    confirms: (answer) => ['VALID', 'SUCCESS'].includes(statusOf(answer)),
  },
  probe: { names: 'pixel or an app', credentials: 'refresh token', exchanges: true },
  ecapi: snapchatEcapi,
  columns: {
    event_name: plain('event_name', 'Name of the event', { required: true, synonyms: ['event', 'event_type'] }),
    event_time: time('event_time', 'When it happened, in seconds since 1970', {
      unit: 'seconds',
      // Older events are not reported.
      daysMax: 37,
      synonyms: ['timestamp', 'occurred_at'],
    }),
    action_source: oneOf('action_source', 'Where the event happened, for example WEB or MOBILE_APP', {
      values: actionSources,
      wanted: 'WEB, MOBILE_APP or OFFLINE',
      required: true,
      synonyms: ['event_conversion_type'],
    }),
    // Not hashed as a whole: its values must already be hashed where Snapchat requires that, or they are rejected.
    user_data: object(
      'user_data',
      'Object that identifies the person: by em, by ph, by madid, or by client_ip_address and client_user_agent together',
      { oneOf: 'identifier' },
    ),
    conversion_value: decimal('custom_data.value', 'Value of the conversion, in the currency; purchases need it', {
      synonyms: ['value', 'price', 'revenue', 'amount'],
    }),
    currency: currency('custom_data.currency', 'Currency of the value, as an ISO 4217 code; purchases need it', {
      with: 'conversion_value',
      synonyms: ['currency_code'],
    }),
    email: digest('user_data.em[]', 'E-mail address', 'email'),
    phone: digest('user_data.ph[]', 'Phone number', 'phone-digits'),
    first_name: digest('user_data.fn', 'First name', 'name-joined', { synonyms: ['fn', 'given_name'] }),
    last_name: digest('user_data.ln', 'Last name', 'name-joined', { synonyms: ['ln', 'family_name', 'surname'] }),
    gender: digest('user_data.ge', 'Gender', 'gender'),
    city: digest('user_data.ct', 'City', 'city'),
    state: digest('user_data.st', 'State or province', 'state'),
    zip: digest('user_data.zp', 'Postal code', 'postal-code'),
    country: digest('user_data.country', 'Country', 'country'),
    external_id: digest('user_data.external_id[]', 'Your own ID of the person', 'external-id', {
      synonyms: ['customer_id', 'user_id'],
    }),
    madid: plain('user_data.madid', 'Advertising ID of a mobile device, not hashed', {
      identifies: true,
      normalise: 'device-id',
      synonyms: ['maid', 'mobile_ad_id', 'idfa', 'gaid', 'aaid'],
    }),
    client_ip_address: plain(
      'user_data.client_ip_address',
      'IP address of the visitor; used together with client_user_agent',
      { identifies: true, synonyms: ['ip', 'ip_address', 'client_ip'] },
    ),
    client_user_agent: plain('user_data.client_user_agent', 'User agent of the visitor’s browser', {
      synonyms: ['user_agent'],
    }),
    sc_click_id: plain('user_data.sc_click_id', 'Click ID from the parameter ScCid of the landing page', {
      synonyms: ['click_id', 'sccid'],
    }),
    sc_cookie1: plain('user_data.sc_cookie1', 'Value of Snapchat’s cookie _scid', { synonyms: ['uuid_c1', 'scid'] }),
    idfv: plain('user_data.idfv', 'Vendor ID of an iOS device'),
    lead_id: plain('user_data.lead_id', 'ID of the lead from a lead ad of Snapchat'),
    anon_id: plain('user_data.anon_id', 'ID of the installation of an app', { synonyms: ['anonymous_id'] }),
    partner_id: plain('user_data.partner_id', 'ID of the person at a partner that measures for you'),
    subscription_id: plain('user_data.subscription_id', 'ID of the subscription in this transaction'),
    event_id: eventId('event_id', 'ID by which Snapchat recognises a repeated event; recommended', {
      synonyms: ['client_dedup_id'],
    }),
    event_source_url: plain('event_source_url', 'URL of the page on which it happened', {
      synonyms: ['page_url', 'url'],
    }),
    order_id: plain('custom_data.order_id', 'ID of the order', { synonyms: ['transaction_id'] }),
    content_ids: texts('custom_data.content_ids', 'IDs of the products, as a JSON list or separated by commas', {
      synonyms: ['item_ids', 'product_ids', 'content_id'],
    }),
    contents: objects('custom_data.contents', 'JSON list of the products, each with id, quantity and item_price', {
      items: { id: 'id', price: 'item_price', quantity: 'quantity', brand: 'brand' },
    }),
    content_category: plain('custom_data.content_category', 'Category of the products', {
      synonyms: ['item_category'],
    }),
    num_items: count('custom_data.num_items', 'How many products', { synonyms: ['number_items', 'quantity'] }),
    search_string: plain('custom_data.search_string', 'What was searched for'),
    sign_up_method: plain('custom_data.sign_up_method', 'How the person signed up'),
    custom_data: object('custom_data', 'Object with further information on the event', { synonyms: ['properties'] }),
    app_data: object('app_data', 'Object with information on the app and the device, including extinfo', {
      only: ofApp,
    }),
    app_id: plain('app_data.app_id', 'Number of the app in the App Store, or its package name at Google Play', {
      only: ofApp,
      setting: 'appId',
    }),
    advertiser_tracking_enabled: flag(
      'app_data.advertiser_tracking_enabled',
      'Whether the person allowed the advertiser to track, on iOS',
      // A missing consent is not a consent.
      { as: 'number', only: ofApp, usual: 0, synonyms: ['att_status'] },
    ),
    application_tracking_enabled: flag(
      'app_data.application_tracking_enabled',
      'Whether the person allowed tracking in the app',
      { as: 'number', only: ofApp },
    ),
    os_version: special('Version of the operating system of the device'),
    device_model: special('Model of the device'),
    limited_data_use: flag('@limited', 'Whether Snapchat must limit the use of the event', {
      consent: limitedUse,
      words: { ldu: true, '[ldu]': true, '["ldu"]': true, "['ldu']": true },
      synonyms: ['ldu', 'data_processing_options'],
    }),
    data_processing_options_country: count(
      'data_processing_options_country',
      'Country for the limited use: 1 for the USA, 0 to determine it from the IP address',
      { only: limited },
    ),
    data_processing_options_state: count(
      'data_processing_options_state',
      'State for the limited use: 1000 for California, 0 to determine it from the IP address',
      { only: limited },
    ),
  },
  constants: { integration: 'penstock' },
  puts: [
    { at: '@limited', is: [true], what: { data_processing_options: ['LDU'] } },
    { at: 'action_source', is: ['MOBILE_APP'], what: { '@asset': 'app' } },
    { at: 'action_source', is: ['WEB', 'OFFLINE'], what: { '@asset': 'pixel' } },
  ],
  person: {
    anyOf: [
      'user_data.em',
      'user_data.ph',
      'user_data.madid',
      ['user_data.client_ip_address', 'user_data.client_user_agent'],
    ],
    missing:
      'Snapchat finds a person by an e-mail address, a phone number, the advertising ID of a device, or an IP address and a user agent together.',
    field: 'email',
  },
  needs: [
    {
      at: 'event_name',
      is: ['purchase'],
      paths: ['custom_data.value', 'custom_data.currency'],
      missing: 'A purchase needs a value and a currency.',
    },
  ],
  finish: (event, row) => {
    const user = objectIn(event.user_data)
    const madid = textIn(user.madid)?.toLowerCase()
    const app = objectIn(event.app_data)
    const extinfo = app.extinfo ?? extinfoOf(row, textIn(app.app_id))
    return {
      read: {
        ...event,
        user_data: { ...user, madid },
        ...(event['@asset'] === 'app' && { app_data: { ...app, extinfo } }),
      },
    }
  },
})

/** Sixteen texts by their place, the first of which says whether it is an app of iOS, whose IDs are numbers, or of Android. */
function extinfoOf(row: BatchRow, appId = ''): string[] {
  const extinfo = new Array<string>(16).fill('')
  extinfo[0] = /^\d+$/.test(appId) ? 'i2' : 'a2'
  extinfo[4] = row.text('os_version') ?? ''
  extinfo[5] = row.text('device_model') ?? ''
  return extinfo
}
