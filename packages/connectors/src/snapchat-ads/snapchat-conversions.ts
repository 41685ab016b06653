import { column, defineConnector, inspectBy, type Normalisation, text } from '@penstock/connector'
import { authorization } from './authorization.ts'
import { snapchatAds } from './platform.ts'
import { signIn } from './sign-in.ts'

const hashed = (description: string, normalise: Normalisation, synonyms: readonly string[] = []) =>
  column({ description, normalise, synonyms, hashed: ['sha256'], oneOf: 'identifier' })

/** Conversions on websites, in apps and offline, for Snapchat. */
export const snapchatConversions = defineConnector({
  slug: 'snapchat-conversions',
  name: 'Snapchat Conversions',
  platform: snapchatAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to Snapchat, whether they happened on a website, in an app or offline.',
  actions: ['add'],
  notes:
    'Each person needs an e-mail address, a phone number, the advertising ID of a device, or an IP address together with a user agent; other values only add to these. Web and offline events belong to a pixel, app events to a Snap App ID; the member of the organization who granted access needs a role on it. Events older than 37 days are rejected before they are sent; send them within an hour for the best results. You need the consent of the people; report opted-out people with limited_data_use. Snapchat keeps one of several events with the same name and event_id within 48 hours.',
  tested:
    'Our own test server, which follows the published documentation of Snapchat’s Conversions API and its Business SDK; not Snapchat itself.',
  api: { version: 'Conversions API v3', ends: 'no end is announced; version 2 is retired' },
  secrets: signIn,
  authorization,
  check: async (context) => (await import('./check-conversions.ts')).checkConversions(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 2000, bytesMax: 2_000_000 }),
      open: async (context) => (await import('./deliver-conversions.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check-conversions.ts')).inspectAssets(context)),
    },
    fields: {
      pixelId: text({ label: 'Pixel ID', description: 'ID of the Snap Pixel that web and offline events belong to' }),
      snapAppId: text({ label: 'Snap App ID', description: 'ID of the app at Snapchat that app events belong to' }),
      appId: text({
        label: 'App ID',
        description: 'Number of the app in the App Store, or its package name at Google Play, for events without one',
      }),
      testEventCode: text({
        label: 'Test event code',
        description: 'Code from Snapchat Events Manager; events with it are shown there as tests',
      }),
    },
    records: {
      event_name: column({ description: 'Name of the event', required: true, synonyms: ['event', 'event_type'] }),
      event_time: column({
        description: 'When it happened, in seconds since 1970',
        required: true,
        synonyms: ['timestamp', 'occurred_at'],
      }),
      action_source: column({
        description: 'Where the event happened, for example WEB or MOBILE_APP',
        required: true,
        synonyms: ['event_conversion_type'],
      }),
      user_data: column({
        // Not hashed as a whole: what is inside is hashed already where Snapchat wants it so, and rejected otherwise.
        description:
          'Object that identifies the person: by em, by ph, by madid, or by client_ip_address and client_user_agent together',
        oneOf: 'identifier',
      }),
      conversion_value: column({
        description: 'Value of the conversion, in the currency',
        required: true,
        synonyms: ['value', 'price', 'revenue', 'amount'],
      }),
      currency: column({
        description: 'Currency of the value, as an ISO 4217 code',
        required: true,
        synonyms: ['currency_code'],
      }),
      email: hashed('E-mail address', 'email'),
      phone: hashed('Phone number', 'phone-digits'),
      first_name: hashed('First name', 'name-joined', ['fn', 'given_name']),
      last_name: hashed('Last name', 'name-joined', ['ln', 'family_name', 'surname']),
      gender: hashed('Gender', 'gender'),
      city: hashed('City', 'city'),
      state: hashed('State or province', 'state'),
      zip: hashed('Postal code', 'postal-code'),
      country: hashed('Country', 'country'),
      external_id: hashed('Your own ID of the person', 'external-id', ['customer_id', 'user_id']),
      madid: column({
        description: 'Advertising ID of a mobile device, not hashed',
        normalise: 'device-id',
        oneOf: 'identifier',
        synonyms: ['maid', 'mobile_ad_id', 'idfa', 'gaid', 'aaid'],
      }),
      client_ip_address: column({
        description: 'IP address of the visitor; used together with client_user_agent',
        oneOf: 'identifier',
        synonyms: ['ip', 'ip_address', 'client_ip'],
      }),
      client_user_agent: column({ description: 'User agent of the visitor’s browser', synonyms: ['user_agent'] }),
      sc_click_id: column({
        description: 'Click ID from the parameter ScCid of the landing page',
        synonyms: ['click_id', 'sccid'],
      }),
      sc_cookie1: column({ description: 'Value of Snapchat’s cookie _scid', synonyms: ['uuid_c1', 'scid'] }),
      idfv: column({ description: 'Vendor ID of an iOS device' }),
      lead_id: column({ description: 'ID of the lead from a lead ad of Snapchat' }),
      subscription_id: column({ description: 'ID of the subscription in this transaction' }),
      event_id: column({
        description: 'ID by which Snapchat recognises a repeated event; recommended',
        synonyms: ['client_dedup_id'],
      }),
      event_source_url: column({
        description: 'URL of the page on which it happened',
        synonyms: ['page_url', 'url'],
      }),
      order_id: column({ description: 'ID of the order', synonyms: ['transaction_id'] }),
      content_ids: column({
        description: 'IDs of the products, as a JSON list or separated by commas',
        synonyms: ['item_ids', 'product_ids', 'content_id'],
      }),
      contents: column({ description: 'JSON list of the products, each with id, quantity and item_price' }),
      content_category: column({ description: 'Category of the products', synonyms: ['item_category'] }),
      num_items: column({ description: 'How many products', synonyms: ['number_items', 'quantity'] }),
      search_string: column({ description: 'What was searched for' }),
      sign_up_method: column({ description: 'How the person signed up' }),
      custom_data: column({ description: 'Object with further information on the event', synonyms: ['properties'] }),
      app_data: column({ description: 'Object with information on the app and the device, including extinfo' }),
      app_id: column({ description: 'Number of the app in the App Store, or its package name at Google Play' }),
      advertiser_tracking_enabled: column({
        description: 'Whether the person allowed the advertiser to track, on iOS',
        synonyms: ['att_status'],
      }),
      application_tracking_enabled: column({ description: 'Whether the person allowed tracking in the app' }),
      os_version: column({ description: 'Version of the operating system of the device' }),
      device_model: column({ description: 'Model of the device' }),
      limited_data_use: column({
        description: 'Whether Snapchat must limit the use of the event',
        synonyms: ['ldu', 'data_processing_options'],
      }),
      data_processing_options_country: column({
        description: 'Country for the limited use: 1 for the USA, 0 to determine it from the IP address',
      }),
      data_processing_options_state: column({
        description: 'State for the limited use: 1000 for California, 0 to determine it from the IP address',
      }),
    },
  },
})
