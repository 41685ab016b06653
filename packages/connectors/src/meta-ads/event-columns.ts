import { column, type Normalisation, type Records } from '@penstock/connector'

const hashed = (description: string, normalise: Normalisation, synonyms: readonly string[] = []) =>
  column({ description, normalise, synonyms, hashed: ['sha256'], oneOf: 'identifier' })
const identifier = (description: string, synonyms: readonly string[] = []) =>
  column({ description, synonyms, oneOf: 'identifier' })

/** By what Meta finds the person of an event: an object of Meta's form, or a column for each value. */
export const personColumns: Records = {
  user_data: column({
    // Not hashed as a whole: what is inside is hashed already where Meta wants it so, and rejected otherwise.
    description: 'Object that identifies the person by at least one hashed value, such as em or ph',
    oneOf: 'identifier',
    synonyms: ['user'],
  }),
  email: hashed('E-mail address', 'email'),
  phone: hashed('Phone number', 'phone-digits'),
  first_name: hashed('First name', 'name-joined', ['fn', 'given_name']),
  last_name: hashed('Last name', 'name-joined', ['ln', 'family_name', 'surname']),
  date_of_birth: hashed('Date of birth', 'birth-date', ['db', 'dob', 'birth_date', 'birthday']),
  gender: hashed('Gender', 'gender', ['ge']),
  city: hashed('City', 'city', ['ct']),
  state: hashed('State or province', 'state', ['st']),
  zip: hashed('Postal code', 'postal-code', ['zp']),
  country: hashed('Country', 'country'),
  external_id: hashed('Your own ID of the person', 'external-id', ['customer_id', 'user_id']),
  client_ip_address: identifier('IP address of the visitor', ['ip', 'ip_address', 'client_ip']),
  client_user_agent: identifier('User agent of the visitor’s browser; expected by Meta for events of websites', [
    'user_agent',
  ]),
  fbc: identifier('Click ID of Meta from its cookie _fbc', ['_fbc']),
  click_id: identifier('Parameter fbclid of the landing page, if there is no fbc', ['fbclid']),
  fbp: identifier('Browser ID of Meta from its cookie _fbp', ['_fbp']),
  madid: column({
    description: 'Advertising ID of a mobile device, not hashed',
    normalise: 'device-id',
    oneOf: 'identifier',
    synonyms: ['maid', 'mobile_ad_id', 'idfa', 'gaid', 'aaid'],
  }),
  anon_id: identifier('ID of the installation of an app', ['anonymous_id']),
  subscription_id: identifier('ID of the subscription in this transaction'),
  lead_id: identifier('ID of the lead from a lead ad of Meta'),
  fb_login_id: identifier('ID that Meta issued when the person first signed in to the app'),
  ctwa_clid: identifier('Click ID of an ad that leads to WhatsApp'),
  page_id: identifier('ID of the page that a message belongs to'),
  page_scoped_user_id: identifier('ID of the person for a page in Messenger'),
  ig_account_id: identifier('ID of the Instagram account that a message belongs to'),
  ig_sid: identifier('ID of the person for an Instagram account'),
}

/** What happened: an object of Meta's form, or a column for each value. */
export const contentColumns: Records = {
  custom_data: column({
    description: 'Object with the value, the currency and the products',
    synonyms: ['properties'],
  }),
  value: column({
    description: 'Value of the event, in the currency',
    synonyms: ['conversion_value', 'revenue'],
  }),
  currency: column({
    description: 'Currency of the value, as an ISO 4217 code',
    synonyms: ['currency_code'],
  }),
  order_id: column({ description: 'ID of the order', synonyms: ['transaction_id'] }),
  content_ids: column({
    description: 'IDs of the products, as a JSON list or separated by commas',
    synonyms: ['item_ids', 'product_ids', 'content_id'],
  }),
  contents: column({ description: 'JSON list of the products, each with id, quantity and item_price' }),
  content_name: column({ description: 'Name of the product or page' }),
  content_type: column({ description: 'What the IDs refer to: product or product_group' }),
  content_category: column({ description: 'Category of the products', synonyms: ['item_category'] }),
  num_items: column({ description: 'How many products', synonyms: ['number_items'] }),
  search_string: column({ description: 'What was searched for' }),
  predicted_ltv: column({ description: 'Predicted value of the person to you over time' }),
  net_revenue: column({ description: 'Value of the order less its costs' }),
  delivery_category: column({ description: 'How it is delivered: in_store, curbside or home_delivery' }),
}

/** What Meta is to know of the event besides, and how it may use it. */
export const circumstanceColumns: Records = {
  event_id: column({ description: 'ID by which Meta recognises a repeated event; recommended' }),
  event_source_url: column({
    description: 'URL of the page on which it happened; expected by Meta for events of websites',
    synonyms: ['page_url', 'url'],
  }),
  referrer_url: column({ description: 'URL of the previous page', synonyms: ['page_referrer', 'referrer'] }),
  messaging_channel: column({ description: 'Where messages were exchanged: messenger, instagram or whatsapp' }),
  opt_out: column({ description: 'Whether Meta uses the event for attribution only, and not to deliver ads' }),
  data_processing_options: column({
    description: 'LDU or true if Meta must limit the use of the event',
    synonyms: ['limited_data_use', 'ldu'],
  }),
  data_processing_options_country: column({
    description: 'Country for the limited use: 1 for the USA, 0 to determine it from the IP address',
  }),
  data_processing_options_state: column({
    description: 'State for the limited use: 1000 for California, 0 to determine it from the IP address',
  }),
}

/** The app of an event and its device: an object of Meta's form, or a column for each value. */
export const appColumns: Records = {
  app_data: column({ description: 'Object with information on the app and the device, including extinfo' }),
  advertiser_tracking_enabled: column({
    description: 'Whether the person allowed the advertiser to track, on iOS; no by default',
    synonyms: ['att_status'],
  }),
  application_tracking_enabled: column({
    description: 'Whether the person allowed tracking in the app; no by default',
  }),
  extinfo: column({ description: 'JSON list of the 16 values with which Meta describes a device' }),
  app_platform: column({
    description: 'Operating system of the device: ios or android',
    synonyms: ['os_name'],
  }),
  app_package_name: column({ description: 'Package name or bundle ID of the app', synonyms: ['bundle_id'] }),
  app_version: column({ description: 'Version of the app' }),
  os_version: column({ description: 'Version of the operating system of the device' }),
  device_model: column({ description: 'Model of the device' }),
  locale: column({ description: 'Language and region of the device: en_US', synonyms: ['device_locale'] }),
}
