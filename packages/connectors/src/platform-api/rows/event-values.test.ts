import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BatchRow, rowsOf } from './batch-rows.ts'
import {
  filled,
  readAll,
  readBoolean,
  readCount,
  readCurrency,
  readNumber,
  readObjects,
  readSeconds,
  readTexts,
  textsOf,
} from './event-values.ts'
import { eventIdOf, type Read } from './events.ts'

const rowOf = (value: string | undefined): BatchRow => ({
  index: 0,
  text: (column) => (column === 'c' ? value : undefined),
})
const wrong = 'wrong'
const outcome = (found: Read<unknown>): unknown => ('wrong' in found ? wrong : found.read)

const readers: Record<string, [read: (row: BatchRow, column: string) => Read<unknown>, cases: [string, unknown][]]> = {
  'numbers with a point': [
    readNumber,
    [
      ...([
        ['12', 12],
        ['12.50', 12.5],
        ['-3', -3],
        ['.5', 0.5],
        ['1e3', 1000],
      ] as [string, unknown][]),
      ...['1,5', '1.000,00', '€5', 'NaN', 'Infinity', '0x10', '1e999', '1 000'].map((text): [string, unknown] => [
        text,
        wrong,
      ]),
    ],
  ],
  'whole numbers': [
    readCount,
    [
      ...([
        ['0', 0],
        ['12', 12],
      ] as [string, unknown][]),
      ...['-1', '1.5', '1e3', '9'.repeat(20)].map((text): [string, unknown] => [text, wrong]),
    ],
  ],
  currencies: [
    readCurrency,
    [
      ['eur', 'EUR'],
      ['USD', 'USD'],
      ['€', wrong],
      ['EURO', wrong],
    ],
  ],
  'yes and no': [
    readBoolean,
    [
      ['TRUE', true],
      ['1', true],
      ['yes', true],
      ['0', false],
      ['No', false],
      ['maybe', wrong],
    ],
  ],
  texts: [
    readTexts,
    [
      ['a', ['a']],
      ['a, b ,', ['a', 'b']],
      ['a;b,c', ['a', 'b,c']],
      ['["a",1]', ['a', '1']],
      ['[]', undefined],
      ['[{"a":1}]', wrong],
      ['[', wrong],
    ],
  ],
  'lists of objects': [
    readObjects,
    [
      ['[{"a":1}]', [{ a: 1 }]],
      ['{"a":1}', [{ a: 1 }]],
      ['[1]', wrong],
      ['null', wrong],
      ['x', wrong],
    ],
  ],
}

for (const [title, [read, cases]] of Object.entries(readers)) {
  test(`reads ${title}, and says what is none`, () => {
    assert.equal(outcome(read(rowOf(undefined), 'c')), undefined)
    for (const [text, wanted] of cases) {
      const found = read(rowOf(text), 'c')
      assert.deepEqual(outcome(found), wanted, text)
      if ('wrong' in found) assert.equal(found.field, 'c')
    }
  })
}

test('reads seconds and milliseconds alike', () => {
  for (const text of ['1700000000', '1700000000123', '2023-11-14T22:13:20Z']) {
    assert.equal(outcome(readSeconds(rowOf(text), 'c', undefined)), 1_700_000_000)
  }
  assert.equal(outcome(readSeconds(rowOf('170000000012345'), 'c', undefined)), wrong)
  assert.equal(outcome(readSeconds(rowOf('1700000000123'), 'c', 7)), wrong)
})

test('puts values together and leaves out what holds nothing', () => {
  const row = rowOf('x')
  assert.deepEqual(textsOf(row, { there: 'c', missing: 'd' }), { there: 'x' })
  assert.deepEqual(filled({ a: undefined, b: {}, c: [], d: 0, e: '', f: null }), { c: [], d: 0, e: '', f: null })
  assert.deepEqual(readAll({ a: { read: 1 }, b: { read: undefined } }), { read: { a: 1, b: undefined } })
  assert.deepEqual(readAll({ a: { read: 1 }, b: { wrong: 'B.', field: 'b' }, c: { wrong: 'C.' } }), {
    wrong: 'B.',
    field: 'b',
  })
})

test('the ID of an event stays the same if other rows of its batch are gone, and is another one for an equal row', () => {
  const idsOf = (names: readonly string[]) => {
    const batch = { key: 'k', columns: ['name'], rows: names.map((name) => [name]), firstRow: 1 }
    return [...rowsOf(batch)].map((row) => eventIdOf(batch, row))
  }
  const [ada, bob, second] = idsOf(['Ada', 'Bob', 'Ada'])
  assert.equal(new Set([ada, bob, second]).size, 3)
  assert.deepEqual(idsOf(['Bob', 'Ada']), [bob, ada])
  assert.deepEqual(idsOf(['Bob', 'Ada', 'Ada']), [bob, ada, second])
})
