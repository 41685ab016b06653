import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quoteValue } from './quoted-reasons.ts'

test('a reason names the value of the column that it blames', () => {
  const columns = ['id', 'born']
  const rows = [
    [1, '31.02.1989'],
    [2, 'ä'.repeat(100)],
    [3, null],
  ]
  const quoted = (index: number | undefined, field: string | undefined, reason: string) =>
    quoteValue({ ...(index !== undefined && { index }), ...(field !== undefined && { field }), reason }, columns, rows)
  assert.equal(quoted(0, 'born', 'A value is not a valid date.'), '"31.02.1989" is not a valid date.')
  assert.equal(quoted(0, 'id', 'A number is out of range.'), '"1" is out of range.')
  assert.equal(quoted(1, 'born', 'A text is too long.'), `"${'ä'.repeat(60)}…" is too long.`)
  for (const [index, field, reason] of [
    [2, 'born', 'A value is not a valid date.'],
    [0, undefined, 'A value is not a valid date.'],
    [0, 'born', 'A row with the same unique key already exists.'],
    [undefined, 'born', 'A value is not a valid date.'],
  ] as const) {
    assert.equal(quoted(index, field, reason), reason)
  }
})
