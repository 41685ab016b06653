import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Chunk, type RawFormat, type Row, rawOf } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { madeTypes, scalarTexts, valueTexts } from '../../test/postgresql-values.ts'
import { batchOf, deliver, readAll, rowsOf } from '../../test/tables.ts'
import { binaryTypes } from './copy-binary.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server

before(() => query(madeTypes))

const seed = 20_261_130
const scalars = Object.keys(scalarTexts)
/** Each batch has a number of its own, because the same batch is written only once. */
let batches = 0

/** Reads the table as raw rows of one of these formats, or as values. */
const read = (...formats: readonly RawFormat[]) =>
  readAll(postgresql, {
    secrets,
    settings: { schema: 'crm', table: 'source' },
    takesRaw: async ({ format }) => formats.includes(format),
  })
/** The table seems large, so that the binary format is considered. */
const enlarge = "update pg_class set relpages = 1, reltuples = 1e7 where oid = 'crm.source'::regclass"

/** The rows of a table after a delivery, and the rejected rows. */
async function outcomeOf(
  rows: readonly Row[],
  settings: Record<string, string> = {},
  columns: readonly string[] = ['id', 'value'],
) {
  await query('delete from crm.target')
  const batch = batchOf(columns, rows, ++batches)
  const { rejected = [], bytes } = await deliver(
    postgresql,
    { secrets, settings: { schema: 'crm', table: 'target', ...settings } },
    batch,
  )
  const held = await query('select id::text, value::text as value from crm.target order by target.id::text')
  return { rejected, held, isCounted: bytes > 0 || held.length === 0 }
}

/** Types that have all values of another one. */
const wider: Readonly<Record<string, readonly string[]>> = {
  smallint: ['integer', 'bigint', 'numeric'],
  integer: ['bigint', 'numeric'],
  bigint: ['numeric', 'numeric(20, 0)'],
  real: ['double precision'],
  text: ['character varying'],
  'character varying(20)': ['character varying', 'character varying(30)'],
  'numeric(30, 4)': ['numeric', 'numeric(30, 2)'],
  'bit(3)': ['bit varying'],
  timestamp: ['timestamp(3)'],
  interval: ['interval(2)', 'interval day'],
}

/** The types of the destination that a type is tried with. */
const targetsOf = (type: string): string[] => {
  const at = scalars.indexOf(type)
  const others = at < 0 ? ['jsonb'] : [1, 5, 11].map((step) => scalars[(at + step) % scalars.length] as string)
  return [type, ...(wider[type] ?? []), 'text', 'character varying(5)', ...others]
}

/** The places behind all rows. */
const placesOf = (chunks: readonly Chunk[]) =>
  chunks.flatMap(({ rows, checkpointAfter }) => rows.map((_, at) => checkpointAfter?.(at + 1)))

/** Whether values of a type can be read in the binary format. */
async function isBinary(type: string): Promise<boolean> {
  const [row] = await query(
    `select coalesce(nullif(typbasetype, 0), oid)::int as id from pg_type where oid = '${type}'::regtype`,
  )
  return binaryTypes.has(Number(row?.id))
}

describe(`raw rows of PostgreSQL ${server.version}`, () => {
  for (const [type, values] of Object.entries(valueTexts)) {
    test(`${type}: raw rows arrive like values, and are rejected like values`, async () => {
      const hasBinary = await isBinary(type)
      for (const target of targetsOf(type)) {
        await query(`
          drop table if exists crm.source, crm.target;
          create table crm.source (id int primary key, value ${type});
          create table crm.target (id bigint primary key, value ${target})`)
        await fc.assert(
          fc.asyncProperty(fc.array(fc.option(values), { minLength: 1, maxLength: 30 }), async (texts) => {
            await query('delete from crm.source')
            await query(
              `insert into crm.source select id, value::${type} from unnest($1::int[], $2::text[]) as t (id, value)`,
              [[...texts.keys()], texts],
            )
            await query(enlarge)
            const byValues = await read()
            assert.equal(rawOf(byValues[0]?.rows ?? []), undefined)
            for (const format of ['copy-text', 'copy-binary'] as const) {
              const raw = await read(format)
              const list = raw.flatMap(({ rows }) => rawOf(rows) ?? [])
              assert.equal(list[0]?.format, format === 'copy-text' || hasBinary ? format : undefined, format)
              assert.deepEqual(rowsOf(raw), rowsOf(byValues), 'raw rows are the same values')
              assert.deepEqual(placesOf(raw), placesOf(byValues))
              // Other types get values from the binary format, which one of them shows.
              const isTried = format === 'copy-text' || target === type || target === 'text'
              if (!list[0] || !isTried) continue
              const settings = { writeMode: 'Upsert', keyColumns: 'id' }
              for (const mode of [{}, settings]) {
                assert.deepEqual(await outcomeOf(list[0].rows, mode), await outcomeOf(rowsOf(byValues), mode), target)
              }
              if (target !== type) continue
              // As of a mapping that changes the order of columns.
              const turned = list[0].mapped([{ column: 1 }, { column: 0 }], []).rows
              const turnedValues = rowsOf(byValues).map(([id = null, value = null]) => [value, id])
              const columns = ['value', 'id']
              assert.deepEqual(await outcomeOf(turned, {}, columns), await outcomeOf(turnedValues, {}, columns), target)
            }
          }),
          { seed, numRuns: 1 },
        )
      }
    })
  }
})
