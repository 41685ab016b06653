import { column, type RecordField } from '@penstock/connector'

const address = (description: string, form: Partial<RecordField>) =>
  column({ description, oneOf: 'identifier', together: 'address', ...form })

/** An address, by which Google finds a person as a whole. */
export const addressColumns = {
  first_name: address('First name, as part of an address', {
    normalise: 'given-name',
    hashed: ['sha256'],
    synonyms: ['fname', 'given_name', 'firstname'],
  }),
  last_name: address('Last name, as part of an address', {
    normalise: 'family-name',
    hashed: ['sha256'],
    synonyms: ['lname', 'family_name', 'lastname', 'surname'],
  }),
  // Google matches these two in the clear.
  country: address('Country or region as its code, as part of an address', { normalise: 'country' }),
  postal_code: address('Postal code, as part of an address', {
    normalise: 'text',
    synonyms: ['zip', 'zip_code', 'postcode'],
  }),
}
