import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { batchOf, deliver, readAll, rowsOf } from '../../test/tables.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server

before(() => query(`create type crm.mood as enum ('', 'happy', 'so so'); create domain crm.code as bytea`))

const seed = 20_260_131
const digits = (max: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: max })
const word = fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => !text.includes('\0') && text.isWellFormed())
const numeric = fc.oneof(
  fc.tuple(fc.constantFrom('', '-'), digits(30), digits(12)).map(([sign, whole, part]) => `${sign}${whole}.${part}`),
  fc.constantFrom('0.00', '-0.10', '1.10', 'NaN', 'Infinity', '-Infinity', '123456789012345678901234567890'),
)
const bigint = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String)
const double = fc.oneof(
  fc.double().map((value) => (Object.is(value, -0) ? '-0' : String(value))),
  fc.constantFrom('-0'),
)
const day = fc.oneof(
  fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((at) => at.toISOString().slice(0, 10)),
  fc.constantFrom('infinity', '-infinity', '0044-03-15 BC', '12026-01-31', '4713-01-01 BC'),
)
const timestamp = fc.oneof(
  fc
    .tuple(
      day.filter((text) => /^\d{4}-/.test(text) && !text.includes('BC')),
      fc.nat(86_399),
      fc.nat(999_999),
    )
    .map(([date, second, micro]) => {
      const time = new Date(second * 1000).toISOString().slice(11, 19)
      return `${date} ${time}.${String(micro).padStart(6, '0')}`
    }),
  fc.constantFrom('infinity', '-infinity', '0044-03-15 12:00:00 BC', '12026-01-31 00:00:00'),
)
const hexadecimal = fc.uint8Array({ maxLength: 20 }).map((bytes) => `\\x${Buffer.from(bytes).toString('hex')}`)
const bits = fc.string({ unit: fc.constantFrom('0', '1'), maxLength: 20 })

/** Texts of values, as PostgreSQL reads them, by type. */
const types: Readonly<Record<string, fc.Arbitrary<string>>> = {
  bigint,
  integer: fc.integer().map(String),
  smallint: fc.integer({ min: -32_768, max: 32_767 }).map(String),
  oid: fc.nat().map(String),
  numeric,
  'numeric(30, 4)': fc.tuple(digits(20), digits(4)).map((parts) => parts.join('.')),
  'double precision': double,
  real: fc.float().map((value) => (Object.is(value, -0) ? '-0' : String(value))),
  boolean: fc.constantFrom('true', 'false'),
  text: word,
  'character varying(20)': word.filter((text) => [...text].length <= 20),
  '"char"': fc.constantFrom('', 'a', '~', '\\351'),
  name: word,
  bytea: hexadecimal,
  'crm.code': hexadecimal,
  'bit varying': bits,
  'bit(3)': fc.constantFrom('000', '101'),
  'crm.mood': fc.constantFrom('', 'happy', 'so so'),
  tsvector: fc.constantFrom('', "'a':1A 'b':2"),
  date: day,
  timestamp: timestamp,
  timestamptz: timestamp,
  time: fc.constantFrom('00:00:00', '24:00:00', '12:34:56.000001'),
  timetz: fc.constantFrom('12:00:00+05:30', '00:00:00-12'),
  interval: fc.constantFrom('1 day 2 hours', '-1 day +02:03:00', '-3 mons 2 days -00:00:00.5', '0'),
  uuid: fc.uuid(),
  json: fc.json().filter((text) => !text.includes('\\u0000')),
  jsonb: fc.json().filter((text) => !/\\u(0000|[dD])/.test(text)),
  inet: fc.ipV4(),
  int4range: fc.constantFrom('empty', '[1,5)', '(,)', '[3,)'),
  point: fc.constantFrom('(1.5,-2)', '(0.1,1e+300)'),
  money: fc.constantFrom('$1.10', '-$92,233,720,368,547,758.08'),
}

/** Arrays of some of them, also of two dimensions and with other indexes. */
const arrays = ['bigint', 'numeric', 'double precision', 'boolean', 'text', 'bytea', 'date', 'timestamp', 'timestamptz']
const elements = ['uuid', 'interval', 'jsonb', 'json', 'crm.mood', 'bit varying', 'int4range', '"char"']

