import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { ByteWriter, parquetWrite } from 'hyparquet-writer'
import fc from '../../../test/harness/property.ts'
import {
  codecs,
  element,
  encodings,
  levelRun,
  oneColumn,
  parquetOf,
  plainInts,
  plainTexts,
  types,
  varint,
} from '../test/parquet-bytes.ts'
import { limits, readAll } from '../test/read-all.ts'
import { ParquetError, type ParquetErrorCode } from './read.ts'

async function read(content: Buffer) {
  const { pieces, rows } = await readAll(content)
  return { rows, errors: pieces.flatMap((piece) => [...piece.errors].map(([, why]) => why)) }
}

async function assertFails(content: Buffer, code: ParquetErrorCode, says = /^The file /) {
  await assert.rejects(read(content), (error: unknown) => {
    assert.ok(error instanceof ParquetError, String(error))
    assert.equal(error.code, code)
    assert.match(error.message, says)
    return true
  })
}

const optional = { repetition: 1 }
const nulls = (values: number | bigint) => ({ values: Number(values), body: levelRun(values, 0) })

describe('bounds of Parquet', () => {
  test('take a run of nulls for what it is, and no more of them than the file is worth', async () => {
    const { rows } = await read(oneColumn({ pages: [nulls(100_000)] }, { rows: 100_000, ...optional }))
    assert.equal(rows.length, 100_000)
    const bomb = oneColumn({ pages: [nulls(2 ** 31 - 1)] }, { rows: 2 ** 31 - 1, ...optional })
    assert.ok(bomb.length < 130)
    await assertFails(bomb, 'too_large', /claims 2147483647 rows in \d+ bytes; there may be 4194304, and 100 more/)
  })

  test('invent no row that the pages do not hold', async () => {
    const pages = [nulls(10)]
    await assertFails(oneColumn({ pages, values: 11 }, { rows: 11, ...optional }), 'malformed')
    await assertFails(oneColumn({ pages: [], values: 11 }, { rows: 11, ...optional }), 'malformed')
    await assertFails(oneColumn({ pages, values: 9n }, { rows: 9, ...optional }), 'malformed')
    const claims = 9_000_000_000_000_000n
    await assertFails(oneColumn({ pages, values: claims }, { rows: claims, ...optional }), 'too_large')
    await assertFails(oneColumn({ pages, values: 2n ** 62n }, { rows: 2n ** 62n, ...optional }), 'malformed')
    // An entry that the dictionary does not have is no null, either.
    const dictionary = { kind: 'dictionary', values: 1, body: plainInts([7]) } as const
    const indexes = {
      values: 2,
      encoding: encodings.RLE_DICTIONARY,
      body: Buffer.concat([Buffer.from([1]), varint(4), Buffer.from([1])]),
    }
    await assertFails(oneColumn({ pages: [dictionary, indexes] }, { rows: 2 }), 'malformed')
    await assertFails(oneColumn({ pages: [indexes] }, { rows: 2 }), 'malformed')
  })

  test('read no byte that a page did not unpack to', async () => {
    const packed = Buffer.concat([varint(4), Buffer.from([3 << 2]), plainInts([7])])
    const page = { values: 1, body: packed, size: 4 }
    assert.deepEqual((await read(oneColumn({ pages: [page], codec: codecs.SNAPPY }, { rows: 1 }))).rows, [[7]])
    for (const [body, size, codec] of [
      // A header that claims more than is unpacked, copies from before the beginning, lengths that wrap around.
      [packed, 400, codecs.SNAPPY],
      [Buffer.concat([varint(400), packed.subarray(1)]), 400, codecs.SNAPPY],
      [Buffer.from([8, 0b10, 9, 0, 0, 0]), 8, codecs.SNAPPY],
      [Buffer.from([8, 63 << 2, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4]), 8, codecs.SNAPPY],
      [Buffer.from([0x0f, 1, 0, ...Array(200).fill(0xff), 0]), 4, codecs.LZ4_RAW],
      [Buffer.from([0x0f, 1, 0, ...Array(200).fill(0xff), 0]), 4, codecs.LZ4],
      [gzipSync(Buffer.alloc(400)), 4, codecs.GZIP],
      [zstdCompressSync(Buffer.alloc(400)), 4, codecs.ZSTD],
    ] as const) {
      await assertFails(oneColumn({ pages: [{ values: 1, body, size }], codec }, { rows: 1 }), 'malformed')
    }
  })

  test('unpack a page to so many bytes, and a file to so many times its size', async () => {
    const large = { values: 1, body: Buffer.alloc(10), size: 65 << 20 }
    await assertFails(oneColumn({ pages: [large], codec: codecs.ZSTD }, { rows: 1 }), 'too_large', /64 MiB/)
    const body = zstdCompressSync(Buffer.alloc(60 << 20))
    const pages = Array.from({ length: 40 }, () => ({ values: 0, body, size: 60 << 20 }))
    await assertFails(oneColumn({ pages, values: 1, codec: codecs.ZSTD }, { rows: 1 }), 'too_large', /1024 MiB/)
  })

  test('hold no more pages of columns at once than there is memory for', async () => {
    const page = { values: 1, body: zstdCompressSync(Buffer.alloc(60 << 20)), size: 60 << 20 }
    const names = Array.from({ length: 10 }, (_, index) => `c${index}`)
    const content = parquetOf({
      schema: names.map((name) => element(name, types.INT32, 0)),
      groups: [
        {
          rows: 1,
          leaves: names.map((name) => ({ path: [name], type: types.INT32, pages: [page], codec: codecs.ZSTD })),
        },
      ],
    })
    await assertFails(content, 'too_large', /256 MiB at once/)
  })

  test('let no value grow out of the one before it without end', async () => {
    const size = 1 << 20
    const count = 1_000
    // The differences of the prefixes are 1 MiB and then zeros, in packed numbers of 21 bits.
    const widths = Buffer.alloc(Math.ceil((1_024 * 21) / 8))
    widths.writeUIntLE(size, 0, 3)
    const prefixes = Buffer.concat([
      varint(1_024),
      varint(1),
      varint(count),
      varint(0),
      varint(0),
      Buffer.from([21]),
      widths,
    ])
    const zeros = Buffer.alloc(Math.ceil((1_024 * 22) / 8))
    // From 1 MiB down to nothing and on with nothing: the least difference is -1 MiB, followed by 0, then 1 MiB each.
    for (let index = 1; index < count - 1; index += 1) setBits(zeros, index * 22, size)
    const suffixes = Buffer.concat([
      varint(1_024),
      varint(1),
      varint(count),
      varint(size * 2),
      varint(size * 2 - 1),
      Buffer.from([22]),
      zeros,
    ])
    const grown = Buffer.concat([prefixes, suffixes, Buffer.alloc(size, 97)])
    const page = { values: count, encoding: encodings.DELTA_BYTE, body: zstdCompressSync(grown), size: grown.length }
    await assertFails(
      oneColumn({ type: types.BYTE_ARRAY, pages: [page], codec: codecs.ZSTD }, { rows: count }),
      'too_large',
    )
  })

  test('read indexes of a dictionary of any width', async () => {
    const dictionary = { kind: 'dictionary', values: 3, body: plainInts([7, 8, 9]) } as const
    for (const width of [2, 8, 24, 25, 31, 32]) {
      const packed = Buffer.alloc(width)
      for (const [index, value] of [0, 1, 2, 0, 1, 2, 0, 1].entries()) setBits(packed, index * width, value, 2)
      const page = {
        values: 8,
        encoding: encodings.RLE_DICTIONARY,
        body: Buffer.concat([Buffer.from([width, 3]), packed]),
      }
      const { rows } = await read(oneColumn({ pages: [dictionary, page] }, { rows: 8 }))
      assert.deepEqual(rows.flat(), [7, 8, 9, 7, 8, 9, 7, 8], `${width} bits`)
    }
  })

  test('reject a row with more nested values than there may be, and no other', async () => {
    const repeated = { 3: 2 }
    const many = 1_000_001
    const body = Buffer.concat([
      // One row of very many values, then one of a single value: lists begin at 0 and continue at 1.
      levels([
        [1, 0],
        [many - 1, 1],
        [1, 0],
      ]),
      levelRun(many + 1, 1),
      Buffer.alloc((many + 1) * 4, 1),
    ])
    const { rows, errors } = await read(
      oneColumn({ pages: [{ values: many + 1, body }] }, { rows: 2, repetition: 2, more: repeated }),
    )
    assert.deepEqual(rows, [[null], ['[16843009]']])
    assert.deepEqual(errors, ['The row has a nested value of more than 1000000 values.'])
  })

  test('hold the footer against the file before anything is taken from it', async () => {
    const page = { values: 1, body: plainInts([7]) }
    const good = { pages: [page] }
    assert.deepEqual((await read(oneColumn(good, { rows: 1 }))).rows, [[7]])
    for (const meta of [
      { 7: 1n << 40n },
      { 7: -1n },
      { 9: 1n << 40n },
      { 9: 0n },
      { 9: -5n },
      { 3: ['y'] },
      { 4: 3 },
      { 4: 77 },
      { 5: -1n },
    ]) {
      await assertFails(oneColumn({ ...good, meta }, { rows: 1 }), 'malformed')
    }
    const schema = [element('x', types.INT32, 0)]
    const groups = [{ rows: 1, leaves: [{ ...good, path: ['x'], type: types.INT32 }] }]
    for (const parts of [
      { rows: 2 },
      { columns: 2 },
      { columns: 2 ** 31 - 1 },
      { columns: -1 },
      { footerBytes: 2 ** 32 - 1 },
      { footerBytes: 3 },
    ]) {
      await assertFails(parquetOf({ schema, groups, ...parts }), 'malformed')
    }
    // A list that claims to be longer than the file and is nested in itself, and a number that never ends.
    const list = Buffer.concat([Buffer.from([0xf9]), varint(30_000_000)])
    for (const bytes of [
      Buffer.concat(Array(50).fill(list)),
      Buffer.alloc(100_000, 0x1c),
      Buffer.alloc(100_000, 0x19),
    ]) {
      await assertFails(parquetOf({ schema, groups, footer: { 5: { type: 9, bytes } } }), 'malformed')
    }
    await assertFails(
      parquetOf({ schema, groups, footer: { 3: { type: 6, bytes: Buffer.alloc(1 << 20, 0xff) } } }),
      'malformed',
    )
    const many = { type: 9, bytes: Buffer.concat([Buffer.from([0xf3]), varint(3_000_000), Buffer.alloc(3_000_000)]) }
    await assertFails(parquetOf({ schema, groups, footer: { 5: many } }), 'too_large', /2000000 values/)
  })

  test('take so many columns, so deeply nested, and no more', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`)
    const wide = (count: number) =>
      parquetOf({
        schema: names(count).map((name) => element(name, types.INT32, 0)),
        groups: [
          {
            rows: 1,
            leaves: names(count).map((name) => ({
              path: [name],
              type: types.INT32,
              pages: [{ values: 1, body: plainInts([7]) }],
            })),
          },
        ],
      })
    assert.equal((await read(wide(2_000))).rows[0]?.length, 2_000)
    await assertFails(wide(10_001), 'too_many_columns', /10000/)
    const deep = [
      ...Array.from({ length: 200 }, (_, index) => ({ 3: 0, 4: `g${index}`, 5: 1 })),
      element('x', types.INT32, 0),
    ]
    await assertFails(parquetOf({ schema: deep, columns: 1, groups: [] }), 'too_many_columns', /100 levels/)
    const variant = [{ 3: 0, 4: 'v', 5: 1, 10: { 16: { 1: 1 } } }, element('value', types.BYTE_ARRAY, 0)]
    await assertFails(parquetOf({ schema: variant, columns: 1, groups: [] }), 'unsupported', /VARIANT/)
  })

  test('reject a row with a value that is too long, and hand on few rows of a long one', async () => {
    const long = 'a'.repeat((8 << 20) + 1)
    const plain = { values: 3, body: plainTexts(['x', long, 'y']) }
    const { rows, errors } = await read(
      oneColumn({ type: types.BYTE_ARRAY, pages: [plain] }, { rows: 3, more: { 6: 0 } }),
    )
    assert.deepEqual(rows, [['x'], [null], ['y']])
    assert.deepEqual(errors, [limits.rowErrors.cellTooLong])
    const dictionary = {
      kind: 'dictionary',
      values: 1,
      body: zstdCompressSync(plainTexts(['b'.repeat(4 << 20)])),
      size: (4 << 20) + 4,
    } as const
    const body = Buffer.from([1, ...varint(2_000_000 * 2), 0])
    const page = {
      values: 2_000_000,
      encoding: encodings.RLE_DICTIONARY,
      body: zstdCompressSync(body),
      size: body.length,
    }
    const bomb = oneColumn(
      { type: types.BYTE_ARRAY, pages: [dictionary, page], codec: codecs.ZSTD },
      { rows: 2_000_000, more: { 6: 0 } },
    )
    await assertFails(bomb, 'too_large', /1024 MiB/)
  })
})

/** Levels of one bit, as runs. */
function levels(runs: readonly (readonly [number, number])[]): Buffer {
  const bytes = Buffer.concat(runs.map(([count, value]) => Buffer.concat([varint(count * 2), Buffer.from([value])])))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([length, bytes])
}

function setBits(bytes: Buffer, at: number, value: number, width = 24): void {
  for (let bit = 0; bit < width; bit += 1) {
    if (((value >> bit) & 1) === 1)
      bytes[(at + bit) >> 3] = (bytes[(at + bit) >> 3] as number) | (1 << ((at + bit) & 7))
  }
}

test('damaged bytes are read as rows, or are an error about the file', async () => {
  const data = Array.from({ length: 300 }, (_, index) => index % 40)
  const columnData = [
    { name: 'plain', data, encoding: 'PLAIN' as const },
    { name: 'delta', data, encoding: 'DELTA_BINARY_PACKED' as const },
    { name: 'long', data: data.map(BigInt), encoding: 'DELTA_BINARY_PACKED' as const },
    { name: 'split', data: data.map((value) => value / 7), encoding: 'BYTE_STREAM_SPLIT' as const },
    { name: 'lengths', data: data.map((value) => `text ${value}`), encoding: 'DELTA_LENGTH_BYTE_ARRAY' as const },
    { name: 'prefixes', data: data.map((value) => `text ${value}`), encoding: 'DELTA_BYTE_ARRAY' as const },
    { name: 'dictionary', data: data.map((value) => (value % 3 === 0 ? null : `text ${value}`)) },
    { name: 'list', data: data.map((value) => ({ of: [value] })), type: 'JSON' as const },
  ]
  const files = (['UNCOMPRESSED', 'SNAPPY'] as const).map((codec) => {
    const writer = new ByteWriter()
    parquetWrite({ writer, columnData, codec, rowGroupSize: 150, pageSize: 400 })
    return Buffer.from(writer.getBytes())
  })
  const places = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const damages = fc.array(fc.tuple(places, fc.nat(255)), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...files), damages, async (file, changes) => {
      const bytes = Buffer.from(file)
      for (const [at, value] of changes) bytes[Math.floor(at * bytes.length)] = value
      try {
        assert.equal((await readAll(bytes)).rows.length, 300)
      } catch (error) {
        if (!(error instanceof ParquetError)) throw error
      }
    }),
    { numRuns: 1_000 },
  )
})
