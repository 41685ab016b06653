import assert from 'node:assert/strict'
import { test } from 'node:test'
import { column, type Records } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { scanJson } from './json-text.ts'
import { type Mapping, mappingErrors, planMapping, readMapping } from './mapping.ts'

/** A customer list as platforms define one. */
const people: Records = {
  action: column({ description: 'What to do', required: true, values: ['add', 'remove'] }),
  email_sha256: column({ description: 'E-mail', normalise: 'email', hashed: ['sha256'], oneOf: 'identifier' }),
  phone_sha256: column({ description: 'Phone', normalise: 'phone-e164', hashed: ['sha256'], oneOf: 'identifier' }),
  maid: column({ description: 'Device', normalise: 'device-id', oneOf: 'identifier' }),
  fn: column({
    description: 'First name',
    normalise: 'name',
    hashed: ['sha256'],
    oneOf: 'identifier',
    together: 'address',
  }),
  ln: column({
    description: 'Last name',
    normalise: 'name',
    hashed: ['sha256'],
    oneOf: 'identifier',
    together: 'address',
  }),
  zip: column({ description: 'Postal code', normalise: 'postal-code', oneOf: 'identifier', together: 'address' }),
  value: column({ description: 'Value', together: 'money', synonyms: ['order total'] }),
  currency: column({ description: 'Currency', together: 'money' }),
}

/** Which column fills which field. */
function chosen(columns: readonly string[], mapping?: Mapping, records: Records | undefined = people) {
  const { plan, fieldErrors } = planMapping({ records, columns, mapping })
  assert.equal(fieldErrors, undefined)
  return Object.fromEntries(plan?.steps.map(({ field, column, value }) => [field, column?.name ?? { value }]) ?? [])
}

function errorsOf(columns: readonly string[], mapping?: Mapping, records: Records | undefined = people) {
  const { fieldErrors } = planMapping({ records, columns, mapping, path: 'mapping' })
  return Object.fromEntries(fieldErrors?.map(({ field, message }) => [field, message]) ?? [])
}

test('A store takes all columns as they are, or those that the mapping names', () => {
  const { plan } = planMapping({ records: undefined, columns: ['a', 'b'], mapping: undefined })
  assert.deepEqual([plan?.columns, plan?.asIs], [['a', 'b'], true])
  const renamed = planMapping({
    records: undefined,
    columns: ['a', 'b', 'c'],
    mapping: { two: 'b', one: 'a', k: { value: 'x' } },
  })
  assert.deepEqual([renamed.plan?.columns, renamed.plan?.asIs], [['two', 'one', 'k'], false])
  const { fieldErrors } = planMapping({ records: undefined, columns: ['a', 'b'], mapping: { one: 'z' }, path: 'm' })
  assert.deepEqual(fieldErrors, [
    { field: 'm.one', message: 'names the column z, which the source does not have; its columns are a, b' },
  ])
})

test('A field takes the column of its name, whatever its case and signs, hashed or to be hashed', () => {
  for (const name of [
    'email_sha256',
    'Email SHA256',
    'SHA256 Email',
    'email',
    'E-Mail',
    'hashed_email',
    'email hash',
    'HEM',
  ]) {
    assert.deepEqual(chosen(['Action', name]), { action: 'Action', email_sha256: name })
  }
})

test('A field takes the column that people commonly call so', () => {
  for (const name of ['Mail', 'E-Mail Address', 'em', 'sha256_mail']) {
    assert.equal(chosen(['action', name]).email_sha256, name)
  }
  for (const name of ['Mobile', 'msisdn', 'Phone Number', 'hashed_phone', 'Telefon', 'phone_256']) {
    assert.equal(chosen(['action', name]).phone_sha256, name)
  }
  for (const name of ['IDFA', 'gaid', 'advertising_id', 'Device ID']) assert.equal(chosen(['action', name]).maid, name)
  assert.deepEqual(chosen(['action', 'Given Name', 'surname', 'Postcode', 'order_total', 'currency']), {
    action: 'action',
    fn: 'Given Name',
    ln: 'surname',
    zip: 'Postcode',
    value: 'order_total',
    currency: 'currency',
  })
})

test('The better name wins, and a column fills one field', () => {
  assert.equal(chosen(['action', 'mail', 'email_sha256', 'email']).email_sha256, 'email_sha256')
  assert.equal(chosen(['action', 'mail', 'email']).email_sha256, 'email')
  const both: Records = {
    email: column({ description: 'Plain' }),
    email_sha256: column({ description: 'Hashed', hashed: ['sha256'] }),
  }
  assert.deepEqual(chosen(['email'], undefined, both), { email: 'email' })
  assert.deepEqual(chosen(['mail', 'hashed_mail'], undefined, { ...both }), {
    email: 'mail',
    email_sha256: 'hashed_mail',
  })
})

