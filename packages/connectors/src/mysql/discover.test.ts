import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { type Asked, discover, valuesOf } from '../../test/discover.ts'
import { type Mariadb, startMariadb } from '../../test/mariadb.ts'
import { mysql } from './mysql.ts'

const server = await startMariadb()
if (server) testAgainst(server)
else test('Discovering in MariaDB', { skip: skipWithout('mariadbd') }, () => {})

function testAgainst({ secrets, query, version, stop }: Mariadb): void {
  after(() => stop())
  const find = (field: string, asked: Asked = {}) => discover(mysql, secrets, field, asked)

  describe(`discovering in MariaDB ${version}`, () => {
    test('finds tables and views of the database, without those of others', async () => {
      await query('create table people (id int primary key, name varchar(20) not null, made timestamp)')
      await query('create view recent as select 1 as x')
      await query('create table penstock_batches (id int)')
      await query('create table `a%b` (id int)')
      assert.deepEqual(
        (await find('table')).items.map(({ value, kind }) => [value, kind]),
        [
          ['a%b', 'table'],
          ['people', 'table'],
          ['recent', 'view'],
        ],
      )
      assert.deepEqual(valuesOf(await find('table', { search: '%' })), ['a%b'])
      assert.deepEqual(valuesOf(await find('table', { search: 'PEO', role: 'destination' })), ['people'])
      const first = await find('table', { size: 2 })
      assert.deepEqual(valuesOf(await find('table', { size: 2, cursor: first.next ?? '' })), ['recent'])
    })

    test('gives values of columns to callers that may see them', async () => {
      await query('create table orders (id int, `To``tal` varchar(999), made timestamp null, raw blob)')
      await query(
        "insert into orders values (1, '1.001,50', '2026-11-22 10:00:00', x'ff'), (2, repeat('x', 999), null, 'a')",
      )
      const samplesOf = async (asked: Asked) => (await find('columns', asked)).items.map(({ samples }) => samples)
      const [id, total, made, raw] = await samplesOf({ settings: { table: 'orders' }, withSamples: true })
      assert.deepEqual([id, total, made?.length, raw], [['1', '2'], ['1.001,50', 'x'.repeat(200)], 2, ['?', 'a']])
      assert.deepEqual(await samplesOf({ settings: { table: 'orders' } }), [undefined, undefined, undefined, undefined])
      const ofQuery = (sqlQuery: string) => ({ settings: { dataSourceType: 'SQL Query', sqlQuery }, withSamples: true })
      assert.deepEqual(await samplesOf(ofQuery('select id from orders where id > 1 -- all')), [['2']])
      assert.deepEqual(await samplesOf(ofQuery('select sleep(60) as x from orders')), [undefined])
      await query('drop table orders')
    })

    test('finds the columns of a table and of a query', async () => {
      assert.deepEqual((await find('columns', { settings: { table: 'people' } })).items.slice(0, 2), [
        { value: 'id', kind: 'column', type: 'int(11)', key: true, required: true },
        { value: 'name', kind: 'column', type: 'varchar(20)', key: false, required: true },
      ])
      const ofQuery = { dataSourceType: 'SQL Query', sqlQuery: 'select id, name as who from people;' }
      assert.deepEqual(valuesOf(await find('markerColumn', { settings: ofQuery })), ['id', 'who'])
      await assert.rejects(find('columns', { settings: { table: 'nowhere' } }), { code: 'table_not_found' })
      await assert.rejects(find('columns'), { code: 'invalid_setting' })
    })
  })
}
