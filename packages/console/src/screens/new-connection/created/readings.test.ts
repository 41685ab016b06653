import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMapping, writeMapping } from '../mapping/mapping.ts'
import { choiceIn, proposedReadings, type Readings, withReading } from './readings.ts'

const choice = { fits: 2, before: '1.234,56', after: '1234.56' }
const comma = { ...choice, reading: { numbers: 'comma', unit: '€' } as const, type: 'numeric' }
const [dmy, mdy] = (['DMY', 'MDY'] as const).map((dates) => ({ ...choice, reading: { dates }, type: 'date' }))
assert(dmy && mdy)
const readings: Readings = [
  { column: 'Preis', records: 2, reason: 'shown', choices: [comma], others: [] },
  { column: 'Tag', records: 2, reason: 'ambiguous', choices: [dmy, mdy], others: [] },
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
  assert.deepEqual([choiceIn(first, price), choiceIn(first, day)], [comma, undefined])
  const second = withReading(first, columns, 'Tag', mdy)
  assert.deepEqual(choiceIn(second, day), mdy)
  assert.deepEqual(second.types, { Preis: 'numeric', Tag: 'date' })
  const asText = ['Preis', 'Tag'].reduce((before, column) => withReading(before, columns, column, 'text'), second)
  assert.deepEqual(asText, { lines: [], types: { Preis: 'text', Tag: 'text' } }, 'all columns, unchanged')
  assert.deepEqual([choiceIn(asText, price), choiceIn(asText, day)], ['text', 'text'])
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

test('a type that most values have needs no reading, and is chosen by the type of the column', () => {
  const plain = { reading: {}, type: 'date', fits: 43, before: '2026-01-31', after: '2026-01-31' } as const
  const bought = { column: 'Nr', records: 50, reason: 'mostly', choices: [plain], others: ['n/a'] } as const
  const nothing = proposedReadings([{ ...bought, choices: [plain], others: ['n/a'] }], columns)
  assert.deepEqual(nothing, { lines: [], types: {} }, 'it is not proposed as decided')
  const of = { ...bought, choices: [plain], others: ['n/a'] }
  assert.equal(choiceIn(nothing, of), undefined)
  const chosen = withReading(nothing, columns, 'Nr', plain)
  assert.deepEqual(chosen, { lines: [], types: { Nr: 'date' } })
  assert.equal(choiceIn(chosen, of), plain)
  assert.equal(choiceIn(withReading(chosen, columns, 'Nr', 'text'), of), 'text')
})
