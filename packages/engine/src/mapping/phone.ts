import { toNormalForm } from '@penstock/wire/rules'
import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  Metadata,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min'

/**
 * Phone numbers in E.164 form. A number with a country code (`+49 …`, `0049 …`, `+001 …`) is complete. The `+` can be missing if
 * no country writes its national numbers in the same way: from eleven digits on, except for the forms listed below. Any other
 * number requires a country. Without a country it is refused, because a wrong guess would be hashed like a right one, and nobody
 * would notice.
 */

/** `+` and 7 to 15 digits. The first digits are the country code. */
const e164 = /^\+[1-9]\d{6,14}$/
/** Separators between digits. A `(0)` after the country code is dialled only at home. */
const separators = /\(0\)|[\s().\-–‑/·]+/g
const twoDigitCodes = new Set(
  `20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91
  92 93 94 95 98`.split(/\s+/),
)
const zero = '0'.charCodeAt(0)

/**
 * `+` and 7 to 15 digits; `undefined` if the text is not a phone number, or is a national number without a country.
 * @param country two letters of ISO 3166, in either case, for national numbers
 */
export function normalisePhone(text: string, country?: string): string | undefined {
  if (e164.test(text) && !hasTrunkZero(text)) return text
  const trimmed = text.trim()
  // Full-width digits come from East Asian keyboards. This changes nothing else in the number.
  const plain = (/^[\x20-\x7e]*$/.test(trimmed) ? trimmed : toNormalForm(trimmed, 'NFKC')).replace(/^tel:/i, '')
  const [, rest] = /^\(?(?:\+(?:00)?|00)(.*)$/s.exec(plain) ?? []
  if (rest === undefined) {
    return (country === undefined ? undefined : parse(plain, country)) ?? withoutSign(plain, country)
  }
  const digits = `+${rest.replace(separators, '')}`
  return e164.test(digits) && !hasTrunkZero(digits) ? digits : parse(digits, undefined)
}

/** The same without `+`. */
export const normalisePhoneDigits = (text: string, country?: string): string | undefined =>
  normalisePhone(text, country)?.slice(1)

/** North American numbers in their usual groups: three, three and four digits after the country code. */
const northAmericanGroups = /^0?1[\s.-]*\(?[2-9]\d{2}\)?[\s.-]*\d{3}[\s.-]*\d{4}$/

/** National numbers as people write them have up to ten digits, and begin with a zero if they have more, except for these. */
const nationalLengthMax = 10
const longNational = [
  // Mobile phones in Brazil: 33 98765-4321 is a number in Minas Gerais, and +33 9 87 65 43 21 is a French number.
  /^[1-9][1-9]9\d{8}$/,
  // Russia, Kazakhstan and Belarus dial 8 first, and spreadsheets drop the zero before Indonesian mobile phones. So 84951234567
  // is a number in Moscow or Vietnam, and 81234567890 is a number in Indonesia or Japan.
  /^8\d{10}$/,
]
/** Mobile phones in Germany: with their leading zero, they look like North American numbers with a leading zero. */
const germanMobile = /^01(?:5|6[0-3]|7)\d+$/

/**
 * A number with its country code and without `+`. Either it is written in North American groups, whose country code can follow a
 * zero. Or it is valid in the country of its code, and no other country writes a national number like this. Eleven digits that
 * begin with 1 are North American, as in the formatters of the platforms.
 */
function withoutSign(text: string, country: string | undefined): string | undefined {
  const digits = text.replace(separators, '')
  const mayBeNorthAmerican = country === undefined || isNorthAmerican(country)
  const isNorthAmericanByGroups = mayBeNorthAmerican && digits !== text && northAmericanGroups.test(text)
  // Other groups after a zero belong to a national number of another country: 0171/35922262.
  const mayHaveZero =
    isNorthAmericanByGroups ||
    (mayBeNorthAmerican && digits === text && (country !== undefined || !germanMobile.test(digits)))
  const named = mayHaveZero ? digits.replace(/^0(?=1[2-9]\d{9}$)/, '') : digits
  if (!/^[1-9]\d{6,14}$/.test(named)) return undefined
  if (isNorthAmericanByGroups) return `+${named}`
  if (named.length <= nationalLengthMax || longNational.some((form) => form.test(named))) return undefined
  const phone = normalisePhone(`+${named}`)
  const parsed = phone === undefined ? undefined : parsePhoneNumberFromString(phone)
  if (!parsed?.isValid()) return undefined
  // The groups show where the country code would end: (31) 98765-4321 begins with an area code.
  const hasOwnGroup = digits === text || /^\d+/.exec(text)?.[0] === parsed.countryCallingCode
  return hasOwnGroup ? phone : undefined
}

const isNorthAmerican = (country: string): boolean =>
  isPhoneCountry(country) && getCountryCallingCode(country.toUpperCase() as CountryCode) === '1'

/** Whether a country can be used to read national numbers with. */
const isPhoneCountry = (country: string): boolean => isSupportedCountry(country.toUpperCase())

/** Whether a zero follows the country code: it belongs to the number in Italy, and is dialled only at home in Germany. */
function hasTrunkZero(number: string): boolean {
  const first = number.charCodeAt(1)
  const codeLength = first === zero + 1 || first === zero + 7 ? 1 : twoDigitCodes.has(number.slice(1, 3)) ? 2 : 3
  return number.charCodeAt(1 + codeLength) === zero
}

function parse(text: string, country: string | undefined): string | undefined {
  const defaultCountry = country?.toUpperCase()
  if (defaultCountry !== undefined && !isSupportedCountry(defaultCountry)) return parse(text, undefined)
  if (defaultCountry !== undefined) {
    const digits = text.replace(separators, '')
    const number =
      byShortRule(digits, defaultCountry as CountryCode) ?? ofOwnCode(digits, defaultCountry as CountryCode)
    if (number !== undefined) return number
  }
  const options: { extract: boolean; defaultCountry?: CountryCode } = { extract: false }
  if (defaultCountry !== undefined) options.defaultCountry = defaultCountry as CountryCode
  const phone = parsePhoneNumberFromString(text, options)
  if (!phone?.isPossible() || !e164.test(phone.number) || !isWhole(phone)) return undefined
  // A number that begins with several zeros would lose a zero each time that it is read.
  const isStable = !hasTrunkZero(phone.number) || parsePhoneNumberFromString(phone.number)?.number === phone.number
  return isStable ? phone.number : undefined
}

/**
 * A number that begins with the code of its own country instead of a zero, without the sign. In countries without a fixed length
 * of numbers, the tables would treat the code as part of the number, +49 49171….
 */
function ofOwnCode(digits: string, country: CountryCode): string | undefined {
  if (!afterZero.has(country) || !digits.startsWith(getCountryCallingCode(country))) return undefined
  const phone = parsePhoneNumberFromString(`+${digits}`)
  return phone?.isValid() && e164.test(phone.number) ? phone.number : undefined
}

/** Shorter numbers are local numbers of a town, except in countries without longer numbers. */
const wholeLengthMin = 7

function isWhole({ nationalNumber, country }: PhoneNumber): boolean {
  if (nationalNumber.length >= wholeLengthMin || country === undefined) return true
  const metadata = new Metadata()
  metadata.selectNumberingPlan(country)
  return Math.max(...(metadata.numberingPlan?.possibleLengths() ?? [])) <= wholeLengthMin
}

/** Countries in which a national number is a zero followed by the part after the country code, without other rules. */
const afterZero = new Map(
  (['DE', 'AT', 'CH', 'FR', 'BE', 'NL', 'GB', 'IE', 'SE', 'TR', 'ZA'] as const).map((country) => {
    const metadata = new Metadata()
    metadata.selectNumberingPlan(country)
    // Shorter British numbers can belong to an island that has a separate numbering plan under the same country code.
    const lengths = new Set(country === 'GB' ? [10] : metadata.numberingPlan?.possibleLengths())
    return [country as CountryCode, { sign: `+${getCountryCallingCode(country)}`, lengths }] as const
  }),
)

/**
 * National numbers by a short equivalent of their tables, if there is a simple one. It is ten times as fast, and tested to be the
 * same.
 */
function byShortRule(digits: string, country: CountryCode): string | undefined {
  const rule = afterZero.get(country)
  if (rule) {
    const isKnown = /^0[1-9]\d{8,}$/.test(digits) && rule.lengths.has(digits.length - 1)
    return isKnown ? rule.sign + digits.slice(1) : undefined
  }
  if (getCountryCallingCode(country) !== '1') return undefined
  const [, number] = /^1?([2-9]\d{9})$/.exec(digits) ?? []
  return number === undefined ? undefined : `+1${number}`
}
