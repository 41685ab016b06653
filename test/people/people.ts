import { createHash } from 'node:crypto'
import { Choices } from './choices.ts'
import { type Country, countries } from './countries.ts'

/**
 * A generated CSV file of people of five countries, as files of customers are: every spelling that people use, digests
 * among plain values, cells that say nothing or something wrong, rows without anything, rows that come twice. The
 * intended value is stored beside its spelling, so that a test knows the expected data of a platform without parsing a
 * cell.
 */

/** Text of a cell, and its intended value. */
export type Spelled<Truth> =
  | { readonly kind: 'value'; readonly truth: Truth; readonly cell: string }
  /** A digest of another system: SHA-256, or MD5. */
  | { readonly kind: 'sha256' | 'md5'; readonly hex: string; readonly cell: string }
  | { readonly kind: 'broken'; readonly cell: string }
  | { readonly kind: 'missing'; readonly cell: '' }

export type Email = { readonly local: string; readonly domain: string }
export type Phone = {
  /** The calling code of the country, and the number behind it. */
  readonly code: string
  readonly national: string
  /** Whether the country must be known from elsewhere. */
  readonly isNational: boolean
}
export type Birth = { readonly year: number; readonly month: number; readonly day: number }
export type State = { readonly name: string; readonly code?: string }

export type Person = {
  /** Of the row, from 1. Rows that come twice have their own number and the identifier of the first. */
  readonly number: number
  readonly id: string
  readonly email: Spelled<Email>
  readonly phone: Spelled<Phone>
  readonly first: Spelled<{ readonly title: string; readonly name: string }>
  readonly last: Spelled<{ readonly name: string; readonly suffix: string }>
  readonly birth: Spelled<Birth>
  readonly gender: Spelled<'m' | 'f'>
  readonly city: Spelled<string>
  readonly state: Spelled<State>
  readonly zip: Spelled<string>
  readonly country: Spelled<Country['code']>
  readonly device: Spelled<string>
  readonly click: Spelled<string>
  /** Seconds since 1970, within the past days. Absent in an empty row. */
  readonly eventTime: number | undefined
}

export const columns = [
  'id',
  'first_name',
  'last_name',
  'email',
  'phone',
  'birth_date',
  'birth_year',
  'birth_month',
  'birth_day',
  'gender',
  'city',
  'state',
  'zip',
  'country',
  'device_id',
  'click_id',
  'event_time',
  'value',
  'currency',
] as const

const missing = { kind: 'missing', cell: '' } as const
const broken = (cell: string) => ({ kind: 'broken', cell }) as const

/** People, always the same of one seed. @param now seconds since 1970, before which their events happened */
export function makePeople(count: number, seed: number, now: number): Person[] {
  const choices = new Choices(seed)
  const people: Person[] = []
  for (let number = 1; number <= count; number++) {
    const before = people[Math.floor(choices.next() * people.length)]
    if (before && choices.is(0.02)) people.push({ ...before, number })
    else if (choices.is(0.005)) people.push(nobody(number))
    else people.push(makePerson(number, choices, now))
  }
  return people
}

const nobody = (number: number): Person => ({
  number,
  id: '',
  email: missing,
  phone: missing,
  first: missing,
  last: missing,
  birth: missing,
  gender: missing,
  city: missing,
  state: missing,
  zip: missing,
  country: missing,
  device: missing,
  click: missing,
  eventTime: undefined,
})

function makePerson(number: number, choices: Choices, now: number): Person {
  const country = choices.of(countries)
  const hasCountry = choices.is(0.96)
  const gender = choices.of(['m', 'f'] as const)
  const name = choices.of(country.givenNames)
  const family = choices.of(country.familyNames)
  const place: Person['country'] = hasCountry
    ? spelled(choices, country.code, dirtyCase(choices, choices.of(country.names)), ['Atlantis'], 0.004, 0)
    : missing
  return {
    number,
    id: `c-${number}`,
    email: emailOf(number, choices, name, family),
    phone: phoneOf(country, place.kind === 'value', choices),
    first: spelledName(choices, name, { title: choices.is(0.08) ? choices.of(['Dr. ', 'Mr. ', 'Mrs. ', 'ms ']) : '' }),
    last: spelledName(choices, family, {
      suffix: choices.is(0.05) ? choices.of([', Jr.', ' III', ' Jr', ', MD']) : '',
    }),
    birth: birthOf(choices),
    gender: spelled(choices, gender, choices.of(genders[gender]), ['x', 'unknown', '-']),
    city: maybe(choices, dirty(choices, choices.of(country.cities))),
    state: stateOf(choices, country),
    zip: maybe(choices, { truth: choices.of(country.zips) }),
    country: place,
    device: deviceOf(number, choices),
    click: choices.is(0.8) ? { kind: 'value', truth: `Click-${number}_xY`, cell: `Click-${number}_xY` } : missing,
    eventTime: now - 60 - Math.floor(choices.next() * 5 * 86_400),
  }
}

