import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import type { ReportColumn } from '../report-columns.ts'
import { cellOf, exactJson, shifted } from './report-cells.ts'

test('moves the point of a number by its digits alone', () => {
  const cases: [number: string, places: number, result: string][] = [
    ['1234567', 6, '1.234567'],
    ['1', 6, '0.000001'],
    ['-1500000', 6, '-1.5'],
    ['0', 6, '0'],
    ['-0', 6, '0'],
    ['98765432109876543210', 6, '98765432109876.54321'],
    ['12.5', 2, '0.125'],
    ['1e3', 2, '10'],
    ['2.5e-1', 2, '0.0025'],
    ['0001000000', 6, '1'],
    ['n/a', 6, 'n/a'],
    ['', 6, ''],
  ]
  for (const [number, places, result] of cases) assert.equal(shifted(number, places), result, number)
})

test('reads values as their type has them, and leaves what is missing missing', () => {
  const cases: [type: ReportColumn['type'], value: unknown, cell: Cell][] = [
    ['whole', '1,234,567', 1_234_567],
    ['whole', '12345678901234567890', '12345678901234567890'],
    ['whole', 0, 0],
    ['whole', undefined, null],
    ['whole', '', null],
    ['decimal', '1,234.50', '1234.50'],
    ['decimal', 0.1, '0.1'],
    ['money', '12.30', '12.30'],
    ['micros', 1_230_000, '1.23'],
    ['cents', '1999', '19.99'],
    ['percent', '12.34 %', '0.1234'],
    ['day', '20260131', '2026-01-31'],
    ['day', '1/5/2026', '2026-01-05'],
    ['day', '2026/1/5', '2026-01-05'],
    ['day', '2026-01-31T00:00:00.000-08:00', '2026-01-31'],
    ['day', { year: 2026, month: 1, day: 5 }, '2026-01-05'],
    ['boolean', 'TRUE', true],
    ['boolean', 0, false],
    ['json', [{ a: 1 }], '[{"a":1}]'],
    ['text', 7, '7'],
  ]
  for (const [type, value, cell] of cases) assert.equal(cellOf(type, value), cell, `${type} ${JSON.stringify(value)}`)
})

test('keeps the digits of numbers that a double cannot hold', () => {
  assert.deepEqual(exactJson('{"id":12345678901234567890,"n":0.1,"big":1e400}'), {
    id: '12345678901234567890',
    n: 0.1,
    big: '1e400',
  })
})
