import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMeanings, writeMeanings } from '@penstock/wire'
import type { FormField, FormValues } from '../../components/fields/form-field.ts'
import { consequence as say } from '../../strings/consequence.ts'
import { changesOfCure, consequenceOf, waysOf } from './consequence.ts'

const select = (name: string, meanings: FormField['meanings'], more: Partial<FormField> = {}): FormField => ({
  name,
  label: name,
  description: '',
  type: 'Select',
  required: false,
  readonly: false,
  options: Object.keys(meanings ?? {}),
  ...(meanings && { meanings }),
  ...more,
})
const source = (values: FormValues) => ({
  fields: [select('syncMode', { Full: 'all', Incremental: 'changed', Changes: 'log' }, { default: 'Full' })],
  values,
})
const destination = (values: FormValues) => ({
  fields: [
    select('writeMode', { Insert: 'add', Upsert: 'update' }, { default: 'Insert' }),
    select('keyColumns', undefined, { type: 'Text', purpose: 'key', required: true, when: { writeMode: ['Upsert'] } }),
    select('sendRows', { Changed: 'changed', Mirror: 'mirror' }, { purpose: 'sent' }),
  ],
  values,
})

const names = { source: 'Shop', destination: 'Warehouse' }
const expected: Readonly<Record<string, readonly [tone: string, title: string]>> = {
  'all add': ['warns', 'Every transfer adds all rows again.'],
  'all update': ['works', 'Each transfer reads all rows and updates rows with the same key.'],
  'all replace': ['works', 'Each transfer replaces all rows of Warehouse.'],
  'all mirror': ['works', 'After each transfer, Warehouse has the same rows as Shop.'],
  'new add': ['works', 'Each transfer adds the rows of new files.'],
  'new update': ['works', 'Each transfer updates the rows of new and changed files. Nothing is added twice.'],
  'new replace': ['warns', 'After each transfer, Warehouse contains only the rows of new files.'],
  'new mirror': ['fails', 'A mirror needs all rows.'],
  'changed add': ['warns', 'A row that changes is added again.'],
  'changed update': ['works', 'Each transfer updates the rows that changed. Nothing is added twice.'],
  'changed replace': ['warns', 'After each transfer, Warehouse contains only the rows that changed.'],
  'changed mirror': ['fails', 'A mirror needs all rows.'],
  'log add': ['works', 'Each change is added as a row.'],
  'log update': ['works', 'Each change and deletion arrives once, in order.'],
  'log replace': ['warns', 'After each transfer, Warehouse contains only the last changes.'],
  'log mirror': ['fails', 'The change log already removes deleted rows.'],
}

test('each way to read and each way to write have a sentence, and a cure if they do not fit', () => {
  for (const read of readMeanings) {
    for (const write of writeMeanings) {
      const { tone, cures } = consequenceOf(read, write)
      const { title } = say.sentence[read][write](names)
      assert.deepEqual([tone, title], expected[`${read} ${write}`], `${read} ${write}`)
      assert.equal(cures.length > 0, tone !== 'works', `${read} ${write}`)
    }
  }
})

test('the settings tell how rows are read and written, and whether by a key', () => {
  assert.deepEqual(waysOf(source({}), destination({})), { read: 'all', write: 'add', isKeyed: false })
  assert.deepEqual(waysOf(source({}), destination({ writeMode: 'Upsert', keyColumns: 'id' })), {
    read: 'all',
    write: 'update',
    isKeyed: true,
  })
  assert.equal(waysOf(source({}), destination({ writeMode: 'Upsert', sendRows: 'Mirror' }))?.write, 'mirror')
  assert.equal(waysOf(source({}), destination({ sendRows: 'Changed' }))?.read, 'changed')
  assert.equal(waysOf(source({ syncMode: 'Changes' }), destination({}))?.read, 'log')
  assert.equal(waysOf(source({}), { fields: [], values: {} }), undefined)
})

test('a cure changes settings that the sides have', () => {
  const [all, adds] = [source({}), destination({})]
  assert.deepEqual(changesOfCure('update', all, adds), [{ side: 'dest', name: 'writeMode', value: 'Upsert' }])
  assert.deepEqual(changesOfCure('readNew', all, adds), [{ side: 'src', name: 'syncMode', value: 'Incremental' }])
  assert.equal(changesOfCure('sendChanged', all, adds), undefined)
  const file = { fields: [], values: {} }
  assert.equal(changesOfCure('readNew', file, adds), undefined)
  assert.deepEqual(changesOfCure('sendChanged', file, adds), [{ side: 'dest', name: 'sendRows', value: 'Changed' }])
  const mirror = destination({ writeMode: 'Upsert', sendRows: 'Mirror' })
  assert.deepEqual(changesOfCure('readAll', source({ syncMode: 'Incremental' }), mirror), [
    { side: 'src', name: 'syncMode', value: 'Full' },
  ])
})
