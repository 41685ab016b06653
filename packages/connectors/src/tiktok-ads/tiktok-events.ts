import { secret, text } from '@penstock/connector'
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
  texts,
  time,
} from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { codeOf, invalidParameter, partlyTaken, tiktokApi } from './api.ts'
import { tiktokEcapi } from './ecapi.ts'
import { tiktokAds } from './platform.ts'

const notAccepted = 'TikTok did not accept the event; check its name, its context and its properties'

/**
 * The indexes of the events that an answer names, by ID or by index. `undefined` unless it names each one clearly. How TikTok
 * lists them is not known for sure.
 */
function placesIn(data: unknown, sent: readonly JsonObject[]): ReadonlySet<number> | undefined {
  const list = Array.isArray(data) ? data : Object.values(objectIn(data)).find(Array.isArray)
  const places = listIn(list)
    .filter(isObject)
    .map((entry) => {
      const id = textIn(entry.event_id)
      if (id !== undefined) return sent.findIndex(({ event_id }) => event_id === id)
      return numberIn(entry.index ?? entry.event_index) ?? -1
    })
  return places.length > 0 && places.every((place) => sent[place] !== undefined) ? new Set(places) : undefined
}

const digests = ['email', 'phone', 'external_id', 'first_name', 'last_name', 'zip_code']
const identifiers = ['ttclid', 'ttp', 'ip', 'user_agent', 'idfa', 'idfv', 'gaid']
const others = ['locale', 'city', 'state', 'country', 'att_status']

/**
 * A context of either version of the Events API. The older version has the person next to `user`, and another name for the
 * phone number.
 */
function contextIn(given: JsonObject): JsonObject {
  const person: JsonObject = { ...given, ...objectIn(given.user) }
  const user = Object.fromEntries([
    ...digests.map((key) => [key, person[key]]),
    ...[...identifiers, ...others].map((key) => [key, typeof person[key] === 'string' ? person[key] : undefined]),
  ])
  user.phone = person.phone_number ?? user.phone
  const parts = ['page', 'app', 'ad', 'lead'].map((key) => [key, { ...objectIn(given[key]) }])
  return { user, ...Object.fromEntries(parts) }
}

