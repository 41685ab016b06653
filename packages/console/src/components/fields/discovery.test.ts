import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addNames, folderAbove, folderOf, nameOf, namesIn, settingsOf, takesNames, toggleName } from './discovery.ts'
import type { FormField } from './form-field.ts'

const field = (name: string, more: Partial<FormField> = {}): FormField => ({
  name,
  label: name,
  description: '',
  type: 'Text',
  required: false,
  readonly: false,
  ...more,
})

test('a name is added to the others or removed, and the spaces around them do not count', () => {
  assert.deepEqual(namesIn(' id,  day ,,'), ['id', 'day'])
  assert.deepEqual(namesIn('sales."odd, ""name""", a"b, c'), ['sales."odd, ""name"""', 'a"b', 'c'])
  assert.equal(toggleName('sales."odd, name", crm.orders', 'sales."odd, name"'), 'crm.orders')
  assert.equal(toggleName('', 'id'), 'id')
  assert.equal(toggleName('id,day', 'shop'), 'id, day, shop')
  assert.equal(toggleName('id , day', 'id'), 'day')
  assert.equal(toggleName('id', 'id'), '')
  assert.equal(addNames('id', 'day, id'), 'id, day')
  assert(takesNames(field('keys', { description: 'Columns of the key, separated by commas; by default all' })))
  assert(!takesNames(field('table', { description: 'Name of the table' })))
})

test('a folder is what a path has up to its last slash', () => {
  assert.equal(folderOf('people.csv'), '')
  assert.equal(folderOf('exports/2026/people.csv'), 'exports/2026/')
  assert.equal(folderOf('exports/*.csv'), 'exports/')
  assert.equal(folderOf('*/people.csv'), '')
  assert.equal(nameOf('exports/2026/people.csv'), 'people.csv')
  assert.equal(nameOf('exports/2026/'), '2026/')
  assert.equal(nameOf('people.csv'), 'people.csv')
})

test('above a folder is another one, up to the first', () => {
  assert.equal(folderAbove('exports/2026/'), 'exports/')
  assert.equal(folderAbove('exports/'), '')
  assert.equal(folderAbove('/exports/'), '/')
  assert.equal(folderAbove('s3://bucket/exports/'), 's3://bucket/')
  assert.equal(folderAbove('s3://bucket/'), undefined)
  assert.equal(folderAbove('exports'), undefined)
  assert.equal(folderAbove('/'), undefined)
})

test('a list depends on what is set now, and not on what is cleared, hidden, filled by the service or a default', () => {
  const fields = [
    field('kind', { type: 'Select', options: ['table', 'query'], value: 'table' }),
    field('schema', { default: 'public', value: '' }),
    field('query', { when: { kind: ['query'] }, value: 'select 1' }),
    field('filled', { readonly: true, value: 'a' }),
    field('table', { value: 'old' }),
  ]
  const values = { kind: 'table', schema: 'public', query: 'select 1', filled: 'a', table: '' }
  assert.deepEqual(settingsOf(fields, values), { kind: 'table' })
  assert.deepEqual(settingsOf(fields, { ...values, schema: 'shop', table: 'orders' }), {
    kind: 'table',
    schema: 'shop',
    table: 'orders',
  })
})
