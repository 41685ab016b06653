import assert from 'node:assert/strict'
import { test } from 'node:test'
import { column, type Records, type Row } from '@penstock/connector'
import { digestOf } from './hash.ts'
import { type FieldLint, lintRows, planMapping } from './mapping.ts'

const sha256 = (text: string) => digestOf('sha256', text)
const md5 = (text: string) => digestOf('md5', text)

/** Findings of the lint for each field, without empty ones. */
function lint(records: Records | undefined, columns: readonly string[], rows: readonly Row[], defaultCountry?: string) {
  const { plan } = planMapping({ records, columns, mapping: undefined })
  assert.ok(plan)
  const fields = lintRows(plan, rows, defaultCountry ? { defaultCountry } : {})
  return Object.fromEntries(fields.map(({ field, ...rest }) => [field, found(rest)]))
}
const found = (counts: Omit<FieldLint, 'field'>) =>
  Object.fromEntries(Object.entries(counts).filter(([key, count]) => count !== 0 && key !== 'samples'))

const hashedEmail: Records = { email: column({ description: '', normalise: 'email', hashed: ['sha256'] }) }

test('Each value of a field is counted where it belongs', () => {
  assert.deepEqual(
    lint(
      hashedEmail,
      ['E-Mail'],
      [
        ['ada@example.com'],
        ['Ada@Example.com '],
        ['nobody'],
        [''],
        ['  '],
        [null],
        [sha256('')],
        [sha256('ada@example.com')],
        [sha256('ada@example.com').toUpperCase()],
        [md5('ada@example.com')],
        [sha256('ada@example.com').slice(1)],
        ['grace@example.com'],
        ['linus@example.com'],
        ['barbara@example.com'],
      ],
    ),
    {
      email: {
        column: 'E-Mail',
        records: 14,
        missing: 4,
        malformed: 1,
        unnormalised: 1,
        alreadyHashed: 2,
        wrongHashLength: 2,
        mixedKinds: 5,
      },
    },
  )
})

test('A digest is said to be hashed twice where the same row proves it', () => {
  const email = 'Ada@Example.com'
  const normal = 'ada@example.com'
  const rows: Row[] = [
    [sha256(sha256(normal)), email],
    [sha256(sha256(normal)), sha256(normal)],
    [sha256(md5(normal)), md5(normal).toUpperCase()],
    [sha256(normal), email],
    [sha256(sha256(normal)), null],
    [sha256(sha256('+14155552671')), '+1 (415) 555-2671'],
  ]
  assert.deepEqual(lint(hashedEmail, ['email', 'note'], rows), {
    email: { column: 'email', records: 6, alreadyHashed: 6, hashedTwice: 4 },
  })
})

test('A digest where the value itself is wanted is seen', () => {
  const plain: Records = {
    email: column({ description: '', normalise: 'email' }),
    id: column({ description: '', normalise: 'text' }),
  }
  assert.deepEqual(
    lint(
      plain,
      ['email', 'id'],
      [
        [sha256('x'), sha256('x')],
        ['ada@example.com', ' 7'],
      ],
    ),
    {
      email: { column: 'email', records: 2, alreadyHashed: 1, mixedKinds: 1 },
      id: { column: 'id', records: 2, unnormalised: 1, mixedKinds: 1 },
    },
  )
})

test('Kinds of identifiers that are mixed in one column are counted, in identifiers only', () => {
  const records: Records = {
    who: column({ description: '', identifiers: ['EMAIL', 'PHONE'] }),
    note: column({ description: '' }),
  }
  const rows: Row[] = [
    ['ada@example.com', 'ada@example.com'],
    ['grace@example.com', '+14155552671'],
    ['+1 (415) 555-2671', 'x'],
    ['4155552671', null],
    ['linus@example.com', null],
  ]
  assert.deepEqual(lint(records, ['who', 'note'], rows), {
    who: { column: 'who', records: 5, mixedKinds: 2 },
    note: { column: 'note', records: 5, missing: 2 },
  })
})

test('National phone numbers are judged by the country that the transfer would read them by', () => {
  const records: Records = { phone: column({ description: '', normalise: 'phone-e164', hashed: ['sha256'] }) }
  const rows: Row[] = [['0171 1234567'], ['+491711234567']]
  assert.deepEqual(lint(records, ['phone'], rows).phone, { column: 'phone', records: 2, malformed: 1 })
  assert.deepEqual(lint(records, ['phone'], rows, 'de').phone, { column: 'phone', records: 2, unnormalised: 1 })
})

test('Values that are none of the choices of a field are malformed', () => {
  const records: Records = { action: column({ description: '', values: ['add', 'remove'] }) }
  assert.deepEqual(lint(records, ['action'], [['add'], ['ADD'], ['give'], ['']]).action, {
    column: 'action',
    records: 4,
    missing: 1,
    malformed: 1,
  })
})

test('Columns for a store are only counted', () => {
  assert.deepEqual(lint(undefined, ['a'], [['x'], [null], [3]]), { a: { column: 'a', records: 3, missing: 1 } })
})

test('Samples show a value that fits, then one that cannot be used, each once and shortened', () => {
  const { plan } = planMapping({ records: hashedEmail, columns: ['E-Mail'], mapping: undefined })
  assert.ok(plan)
  const emails = [
    'ada@example.com',
    'Ada@Example.com ',
    null,
    '',
    'nobody',
    'no one',
    'grace@example.org',
    'x@example.com',
  ]
  const [field] = lintRows(
    plan,
    emails.map((email) => [email]),
  )
  assert.deepEqual(field?.samples, [
    { before: 'xxx@xxxx….xxx', after: 'xxxxxxxx…' },
    { before: 'xxxx…', after: null },
    { before: 'Xxx@Xxxx….xxx', after: 'xxxxxxxx…' },
  ])
})

test('Values that an expression makes are counted like those of a column, and rows without one as malformed', () => {
  const { plan } = planMapping({
    records: hashedEmail,
    columns: ['user', 'n'],
    mapping: { email: { expression: 'n > 1 ? user + "@example.com" : ""' } },
  })
  assert.ok(plan)
  const [lint] = lintRows(plan, [
    ['Ada', 2],
    ['Bob', 1],
    ['Eve', 'x'],
  ])
  assert.deepEqual(found(lint as FieldLint), {
    field: 'email',
    column: 'n > 1 ? user + "@example.com" : ""',
    records: 3,
    missing: 1,
    malformed: 1,
    unnormalised: 1,
  })
})