/** Events for TikTok, sent from a server. */
export const tiktokEvents = eventDestination({
  slug: 'tiktok-events',
  name: 'TikTok Events',
  platform: tiktokAds,
  dataType: 'events',
  description: 'Reports events to TikTok from your server, through version 2 of its Events API.',
  notes:
    'Each kind of event needs its own setting: web a pixel, app an app, offline an offline event set, crm a CRM event set. The person is identified by separate columns, which are normalised and hashed, or by the object context. Web and app events that are older than 7 days are rejected before they are sent. You need the consent of the people; report opted-out people with limited_data_use. TikTok keeps one of several events with the same name and event_id.',
  tested: 'Our own test server, which follows the published documentation of TikTok’s Events API; not TikTok itself.',
  api: { version: 'v1.3 of the API for Business, Events API 2.0', ends: 'no end is announced' },
  platformApi: tiktokApi,
  auth: { header: 'access-token', secret: 'accessToken' },
  secrets: {
    accessToken: secret({
      label: 'Access token',
      description: 'Token for the Events API, created in TikTok Business Center',
      required: true,
    }),
  },
  settings: {
    pixelCode: text({ asked: true, label: 'Pixel code', description: 'Code of the pixel that web events belong to' }),
    appId: text({ asked: true, label: 'App ID', description: 'ID of the app at TikTok that app events belong to' }),
    offlineEventSetId: text({
      asked: true,
      label: 'Offline event set ID',
      description: 'ID of the offline event set that offline events belong to',
    }),
    crmEventSetId: text({
      asked: true,
      label: 'CRM event set ID',
      description: 'ID of the CRM event set that CRM events belong to',
    }),
    testEventCode: text({
      label: 'Test event code',
      description: 'Code from TikTok Events Manager; events with it are shown there as tests and do not count',
    }),
  },
  targets: {
    at: '@source',
    field: 'event_source',
    settings: {
      web: ['pixelCode', 'Pixel code'],
      app: ['appId', 'App ID'],
      offline: ['offlineEventSetId', 'Offline event set ID'],
      crm: ['crmEventSetId', 'CRM event set ID'],
    },
  },
  batch: { rowsMax: 1000, bytesMax: 4_000_000 },
  request: (events, { target, id, settings: { testEventCode } }) => ({
    path: '/event/track/',
    body: {
      event_source: target,
      event_source_id: id,
      partner_name: 'Penstock',
      ...(testEventCode === undefined ? {} : { test_event_code: String(testEventCode) }),
      data: events,
    },
  }),
  answer: {
    refuses: (answer) => [invalidParameter, partlyTaken].includes(codeOf(answer) ?? 0),
    refusal: notAccepted,
    results: (answer, sent) => {
      const places = codeOf(answer) === partlyTaken ? placesIn(objectIn(answer.json).data, sent) : undefined
      return places && sent.map((_, place) => (places.has(place) ? `${notAccepted}.` : undefined))
    },
    confirms: (answer) => codeOf(answer) === 0,
  },
  // TikTok looks at the token and the rights first and at the events last: a request without events leaves nothing behind.
  probe: { names: 'pixel, an app or an event set', credentials: 'access token', stranger: { pixelCode: 'C0' } },
  person: {
    anyOf: [...digests.slice(0, 3), ...identifiers].map((key) => `user.${key}`),
    missing: 'The row has nothing by which TikTok can find the person.',
    field: 'context',
  },
  ecapi: tiktokEcapi,
  columns: {
    event: plain('event', 'Name of the event, for example AddToCart', { required: true, synonyms: ['event_name'] }),
    event_time: time('event_time', 'When it happened, in ISO 8601 form', {
      unit: 'seconds',
      // Purchases in shops and the progress of leads are often reported weeks later.
      daysMax: { by: '@source', of: { web: 7, app: 7 } },
      synonyms: ['timestamp', 'occurred_at'],
    }),
    event_source: oneOf('@source', 'Where the event happened', {
      values: { web: 'web', app: 'app', offline: 'offline', crm: 'crm' },
      listed: ['web', 'app', 'offline', 'crm'],
      wanted: 'web, app, offline or crm',
      required: true,
    }),
    context: object('', 'Object that identifies the person by at least one value, such as ip, user_agent or ttclid', {
      shape: contextIn,
      identifies: true,
      synonyms: ['user', 'user_data'],
    }),
    properties: object(
      'properties',
      'Object with the value, the currency and the IDs of the content; some events need it',
      { synonyms: ['custom_data'] },
    ),
    event_id: eventId('event_id', 'ID by which TikTok recognises a repeated event; recommended'),
    email: digest('user.email[]', 'E-mail address', 'email'),
    phone: digest('user.phone[]', 'Phone number', 'phone-e164'),
    external_id: digest('user.external_id[]', 'Your own ID of the person', 'external-id', {
      synonyms: ['customer_id', 'user_id'],
    }),
    first_name: digest('user.first_name', 'First name', 'name-joined', { synonyms: ['given_name'] }),
    last_name: digest('user.last_name', 'Last name', 'name-joined', { synonyms: ['family_name', 'surname'] }),
    zip_code: digest('user.zip_code', 'Postal code', 'postal-code'),
    city: plain('user.city', 'City', { normalise: 'city', identifies: true }),
    state: plain('user.state', 'State or province', { normalise: 'state', identifies: true }),
    country: plain('user.country', 'Country', { normalise: 'country', identifies: true }),
    ip: plain('user.ip', 'IP address of the visitor', {
      identifies: true,
      synonyms: ['ip_address', 'client_ip', 'client_ip_address'],
    }),
    user_agent: plain('user.user_agent', 'User agent of the visitor’s browser', {
      identifies: true,
      synonyms: ['client_user_agent'],
    }),
    ttclid: plain('user.ttclid', 'Click ID from the parameter ttclid of the landing page', {
      identifies: true,
      synonyms: ['click_id', 'tiktok_click_id'],
      fromUrl: ['page_url', 'ttclid'],
    }),
    ttp: plain('user.ttp', 'Value of TikTok’s cookie _ttp', { identifies: true }),
    locale: plain('user.locale', 'Language of the visitor, for example en-US'),
    idfa: plain('user.idfa', 'Advertising ID of an iOS device', { identifies: true }),
    idfv: plain('user.idfv', 'Vendor ID of an iOS device', { identifies: true }),
    gaid: plain('user.gaid', 'Advertising ID of an Android device', { identifies: true, synonyms: ['aaid'] }),
    att_status: plain('user.att_status', 'Whether the person allowed tracking on iOS, for example AUTHORIZED'),
    page_url: plain('page.url', 'URL of the page on which it happened', { synonyms: ['url', 'event_source_url'] }),
    page_referrer: plain('page.referrer', 'URL of the page from which the visitor came', {
      synonyms: ['referrer', 'referrer_url'],
    }),
    value: decimal('properties.value', 'Value of the event', { synonyms: ['revenue', 'amount', 'price'] }),
    currency: currency('properties.currency', 'Currency of the value, as an ISO 4217 code', {
      synonyms: ['currency_code'],
    }),
    content_ids: texts('properties.content_ids', 'IDs of the products, as a JSON list or separated by commas', {
      synonyms: ['content_id', 'product_ids', 'item_ids'],
    }),
    contents: objects('properties.contents', 'JSON list of the products, each with content_id, quantity and price', {
      items: {
        id: 'content_id',
        name: 'content_name',
        price: 'price',
        quantity: 'quantity',
        brand: 'brand',
        category: 'content_category',
      },
    }),
    content_type: plain('properties.content_type', 'Kind of the content: product or product_group'),
    num_items: count('properties.num_items', 'How many products', { synonyms: ['quantity'] }),
    order_id: plain('properties.order_id', 'ID of the order', { synonyms: ['transaction_id'] }),
    shop_id: plain('properties.shop_id', 'ID of the shop'),
    query: plain('properties.query', 'What was searched for', { synonyms: ['search_string'] }),
    lead_id: plain('lead.lead_id', 'ID of the lead from a lead ad of TikTok, for CRM events'),
    lead_event_source: plain('lead.lead_event_source', 'Name of the CRM, for CRM events'),
    limited_data_use: flag('limited_data_use', 'Whether TikTok must limit the use of the event', {
      consent: limitedUse,
      synonyms: ['ldu'],
    }),
  },
})
