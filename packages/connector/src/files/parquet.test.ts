import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, type ColumnSource, parquetWrite } from 'hyparquet-writer'
import { encodings, oneColumn, plainInts, varint } from '../../test/parquet-bytes.ts'
import { testContext } from '../acceptance/index.ts'
import { ConnectorError } from '../connector-error.ts'
import type { Row } from '../rows.ts'
import { bounds } from './bounds.ts'
import { memoryStore, readAll } from './memory-store.ts'
import { readFiles } from './read.ts'

function write(
  columnData: ColumnSource[],
  schema?: SchemaElement[],
  rowGroupSize = 1000,
  offsetIndex = false,
  pageSize = 2000,
): Buffer {
  const writer = new ByteWriter()
  const columns = columnData.map((column) => ({ ...column, offsetIndex }))
  parquetWrite({ writer, columnData: columns, rowGroupSize, pageSize, ...(schema ? { schema } : {}) })
  return Buffer.from(writer.getBytes())
}

async function rowsOf(content: Buffer): Promise<Row[]> {
  const reader = await readFiles(testContext(), memoryStore({ 'a.parquet': content }), { format: 'auto' })
  return (await readAll(reader)).rows
}

/** Reads values of one column that is stored as this element says. */
async function cellsOf(element: Omit<SchemaElement, 'name'>, ...data: unknown[]) {
  const schema = [
    { name: 'root', num_children: 1 },
    { repetition_type: 'OPTIONAL' as const, ...element, name: 'x' },
  ]
  return (await rowsOf(write([{ name: 'x', data: [...data, null] }], schema))).map(([cell]) => cell)
}

