import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cell, column, type Records, type Row } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { digestOf } from './hash.ts'
import { createMapper, type Mapping, planMapping } from './mapping.ts'
import { normalisers } from './normalise.ts'

const sha256 = (text: string) => digestOf('sha256', text)

/** Maps rows of these columns, which are called as the fields are. */
function mapRows(
  records: Records | undefined,
  columns: readonly string[],
  rows: readonly Row[],
  {
    mapping,
    defaultCountry,
    skip,
  }: { mapping?: Mapping; defaultCountry?: string; skip?: ReadonlyMap<number, string> } = {},
) {
  const { plan, fieldErrors } = planMapping({ records, columns, mapping })
  assert.ok(plan, JSON.stringify(fieldErrors))
  const {
    rows: mapped,
    errors: found,
    emptied,
  } = createMapper(plan, defaultCountry ? { defaultCountry } : {})(rows, skip)
  return {
    columns: plan.columns,
    rows: mapped,
    emptied,
    reasons: Object.fromEntries([...found].map(([at, { reason }]) => [at, reason])),
    fields: Object.fromEntries([...found].map(([at, { field }]) => [at, field])),
    others: Object.fromEntries([...found].flatMap(([at, { others }]) => (others ? [[at, others]] : []))),
  }
}

const identifiers: Records = {
  action: column({ description: 'What to do', required: true, values: ['add', 'remove'] }),
  email: column({ description: 'E-mail', normalise: 'email', hashed: ['sha256'], oneOf: 'identifier' }),
  phone: column({ description: 'Phone', normalise: 'phone-e164', hashed: ['sha256', 'md5'], oneOf: 'identifier' }),
}
const columns = ['action', 'email', 'phone']

test('Values are normalised and hashed; what is hashed already is only brought into lower case', () => {
  const hashed = sha256('ada@example.com')
  const md5 = digestOf('md5', '+14155552671')
  const { rows, reasons } = mapRows(identifiers, columns, [
    ['ADD ', ' Ada@Example.com', '+1 (415) 555-2671'],
    ['add', ` ${hashed.toUpperCase()} `, md5.toUpperCase()],
  ])
  assert.deepEqual(reasons, {})
  assert.deepEqual(rows, [
    ['add', hashed, sha256('+14155552671')],
    ['add', hashed, md5],
  ])
})

test('An identifier that cannot be used is left out while another is there, and counted; else its row is at error', () => {
  const { rows, reasons, fields, emptied } = mapRows(identifiers, columns, [
    ['add', 'nobody', '+14155552671'],
    ['add', 'nobody', ''],
    ['add', 'nobody', 'none'],
    ['add', null, '  '],
    ['add', sha256(''), null],
    ['add', digestOf('md5', 'ada@example.com'), null],
    ['add', 'ada@example.com', 'ext 12'],
  ])
  assert.deepEqual(rows[0], ['add', null, sha256('+14155552671')])
  assert.deepEqual(emptied, [0, 1, 1])
  assert.deepEqual(reasons, {
    1: 'email is not an e-mail address',
    2: 'email is not an e-mail address',
    3: 'One of email, phone is needed, and all are missing',
    4: 'One of email, phone is needed, and all are missing',
    5: 'email is hashed, but by something else than SHA-256',
  })
  assert.deepEqual(fields, { 1: 'email', 2: 'email', 3: 'email', 4: 'email', 5: 'email' })
})

test('Any other value that is wrong, and a required one that is missing, is an error of its row', () => {
  const records: Records = {
    action: column({ description: 'What to do', required: true, values: ['add', 'remove'] }),
    born: column({ description: 'Birth date', normalise: 'birth-date' }),
    place: column({ description: 'City', normalise: 'city' }),
  }
  const { rows, reasons } = mapRows(
    records,
    ['action', 'born', 'place'],
    [
      ['add', '1985-12-31', 'New York'],
      ['give', '1985-12-31', null],
      ['add', '2/3/1985', null],
      ['', '', ''],
      [null, null, null],
      ['remove', '', sha256('newyork')],
      ['Remove', 19851231, undefined as unknown as Cell],
    ],
  )
  assert.deepEqual(rows[0], ['add', '19851231', 'newyork'])
  assert.deepEqual(rows[6], ['remove', '19851231', null])
  assert.deepEqual(reasons, {
    1: 'action must be one of add, remove',
    2: 'born is not a date, or is ambiguous: write it as YYYY-MM-DD',
    3: 'action is missing',
    4: 'action is missing',
    5: 'place is hashed, but the destination needs the plain value',
  })
})

