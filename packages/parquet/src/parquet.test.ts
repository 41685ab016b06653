import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, type ColumnSource, parquetWrite } from 'hyparquet-writer'
import { element, encodings, oneColumn, parquetOf, plainInts, types, varint } from '../test/parquet-bytes.ts'
import { limits, memorySource, readAll } from '../test/read-all.ts'
import { openParquet, ParquetError, type Row } from './read.ts'

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
  return (await readAll(content)).rows
}

/** Reads values of one column that is stored as this element declares. */
async function cellsOf(element: Omit<SchemaElement, 'name'>, ...data: unknown[]) {
  const schema = [
    { name: 'root', num_children: 1 },
    { repetition_type: 'OPTIONAL' as const, ...element, name: 'x' },
  ]
  return (await rowsOf(write([{ name: 'x', data: [...data, null] }], schema))).map(([cell]) => cell)
}

describe('openParquet', () => {
  test('keeps every digit of whole numbers and decimals', async () => {
    assert.deepEqual(await cellsOf({ type: 'INT64' }, 1n, 2n ** 53n - 1n, 2n ** 53n, -(2n ** 63n)), [
      1,
      9007199254740991,
      '9007199254740992',
      '-9223372036854775808',
      null,
    ])
    const unsigned = { type: 'INT64', converted_type: 'UINT_64' } as const
    assert.deepEqual(await cellsOf(unsigned, 2n ** 64n - 1n), ['18446744073709551615', null])
    const decimal = { converted_type: 'DECIMAL', precision: 18, scale: 2 } as const
    // The library accepts a number; the stored value is a whole number of hundredths.
    assert.deepEqual(await cellsOf({ type: 'INT64', ...decimal }, 11.15, -0.05, 0, 90071992547409.91), [
      '11.15',
      '-0.05',
      '0.00',
      '90071992547409.91',
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
      { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
    ]
    const content = write([{ name: 'x', data: [[new Uint8Array([0xff])], [new Uint8Array([0x61])]] }], columns)
    const [piece] = (await readAll(content)).pieces
    assert.deepEqual(piece?.rows, [[null], ['["a"]']])
    assert.deepEqual([...(piece?.errors ?? [])], [[0, 'The row has bytes in a nested value that are not text.']])
  })

  test('writes days and timestamps as ISO 8601', async () => {
    const timestamp = new Date('2026-01-31T12:34:56.789Z')
    assert.deepEqual(await cellsOf({ type: 'INT32', converted_type: 'DATE' }, timestamp), ['2026-01-31', null])
    const millis = { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' } as const
    assert.deepEqual(await cellsOf(millis, timestamp, new Date(-1)), [
      '2026-01-31T12:34:56.789Z',
      '1969-12-31T23:59:59.999Z',
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

  test('writes what is nested as JSON, and bytes in one form, also where they are text by chance', async () => {
    const bytes = (...values: number[]) => new Uint8Array(values)
    assert.deepEqual(await cellsOf({ type: 'BYTE_ARRAY', converted_type: 'JSON' }, { a: [1, 'é'] }), [
      '{"a":[1,"é"]}',
      null,
    ])
    assert.deepEqual(await cellsOf({ type: 'BYTE_ARRAY' }, bytes(0xc3, 0xa9), bytes(0xff)), ['\\xc3a9', '\\xff', null])
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

  test('takes a group without rows for nothing, whatever is said of it', async () => {
    const schema = [element('x', types.BYTE_ARRAY, 1, { 6: 0 })]
    const leaf = { path: ['x'], type: types.BYTE_ARRAY }
    const empty = { rows: 0, leaves: [{ ...leaf, pages: [] }] }
    assert.deepEqual(await rowsOf(parquetOf({ schema, groups: [empty] })), [])
  })

  test('finds error with rows whose text is none, and with no other', async () => {
    const schema = [
      { name: 'root', num_children: 1 },
      { name: 'x', type: 'BYTE_ARRAY' as const, converted_type: 'UTF8' as const },
    ]
    const content = write([{ name: 'x', data: [new Uint8Array([0xff]), new Uint8Array([0x61])] }], schema)
    const [piece] = (await readAll(content)).pieces
    assert.deepEqual(piece?.rows, [[null], ['a']])
    assert.deepEqual([...(piece?.errors ?? [])], [[0, 'The row has bytes in x that are not text.']])
  })

  test('resumes exactly at every place, group by group and page by page', async () => {
    const data = Array.from({ length: 120 }, (_, index) => index)
    const columns = [
      { name: 'id', data },
      { name: 'email', data: data.map((index) => `person-${index}@example.com`) },
    ]
    for (const offsetIndex of [false, true]) {
      const content = write(columns, undefined, 50, offsetIndex, 300)
      const chunkBytes = offsetIndex ? 50 : 500
      const { pieces, rows } = await readAll(content, { chunkBytes })
      assert.deepEqual(
        rows,
        data.map((index) => [index, `person-${index}@example.com`]),
      )
      assert.ok(pieces.length > 5)
      let before = 0
      for (const { place, rows: some } of pieces) {
        before += some.length
        assert.deepEqual((await readAll(content, { chunkBytes, from: place })).rows, rows.slice(before))
      }
    }
  })

  test('throws errors of the source as they are, and ends with the signal', async () => {
    const content = write([{ name: 'x', data: [1, 2, 3] }])
    const source = memorySource(content)
    const options = { limits, chunkBytes: 1 << 20 }
    const broken = new Error('the connection was lost')
    const fails = async () => {
      throw broken
    }
    await assert.rejects(openParquet({ ...source, readRange: fails }, options), (error) => error === broken)
    const file = await openParquet({ ...source, readNext: fails }, options)
    await assert.rejects(file.read().next(), (error) => error === broken)
    const ended = await openParquet(source, { ...options, signal: AbortSignal.abort(broken) })
    await assert.rejects(ended.read().next(), (error) => error === broken)
  })

  test('fails at files that are damaged or no Parquet', async () => {
    const whole = write([{ name: 'x', data: Array.from({ length: 500 }, (_, index) => `text ${index}`) }])
    const broken = Buffer.from(whole)
    broken.fill(0xff, 4, 400)
    for (const content of [Buffer.from('x,y\n1,2\n'), Buffer.alloc(0), whole.subarray(0, -100), broken]) {
      await assert.rejects(rowsOf(content), (error: unknown) => {
        assert.ok(error instanceof ParquetError)
        assert.equal(error.code, 'malformed')
        assert.match(error.message, /^The file cannot be read as Parquet/)
        return true
      })
    }
  })
})
