import { secret, select, text } from '@penstock/connector'
import { idSetting, restApi } from '../kit/api.ts'
import { decimal, digest, eventId, flag, object, objects, oneOf, plain, texts, time } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import type { Answer } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { yahooEcapi } from './ecapi.ts'
import { yahooDsp } from './platform.ts'

/** Places in which an event can happen, and the name of each at Yahoo. */
const actionSources = {
  web: 'web',
  website: 'web',
  online: 'web',
  app: 'app',
  mobile_app: 'app',
  phone: 'phone',
  phone_call: 'phone',
  email: 'email',
  physical_store: 'physical_store',
  offline: 'physical_store',
}
/** The servers that take events, by the mode of the connection. */
const servers: Readonly<Record<string, string>> = {
  Batch: 'https://batch.datax.yahoo.com/v1',
  Streaming: 'https://streaming.datax.yahoo.com/v1',
}
const successOf = ({ status, json }: Answer): string =>
  status < 300 ? (textIn(objectIn(json).success) ?? '').toUpperCase() : ''

/** Conversions for a pixel of Yahoo. */
export const yahooDspConversions = eventDestination({
  slug: 'yahoo-dsp-conversions',
  name: 'Yahoo DSP Conversions',
  platform: yahooDsp,
  dataType: 'Conversions',
  description: 'Reports conversions to a pixel of Yahoo, whether they happened on a website, in an app or offline.',
  notes:
    'Create a pixel in the Yahoo DSP for the conversions, and do not use the one of a website. Each person needs an e-mail address, a phone number, the advertising ID of a device, Yahoo’s ID of the person (pxid), or Yahoo’s ID of the click. Yahoo processes events of the mode Streaming several times a day, and those of the mode Batch once. Prices are US dollars unless you have agreed otherwise with Yahoo. Yahoo recognises a repeated event by its event ID. If it takes a part of a request, the connector sends smaller ones with the same event IDs, until it knows which rows Yahoo does not accept. You need the consent of the people; report those who opted out with privacy.optOut.',
  tested:
    'Our own test server, which follows excerpts of Yahoo’s documentation of its Conversion API; not Yahoo itself.',
  api: { version: 'Conversion API v1 (POST /v1/events)', ends: 'no end is announced' },
  platformApi: ({ settings }) =>
    restApi({
      name: 'Yahoo',
      baseUrl: servers[String(settings.mode)] ?? (servers.Batch as string),
      errors: {
        statuses: {
          400: 'invalid_batch',
          401: ['expired_credentials', 'Check the client ID and the client secret.'],
          403: ['permission_denied', 'Ask Yahoo to allow the client to send events to the pixel.'],
          404: ['object_not_found', 'Check the pixel ID.'],
        },
      },
    }),
  auth: { open: async (context) => (await import('./tokens.ts')).openConversionTokens(context) },
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of the client that Yahoo gave you',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that Yahoo gave you with the client ID',
      required: true,
    }),
  },
  settings: {
    pixelId: idSetting({
      label: 'Pixel ID',
      description: 'ID of the pixel, which Yahoo calls yp',
      required: true,
      pattern: /^\d{1,15}$/,
      example: '10012345',
    }),
    mode: select({
      label: 'Mode',
      description: 'Process conversions several times a day (Streaming) or once a day (Batch)',
      options: ['Streaming', 'Batch'],
      required: true,
    }),
  },
  batch: { rowsMax: 500, bytesMax: 1_000_000 },
  request: (events, { settings }) => ({ path: `/events/${String(settings.pixelId).trim()}`, body: events }),
  answer: {
    // Events can be sent again, because Yahoo recognises them by their IDs.
    refuses: (answer) => answer.status === 400 || successOf(answer) === 'PARTIAL',
    refusal: 'Yahoo does not accept the event; check the person, the time and the kind of place',
    confirms: (answer) => successOf(answer) === 'COMPLETE',
  },
  // Of a request without events, there is nothing to record.
  probe: {
    names: 'pixel',
    credentials: 'client ID and the client secret',
    exchanges: true,
    mayBeRefused: true,
  },
  ecapi: yahooEcapi,
  columns: {
    eventTs: time('eventTs', 'When it happened: ISO 8601 with its zone, or seconds or milliseconds since 1970', {
      unit: 'seconds',
      synonyms: ['event_time', 'timestamp', 'occurred_at'],
    }),
    eventName: plain('eventName', 'Name of the event, used in the rules of the DSP', {
      required: true,
      synonyms: ['event_name', 'event', 'event_type'],
    }),
    actionSource: oneOf('actionSource', 'Where the event happened: web, app, phone, email or physical_store', {
      values: actionSources,
      wanted: 'web, app, phone, email or physical_store',
      required: true,
      synonyms: ['action_source'],
    }),
    // Not hashed as a whole: e-mail addresses and phone numbers in it must be digests.
    userData: object(
      'userData',
      'Object that identifies the person by email, phone, gpsaid, idfa or pxid; the first two hashed with SHA-256',
      { oneOf: 'identifier' },
    ),
    email: digest('userData.email[]', 'E-mail address', 'email'),
    phone: digest('userData.phone[]', 'Phone number', 'phone-e164', { synonyms: ['phone_number'] }),
    gpsaid: plain('userData.gpsaid[]', 'Advertising ID of a device with Android, not hashed', {
      identifies: true,
      normalise: 'device-id',
      synonyms: ['gaid', 'aaid'],
    }),
    idfa: plain('userData.idfa[]', 'Advertising ID of a device with iOS, not hashed', {
      identifies: true,
      normalise: 'device-id-upper',
    }),
    pxid: plain('userData.pxid[]', 'Yahoo’s ID of the person', { identifies: true }),
    ip_address: plain('userData.ip_address', 'IP address of the visitor', {
      synonyms: ['ip', 'client_ip', 'client_ip_address'],
    }),
    user_agent: plain('userData.userAgent', 'User agent of the visitor’s browser', {
      synonyms: ['client_user_agent'],
    }),
    'clickData.vmcid': plain('clickData.vmcid', 'Yahoo’s ID of the click, for a person without another identifier', {
      identifies: true,
      synonyms: ['vmcid', 'click_id'],
    }),
    event_id: eventId('eventId', 'ID by which Yahoo recognises a repeated event; recommended', {
      synonyms: ['eventId'],
    }),
    event_source_url: plain('actionSourceUrl', 'Address of the page on which it happened', {
      synonyms: ['page_url', 'url'],
    }),
    country: plain('country', 'Country as its two-letter ISO code', {
      pattern: /^[A-Za-z]{2}$/,
      wanted: 'The country must be a two-letter code.',
      upper: true,
    }),
    region: plain('region', 'State or region of the person'),
    'eventData.price': decimal('eventData.price', 'Value of the conversion, in US dollars unless agreed otherwise', {
      synonyms: ['value', 'price', 'revenue', 'amount'],
    }),
    'eventData.products[].category': texts(
      '@categories',
      'Category of each product, used by the category rule for event types',
      { synonyms: ['categories', 'content_category'] },
    ),
    products: objects('eventData.products', 'JSON list of the products, each with category and subCategory', {
      keys: { category: 'text', subCategory: ['text', 'sub_category'] },
      items: { category: 'category' },
    }),
    custom_key_values: object('eventData.customKeyValues', 'Object with further values that are agreed with Yahoo', {
      as: 'texts',
      synonyms: ['custom_data', 'properties'],
    }),
    'privacy.optOut': flag('@optOut', 'Whether the event is excluded from optimisation', {
      synonyms: ['opt_out', 'optOut'],
    }),
  },
  puts: [{ at: '@optOut', is: [true], what: { 'privacy.privacy_type': 'OPTOUT' } }],
  finish: (event) => {
    const { products, ...data } = objectIn(event.eventData)
    const categories = listIn(event['@categories']).map((category) => ({ category }))
    if (products !== undefined || categories.length === 0) return { read: event }
    return { read: { ...event, eventData: { ...data, products: categories } } }
  },
})
