import type { Normalisation } from '@penstock/connector'
import { normaliseBirthDate, normaliseBirthDay, normaliseBirthMonth, normaliseBirthYear } from './birth-date.ts'
import { normaliseCountry } from './country.ts'
import {
  normaliseEmail,
  normaliseEmailWithoutDotsAndTag,
  normaliseEmailWithoutGmailDots,
  normaliseEmailWithoutTag,
  normaliseGmail,
} from './email.ts'
import { normalisePhone, normalisePhoneDigits } from './phone.ts'
import {
  normaliseAsciiCity,
  normaliseAsciiName,
  normaliseAsciiState,
  normaliseCity,
  normaliseDeviceId,
  normaliseExternalId,
  normaliseFamilyName,
  normaliseGender,
  normaliseGivenName,
  normaliseLower,
  normaliseName,
  normalisePostalCode,
  normaliseState,
  normaliseText,
} from './words.ts'

/**
 * Brings a text into a form. `undefined`: it cannot be, or there is nothing left of it. What is in the form already stays.
 * @param country two letters of ISO 3166 by which to read a national phone number; without it, such a number is not read
 */
export type Normalise = (text: string, country?: string) => string | undefined

/** How each form of the connector kit is made. */
export const normalisers: Readonly<Record<Normalisation, Normalise>> = {
  email: normaliseEmail,
  'email-gmail': normaliseGmail,
  'email-gmail-dots': normaliseEmailWithoutGmailDots,
  'email-plain-local': normaliseEmailWithoutTag,
  'email-no-dots-no-tag': normaliseEmailWithoutDotsAndTag,
  'phone-e164': normalisePhone,
  'phone-digits': normalisePhoneDigits,
  name: normaliseName,
  'name-joined': normaliseCity,
  'name-ascii': normaliseAsciiName,
  'given-name': normaliseGivenName,
  'family-name': normaliseFamilyName,
  city: normaliseCity,
  state: normaliseState,
  'city-ascii': normaliseAsciiCity,
  'state-ascii': normaliseAsciiState,
  'postal-code': normalisePostalCode,
  country: normaliseCountry,
  'birth-date': normaliseBirthDate,
  'birth-year': normaliseBirthYear,
  'birth-month': normaliseBirthMonth,
  'birth-day': normaliseBirthDay,
  gender: normaliseGender,
  'device-id': normaliseDeviceId,
  'external-id': normaliseExternalId,
  lower: normaliseLower,
  text: normaliseText,
}

/** What is wrong with a value that cannot be brought into a form, to follow the name of its field. */
export const invalidMessages: Readonly<Record<Normalisation, string>> = {
  email: 'is not an e-mail address',
  'email-gmail': 'is not an e-mail address',
  'email-gmail-dots': 'is not an e-mail address',
  'email-plain-local': 'is not an e-mail address',
  'email-no-dots-no-tag': 'is not an e-mail address',
  'phone-e164': 'is not a phone number, or lacks its country code',
  'phone-digits': 'is not a phone number, or lacks its country code',
  name: 'has no letters',
  'name-joined': 'has no letters',
  'name-ascii': 'has no letters from a to z',
  'given-name': 'has no letters',
  'family-name': 'has no letters',
  city: 'has no letters',
  state: 'has no letters',
  'city-ascii': 'has no letters from a to z',
  'state-ascii': 'has no letters from a to z',
  'postal-code': 'is not a postal code',
  country: 'is not a country',
  'birth-date': 'is not a date, or is ambiguous: write it as YYYY-MM-DD',
  'birth-year': 'is not a year from 1900 on: write it as YYYY',
  'birth-month': 'is not a month: write it as MM, from 01 to 12',
  'birth-day': 'is not a day of a month: write it as DD, from 01 to 31',
  gender: 'is neither m nor f',
  'device-id': 'is not a device ID',
  'external-id': 'is empty',
  lower: 'is empty',
  text: 'is empty',
}

/** Whether a form reads national numbers by a country. */
export const readsByCountry = (form: Normalisation): boolean => form === 'phone-e164' || form === 'phone-digits'