describe('readFiles of Parquet', () => {
  test('keeps every digit of whole numbers and decimals', async () => {
    assert.deepEqual(await cellsOf({ type: 'INT64' }, 1n, 2n ** 53n - 1n, 2n ** 53n, -(2n ** 63n)), [
      ...[1, 9007199254740991, '9007199254740992', '-9223372036854775808'],
      null,
    ])
    const unsigned = { type: 'INT64', converted_type: 'UINT_64' } as const
    assert.deepEqual(await cellsOf(unsigned, 2n ** 64n - 1n), ['18446744073709551615', null])
    const decimal = { converted_type: 'DECIMAL', precision: 18, scale: 2 } as const
    // What the library is given is a number; what is stored is a whole number of hundredths.
    assert.deepEqual(await cellsOf({ type: 'INT64', ...decimal }, 11.15, -0.05, 0, 90071992547409.91), [
      ...['11.15', '-0.05', '0.00', '90071992547409.91'],
      null,
    ])
    const fixed = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 9, ...decimal, scale: 0 } as const
    assert.deepEqual(await cellsOf(fixed, 12, -1, -256), ['12', '-1', '-256', null])
    assert.deepEqual(await cellsOf({ type: 'FLOAT' }, 0.1, 1.5, 3.4028234663852886e38), [0.1, 1.5, 3.4028235e38, null])
    assert.deepEqual(await cellsOf({ type: 'DOUBLE' }, 0.1, Number.NaN), [0.1, 'NaN', null])
  })

  test('reads whole numbers without a sign, however they are encoded', async () => {
    const unsigned = { 6: 13 }
    // Differences: 2^31 - 1, and one more, which wraps around where numbers have a sign.
    const delta = Buffer.concat([varint(128), varint(1), varint(2), varint(2 ** 32 - 2), varint(2), Buffer.from([0])])
    for (const page of [
      { values: 2, encoding: encodings.DELTA, body: delta },
      { values: 2, body: plainInts([2 ** 31 - 1, -(2 ** 31)]) },
    ]) {
      assert.deepEqual(await rowsOf(oneColumn({ pages: [page] }, { rows: 2, more: unsigned })), [
        [2147483647],
        [2147483648],
      ])
    }
  })

  test('keeps digits, scales, and the sign of zero, in what is nested too', async () => {
    assert.deepEqual(await cellsOf({ type: 'DOUBLE' }, -0, 1), ['-0', 1, null])
    const decimal = { converted_type: 'DECIMAL', precision: 18, scale: 3 } as const
    const columns: SchemaElement[] = [
      { name: 'root', num_children: 1 },
      { name: 'x', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', type: 'INT64', repetition_type: 'OPTIONAL', ...decimal },
    ]
    const data = [[0.1, null, 4.35], []]
    assert.deepEqual(await rowsOf(write([{ name: 'x', data }], columns)), [['["0.100",null,"4.350"]'], ['[]']])
  })

  test('rejects a row with nested bytes that are not text, and no other', async () => {
    const columns: SchemaElement[] = [
      { name: 'root', num_children: 1 },
      { name: 'x', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
    ]
    const content = write([{ name: 'x', data: [[new Uint8Array([0xff])], [new Uint8Array([0x61])]] }], columns)
    const reader = await readFiles(testContext(), memoryStore({ 'a.parquet': content }), { format: 'auto' })
    const [chunk] = (await readAll(reader)).chunks
    assert.deepEqual(chunk?.rows, [[null], ['["a"]']])
    assert.deepEqual([...(chunk?.errors ?? [])], [[0, 'The row has bytes in a nested value that are not text.']])
  })

  test('writes days and timestamps as ISO 8601', async () => {
    const timestamp = new Date('2026-01-31T12:34:56.789Z')
    assert.deepEqual(await cellsOf({ type: 'INT32', converted_type: 'DATE' }, timestamp), ['2026-01-31', null])
    const millis = { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' } as const
    assert.deepEqual(await cellsOf(millis, timestamp, new Date(-1)), [
      ...['2026-01-31T12:34:56.789Z', '1969-12-31T23:59:59.999Z'],
      null,
    ])
    const micros = {
      type: 'INT64',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' },
    } as const
    assert.deepEqual(await cellsOf(micros, 1769862896789012n), ['2026-01-31T12:34:56.789012', null])
    const time = { type: 'INT64', logical_type: { type: 'TIME', isAdjustedToUTC: true, unit: 'NANOS' } } as const
    assert.deepEqual(await cellsOf(time, 45296000000001n), ['12:34:56.000000001', null])
  })

  test('writes what is nested as JSON, and bytes as text where they are some', async () => {
    const bytes = (...values: number[]) => new Uint8Array(values)
    assert.deepEqual(await cellsOf({ type: 'BYTE_ARRAY', converted_type: 'JSON' }, { a: [1, 'é'] }), [
      '{"a":[1,"é"]}',
      null,
    ])
    assert.deepEqual(await cellsOf({ type: 'BYTE_ARRAY' }, bytes(0xc3, 0xa9)), ['é', null])
    assert.deepEqual(await cellsOf({ type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2 }, bytes(0xff, 0)), ['\\xff00', null])
    assert.deepEqual(await cellsOf({ type: 'BOOLEAN' }, true, false), [true, false, null])
    const list: SchemaElement[] = [
      { name: 'root', num_children: 1 },
      { name: 'x', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', type: 'INT64', repetition_type: 'OPTIONAL' },
    ]
    const lists = [[1n, 2n ** 60n], null, []]
    assert.deepEqual(await rowsOf(write([{ name: 'x', data: lists }], list)), [
      ['[1,"1152921504606846976"]'],
      [null],
      ['[]'],
    ])
  })

  test('finds error with rows whose text is none, and with no other', async () => {
    const schema = [
      { name: 'root', num_children: 1 },
      { name: 'x', type: 'BYTE_ARRAY' as const },
    ]
    const content = write([{ name: 'x', data: [new Uint8Array([0xff]), new Uint8Array([0x61])] }], schema)
    const reader = await readFiles(testContext(), memoryStore({ 'a.parquet': content }), { format: 'auto' })
    const [chunk] = (await readAll(reader)).chunks
    assert.deepEqual(chunk?.rows, [[null], ['a']])
    assert.deepEqual([...(chunk?.errors ?? [])], [[0, 'The row has bytes in x that are not text.']])
  })

  test('resumes exactly after every checkpoint, group by group and page by page', async () => {
    const data = Array.from({ length: 120 }, (_, index) => index)
    const columns = [
      { name: 'id', data },
      { name: 'email', data: data.map((index) => `person-${index}@example.com`) },
    ]
    for (const offsetIndex of [false, true]) {
      const store = memoryStore({ 'a.parquet': write(columns, undefined, 50, offsetIndex, 300) }, 1000)
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

  test('reads a large group page by page, without an index of its pages', async () => {
    const data = Array.from({ length: 220 }, () => randomBytes(120 << 10).toString('base64'))
    const content = write(
      [
        { name: 'x', data },
        { name: 'id', data: data.map((_, index) => index) },
      ],
      undefined,
      220,
      false,
      1 << 20,
    )
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

  test('fails at files that are damaged or no Parquet', async () => {
    const whole = write([{ name: 'x', data: Array.from({ length: 500 }, (_, index) => `text ${index}`) }])
    const broken = Buffer.from(whole)
    broken.fill(0xff, 4, 400)
    for (const content of [Buffer.from('x,y\n1,2\n'), Buffer.alloc(0), whole.subarray(0, -100), broken]) {
      await assert.rejects(rowsOf(content), (error: unknown) => {
        assert.ok(error instanceof ConnectorError)
        assert.deepEqual([error.action, error.code], ['fail', 'invalid_file'])
        assert.match(error.message, /^a\.parquet cannot be read as Parquet/)
        return true
      })
    }
  })
})
