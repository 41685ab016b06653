import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MappedChunk } from '../../filled-batch.ts'
import { mapRows } from './stage.ts'

const rows = [['a'], ['b'], ['c'], ['d'], ['e']]

/** Rejects the letter c, and skips removed rows, to show that their indexes fit. */
const map = ({ rows, removed }: { rows: MappedChunk['rows']; removed?: ReadonlySet<number> }) => ({
  rows: rows.map(([letter]) => [`${letter}!`]),
  errors: new Map(rows.flatMap(([letter], at) => (letter === 'c' ? [[at, { field: 'f', reason: 'c' }]] : []))),
  skipped: Uint8Array.from(rows, (_, at) => (removed?.has(at) ? 2 : 0)),
})

test('stages before the mapping keep their skip codes and errors, and their rows are not mapped', async () => {
  const skipped = Uint8Array.of(1, 0, 0, 0, 0)
  const errors = new Map([[1, { reason: 'rejected before' }]])
  const mapped = await mapRows({ map: map as never }, { rows, errors, skipped }, { removed: new Set([4]) })
  assert.deepEqual(mapped.rows, [['a'], ['b'], ['c!'], ['d!'], ['e!']])
  assert.deepEqual([...mapped.errors], [...errors, [2, { field: 'f', reason: 'c' }]])
  assert.deepEqual([...(mapped.skipped ?? [])], [1, 0, 0, 0, 2])
})
