import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chunk, Json } from '@penstock/connector'
import { type RowPage, readPages } from './read-pages.ts'

const columns = ['id']
const pages: Record<string, RowPage> = {
  first: { columns, items: [[1], [2]], bytes: 20, next: 'b' },
  b: { columns, items: [], bytes: 2, next: 'c', errors: new Map() },
  c: { columns, items: [[3], [4]], bytes: 20, errors: new Map([[1, 'The value is not an ID.']]), next: undefined },
}
const read = async (cursor = 'first') => pages[cursor] ?? assert.fail(`no page ${cursor}`)

async function collect(after?: Json, from = read): Promise<Chunk[]> {
  const chunks: Chunk[] = []
  for await (const chunk of readPages(from, after)) chunks.push(chunk)
  return chunks
}
/** The value as the database returns it. */
const stored = (checkpoint: Json | undefined): Json => JSON.parse(JSON.stringify(checkpoint))

test('each page is a chunk, and its checkpoint leads to the next one', async () => {
  const chunks = await collect()
  assert.deepEqual(
    chunks.map(({ rows, bytes }) => [rows, bytes]),
    [
      [[[1], [2]], 20],
      [[], 2],
      [[[3], [4]], 20],
    ],
  )
  assert.equal(chunks[2]?.errors?.get(1), 'The value is not an ID.')
  for (const [at, { checkpoint }] of chunks.entries()) {
    assert.deepEqual(await collect(stored(checkpoint)), chunks.slice(at + 1))
  }
})

test('a checkpoint that is none begins at the first page', async () => {
  for (const checkpoint of [null, 'b', 7, [], {}, { cursor: 7 }]) assert.equal((await collect(checkpoint)).length, 3)
})

test('a cursor that fits in no checkpoint, or leads in a circle, is an error of the platform', async () => {
  const page = { columns, items: [], bytes: 0 }
  for (const next of ['x'.repeat(9_000), 'same']) {
    await assert.rejects(
      collect(undefined, async () => ({ ...page, next })),
      { code: 'malformed_response' },
    )
  }
})
