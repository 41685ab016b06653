import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { ByteWriter, parquetWrite } from 'hyparquet-writer'
import { testContext } from '../acceptance/index.ts'
import { bounds } from './bounds.ts'
import { memoryStore, readAll } from './memory-store.ts'
import { readFiles } from './read.ts'

test('reads a large group page by page, without an index of its pages', async () => {
  const data = Array.from({ length: 220 }, () => randomBytes(120 << 10).toString('base64'))
  const writer = new ByteWriter()
  const columnData = [
    { name: 'x', data },
    { name: 'id', data: data.map((_, index) => index) },
  ]
  parquetWrite({ writer, columnData, rowGroupSize: 220, pageSize: 1 << 20 })
  const content = Buffer.from(writer.getBytes())
  assert.ok(content.length > bounds.parquet.wholeGroupBytes)
  const store = memoryStore({ 'a.parquet': content })
  const reader = await readFiles(testContext(), store, { format: 'auto' })
  const { chunks, rows } = await readAll(reader)
  assert.ok(rows.every(([text, id]) => text === data[Number(id)]))
  const { checkpoint } = chunks[chunks.length >> 1] ?? {}
  const before = chunks.slice(0, (chunks.length >> 1) + 1).reduce((sum, chunk) => sum + chunk.rows.length, 0)
  assert.deepEqual((await readAll(reader, checkpoint)).rows, rows.slice(before))
  await reader.close()
  assert.equal(store.open, 0)
})