test('A column whose name speaks of a digest is not taken for a field that does not accept it', () => {
  assert.match(errorsOf(['action', 'email_md5']).mapping ?? '', /no column for any of email_sha256, phone_sha256/)
  const plain: Records = { email: column({ description: 'Plain', normalise: 'email', required: true }) }
  assert.match(errorsOf(['hashed_email'], undefined, plain)['mapping.email'] ?? '', /has no column in the source/)
})

test('Two columns that fit equally are an error that names both', () => {
  const message = errorsOf(['action', 'Mobile', 'Telephone'])['mapping.phone_sha256'] ?? ''
  assert.match(message, /Mobile, Telephone/)
  assert.match(message, /\{"phone_sha256": "Mobile"\} or \{"phone_sha256": "Telephone"\}/)
  assert.equal(chosen(['action', 'Mobile', 'Telephone'], { phone_sha256: 'Telephone' }).phone_sha256, 'Telephone')
})

test('What says what is created or changed at a platform is asked, never guessed', () => {
  const records: Records = {
    email: column({ description: '', normalise: 'email' }),
    segment_name: column({ description: '', synonyms: ['segment', 'audience'], addresses: true }),
  }
  for (const name of ['Segment', 'Audience', 'Segment Name', 'segmentName']) {
    assert.deepEqual(errorsOf(['email', name], undefined, records), {
      'mapping.segment_name': `could be filled by ${name}, and says what is created or changed at the platform: choose one, {"segment_name": "${name}"}, or {"segment_name": null} for no column`,
    })
    assert.deepEqual(chosen(['email', name], { segment_name: name }, records), { email: 'email', segment_name: name })
    assert.deepEqual(chosen(['email', name], { segment_name: null }, records), { email: 'email' })
  }
  const named = ['email', 'segment_name']
  assert.deepEqual(chosen(named, undefined, records), { email: 'email', segment_name: 'segment_name' })
})

test('The mapping decides over names: another column, none, or one value for all rows', () => {
  assert.deepEqual(
    chosen(['email', 'backup mail', 'phone', 'Action'], {
      email_sha256: 'Backup-Mail',
      phone_sha256: null,
      action: { value: 'ADD' },
    }),
    { action: { value: 'ADD' }, email_sha256: 'backup mail' },
  )
})

test('What is wrong with a mapping is said all at once, and how to map what is missing', () => {
  const fieldErrors = errorsOf(['mail', 'cost'], { phone_sha256: 'nothing', colour: 'mail', action: { value: 'give' } })
  assert.deepEqual(Object.keys(fieldErrors).sort(), ['mapping.action', 'mapping.colour', 'mapping.phone_sha256'])
  assert.match(fieldErrors['mapping.action'] ?? '', /must be one of add, remove/)
  const missing = errorsOf(['cost'])
  assert.equal(missing['mapping.action'], 'has no column in the source: name one, {"action": "column of the source"}')
  assert.match(missing.mapping ?? '', /email_sha256/)
})

test('Identifiers that go together are left out where one has no column; anything else that goes together is needed', () => {
  const { plan } = planMapping({
    records: people,
    columns: ['action', 'email', 'first name', 'zip'],
    mapping: undefined,
  })
  assert.deepEqual(plan?.columns, ['action', 'email_sha256'])
  assert.deepEqual(plan?.leftOut, [
    { field: 'fn', reason: 'goes together with ln, for which the source has no column' },
    { field: 'zip', reason: 'goes together with ln, for which the source has no column' },
  ])
  assert.match(errorsOf(['action', 'email', 'value'])['mapping.currency'] ?? '', /value cannot go without it/)
  assert.match(errorsOf(['action', 'email', 'x'], { fn: 'x' })['mapping.ln'] ?? '', /fn cannot go without it/)
})

test('Names that objects inherit are names like others', () => {
  const names = ['constructor', '__proto__', 'toString']
  assert.deepEqual(planMapping({ records: undefined, columns: names, mapping: undefined }).plan?.columns, names)
  const called: Records = {
    constructor: column({ description: '' }),
    toString: column({ description: '', required: true }),
  }
  assert.deepEqual(planMapping({ records: called, columns: names, mapping: undefined }).plan?.columns, [
    'constructor',
    'toString',
  ])
  assert.match(errorsOf(['email', 'action'], { constructor: 'email' })['mapping.constructor'] ?? '', /is not a field/)
})

