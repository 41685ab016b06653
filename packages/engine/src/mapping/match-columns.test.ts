import assert from 'node:assert/strict'
import { test } from 'node:test'
import { column, type Records } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { meaningOf } from './column-meanings.ts'
import { exports, headersOf, unseenExports } from './exported-headers.ts'
import { matchColumns } from './match-columns.ts'

/** Fields of destinations of audiences and of events. */
const fields: Records = {
  email: column({ description: '', normalise: 'email', hashed: ['sha256'], oneOf: 'identifier' }),
  phone: column({ description: '', normalise: 'phone-e164', hashed: ['sha256'], oneOf: 'identifier' }),
  first_name: column({ description: '', normalise: 'given-name', hashed: ['sha256'], synonyms: ['fn'] }),
  last_name: column({ description: '', normalise: 'family-name', hashed: ['sha256'], synonyms: ['ln'] }),
  gender: column({ description: '', normalise: 'gender', hashed: ['sha256'] }),
  date_of_birth: column({ description: '', normalise: 'birth-date', hashed: ['sha256'] }),
  city: column({ description: '', normalise: 'city', hashed: ['sha256'] }),
  state: column({ description: '', normalise: 'state', hashed: ['sha256'] }),
  zip: column({ description: '', normalise: 'postal-code', hashed: ['sha256'] }),
  country: column({ description: '', normalise: 'country', hashed: ['sha256'] }),
  external_id: column({ description: '', normalise: 'external-id', hashed: ['sha256'] }),
  event_time: column({ description: '', required: true, reads: 'time', synonyms: ['timestamp', 'occurred_at'] }),
  value: column({ description: '', reads: 'number', synonyms: ['conversion_value', 'revenue', 'amount'] }),
  currency: column({ description: '', synonyms: ['currency_code'] }),
  order_id: column({ description: '', synonyms: ['transaction_id'] }),
  num_items: column({ description: '', reads: 'number', synonyms: ['item_count', 'quantity'] }),
  ip_address: column({ description: '', synonyms: ['client_ip'] }),
}
const ofPersons = new Set(Object.keys(fields).slice(0, 11))

/** The field for which each column is proposed. */
const fieldsOf = (names: readonly string[], records: Records = fields) =>
  new Map(matchColumns(records, names).flatMap(({ field, column }) => (column === undefined ? [] : [[column, field]])))

/** Counts the proposals for exports; fails if a proposal is wrong for a field that identifies a person. */
function measure(of: Readonly<Record<string, string>>) {
  const count = { headers: 0, wanted: 0, right: 0 }
  const missed: string[] = []
  const wrong: string[] = []
  for (const [origin, text] of Object.entries(of)) {
    const headers = headersOf(text)
    const found = fieldsOf(headers.map(({ name }) => name))
    for (const { name, expected } of headers) {
      const field = found.get(name)
      count.headers++
      if (expected !== undefined) count.wanted++
      if (field !== undefined && field === expected) count.right++
      else if (field !== undefined) {
        wrong.push(`${origin}: ${name} → ${field}`)
        assert.ok(!ofPersons.has(field), `${origin}: ${name} is proposed for ${field}`)
      } else if (expected !== undefined) missed.push(`${origin}: ${name}`)
    }
  }
  return { ...count, share: count.right / count.wanted, missed, wrong }
}

test('Most columns of what shops, CRMs and mail tools export are proposed rightly, and none wrongly', () => {
  const { headers, share, missed, wrong } = measure(exports)
  assert.ok(headers >= 300, `${headers}`)
  assert.deepEqual(wrong, [])
  assert.ok(share >= 0.97, `${share}; missed ${missed.join(', ')}`)
})

test('So are those of exports for which the names were not collected', () => {
  const { share, missed, wrong } = measure(unseenExports)
  assert.deepEqual(wrong, [])
  assert.ok(share >= 0.85, `${share}; missed ${missed.join(', ')}`)
})

test('Columns that may be meant are suggested for their field, and taken by none', () => {
  for (const [origin, text] of Object.entries(exports)) {
    const headers = headersOf(text)
    const matches = matchColumns(
      fields,
      headers.map(({ name }) => name),
    )
    const open = new Map(matches.flatMap(({ field, column, candidates }) => (column ? [] : [[field, candidates]])))
    for (const { name, suggestedFor } of headers) {
      const candidates = suggestedFor && open.get(suggestedFor)
      if (candidates && candidates.length < 5) assert.ok(candidates.includes(name), `${origin}: ${name}`)
    }
  }
})

test('Each name alone is proposed for no field but its own', () => {
  const wrong = Object.entries(exports).flatMap(([origin, text]) =>
    headersOf(text).flatMap(({ name, expected, suggestedFor }) => {
      const field = fieldsOf([name]).get(name)
      return field === undefined || field === expected || field === suggestedFor
        ? []
        : [`${origin}: ${name} → ${field}`]
    }),
  )
  assert.deepEqual(wrong, [])
})

