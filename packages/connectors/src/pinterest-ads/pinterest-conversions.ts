import { boolean, column, defineConnector, inspectBy, type Normalisation, secret, text } from '@penstock/connector'
import { pinterestAds } from './platform.ts'

const hashed = (description: string, normalise: Normalisation, synonyms: readonly string[] = []) =>
  column({ description, normalise, synonyms, hashed: ['sha256'], oneOf: 'identifier' })

/** Conversions on websites, in apps and offline, for an ad account of Pinterest. */
export const pinterestConversions = defineConnector({
  slug: 'pinterest-conversions',
  name: 'Pinterest Conversions',
  platform: pinterestAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to Pinterest, whether they happened on a website, in an app or offline.',
  actions: ['add'],
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
  check: async (context) => (await import('./check-conversions.ts')).checkConversions(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1000, bytesMax: 2_000_000 }),
      open: async (context) => (await import('./deliver-conversions.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check-conversions.ts')).assertAccount(context)),
    },
    fields: {
      adAccountId: text({
        label: 'Ad account ID',
        description: 'ID of the ad account that the conversions belong to',
        required: true,
      }),
      testMode: boolean({
        label: 'Test only',
        description: 'Whether Pinterest only validates the events and does not record them',
      }),
    },
    records: {
      event_name: column({
        description: 'Name of the event: checkout, lead, signup, page_visit, custom …',
        required: true,
        synonyms: ['event', 'event_type'],
      }),
      event_time: column({
        description: 'When it happened, in seconds since 1970',
        required: true,
        synonyms: ['timestamp', 'occurred_at'],
      }),
      action_source: column({
        description: 'Where the event happened: web, app_ios, app_android or offline',
        required: true,
      }),
      event_id: column({ description: 'ID by which Pinterest recognises a repeated event; recommended' }),
      user_data: column({
        // Not hashed as a whole: what is inside is hashed already where Pinterest wants it so, and rejected otherwise.
        description: 'Object that identifies the person by hashed values, such as em',
        oneOf: 'identifier',
      }),
      email: hashed('E-mail address', 'email'),
      maid: hashed('Advertising ID of a mobile device', 'device-id', ['madid', 'mobile_ad_id', 'idfa', 'gaid', 'aaid']),
      client_ip_address: column({
        description: 'IP address of the visitor; used together with client_user_agent',
        oneOf: 'identifier',
        synonyms: ['ip', 'ip_address', 'client_ip'],
      }),
      client_user_agent: column({ description: 'User agent of the visitor’s browser', synonyms: ['user_agent'] }),
      phone: hashed('Phone number', 'phone-digits'),
      first_name: hashed('First name', 'name-joined', ['fn', 'given_name']),
      last_name: hashed('Last name', 'name-joined', ['ln', 'family_name', 'surname']),
      gender: hashed('Gender', 'gender'),
      date_of_birth: hashed('Date of birth', 'birth-date', ['db', 'dob', 'birth_date', 'birthday']),
      city: hashed('City', 'city'),
      state: hashed('State or province', 'state'),
      zip: hashed('Postal code', 'postal-code'),
      country: hashed('Country', 'country'),
      external_id: hashed('Your own ID of the person', 'external-id'),
      click_id: column({
        description: 'Click ID from Pinterest’s cookie _epik or the parameter epik',
        synonyms: ['epik', '_epik'],
      }),
      partner_id: column({ description: 'ID of the visitor at another provider, such as RampID' }),
      event_source_url: column({
        description: 'URL of the page on which it happened',
        synonyms: ['page_url', 'url'],
      }),
      opt_out: column({ description: 'Whether the person has opted out of tracking' }),
      opt_out_type: column({ description: 'How Pinterest must limit the use of the data: LDP' }),
      custom_data: column({
        description: 'Object with the value, the currency and the products',
        synonyms: ['properties'],
      }),
      value: column({
        description: 'Value of the event, in the currency',
        synonyms: ['conversion_value', 'revenue'],
      }),
      currency: column({ description: 'Currency of the value, as an ISO 4217 code', synonyms: ['currency_code'] }),
      order_id: column({ description: 'ID of the order', synonyms: ['transaction_id'] }),
      content_ids: column({
        description: 'IDs of the products, as a JSON list or separated by commas',
        synonyms: ['item_ids', 'product_ids', 'content_id'],
      }),
      contents: column({ description: 'JSON list of the products, each with id, quantity and item_price' }),
      content_name: column({ description: 'Name of the product or page' }),
      content_category: column({ description: 'Category of the products', synonyms: ['item_category'] }),
      content_brand: column({ description: 'Brand of the products', synonyms: ['item_brand'] }),
      num_items: column({ description: 'How many products', synonyms: ['number_items'] }),
      search_string: column({ description: 'What was searched for' }),
      predicted_ltv: column({ description: 'Predicted value of the person to you over time' }),
      app_id: column({ description: 'ID of the app in its store' }),
      app_name: column({ description: 'Name of the app' }),
      app_version: column({ description: 'Version of the app' }),
      device_brand: column({ description: 'Brand of the device' }),
      device_carrier: column({ description: 'Mobile carrier of the device' }),
      device_model: column({ description: 'Model of the device' }),
      device_type: column({ description: 'Type of the device' }),
      os_version: column({ description: 'Version of the operating system of the device' }),
      language: column({ description: 'Language of the person, in two letters' }),
      wifi: column({ description: 'Whether the device was connected to a wireless network' }),
    },
  },
})
