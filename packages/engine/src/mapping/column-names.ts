import type { Normalisation, RecordField } from '@penstock/connector'
import { toNormalForm } from '@penstock/wire/rules'
import { type Digest, digests } from './hash.ts'

/**
 * Content of a column as far as its name reveals it. Terms:
 * folded   a name without case, accents, spaces and punctuation: `E-Mail Address` is `emailaddress`
 * subject  a folded name without the mark of hashed values: of `sha256_email` it is `email`
 * concept  common meaning of subjects that are known synonyms
 */
export type ColumnName = {
  readonly folded: string
  readonly subject: string
  /**
   * The digest in the name: `any` if the name says only that the value is a digest, `other` for a digest that no field accepts.
   */
  readonly digest: Digest | 'any' | 'other' | undefined
}

/** Names in common use, best known first. A more specific name comes before a general one. */
const concepts: Readonly<Record<string, string>> = {
  email: `email emailaddress mail mailaddress em emailid useremail customeremail contactemail primaryemail emailadresse
    mailadresse`,
  phone: `phone phonenumber mobile mobilephone mobilenumber mobilephonenumber msisdn cell cellphone cellnumber
    cellphonenumber telephone telephonenumber tel ph phoneno mobileno contactnumber telefon telefonnummer handynummer`,
  'first name': 'firstname fname givenname forename fn first vorname',
  'last name': 'lastname lname surname familyname ln last nachname',
  'birth date': 'birthdate dateofbirth dob birthday bday db geburtsdatum',
  'birth year': 'doby birthyear yearofbirth dobyear',
  'birth month': 'dobm birthmonth monthofbirth dobmonth',
  'birth day': 'dobd dayofbirth dobday',
  gender: 'gender sex gen ge geschlecht',
  city: 'city town ct locality ort stadt',
  state: 'state province region st stateprovince statecode bundesland',
  'postal code': 'postalcode zip zipcode postcode zp postal plz postleitzahl',
  country: 'country countrycode regioncode isocountry countryiso countryname land',
  address: 'address streetaddress street address1 addressline1',
  idfa: 'idfa iosadvertisingid appleadvertisingid iosidfa',
  gaid: 'gaid aaid adid googleaid gpadvid googleadvertisingid androidadvertisingid',
  device: `maid madid mobileadid mobileadvertisingid mobileadvertiserid advertisingid deviceid idfa gaid aaid adid
    googleaid gpadvid googleadvertisingid androidadvertisingid iosadvertisingid appleadvertisingid iosidfa`,
  person: 'externalid externid customerid userid crmid customernumber',
}
const namesOfConcept = new Map(
  Object.entries(concepts).map(([concept, names]) => [concept, new Set(names.split(/\s+/))]),
)

const conceptOfForm: Partial<Readonly<Record<Normalisation, string>>> = {
  email: 'email',
  'email-gmail': 'email',
  'email-gmail-com': 'email',
  'email-gmail-dots': 'email',
  'email-plain-local': 'email',
  'email-no-dots-no-tag': 'email',
  'email-alphanumeric': 'email',
  'email-no-signs': 'email',
  'phone-e164': 'phone',
  'phone-digits': 'phone',
  'given-name': 'first name',
  'family-name': 'last name',
  city: 'city',
  state: 'state',
  'postal-code': 'postal code',
  'postal-code-national': 'postal code',
  country: 'country',
  'birth-date': 'birth date',
  'birth-year': 'birth year',
  'birth-month': 'birth month',
  'birth-day': 'birth day',
  gender: 'gender',
  'gender-or-n': 'gender',
  'device-id': 'device',
  'device-id-upper': 'device',
}

/** Without case, accents, spaces and signs. */
export const foldName = (name: string): string =>
  toNormalForm(name, 'NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')

/** Marks of hashed values at the beginning of a name, and at its end. The longer of two matches comes first. */
const marksBefore = ['sha256', 'sha512', 'sha1', 'md5', 'hashed', 'hash']
/** `phone_256` is a name of TikTok's. */
const marksBehind = [...marksBefore, '256']

/** Reads a column's name, in time proportional to its length. */
export function readColumnName(name: string): ColumnName {
  const folded = foldName(name)
  if (folded === 'hem') return { folded, subject: 'email', digest: 'any' }
  let digest: ColumnName['digest']
  let from = 0
  let to = folded.length
  for (;;) {
    // A name that consists only of a mark is the subject itself.
    const before = marksBefore.find((mark) => to - from > mark.length && folded.startsWith(mark, from))
    const mark = before ?? marksBehind.find((mark) => to - from > mark.length && folded.endsWith(mark, to))
    if (mark === undefined) break
    if (before === undefined) to -= mark.length
    else from += mark.length
    const full = mark === '256' ? 'sha256' : mark
    const said = digests.find((known) => known === full) ?? (mark === 'sha1' ? 'other' : 'any')
    if (digest === undefined || digest === 'any') digest = said
  }
  return { folded, subject: folded.slice(from, to), digest }
}

const noNames: ReadonlySet<string> = new Set()

/** The well-known names, folded, for a field: names for its own name, or else names for its form. */
export function wellKnownNames(field: string, { normalise }: RecordField): ReadonlySet<string> {
  const concept = conceptOf(readColumnName(field).subject) ?? (normalise && conceptOfForm[normalise])
  return (concept && namesOfConcept.get(concept)) || noNames
}

/** Concept of a subject; `undefined` if the subject is not well known. */
export function conceptOf(subject: string): string | undefined {
  for (const [concept, names] of namesOfConcept) if (names.has(subject)) return concept
  return undefined
}
