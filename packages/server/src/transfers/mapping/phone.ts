import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min'

/**
 * Phone numbers in E.164 form. A number that says its country (`+49 …`, `0049 …`) needs nothing else; a national number
 * needs the country to read it with, and without one it is not guessed at: a wrong guess would be hashed like a right
 * one, and nobody would ever find out.
 */

/** `+` and 7 to 15 digits, the first of which is the country's. */
const e164 = /^\+[1-9]\d{6,14}$/
/** What people put between digits; a `(0)` after the country code is dialled only at home. */
const separators = /\(0\)|[\s().\-–‑/·]+/g
const twoDigitCodes = new Set(
  `20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91
  92 93 94 95 98`.split(/\s+/),
)
const zero = '0'.charCodeAt(0)

/**
 * `+` and 7 to 15 digits; `undefined` where the text is no phone number, or a national one without a country.
 * @param country two letters of ISO 3166, in either case, by which to read national numbers
 */
export function normalisePhone(text: string, country?: string): string | undefined {
  if (e164.test(text) && !hasTrunkZero(text)) return text
  const trimmed = text.trim()
  // Full-width digits come from East Asian keyboards; nothing else of the number is changed by this.
  const plain = (/^[\x20-\x7e]*$/.test(trimmed) ? trimmed : trimmed.normalize('NFKC')).replace(/^tel:/i, '')
  const international = plain.startsWith('+') || plain.startsWith('00')
  if (!international) return parse(plain, country)
  const digits = `+${plain.slice(plain.startsWith('+') ? 1 : 2)}`.replace(separators, '')
  return e164.test(digits) && !hasTrunkZero(digits) ? digits : parse(digits, undefined)
}

/**
 * The same without `+`. Digits without `+` that make a valid number of some country are in this form already, unless the
 * country given reads them as a number of its own.
 */
export function normalisePhoneDigits(text: string, country?: string): string | undefined {
  const phone = normalisePhone(text, country)
  if (phone !== undefined) return phone.slice(1)
  const digits = text.trim().replace(separators, '')
  if (!/^[1-9]\d{6,14}$/.test(digits)) return undefined
  return parsePhoneNumberFromString(`+${digits}`)?.isValid() ? digits : undefined
}

/** Whether a country can be used to read national numbers with. */
export const isPhoneCountry = (country: string): boolean => isSupportedCountry(country.toUpperCase())

/** Whether a zero follows the country code: it belongs to the number in Italy, and is dialled only at home in Germany. */
function hasTrunkZero(number: string): boolean {
  const first = number.charCodeAt(1)
  const codeLength = first === zero + 1 || first === zero + 7 ? 1 : twoDigitCodes.has(number.slice(1, 3)) ? 2 : 3
  return number.charCodeAt(1 + codeLength) === zero
}

function parse(text: string, country: string | undefined): string | undefined {
  const defaultCountry = country?.toUpperCase()
  if (defaultCountry !== undefined && !isSupportedCountry(defaultCountry)) return parse(text, undefined)
  if (defaultCountry !== undefined && getCountryCallingCode(defaultCountry as CountryCode) === '1') {
    // North America has one plan for all its numbers, so these need no look at the tables: 30 times as fast.
    const [, number] = /^1?([2-9]\d{9})$/.exec(text.replace(separators, '')) ?? []
    if (number !== undefined) return `+1${number}`
  }
  const options: { extract: boolean; defaultCountry?: CountryCode } = { extract: false }
  if (defaultCountry !== undefined) options.defaultCountry = defaultCountry as CountryCode
  const phone = parsePhoneNumberFromString(text, options)
  if (!phone?.isPossible() || !e164.test(phone.number)) return undefined
  // A row of zeros would lose one of them each time that it is read.
  const isStable = !hasTrunkZero(phone.number) || parsePhoneNumberFromString(phone.number)?.number === phone.number
  return isStable ? phone.number : undefined
}
