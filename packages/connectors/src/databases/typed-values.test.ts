import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import {
  type ReadCell,
  readBytes,
  readDay,
  readDecimal,
  readFloat,
  readFloat32,
  readText,
  readTime,
  readTimeOfDay,
  readTruth,
  readWholeNumber,
} from './typed-values.ts'

/** The value of each cell; undefined if it is rejected. */
const valuesOf = <Value>(read: ReadCell<Value>, cells: readonly Cell[]) =>
  cells.map((cell) => {
    const found = read(cell)
    return 'value' in found ? found.value : undefined
  })

test('reads values exactly, or not at all', () => {
  const int = readWholeNumber(-(2n ** 63n), 2n ** 63n - 1n)
  const whole = [
    '9223372036854775807',
    '9223372036854775808',
    '1e3',
    1e21,
    '7.0',
    '7.5',
    '-0',
    '',
    ' 12 ',
    '1e999',
    '.',
  ]
  assert.deepEqual(valuesOf(int, whole), [
    '9223372036854775807',
    undefined,
    '1000',
    undefined,
    '7',
    undefined,
    '0',
    null,
    '12',
    undefined,
    undefined,
  ])
  const decimals = ['1234.50', '12345', '1.005', '-.5', '1.5e-1', '1,5', 0, '1e-400']
  assert.deepEqual(valuesOf(readDecimal(4, 2), decimals), [
    '1234.5',
    undefined,
    undefined,
    '-0.5',
    '0.15',
    undefined,
    '0',
    undefined,
  ])
  assert.deepEqual(valuesOf(readFloat, ['1e400', 'NaN', '-1.5', '1e308']), [undefined, undefined, -1.5, 1e308])
  const digits = [
    '0.1',
    '9007199254740993',
    '9007199254740992',
    '0.12345678901234567890',
    '-0.0',
    '1e22',
    '123456789.125',
  ]
  assert.deepEqual(valuesOf(readFloat, digits), [0.1, undefined, 2 ** 53, undefined, 0, 1e22, 123456789.125])
  const short = ['0.1', '16777217', 16777216, '123456789.125', 1.5, '3.4028235e38']
  assert.deepEqual(valuesOf(readFloat32, short), [0.1, undefined, 2 ** 24, undefined, 1.5, 3.4028235e38])
  assert.deepEqual(valuesOf(readFloat32, ['1e39', '-3e38', 'x', null]), [undefined, -3e38, undefined, null])
  assert.deepEqual(valuesOf(readTruth, ['Yes', '0', true, 'nobody', null]), [true, false, true, undefined, null])
})

test('reads days and times, in UTC', () => {
  assert.deepEqual(valuesOf(readDay(), ['2026-02-28', '2026-02-30', '2026-01-31T00:00:00Z']), [
    '2026-02-28',
    undefined,
    undefined,
  ])
  const times = ['2026-01-31T12:00:00.1234560+01:00', '2026-01-31', '2026-01-31 25:00', '2026-01-31T12:00:00.1234567Z']
  assert.deepEqual(valuesOf(readTime(6), [...times, '2026-02-30T10:00:00Z', '2026-01-31 12:00 CET']), [
    '2026-01-31 11:00:00.123456',
    '2026-01-31 00:00:00',
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  assert.deepEqual(valuesOf(readTimeOfDay(3), ['12:30', '12:30:01.120', '24:00:00', '12:00:00.1234']), [
    '12:30:00',
    '12:30:01.12',
    undefined,
    undefined,
  ])
})

test('reads texts and bytes within their lengths', () => {
  assert.deepEqual(valuesOf(readText(2), ['', '😀😀', 'abc', '\ud800', 12]), ['', '😀😀', undefined, undefined, '12'])
  assert.deepEqual(valuesOf(readText(4, 'bytes'), ['😀', '😀a']), ['😀', undefined])
  const bytes = valuesOf(readBytes(2), ['\\x00ff', 'AP8=', '\\x0', 'a', '\\x000000']).map((each) =>
    each?.toString('hex'),
  )
  assert.deepEqual(bytes, ['00ff', '00ff', undefined, undefined, undefined])
})
