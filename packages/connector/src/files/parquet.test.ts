import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ByteWriter, type ColumnSource, parquetWrite } from 'hyparquet-writer'
import { element, levelRun, oneColumn, parquetOf, plainInts, types } from '../../../parquet/test/parquet-bytes.ts'
import { testContext } from '../acceptance/index.ts'
import { ConnectorError } from '../connector-error.ts'
import { memoryStore, readAll } from './memory-store.ts'
import { readFiles } from './read.ts'

function write(columnData: ColumnSource[], rowGroupSize = 1000, offsetIndex = false, pageSize = 2000): Buffer {
  const writer = new ByteWriter()
  const columns = columnData.map((column) => ({ ...column, offsetIndex }))
  parquetWrite({ writer, columnData: columns, rowGroupSize, pageSize })
  return Buffer.from(writer.getBytes())
}

async function rowsOf(content: Buffer) {
  const reader = await readFiles(testContext(), memoryStore({ 'a.parquet': content }), { format: 'auto' })
  try {
    return (await readAll(reader)).rows
  } finally {
    await reader.close()
  }
}

async function assertFails(content: Buffer, code: string, says: RegExp) {
  await assert.rejects(rowsOf(content), (error: unknown) => {
    assert.ok(error instanceof ConnectorError, String(error))
    assert.deepEqual([error.action, error.code], ['fail', code])
    assert.match(error.message, says)
    return true
  })
}

/** A file with this number of columns and one row. */
function wide(count: number): Buffer {
  const names = Array.from({ length: count }, (_, index) => `c${index}`)
  const pages = [{ values: 1, body: plainInts([7]) }]
  return parquetOf({
    schema: names.map((name) => element(name, types.INT32, 0)),
    groups: [{ rows: 1, leaves: names.map((name) => ({ path: [name], type: types.INT32, pages })) }],
  })
}

describe('readFiles of Parquet', () => {
  test('resumes exactly after every checkpoint, group by group and page by page', async () => {
    const data = Array.from({ length: 120 }, (_, index) => index)
    const columns = [
      { name: 'id', data },
      { name: 'email', data: data.map((index) => `person-${index}@example.com`) },
    ]
    for (const offsetIndex of [false, true]) {
      const store = memoryStore({ 'a.parquet': write(columns, 50, offsetIndex, 300) }, 1000)
      const reader = await readFiles(testContext(), store, { format: 'auto', chunkBytes: offsetIndex ? 50 : 500 })
      const { chunks, rows } = await readAll(reader)
      assert.deepEqual(
        rows,
        data.map((index) => [index, `person-${index}@example.com`]),
      )
      assert.ok(chunks.length > 5)
      let before = 0
      for (const { checkpoint, rows: piece } of chunks) {
        before += piece.length
        assert.deepEqual((await readAll(reader, checkpoint)).rows, rows.slice(before))
      }
      await reader.close()
      assert.equal(store.open, 0)
    }
  })

  test('fails at files that are damaged or no Parquet', async () => {
    const whole = write([{ name: 'x', data: Array.from({ length: 500 }, (_, i) => `text ${i}`) }])
    const broken = Buffer.from(whole)
    broken.fill(0xff, 4, 400)
    for (const content of [Buffer.alloc(0), whole.subarray(0, -100), broken]) {
      await assertFails(content, 'invalid_file', /^a\.parquet cannot be read as Parquet: [^.]*\.$/)
    }
  })

  test('fails at files that break a limit, which the message names', async () => {
    const nulls = [{ values: 2 ** 31 - 1, body: levelRun(2 ** 31 - 1, 0) }]
    const bomb = oneColumn({ pages: nulls }, { rows: 2 ** 31 - 1, repetition: 1 })
    await assertFails(
      bomb,
      'file_too_large',
      /^a\.parquet claims 2147483647 rows in \d+ bytes.* Write the file in parts/,
    )
    assert.equal((await rowsOf(wide(2_000)))[0]?.length, 2_000)
    await assertFails(wide(2_001), 'too_many_columns', /^a\.parquet has more than 2000 columns/)
    await assertFails(
      wide(10_001),
      'too_many_columns',
      /^a\.parquet has a schema of more than 10000 columns and groups/,
    )
    const variant = [{ 3: 0, 4: 'v', 5: 1, 10: { 16: { 1: 1 } } }, element('value', types.BYTE_ARRAY, 0)]
    const unread = parquetOf({ schema: variant, columns: 1, groups: [] })
    await assertFails(unread, 'invalid_file', /^a\.parquet has the column v of the type VARIANT/)
  })

  test('throws what the store throws, whichever bytes it is asked for', async () => {
    const content = write([{ name: 'x', data: [1, 2, 3] }])
    for (let readsBefore = 0; readsBefore < 3; readsBefore += 1) {
      const store = memoryStore({ 'a.parquet': content })
      const { read } = store
      store.read = (file, fromByte) => {
        if (store.reads.length < readsBefore) return read(file, fromByte)
        throw new ConnectorError('connection_lost', 'The connection was interrupted.')
      }
      const reading = async () => readAll(await readFiles(testContext(), store, { format: 'auto' }))
      await assert.rejects(reading(), { code: 'connection_lost' })
      assert.equal(store.open, 0)
    }
  })
})
