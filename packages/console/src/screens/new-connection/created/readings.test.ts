import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMapping, writeMapping } from '../mapping/mapping.ts'
import { choiceIn, proposedReadings, type Readings, withReading } from './readings.ts'

const choice = { fits: 2, before: '1.234,56', after: '1234.56' }
const comma = { ...choice, reading: { numbers: 'comma', unit: '€' } as const, type: 'numeric' }
const [dmy, mdy] = (['DMY', 'MDY'] as const).map((dates) => ({ ...choice, reading: { dates }, type: 'date' }))
assert(dmy && mdy)
const readings: Readings = [
  { column: 'Preis', records: 2, reason: 'shown', choices: [comma] },
  { column: 'Tag', records: 2, reason: 'ambiguous', choices: [dmy, mdy] },
]
const columns = ['Nr', 'Preis', 'Tag', 'Preis', '']

test('only readings that fit all values are proposed, with all columns', () => {
  const { lines, types } = proposedReadings(readings, columns)
  const text = writeMapping(lines)
  assert.equal(text, '{"Nr":"Nr","Preis":{"column":"Preis","numbers":"comma","unit":"€"},"Tag":"Tag"}')
  assert.deepEqual(types, { Preis: 'numeric' })
  assert.deepEqual(writeMapping(readMapping(text) ?? []), text, 'nothing is lost when it is read again')
  assert.deepEqual(proposedReadings(readings.slice(1), columns), { lines: [], types: {} })
})

test('a column is read in another way, or as text', () => {
  const [price, day] = readings
  assert(price && day)
  const first = proposedReadings(readings, columns)
  assert.deepEqual([choiceIn(first.lines, price), choiceIn(first.lines, day)], [comma, undefined])
  const second = withReading(first, columns, 'Tag', mdy)
  assert.deepEqual(choiceIn(second.lines, day), mdy)
  assert.deepEqual(second.types, { Preis: 'numeric', Tag: 'date' })
  const asText = ['Preis', 'Tag'].reduce((before, column) => withReading(before, columns, column, undefined), second)
  assert.deepEqual(asText, { lines: [], types: { Preis: '', Tag: '' } }, 'all columns, unchanged')
})

test('a column that is sent under another name keeps it, and what else is chosen for it', () => {
  const lines = readMapping('{"price": {"column": "Preis", "default": "0"}, "nr": "Nr"}') ?? []
  const read = withReading({ lines, types: {} }, columns, 'Preis', comma)
  assert.equal(
    writeMapping(read.lines),
    '{"price":{"column":"Preis","default":"0","numbers":"comma","unit":"€"},"nr":"Nr"}',
  )
  assert.deepEqual(read.types, { price: 'numeric' })
})
