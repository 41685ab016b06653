import type { Normalisation } from '@penstock/connector'
import { normaliseBirthDate } from './birth-date.ts'
import { normaliseCountry } from './country.ts'
import { normaliseEmail, normaliseEmailWithoutGmailDots, normaliseEmailWithoutTag, normaliseGmail } from './email.ts'
import { normalisePhone, normalisePhoneDigits } from './phone.ts'
import {
  normaliseCity,
  normaliseDeviceId,
  normaliseGender,
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
  'phone-e164': normalisePhone,
  'phone-digits': normalisePhoneDigits,
  name: normaliseName,
  city: normaliseCity,
  state: normaliseState,
  'postal-code': normalisePostalCode,
  country: normaliseCountry,
  'birth-date': normaliseBirthDate,
  gender: normaliseGender,
  'device-id': normaliseDeviceId,
  lower: normaliseLower,
  text: normaliseText,
}

/** What is wrong with a value that cannot be brought into a form, to follow the name of its field. */
export const complaints: Readonly<Record<Normalisation, string>> = {
  email: 'is no e-mail address',
  'email-gmail': 'is no e-mail address',
  'email-gmail-dots': 'is no e-mail address',
  'email-plain-local': 'is no e-mail address',
  'phone-e164': 'is no phone number, or lacks its country code',
  'phone-digits': 'is no phone number, or lacks its country code',
  name: 'has no letters',
  city: 'has no letters',
  state: 'has no letters',
  'postal-code': 'is no postal code',
  country: 'is no country',
  'birth-date': 'is no day, or may be one of two days: write it YYYY-MM-DD',
  gender: 'is neither m nor f',
  'device-id': 'is no identifier of a device',
  lower: 'is empty',
  text: 'is empty',
}

/** Whether a form reads national numbers by a country. */
export const readsByCountry = (form: Normalisation): boolean => form === 'phone-e164' || form === 'phone-digits'