test('Whatever the columns are called, a plan fills fields from columns that are there, or says why not', () => {
  const names = [
    'email',
    'E-Mail',
    'mail',
    'phone',
    'Mobile',
    'action',
    'zip',
    'fname',
    'ln',
    'value',
    'currency',
    '',
    '…',
    'sha256',
    'md5_md5',
  ]
  fc.assert(
    fc.property(fc.uniqueArray(fc.oneof(fc.constantFrom(...names), fc.string())), (columns) => {
      const { plan, fieldErrors } = planMapping({ records: people, columns, mapping: undefined })
      if (!plan) {
        assert.ok(fieldErrors.length > 0)
        assert.equal(new Set(fieldErrors.map(({ field }) => field)).size, fieldErrors.length)
        return
      }
      const used = plan.steps.map(({ column }) => column?.index ?? -1)
      assert.equal(new Set(used).size, used.length)
      for (const { column } of plan.steps) assert.equal(columns[column?.index ?? -1], column?.name)
      assert.ok(plan.columns.includes('action'))
    }),
  )
})

test('The text of a mapping is read, or all that is wrong with it is said', () => {
  assert.deepEqual(readMapping(undefined, 'm'), { fieldErrors: [] })
  assert.deepEqual(readMapping(' ', 'm'), { fieldErrors: [] })
  assert.deepEqual(readMapping('{"email":"E-Mail","phone":null,"action":{"value":"add"}}', 'm'), {
    mapping: { email: 'E-Mail', phone: null, action: { value: 'add' } },
    fieldErrors: [],
  })
  for (const text of ['{', '[]', 'null', '"email"', '3']) {
    assert.deepEqual(
      readMapping(text, 'm').fieldErrors.map(({ field }) => field),
      ['m'],
      text,
    )
  }
  assert.deepEqual(
    readMapping('{"a":1,"b":"","c":{"value":2},"d":{"value":"x","y":1},"e":["x"],"f":"ok"}', 'm').fieldErrors.map(
      ({ field }) => field,
    ),
    ['m.a', 'm.b', 'm.c', 'm.d', 'm.e'],
  )
  assert.equal(readMapping(`{"a":"${'x'.repeat(70_000)}"}`, 'm').fieldErrors.length, 1)
})

test('A mapping is checked without the columns of a source, and each error names its place', () => {
  const fieldErrors = (text: string, records?: Records) =>
    mappingErrors(text, records, 'm').map(({ field, message }) => `${field} ${message}`)
  assert.match(fieldErrors('{"a": "b",\n "c": }')[0] ?? '', /^m is not JSON at line 2, column 7: write an object/)
  assert.match(fieldErrors('{"a": "b"')[0] ?? '', /^m is not JSON at line 1, column 10: write an object/)
  assert.match(fieldErrors('["a"]')[0] ?? '', /^m must be a JSON object/)
  assert.deepEqual(fieldErrors('{"a":"x","b":{"column":"y","column":"z"},"c":"\\"a\\": 1","\\u0061":"w"}'), [
    'm.b has column twice: keep one',
    'm.a is mapped twice: keep one entry',
  ])
  const wrong = {
    a: { column: 'x', normalise: 'shout', hash: 'rot13', to: 1 },
    b: { value: 1 },
    c: 7,
    d: { column: '' },
  }
  const said = fieldErrors(JSON.stringify(wrong))
  assert.match(said[0] ?? '', /^m\.a normalise must be one of email, .*; hash must be one of .*; to is unknown/)
  assert.deepEqual(said.slice(1), [
    'm.b value must be a text',
    'm.c must be the name of a column, null, {"value": "…"}, {"column": "…"} or {"expression": "…"}',
    'm.d column must be the name of a column',
  ])
  assert.deepEqual(fieldErrors('{"unknown":"x","fn":{"column":"y","hash":"sha256"},"zip":null}', people), [
    `m.unknown is not a field of the destination; its fields are ${Object.keys(people).join(', ')}`,
    'm.fn defines its own format: leave normalise and hash out',
  ])
  assert.deepEqual(fieldErrors('{"any":{"column":"y","hash":"sha256"}}'), [])
})

test('A text is JSON where the parser of JSON takes it, and a field that is mapped twice is found', () => {
  const broken = fc.tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '\\', ' ', '1', 'x'),
  )
  fc.assert(
    fc.property(broken, ([json, at, sign]) => {
      const place = at % (json.length + 1)
      const text = json.slice(0, place) + sign + json.slice(place + (sign === '' ? 1 : 0))
      assert.equal(scanJson(text).brokenAt === undefined, isJson(text), text)
    }),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string({ minLength: 1 }), fc.constant(null))), (entries) => {
      const text = JSON.stringify(entries)
      assert.deepEqual(mappingErrors(text, undefined, 'm'), [])
      const [first] = Object.keys(entries)
      if (first === undefined) return
      const again = `${text.slice(0, -1)},${JSON.stringify(first)}:null}`
      assert.deepEqual(
        mappingErrors(again, undefined, 'm').map(({ field }) => field),
        [`m.${first}`],
      )
    }),
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
