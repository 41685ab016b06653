import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { zipOf } from '../../test/zip.ts'
import { testContext } from '../acceptance/index.ts'
import { discoverableColumns } from './columns.ts'
import type { FileStore } from './store.ts'

/** A store of one endless file, which counts the bytes that are read. */
function endless(name: string, start: string, unit: string) {
  const read = { bytes: 0 }
  const store: FileStore = {
    list: async () => [{ name, sizeBytes: 2 ** 40, version: 'v' }],
    async *read() {
      const piece = Buffer.from(unit.repeat(Math.ceil((1 << 18) / unit.length)))
      for (let next = Buffer.from(start); ; next = piece) {
        read.bytes += next.length
        yield next
      }
    },
  }
  return { store, read }
}

const find = (store: FileStore) => discoverableColumns(store, { format: 'auto' }, testContext().signal)
const oneFile = (name: string, content: Buffer): FileStore => ({
  list: async () => [{ name, sizeBytes: content.length, version: 'v' }],
  async *read(_, from) {
    yield content.subarray(from)
  },
})

describe('columns of hostile files', () => {
  test('are refused after a bounded number of bytes', async () => {
    for (const [name, start, unit, code] of [
      ['a.csv', '', 'x', 'invalid_file'],
      ['a.csv', '', 'x,', 'invalid_file'],
      ['a.csv', '"', 'x\n', 'invalid_file'],
      ['a.csv', 'id\n"', 'x', 'row_too_large'],
      ['a.ndjson', '{"id":"', 'x', 'row_too_large'],
      ['a.ndjson', '', '\n', 'file_too_large'],
      ['a.json', '[', ' ', 'row_too_large'],
      ['a.json', '[{"a":', '[', 'row_too_large'],
    ] as const) {
      const { store, read } = endless(name, start, unit)
      await assert.rejects(find(store), { name: 'ConnectorError', code }, `${name}: ${start}${unit}`)
      assert.ok(read.bytes <= 65 << 20, `${read.bytes} bytes of ${name}`)
    }
  })

  test('that unpack to much more than they are are refused', async () => {
    const zeros = Buffer.alloc(256 << 20, ' ')
    const bomb = ['[Content_Types].xml', 'xl/workbook.xml'].map((name) => ({ name, content: zeros }))
    for (const [name, content] of [
      ['a.csv.gz', gzipSync(zeros)],
      ['a.ndjson.zst', zstdCompressSync(zeros)],
      ['a.json.gz', gzipSync(Buffer.concat([Buffer.from('['), zeros]))],
      ['a.xlsx', zipOf(bomb)],
    ] as const) {
      await assert.rejects(find(oneFile(name, content)), { name: 'ConnectorError' }, name)
    }
  })
})
