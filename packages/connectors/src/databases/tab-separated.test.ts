import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { decodeLine, encodeRows } from './tab-separated.ts'

const write = (cell: Cell) => (cell === null ? null : String(cell))

test.describe('rows with tabs between their fields', { concurrency: true }, () => {
  test('come back as they were, whatever text they hold', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({ unit: fc.constantFrom('\\', '\t', '\n', '\r', 'a', 'é', '🐘'), maxLength: 60 }),
    )
    const row = fc.array(fc.option(text), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) => {
        const lines = Buffer.concat([...encodeRows(rows, [write, write, write])])
          .toString()
          .split('\n')
        assert.equal(lines.pop(), '')
        assert.deepEqual(lines.map(decodeLine), rows)
      }),
    )
  })

  test('come in slices of whole fields, the number of each row before them, and only those that were picked', () => {
    const rows = Array.from({ length: 3 }, (_, at) => ['x'.repeat(200_000 * (at + 1)), at])
    const slices = [...encodeRows(rows, [write, write], { picked: [0, 2], numbered: true })]
    assert.ok(slices.length > 1)
    assert.equal(Buffer.concat(slices).toString(), `0\t${'x'.repeat(200_000)}\t0\n2\t${'x'.repeat(600_000)}\t2\n`)
  })
})
