import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { fieldMapper, withAnswers } from './cell-mapper.ts'
import { proposeReadings } from './propose-readings.ts'

const readingOf = (cells: readonly Cell[], types?: readonly unknown[]) =>
  proposeReadings(
    ['a'],
    cells.map((cell) => [cell]),
    types,
  )[0]

const shown = (cells: readonly Cell[]) => {
  const found = readingOf(cells)
  return found
    ? `${found.reason}: ${found.choices.map(({ reading, type, fits, before, after }) => `${JSON.stringify(reading)} ${type} ${fits} ${before} → ${after}`).join(' | ')}`
    : undefined
}

describe('readings that the values of a column propose', () => {
  test('of rows after the rows of a preview', () => {
    const numbers = Array.from({ length: 5_000 }, (_, n) => String(n + 1))
    assert.equal(shown(numbers), undefined)
    assert.equal(shown([...numbers, 'n/a', ...numbers]), 'mostly: {} bigint 10000 1 → 1')
    const empty = Array.from({ length: 100 }, () => null)
    assert.equal(shown([...empty, ...numbers]), 'shown: {} bigint 5000 1 → 1')
    assert.equal(shown([...empty, '1,5', '2,25']), 'shown: {"numbers":"comma"} numeric 2 1,5 → 1.5')
    const texts = Array.from({ length: 100 }, (_, n) => `text ${n}`)
    assert.equal(shown([...texts, ...numbers]), undefined, 'a column of texts stays one')
  })

  test('of numbers', () => {
    for (const [cells, expected] of [
      [['1.234,56', '12', null, ' 7,5 '], 'shown: {"numbers":"comma"} numeric 3 1.234,56 → 1234.56'],
      [['-1.234,56'], 'shown: {"numbers":"comma"} numeric 1 -1.234,56 → -1234.56'],
      [['1,234.56', '1,001'], 'shown: {"numbers":"point"} numeric 2 1,234.56 → 1234.56'],
      [['12,5 %', '3 %'], 'shown: {"numbers":"comma","unit":"%"} numeric 2 12,5 % → 12.5'],
      [['€ 9,90', '€ 1.000,00'], 'shown: {"numbers":"comma","unit":"€"} numeric 2 € 9,90 → 9.90'],
      [['9.90 USD'], 'shown: {"numbers":"point","unit":"USD"} numeric 1 9.90 USD → 9.90'],
      [['-$9.90'], 'shown: {"numbers":"point","unit":"$"} numeric 1 -$9.90 → -9.90'],
      [
        ['1.234', '2.500'],
        'ambiguous: {"numbers":"comma"} numeric 2 1.234 → 1234 | {"numbers":"point"} numeric 2 1.234 → 1.234',
      ],
      [
        ['1.234,56', '1,234.56', '9.5'],
        'contradicting: {"numbers":"comma"} numeric 1 1.234,56 → 1234.56 | {"numbers":"point"} numeric 2 1,234.56 → 1234.56',
      ],
    ] as const) {
      assert.equal(shown(cells), expected)
    }
  })

  test('of days and times', () => {
    for (const [cells, expected] of [
      [['31.12.2026', '01.02.2026'], 'shown: {"dates":"DMY"} date 2 31.12.2026 → 2026-12-31'],
      [['12/31/2026', '03/04/2026'], 'shown: {"dates":"MDY"} date 2 12/31/2026 → 2026-12-31'],
      [['31.12.2026 10:00'], 'shown: {"dates":"DMY"} timestamp 1 31.12.2026 10:00 → 2026-12-31T10:00:00'],
      [
        ['12/31/2026 5:30 PM +01:00'],
        'shown: {"dates":"MDY"} timestamptz 1 12/31/2026 5:30 PM +01:00 → 2026-12-31T17:30:00+01:00',
      ],
      [['2026/12/31'], 'shown: {"dates":"YMD"} date 1 2026/12/31 → 2026-12-31'],
      [
        ['03/04/2026'],
        'ambiguous: {"dates":"DMY"} date 1 03/04/2026 → 2026-04-03 | {"dates":"MDY"} date 1 03/04/2026 → 2026-03-04',
      ],
      [
        ['31.12.2026', '12/31/2026', '01.02.2026'],
        'contradicting: {"dates":"DMY"} date 2 31.12.2026 → 2026-12-31 | {"dates":"MDY"} date 1 12/31/2026 → 2026-12-31',
      ],
      [
        ['31.12.2026', '03/04/2026'],
        'contradicting: {"dates":"DMY"} date 2 31.12.2026 → 2026-12-31 | {"dates":"MDY"} date 1 03/04/2026 → 2026-03-04',
      ],
      [['31.12.2026', '25/12/2026'], 'shown: {"dates":"DMY"} date 2 31.12.2026 → 2026-12-31'],
    ] as const) {
      assert.equal(shown(cells), expected)
    }
  })

  test('of booleans in words', () => {
    assert.equal(shown(['Ja', 'nein', 'JA', '']), 'shown: {"values":{"ja":"true","nein":"false"}} boolean 3 Ja → true')
    assert.equal(shown(['FALSE', 'TRUE']), 'shown: {"values":{"true":"true","false":"false"}} boolean 2 FALSE → false')
  })

  test('of most values, where the others are of no kind', () => {
    const most = (cells: readonly Cell[]) => {
      const found = readingOf([...cells, ...cells, ...cells, ...cells, ...cells, 'n/a', 'n/a', null])
      return `${shown([...cells, ...cells, ...cells, ...cells, ...cells, 'n/a', 'n/a', null])} of ${found?.records}, not ${found?.others.join()}`
    }
    for (const [cells, expected] of [
      [['2026-01-31', '2026-02-01'], '{} date 10 2026-01-31 → 2026-01-31'],
      [['2026-01-31 10:00', '2026-02-01 11:00'], '{} timestamp 10 2026-01-31 10:00 → 2026-01-31 10:00'],
      [
        ['2026-01-31T10:00:00Z', '2026-02-01 11:00+02:00'],
        '{} timestamptz 10 2026-01-31T10:00:00Z → 2026-01-31T10:00:00Z',
      ],
      [['1', '20'], '{} bigint 10 1 → 1'],
      [[1, 20], '{} bigint 10 1 → 1'],
      [['1', '2.5'], '{} numeric 10 1 → 1'],
      [['true', 'false'], '{} boolean 10 true → true'],
      [[true, false], '{} boolean 10 true → true'],
      [['1.234,56', '7,5'], '{"numbers":"comma"} numeric 10 1.234,56 → 1234.56'],
      [['€ 9,90', '€ 1.000,00'], '{"numbers":"comma","unit":"€"} numeric 10 € 9,90 → 9.90'],
      [['31.12.2026', '2026-01-01'], '{"dates":"DMY"} date 10 31.12.2026 → 2026-12-31'],
      [['12/31/2026', '3/4/2026'], '{"dates":"MDY"} date 10 12/31/2026 → 2026-12-31'],
      [['ja', 'nein'], '{"values":{"ja":"true","nein":"false"}} boolean 10 ja → true'],
    ] as const) {
      assert.equal(most(cells), `mostly: ${expected} of 12, not n/a`)
    }
    const both = most(['03/04/2026', '05/06/2026'])
    assert.match(both, /^ambiguous: .*"DMY"} date 10 .*"MDY"} date 10 .* of 12, not n\/a$/)
    const long = 'x'.repeat(1000)
    assert.deepEqual(readingOf(['1,5', '2,5', '3,5', '4,5', '5,5', long, '-'])?.others, undefined, 'less than 80 %')
    assert.deepEqual(readingOf(['1,5', '2,5', '3,5', '4,5', '5,5', '6,5', '7,5', '8,5', long, '-'])?.others, [
      long,
      '-',
    ])
  })

  test('none where a database reads the values as they are, and where they are something else', () => {
    const none: readonly (readonly Cell[])[] = [
      ['12', '1.5'],
      ['12', '13'],
      ['true', 'false'],
      ['2026-12-31', '2026-12-31'],
      ['2026-12-31 10:00'],
      ['2026-12-31T10:00:00Z'],
      ['01234', '98765'],
      ['0012,5'],
      ['no', 'no'],
      ['no', 'maybe'],
      ['yes', 'no', 'maybe'],
      [1, 2, 3, 'n/a'],
      // Postal codes.
      ['98765', '98766', '98767', '98768', '98769', '98770', '98771', '01234'],
      ['2026-12-31', '2026-12-30', '2026-12-29', '2026-12-28', '2026-12-27 10:00'],
      ['1.234,56', 'n/a'],
      ['€ 9,90', '$ 3,20'],
      ['INV 1234', 'INV 5678'],
      ['1.2.3', '10.0.0.1'],
      ['31.12.2026', '31.12.2026 10:00'],
      ['31.02.2026'],
      ['', null],
      [1.5, '1,5'],
      [`1,${'5'.repeat(100)}`],
    ]
    for (const cells of none) assert.equal(shown(cells), undefined, JSON.stringify(cells))
    assert.equal(readingOf(['1,5'], [{ kind: 'text' }]), undefined, 'a type of the source')
  })

  test('are what a mapping makes of the values', () => {
    for (const cells of [
      ['1.234,56', '-12 '],
      ['12,5 %'],
      ['- € 9,90'],
      ['31.12.2026 10:00'],
      ['2026/1/5'],
      ['ja', 'Nein'],
    ]) {
      const choice = readingOf(cells)?.choices[0]
      assert(choice, cells.join())
      const { values, ...local } = choice.reading
      const { map = (cell: string) => cell } = withAnswers(fieldMapper(undefined, local), values)
      assert.equal(map(choice.before, undefined), choice.after)
    }
  })
})
