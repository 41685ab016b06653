import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from '../../../../test/harness/property.ts'
import type { Cell } from '../rows.ts'
import { dialectOf } from './csv-dialect.ts'
import { parseCsv } from './csv-parse.ts'
import { encodeCsv } from './csv-write.ts'

const comma = { delimiter: ',', newline: '\n' } as const
const parse = (text: string, width: number, ended = true) => parseCsv(text, comma, width, ended)
const rowsOf = (text: string, width: number) => parse(text, width).rows

describe('parseCsv', () => {
  test('reads back what was written, whatever the cells hold', () => {
    const cell = fc.oneof(
      fc.constant(null),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n', ' ', '€', '😀', ';', '\t') }),
      fc.constantFrom('', '"', '""', '=1+1', ' x ', '\uFEFF'),
    )
    const table = fc
      .integer({ min: 2, max: 6 })
      .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1 }))
    fc.assert(
      fc.property(table, (rows) => {
        const written = Buffer.from(encodeCsv(rows)).toString()
        const { rows: read, errors, consumed } = parse(written, rows[0]?.length ?? 0)
        // Text of lone surrogates cannot be written in UTF-8.
        assert.deepEqual(read, wellFormed(rows))
        assert.equal(errors.size, 0)
        assert.equal(consumed, written.length)
      }),
    )
  })

  test('reads the same rows whole and in pieces that end anywhere', () => {
    const line = fc.string({ unit: fc.constantFrom('a', '"', '"', ',', '\n', '\r\n'), maxLength: 20 })
    fc.assert(
      fc.property(line, fc.nat(30), (text, cut) => {
        const whole = parse(text, 2)
        const first = parse(text.slice(0, cut), 2, false)
        const rest = parse(text.slice(first.consumed), 2)
        // A quote that is never closed invalidates only its own row, which is known only at the end of a file.
        assert.deepEqual([...first.rows, ...rest.rows], whole.rows)
        const errors = [...first.errors, ...[...rest.errors].map(([at, why]) => [at + first.rows.length, why] as const)]
        assert.deepEqual(new Map(errors), whole.errors)
      }),
      { numRuns: 5000 },
    )
  })

  test('distinguishes nothing between delimiters from empty text in quotes', () => {
    assert.deepEqual(rowsOf('a,,""\n,,\n', 3), [
      ['a', null, ''],
      [null, null, null],
    ])
  })

  test('takes LF, CRLF and no end of the last line, and leaves out empty lines', () => {
    assert.deepEqual(rowsOf('a,b\r\n\r\nc,d\n\n"e"\t,f\r', 2).slice(0, 2), [
      ['a', 'b'],
      ['c', 'd'],
    ])
    assert.deepEqual(rowsOf('a,b\r\n"c",d\r\ne,"f"\r\ng,h', 2), [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
      ['g', 'h'],
    ])
    assert.deepEqual(parseCsv('a,b\r"c\rd",e\r', { delimiter: ',', newline: '\r' }, 2, true).rows, [
      ['a', 'b'],
      ['c\rd', 'e'],
    ])
  })

  test('takes a quote inside of a cell for a character', () => {
    assert.deepEqual(rowsOf('5" disk,a"b"c\n', 2), [['5" disk', 'a"b"c']])
  })

  test('finds error with rows that have too few or too many cells, and with no other', () => {
    const { rows, errors } = parse('a,b\nc\nd,e,f\ng,h,,\n"i","j","k"\nl,m\n', 2)
    assert.deepEqual(rows, [
      ['a', 'b'],
      ['c', null],
      ['d', 'e'],
      ['g', 'h'],
      ['i', 'j'],
      ['l', 'm'],
    ])
    assert.deepEqual(
      [...errors],
      [
        [1, 'The row has 1 value, but the header has 2.'],
        [2, 'The row has 3 values, but the header has 2.'],
        [4, 'The row has 3 values, but the header has 2.'],
      ],
    )
  })

  test('loses only the line in which a quote is wrong', () => {
    const { rows, errors } = parse('a,b\n"c"x,d\ne,f\n"g,h\ni,j\n', 2)
    assert.deepEqual(
      [rows[0], rows[2], rows[4]],
      [
        ['a', 'b'],
        ['e', 'f'],
        ['i', 'j'],
      ],
    )
    assert.deepEqual(
      [...errors],
      [
        [1, 'The row has characters after a closing quote.'],
        [3, 'The row has a quote that is never closed.'],
      ],
    )
  })
})

describe('encodeCsv', () => {
  const written = (...row: Cell[]) => Buffer.from(encodeCsv([row])).toString()

  test('quotes what needs quotes, and nothing else', () => {
    assert.equal(written('a', 'b c', 'd"e', 'f,g', 'h\ni', 'j\rk'), 'a,b c,"d""e","f,g","h\ni","j\rk"\r\n')
    assert.equal(written('ü', 'ü,', '=SUM(A1)', '', null), 'ü,"ü,",=SUM(A1),"",\r\n')
    assert.equal(written(1.5, -0, 1e21, true, false), '1.5,0,1e+21,true,false\r\n')
  })

  test('never writes an empty line for a row', () => {
    assert.equal(written(null), '""\r\n')
    assert.equal(written(null, null), ',\r\n')
  })

  test('writes cells that are larger than a block', () => {
    const large = `${'ü'.repeat(1_500_000)}"`
    assert.deepEqual(rowsOf(written('a', large, 'b'), 3), [['a', large, 'b']])
  })
})

describe('dialectOf', () => {
  test('finds the delimiter that makes the rows alike', () => {
    for (const [text, delimiter] of [
      ['a,b\n1,2\n', ','],
      ['a;b\n1,5;2,5\n', ';'],
      ['a\tb c, d\n1\t2\n', '\t'],
      ['a|b|c\n1|2|3\n', '|'],
      ['"a;b",c\n"1;2",3\n', ','],
      ['name;motto, if any\nx;y\nz;"a, b, c"\n', ';'],
      ['id;last, first;city, country\n1;Doe, Jane;Rome, Italy\n', ';'],
      ['id;last, first, middle;city, country\n', ';'],
      ['id;last,first;city,country\n1;Doe,Jane;Rome,Italy\n', ';'],
      ['id\tlast, first\tcity, country\n', '\t'],
      ['date,campaign|adset,clicks\n1,Foo|Bar,3\n', ','],
      ['a, b, c\n1, 2, 3\n', ','],
      ['a\n1\n', ','],
      ['', ','],
    ] as const) {
      assert.equal(dialectOf(text).delimiter, delimiter, text)
    }
  })

  test('takes the delimiter that was chosen, by name or as a character', () => {
    assert.equal(dialectOf('a,b\n', 'semicolon').delimiter, ';')
    assert.equal(dialectOf('a,b\n', '^').delimiter, '^')
  })

  test('finds what ends a line outside of quotes', () => {
    assert.equal(dialectOf('a,b\r\n').newline, '\n')
    assert.equal(dialectOf('a,b\r1,2\r').newline, '\r')
    assert.equal(dialectOf('"a\rb",c\n').newline, '\n')
  })
})

const wellFormed = (rows: readonly (readonly (string | null)[])[]): (string | null)[][] =>
  rows.map((row) => row.map((cell) => (cell === null ? null : Buffer.from(cell).toString())))
