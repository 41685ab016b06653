import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from '../../../../test/harness/property.ts'
import { avroOf, avroLong as long, avroBytes as text } from '../../test/avro-writer.ts'
import { testContext } from '../acceptance/index.ts'
import { ConnectorError } from '../connector-error.ts'
import { bounds } from './bounds.ts'
import { memoryStore, readAll } from './memory-store.ts'
import { type ReadOptions, readFiles } from './read.ts'

const written = (name: string) => readFile(new URL(`../../test/avro/${name}.avro`, import.meta.url))

async function read(content: Buffer, options: Partial<ReadOptions> = {}) {
  const store = memoryStore({ 'a.csv': content })
  const { chunks, rows } = await readAll(await readFiles(testContext(), store, { format: 'auto', ...options }))
  assert.equal(store.open, 0, 'a stream is left open')
  return { columns: chunks[0]?.columns, rows, chunks, errors: chunks.flatMap((chunk) => [...(chunk.errors ?? [])]) }
}

const recordOf = (type: unknown) => ({ type: 'record', name: 'R', fields: [{ name: 'a', type }] })

describe('Avro files', () => {
  test('that other programs wrote are read with every codec, from every checkpoint', async () => {
    let first: unknown
    for (const codec of ['null', 'deflate', 'snappy', 'zstandard']) {
      const content = await written(`avsc-${codec}`)
      const { columns, rows, chunks, errors } = await read(content)
      assert.deepEqual(errors, [])
      assert.equal(columns?.length, 12)
      assert.equal(rows.length, 20)
      first ??= rows
      assert.deepEqual(rows, first)
      assert.deepEqual(rows[2], [
        9007199254740990,
        'person-2@example.com',
        '1997-05-21',
        '2025-10-09T08:53:20.123458Z',
        true,
        0.1,
        '-1.25',
        'GREEN',
        '["a","\\"2\\""]',
        '{"x":1.5,"y":null,"z":"RED"}',
        '\\x010203ff',
        null,
      ])
      assert.match(
        String(rows[1]?.[11]),
        /^\{"id":0,"email":null,"born":"1997-05-19",.*"tags":\["a","\\"0\\""\].*"parent":null\}$/,
      )
      for (const packed of [content, gzipSync(content)]) {
        let before = 0
        for (const { checkpoint, rows: piece } of chunks) {
          before += piece.length
          const reader = await readFiles(testContext(), memoryStore({ 'a.csv': packed }), { format: 'auto' })
          if (packed === content) assert.deepEqual((await readAll(reader, checkpoint)).rows, rows.slice(before))
          else assert.deepEqual((await readAll(reader)).rows, rows)
        }
      }
      const small = await read(content, { chunkBytes: 300 })
      assert.deepEqual(small.rows, rows)
      assert.ok(small.chunks.length > chunks.length)
      let before = 0
      for (const { checkpoint, rows: piece } of small.chunks) {
        before += piece.length
        const reader = await readFiles(testContext(), memoryStore({ 'a.csv': content }), { format: 'Avro' })
        assert.deepEqual((await readAll(reader, checkpoint)).rows, rows.slice(before))
      }
    }
    const python = await read(await written('python'))
    assert.deepEqual(python.columns, ['n', 't', 'd', 'ts', 'l'])
    assert.deepEqual(python.rows[0], [-1, 'é0', '2026-01-31', '2026-01-31T09:30:00.000Z', '["9007199254740993",-1]'])
  })

  test('reject a row with bytes that are not text, and no other', async () => {
    const bytes = Buffer.concat([text('a'), text(Buffer.from([0xff])), text('b')])
    const { rows, errors } = await read(avroOf(recordOf('string'), [[3, bytes]]))
    assert.deepEqual(rows, [['a'], [null], ['b']])
    assert.deepEqual(errors, [[1, 'The row has bytes that are not text.']])
    assert.deepEqual((await read(avroOf(recordOf('string'), []))).rows, [])
  })

  test('are refused with words if they are damaged or break a bound', async () => {
    const refused = (content: Buffer, message: RegExp, code = 'invalid_file') =>
      assert.rejects(read(content), { code, message })
    const long1 = avroOf(recordOf('long'), [[1, long(5)]])
    await refused(long1.subarray(0, -1), /is a damaged Avro file/)
    await refused(long1.subarray(0, 30), /is a damaged Avro file/)
    await refused(avroOf(recordOf('long'), [[2, long(5)]]), /damaged/)
    await refused(avroOf(recordOf('long'), [[1, Buffer.concat([long(5), long(6)])]]), /damaged/)
    await refused(avroOf('string', [[1, text('a')]]), /damaged/)
    await refused(avroOf('"string"', [[1, text('a')]]), /values that are not records/)
    await refused(avroOf(recordOf('strange'), []), /damaged/)
    await refused(avroOf(recordOf('long'), [], 'bzip2'), /compressed with bzip2, which is not supported/)
    await refused(avroOf(recordOf(['null', 'R']), [[1, Buffer.alloc(200, 2)]]), /damaged/)
    await refused(avroOf(recordOf('R'), [[1, Buffer.alloc(0)]]), /damaged/)
    await refused(avroOf(recordOf({ type: 'array', items: 'null' }), [[1, long(1_000_000_000_000)]]), /damaged/)
    let deep: unknown = 'long'
    for (let level = 0; level < 200; level += 1) deep = { type: 'array', items: deep }
    await refused(avroOf(recordOf(deep), []), /damaged/)
    const bomb = zstdCompressSync(Buffer.alloc(bounds.avro.blockBytes + 1))
    await refused(avroOf(recordOf('long'), [[1, bomb]], 'zstandard'), /a block of more than 64 MiB/, 'file_too_large')
    await refused(avroOf(recordOf('null'), [[2 ** 40, Buffer.alloc(0)]]), /unpacks to more/, 'file_too_large')
    const fields = Array.from({ length: 2_001 }, (_, at) => ({ name: `f${at}`, type: 'null' }))
    await refused(avroOf({ type: 'record', name: 'R', fields }, []), /2000 columns/, 'too_many_columns')
    await assert.rejects(read(long1, { format: 'CSV' }), { message: /is an Avro file, but the format CSV/ })
    await assert.rejects(read(Buffer.from('a\n1\n'), { format: 'Avro' }), { message: /is not an Avro file/ })
  })

  test('are read or refused with words, whatever byte is another one', async () => {
    const content = await written('avsc-null')
    const damage = fc.array(fc.tuple(fc.nat(content.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(damage, async (damages) => {
        const damaged = Buffer.from(content)
        for (const [at, byte] of damages) damaged[at] = byte
        await read(damaged).catch((error: unknown) => assert.ok(error instanceof ConnectorError, String(error)))
      }),
      { numRuns: 60 },
    )
  })
})
