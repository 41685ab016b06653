/** Names of people and places, gender, postal codes and identifiers of devices, in the forms that platforms hash. */

import { toNormalForm } from '@penstock/wire/rules'
import { amazonStateOf, unlistedByAmazon } from './amazon-states.ts'

/** Only these need no care for accents and composed letters. */
const ascii = /^[\x20-\x7e]*$/

/** Lower case, with each accented letter as one character, so that the same name has the same digest. */
const lowerComposed = (text: string): string =>
  ascii.test(text) ? text.toLowerCase() : toNormalForm(toNormalForm(text, 'NFC').toLowerCase(), 'NFC')

const orUndefined = (text: string): string | undefined => (text === '' ? undefined : text)

const plainName = /^[a-z]+$/
const noName = /[\p{P}\p{S}\p{N}\p{C}]+/gu

/** Lower case without punctuation and digits, words separated by one space. */
export function normaliseName(text: string): string | undefined {
  const lower = lowerComposed(text)
  if (plainName.test(lower)) return lower
  return orUndefined(
    recomposed(
      lower
        .replace(noName, '')
        .replace(/[\s\p{Z}]+/gu, ' ')
        .trim(),
    ),
  )
}

/** The first letter, in lower case. */
export const normaliseInitial = (text: string): string | undefined => /\p{L}/u.exec(lowerComposed(text))?.[0]

const title = /^(?:mr|mrs|ms|dr)(?:\.?\s+|\.$)/
const afterFamilyName = /(?:,\s*|\s+)(?:jr\.?|sr\.?|2nd|3rd|ii|iii|iv|v|vi|cpa|dc|dds|vm|jd|md|phd)$/

/** Lower case without a preceding title. Punctuation and spaces inside stay. */
export const normaliseGivenName = (text: string): string | undefined =>
  withLetters(withoutEach(lowerComposed(text).trim(), title))

/** Lower case without additions (`Jr.`, `III`, `MD`). Punctuation and spaces inside stay. */
export const normaliseFamilyName = (text: string): string | undefined =>
  withLetters(withoutEach(lowerComposed(text).trim(), afterFamilyName))

/** Removes each occurrence, because people can have more than one title. */
function withoutEach(name: string, pattern: RegExp): string {
  const left = name.replace(pattern, '').trim()
  return left === name ? name : withoutEach(left, pattern)
}

const withLetters = (name: string): string | undefined => (/\p{L}/u.test(name) ? name : undefined)

const plainPlace = /^[a-z0-9]+$/
const noPlace = /[\p{P}\p{S}\p{C}\s\p{Z}]+/gu

/** Lower case without spaces and punctuation: cities, and names where digits stay. */
export function normaliseCity(text: string): string | undefined {
  const lower = lowerComposed(text)
  return plainPlace.test(lower) ? lower : orUndefined(recomposed(lower.replace(noPlace, '')))
}

/** A removed character may have separated a letter from its accent. */
const recomposed = (text: string): string => (ascii.test(text) ? text : lowerComposed(text))

/** States of the United States and provinces of Canada, which platforms match by their two letters. */
const statesByName = new Map(
  `al alabama ak alaska az arizona ar arkansas ca california co colorado ct connecticut de delaware
  dc districtofcolumbia fl florida ga georgia hi hawaii id idaho il illinois in indiana ia iowa ks kansas ky kentucky
  la louisiana me maine md maryland ma massachusetts mi michigan mn minnesota ms mississippi mo missouri mt montana
  ne nebraska nv nevada nh newhampshire nj newjersey nm newmexico ny newyork nc northcarolina nd northdakota oh ohio
  ok oklahoma or oregon pa pennsylvania ri rhodeisland sc southcarolina sd southdakota tn tennessee tx texas ut utah
  vt vermont va virginia wa washington wv westvirginia wi wisconsin wy wyoming pr puertorico
  ab alberta bc britishcolumbia mb manitoba nb newbrunswick nl newfoundlandandlabrador nl newfoundlandlabrador
  nl newfoundland ns novascotia nt northwestterritories nu nunavut on ontario pe princeedwardisland
  qc quebec qc québec sk saskatchewan yt yukon yt yukonterritory`
    .split(/\s+/)
    .map((word, index, words): [string, string] => [word, words[index - 1] ?? ''])
    .filter((_, index) => index % 2 === 1),
)

