import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { writerFor } from './column-writers.ts'

const written = (type: string, cell: Cell, scale = 0) => {
  const writer = writerFor({ name: 'C', type, scale })
  const text = writer.text(cell)
  return text !== null && writer.doubt(text) !== undefined ? 'doubted' : text
}

test('an empty text is a text in columns of text alone', () => {
  assert.equal(written('TEXT', ''), '')
  for (const type of ['FIXED', 'REAL', 'BOOLEAN', 'DATE', 'TIMESTAMP_NTZ', 'VARIANT', 'BINARY']) {
    assert.equal(written(type, ''), null, type)
    assert.equal(written(type, null), null, type)
  }
})

test('numbers that a column would round, and what is not a number, are doubted', () => {
  for (const text of ['1', '-1.50', '.5', '1e3', '15e-1', '0.00', '0e9', '+7', '12345678901234567890.12']) {
    assert.equal(written('FIXED', text, 2), text)
  }
  for (const text of ['1.005', '1e-3', '', ' ', '.', '1,5', 'NaN', '0x10', '1e', '1e99999']) {
    assert.equal(written('FIXED', text, 2), text === '' ? null : 'doubted', text)
  }
  assert.equal(written('REAL', '1.000000001'), '1.000000001')
  for (const text of ['many', '9007199254740993', '0.10000000000000001', '1e400', '1e-400']) {
    assert.equal(written('REAL', text), 'doubted', text)
  }
})

test('times without a zone are written in UTC, and zones that are not understood are doubted', () => {
  assert.equal(written('TIMESTAMP_NTZ', '2026-01-31T12:00:00.5+01:00'), '2026-01-31 11:00:00.5')
  assert.equal(written('TIMESTAMP_NTZ', '2026-01-31 12:00:00 Europe/Paris'), 'doubted')
  assert.equal(written('TIMESTAMP_TZ', '2026-01-31T12:00:00+01:00'), '2026-01-31T12:00:00+01:00')
})

test('bytes are written as hexadecimal digits, and what is no bytes stays as it is', () => {
  assert.equal(written('BINARY', '\\xDEADbeef'), 'DEADbeef')
  assert.equal(written('BINARY', '3q2+7w=='), 'deadbeef')
  assert.equal(written('BINARY', 'no bytes!'), 'no bytes!')
})

test('every value is cast to the type of its column', () => {
  const sqlOf = (type: string, scale = 0) => writerFor({ name: 'C', type, scale }).value('x')
  assert.deepEqual(
    ['TEXT', 'REAL', 'BOOLEAN', 'TIMESTAMP_LTZ', 'VARIANT', 'OBJECT', 'ARRAY', 'GEOGRAPHY'].map((type) => sqlOf(type)),
    [
      'x',
      'to_double(x)',
      'to_boolean(x)',
      'to_timestamp_ltz(x)',
      'parse_json(x)',
      'to_object(parse_json(x))',
      'to_array(parse_json(x))',
      'x',
    ],
  )
  assert.equal(sqlOf('FIXED', 2), 'to_number(x, 38, 2)')
})
