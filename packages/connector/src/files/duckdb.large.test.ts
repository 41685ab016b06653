import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from '../../../../test/harness/property.ts'
import { duckdbFile, duckdbFileBy } from '../../test/duckdb-file.ts'
import { testContext } from '../acceptance/index.ts'
import { ConnectorError } from '../connector-error.ts'
import { discoverableColumns } from './columns.ts'
import { memoryStore, readAll } from './memory-store.ts'
import { type ReadOptions, readFiles } from './read.ts'
import { discoverableSheets } from './sheets.ts'

async function read(content: Buffer, sheet?: string, options: Partial<ReadOptions> = {}) {
  const store = memoryStore({ 'a.duckdb': content })
  const reader = await readFiles(testContext(), store, {
    format: 'auto',
    ...(sheet !== undefined && { excel: { sheet } }),
    ...options,
  })
  const { chunks, rows } = await readAll(reader)
  assert.equal(store.open, 0, 'a stream is left open')
  const errors = chunks.flatMap((chunk) => [...(chunk.errors ?? [])])
  return { columns: chunks[0]?.columns, types: chunks[0]?.types, rows, errors, chunks }
}

const { signal } = new AbortController()

/** An expression, the cell that its value becomes, and the kind of its column. */
const values: readonly (readonly [string, unknown, string | undefined])[] = [
  ['42::TINYINT', 42, 'smallint'],
  ['65535::USMALLINT', 65535, 'integer'],
  ['9007199254740993::BIGINT', '9007199254740993', 'bigint'],
  ['18446744073709551615::UBIGINT', '18446744073709551615', 'decimal'],
  ["'-170141183460469231731687303715884105728'::HUGEINT", '-170141183460469231731687303715884105728', 'decimal'],
  ["'123456789012345678901234567890'::BIGNUM", '123456789012345678901234567890', 'decimal'],
  ['1234567890123456789012345678.0123456789::DECIMAL(38,10)', '1234567890123456789012345678.0123456789', 'decimal'],
  ['1.5::DECIMAL(9,2)', '1.50', 'decimal'],
  ['0.1::DOUBLE', 0.1, 'double'],
  ['0.1::FLOAT', 0.1, 'double'],
  ["'nan'::DOUBLE", 'NaN', 'double'],
  ["'-inf'::DOUBLE", '-Infinity', 'double'],
  ["'-0'::DOUBLE", '-0', 'double'],
  ['true', true, 'boolean'],
  ["'a\"b\\é' || chr(0) || chr(10)", 'a"b\\é\0\n', undefined],
  ["'\\x00ab''\\x5C\\xFF'::BLOB", '\\x006162275cff', 'bytes'],
  ["DATE '2026-01-31'", '2026-01-31', 'date'],
  ["DATE 'infinity'", 'infinity', 'date'],
  ["TIMESTAMP '2026-01-31 09:30:15.123456'", '2026-01-31T09:30:15.123456', 'timestamp'],
  ["'2026-01-31 09:30:15.123456789'::TIMESTAMP_NS", '2026-01-31T09:30:15.123456789', 'timestamp'],
  ["TIMESTAMPTZ '2026-01-31 09:30:15+02'", '2026-01-31T07:30:15Z', 'instant'],
  ["TIME '09:30:15.5'", '09:30:15.5', undefined],
  ['INTERVAL 3 DAYS', '3 days', undefined],
  ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID", 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'uuid'],
  ["'sad'::mood", 'sad', undefined],
  ['\'{"a": 1.0}\'::JSON', '{"a": 1.0}', 'json'],
  ['[1, NULL, 9007199254740993]::BIGINT[]', '[1,null,"9007199254740993"]', 'list'],
  ['[1, 2]::INTEGER[2]', '[1,2]', 'list'],
  [
    "{'a': 1, 'b \"c': ['x', NULL, 'NULL'], 'd': '\\xFF'::BLOB}",
    '{"a":1,"b \\"c":["x",null,"NULL"],"d":"\\\\xff"}',
    'struct',
  ],
  ["MAP {'k': 1.25::DECIMAL(5,2), '__proto__': NULL}", '{"k":"1.25","__proto__":null}', 'json'],
  ['union_value(n := 5)::UNION(n INTEGER, t VARCHAR)', '5', undefined],
]

