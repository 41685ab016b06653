import { select, type Values } from '@penstock/connector'
import { digest, type EventColumns, plain, special } from '../kit/columns.ts'
import { type JsonObject, objectIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'

// Identifiers of a person. Paths that begin with `@contact` are for `identifiersIn`.

/** Google removes dots, and the part after a plus, from Gmail addresses before it hashes them. */
export const contactColumns = {
  email: digest('@contact.email', 'E-mail address; it is hashed before it is sent', 'email-gmail'),
  email_sha256: digest('@contact.emailDigest', 'SHA-256 of the e-mail address', 'email-gmail'),
  phone: digest('@contact.phone', 'Phone number in E.164 form; it is hashed before it is sent', 'phone-e164'),
  phone_sha256: digest('@contact.phoneDigest', 'SHA-256 of the phone number in E.164 form', 'phone-e164'),
}

const givenName = '@contact.address.givenName'
const familyName = '@contact.address.familyName'
// Google matches these two in the clear.
const regionCode = (description: string, options: { readonly together?: string } = {}) =>
  plain('@contact.address.regionCode', description, {
    ...options,
    identifies: true,
    normalise: 'country',
    pattern: /^[A-Z]{2}$/i,
    upper: true,
    leaveOut: true,
  })
const postalCode = (description: string, options: Parameters<typeof plain>[2] = {}) =>
  plain('@contact.address.postalCode', description, { ...options, identifies: true, normalise: 'text' })

/** An address, by which Google finds a person as a whole. */
export const addressColumns = {
  first_name: digest(givenName, 'First name, as part of an address', 'given-name', {
    together: 'address',
    synonyms: ['fname', 'given_name', 'firstname'],
  }),
  last_name: digest(familyName, 'Last name, as part of an address', 'family-name', {
    together: 'address',
    synonyms: ['lname', 'family_name', 'lastname', 'surname'],
  }),
  country: regionCode('Country or region as its code, as part of an address', { together: 'address' }),
  postal_code: postalCode('Postal code, as part of an address', {
    together: 'address',
    synonyms: ['zip', 'zip_code', 'postcode'],
  }),
}

/** The same in the columns of Customer Match. */
export const customerMatchColumns = {
  fname: digest(givenName, 'First name; it is hashed before it is sent', 'given-name'),
  fname_sha256: digest(givenName, 'SHA-256 of the first name', 'given-name'),
  lname: digest(familyName, 'Last name; it is hashed before it is sent', 'family-name'),
  lname_sha256: digest(familyName, 'SHA-256 of the last name', 'family-name'),
  postal_code: postalCode('Postal code, not hashed; used only together with both names and the country'),
  country_code: regionCode(
    'Country as its two-letter ISO code, not hashed; used only together with both names and the postal code',
  ),
}

/**
 * The `userIdentifiers` of a row. Empty if it has none. Google matches an address as a whole. So an incomplete address is
 * omitted if something else identifies the person, and is an error otherwise.
 */
export function identifiersIn({ '@contact': contact }: JsonObject, columns: EventColumns): Read<JsonObject[]> {
  const { email, emailDigest, phone, phoneDigest, address: given } = objectIn(contact)
  const distinct = (...values: unknown[]) => [...new Set(values.filter((value) => value !== undefined))]
  const identifiers: JsonObject[] = [
    ...distinct(email, emailDigest).map((emailAddress) => ({ emailAddress })),
    ...distinct(phone, phoneDigest).map((phoneNumber) => ({ phoneNumber })),
  ]
  if (given === undefined) return { read: identifiers }
  const parts = ['givenName', 'familyName', 'regionCode', 'postalCode']
  const address = objectIn(given)
  const missing = parts.find((part) => address[part] === undefined)
  if (missing === undefined) {
    return { read: [...identifiers, { address: Object.fromEntries(parts.map((part) => [part, address[part]])) }] }
  }
  if (identifiers.length > 0) return { read: identifiers }
  const [column = missing] = Object.entries(columns).find(([, { to }]) => to.endsWith(missing)) ?? []
  return wrong('An address needs first name, last name, postal code and a country as a code of two letters.', column)
}

// Consents.

const options = ['Granted', 'Denied', 'Unspecified']

/**
 * The consent of the people of a connection. @param form whether the field is required or has a default; `rows` is added to its
 * description
 */
export const consentFields = (form: { readonly required?: true; readonly default?: string }, rows = '') => ({
  adUserDataConsent: select({
    label: 'Ad user data consent',
    description: `Consent to send user data to Google for advertising${rows}`,
    options,
    ...form,
  }),
  adPersonalizationConsent: select({
    label: 'Ad personalization consent',
    description: `Consent to personalised ads${rows}`,
    options,
    ...form,
  }),
})

const values = options.map((option) => option.toLowerCase())

/** The consent of one person, for rows that contain it. */
export const consentColumns = {
  consent_ad_user_data: {
    ...special(
      'Whether this person agreed that the data is sent to Google for advertising; by default as set in the connection',
      {
        consent: { use: 'userData', granted: 'granted', denied: 'denied' },
        synonyms: ['ad_user_data', 'ad_user_data_consent'],
      },
    ),
    values,
  },
  consent_ad_personalization: {
    ...special('Whether this person agreed to see personalised ads; by default as set in the connection', {
      consent: { use: 'personalization', granted: 'granted', denied: 'denied' },
      synonyms: ['ad_personalization', 'ad_personalization_consent'],
    }),
    values,
  },
}

type Status = 'CONSENT_GRANTED' | 'CONSENT_DENIED' | 'CONSENT_STATUS_UNSPECIFIED'

/** A consent as the Data Manager expects it. */
type Consent = { readonly adUserData?: Status; readonly adPersonalization?: Status }

const statuses: Readonly<Record<string, Status>> = {
  granted: 'CONSENT_GRANTED',
  denied: 'CONSENT_DENIED',
  unspecified: 'CONSENT_STATUS_UNSPECIFIED',
}
const statusOf = (value: unknown): Status => statuses[String(value).toLowerCase()] ?? 'CONSENT_STATUS_UNSPECIFIED'

/** The consent of a whole request without its unspecified parts. `undefined` if nothing is specified. */
export function consentOfSettings({ adUserDataConsent, adPersonalizationConsent }: Values): Consent | undefined {
  const specified = Object.entries({
    adUserData: statusOf(adUserDataConsent),
    adPersonalization: statusOf(adPersonalizationConsent),
  }).filter(([, status]) => status !== 'CONSENT_STATUS_UNSPECIFIED')
  return specified.length > 0 ? Object.fromEntries(specified) : undefined
}

/**
 * The consent of one member, which replaces the consent of the request. `undefined` if the row contains none. If only one of
 * the columns has a value, the connection's settings provide the other.
 */
export function consentOfRow(row: BatchRow, settings: Values): Consent | undefined {
  const userData = row.text('consent_ad_user_data')
  const personalization = row.text('consent_ad_personalization')
  if (userData === undefined && personalization === undefined) return undefined
  return {
    adUserData: statusOf(userData ?? settings.adUserDataConsent),
    adPersonalization: statusOf(personalization ?? settings.adPersonalizationConsent),
  }
}
