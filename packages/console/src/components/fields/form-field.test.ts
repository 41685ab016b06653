import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PenstockError } from '@penstock/client'
import { secretMask } from '@penstock/wire'
import { errorsOf, isOfFields } from './field-errors.ts'
import { changesOf, countingFields, type FormField, isNeeded, valuesOf, withDefinitions } from './form-field.ts'

const field = (name: string, more: Partial<FormField> = {}): FormField => ({
  name,
  label: name,
  description: '',
  type: 'Text',
  required: false,
  readonly: false,
  ...more,
})
const fields = [
  field('mode', { type: 'Select', options: ['key', 'token'], value: 'key', required: true }),
  field('key', { type: 'Password', value: secretMask, when: { mode: ['key'] }, required: true }),
  field('token', { type: 'Password', value: '', when: { mode: ['token'] }, required: true }),
  field('port', { type: 'Number', value: '', default: '5432' }),
  field('gzip', { type: 'Boolean', value: 'false' }),
  field('columns', { type: 'Multi-Select', options: ['a', 'b'], value: '["a"]' }),
  field('note', { value: 'old' }),
]
const before = valuesOf(fields)

test('a form starts from the values that are there, each in the form of its kind, and from the defaults', () => {
  assert.deepEqual(before, {
    mode: 'key',
    key: secretMask,
    token: '',
    port: '5432',
    gzip: false,
    columns: ['a'],
    note: 'old',
  })
})

test('a form that nothing was changed in sends nothing, and so no mask of a secret', () => {
  assert.deepEqual(changesOf(before, before, fields), {})
  assert.deepEqual(changesOf({}, { key: secretMask }), {})
})

test('what was changed is sent, and null for what was cleared', () => {
  const after = { ...before, key: 'new', port: '', gzip: true, columns: [], note: '' }
  assert.deepEqual(changesOf(before, after, fields), { key: 'new', port: null, gzip: true, columns: null, note: null })
  assert.deepEqual(changesOf({ columns: [] }, { columns: ['a', 'b'] }), { columns: ['a', 'b'] })
})

test('what is only being made sends what it has, and clears nothing', () => {
  assert.deepEqual(changesOf({}, { table: 'people', prefix: '', columns: [], gzip: false }), {
    table: 'people',
    gzip: false,
  })
})

test('a field counts and is needed by the values of the others, and what does not count is not sent', () => {
  const after = { ...before, mode: 'token', key: 'typed before', token: 'typed after' }
  const names = countingFields(fields, after).map(({ name }) => name)
  assert.deepEqual(names, ['mode', 'token', 'port', 'gzip', 'columns', 'note'])
  assert.equal(isNeeded(fields, 'token', after), true)
  assert.equal(isNeeded(fields, 'token', before), false)
  assert.deepEqual(changesOf(before, after, fields), { mode: 'token', token: 'typed after' })
})

test('a value keeps its own text beside what its definition says of it', () => {
  const words = { name: 'host', label: 'Host', description: '', type: 'Text', readonly: false } as const
  const [one] = withDefinitions(
    [{ ...words, required: false, value: 'db.example.com' }],
    [{ ...words, required: true, when: { mode: ['key'] } }],
  )
  assert.deepEqual(one, { ...words, value: 'db.example.com', required: true, when: { mode: ['key'] } })
})

test('the errors of a refusal are grouped by their place', () => {
  const details = [
    { field: 'body.secretConfig.host', message: 'must be text' },
    { field: 'connection.1', message: 'is active' },
  ]
  const refusal = new PenstockError(
    409,
    'no',
    { error: 'connection_not_ready', details, requestId: 'r' } as never,
    undefined,
  )
  assert.deepEqual(errorsOf(refusal, 'body.secretConfig'), { host: 'must be text' })
  assert.deepEqual(errorsOf(new Error('no'), 'body.secretConfig'), {})
  assert.equal(isOfFields(refusal, 'body.secretConfig'), false)
  assert.equal(isOfFields(refusal, 'body.secretConfig', 'connection'), true)
})
