import { text } from '@penstock/connector'
import { type ColumnOptions, count, currency, decimal, digest, eventId, flag, oneOf, plain } from '../kit/columns.ts'
import type { EventDestination } from '../kit/event-facts.ts'

/** The setting with the country of events that name none. */
export const country = text({
  label: 'Country',
  description: 'Country of events that do not have one, as a two-letter ISO 3166 code: US',
})

export const purchase = 'OFF_AMAZON_PURCHASES'
const purchases = { at: '@type', is: [purchase] }

/** The types of events that Amazon knows, and what other platforms call the same. */
const conversionTypes = {
  addtoshoppingcart: 'ADD_TO_SHOPPING_CART',
  addtocart: 'ADD_TO_SHOPPING_CART',
  application: 'APPLICATION',
  submitapplication: 'APPLICATION',
  checkout: 'CHECKOUT',
  begincheckout: 'CHECKOUT',
  initiatecheckout: 'CHECKOUT',
  startcheckout: 'CHECKOUT',
  contact: 'CONTACT',
  lead: 'LEAD',
  generatelead: 'LEAD',
  offamazonpurchases: purchase,
  purchase,
  mobileappfirststart: 'MOBILE_APP_FIRST_START',
  pageview: 'PAGE_VIEW',
  search: 'SEARCH',
  signup: 'SIGN_UP',
  completeregistration: 'SIGN_UP',
  registration: 'SIGN_UP',
  subscribe: 'SUBSCRIBE',
  subscription: 'SUBSCRIBE',
  other: 'OTHER',
}

/** The type of an event, by Amazon's name or a common one. */
export const conversionType = (description: string, synonyms: readonly string[]) =>
  oneOf('@type', description, {
    values: conversionTypes,
    lettersOnly: true,
    wanted: `one of Amazon's types: ${[...new Set(Object.values(conversionTypes))].join(', ')}`,
    required: true,
    synonyms,
  })

/** Amazon accepts two decimals. */
export const value = (description: string, synonyms: readonly string[]) =>
  decimal('value', description, { decimals: 2, synonyms })

/** Amazon accepts a currency only with purchases. */
export const currencyColumn = (description: string) =>
  currency('currencyCode', description, { only: purchases, synonyms: ['currency_code'] })

/** A column that holds an identifier of any kind. */
export const anyIdentifier = (description: string) => plain('@person', description, { identifies: true })

/** Identifiers of the person of an event, one column each. Amazon accepts contact data as digests only. */
export const personColumns = {
  email: digest('@keys.EMAIL', 'E-mail address', 'email'),
  phone: digest('@keys.PHONE', 'Phone number', 'phone-digits'),
  firstName: digest('@keys.FIRST_NAME', 'First name', 'name-ascii', { synonyms: ['given_name', 'fn'] }),
  lastName: digest('@keys.LAST_NAME', 'Last name', 'name-ascii', { synonyms: ['family_name', 'surname', 'ln'] }),
  // Amazon removes the spaces of streets. Other platforms remove only the spaces of cities.
  address: digest('@keys.ADDRESS', 'Street address', 'street-address', { synonyms: ['street', 'street_address'] }),
  city: digest('@keys.CITY', 'City', 'city-ascii'),
  state: digest('@keys.STATE', 'State or province', 'state-ascii'),
  postalCode: digest('@keys.POSTAL', 'Postal code', 'postal-code-national', {
    synonyms: ['zip', 'zip_code', 'postal'],
  }),
  maid: plain('@keys.MAID', 'Advertising ID of a mobile device, not hashed', {
    identifies: true,
    synonyms: ['mobile_ad_id', 'madid', 'idfa', 'gaid', 'aaid'],
  }),
  rampId: plain('@keys.RAMP_ID', 'RampID of LiveRamp, not hashed', { identifies: true, synonyms: ['liveramp_id'] }),
}

/** The other columns of an event. @param idAt the path of its ID */
export const eventColumns = (idAt: string) => ({
  countryCode: plain(
    'countryCode',
    'Country in which the event happened; by default the country of the connection',
    inCountry,
  ),
  eventName: plain('@name', 'Your own name for the event; by default its type', { synonyms: ['name'] }),
  unitsSold: count('unitsSold', 'How many items were bought, for purchases', {
    only: purchases,
    synonyms: ['quantity', 'num_items'],
  }),
  eventId: eventId(idAt, 'ID by which Amazon recognises a repeated event, even of another type; recommended', {
    synonyms: ['client_dedupe_id', 'dedupe_id'],
  }),
  limitedDataUse: flag('@limited', 'Whether the use of the event is limited; if so, Amazon does not process it', {
    words: { ldu: true, limited_data_use: true },
    synonyms: ['ldu', 'data_processing_options'],
  }),
})

const inCountry: ColumnOptions & { pattern: RegExp; wanted: string; upper: true } = {
  normalise: 'country',
  pattern: /^[A-Za-z]{2}$/,
  wanted: 'The country must be two letters of ISO 3166: US.',
  upper: true,
  setting: 'country',
  missing: 'The country is missing; map the column, or fill in the country of the connection.',
  synonyms: ['country'],
}

/** Events require an identifier of the person. @param field the column with an identifier of any kind */
export const personIn = (field: string): NonNullable<EventDestination['person']> => ({
  anyOf: ['@keys', '@person'],
  missing: 'The row has nothing by which Amazon can find the person.',
  field,
})
export const ofPurchases = (path: string, missing: string) => ({
  at: '@type',
  is: [purchase.toLowerCase()],
  paths: [path],
  missing,
})
