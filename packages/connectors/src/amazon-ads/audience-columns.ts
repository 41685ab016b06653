import { createHash } from 'node:crypto'
import type { Values } from '@penstock/connector'
import { segmentColumns } from '../kit/audience-destination.ts'
import { asWritten, digest, oneOf, plain } from '../kit/columns.ts'
import { type JsonObject, objectIn, textIn } from '../platform-api/json.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { consentOptions } from './consent.ts'
import { regionOf } from './region.ts'

/** The names by which one of Amazon's APIs calls contact data. */
type ContactKeys = Readonly<
  Record<'email' | 'phone' | 'firstName' | 'lastName' | 'address' | 'city' | 'state' | 'postalCode', string>
>

/**
 * The columns that say which audience a row is about, who the person is by contact data, and what the person consented to.
 * @param keys the names of contact data in the API
 */
export const memberColumns = (keys: ContactKeys) => ({
  ...segmentColumns,
  email_sha256: digest(`@pii.${keys.email}`, 'SHA-256 of the e-mail address', 'email-no-signs', {
    synonyms: ['email'],
  }),
  phone_sha256: digest(
    `@pii.${keys.phone}`,
    'SHA-256 of the phone number in E.164 form, without the plus sign',
    'phone-digits',
    { synonyms: ['phone'] },
  ),
  fname_sha256: digest(`@pii.${keys.firstName}`, 'SHA-256 of the first name', 'name-ascii', {
    synonyms: ['first_name', 'given_name'],
  }),
  lname_sha256: digest(`@pii.${keys.lastName}`, 'SHA-256 of the last name', 'name-ascii', {
    synonyms: ['last_name', 'family_name'],
  }),
  address_sha256: digest(`@pii.${keys.address}`, 'SHA-256 of the street address', 'street-address', {
    synonyms: ['address', 'street_address'],
  }),
  city_sha256: digest(`@pii.${keys.city}`, 'SHA-256 of the city', 'city-ascii', { synonyms: ['city'] }),
  state_sha256: digest(`@pii.${keys.state}`, 'SHA-256 of the state’s two letters', 'state-ascii', {
    synonyms: ['state'],
  }),
  zip_sha256: digest(`@pii.${keys.postalCode}`, 'SHA-256 of the postal code', 'postal-code-national', {
    synonyms: ['zip', 'postal_code'],
  }),
  external_user_id: plain(
    '@externalUserId',
    'Your own ID of the person; without one, an ID is made of the e-mail address, else of the phone number or another identifier, else of all that the row has',
    {
      pattern: /^[0-9A-Za-z_-]{1,128}$/,
      wanted: 'The ID of a person has at most 128 letters, digits, hyphens and underscores.',
    },
  ),
  country_code: plain(
    '@country',
    'Country in which the data was collected, as two letters of ISO 3166; by default the country of the connection',
    {
      normalise: 'country',
      pattern: /^[A-Za-z]{2}$/,
      wanted: 'The country must be two letters of ISO 3166: US.',
      upper: true,
      setting: 'country',
      missing: 'The country is missing; map the column, or fill in the country of the connection.',
      synonyms: ['country'],
    },
  ),
  consentAdStorage: oneOf(
    '@consent.amznAdStorage',
    'Whether the person agreed that data is stored for advertising; by default as the connection says',
    {
      values: asWritten(...consentOptions),
      wanted: consentOptions.join(', '),
      consent: { use: 'adStorage', granted: 'GRANTED', denied: 'DENIED' },
      synonyms: ['amzn_ad_storage'],
    },
  ),
  consentUserData: oneOf(
    '@consent.amznUserData',
    'Whether the person agreed that data is used for advertising; by default as the connection says',
    {
      values: asWritten(...consentOptions),
      wanted: consentOptions.join(', '),
      consent: { use: 'userData', granted: 'GRANTED', denied: 'DENIED' },
      synonyms: ['amzn_user_data'],
    },
  ),
  tcf: plain(
    '@tcf',
    'Consent string of the Transparency and Consent Framework, which replaces the two other consents',
    {
      synonyms: ['consent_tcf'],
    },
  ),
  gpp: plain('@gpp', 'Consent string of the Global Privacy Platform, which replaces the two other consents', {
    synonyms: ['consent_gpp'],
  }),
})

/** A person is recognized by the ID. Of several rows of a batch about an ID, the last is sent. */
export const identityOf = ({ externalUserId }: JsonObject): unknown => externalUserId

/**
 * The ID of a person: the ID in the row, or else an ID that is derived from the row, and stays the same.
 * @param single identifiers that each identify one person, in the order of preference
 * @param all identifiers that only together identify one person, such as names and places
 */
export function externalIdOf(given: unknown, single: JsonObject, all: JsonObject): string {
  const first = Object.entries(single).find(([, value]) => value !== undefined)
  const text = first ? first.join(' ') : JSON.stringify(Object.entries(all).sort())
  return textIn(given) ?? createHash('sha256').update(text).digest('hex')
}

/**
 * The consent of a person with the country whose law applies. A string of TCF or GPP is sent without Amazon's own signal, since
 * Amazon ignores that signal next to one. Rejects a row of the region EU without a consent in any form.
 */
export function consentOf(member: JsonObject, settings: Values): Read<JsonObject> {
  const { '@country': countryCode, '@tcf': tcf, '@gpp': gpp } = member
  const given = objectIn(member['@consent'])
  const amznAdStorage = given.amznAdStorage ?? settings.consentAdStorage
  const amznUserData = given.amznUserData ?? settings.consentUserData
  const amzn = amznAdStorage || amznUserData ? { amznAdStorage, amznUserData } : undefined
  const consent = tcf || gpp ? { tcf, gpp } : amzn && { amzn }
  if (!consent && regionOf({ settings }) === 'EU') {
    const reason =
      'In Europe, Amazon requires the consent of the person: map a consent column, or fill in the consent of the connection.'
    return wrong(reason, 'consentUserData')
  }
  return { read: { geo: { countryCode }, ...(consent && { consent }) } }
}
