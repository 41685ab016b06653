import { column, defineConnector, inspectBy, type Normalisation, secret, text } from '@penstock/connector'
import { redditAds } from './platform.ts'

const hashed = (description: string, normalise: Normalisation, synonyms: readonly string[] = []) =>
  column({ description, normalise, synonyms, hashed: ['sha256'], oneOf: 'identifier' })

/** Conversions on websites, in apps and in shops, for a pixel of Reddit. */
export const redditConversions = defineConnector({
  slug: 'reddit-conversions',
  name: 'Reddit Conversions',
  platform: redditAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to Reddit, whether they happened on a website, in an app or in a shop.',
  actions: ['add'],
  notes:
    'A row needs a click or an identifier of the person; each more helps Reddit to find the person. Reddit takes all events of a request or none, and accepts them for processing without saying which it matched: one that it refuses is found, rejected, and the others are sent again. It counts events of one type with the same event_id once. Events older than 7 days are rejected before they are sent. The token is made in the events manager of Reddit, and does not end by a date. You need the consent of the people; limited_data_use restricts how Reddit uses an event.',
  tested: 'Our own test server, which follows what is published of Reddit’s Conversions API v3; not Reddit itself.',
  api: { version: 'v3', ends: 'No end is known.' },
  secrets: {
    conversionToken: secret({
      label: 'Conversion access token',
      description: 'Token for conversions from the events manager of Reddit',
      required: true,
    }),
  },
  check: async (context) => (await import('./check-conversions.ts')).checkConversions(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1000, bytesMax: 2_000_000 }),
      open: async (context) => (await import('./deliver-conversions.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check-conversions.ts')).assertPixel(context)),
    },
    fields: {
      pixelId: text({
        label: 'Pixel ID',
        description: 'ID of the pixel that the conversions belong to, which is that of the ad account: a2_abc',
        required: true,
      }),
    },
    records: {
      event_name: column({
        description: 'Name of the event: purchase, lead, sign_up, add_to_cart …; any other is an event of your own',
        required: true,
        synonyms: ['event', 'event_type', 'tracking_type'],
      }),
      event_time: column({
        description: 'When it happened: ISO 8601 with its zone, or seconds or milliseconds since 1970',
        required: true,
        synonyms: ['event_at', 'timestamp', 'occurred_at'],
      }),
      action_source: column({
        description: 'Kind of place in which it happened: website, app, physical_store or other',
        required: true,
      }),
      event_id: column({
        description: 'ID by which Reddit recognises a repeated event; recommended',
        synonyms: ['conversion_id'],
      }),
      click_id: column({
        description: 'Click ID that Reddit adds to the address of the landing page',
        oneOf: 'identifier',
        synonyms: ['rdt_cid', 'reddit_click_id'],
      }),
      email: hashed('E-mail address', 'email-no-dots-no-tag'),
      phone: hashed('Phone number', 'phone-e164', ['phone_number']),
      external_id: hashed('Your own ID of the person', 'text', ['customer_id', 'user_id']),
      ip_address: hashed('IP address of the visitor', 'text', ['ip', 'client_ip', 'client_ip_address']),
      idfa: hashed('Advertising ID of a device with iOS', 'text'),
      aaid: hashed('Advertising ID of a device with Android', 'text', ['gaid']),
      uuid: column({
        description: 'ID that Reddit’s pixel keeps in a cookie, _rdt_uuid',
        oneOf: 'identifier',
        synonyms: ['rdt_uuid', '_rdt_uuid'],
      }),
      user_agent: column({
        description: 'User agent of the visitor’s browser',
        synonyms: ['client_user_agent'],
      }),
      screen_width: column({ description: 'Width of the screen; goes together with screen_height' }),
      screen_height: column({ description: 'Height of the screen' }),
      event_source_url: column({
        description: 'Address of the page on which it happened',
        synonyms: ['page_url', 'url'],
      }),
      value: column({
        description: 'What it was worth, as a number such as 49.90',
        synonyms: ['conversion_value', 'revenue', 'amount'],
      }),
      currency: column({ description: 'Currency of the value, as three letters', synonyms: ['currency_code'] }),
      num_items: column({ description: 'How many items it was about', synonyms: ['item_count', 'quantity'] }),
      products: column({
        description: 'List of objects with id, name, category, quantity and item_price',
        synonyms: ['contents', 'items'],
      }),
      limited_data_use: column({
        description: 'Whether Reddit may use the event only in limits: true or false',
        synonyms: ['ldu'],
      }),
      data_processing_country: column({ description: 'Country whose law limits the use: US' }),
      data_processing_region: column({ description: 'Region whose law limits the use: US-CA' }),
    },
  },
})
