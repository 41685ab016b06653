import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import fc from '../../../../test/harness/property.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { batchOf, deliver } from '../../test/tables.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server

beforeEach(() => query('drop schema crm cascade; create schema crm'))

const insert: Values = { schema: 'crm', table: 't', writeMode: 'Insert' }
const upsert: Values = { ...insert, writeMode: 'Upsert', keyColumns: 'id' }

async function tried(settings: Values, columns: readonly string[], rows: readonly Row[]) {
  const find = postgresql.destination?.deliver?.tryRows
  assert.ok(find)
  const { rejected } = await find({ ...testContext({ secrets, settings }), columns, rows })
  return rejected.map(({ index }) => index ?? -1).sort((a, b) => a - b)
}
async function delivered(settings: Values, columns: readonly string[], rows: readonly Row[]) {
  const { rejected = [] } = await deliver(postgresql, { secrets, settings }, batchOf(columns, rows))
  return rejected.map(({ index }) => index ?? -1).sort((a, b) => a - b)
}

const table = `create table crm.t (id bigint primary key, name varchar(5) not null, day date, amount numeric(6, 2) check (amount >= 0),
  tag text default 'x', serial int generated always as identity)`
const columns = ['id', 'name', 'day', 'amount']

describe('trying rows at PostgreSQL', () => {
  test('finds what a delivery rejects, and changes nothing', async () => {
    await query(`${table}; insert into crm.t values (7, 'old')`)
    const rows: Row[] = [
      ['1', 'Ada', '2026-01-31', '1.50'],
      ['2', 'Grace Hopper', null, '1'],
      ['3', null, null, '1'],
      ['4', 'Joan', '2026-02-30', '1'],
      ['5', 'Mary', null, '-1'],
      ['6', 'Jean', null, '12345.6'],
      ['7', 'Seven', null, '1'],
      ['1', 'Again', null, '1'],
      ['x', 'X', null, '1'],
      [null, 'None', null, '1'],
    ]
    const before = await query('select *, xmin from crm.t')
    const found = await tried(insert, columns, rows)
    assert.deepEqual(found, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.deepEqual(await query('select *, xmin from crm.t'), before)
    const [{ last } = {}] = await query("select pg_sequence_last_value('crm.t_serial_seq') as last")
    assert.equal(String(last), '1', 'no number was drawn')
    assert.deepEqual(await delivered(insert, columns, rows), found)
  })

  test('finds what a table rejects that a delivery creates, by its chosen types', async () => {
    const types = {
      n: 'numeric(6,2)',
      day: 'date',
      at: 'timestamp',
      zoned: 'timestamptz',
      yes: 'boolean',
      id: 'integer',
    }
    const settings = { ...upsert, createTable: true, columnTypes: JSON.stringify(types) }
    const names = ['id', 'n', 'day', 'at', 'zoned', 'yes', 'free']
    const good = ['1', '5.75', '2026-01-31', '2026-01-31 12:00:00', '2026-01-31T12:00:00Z', 'true', 'x']
    const bad = ['x', '5,75', '31.01.2026', 'noon', 'never', 'perhaps']
    const rows: Row[] = [good, ...bad.map((value, at) => good.toSpliced(at, 1, value)), ['7', ...good.slice(1)]]
    const found = await tried(settings, names, rows)
    assert.deepEqual(found, [1, 2, 3, 4, 5, 6])
    assert.deepEqual(await query("select to_regclass('crm.t') as there"), [{ there: null }], 'nothing is created')
    assert.deepEqual(await delivered(settings, names, rows), found)
    const [{ type } = {}] = await query(
      `select data_type as type from information_schema.columns where table_schema = 'crm' and table_name = 't' and column_name = 'at'`,
    )
    assert.equal(type, 'timestamp without time zone')
  })

  test('does not act through triggers', async () => {
    await query(`${table}; create table crm.log (id int);
      create function crm.note() returns trigger language plpgsql as $$ begin insert into crm.log values (1); return new; end $$;
      create trigger note before insert on crm.t for each row execute function crm.note()`)
    assert.deepEqual(await tried(insert, columns, [['1', 'Ada', null, '1']]), [])
    assert.deepEqual(await query('select * from crm.log'), [])
  })

  test('finds conflicts of an upsert with other unique keys, and rows that a rejected one does not displace', async () => {
    await query(
      `create table crm.t (id int primary key, code text unique); insert into crm.t values (1, 'a'), (2, 'b')`,
    )
    const rows: Row[] = [
      [2, 'c'],
      [3, 'c'],
      [1, 'b'],
      [4, 'd'],
    ]
    for (const settings of [upsert, insert]) {
      const found = await tried(settings, ['id', 'code'], rows)
      assert.ok(found.length > 0)
      assert.deepEqual(await delivered(settings, ['id', 'code'], rows), found)
      await query(`truncate crm.t; insert into crm.t values (1, 'a'), (2, 'b'); drop table crm.penstock_batches`)
    }
  })

  test('reports the rules that it does not try', async () => {
    await query(`${table}; create unique index on crm.t (lower(name));
      alter table crm.t add foreign key (id) references crm.t (id)`)
    const context = { ...testContext({ secrets, settings: insert }), columns, rows: [['1', 'Ada', null, '1']] }
    const found = await postgresql.destination?.deliver?.tryRows?.(context)
    assert.deepEqual(found?.untried, ['foreign keys', 'unique indexes of an expression or with a condition'])
  })

  test('rejects nothing if the table is missing or would be created', async () => {
    assert.deepEqual(await tried(insert, columns, [['1', 'Ada', null, '1']]), [])
    assert.deepEqual(await tried({ ...insert, createTable: true }, columns, [['1', 'Ada', null, '1']]), [])
  })

  test('finds the same rows as a delivery, whatever the rows are', async () => {
    const cell = fc.oneof(
      fc.constantFrom(
        null,
        '',
        '1',
        '2',
        '-1',
        '1.005',
        '99999',
        'x',
        'abcdef',
        '2026-01-31',
        '2026-02-30',
        '31.12.2026',
        'NaN',
      ),
      fc.string({ maxLength: 7 }),
      fc.integer(),
    )
    const rowsOf = fc.array(fc.tuple(cell, cell, cell, cell), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.constantFrom(insert, upsert), async (rows, settings) => {
        await query(`drop schema crm cascade; create schema crm; ${table}; insert into crm.t values (2, 'old')`)
        const found = await tried(settings, columns, rows)
        assert.deepEqual(found, await delivered(settings, columns, rows))
      }),
      { numRuns: 12 },
    )
  })
})