test('A row has all of its faults, one for each field', () => {
  const records: Records = {
    email: column({ description: 'E-mail', normalise: 'email', required: true }),
    country: column({ description: 'Country', normalise: 'country' }),
    name: column({ description: 'Name', required: true }),
    city: column({ description: 'City', together: 'place' }),
    zip: column({ description: 'ZIP', together: 'place' }),
  }
  const { reasons, fields, others } = mapRows(records, Object.keys(records), [
    ['x', 'nowhere', '', 'Rome', ''],
    ['x', 'Italy', 'Ada', '', ''],
    ['ada@example.com', 'Italy', 'Ada', '', ''],
  ])
  assert.deepEqual(fields, { 0: 'email', 1: 'email' })
  assert.deepEqual(reasons, { 0: 'email is not an e-mail address', 1: 'email is not an e-mail address' })
  assert.deepEqual(others, {
    0: [
      { field: 'country', reason: 'country is not a country' },
      { field: 'name', reason: 'name is missing' },
      { field: 'zip', reason: 'zip is missing, and city cannot go without it' },
    ],
  })
})

test('A value of a field that only helps is left out if it cannot be used', () => {
  const records: Records = {
    email: column({ description: 'E-mail', normalise: 'email', oneOf: 'identifier' }),
    country: column({ description: 'Country', normalise: 'country', leftOutIfUnusable: true }),
  }
  const { rows, reasons, emptied } = mapRows(records, Object.keys(records), [
    ['ada@example.com', 'Atlantis'],
    ['ada@example.com', 'Germany'],
    ['nobody', 'Atlantis'],
  ])
  assert.deepEqual(rows.slice(0, 2), [
    ['ada@example.com', null],
    ['ada@example.com', 'de'],
  ])
  assert.deepEqual(emptied, [0, 1])
  assert.deepEqual(reasons, { 2: 'email is not an e-mail address' })
})

test('Fields that go together are there together: identifiers are left out, other fields are an error', () => {
  const together: Records = {
    email: column({ description: 'E-mail', normalise: 'email', oneOf: 'identifier' }),
    fn: column({ description: 'First name', normalise: 'name', oneOf: 'identifier', together: 'address' }),
    ln: column({ description: 'Last name', normalise: 'name', oneOf: 'identifier', together: 'address' }),
    value: column({ description: 'Value', together: 'money' }),
    currency: column({ description: 'Currency', together: 'money' }),
  }
  const { rows, reasons, emptied } = mapRows(together, Object.keys(together), [
    ['ada@example.com', 'Ada', 'Lovelace', 12.5, 'EUR'],
    ['ada@example.com', 'Ada', null, null, null],
    [null, 'Ada', null, null, null],
    ['ada@example.com', null, null, 12.5, null],
    [null, 'Ada', 'Lovelace', null, null],
  ])
  assert.deepEqual(rows[0], ['ada@example.com', 'ada', 'lovelace', 12.5, 'EUR'])
  assert.deepEqual(rows[1], ['ada@example.com', null, null, null, null])
  assert.deepEqual(emptied, [0, 1, 0, 0, 0])
  assert.deepEqual(reasons, {
    2: 'ln is missing, and fn cannot go without it',
    3: 'currency is missing, and value cannot go without it',
  })
})

test('National phone numbers are read by the country of their row, else by the default one', () => {
  const records: Records = { phone: column({ description: 'Phone', normalise: 'phone-e164', required: true }) }
  const rows: Row[] = [
    ['0171 1234567', 'Germany'],
    ['07400 123456', 'UK'],
    ['(415) 555-2671', null],
    ['+49 171 1234567', 'US'],
    ['(415) 555-2671', 'Atlantis'],
  ]
  const { rows: mapped } = mapRows(records, ['phone', 'Country'], rows, { defaultCountry: 'usa' })
  assert.deepEqual(mapped.flat(), ['+491711234567', '+447400123456', '+14155552671', '+491711234567', '+14155552671'])
  const { reasons } = mapRows(records, ['phone', 'Country'], rows)
  assert.deepEqual(Object.keys(reasons), ['2', '4'])
  assert.match(reasons[2] ?? '', /lacks its country code: .*a column with the country, or set defaultCountry/)
})

