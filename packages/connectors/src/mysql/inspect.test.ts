import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { type Mariadb, startMariadb } from '../../test/mariadb.ts'
import { inspect } from '../../test/tables.ts'
import { mysql } from './mysql.ts'

const server = await startMariadb()
if (server) testAgainst(server)
else test('Inspecting MariaDB', { skip: skipWithout('mariadbd') }, () => {})

function testAgainst(server: Mariadb): void {
  const { secrets, query, administer } = server
  after(() => server.stop())
  beforeEach(async () => {
    await administer('drop database penstock')
    await administer('create database penstock character set utf8mb4')
    await query('use penstock')
  })

  const columns = ['id', 'name']
  const upsert = { writeMode: 'Upsert', keyColumns: 'id' }
  type Given = { names?: readonly string[]; rows?: readonly Row[]; as?: Values }
  const findings = (settings: Values, { names = columns, rows = [[1, 'a']], as = secrets }: Given) =>
    inspect(mysql, { secrets: as, columns: names, rows, settings: { table: 't', writeMode: 'Insert', ...settings } })
  /** Each finding as its code and its column. */
  const found = async (settings: Values = {}, given: Given = {}) =>
    (await findings(settings, given)).map(({ code, column }) => [code, ...(column === undefined ? [] : [column])])
  const messages = async (settings: Values = {}, given: Given = {}) =>
    (await findings(settings, given)).map(({ message }) => message)

  describe(`inspecting MariaDB ${server.version}`, () => {
    test('finds a table that is missing, unless it would be created', async () => {
      assert.deepEqual(await found(), [['table_not_found']])
      assert.deepEqual(await found({ createTable: true, ...upsert }), [])
      assert.deepEqual(await query('show tables'), [], 'nothing was created')
    })

    test('finds invalid columns, an invalid key and an invalid engine', async () => {
      await query(`create table t (id int auto_increment, name varchar(9) as ('x'), plan text not null,
                   made timestamp not null default current_timestamp, key (id)) engine = MyISAM`)
      assert.deepEqual(await found(upsert, { names: ['ID', 'name', 'city'], rows: [] }), [
        ['column_not_found', 'city'],
        ['columns_do_not_fit', 'name'],
        ['key_not_unique'],
        ['not_supported'],
        ['required_column_not_delivered'],
      ])
    })

    test('holds the values of the records against the types of the columns, and quotes none', async () => {
      await query(`create table t (id int, plan enum('basic', 'large'), since date, price decimal(5, 2), note text)`)
      const names = ['id', 'plan', 'since', 'price', 'note']
      const good: Row = [1, 'basic', '2026-01-31', '1.50', 'any']
      assert.deepEqual(await found({}, { names, rows: [good, [null, null, '', null, '']] }), [])
      const bad: Row = ['canary', 'canary', 'canary', 'canary', 'canary']
      assert.deepEqual(await found({}, { names, rows: [good, bad] }), [
        ...['id', 'plan', 'since', 'price'].map((name) => ['type_mismatch', name]),
      ])
      assert.equal(JSON.stringify(await messages({}, { names, rows: [bad] })).includes('canary'), false)
      assert.deepEqual(await query('select * from t'), [])
    })

    test('finds each permission that is missing, and names what to grant', async () => {
      await query('create table t (id int primary key, name text)')
      await administer(`create or replace user loader@'127.0.0.1' identified by 'canary-of-loader'`)
      await administer(`grant select on penstock.* to loader@'127.0.0.1'`)
      const as = { ...secrets, user: 'loader', password: 'canary-of-loader' }
      assert.deepEqual(await messages({}, { as }), [
        'The user cannot write: grant CREATE on penstock, for the table penstock_batches.',
        'The user cannot write: grant INSERT on the table t.',
      ])
      await administer(`grant create, insert on penstock.* to loader@'127.0.0.1'`)
      assert.deepEqual(await messages({}, { as }), [])
      assert.deepEqual(await messages(upsert, { as }), [
        'The user cannot write: grant SELECT, INSERT and UPDATE on the table t.',
      ])
      await administer(`grant update on penstock.* to loader@'127.0.0.1'`)
      assert.deepEqual(await messages(upsert, { as }), [])
      assert.deepEqual(await query('select * from t'), [])
    })
  })
}
