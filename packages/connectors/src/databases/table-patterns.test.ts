import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quotedName, tableChoice } from './table-patterns.ts'

/** Which tables patterns select. */

const chosen = (included: string, excluded: string, ...names: [string, string][]) =>
  names.map(([schema, table]) => tableChoice(included, excluded).choose(schema, table))

test('a pattern selects by schema and table, and an exclusion wins', () => {
  assert.deepEqual(chosen('sales.*', '*_tmp', ['sales', 'a'], ['sales', 'a_tmp'], ['crm', 'a']), [
    'matched',
    undefined,
    undefined,
  ])
  assert.deepEqual(chosen('a*b*c', '', ['x', 'abc'], ['x', 'a-b-b-c'], ['x', 'acb'], ['x', 'ab']), [
    'matched',
    'matched',
    undefined,
    undefined,
  ])
  assert.deepEqual(chosen('ab*ba', '', ['x', 'aba'], ['x', 'abba']), [undefined, 'matched'])
  assert.deepEqual(chosen('crm.orders, sales.*\norders', '', ['crm', 'orders'], ['sales', 'x'], ['any', 'orders']), [
    'named',
    'matched',
    'named',
  ])
  assert.deepEqual(chosen('', '', ['a', 'b']), [undefined])
})

test('a quoted name selects only the table with that name', () => {
  for (const name of ['odd, name', 'a.b', 'say "x"', 'a*b', ' spaced ', 'line\nbreak', 'Größe']) {
    assert.deepEqual(chosen(`s.${quotedName(name)}, s.other`, '', ['s', name], ['s', 'aXb']), ['named', undefined])
  }
})

test('a pattern that cannot be read is refused with its text', () => {
  for (const text of ['a.b.c', '"open', 'a"b', '.a', 'a.', '"a"b', 'fine, a.b.c']) {
    assert.throws(() => tableChoice(text, ''), { code: 'invalid_setting', message: /is not a pattern/ })
  }
})

test('a long pattern does not take long', () => {
  const name = 'a'.repeat(60)
  assert.deepEqual(chosen(`${'*a'.repeat(5_000)}b`, '', ['s', name]), [undefined])
})
