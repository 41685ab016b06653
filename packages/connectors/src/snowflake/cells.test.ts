import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { cellOf, literalOf, orderTextOf, textSqlOf } from './cells.ts'

const typed = (type: string, scale = 0) => ({ name: 'C', type, scale })

describe('values of Snowflake', () => {
  test('become cells in a form that loses nothing', () => {
    const values: readonly [type: string, scale: number, text: string | null, cell: Cell][] = [
      ['FIXED', 0, '42', 42],
      ['FIXED', 0, '-9007199254740991', -9007199254740991],
      ['FIXED', 0, '9007199254740993', '9007199254740993'],
      ['FIXED', 2, '1.10', '1.10'],
      ['FIXED', 0, null, null],
      ['REAL', 0, '1.25', 1.25],
      ['REAL', 0, 'NaN', 'NaN'],
      ['REAL', 0, '-inf', '-inf'],
      ['TEXT', 0, '', ''],
      ['BOOLEAN', 0, 'true', true],
      ['BOOLEAN', 0, 'false', false],
      ['DATE', 0, '18262', '2020-01-01'],
      ['DATE', 0, '-1', '1969-12-31'],
      ['TIME', 9, '82919.000000000', '23:01:59'],
      ['TIME', 9, '0.000000001', '00:00:00.000000001'],
      ['TIMESTAMP_NTZ', 9, '1616173619.000000000', '2021-03-19T17:06:59'],
      ['TIMESTAMP_NTZ', 3, '1616173619.120000000', '2021-03-19T17:06:59.12'],
      ['TIMESTAMP_LTZ', 9, '1616173619.123456789', '2021-03-19T17:06:59.123456789Z'],
      ['TIMESTAMP_LTZ', 9, '-0.500000000', '1969-12-31T23:59:59.5Z'],
      ['TIMESTAMP_TZ', 9, '1616173619.000000000 960', '2021-03-19T09:06:59-08:00'],
      ['TIMESTAMP_TZ', 9, '1616173619000000000 1770', '2021-03-19T22:36:59+05:30'],
      ['TIMESTAMP_TZ', 9, '1616173619.5 1440', '2021-03-19T17:06:59.5Z'],
      ['BINARY', 0, 'DEADbeef', '\\xdeadbeef'],
      ['BINARY', 0, '', '\\x'],
      ['VARIANT', 0, '{"a":1}', '{"a":1}'],
      ['ARRAY', 0, '[1,null]', '[1,null]'],
      ['GEOGRAPHY', 0, '{"type":"Point"}', '{"type":"Point"}'],
    ]
    for (const [type, scale, text, cell] of values) {
      assert.equal(cellOf(text, typed(type, scale)), cell, `${type} ${text}`)
    }
  })

  test('that are written in another way stay as they are', () => {
    for (const type of ['DATE', 'TIME', 'TIMESTAMP_NTZ', 'TIMESTAMP_LTZ', 'TIMESTAMP_TZ', 'BINARY']) {
      assert.equal(cellOf('2026-01-31 strange', typed(type)), '2026-01-31 strange', type)
    }
  })

  test('have a text to be found again by, in the format in which it is compared', () => {
    assert.equal(orderTextOf('18262', typed('DATE')), '2020-01-01')
    assert.equal(orderTextOf('0.5', typed('TIME')), '00:00:00.500000000')
    assert.equal(orderTextOf('1616173619.12', typed('TIMESTAMP_TZ')), '2021-03-19T17:06:59.120000000')
    assert.equal(orderTextOf('7', typed('FIXED')), '7')
    assert.equal(literalOf(typed('FIXED', 3)), 'to_number(?, 38, 3)')
    for (const type of ['VARIANT', 'ARRAY', 'OBJECT', 'GEOGRAPHY', 'VECTOR']) {
      assert.equal(literalOf(typed(type)), undefined)
      assert.match(textSqlOf('"C"', typed(type)), /^\w+\(.*"C"\)+$/)
    }
  })
})