test('A country that a mapping gives to all rows is the one by which their phone numbers are read', () => {
  const records: Records = {
    phone: column({ description: 'Phone', normalise: 'phone-e164', required: true }),
    country: column({ description: 'Country', normalise: 'country' }),
  }
  const mapping = { country: { value: 'USA' } }
  const { rows } = mapRows(records, ['phone'], [['4695551234'], ['+46 8 123456 78']], { mapping })
  assert.deepEqual(rows, [
    ['+14695551234', 'us'],
    ['+46812345678', 'us'],
  ])
  const any = planMapping({
    records: undefined,
    columns: ['Phone'],
    mapping: { phone: { column: 'Phone', normalise: 'phone-digits' }, country: { value: 'US' } },
  })
  assert.ok(any.plan)
  assert.deepEqual(createMapper(any.plan)([['4695551234']]).rows, [['14695551234', 'US']])
})

test('One value for all rows is brought into the form like any other', () => {
  const { rows } = mapRows(identifiers, ['mail'], [['ada@example.com']], {
    mapping: { action: { value: 'Remove' }, phone: { value: '+1 415 555 2671' } },
  })
  assert.deepEqual(rows, [['remove', sha256('ada@example.com'), sha256('+14155552671')]])
})

test('What looks like a digest of another kind is never hashed again, unless identifiers may look so', () => {
  const records: Records = {
    email: column({ description: 'E-mail', normalise: 'email', hashed: ['sha256'] }),
    id: column({ description: 'Own ID', normalise: 'text', hashed: ['sha256'] }),
    any: column({ description: 'Anything', hashed: ['sha512'] }),
  }
  const md5 = digestOf('md5', 'x')
  const { rows, reasons } = mapRows(
    records,
    ['email', 'id', 'any'],
    [
      [null, md5, ' x '],
      [md5, null, null],
      [null, digestOf('sha512', 'x'), null],
      [null, null, sha256('x')],
    ],
  )
  assert.deepEqual(rows[0], [null, sha256(md5), digestOf('sha512', ' x ')])
  assert.deepEqual(reasons, {
    1: 'email is hashed, but by something else than SHA-256',
    2: 'id is hashed, but by something else than SHA-256',
    3: 'any is hashed, but by something else than SHA-512',
  })
})

test('A digest is written in Base64 where the destination wants that, whatever it was made of', () => {
  const records: Records = {
    email: column({ description: '', normalise: 'email-gmail', hashed: ['sha256'], digestEncoding: 'base64' }),
    phone: column({ description: '', normalise: 'phone-e164', hashed: ['sha256'], digestEncoding: 'base64' }),
  }
  // UID2: the examples of its page about normalisation and encoding.
  const email = 'ku4mBX7Z3qJTXWyLFB1INzkyR2WZGW4ANSJUiW21iI8='
  const phone = 'EObwtHBUqDNZR33LNSMdtt5cafsYFuGmuY4ZLenlue4='
  const { rows, reasons } = mapRows(
    records,
    ['email', 'phone'],
    [
      ['Jane.Saoirse+Work@gmail.com', '1 (234) 567-8901'],
      ['92EE26057ED9DEA2535D6C8B141D48373932476599196E00352254896DB5888F', phone],
      [email, sha256('')],
      [Buffer.from(sha256(''), 'hex').toString('base64'), null],
      [null, phone.slice(0, -1)],
    ],
  )
  assert.deepEqual(rows.slice(0, 4), [
    [email, phone],
    [email, phone],
    [email, null],
    [null, null],
  ])
  assert.deepEqual(Object.keys(reasons), ['4'])
})

test('Rows for a store pass untouched or with their columns chosen, and keep the types of their values', () => {
  const rows: Row[] = [
    [1, true, null, ''],
    ['x', false, 2.5, ' y '],
  ]
  const asIs = mapRows(undefined, ['a', 'b', 'c', 'd'], rows)
  assert.equal(asIs.rows, rows)
  const some = mapRows(undefined, ['a', 'b', 'c', 'd'], rows, { mapping: { z: 'd', y: 'b', k: { value: 'v' } } })
  assert.deepEqual(some.rows, [
    ['', true, 'v'],
    [' y ', false, 'v'],
  ])
})

test('Rows that have their error already get no other, and short ones do no harm', () => {
  const { reasons, rows, emptied } = mapRows(identifiers, columns, [['give'], ['add', 'x'], ['give']], {
    skip: new Map([
      [0, 'too few cells'],
      [1, 'too few cells'],
    ]),
  })
  assert.deepEqual(Object.keys(reasons), ['2'])
  assert.equal(rows.length, 3)
  assert.deepEqual(emptied, [0, 0, 0])
})

