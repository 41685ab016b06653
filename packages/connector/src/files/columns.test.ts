import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ByteWriter, parquetWrite } from 'hyparquet-writer'
import { testContext } from '../acceptance/index.ts'
import { discoverableColumns } from './columns.ts'
import { type MemoryStore, memoryStore } from './memory-store.ts'
import type { ReadOptions } from './read.ts'

async function columnsOf(content: Record<string, Buffer | string> | MemoryStore, options: Partial<ReadOptions> = {}) {
  const store = 'contents' in content ? (content as MemoryStore) : memoryStore(content)
  const found = await discoverableColumns(store, { format: 'auto', ...options }, testContext().signal)
  assert.equal(store.open, 0, 'a stream is left open')
  return found
}
const namesAndTypes = async (...asked: Parameters<typeof columnsOf>) =>
  (await columnsOf(...asked)).map(({ name, type }) => [name, type])

const written = (name: string) => readFile(new URL(`../../test/${name}`, import.meta.url))

describe('columns of files', () => {
  test('of CSV are text, and have the first values', async () => {
    assert.deepEqual(
      await columnsOf({ 'b.csv': 'other\n1\n', 'a.csv.gz': gzipSync('id;Betrag\n1;"1.001,50"\n2;\n') }),
      [
        { name: 'id', type: 'text', values: ['1', '2'] },
        { name: 'Betrag', type: 'text', values: ['1.001,50'] },
      ],
    )
    assert.deepEqual(await namesAndTypes({ 'a.csv': 'only,a header\n' }), [
      ['only', 'text'],
      ['a header', 'text'],
    ])
  })

  test('of JSON have the kind of their values, if it is one', async () => {
    const rows = [
      { id: 1, ok: true, mixed: 1, none: null, nested: { a: 1 } },
      { id: 2, ok: false, mixed: 'x', none: null, nested: [] },
    ]
    const expected = [
      ['id', 'number'],
      ['ok', 'boolean'],
      ['mixed', undefined],
      ['none', undefined],
      ['nested', 'text'],
    ]
    assert.deepEqual(await namesAndTypes({ 'a.json': JSON.stringify(rows) }), expected)
    assert.deepEqual(await namesAndTypes({ 'a.json': rows.map((row) => JSON.stringify(row)).join('\n') }), expected)
  })

  test('of workbooks are those of the sheet in the settings', async () => {
    const book = { 'a.xlsx': await written('workbooks/libreoffice.xlsx') }
    assert.deepEqual(await namesAndTypes(book), [
      ['string', 'text'],
      ['Data di nascita', 'text'],
      ['cap', 'number'],
    ])
    await assert.rejects(columnsOf(book, { excel: { sheet: 'nowhere' } }), { code: 'object_not_found' })
  })

  test('of Parquet and Avro have the types of the schema', async () => {
    const writer = new ByteWriter()
    parquetWrite({
      writer,
      columnData: [
        { name: 'id', data: [1, 2], type: 'INT32' },
        { name: 'name', data: ['Ada', 'Zoë'], type: 'STRING' },
        { name: 'made', data: [new Date(0), new Date(0)], type: 'TIMESTAMP' },
      ],
    })
    assert.deepEqual(await columnsOf({ 'a.parquet': Buffer.from(writer.getBytes()) }), [
      { name: 'id', type: 'INT32', values: [1, 2] },
      { name: 'name', type: 'STRING', values: ['Ada', 'Zoë'] },
      { name: 'made', type: 'TIMESTAMP', values: ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'] },
    ])
    assert.deepEqual((await namesAndTypes({ 'a.avro': await written('avro/avsc-null.avro') })).slice(0, 9), [
      ['id', 'long'],
      ['email', 'string'],
      ['born', 'date'],
      ['seen', 'timestamp-micros'],
      ['ok', 'boolean'],
      ['ratio', 'float'],
      ['amount', 'decimal'],
      ['color', 'enum'],
      ['tags', 'array'],
    ])
  })

  test('are those of the first file that has any, and none of files without rows', async () => {
    assert.deepEqual(await namesAndTypes({ 'a.csv': '', 'b.csv': 'id\n' }), [['id', 'text']])
    await assert.rejects(columnsOf({ 'a.csv': '' }), {
      code: 'invalid_file',
      message: /begins with a line of column names/,
    })
    assert.deepEqual(await columnsOf({ 'a.ndjson': '' }), [])
    await assert.rejects(columnsOf({}), { code: 'object_not_found' })
  })

  test('of damaged files are refused as reading them is', async () => {
    const refused = async (name: string, content: Buffer | string, code: string) =>
      assert.rejects(columnsOf({ [name]: content }), { name: 'ConnectorError', code }, name)
    await refused('a.parquet', 'PAR1damaged, and no footer PAR1', 'invalid_file')
    await refused('a.avro', 'Obj\x01damaged', 'invalid_file')
    await refused('a.xlsx', 'PK\x03\x04damaged', 'invalid_file')
    await refused('a.csv', Array.from({ length: 2_001 }, (_, at) => at).join(','), 'too_many_columns')
    await refused('a.csv', 'x'.repeat(2 << 20), 'invalid_file')
  })
})