describe('DuckDB databases', () => {
  test('are read with every value as it is, and with the types of the columns', async () => {
    const select = values.map(([expression], at) => `${expression} AS c${at}`).join(', ')
    const nulls = values.map(() => 'NULL').join(', ')
    const content = await duckdbFile(
      "CREATE TYPE mood AS ENUM ('sad', 'it''s, (ok)')",
      `CREATE TABLE t AS SELECT ${select}`,
      `INSERT INTO t VALUES (${nulls})`,
    )
    for (const packed of [content, gzipSync(content)]) {
      const { rows, types, errors } = await read(packed)
      assert.deepEqual(errors, [])
      for (const [at, [expression, cell]] of values.entries()) assert.deepEqual(rows[0]?.[at], cell, expression)
      assert.deepEqual(
        rows[1],
        values.map(() => null),
      )
      assert.deepEqual(
        types?.map((type) => type?.kind),
        values.map(([, , kind]) => kind),
      )
    }
    const store = memoryStore({ 'a.duckdb': content })
    const columns = await discoverableColumns(store, { format: 'auto' }, signal)
    assert.deepEqual(columns.slice(6, 8), [
      { name: 'c6', type: 'DECIMAL(38,10)', values: ['1234567890123456789012345678.0123456789'] },
      { name: 'c7', type: 'DECIMAL(9,2)', values: ['1.50'] },
    ])
  })

  test('have tables that can be chosen, whatever they are called, and no views', async () => {
    const name = 'x"; DROP TABLE t; --'
    const content = await duckdbFile(
      'CREATE TABLE t (a INTEGER, "rowid" INTEGER, "a b" INTEGER)',
      'INSERT INTO t VALUES (1, 2, 3)',
      'CREATE SCHEMA "of ours"',
      `CREATE TABLE "of ours"."${name.replaceAll('"', '""')}" AS SELECT 5 AS """; --"`,
      "CREATE VIEW v AS SELECT * FROM read_text('/etc/passwd')",
      "CREATE MACRO files() AS TABLE SELECT * FROM glob('/*')",
    )
    const sheets = await discoverableSheets(memoryStore({ 'a.duckdb': content }), signal)
    assert.deepEqual(sheets, [
      { name: 't', kind: 'table', hidden: false },
      { name: `of ours.${name}`, kind: 'table', hidden: false },
    ])
    const { columns, rows } = await read(content, 'T')
    assert.deepEqual([columns, rows], [['a', 'rowid', 'a b'], [[1, 2, 3]]])
    const other = await read(content, `of ours.${name}`)
    assert.deepEqual([other.columns, other.rows], [['"; --'], [[5]]])
    await assert.rejects(read(content), { code: 'invalid_setting', message: /has 2 tables: t, of ours\.x.*Choose one/ })
    await assert.rejects(read(content, 'v'), { code: 'object_not_found', message: /no table called v/ })
    const none = await duckdbFile('CREATE VIEW v AS SELECT 1')
    await assert.rejects(read(none), { code: 'invalid_file', message: /has no table/ })
  })

  test('of every version up to 1.5 are read, as DuckDB writes copies for the guide', async () => {
    for (const version of ['v0.10.2', 'v1.2.0', 'v1.4.0', 'v1.5.0']) {
      const content = await duckdbFileBy(async (connection) => {
        await connection.run('CREATE TABLE memory.t AS SELECT i, [i] AS b FROM range(5000) AS r (i)')
        await connection.run('COPY FROM DATABASE memory TO made')
      }, version)
      const { rows } = await read(content)
      assert.deepEqual([rows.length, rows[4_999]], [5_000, [4_999, '[4999]']], version)
    }
  })

  test('are continued behind every checkpoint', async () => {
    const content = await duckdbFile(
      "CREATE TABLE t AS SELECT i AS id, 'name ' || i AS name FROM range(300000) AS r (i)",
      'DELETE FROM t WHERE id % 10 = 3',
      'UPDATE t SET name = NULL WHERE id = 5',
    )
    const { chunks, rows } = await read(content)
    assert.deepEqual([rows.length, rows[3], rows[4]], [270_000, [4, 'name 4'], [5, null]])
    assert.equal(new Set(rows.map(([id]) => id)).size, 270_000)
    let before = 0
    for (const [at, { checkpoint, rows: piece }] of chunks.entries()) {
      before += piece.length
      if (at % 40 !== 0 && at < chunks.length - 2) continue
      const reader = await readFiles(testContext(), memoryStore({ 'a.duckdb': content }), { format: 'DuckDB' })
      const later = (await readAll(reader, checkpoint)).rows
      assert.deepEqual([later.length, later[0]], [rows.length - before, rows[before]])
    }
  })

  test('are refused with words if they are damaged or break a bound', async () => {
    const content = await duckdbFile(
      'CREATE TABLE t AS SELECT i AS a, repeat($$x$$, 300) AS b FROM range(1000) AS r (i)',
    )
    const refused = (bytes: Buffer, message: RegExp, code = 'invalid_file') =>
      assert.rejects(read(bytes, undefined, { format: 'DuckDB' }), { code, message })
    for (const end of [30, 100, 5_000, content.length - 4_096])
      await refused(content.subarray(0, end), /DuckDB database/)
    const changed = (at: number, byte: number) => {
      const bytes = Buffer.from(content)
      bytes[at] = byte
      return bytes
    }
    await refused(changed(12, 69), /format of DuckDB 2\.0 or later/)
    await refused(changed(20, 1), /is an encrypted DuckDB database/)
    await refused(Buffer.from('a\n1\n'), /is not a DuckDB database/)
    await assert.rejects(read(content, undefined, { format: 'CSV' }), {
      message: /is a DuckDB database, but the format/,
    })
    const names = Array.from({ length: 2_001 }, (_, at) => `c${at} INTEGER`).join(', ')
    await refused(await duckdbFile(`CREATE TABLE t (${names})`), /more than 2000 columns/, 'too_many_columns')
    const many = await duckdbFile('CREATE TABLE t AS SELECT 1 AS a FROM range(100000000)')
    await refused(many, /has a table of more than/, 'file_too_large')
  })

  test('reach no files, whatever is in a generated column', async () => {
    const content = await duckdbFile(
      "CREATE TABLE t (a INTEGER, b VARCHAR GENERATED ALWAYS AS (current_setting('enable_external_access')::VARCHAR))",
      'INSERT INTO t (a) VALUES (1)',
    )
    assert.deepEqual((await read(content)).rows, [[1, 'false']])
  })

  test('are read or refused with words, whatever bytes are others and have their checksum', async () => {
    const content = await duckdbFile(
      'CREATE TABLE t (a INTEGER, b VARCHAR, c INTEGER[], d STRUCT(e DECIMAL(20,2)))',
      "INSERT INTO t SELECT i, 'text ' || i, [i, i + 1], {'e': i} FROM range(3000) AS r (i)",
    )
    const used = [...content.keys()].filter((at) => at >= 12_296 && content[at] !== 0)
    const damage = fc.array(fc.tuple(fc.nat(used.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(damage, async (damages) => {
        const damaged = Buffer.from(content)
        for (const [at, byte] of damages) damaged[used[at] ?? 0] = byte
        sealBlocks(damaged)
        await read(damaged, 't').catch((error: unknown) => assert.ok(error instanceof ConnectorError, String(error)))
      }),
      { numRuns: 10 },
    )
    assert.equal((await read(content)).rows.length, 3_000, 'what a damaged file left behind does not disturb')
  })
})

const headers = 12_288
const blockBytes = 262_144
const mask = (1n << 64n) - 1n

/** Writes the right checksums of all blocks. */
function sealBlocks(content: Buffer): void {
  for (let at = headers; at < content.length; at += blockBytes) {
    let sum = 5381n
    for (let word = at + 8; word < at + blockBytes; word += 8) {
      const value = content.readBigUInt64LE(word)
      if (value !== 0n) sum ^= (value * 0xbf58476d1ce4e5b9n) & mask
    }
    content.writeBigUInt64LE(sum, at)
  }
}
