import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, TriedRows, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { type Mariadb, startMariadb } from '../../test/mariadb.ts'
import { batchOf, deliver } from '../../test/tables.ts'
import { mysql } from './mysql.ts'

const server = await startMariadb()
if (server) testAgainst(server)
else test('Trying rows at MariaDB', { skip: skipWithout('mariadbd') }, () => {})

function testAgainst(server: Mariadb): void {
  const { secrets, query, administer } = server
  after(() => server.stop())
  beforeEach(async () => {
    await administer('drop database penstock')
    await administer('create database penstock character set utf8mb4')
    await query('use penstock')
  })

  const insert: Values = { table: 't', writeMode: 'Insert' }
  const upsert: Values = { ...insert, writeMode: 'Upsert', keyColumns: 'id' }
  const columns = ['id', 'name', 'day', 'amount']
  const table = `create table t (id bigint primary key, name varchar(5) not null, day date, amount decimal(6, 2) check (amount >= 0),
    tag varchar(9) default 'x', serial int not null auto_increment, twice decimal(8, 2) as (amount * 2), key (serial))`

  let batches = 0

  async function tried(settings: Values, names: readonly string[], rows: readonly Row[]): Promise<TriedRows> {
    const find = mysql.destination?.deliver?.tryRows
    assert.ok(find)
    const { rejected, ...rest } = await find({ ...testContext({ secrets, settings }), columns: names, rows })
    return { rejected: rejected.toSorted((a, b) => (a.index ?? -1) - (b.index ?? -1)), ...rest }
  }
  const indexes = ({ rejected }: Pick<TriedRows, 'rejected'>) => rejected.map(({ index }) => index)
  async function delivered(settings: Values, names: readonly string[], rows: readonly Row[]): Promise<TriedRows> {
    const { rejected = [] } = await deliver(mysql, { secrets, settings }, batchOf(names, rows, ++batches))
    return { rejected }
  }

  describe(`trying rows at MariaDB ${server.version}`, () => {
    test('finds what a table rejects that a delivery creates, by its chosen types', async () => {
      const types = { n: 'numeric(6,2)', day: 'date', at: 'timestamp', yes: 'boolean', id: 'integer' }
      const settings = { ...upsert, createTable: true, columnTypes: JSON.stringify(types) }
      const names = ['id', 'n', 'day', 'at', 'yes', 'free']
      const good = ['1', '5.75', '2026-01-31', '2026-01-31 12:00:00', 'true', 'x']
      const bad = ['x', '5,75', '31.01.2026', 'noon', 'perhaps']
      const rows: Row[] = [good, ...bad.map((value, at) => good.toSpliced(at, 1, value)), ['7', ...good.slice(1)]]
      const found = await tried(settings, names, rows)
      assert.deepEqual(indexes(found), [1, 2, 3, 4, 5])
      assert.deepEqual(found.created?.[0], { name: 'id', type: 'integer not null' })
      assert.equal((await query('show tables')).length, 0, 'nothing is created')
      assert.deepEqual(indexes(await delivered(settings, names, rows)), indexes(found))
    })

    test('finds what a delivery rejects, and changes nothing', async () => {
      await query(table)
      await query(`insert into t (id, name) values (7, 'old')`)
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
      const before = await query('select * from t')
      const found = await tried(insert, columns, rows)
      assert.deepEqual(indexes(found), [1, 2, 3, 4, 5, 6, 7, 8, 9])
      assert.deepEqual(found.untried, [])
      assert.deepEqual(await query('select * from t'), before)
      assert.deepEqual(await query('show tables'), [{ Tables_in_penstock: 't' }])
      const [{ next } = {}] = await query(
        `select auto_increment as next from information_schema.tables where table_name = 't'`,
      )
      assert.equal(Number(next), 2, 'no number was drawn')
      assert.deepEqual((await delivered(insert, columns, rows)).rejected, found.rejected)
    })

    test('finds foreign keys that refer to nothing, and rows that such a row does not displace', async () => {
      await query('create table cities (code char(3) primary key)')
      await query(`insert into cities values ('BER')`)
      await query('create table t (id int primary key, city char(3), foreign key (city) references cities (code))')
      const rows: Row[] = [
        [1, 'XXX'],
        [1, 'BER'],
        [2, null],
        [3, 'YYY'],
      ]
      const found = await tried(insert, ['id', 'city'], rows)
      assert.deepEqual(indexes(found), [0, 3])
      assert.deepEqual((await delivered(insert, ['id', 'city'], rows)).rejected, found.rejected)
    })

    test('finds conflicts with other unique keys of existing rows, generated columns among them', async () => {
      await query(`create table t (id int primary key, email varchar(20), code int unique,
                   lower_email varchar(20) as (lower(email)) persistent, unique (lower_email))`)
      await query(`insert into t (id, email, code) values (1, 'a@x', 10), (2, 'B@x', 20), (3, 'c@x', 30)`)
      const rows: Row[] = [
        [1, 'b@X', 11],
        [2, 'b@x', 21],
        [4, 'C@x', 30],
        [5, 'new@x', 40],
        [3, 'd@x', 20],
      ]
      for (const settings of [insert, upsert]) {
        const found = await tried(settings, ['id', 'email', 'code'], rows)
        assert.ok(found.rejected.length > 0)
        assert.deepEqual((await delivered(settings, ['id', 'email', 'code'], rows)).rejected, found.rejected)
      }
    })

    test('does not act through triggers or draw from sequences, and reports it', async () => {
      await query(
        `create table t (id int primary key, parent int, name text, unique (name(3)), foreign key (parent) references t (id))`,
      )
      await query('create table log (id int)')
      await query('create trigger note before insert on t for each row insert into log values (1)')
      assert.deepEqual(await tried(insert, ['id', 'parent'], [[1, 5]]), {
        rejected: [],
        untried: [
          'triggers',
          'foreign keys to the table itself',
          'unique keys of a part of a column or of an expression',
        ],
      })
      assert.deepEqual(await query('select * from log'), [])
      await query('create sequence numbers')
      await query('create table s (id int primary key default nextval(numbers), name varchar(3))')
      const drawn = await tried({ ...insert, table: 's' }, ['name'], [['abc']])
      assert.deepEqual(drawn.untried, ['defaults that draw numbers from a sequence'])
      assert.equal(String((await query('select nextval(numbers) as next'))[0]?.next), '1')
    })

    test('rejects nothing if the table is missing or would be created, and refuses a partitioned one', async () => {
      assert.deepEqual(await tried(insert, columns, [['1', 'Ada', null, '1']]), { rejected: [] })
      const created = await tried({ ...insert, createTable: true }, columns, [['1', 'Ada', null, '1']])
      assert.deepEqual(created.rejected, [])
      assert.deepEqual(
        created.created?.map(({ type }) => type),
        ['bigint', 'longtext', 'longtext', 'bigint'],
      )
      await query('create table t (id int primary key) partition by hash (id) partitions 2')
      await assert.rejects(tried(insert, ['id'], [[1]]), { code: 'statement_failed' })
    })
  })
}