const literal = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
const arrayOf = (element: fc.Arbitrary<string>): fc.Arbitrary<string> => {
  const one = fc.option(element.map(literal), { nil: 'NULL' })
  return fc.oneof(
    fc.array(one, { maxLength: 5 }).map((parts) => `{${parts.join(',')}}`),
    fc
      .array(fc.tuple(one, one), { minLength: 1, maxLength: 3 })
      .map((rows) => `{${rows.map((row) => `{${row.join(',')}}`).join(',')}}`),
    fc.tuple(one, one).map((row) => `[2:3]={${row.join(',')}}`),
  )
}

const all: Readonly<Record<string, fc.Arbitrary<string>>> = {
  ...types,
  ...Object.fromEntries([...arrays, ...elements].map((type) => [`${type}[]`, arrayOf(types[type] ?? word)])),
}

/** The values of a table as PostgreSQL prints them. Two values are equal if their texts are equal. */
const held = (table: string, type: string) =>
  query<{ id: number; value: string | null }>(
    `select id, ${type.startsWith('json') ? `regexp_replace(value::text, '\\s', '', 'g')` : 'value::text'} as value from crm.${table} order by id`,
  )

async function makeTables(type: string): Promise<void> {
  const table = `(id int primary key, value ${type})`
  await query(`
    drop table if exists crm.source, crm.target;
    create table crm.source ${table}; create table crm.target ${table}`)
}

/** Each batch has a number of its own, because the same batch is written only once. */
let batches = 0

describe(`values of PostgreSQL ${server.version}`, () => {
  for (const [type, values] of Object.entries(all)) {
    test(`${type}: each value comes back as it was`, async () => {
      await makeTables(type)
      await fc.assert(
        fc.asyncProperty(fc.array(fc.option(values), { minLength: 1, maxLength: 30 }), async (texts) => {
          await query('delete from crm.source')
          await query(
            `insert into crm.source select id, value::${type} from unnest($1::int[], $2::text[]) as t (id, value)`,
            [[...texts.keys()], texts],
          )
          const chunks = await readAll(postgresql, { secrets, settings: { schema: 'crm', table: 'source' } })
          // The last row makes the batch go row by row.
          for (const dirty of [[], [['not a number', null]]]) {
            await query('delete from crm.target')
            const settings = { schema: 'crm', table: 'target' }
            const batch = batchOf(['id', 'value'], [...rowsOf(chunks), ...(dirty as Cell[][])], ++batches)
            const { rejected = [] } = await deliver(postgresql, { secrets, settings }, batch)
            assert.equal(rejected.length, dirty.length)
            assert.deepEqual(await held('target', type), await held('source', type))
          }
        }),
        { seed, numRuns: 2 },
      )
    })

    test(`${type}: each text of a file is stored as PostgreSQL reads it, or rejected`, async () => {
      await makeTables(type)
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof({ arbitrary: values, weight: 5 }, word), { minLength: 1, maxLength: 30 }),
          async (texts) => {
            await query('delete from crm.target')
            const settings = { schema: 'crm', table: 'target' }
            const rows = texts.map((text, id): Cell[] => [id, text])
            const { rejected = [] } = await deliver(
              postgresql,
              { secrets, settings },
              batchOf(['id', 'value'], rows, ++batches),
            )
            const refused = new Set(rejected.map(({ index }) => index))
            const stored = new Map((await held('target', type)).map(({ id, value }) => [id, value]))
            assert.equal(stored.size + refused.size, texts.length)
            for (const [id, text] of texts.entries()) {
              if (refused.has(id)) continue
              const value = stored.get(id) ?? null
              if (value === null) assert.equal(text, '', 'only an empty text becomes none')
              else if (/bytea|code/.test(type)) continue
              else {
                const [same] = await query<{ same: boolean }>(
                  `select ${type.startsWith('json') ? `regexp_replace($1::${type}::text, '\\s', '', 'g')` : `$1::${type}::text`} = $2 as same`,
                  [text, value],
                ).catch(() => [{ same: text.trimStart().startsWith('[') }])
                assert.ok(same?.same, `${JSON.stringify(text)} became ${JSON.stringify(value)}`)
              }
            }
          },
        ),
        { seed, numRuns: 2 },
      )
    })
  }
})
