import type { Normalisation } from '@penstock/connector'
import { normaliseNationalPostalCode, normaliseStreetAddress } from './amazon-addresses.ts'
import { normaliseBirthDate, normaliseBirthDay, normaliseBirthMonth, normaliseBirthYear } from './birth-date.ts'
import { normaliseCountry } from './country.ts'
import {
  normaliseEmail,
  normaliseEmailOfLettersAndDigits,
  normaliseEmailWithoutDotsAndTag,
  normaliseEmailWithoutGmailDots,
  normaliseEmailWithoutSigns,
  normaliseEmailWithoutTag,
  normaliseGmail,
  normaliseGmailCom,
} from './email.ts'
import { normalisePhone, normalisePhoneDigits } from './phone.ts'
import {
  normaliseAsciiCity,
  normaliseAsciiName,
  normaliseAsciiState,
  normaliseCity,
  normaliseDeviceId,
  normaliseDeviceIdUpper,
  normaliseExternalId,
  normaliseFamilyName,
  normaliseGender,
  normaliseGenderOrN,
  normaliseGivenName,
  normaliseInitial,
  normaliseLower,
  normaliseName,
  normalisePostalCode,
  normaliseState,
  normaliseText,
} from './words.ts'

/**
 * Normalises a text; `undefined` if it is invalid, or if the result is empty. A normalised text does not change, except for a few
 * street addresses.
 * @param country two letters of ISO 3166, for a national phone number, a state, a postal code or an address; without it, a
 * national phone number is not accepted
 */
export type Normalise = (text: string, country?: string) => string | undefined

/** The function for each form of the connector kit. */
export const normalisers: Readonly<Record<Normalisation, Normalise>> = {
  email: normaliseEmail,
  'email-gmail': normaliseGmail,
  'email-gmail-com': normaliseGmailCom,
  'email-gmail-dots': normaliseEmailWithoutGmailDots,
  'email-plain-local': normaliseEmailWithoutTag,
  'email-no-dots-no-tag': normaliseEmailWithoutDotsAndTag,
  'email-alphanumeric': normaliseEmailOfLettersAndDigits,
  'email-no-signs': normaliseEmailWithoutSigns,
  'phone-e164': normalisePhone,
  'phone-digits': normalisePhoneDigits,
  name: normaliseName,
  'name-joined': normaliseCity,
  'name-ascii': normaliseAsciiName,
  initial: normaliseInitial,
  'given-name': normaliseGivenName,
  'family-name': normaliseFamilyName,
  city: normaliseCity,
  state: normaliseState,
  'city-ascii': normaliseAsciiCity,
  'state-ascii': normaliseAsciiState,
  'postal-code': normalisePostalCode,
  'postal-code-national': normaliseNationalPostalCode,
  'street-address': normaliseStreetAddress,
  country: normaliseCountry,
  'birth-date': normaliseBirthDate,
  'birth-year': normaliseBirthYear,
  'birth-month': normaliseBirthMonth,
  'birth-day': normaliseBirthDay,
  gender: normaliseGender,
  'gender-or-n': normaliseGenderOrN,
  'device-id': normaliseDeviceId,
  'device-id-upper': normaliseDeviceIdUpper,
  'external-id': normaliseExternalId,
  lower: normaliseLower,
  text: normaliseText,
}

const notAPhone =
  'is not a phone number, or lacks its country code: write it as +14155550123, add a column with the country, or set defaultCountry if the destination has it'

/** Error messages of values that cannot be normalised, to follow the name of the field. */
export const invalidMessages: Readonly<Record<Normalisation, string>> = {
  email: 'is not an e-mail address',
  'email-gmail': 'is not an e-mail address',
  'email-gmail-com': 'is not an e-mail address',
  'email-gmail-dots': 'is not an e-mail address',
  'email-plain-local': 'is not an e-mail address',
  'email-no-dots-no-tag': 'is not an e-mail address',
  'email-alphanumeric': 'is not an e-mail address with letters or digits before the @',
  'email-no-signs': 'is not an e-mail address',
  'phone-e164': notAPhone,
  'phone-digits': notAPhone,
  name: 'has no letters',
  'name-joined': 'has no letters',
  'name-ascii': 'has no letters from a to z',
  initial: 'has no letters',
  'given-name': 'has no letters',
  'family-name': 'has no letters',
  city: 'has no letters',
  state: 'has no letters',
  'city-ascii': 'has no letters from a to z',
  'state-ascii': 'has no letters from a to z',
  'postal-code': 'is not a postal code',
  'postal-code-national': 'is not a complete postal code of its country',
  'street-address': 'has no letters or digits',
  country: 'is not a country',
  'birth-date': 'is not a date, or is ambiguous: write it as YYYY-MM-DD',
  'birth-year': 'is not a year from 1900 on: write it as YYYY',
  'birth-month': 'is not a month: write it as MM, from 01 to 12',
  'birth-day': 'is not a day of a month: write it as DD, from 01 to 31',
  gender: 'is neither m nor f',
  'gender-or-n': 'is none of m, f and n',
  'device-id': 'is not a device ID',
  'device-id-upper': 'is not a device ID',
  'external-id': 'is empty',
  lower: 'is empty',
  text: 'is empty',
}

/** The forms of values that are written in another way in each country. */
const nationalForms: ReadonlySet<Normalisation> = new Set([
  ...(['phone-e164', 'phone-digits', 'state-ascii', 'postal-code-national', 'street-address'] as const),
])

export const isPhone = (form: Normalisation): boolean => form === 'phone-e164' || form === 'phone-digits'

/** Whether a form reads values by a country. */
export const readsByCountry = (form: Normalisation): boolean => nationalForms.has(form)
