import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { startPostgresql } from '../../test/postgresql.ts'
import { batchOf, deliver } from '../../test/tables.ts'
import { assertExact, rows, texts } from '../../test/typed-texts.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server
before(() => query(`create type crm.mood as enum ('happy')`))

const columns = ['id', 'value']
const settings = { schema: 'crm', table: 'target' }
let batches = 0

async function pass(type: string, given = rows) {
  await query(`drop table if exists crm.target; create table crm.target (id int primary key, value ${type})`)
  const tried = await postgresql.destination?.deliver?.tryRows?.({
    ...testContext({ secrets, settings }),
    columns,
    rows: given,
  })
  const { rejected = [] } = await deliver(postgresql, { secrets, settings }, batchOf(columns, given, ++batches))
  const found = await query<{ id: number; value: string | null }>(
    `select id, value::text as value from crm.target order by id`,
  )
  return { rejected, tried: tried?.rejected ?? [], stored: new Map(found.map(({ id, value }) => [id, value])) }
}
const indexesOf = (rejected: readonly { readonly index?: number }[]) => new Set(rejected.map(({ index = -1 }) => index))

const types = [
  ...['smallint', 'integer', 'bigint', 'oid', 'numeric', 'numeric(10,2)', 'numeric(4,-2)', 'real', 'double precision'],
  ...['boolean', 'date', 'timestamp', 'timestamp(0)', 'timestamptz', 'timestamptz(3)', 'time', 'time(2)', 'timetz'],
  ...[
    'interval',
    'interval(0)',
    'money',
    'text',
    'varchar(3)',
    'char(3)',
    'bytea',
    'bit(3)',
    'varbit',
    'uuid',
    'inet',
    'cidr',
  ],
  ...['json', 'jsonb', 'crm.mood', 'date[]', 'integer[]', 'daterange', 'tstzrange'],
]

describe(`texts in columns of PostgreSQL ${server.version}`, () => {
  for (const type of types) {
    test(`${type}: each is stored as it is, or rejected`, async () => {
      const { rejected, tried, stored } = await pass(type)
      assertExact(type, stored, indexesOf(rejected), indexesOf(tried))
    })
  }

  test('which have a value in the forms of the type are stored', async () => {
    const good: Readonly<Record<string, readonly Cell[]>> = {
      integer: ['1.0', ' 12 ', '007', '-0', 3, '1e3', ''],
      'numeric(10,2)': ['1.1', '2.50', '1.500', 'NaN', '1e3'],
      boolean: ['true', 'f', 'TRUE', 1, 0, '1', true],
      date: ['2026-02-28', '2026-01-31T00:00:00Z', 'infinity', '0044-03-15 BC', '12026-01-31', ''],
      timestamp: ['2026-01-31', '2026-01-31 10:00', '2026-01-31T10:00:00+02:00', '-infinity', '12026-01-31 00:00:00'],
      'timestamptz(3)': ['2026-01-31T10:00:00.1230Z', '2026-01-31 10:00 +02', '0044-03-15 12:00:00+00 BC'],
      interval: ['1 day 02:00:00', '-3 mons 2 days -00:00:00.5', 'P1DT2H', '1 year 2 mons', '00:00:00', '2 hours'],
      money: ['$1.10', '-$92,233.08', '5', 5.25],
      'char(3)': ['abc', 'ab', 'äöü', 'ab '],
      uuid: ['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'],
      jsonb: ['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', '"a"', '"{\\"a\\":1,\\"a\\":2}"'],
      'date[]': ['["2026-01-31",null]', '{2026-01-31,NULL}', '[2:3]={2026-01-31,2026-02-01}'],
      daterange: ['[2026-01-31,2026-02-01)', 'empty', '(,)'],
    }
    for (const [type, cells] of Object.entries(good)) {
      const { rejected } = await pass(
        type,
        cells.map((cell, id) => [id, cell]),
      )
      assert.deepEqual(rejected, [], type)
    }
  })

  test('which do not fit have the reason', async () => {
    const reasonOf = async (type: string, cell: Cell) => (await pass(type, [[0, cell]])).rejected[0]?.reason
    assert.equal(await reasonOf('date', '1/2/26'), 'A value is not a valid date. Expected the form YYYY-MM-DD.')
    assert.equal(await reasonOf('date', '2026-02-30'), 'A value is not a valid date.')
    assert.equal(
      await reasonOf('numeric(10,2)', '1.005'),
      'A value has more than 2 decimal places. The column stores 2.',
    )
    assert.equal(await reasonOf('integer', '1.5'), 'A value has decimal places, but the column stores whole numbers.')
    assert.match(String(await reasonOf('timestamptz', '2026-01-31 10:00')), /^A value has no time zone\. /)
    assert.ok(texts.length > 100)
  })
})