const genders = {
  m: ['m', 'M', 'male', 'Male', 'MANN', 'homme', ' m '],
  f: ['f', 'F', 'female', 'Female', 'Frau', 'femme', 'mulher'],
} as const

/** A value that is now and then broken or missing. */
function spelled<Truth>(
  choices: Choices,
  truth: Truth,
  cell: string,
  brokenCells: readonly string[],
  brokenShare = 0.03,
  missingShare = 0.1,
): Spelled<Truth> {
  const chance = choices.next()
  if (chance < missingShare) return missing
  if (chance < missingShare + brokenShare) return broken(choices.of(brokenCells))
  return { kind: 'value', truth, cell }
}

const maybe = (choices: Choices, { truth, cell = truth }: { truth: string; cell?: string }): Spelled<string> =>
  choices.is(0.15) ? missing : { kind: 'value', truth, cell }

/** In any letter case, with surrounding spaces, and with separate accents. */
function dirty(choices: Choices, truth: string): { truth: string; cell: string } {
  const cased = dirtyCase(choices, truth)
  const composed = choices.is(0.1) ? cased.normalize('NFD') : cased
  return { truth, cell: choices.is(0.2) ? `${choices.of([' ', '  ', '\u00a0'])}${composed} ` : composed }
}

function dirtyCase(choices: Choices, text: string): string {
  // The capital of `ß` is two letters.
  if (text.includes('ß')) return text
  return choices.of([text, text, text.toUpperCase(), text.toLowerCase()])
}

function spelledName<More extends { title: string } | { suffix: string }>(
  choices: Choices,
  name: string,
  more: More,
): Spelled<{ readonly name: string } & More> {
  const chance = choices.next()
  if (chance < 0.05) return missing
  if (chance < 0.07) return broken(choices.of(['-', '.', '???']))
  const { cell } = dirty(choices, `${'title' in more ? more.title : ''}${name}${'suffix' in more ? more.suffix : ''}`)
  return { kind: 'value', truth: { name, ...more }, cell }
}

const brokenEmails = [
  'jane.example.com',
  'jane(at)example.com',
  'jane@',
  '@example.com',
  'n/a',
  'jane@@example.com',
  '-',
]
const domains = [
  'example.com',
  'gmail.com',
  'googlemail.com',
  'example.de',
  'mail.example.co.uk',
  'Example.FR',
  'GMAIL.com',
]

/** Only ASCII letters, as most addresses have them. */
const asciiOf = (name: string) => name.normalize('NFD').replace(/[^A-Za-z]/g, '')

function emailOf(number: number, choices: Choices, name: string, family: string): Spelled<Email> {
  const chance = choices.next()
  const digestAt = (algorithm: 'sha256' | 'md5') => digestCell(algorithm, `person${number}@example.com`, choices)
  if (chance < 0.08) return missing
  if (chance < 0.12) return broken(choices.of(brokenEmails))
  if (chance < 0.3) return digestAt('sha256')
  if (chance < 0.31) return digestAt('md5')
  const between = choices.of(['.', '', '_', '-', '.'])
  const tag = choices.is(0.15) ? choices.of(['+news', '+Shop.2026', '+a+b']) : ''
  const local = `${asciiOf(name)}${between}${asciiOf(family)}${number}${tag}`
  const domain = choices.of(domains)
  const { cell } = dirty(choices, `${local}@${domain}`)
  return { kind: 'value', truth: { local, domain }, cell }
}

function digestCell(algorithm: 'sha256' | 'md5', text: string, choices: Choices): Spelled<never> {
  const hex = createHash(algorithm).update(text).digest('hex')
  return { kind: algorithm, hex, cell: choices.of([hex, hex, hex.toUpperCase(), ` ${hex} `]) }
}

const brokenPhones = ['call me', '12345', '+49 abc', 'n/a', '555-NO-NUMBER', '0', '+']

