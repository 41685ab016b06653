import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import type { ColumnType } from '@penstock/parquet'
import fc from '../../../../test/harness/property.ts'
import { testContext } from '../acceptance/index.ts'
import type { Cell, Json, Row } from '../rows.ts'
import { memorySink, memoryStore, readAll } from './memory-store.ts'
import { readFiles } from './read.ts'
import { type WriteOptions, writeFiles } from './write.ts'

/** Lists and structs in written files of Parquet, of any types within each other. */

type Value = null | number | string | boolean | readonly Value[] | { readonly [name: string]: Value }
type Leaf = {
  readonly type: ColumnType | null
  readonly value: fc.Arbitrary<Value>
  readonly shown: (v: string) => string
}

const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9]{${count}}$`))
const day = fc
  .date({ min: new Date('1600-01-01'), max: new Date('2400-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const same = (text: string): string => text
/** Leaves, with the text that DuckDB casts them to. */
const leaves: readonly Leaf[] = [
  { type: { kind: 'bigint' }, value: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String), shown: same },
  { type: { kind: 'integer' }, value: fc.integer(), shown: same },
  {
    type: { kind: 'double' },
    value: fc.integer({ min: -1e9, max: 1e9 }).map((n) => n / 4),
    shown: (text) => (text.includes('.') ? text : `${text}.0`),
  },
  { type: { kind: 'boolean' }, value: fc.boolean(), shown: same },
  { type: { kind: 'date' }, value: day, shown: same },
  {
    type: { kind: 'timestamp', digits: 6 },
    value: fc.tuple(day, digits(5)).map(([of, fraction]) => `${of}T12:34:56.${fraction}7`),
    shown: (text) => text.replace('T', ' '),
  },
  {
    type: { kind: 'decimal', precision: 30, scale: 4 },
    value: fc.tuple(fc.bigInt(-(10n ** 25n), 10n ** 25n), digits(4)).map(([whole, places]) => `${whole}.${places}`),
    shown: same,
  },
  {
    type: { kind: 'bytes' },
    value: fc.uint8Array({ maxLength: 6 }).map((b) => `\\x${Buffer.from(b).toString('hex')}`),
    shown: same,
  },
  { type: null, value: fc.string({ unit: 'grapheme' }), shown: same },
]

type Shape = { readonly type: ColumnType | null; readonly value: fc.Arbitrary<Value>; readonly duckdb: string }

const names = ['a', 'B c', 'ü', '__proto__', 'list', 'element']
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

const shape: fc.Arbitrary<Shape> = fc.letrec<{ any: Shape; nested: Shape; leaf: Shape }>((tie) => ({
  leaf: fc.constantFrom(...leaves).map(({ type, value }) => ({ type, value, duckdb: 'VARCHAR' })),
  any: fc.oneof({ maxDepth: 3, depthIdentifier: 'shape' }, tie('leaf'), tie('nested')),
  nested: fc.oneof(
    { depthIdentifier: 'shape' },
    tie('any').map(
      (item): Shape => ({
        type: { kind: 'list', items: item.type },
        value: fc.array(fc.option(item.value), { maxLength: 4 }),
        duckdb: `${item.duckdb}[]`,
      }),
    ),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...names), tie('any')), {
        selector: ([name]) => name,
        minLength: 1,
        maxLength: 3,
      })
      .map(
        (fields): Shape => ({
          type: { kind: 'struct', fields: fields.map(([name, field]) => ({ name, type: field.type })) },
          value: fc
            .tuple(...fields.map(([, field]) => fc.option(field.value)))
            .map((values) => Object.fromEntries(values.map((value, at) => [fields[at]?.[0] ?? '', value]))),
          duckdb: `STRUCT(${fields.map(([name, field]) => `${quoted(name)} ${field.duckdb}`).join(', ')})`,
        }),
      ),
  ),
})).nested

/** A value with all of its leaves as text. */
function textsOf(type: ColumnType | null, value: Value, isDuckdb: boolean): Value {
  if (value === null) return null
  if (type?.kind === 'list') return (value as Value[]).map((each) => textsOf(type.items, each, isDuckdb))
  if (type?.kind === 'struct') {
    const given = value as Record<string, Value>
    return Object.fromEntries(
      type.fields.map((field) => [field.name, textsOf(field.type, given[field.name] ?? null, isDuckdb)]),
    )
  }
  const shown = leaves.find((leaf) => leaf.type?.kind === type?.kind)?.shown ?? same
  return isDuckdb ? shown(String(value)) : String(value)
}

const parquet: WriteOptions = { format: 'Parquet', gzip: false }

async function write(
  columns: readonly string[],
  types: readonly (ColumnType | null)[],
  batches: readonly Row[][],
  options = parquet,
) {
  const sink = memorySink()
  const states: Json[] = []
  // A separate writer for each batch, as after a crash.
  for (const [at, rows] of batches.entries()) {
    const writer = await writeFiles(testContext({ columns, deliveryStates: states }), () => sink, options)
    const batch = { key: String(at).padStart(32, '0'), columns, types, rows, firstRow: 1 }
    const { deliveryState, rejected } = await writer.deliver(batch)
    assert.equal(rejected, undefined)
    if (deliveryState !== undefined) states.push(JSON.parse(JSON.stringify(deliveryState)) as Json)
    if (at === batches.length - 1) {
      await writer.flush?.()
      await writer.finish?.()
    }
  }
  return sink.published ?? Buffer.alloc(0)
}

async function read(file: Buffer | Uint8Array) {
  const reader = await readFiles(testContext(), memoryStore({ file: Buffer.from(file) }), { format: 'Parquet' })
  return await readAll(reader)
}

describe('lists and structs of written files', () => {
  test('DuckDB and our own reader read every value exactly, and the types', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'penstock-nested-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const instance = await DuckDBInstance.create(':memory:')
    t.after(() => instance.closeSync())
    const connection = await instance.connect()
    const file = join(folder, 'nested.parquet')
    const sample = fc.tuple(shape, shape).chain(([one, other]) =>
      fc.tuple(
        fc.constant([one, other] as const),
        fc.array(fc.array(fc.tuple(fc.option(one.value), fc.option(other.value)), { minLength: 1, maxLength: 6 }), {
          minLength: 1,
          maxLength: 2,
        }),
      ),
    )
    await fc.assert(
      fc.asyncProperty(sample, async ([shapes, batches]) => {
        const types = shapes.map(({ type }) => type)
        const cells = batches.map((rows) =>
          rows.map((row) => row.map((value) => (value === null ? null : JSON.stringify(value)))),
        )
        const written = await write(['one', 'other'], types, cells)
        const { rows, chunks } = await read(written)
        assert.deepEqual(chunks[0]?.types, types)
        const given = batches.flat()
        const parsed = (cell: Cell | undefined): Value => (cell === null ? null : (JSON.parse(String(cell)) as Value))
        const expected = (isDuckdb: boolean) =>
          given.map((row) => row.map((value, at) => textsOf(types[at] ?? null, value, isDuckdb)))
        const ours = rows.map((row) => row.map((cell, at) => textsOf(types[at] ?? null, parsed(cell), false)))
        assert.deepEqual(ours, expected(false))

        await writeFile(file, written)
        const withBytes = JSON.stringify(types).includes('"bytes"')
        if (withBytes) return
        const texts = shapes.map(
          ({ duckdb }, at) => `to_json(cast(${at === 0 ? 'one' : 'other'} as ${duckdb}))::varchar`,
        )
        const found = await connection.runAndReadAll(`select ${texts.join(', ')} from read_parquet('${file}')`)
        const theirs = found
          .getRows()
          .map((row) => row.map((text) => (text === null ? null : JSON.parse(String(text)))))
        assert.deepEqual(theirs, expected(true))
      }),
      { numRuns: 150 },
    )
    connection.closeSync()
  })

  test('a value that its type does not hold rejects its row', async () => {
    const struct: ColumnType = { kind: 'struct', fields: [{ name: 'n', type: { kind: 'integer' } }] }
    const misfits: readonly (readonly [ColumnType, Cell])[] = [
      [{ kind: 'list', items: { kind: 'integer' } }, '[1,"x"]'],
      [{ kind: 'list', items: { kind: 'integer' } }, '[1,2147483648]'],
      [{ kind: 'list', items: { kind: 'integer' } }, '[[1]]'],
      [{ kind: 'list', items: { kind: 'integer' } }, '{"a":1}'],
      [{ kind: 'list', items: { kind: 'integer' } }, '[0:1]={1,2}'],
      [{ kind: 'list', items: { kind: 'integer' } }, 5],
      [struct, '{"n":1,"other":2}'],
      [struct, '[1]'],
      [struct, '5'],
      [struct, '{"n":1.5}'],
    ]
    for (const [type, cell] of misfits) {
      const writer = await writeFiles(testContext({ columns: ['id', 'v'] }), () => memorySink(), parquet)
      const rows: Row[] = [
        ['a', null],
        ['b', cell],
      ]
      const batch = { key: '0'.repeat(32), columns: ['id', 'v'], types: [null, type], rows, firstRow: 1 }
      const { rejected } = await writer.deliver(batch)
      assert.deepEqual(
        rejected?.map(({ index, field }) => [index, field]),
        [[1, 'v']],
        String(cell),
      )
      assert.match(
        rejected?.[0]?.reason ?? '',
        /^A value is not (a list with items|an object with fields) of the declared types?, /,
      )
      // Without types, every value is text.
      const file = await write(['id', 'v'], [null, type], [rows], { ...parquet, typed: false })
      assert.deepEqual((await read(file)).rows, [rows[0], ['b', String(cell)]])
    }
  })

  test('numbers keep their digits, fields may be left out, and types without bounds are JSON', async () => {
    const deep = (levels: number): ColumnType =>
      levels === 0 ? { kind: 'integer' } : { kind: 'list', items: deep(levels - 1) }
    const types: readonly (ColumnType | null)[] = [
      { kind: 'list', items: { kind: 'decimal', precision: 38, scale: 9 } },
      {
        kind: 'struct',
        fields: [
          { name: 'id', type: { kind: 'bigint' } },
          { name: 'doc', type: { kind: 'json' } },
        ],
      },
      deep(10),
      deep(11),
      { kind: 'struct', fields: [] },
      { kind: 'struct', fields: ['a', 'A'].map((name) => ({ name, type: null })) },
    ]
    const nested = (levels: number) => `${'['.repeat(levels)}7${']'.repeat(levels)}`
    const row: Row = [
      '[12345678901234567890.123456789,"1.5",null]',
      '{"doc":{"n":12345678901234567890}}',
      nested(10),
      nested(11),
      '{"x":1}',
      '{"a":"1","A":2}',
    ]
    const { rows, chunks } = await read(await write(['1', '2', '3', '4', '5', '6'], types, [[row]]))
    assert.deepEqual(
      chunks[0]?.types?.map((type) => type?.kind),
      ['list', 'struct', 'list', 'json', 'json', 'json'],
    )
    assert.deepEqual(rows, [
      [
        '["12345678901234567890.123456789","1.500000000",null]',
        '{"id":null,"doc":"{\\"n\\":12345678901234567890}"}',
        ...row.slice(2),
      ],
    ])
  })

  test('lists that fill several pages are read exactly', async (t) => {
    const type: ColumnType = {
      kind: 'list',
      items: {
        kind: 'struct',
        fields: [
          { name: 'n', type: { kind: 'bigint' } },
          { name: 's', type: null },
        ],
      },
    }
    const rows = Array.from({ length: 3_000 }, (_, row): Row => {
      const items = Array.from({ length: row % 150 }, (_, at) => ({ n: row * 1000 + at, s: `${row}-${at}` }))
      return [row % 7 === 0 ? null : JSON.stringify(items)]
    })
    const file = await write(['v'], [type], [rows])
    assert.deepEqual((await read(file)).rows, rows)
    const folder = await mkdtemp(join(tmpdir(), 'penstock-nested-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const path = join(folder, 'pages.parquet')
    await writeFile(path, file)
    const instance = await DuckDBInstance.create(':memory:')
    t.after(() => instance.closeSync())
    const connection = await instance.connect()
    const found = await connection.runAndReadAll(`select to_json(v)::varchar from read_parquet('${path}')`)
    assert.deepEqual(found.getRows(), rows)
    connection.closeSync()
  })
})
