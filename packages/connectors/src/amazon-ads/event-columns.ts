import { column, type Normalisation } from '@penstock/connector'

const hashed = (description: string, normalise: Normalisation, synonyms: readonly string[] = []) =>
  column({ description, normalise, synonyms, hashed: ['sha256'], oneOf: 'identifier' })

/** What names the person of an event, each in a column of its own. Amazon takes contact data as digests only. */
export const personColumns = {
  email: hashed('E-mail address', 'email'),
  phone: hashed('Phone number', 'phone-digits'),
  firstName: hashed('First name', 'name-ascii', ['given_name', 'fn']),
  lastName: hashed('Last name', 'name-ascii', ['family_name', 'surname', 'ln']),
  // Amazon leaves out the spaces of streets, as others do of cities only.
  address: hashed('Street address', 'name-ascii', ['street', 'street_address']),
  city: hashed('City', 'city-ascii'),
  state: hashed('State or province', 'state-ascii'),
  postalCode: hashed('Postal code', 'postal-code', ['zip', 'zip_code', 'postal']),
  maid: column({
    description: 'Advertising ID of a mobile device, not hashed',
    oneOf: 'identifier',
    synonyms: ['mobile_ad_id', 'madid', 'idfa', 'gaid', 'aaid'],
  }),
  rampId: column({ description: 'RampID of LiveRamp, not hashed', oneOf: 'identifier', synonyms: ['liveramp_id'] }),
}

/** What else is known of an event. */
export const eventColumns = {
  countryCode: column({
    description: 'Country in which the event happened; by default the country of the connection',
    normalise: 'country',
    synonyms: ['country'],
  }),
  eventName: column({ description: 'Your own name for the event; by default its type', synonyms: ['name'] }),
  unitsSold: column({ description: 'How many items were bought, for purchases', synonyms: ['quantity', 'num_items'] }),
  eventId: column({
    description: 'ID by which Amazon recognises a repeated event, even of another type; recommended',
    synonyms: ['client_dedupe_id', 'dedupe_id'],
  }),
  limitedDataUse: column({
    description: 'Whether the use of the event is limited; if so, Amazon does not process it',
    synonyms: ['ldu', 'data_processing_options'],
  }),
}
