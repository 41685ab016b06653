import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { createdTypes, impossibleNames } from './created-columns.ts'
import { columnTypes } from './fields.ts'

const typeOf = (cells: readonly Cell[], settings = {}) =>
  createdTypes({ columns: ['a'], rows: cells.map((cell) => [cell]), settings })[0]?.kind

test('a column of a file has the type that all of its first values have', () => {
  const expected: readonly (readonly [string, readonly Cell[]])[] = [
    ['bigint', ['1', '-20', '', null, 3]],
    ['decimal', ['1', '1.50', -0.5]],
    ['boolean', ['true', false]],
    ['date', ['2026-01-31', '0044-03-15']],
    ['instant', ['2026-01-31T10:00:00Z', '2026-01-31 10:00:00.5+02:00']],
    ['text', ['007', '1']],
    ['text', ['1', 'x']],
    ['text', ['31.12.2026']],
    ['text', ['1.234', '12']],
    ['decimal', ['1.234', 12]],
    ['decimal', ['1.234', '12.5']],
    ['decimal', ['0.125']],
    ['timestamp', ['2026-01-31 10:00']],
    ['text', ['2026-02-30']],
    ['timestamp', ['2026-01-31 10:00:00', '2026-01-31T10:00:00.123456']],
    ['text', ['2026-01-31 10:00:00', '2026-01-31T10:00:00Z']],
    ['text', ['2026-02-30 10:00:00']],
    ['text', ['yes', 'no']],
    ['text', ['1e3']],
    ['text', ['1,5']],
    ['text', ['9223372036854775808000000000000000000']],
    ['text', ['', null]],
    ['text', []],
  ]
  for (const [kind, cells] of expected) assert.equal(typeOf(cells), kind, JSON.stringify(cells))
})

test('declared types come before inferred ones, and chosen types before both', () => {
  const columns = ['a', 'b', 'c']
  const rows = [['1', '2', '3']]
  const types = [{ kind: 'uuid' } as const, null, { kind: 'date' } as const]
  const found = createdTypes({ columns, rows, types, settings: { columnTypes: '{"c": "numeric(10,2)"}' } })
  assert.deepEqual(found, [{ kind: 'uuid' }, { kind: 'bigint' }, { kind: 'decimal', precision: 10, scale: 2 }])
  for (const wrong of ['{', '[]', '{"a": "words"}', '{"x": "text"}', '{"a": 1}']) {
    assert.throws(() => typeOf([], { columnTypes: wrong }), { code: 'invalid_setting', message: /^Column types / })
  }
})

test('a chosen type is the one of that name', () => {
  const chosen = (type: string) => typeOf([], { columnTypes: JSON.stringify({ a: type }) })
  for (const type of columnTypes) {
    const kind = type === 'numeric' ? 'decimal' : type === 'timestamptz' ? 'instant' : type
    assert.equal(chosen(type), kind)
  }
})

test('names that a database cannot have are found, with another name', () => {
  const rules = {
    product: 'PostgreSQL',
    lengthMax: 5,
    unit: 'bytes',
    lengthOf: Buffer.byteLength,
    keyOf: (name: string) => name.toLowerCase(),
    reserved: new Set(['ctid']),
  } as const
  const found = impossibleNames(['a', 'A', 'ctid', '', 'ääää', 'b\0', 'good'], rules)
  assert.deepEqual(
    found.map(({ name }) => name),
    ['A', 'ctid', '', 'ääää', 'b\0'],
  )
  assert.match(found[3]?.reason ?? '', /at most 5 bytes.* such as ää\.$/)
})