/** Every form, as a column that is hashed and as a column that is not. */
test('For any rows: what is delivered is in its form, and no reason holds a value', () => {
  const records: Records = {
    email: column({ description: '', normalise: 'email-gmail', hashed: ['sha256'], oneOf: 'identifier' }),
    phone: column({ description: '', normalise: 'phone-digits', oneOf: 'identifier' }),
    first_name: column({ description: '', normalise: 'name', hashed: ['sha256'] }),
    country: column({ description: '', normalise: 'country', required: true }),
  }
  const value = fc.oneof(
    fc.constantFrom<Cell>(null, '', ' ', 'Secret-Value@Gmail.com', '+14155552671', 'Germany', 'us', 17_000_000, true),
    fc.string({ unit: 'binary' }),
    fc.string().map(sha256),
  )
  const { plan } = planMapping({ records, columns: Object.keys(records), mapping: undefined })
  assert.ok(plan)
  const mapper = createMapper(plan)
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value, value, value)), (rows) => {
      const { rows: mapped, errors } = mapper(rows)
      assert.equal(mapped.length, rows.length)
      for (const [at, row] of mapped.entries()) {
        const error = errors.get(at)
        if (error) {
          assert.match(error.reason, /^(email|phone|first_name|country|One of email, phone) [a-zA-Z -]+/)
          for (const cell of rows[at] ?? []) {
            if (typeof cell === 'string' && cell.length > 12) assert.ok(!error.reason.includes(cell))
          }
          continue
        }
        const [email, phone, name, country] = row
        assert.ok(email || phone)
        for (const digest of [email, name]) if (digest !== null) assert.match(String(digest), /^[0-9a-f]{64}$|^$/)
        if (phone) assert.match(String(phone), /^[1-9]\d{6,14}$/)
        assert.match(String(country), /^[a-z]{2}$/)
      }
      // The same rows give the same result again, although names were cached.
      assert.deepEqual(mapper(rows).rows, mapped)
    }),
  )
  assert.equal(
    mapper([['Secret.Value+1@Gmail.com', null, ' JOHN', 'USA']]).rows[0]?.[0],
    sha256('secretvalue@gmail.com'),
  )
  assert.equal(mapper([[null, '+1 415 555 2671', ' JOHN', 'USA']]).rows[0]?.[2], sha256(normalisers.name('john') ?? ''))
})

test('A mapping says what single values stand for, and the value where the column is empty', () => {
  const records: Records = {
    action: column({ description: 'What to do', required: true, values: ['add', 'remove'] }),
    phone: column({ description: 'Phone', normalise: 'phone-e164', oneOf: 'identifier' }),
    country: column({ description: 'Country', normalise: 'country' }),
  }
  const mapping: Mapping = {
    action: { column: 'Werbesperre', values: { ja: 'remove', nein: 'add' }, default: 'add' },
    country: { column: 'Land', values: { 'D-A-CH': null, Flandern: 'BE' }, default: 'DE' },
  }
  const { rows, reasons } = mapRows(
    records,
    ['Werbesperre', 'phone', 'Land'],
    [
      [' JA', '0664 5550134', 'Österreich'],
      ['nein', '0171 5550123', ''],
      [null, '0171 5550123', ' '],
      ['', '0470 12 34 56', 'flandern'],
      ['nein', '+43 664 5550134', 'd-a-ch'],
      ['vielleicht', '+43 664 5550134', 'AT'],
    ],
    { mapping },
  )
  assert.deepEqual(rows.slice(0, 5), [
    ['remove', '+436645550134', 'at'],
    ['add', '+491715550123', 'de'],
    ['add', '+491715550123', 'de'],
    ['add', '+32470123456', 'be'],
    ['add', '+436645550134', 'de'],
  ])
  assert.deepEqual(reasons, { 5: 'action must be one of add, remove' })
})

test('Values that a mapping gives instead of others are checked like one value for all rows', () => {
  const mapping: Mapping = { action: { column: 'x', values: { ja: 'give' } }, email: { column: 'y', default: 'none' } }
  const { fieldErrors } = planMapping({ records: identifiers, columns: ['x', 'y'], mapping, path: 'm' })
  assert.deepEqual(fieldErrors?.slice(0, 2), [
    { field: 'm.action', message: 'must be one of add, remove: "give" is not' },
    { field: 'm.email', message: 'is not an e-mail address: "none" is not' },
  ])
})
