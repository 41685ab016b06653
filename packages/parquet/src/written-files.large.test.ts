import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { limits, memorySource, readAll } from '../test/read-all.ts'
import { openParquet } from './read.ts'

/** Files that pyarrow and polars wrote, with their encodings and compressions. `make.py` in the same folder describes how. */

const folder = join(import.meta.dirname, '..', 'test', 'written')
const names = (await readdir(folder)).filter((name) => name.endsWith('.parquet'))
const expected = JSON.parse(await readFile(join(folder, 'expected.ndjson'), 'utf8')) as {
  columns: string[]
  rows: unknown[][]
}

/** Cells without trailing zeros in a fraction of a second, of which polars writes more. */
const comparable = (rows: readonly (readonly unknown[])[]) =>
  rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' && /T.*\.\d+Z?$/.test(cell) ? cell.replace(/\.?0+(Z?)$/, '$1') : cell)),
  )

test('files of pyarrow and polars are read exactly', async () => {
  assert.equal(names.length, 15)
  for (const name of names) {
    const content = await readFile(join(folder, name))
    const { columns } = await openParquet(memorySource(content), { limits, chunkBytes: 1 << 20 })
    const { rows } = await readAll(content)
    assert.deepEqual(columns, expected.columns, name)
    assert.deepEqual(comparable(rows), name.startsWith('empty') ? [] : comparable(expected.rows), name)
  }
})
