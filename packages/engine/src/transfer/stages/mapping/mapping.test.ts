import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MappedChunk } from '../../filled-batch.ts'
import { mapRows } from './stage.ts'

const rows = [['a'], ['b'], ['c'], ['d'], ['e']]

/** Rejects the letter c, to show that its index fits. */
const map = (rows: MappedChunk['rows']) => ({
  rows: rows.map(([letter]) => [`${letter}!`]),
  errors: new Map(rows.flatMap(([letter], at) => (letter === 'c' ? [[at, { field: 'f', reason: 'c' }]] : []))),
})

test('stages before the mapping keep their skip codes and errors, and their rows are not mapped', async () => {
  const skipped = Uint8Array.of(1, 0, 0, 0, 0)
  const errors = new Map([[1, { reason: 'rejected before' }]])
  for (const computes of [false, true]) {
    const mapping = { map, computes }
    const mapped = await mapRows(mapping, { rows, errors, skipped }, { errors: new Map([[4, 'broken']]) })
    assert.deepEqual(mapped.rows, [['a'], ['b'], ['c!'], ['d!'], ['e']])
    const before = { reason: 'rejected before', isUnmapped: true }
    assert.deepEqual(
      [...mapped.errors],
      [
        [1, before],
        [2, { field: 'f', reason: 'c' }],
      ],
    )
    assert.deepEqual([...(mapped.skipped ?? [])], [1, 0, 0, 0, 0])
  }
})
