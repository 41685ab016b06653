import assert from 'node:assert/strict'
import { test } from 'node:test'
import { column } from '@penstock/connector'
import { applyTemplate } from './apply-template.ts'

const records = {
  email: column({ description: 'E-mail', normalise: 'email', hashed: ['sha256'] }),
  phone: column({ description: 'Phone', normalise: 'phone-e164', hashed: ['sha256'] }),
  city: column({ description: 'City' }),
  segment: column({ description: 'Segment' }),
}
const applied = (mapping: object, names: readonly string[], of: typeof records | undefined = records) =>
  applyTemplate(of, JSON.stringify(mapping), names)

test('finds the columns of a template by the same name, by a similar one, and by what they are called', () => {
  const template = {
    email: 'E-Mail Address',
    phone: { column: 'Handynummer', default: '+43664' },
    city: 'Ort der Filiale',
    segment: { value: 'All' },
  }
  const { mapping, columns, findings } = applied(template, ['email_address', 'mobile_phone', 'Ort der Filiale', 'x'])
  assert.deepEqual(mapping, {
    email: 'email_address',
    phone: { column: 'mobile_phone', default: '+43664' },
    city: 'Ort der Filiale',
    segment: { value: 'All' },
  })
  assert.deepEqual(
    columns.map((one) => one.column),
    ['email_address', 'mobile_phone', 'Ort der Filiale'],
  )
  assert.deepEqual(findings, [])
})

test('leaves fields empty whose column the source does not have, with a finding each', () => {
  const { mapping, findings, columns } = applied({ email: 'Mail', city: 'Filiale', phone: null }, ['Mail', 'Name'])
  assert.deepEqual(mapping, { email: 'Mail', city: null, phone: null })
  assert.deepEqual(findings, [
    { field: 'city', message: 'the template maps "Filiale", which this source does not have' },
  ])
  assert.deepEqual(columns[1], { field: 'city', templateColumn: 'Filiale', column: null, candidates: [] })
})

test('takes hashed columns only for fields that take such digests, and never gives one column to two', () => {
  assert.equal(applied({ email: 'email' }, ['email_sha256']).mapping.email, 'email_sha256')
  assert.equal(applied({ email: 'email' }, ['email_md5']).mapping.email, null)
  assert.equal(applied({ city: 'email' }, ['email_sha256']).mapping.city, null)
  assert.equal(applied({ email: 'email', city: 'email' }, ['email_sha256']).mapping.email, null)
  const { mapping } = applied({ email: 'email', city: 'EMAIL' }, ['email'])
  assert.deepEqual(mapping, { email: 'email', city: null })
  const ambiguous = applied({ city: 'First Store' }, ['first_store', 'FIRST STORE'])
  assert.deepEqual([ambiguous.mapping.city, ambiguous.columns[0]?.candidates.length], [null, 2])
})

test('leaves out what the destination does not have, and works without fields of the destination', () => {
  assert.deepEqual(applied({ gone: 'a', city: 'a' }, ['a']).mapping, { city: 'a' })
  assert.equal(applied({ gone: 'a' }, ['a']).findings[0]?.field, 'gone')
  const { mapping } = applyTemplate(undefined, JSON.stringify({ id: 'User ID', em: 'Email' }), [
    'user_id',
    'sha256_email',
  ])
  assert.deepEqual(mapping, { id: 'user_id', em: null })
  assert.deepEqual(applyTemplate(undefined, '{"__proto__": "constructor", "a": "toString"}', ['b']).findings.length, 2)
})

test('finds the same columns among many that are called otherwise', () => {
  const template = { email: 'E-Mail Address', phone: 'Handynummer', city: '***' }
  const few = ['email_address', 'mobile_phone', '***']
  const many = [...Array.from({ length: 2_000 }, (_, n) => `attribute ${n}`), ...few]
  assert.deepEqual(applied(template, many), applied(template, few))
  assert.equal(applied(template, many).findings.length, 0)
})

test('keeps expressions whose columns the source has, and leaves out the others', () => {
  const template = { city: { expression: 'upper(town)' }, segment: { expression: 'lower(shop)' } }
  const { mapping, findings } = applied(template, ['town'])
  assert.deepEqual(mapping, { city: { expression: 'upper(town)' }, segment: null })
  assert.deepEqual(findings, [
    { field: 'segment', message: 'the expression of segment has no column shop, at character 7' },
  ])
})
