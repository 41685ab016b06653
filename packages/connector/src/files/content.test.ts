import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { testContext } from '../acceptance/index.ts'
import type { FileFormat } from './format.ts'
import { memoryStore, readAll } from './memory-store.ts'
import { readFiles } from './read.ts'

async function rowsOf(files: Record<string, Buffer | string>) {
  const store = memoryStore(files)
  const { chunks, rows } = await readAll(await readFiles(testContext(), store, { format: 'auto' }))
  assert.equal(store.open, 0, 'a stream is left open')
  return { columns: chunks[0]?.columns, rows }
}

describe('the format of a file', () => {
  const rows = [
    ['1', 'a, "b" [}\n'],
    ['2', null],
  ]
  const first = JSON.stringify({ id: '1', name: 'a, "b" [}\n' })
  const both = [first, '{"id":"2"}']
  const objects = both.map((text) => JSON.parse(text) as unknown)
  const pretty = objects.map((each) => JSON.stringify(each, null, 2))
  const csv = 'id,name\n1,"a, ""b"" [}\n"\n2,\n'

  test('is found in its content, whatever its name is', async () => {
    const contents: Record<string, string> = {
      lines: both.join('\n'),
      array: `[${both.join(',')}]`,
      'array of lines': `[\n${both.join(',\n')}\n]\n`,
      'array over several lines': `\n${JSON.stringify(objects, null, 2)}\n`,
      'objects over several lines': pretty.join('\r\n'),
      'array with a mark': `\ufeff${JSON.stringify(objects)}`,
      csv,
    }
    for (const [what, content] of Object.entries(contents)) {
      for (const name of ['a.json', 'a.jsonl', 'a', 'a.csv', 'a.txt']) {
        if (what === 'csv' && /json/.test(name)) continue
        for (const stored of [content, gzipSync(content)]) {
          const found = await rowsOf({ [name]: stored })
          assert.deepEqual(found.columns, ['id', 'name'], `${what} as ${name}`)
          assert.deepEqual(found.rows, rows, `${what} as ${name}`)
        }
      }
    }
    const one = await rowsOf({ 'a.json': JSON.stringify({ id: '1', tags: [{ x: 1 }] }, null, 2) })
    assert.deepEqual(one.rows, [['1', '[{"x":1}]']])
    assert.deepEqual((await rowsOf({ 'a.json': '[]' })).rows, [])
    const mixed = await rowsOf({ 'a.json': `[${both.join()}]`, 'b.csv': csv, c: both.join('\n') })
    assert.deepEqual(mixed.rows, [...rows, ['1', 'a, "b" [}\n'], ['2', null], ...rows])
  })

  test('resumes exactly after every checkpoint of an array', async () => {
    const many = Array.from({ length: 300 }, (_, index) => ({ id: index, name: `"[{,}]" ${index}` }))
    for (const text of [
      JSON.stringify(many),
      JSON.stringify(many, null, 1),
      many.map((each) => JSON.stringify(each, null, 1)).join('\n'),
    ]) {
      for (const content of [text, gzipSync(text)]) {
        const open = () =>
          readFiles(testContext(), memoryStore({ 'a.json': content }, 100), { format: 'auto', chunkBytes: 500 })
        const { chunks, rows: all } = await readAll(await open())
        assert.ok(chunks.length > 10)
        assert.deepEqual(
          all,
          many.map(({ id, name }) => [id, name]),
        )
        let read = 0
        for (const { checkpoint, rows: these } of chunks) {
          read += these.length
          assert.deepEqual((await readAll(await open(), checkpoint)).rows, all.slice(read))
        }
      }
    }
  })

  test('is refused where it is none, or another than was chosen', async () => {
    const refused = async (content: Buffer | string, name: string, format: FileFormat, says: RegExp) => {
      const read = async () => readAll(await readFiles(testContext(), memoryStore({ [name]: content }), { format }))
      await assert.rejects(read, { code: 'invalid_file', message: says }, `${name} ${String(content).slice(0, 20)}`)
    }
    await refused('id,name\n1,a\n', 'a.json', 'auto', /is not JSON/)
    await refused('[1, 2]', 'a.json', 'auto', /not of objects/)
    await refused('["a", "b"]', 'a', 'auto', /not of objects/)
    await refused(`[${both.join()}`, 'a.json', 'auto', /ends within its JSON array/)
    await refused(Buffer.from('PK\x03\x04\x14\0\x06\0'), 'a.csv', 'auto', /Excel/)
    await refused(Buffer.from([1, 2, 3, 0, 0xff, 9, 10]), 'a', 'auto', /neither text nor/)
    await refused(Buffer.from('PAR1\0\0\0PAR1'), 'a.csv', 'CSV', /is a Parquet file, but the format CSV/)
    await refused(Buffer.from('PAR1\0\0\0PAR1'), 'a.csv', 'NDJSON', /is a Parquet file, but the format NDJSON/)
    await refused(gzipSync('PAR1\0\0\0PAR1'), 'a.parquet', 'auto', /within a gzip file/)
    await refused(both.join('\n'), 'a.csv', 'CSV', /is JSON, but the format CSV/)
    assert.deepEqual((await rowsOf({ a: '[id],{name}\n1,2\n' })).columns, ['[id]', '{name}'])
  })
})
