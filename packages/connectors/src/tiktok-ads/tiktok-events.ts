import { column, defineConnector, type Normalisation, secret, text } from '@penstock/connector'
import { tiktokAds } from './platform.ts'

const hashed = (description: string, normalise: Normalisation, synonyms: readonly string[] = []) =>
  column({ description, normalise, synonyms, hashed: ['sha256'], oneOf: 'identifier' })

/** Events for TikTok, sent from a server. */
export const tiktokEvents = defineConnector({
  slug: 'tiktok-events',
  name: 'TikTok Events',
  platform: tiktokAds,
  dataType: 'events',
  dataTypeCategory: 'events',
  description: 'Reports events to TikTok from your server, through version 2 of its Events API.',
  actions: ['add'],
  notes:
    'Each kind of event needs its own setting: web a pixel, app an app, offline an offline event set, crm a CRM event set. The person is identified by separate columns, which are normalised and hashed, or by the object context. Web and app events that are older than 7 days are rejected before they are sent. You need the consent of the people; report opted-out people with limited_data_use. TikTok keeps one of several events with the same name and event_id.',
  tested: 'Our own test server, which follows the published documentation of TikTok’s Events API; not TikTok itself.',
  api: { version: 'v1.3 of the API for Business, Events API 2.0', ends: 'no end is announced' },
  secrets: {
    accessToken: secret({
      label: 'Access token',
      description: 'Token for the Events API, created in TikTok Business Center',
      required: true,
    }),
  },
  check: async (context) => (await import('./check-events.ts')).checkEvents(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1000, bytesMax: 4_000_000 }),
      open: async (context) => (await import('./deliver-events.ts')).open(context),
    },
    fields: {
      pixelCode: text({ label: 'Pixel code', description: 'Code of the pixel that web events belong to' }),
      appId: text({ label: 'App ID', description: 'ID of the app at TikTok that app events belong to' }),
      offlineEventSetId: text({
        label: 'Offline event set ID',
        description: 'ID of the offline event set that offline events belong to',
      }),
      crmEventSetId: text({
        label: 'CRM event set ID',
        description: 'ID of the CRM event set that CRM events belong to',
      }),
      testEventCode: text({
        label: 'Test event code',
        description: 'Code from TikTok Events Manager; events with it are shown there as tests and do not count',
      }),
    },
    records: {
      event: column({
        description: 'Name of the event, for example AddToCart',
        required: true,
        synonyms: ['event_name'],
      }),
      event_time: column({
        description: 'When it happened, in ISO 8601 form',
        required: true,
        synonyms: ['timestamp', 'occurred_at'],
      }),
      event_source: column({
        description: 'Where the event happened',
        required: true,
        values: ['web', 'app', 'offline', 'crm'],
      }),
      context: column({
        description: 'Object that identifies the person by at least one value, such as ip, user_agent or ttclid',
        oneOf: 'identifier',
        synonyms: ['user', 'user_data'],
      }),
      properties: column({
        description: 'Object with the value, the currency and the IDs of the content; some events need it',
        synonyms: ['custom_data'],
      }),
      event_id: column({ description: 'ID by which TikTok recognises a repeated event; recommended' }),
      email: hashed('E-mail address', 'email'),
      phone: hashed('Phone number', 'phone-e164'),
      external_id: hashed('Your own ID of the person', 'external-id', ['customer_id', 'user_id']),
      first_name: hashed('First name', 'name-joined', ['given_name']),
      last_name: hashed('Last name', 'name-joined', ['family_name', 'surname']),
      zip_code: hashed('Postal code', 'postal-code'),
      city: column({ description: 'City', normalise: 'city', oneOf: 'identifier' }),
      state: column({ description: 'State or province', normalise: 'state', oneOf: 'identifier' }),
      country: column({ description: 'Country', normalise: 'country', oneOf: 'identifier' }),
      ip: column({
        description: 'IP address of the visitor',
        oneOf: 'identifier',
        synonyms: ['ip_address', 'client_ip', 'client_ip_address'],
      }),
      user_agent: column({
        description: 'User agent of the visitor’s browser',
        oneOf: 'identifier',
        synonyms: ['client_user_agent'],
      }),
      ttclid: column({
        description: 'Click ID from the parameter ttclid of the landing page',
        oneOf: 'identifier',
        synonyms: ['click_id', 'tiktok_click_id'],
      }),
      ttp: column({ description: 'Value of TikTok’s cookie _ttp', oneOf: 'identifier' }),
      locale: column({ description: 'Language of the visitor, for example en-US' }),
      idfa: column({ description: 'Advertising ID of an iOS device', oneOf: 'identifier' }),
      idfv: column({ description: 'Vendor ID of an iOS device', oneOf: 'identifier' }),
      gaid: column({ description: 'Advertising ID of an Android device', oneOf: 'identifier', synonyms: ['aaid'] }),
      att_status: column({ description: 'Whether the person allowed tracking on iOS, for example AUTHORIZED' }),
      page_url: column({
        description: 'URL of the page on which it happened',
        synonyms: ['url', 'event_source_url'],
      }),
      page_referrer: column({
        description: 'URL of the page from which the visitor came',
        synonyms: ['referrer', 'referrer_url'],
      }),
      value: column({ description: 'Value of the event', synonyms: ['revenue', 'amount', 'price'] }),
      currency: column({ description: 'Currency of the value, as an ISO 4217 code', synonyms: ['currency_code'] }),
      content_ids: column({
        description: 'IDs of the products, as a JSON list or separated by commas',
        synonyms: ['content_id', 'product_ids', 'item_ids'],
      }),
      contents: column({ description: 'JSON list of the products, each with content_id, quantity and price' }),
      content_type: column({ description: 'Kind of the content: product or product_group' }),
      num_items: column({ description: 'How many products', synonyms: ['quantity'] }),
      order_id: column({ description: 'ID of the order', synonyms: ['transaction_id'] }),
      shop_id: column({ description: 'ID of the shop' }),
      query: column({ description: 'What was searched for', synonyms: ['search_string'] }),
      lead_id: column({ description: 'ID of the lead from a lead ad of TikTok, for CRM events' }),
      lead_event_source: column({ description: 'Name of the CRM, for CRM events' }),
      limited_data_use: column({
        description: 'Whether TikTok must limit the use of the event',
        synonyms: ['ldu'],
      }),
    },
  },
})