/** Lower case without spaces and punctuation. States of the United States and provinces of Canada become their two letters. */
export function normaliseState(text: string): string | undefined {
  const state = normaliseCity(text)
  return state === undefined ? undefined : (statesByName.get(state) ?? state)
}

/** Lower case without spaces and without the part after a hyphen. */
export function normalisePostalCode(text: string): string | undefined {
  const trimmed = text.trim()
  const hyphen = trimmed.indexOf('-')
  const code = (hyphen < 0 ? trimmed : trimmed.slice(0, hyphen)).replace(/\s+/g, '').toLowerCase()
  return /^[a-z0-9]{2,12}$/.test(code) ? code : undefined
}

/** Letters that Amazon replaces with others. Amazon removes other accented letters. */
const written: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['ä', 'ae'],
  ['ö', 'oe'],
  ['ü', 'ue'],
  ['ø', 'o'],
  ['æ', 'ae'],
])

/** Only lower-case ASCII letters and digits. Some accented letters are replaced with ASCII letters. */
export const normaliseAsciiName = (text: string): string | undefined =>
  normaliseAsciiCity(lowerComposed(text).replace(/[ßäöüøæ]/g, (letter) => written.get(letter) ?? ''))

/** Only lower-case ASCII letters and digits. */
export const normaliseAsciiCity = (text: string): string | undefined =>
  orUndefined(lowerComposed(text).replace(/[^a-z0-9]+/g, ''))

/**
 * The letters that Amazon uses for a state of the United States, Canada and four countries of Europe; the first two letters of
 * any other state.
 * @param country two letters of ISO 3166, in either case; without it, common names of states in North America are also recognised
 */
export function normaliseAsciiState(text: string, country?: string): string | undefined {
  const isAmerican = /^(?:us|ca)$/i.test(country ?? '')
  const name = lowerComposed(text).replace(/[^a-z]+/g, '')
  const listed = isAmerican && unlistedByAmazon.has(name) ? undefined : statesByName.get(name)
  const state = listed ?? (isAmerican ? name.slice(0, 2) : normaliseState(text)?.replace(/[^a-z]+/g, ''))
  return state ? amazonStateOf(state) : undefined
}

const genders = new Map<string, 'm' | 'f'>([
  ...`m male man boy mann männlich maennlich masculin masculino homme hombre uomo maschio homem man`
    .split(' ')
    .map((word): [string, 'm'] => [word, 'm']),
  ...`f female woman girl w weiblich frau féminin feminin femenino feminino femme mujer donna femmina mulher vrouw`
    .split(' ')
    .map((word): [string, 'f'] => [word, 'f']),
])

/** `m` or `f`, from common letters and words; `undefined` for any other text. */
export const normaliseGender = (text: string): 'm' | 'f' | undefined => genders.get(lowerComposed(text.trim()))

const neitherWords = new Set(['n', 'nonbinary', 'non-binary', 'non binary', 'nichtbinär'])

/** The same, or `n` for people who are neither; `undefined` for any other text. */
export function normaliseGenderOrN(text: string): 'm' | 'f' | 'n' | undefined {
  return normaliseGender(text) ?? (neitherWords.has(lowerComposed(text.trim())) ? 'n' : undefined)
}

/** Lower case. A device whose owner opted out of tracking reports only zeros, and cannot be addressed. */
export function normaliseDeviceId(text: string): string | undefined {
  const id = text.trim().toLowerCase()
  return /^[0-9a-z][0-9a-z_.:-]{7,127}$/.test(id) && /[1-9a-z]/.test(id) ? id : undefined
}

/** The same in upper case. */
export const normaliseDeviceIdUpper = (text: string): string | undefined => normaliseDeviceId(text)?.toUpperCase()

/** Lower case. */
export const normaliseLower = (text: string): string | undefined => orUndefined(lowerComposed(text.trim()))

/** Lower case without any spaces. */
export const normaliseExternalId = (text: string): string | undefined =>
  orUndefined(lowerComposed(text.replace(/[\s\p{Z}]+/gu, '')))

/** Unchanged, without surrounding spaces. */
export const normaliseText = (text: string): string | undefined => orUndefined(text.trim())
