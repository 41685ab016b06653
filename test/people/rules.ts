import { createHash } from 'node:crypto'
import type { Birth, Email, Person, Phone, Spelled, State } from './people.ts'

/**
 * Normal forms that platforms require before a value is hashed, from their documentation and from the intended value of
 * a cell. This module parses no cell and calls no code of Penstock.
 */

export const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

/** The form that is hashed. `undefined` if nothing is left. */
export type Rule<Truth> = (truth: Truth) => string | undefined

const withoutTag = (local: string): string => local.replace(/\+.*$/, '')
const isGmail = (domain: string): boolean => /^(gmail|googlemail)\.com$/i.test(domain)

export const emails = {
  /** Meta, Snapchat, Pinterest, LinkedIn, X, Microsoft, TikTok: in lower case. */
  plain: ({ local, domain }: Email) => `${local}@${domain}`.toLowerCase(),
  /** Google Ads: of addresses at Google, without the dots and the tag. */
  google: ({ local, domain }: Email) =>
    `${isGmail(domain) ? withoutTag(local).replaceAll('.', '') : local}@${domain}`.toLowerCase(),
  /** UID2: of addresses at gmail.com, without the dots and the tag. */
  uid2: ({ local, domain }: Email) =>
    `${/^gmail\.com$/i.test(domain) ? withoutTag(local).replaceAll('.', '') : local}@${domain}`.toLowerCase(),
  /** Campaign Manager 360: of addresses at Google, without the dots. */
  googleDots: ({ local, domain }: Email) =>
    `${isGmail(domain) ? local.replaceAll('.', '') : local}@${domain}`.toLowerCase(),
  /** Microsoft's UET: without the dots and the tag, whatever the domain. */
  undotted: ({ local, domain }: Email) => `${withoutTag(local).replaceAll('.', '')}@${domain}`.toLowerCase(),
  /** TikTok's files: without the tag, whatever the domain. */
  untagged: ({ local, domain }: Email) => `${withoutTag(local)}@${domain}`.toLowerCase(),
  /** Amazon's audiences: without signs such as +, whatever the domain (amazon-marketing-cloud-uploader-from-aws). */
  amazon: ({ local, domain }: Email) => `${local.replaceAll(/[^\p{L}\p{N}._-]/gu, '')}@${domain}`.toLowerCase(),
  /** Reddit: without the tag, and then only letters and digits, for any domain. */
  reddit: ({ local, domain }: Email) => `${withoutTag(local).replaceAll(/[^A-Za-z0-9]/g, '')}@${domain}`.toLowerCase(),
} satisfies Record<string, Rule<Email>>

export const phones = {
  /** Meta, Snapchat, Pinterest, Amazon, TikTok's files. */
  digits: ({ code, national }: Phone) => code + national,
  /** Google, TikTok, X, Microsoft. */
  e164: ({ code, national }: Phone) => `+${code}${national}`,
} satisfies Record<string, Rule<Phone>>

/** Devices whose owners do not want to be tracked have only zeros, and are broken here. */
export const devices = {
  upper: (id: string) => id.toUpperCase(),
  lower: (id: string) => id.toLowerCase(),
} satisfies Record<string, Rule<string>>

const lettersAndDigits = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '')

/** Amazon's cities and states: letters of ASCII and digits. */
const ascii = (text: string): string | undefined =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '') || undefined

/** Amazon's names: some letters are written with others before (amazon-marketing-cloud-uploader-from-aws). */
function amazon(text: string): string | undefined {
  const written: Readonly<Record<string, string>> = { ß: 'ss', ä: 'ae', ö: 'oe', ü: 'ue', ø: 'o', æ: 'ae' }
  const lower = text.normalize('NFC').toLowerCase()
  return ascii(lower.replaceAll(/[ßäöüøæ]/g, (letter) => written[letter] ?? ''))
}

type First = { readonly title: string; readonly name: string }
type Last = { readonly name: string; readonly suffix: string }

export const names = {
  /** Google: without title and suffix, signs within the name stay (data-manager-python, formatter). */
  google: { first: ({ name }: First) => name.toLowerCase(), last: ({ name }: Last) => name.toLowerCase() },
  /** Meta, Snapchat, Pinterest, TikTok: letters in one piece. */
  joined: {
    first: ({ title, name }: First) => lettersAndDigits(title + name),
    last: ({ name, suffix }: Last) => lettersAndDigits(name + suffix),
  },
  amazon: {
    first: ({ title, name }: First) => amazon(title + name),
    last: ({ name, suffix }: Last) => amazon(name + suffix),
  },
} satisfies Record<string, { first: Rule<First>; last: Rule<Last> }>

export const places = {
  joined: lettersAndDigits,
  ascii,
  /** States of the United States go by their two letters. */
  state: ({ name, code }: State) => code ?? lettersAndDigits(name),
  /** Amazon: the first two letters of states that it does not list. */
  asciiState: ({ name, code }: State) => code ?? ascii(name)?.slice(0, 2),
  /** Lower case without spaces, up to a hyphen (Meta's business SDK). */
  zip: (zip: string) => zip.toLowerCase().replaceAll(' ', '').replace(/-.*$/, ''),
  /** Amazon: five digits for five countries, upper case without spaces for Great Britain. Incomplete values are empty. */
  amazonZip: (country: string) => (zip: string) => {
    if (country === 'gb') return zip.toUpperCase().replaceAll(' ', '')
    if (country === 'br') return zip
    const digits = zip.replaceAll(/\D/g, '').slice(0, 5)
    return digits.length === 5 ? digits : undefined
  },
} satisfies Record<string, Rule<never> | ((country: string) => Rule<string>)>

const two = (value: number): string => String(value).padStart(2, '0')
export const births = {
  date: ({ year, month, day }: Birth) => `${year}${two(month)}${two(day)}`,
  year: ({ year }: Birth) => String(year),
  month: ({ month }: Birth) => two(month),
  day: ({ day }: Birth) => two(day),
} satisfies Record<string, Rule<Birth>>

/** The value that a platform gets unhashed. `undefined` if there is no usable value. */
export const plain = <Truth>(spelled: Spelled<Truth>, rule: Rule<Truth>): string | undefined =>
  spelled.kind === 'value' ? rule(spelled.truth) : undefined

/** The digest that a platform must get. Digests of other systems pass unchanged. */
export function digest<Truth>(spelled: Spelled<Truth>, rule: Rule<Truth>): string | undefined {
  if (spelled.kind === 'sha256') return spelled.hex
  const form = plain(spelled, rule)
  return form === undefined ? undefined : sha256(form)
}

/** The same of a phone number: one that is written as at home says nothing where its country is not known. */
export const phoneDigest = (person: Person, rule: Rule<Phone>): string | undefined =>
  isReadable(person) ? digest(person.phone, rule) : undefined

/** Whether the meaning of the phone cell can be known. */
export const isReadable = ({ phone, country }: Person): boolean =>
  phone.kind !== 'value' || !phone.truth.isNational || country.kind === 'value'

export const same = (text: string): string => text