function phoneOf(country: Country, hasCountry: boolean, choices: Choices): Spelled<Phone> {
  const chance = choices.next()
  if (chance < 0.12) return missing
  if (chance < 0.16) return broken(choices.of(brokenPhones))
  const digits = (length: number) => Array.from({ length }, () => Math.floor(choices.next() * 10)).join('')
  const parts = country.phoneParts(choices, digits)
  const national = parts.join('')
  if (chance < 0.26) return digestCell('sha256', `+${country.callingCode}${national}`, choices)
  const isNational = choices.is(0.5)
  // Without its country, a number of only digits could belong to several countries, so its meaning is unknown.
  const forms = isNational ? country.nationalForms(parts, hasCountry) : internationalForms(country, parts)
  const cell = choices.of(forms)
  return { kind: 'value', truth: { code: country.callingCode, national, isNational }, cell }
}

function internationalForms({ callingCode, hasTrunkZero }: Country, parts: readonly string[]): string[] {
  const number = parts.join(' ')
  return [
    `+${callingCode}${parts.join('')}`,
    `+${callingCode} ${number}`,
    `+${callingCode}-${parts.join('-')}`,
    `00${callingCode} ${number}`,
    `${callingCode}${parts.join('')}`,
    `(+${callingCode}) ${number}`,
    ` +${callingCode}.${parts.join('.')} `,
    ...(hasTrunkZero ? [`+${callingCode} (0)${number}`, `00${callingCode} (0) ${number}`] : []),
  ]
}

function birthOf(choices: Choices): Spelled<Birth> {
  const truth = { year: 1940 + choices.below(66), month: 1 + choices.below(12), day: 1 + choices.below(28) }
  const { year, month, day } = truth
  const two = (value: number) => String(value).padStart(2, '0')
  const short = new Date(Date.UTC(year, month - 1, day)).toLocaleString('en-US', { month: 'short', timeZone: 'UTC' })
  const forms = [
    `${year}-${two(month)}-${two(day)}`,
    `${year}${two(month)}${two(day)}`,
    `${two(day)}.${two(month)}.${year}`,
    `${day} ${short} ${year}`,
    `${short} ${day}, ${year}`,
    `${year}/${month}/${day}`,
    ...(day > 12 ? [`${day}/${month}/${year}`, `${two(month)}/${day}/${year}`] : []),
  ]
  return spelled(choices, truth, choices.of(forms), ['31.02.1980', '03/04/1980', 'yesterday', '1850-01-01'])
}

function stateOf(choices: Choices, { states }: Country): Spelled<State> {
  const truth = choices.of(states)
  const text = truth.code !== undefined && choices.is(0.5) ? truth.code : truth.name
  const { cell } = dirty(choices, text)
  return choices.is(0.2) ? missing : { kind: 'value', truth, cell }
}

function deviceOf(number: number, choices: Choices): Spelled<string> {
  const chance = choices.next()
  if (chance < 0.6) return missing
  if (chance < 0.62) return broken('00000000-0000-0000-0000-000000000000')
  const truth = createHash('md5').update(`device ${number}`).digest('hex')
  const uuid = truth.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return { kind: 'value', truth: uuid, cell: choices.of([uuid, uuid.toUpperCase()]) }
}

/** The cells of a row, as the file has them. */
export function cellsOf(person: Person): Readonly<Record<(typeof columns)[number], string>> {
  const { birth, eventTime } = person
  const part = (key: keyof Birth) => (birth.kind === 'value' ? String(birth.truth[key]) : '')
  const isThere = eventTime !== undefined
  return {
    id: person.id,
    first_name: person.first.cell,
    last_name: person.last.cell,
    email: person.email.cell,
    phone: person.phone.cell,
    birth_date: birth.cell,
    birth_year: part('year'),
    birth_month: part('month'),
    birth_day: part('day'),
    gender: person.gender.cell,
    city: person.city.cell,
    state: person.state.cell,
    zip: person.zip.cell,
    country: person.country.cell,
    device_id: person.device.cell,
    click_id: person.click.cell,
    event_time: isThere ? new Date(eventTime * 1000).toISOString() : '',
    value: isThere ? '9.50' : '',
    currency: isThere ? 'EUR' : '',
  }
}

/** The file. */
export function csvOf(people: readonly Person[]): string {
  const quoted = (cell: string) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  const lines = people.map((person) => {
    const cells = cellsOf(person)
    return columns.map((column) => quoted(cells[column])).join(',')
  })
  return `${[columns.join(','), ...lines].join('\n')}\n`
}
