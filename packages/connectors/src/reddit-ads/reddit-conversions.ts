import { secret, text } from '@penstock/connector'
import { bearer, idSetting, restApi } from '../kit/api.ts'
import {
  count,
  currency,
  decimal,
  digest,
  eventId,
  flag,
  limitedUse,
  objects,
  oneOf,
  plain,
  time,
} from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { isObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { isUnreadableJson, redditApi } from './api.ts'
import { redditEcapi } from './ecapi.ts'
import { redditAds } from './platform.ts'

/** The events that Reddit defines. Any other event is a custom event. */
const trackingTypes = {
  pagevisit: 'PAGE_VISIT',
  viewcontent: 'VIEW_CONTENT',
  search: 'SEARCH',
  addtocart: 'ADD_TO_CART',
  addtowishlist: 'ADD_TO_WISHLIST',
  lead: 'LEAD',
  purchase: 'PURCHASE',
  signup: 'SIGN_UP',
}
/** Reddit has four kinds of places. Names of other platforms are mapped to these. */
const actionSources = {
  website: 'WEBSITE',
  web: 'WEBSITE',
  app: 'APP',
  mobile_app: 'APP',
  app_ios: 'APP',
  app_android: 'APP',
  physical_store: 'PHYSICAL_STORE',
  offline: 'PHYSICAL_STORE',
  other: 'OTHER',
}
const limited = { at: '@limited', is: [true] }
const options = 'user.data_processing_options'

const api = restApi({
  ...redditApi,
  errors: {
    statuses: {
      ...redditApi.errors?.statuses,
      401: [
        'invalid_credentials',
        'Make a new conversion access token in its events manager and save it in the connector.',
      ],
      403: ['permission_denied', 'The conversion access token must be one of the account that the pixel belongs to.'],
      404: ['object_not_found', 'Check the pixel ID.'],
    },
    special: isUnreadableJson,
  },
})

/** Conversions on websites, in apps and in shops, for a pixel of Reddit. */
export const redditConversions = eventDestination({
  slug: 'reddit-conversions',
  name: 'Reddit Conversions',
  platform: redditAds,
  dataType: 'Conversions',
  description: 'Reports conversions to Reddit, whether they happened on a website, in an app or in a shop.',
  notes:
    'A row needs a click or an identifier of the person; each more helps Reddit to find the person. Reddit takes all events of a request or none, and accepts them for processing without saying which it matched: one that it refuses is found, rejected, and the others are sent again. It counts events of one type with the same event_id once. Events older than 7 days are rejected before they are sent. The token is made in the events manager of Reddit, and does not end by a date. You need the consent of the people; limited_data_use restricts how Reddit uses an event.',
  tested: 'Our own test server, which follows what is published of Reddit’s Conversions API v3; not Reddit itself.',
  api: { version: 'v3', ends: 'No end is known.' },
  platformApi: api,
  auth: bearer('conversionToken'),
  secrets: {
    conversionToken: secret({
      label: 'Conversion access token',
      description: 'Token for conversions from the events manager of Reddit',
      required: true,
    }),
  },
  settings: {
    pixelId: idSetting({
      label: 'Pixel ID',
      description: 'ID of the pixel that the conversions belong to, the same as the ID of the ad account: a2_abc',
      required: true,
      pattern: /^[A-Za-z0-9_]{1,64}$/,
      example: 'a2_abc',
    }),
    testId: text({
      label: 'Test ID',
      description: 'ID from the event testing of Reddit; events with it are shown there as tests',
    }),
  },
  batch: { rowsMax: 1000, bytesMax: 2_000_000 },
  request: (events, { settings }) => ({
    path: `/pixels/${String(settings.pixelId).trim()}/conversion_events`,
    body: {
      data: {
        partner: 'PENSTOCK',
        ...(settings.testId !== undefined && { test_id: String(settings.testId).trim() }),
        events,
      },
    },
  }),
  answer: {
    refuses: ({ status, json }) =>
      status < 400 && isObject(json) && (json.success === false || listIn(json.invalid_events).length > 0),
    refusal: 'Reddit does not take the event',
    confirms: ({ json }, sent) => {
      const message = textIn(objectIn(objectIn(json).data).message)
      const counted = /\bprocessed (\d{1,9}) conversion events?\b/i.exec(message ?? '')?.[1]
      return message !== undefined && (counted === undefined || Number(counted) === sent)
    },
  },
  // Of a request without events, Reddit records nothing: it refuses it once it knows the token and the pixel.
  probe: { names: 'pixel', credentials: 'conversion access token', stranger: { pixelId: 'a2_0' } },
  ecapi: redditEcapi,
  columns: {
    event_name: oneOf(
      'type.tracking_type',
      'Name of the event: purchase, lead, sign_up, add_to_cart …; any other is an event of your own',
      {
        values: trackingTypes,
        lettersOnly: true,
        wanted: 'the name of an event',
        otherwise: { to: 'type.custom_event_name', value: 'CUSTOM' },
        required: true,
        synonyms: ['event', 'event_type', 'tracking_type'],
      },
    ),
    event_time: time('event_at', 'When it happened: ISO 8601 with its zone, or seconds or milliseconds since 1970', {
      unit: 'milliseconds',
      daysMax: 7,
      synonyms: ['event_at', 'timestamp', 'occurred_at'],
    }),
    action_source: oneOf('action_source', 'Kind of place in which it happened: website, app, physical_store or other', {
      values: actionSources,
      wanted: 'website, app, physical_store or other',
      required: true,
    }),
    event_id: eventId('metadata.conversion_id', 'ID by which Reddit recognises a repeated event; recommended', {
      synonyms: ['conversion_id'],
    }),
    click_id: plain('click_id', 'Click ID that Reddit adds to the address of the landing page', {
      identifies: true,
      synonyms: ['rdt_cid', 'reddit_click_id'],
      fromUrl: ['event_source_url', 'rdt_cid'],
    }),
    email: digest('user.email', 'E-mail address', 'email-alphanumeric'),
    phone: digest('user.phone_number', 'Phone number', 'phone-e164', { synonyms: ['phone_number'] }),
    external_id: digest('user.external_id', 'Your own ID of the person', 'text', {
      synonyms: ['customer_id', 'user_id'],
    }),
    ip_address: digest('user.ip_address', 'IP address of the visitor', 'text', {
      synonyms: ['ip', 'client_ip', 'client_ip_address'],
    }),
    idfa: digest('user.idfa', 'Advertising ID of a device with iOS, in upper case before hashing', 'device-id-upper'),
    aaid: digest('user.aaid', 'Advertising ID of a device with Android, in lower case before hashing', 'device-id', {
      synonyms: ['gaid'],
    }),
    uuid: plain('user.uuid', 'ID that Reddit’s pixel keeps in a cookie, _rdt_uuid', {
      identifies: true,
      synonyms: ['rdt_uuid', '_rdt_uuid'],
    }),
    user_agent: plain('user.user_agent', 'User agent of the visitor’s browser', { synonyms: ['client_user_agent'] }),
    screen_width: count('user.screen_dimensions.width', 'Width of the screen; goes together with screen_height', {
      with: 'screen_height',
    }),
    screen_height: count('user.screen_dimensions.height', 'Height of the screen', { with: 'screen_width' }),
    event_source_url: plain('event_source_url', 'Address of the page on which it happened', {
      only: { at: 'action_source', is: ['WEBSITE'] },
      synonyms: ['page_url', 'url'],
    }),
    value: decimal('metadata.value', 'What it was worth, as a number such as 49.90', {
      synonyms: ['conversion_value', 'revenue', 'amount'],
    }),
    currency: currency('metadata.currency', 'Currency of the value, as three letters', { synonyms: ['currency_code'] }),
    num_items: count('metadata.item_count', 'How many items it was about', { synonyms: ['item_count', 'quantity'] }),
    products: objects('metadata.products', 'List of objects with id, name, category, quantity and item_price', {
      keys: { id: 'text', name: 'text', category: 'text', quantity: 'whole', item_price: ['number', 'price'] },
      items: { id: 'id', name: 'name', price: 'item_price', quantity: 'quantity', category: 'category' },
      synonyms: ['contents', 'items'],
    }),
    limited_data_use: flag('@limited', 'Whether Reddit may use the event only in limits: true or false', {
      consent: limitedUse,
      synonyms: ['ldu'],
    }),
    data_processing_country: plain(`${options}.country`, 'Country whose law limits the use: US', { only: limited }),
    data_processing_region: plain(`${options}.region`, 'Region whose law limits the use: US-CA', { only: limited }),
  },
  puts: [{ at: '@limited', is: [true], what: { [`${options}.modes`]: ['LDU'] } }],
})
