import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import type { ColumnType } from '@penstock/parquet'
import fc from '../../../../test/harness/property.ts'
import { testContext } from '../acceptance/index.ts'
import type { Batch } from '../destination.ts'
import type { Cell, Json, Row } from '../rows.ts'
import { memorySink, memoryStore, readAll } from './memory-store.ts'
import { readFiles } from './read.ts'
import { fileRejections, type WriteOptions, writeFiles } from './write.ts'

/** Columns of declared types in written files: Parquet by its own types, nested values and bytes in text formats. */

const parquet: WriteOptions = { format: 'Parquet', gzip: false }

/** A type, its name in DuckDB, and cells of it with the values that DuckDB reads. */
const kinds: readonly {
  readonly type: ColumnType | null
  readonly duckdb: string
  readonly values: readonly (readonly [cell: Cell, shown: string])[]
}[] = [
  {
    type: { kind: 'smallint' },
    duckdb: 'INTEGER',
    values: [
      [-32768, '-32768'],
      ['7', '7'],
    ],
  },
  { type: { kind: 'integer' }, duckdb: 'INTEGER', values: [[2147483647, '2147483647']] },
  {
    type: { kind: 'bigint' },
    duckdb: 'BIGINT',
    values: [
      ['9223372036854775807', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
      [5, '5'],
    ],
  },
  {
    type: { kind: 'double' },
    duckdb: 'DOUBLE',
    values: [
      [0.1, '0.1'],
      ['NaN', 'nan'],
      ['-Infinity', '-inf'],
      ['1e300', '1e+300'],
    ],
  },
  {
    type: { kind: 'boolean' },
    duckdb: 'BOOLEAN',
    values: [
      [true, 'true'],
      [false, 'false'],
    ],
  },
  {
    type: { kind: 'date' },
    duckdb: 'DATE',
    values: [
      ['1969-12-31', '1969-12-31'],
      ['9999-12-31', '9999-12-31'],
      ['0001-01-01', '0001-01-01'],
    ],
  },
  {
    type: { kind: 'timestamp' },
    duckdb: 'TIMESTAMP',
    values: [
      ['1960-02-29T23:59:59.123456', '1960-02-29 23:59:59.123456'],
      ['2026-11-26T10:00', '2026-11-26 10:00:00'],
    ],
  },
  {
    type: { kind: 'timestamp', digits: 9 },
    duckdb: 'TIMESTAMP_NS',
    values: [['2026-11-26T10:00:00.123456789', '2026-11-26 10:00:00.123456789']],
  },
  {
    type: { kind: 'instant' },
    duckdb: 'TIMESTAMP WITH TIME ZONE',
    values: [
      ['2026-11-26T10:00:00.5Z', '2026-11-26 10:00:00.5+00'],
      ['2026-11-26T01:00:00-05:30', '2026-11-26 06:30:00+00'],
    ],
  },
  {
    type: { kind: 'decimal', precision: 18, scale: 2 },
    duckdb: 'DECIMAL(18,2)',
    values: [
      ['-9999999999999999.99', '-9999999999999999.99'],
      ['0.10', '0.10'],
      [3, '3.00'],
      ['0012.500', '12.50'],
    ],
  },
  {
    type: { kind: 'decimal', precision: 38, scale: 9 },
    duckdb: 'DECIMAL(38,9)',
    values: [
      ['-99999999999999999999999999999.999999999', '-99999999999999999999999999999.999999999'],
      ['1', '1.000000000'],
    ],
  },
  {
    type: { kind: 'json' },
    duckdb: 'JSON',
    values: [
      ['{"a":[1,12345678901234567890]}', '{"a":[1,12345678901234567890]}'],
      ['{a', '"{a"'],
    ],
  },
  {
    type: { kind: 'bytes' },
    duckdb: 'BLOB',
    values: [
      ['\\x00ff41', '\\x00\\xFFA'],
      ['\\x', ''],
    ],
  },
  {
    type: { kind: 'uuid' },
    duckdb: 'VARCHAR',
    values: [['f81d4fae-7dec-11d0-a765-00a0c91e6bf6', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6']],
  },
  { type: { kind: 'decimal' }, duckdb: 'VARCHAR', values: [['1e500', '1e500']] },
  {
    type: null,
    duckdb: 'VARCHAR',
    values: [
      [1, '1'],
      ['ü', 'ü'],
    ],
  },
]

const columns = kinds.map(({ type }, at) => `${at} ${JSON.stringify(type)}`)
const types = kinds.map(({ type }) => type)
const rowsEach = Math.max(...kinds.map(({ values }) => values.length))
const cellsAt = (row: number): Row => kinds.map(({ values }) => values[row]?.[0] ?? null)
const rows: Row[] = [...Array.from({ length: rowsEach }, (_, row) => cellsAt(row)), kinds.map(() => null)]

const batch = (rows: readonly Row[], declared: Batch['types'] = types, names = columns): Batch => ({
  key: '0'.repeat(32),
  columns: names,
  ...(declared && { types: declared }),
  rows,
  firstRow: 1,
})

const open = (
  sink: ReturnType<typeof memorySink>,
  options = parquet,
  deliveryStates: readonly Json[] = [],
  names = columns,
) =>
  writeFiles(
    testContext({ columns: names, deliveryStates: JSON.parse(JSON.stringify(deliveryStates)) }),
    () => sink,
    options,
  )

async function written(batches: readonly Batch[], options: WriteOptions): Promise<string> {
  const sink = memorySink()
  const writer = await open(sink, options, [], batches[0]?.columns as string[])
  for (const one of batches) await writer.deliver(one)
  await writer.flush?.()
  await writer.finish?.()
  return (sink.published ?? Buffer.alloc(0)).toString()
}

describe('typed columns of written files', () => {
  test('DuckDB reads the types of Parquet, and every value exactly', async (t) => {
    const sink = memorySink()
    const writer = await open(sink)
    assert.deepEqual((await writer.deliver(batch(rows))).rejected, undefined)
    await writer.flush?.()
    await writer.finish?.()
    const folder = await mkdtemp(join(tmpdir(), 'penstock-typed-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'typed.parquet')
    await writeFile(file, sink.published ?? '')
    const instance = await DuckDBInstance.create(':memory:')
    t.after(() => instance.closeSync())
    const connection = await instance.connect()
    await connection.run("set timezone = 'UTC'")
    const described = await connection.runAndReadAll(`describe select * from read_parquet('${file}')`)
    assert.deepEqual(
      described.getRows().map(([, type]) => type),
      kinds.map(({ duckdb }) => duckdb),
    )
    const texts = columns.map((name) => `"${name.replaceAll('"', '""')}"::varchar`)
    const read = await connection.runAndReadAll(`select ${texts.join(', ')} from read_parquet('${file}')`)
    assert.deepEqual(
      read.getRows(),
      rows.map((_, row) => kinds.map(({ values }) => values[row]?.[1] ?? null)),
    )
    connection.closeSync()
  })

  test('our reader declares the types again, and gives the same cells', async () => {
    const sink = memorySink()
    const writer = await open(sink)
    await writer.deliver(batch(rows))
    await writer.flush?.()
    await writer.finish?.()
    const reader = await readFiles(testContext(), memoryStore({ file: sink.published ?? Buffer.alloc(0) }), {
      format: 'Parquet',
    })
    const { chunks } = await readAll(reader)
    const kept = types.map((type) =>
      type === null || type.kind === 'uuid' || (type.kind === 'decimal' && type.precision === undefined)
        ? null
        : type.kind === 'smallint'
          ? { kind: 'integer' }
          : type.kind === 'timestamp' || type.kind === 'instant'
            ? { digits: 6, ...type }
            : type,
    )
    assert.deepEqual(chunks[0]?.types, kept)
  })

  test('a value that its column cannot hold rejects its row, and the preview says the same', async () => {
    const misfits: readonly (readonly [ColumnType, Cell])[] = [
      [{ kind: 'integer' }, 2147483648],
      [{ kind: 'integer' }, 1.5],
      [{ kind: 'bigint' }, '9223372036854775808'],
      [{ kind: 'double' }, 'abc'],
      [{ kind: 'double' }, '1e999'],
      [{ kind: 'boolean' }, 'yes'],
      [{ kind: 'date' }, 'infinity'],
      [{ kind: 'date' }, '2026-02-30'],
      [{ kind: 'date' }, '0000-00-00'],
      [{ kind: 'timestamp' }, '2026-01-01T00:00:00.1234567'],
      [{ kind: 'timestamp' }, '2026-01-01T00:00:00Z'],
      [{ kind: 'timestamp', digits: 9 }, '9999-01-01T00:00:00'],
      [{ kind: 'instant' }, '2026-01-01T00:00:00'],
      [{ kind: 'decimal', precision: 4, scale: 2 }, '100.00'],
      [{ kind: 'decimal', precision: 4, scale: 2 }, '1.001'],
      [{ kind: 'decimal', precision: 4, scale: 2 }, 'NaN'],
      [{ kind: 'bytes' }, '\\x0'],
      [{ kind: 'bytes' }, ''],
    ]
    const previewed = await fileRejections({ settings: { fileFormat: 'Parquet' }, secrets: {} })
    const asText = await fileRejections({ settings: { fileFormat: 'Parquet', columnTypes: false }, secrets: {} })
    for (const [type, cell] of misfits) {
      const one = batch(
        [
          ['a', null],
          ['b', cell],
        ],
        [null, type],
        ['id', 'value'],
      )
      const writer = await open(memorySink(), parquet, [], ['id', 'value'])
      const { rejected } = await writer.deliver(one)
      assert.deepEqual(
        rejected?.map(({ index, field }) => [index, field]),
        [[1, 'value']],
        JSON.stringify([type, cell]),
      )
      assert.deepEqual(previewed(one), rejected)
      assert.deepEqual(asText(one), [])
      const untyped = await open(memorySink(), { ...parquet, typed: false }, [], ['id', 'value'])
      assert.equal((await untyped.deliver(one)).rejected, undefined)
    }
  })

  test('a file keeps its types after a crash, whatever the source declares then', async () => {
    const names = ['id', 'n']
    const declared: Batch['types'] = [null, { kind: 'bigint' }]
    const cells = fc.array(fc.tuple(fc.string(), fc.option(fc.maxSafeInteger())), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(cells, { minLength: 1, maxLength: 5 }),
        fc.nat(4),
        fc.boolean(),
        async (batches, at, aborts) => {
          const sink = memorySink()
          const states: Json[] = []
          const crash = Math.min(at, batches.length)
          const send = async (from: number, until: number, types: Batch['types']) => {
            const writer = await open(sink, parquet, states, names)
            for (const one of batches.slice(from, until)) {
              if (one.length === 0) continue
              const { deliveryState, rejected } = await writer.deliver(batch(one, types, names))
              assert.equal(rejected, undefined)
              if (deliveryState !== undefined) states.push(deliveryState)
            }
            return writer
          }
          await send(0, crash, declared)
          const isTyped = states.length > 0
          const last = await send(crash, batches.length, isTyped ? undefined : declared)
          if (aborts) await (await open(sink, parquet, states, names)).abort?.()
          else {
            await last.flush?.()
            await last.finish?.()
          }
          if (!sink.published) return assert.ok(aborts && states.length === 0)
          const reader = await readFiles(testContext(), memoryStore({ file: sink.published }), { format: 'Parquet' })
          const { chunks, rows } = await readAll(reader)
          assert.deepEqual(rows, batches.flat())
          if (chunks[0]) assert.deepEqual(chunks[0].types, declared)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('JSON stays nested in NDJSON, on one line and with all its digits', async () => {
    const text = '{\n "id": 12345678901234567890,\r\n "tags": ["a", "b\\n"]\n}'
    const content = await written(
      [
        batch(
          [
            [text, text],
            ['not json', null],
            [null, 'x'],
            ['"5"', '5'],
          ],
          [{ kind: 'json' }, null],
          ['doc', 'text'],
        ),
      ],
      { format: 'NDJSON', gzip: false },
    )
    assert.deepEqual(content.split('\n'), [
      `{"doc":{  "id": 12345678901234567890,  "tags": ["a", "b\\n"] },"text":${JSON.stringify(text)}}`,
      '{"doc":"not json","text":null}',
      '{"doc":null,"text":"x"}',
      '{"doc":"\\"5\\"","text":"5"}',
      '',
    ])
  })

  test('bytes are hexadecimal, or Base64 if the setting says so, in CSV and NDJSON', async () => {
    const one = batch([['\\x00ff', '\\x00ff']], [{ kind: 'bytes' }, null], ['raw', 'text'])
    assert.equal(await written([one], { format: 'CSV', gzip: false }), 'raw,text\r\n\\x00ff,\\x00ff\r\n')
    assert.equal(await written([one], { format: 'CSV', gzip: false, binary: 'Base64' }), 'raw,text\r\nAP8=,\\x00ff\r\n')
    assert.equal(
      await written([one], { format: 'NDJSON', gzip: false, binary: 'Base64' }),
      '{"raw":"AP8=","text":"\\\\x00ff"}\n',
    )
  })
})
