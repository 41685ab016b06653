import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
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
        for (const stored of [content, gzipSync(content), zstdCompressSync(content)]) {
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
      for (const content of [text, gzipSync(text), zstdCompressSync(text)]) {
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

  test('is zstd in one frame or many, with notes between them', async () => {
    const [one, two] = [zstdCompressSync('id,name\n1,"a, ""b"" [}\n'), zstdCompressSync('"\n2,\n')]
    const notes = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    for (const parts of [
      [one, two],
      [notes, one, notes, two, notes],
    ]) {
      assert.deepEqual((await rowsOf({ 'a.csv': Buffer.concat(parts) })).rows, rows)
    }
    const large = Buffer.from(`x\n${'1234567890'.repeat(40_000)}\n`)
    assert.equal((await rowsOf({ 'a.csv.zst': zstdCompressSync(large) })).rows[0]?.[0], large.toString().slice(2, -1))
    const narrow = { params: { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_contentSizeFlag]: 0 } }
    const checked = zstdCompressSync(csv, narrow)
    assert.deepEqual((await rowsOf({ 'a.csv': Buffer.concat([checked, zstdCompressSync('3,c\n')]) })).rows.length, 3)
    const wrong = Buffer.from(checked)
    wrong[wrong.length - 1] = (wrong.at(-1) as number) ^ 1
    for (const damaged of [
      wrong,
      one.subarray(0, -3),
      Buffer.concat([one, Buffer.from('2,b\n')]),
      notes.subarray(0, 5),
    ]) {
      await assert.rejects(rowsOf({ 'a.csv': damaged }), { code: 'invalid_file', message: /a\.csv is damaged/ })
    }
  })

  test('is refused where it is none, or another than was chosen', async () => {
    const refused = async (content: Buffer | string, name: string, format: FileFormat, says: RegExp) => {
      const read = async () => readAll(await readFiles(testContext(), memoryStore({ [name]: content }), { format }))
      await assert.rejects(read, { code: 'invalid_file', message: says }, `${name} ${String(content).slice(0, 20)}`)
    }
    await refused('id,name\n1,a\n', 'a.json', 'auto', /is not JSON/)
    await refused('[1, 2]', 'a.json', 'auto', /values that are not objects/)
    await refused('["a", "b"]', 'a', 'auto', /values that are not objects/)
    await refused(`[${both.join()}`, 'a.json', 'auto', /ends before its JSON array does/)
    await refused(Buffer.from('PK\x03\x04\x14\0\x06\0'), 'a.csv', 'auto', /Excel/)
    await refused(Buffer.from([1, 2, 3, 0, 0xff, 9, 10]), 'a', 'auto', /neither text nor/)
    await refused(Buffer.from('PAR1\0\0\0PAR1'), 'a.csv', 'CSV', /is a Parquet file, but the format CSV/)
    await refused(Buffer.from('PAR1\0\0\0PAR1'), 'a.csv', 'NDJSON', /is a Parquet file, but the format NDJSON/)
    await refused(gzipSync('PAR1\0\0\0PAR1'), 'a.parquet', 'auto', /is a compressed Parquet file/)
    await refused(Buffer.from('PARE\0\0\0PARE'), 'a.parquet', 'auto', /encrypted Parquet/)
    await refused('id,name\n1,a\n', 'a.parquet', 'Parquet', /damaged/)
    await refused('', 'a.parquet', 'auto', /damaged/)
    const tar = Buffer.alloc(1_024)
    tar.write('ustar', 257)
    await refused(gzipSync(tar), 'a.tar.gz', 'auto', /is a tar archive/)
    for (const [start, says] of [
      ['\xfd7zXZ\0', /compressed with xz.* Compress it with gzip, zstd or bzip2/],
      ['\x04"M\x18', /LZ4/],
      ['\x1f\x9d\x90', /\(\.Z\)/],
      ['\xff\x06\0\0sNaPpY', /Snappy/],
      ["7z\xbc\xaf'\x1c", /7-Zip/],
      ['Rar!\x1a\x07\x01', /RAR/],
    ] as const) {
      for (const format of ['auto', 'CSV'] as const) await refused(Buffer.from(start, 'latin1'), 'a.csv', format, says)
    }
    await refused(both.join('\n'), 'a.csv', 'CSV', /is JSON, but the format CSV/)
    assert.deepEqual((await rowsOf({ a: '[id],{name}\n1,2\n' })).columns, ['[id]', '{name}'])
    assert.deepEqual((await rowsOf({ 'a.parquet': csv })).rows, rows)
  })
})