test('What speaks of an e-mail address, a phone or a total is not always one', () => {
  const others = `Email Marketing Consent; Email Domain; Email Opt Out; Accepts Email Marketing; Phone (other); Other Phone;
    Work phone; Fax; Total Discount; Total Spent; Total Tax; Shipping Total; Customer Name; Full Name; Company Name; Order Status;
    Country of birth; City preferences; Last Order Date; First Order Date; Date Shipped; Email 2; Secondary Email; Phone verified;
    Card Country; Store Currency; State of order; Birth place; Gender preference; User agent string length; Converted Currency`
  for (const { name } of headersOf(others)) assert.equal(fieldsOf([name]).get(name), undefined, name)
})

test('An own name wins over every other, and a shipping address is only suggested', () => {
  assert.deepEqual(fieldsOf(['E-Mail-Adresse', 'email', 'Courriel']).get('email'), 'email')
  assert.deepEqual(matchColumns(fields, ['Shipping Country']), [
    { field: 'country', column: undefined, candidates: ['Shipping Country'], byDefault: undefined },
  ])
  assert.deepEqual([...fieldsOf(['Billing Country'])], [['Billing Country', 'country']])
  assert.deepEqual(matchColumns(fields, ['Shipping Country', 'Billing Country']), [
    { field: 'country', column: undefined, candidates: ['Billing Country', 'Shipping Country'], byDefault: undefined },
  ])
  assert.deepEqual([...fieldsOf(['Shipping Country', 'Country'])], [['Country', 'country']])
})

test('Hashed columns are proposed for fields that take their digests', () => {
  assert.deepEqual([...fieldsOf(['sha256_e-mail-adresse'])], [['sha256_e-mail-adresse', 'email']])
  assert.deepEqual([...fieldsOf(['E-Mail-Adresse MD5'])], [])
})

test('Of two fields for the same, the second gets no second column but a hashed one', () => {
  const both: Records = {
    email: column({ description: '', normalise: 'email' }),
    email_sha256: column({ description: '', normalise: 'email', hashed: ['sha256'] }),
    dobd_sha256: column({ description: '', normalise: 'birth-day', hashed: ['sha256'], synonyms: ['birth_day'] }),
  }
  assert.deepEqual(
    [...fieldsOf(['E-Mail-Adresse', 'Rechnungs-E-Mail', 'Birthday'], both)],
    [['E-Mail-Adresse', 'email']],
  )
  assert.deepEqual(
    [...fieldsOf(['Courriel', 'Courriel SHA256'], both)],
    [
      ['Courriel', 'email'],
      ['Courriel SHA256', 'email_sha256'],
    ],
  )
})

test('A proposal says which column a transfer takes without a mapping', () => {
  assert.deepEqual(matchColumns(fields, ['Courriel', 'Mobile', 'sex']), [
    { field: 'email', column: 'Courriel', candidates: [], byDefault: undefined },
    { field: 'phone', column: 'Mobile', candidates: [], byDefault: 'Mobile' },
    { field: 'gender', column: 'sex', candidates: [], byDefault: 'sex' },
  ])
})

test('Identifiers that go together are only suggested while one of them has no column', () => {
  const together: Records = Object.fromEntries(
    Object.entries({ fn: 'given-name', ln: 'family-name' } as const).map(([name, normalise]) => [
      name,
      column({ description: '', normalise, oneOf: 'identifier', together: 'name' }),
    ]),
  )
  assert.deepEqual(matchColumns(together, ['Vorname']), [
    { field: 'fn', column: undefined, candidates: ['Vorname'], byDefault: undefined },
  ])
  assert.deepEqual([...fieldsOf(['Vorname', 'Nachname'], together).values()], ['fn', 'ln'])
})

const known = Object.values(exports).flatMap((text) => headersOf(text).map(({ name }) => name))
const anyName = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, fc.string({ unit: 'grapheme' }))

test('Proposals do not depend on the order of the columns, and name columns that are there, each once', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyName, { maxLength: 60 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (names, keys) => {
        const matches = matchColumns(fields, names)
        const shuffled = names.map((name) => ({ name, key: keys.next().value })).sort((a, b) => a.key - b.key)
        const again = matchColumns(
          fields,
          shuffled.map(({ name }) => name),
        )
        assert.deepEqual(again, matches)
        const chosen = matches.flatMap(({ column }) => (column === undefined ? [] : [column]))
        assert.equal(new Set(chosen).size, chosen.length)
        for (const { column, candidates } of matches) {
          assert.ok(column === undefined || names.includes(column))
          assert.ok(candidates.every((name) => names.includes(name) && !chosen.includes(name)))
        }
      },
    ),
  )
})

test('Any name is read in little time', () => {
  const long = 'customercontact'.repeat(4_000)
  const before = performance.now()
  for (const name of [long, `${long}email`, '/'.repeat(50_000), '('.repeat(50_000), ' ('.repeat(50_000)])
    meaningOf(name)
  assert.ok(performance.now() - before < 2_000)
})
