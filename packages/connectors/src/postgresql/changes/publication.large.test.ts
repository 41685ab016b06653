import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Values } from '@penstock/connector'
import { type ChangesScene, lastCursor, startChanges } from '../../../test/postgresql-changes.ts'
import { rowsOf } from '../../../test/tables.ts'

/** If a publication omits a part of a table, the copy omits it as well, or the transfer is refused before it reads a row. */

let scene: ChangesScene
before(async () => {
  scene = await startChanges()
})
after(() => scene.close())

const people = 'create table crm.people (id int primary key, name text, active bool)'
const parts = `create table crm.people (id int primary key, name text) partition by range (id);
  create table crm.people_1 partition of crm.people for values from (0) to (10)`

/** Tables with their publications, and the refusals. */
const refused: Record<string, { sql: string; code: string; says: RegExp; settings?: Values }> = {
  'no publication': {
    sql: people,
    code: 'object_not_found',
    says: /create publication "penstock" for table "crm"\."people"/,
  },
  'another table': {
    sql: `${people}; create table crm.other (id int); create publication penstock for table crm.other`,
    code: 'object_not_found',
    says: /penstock does not contain the table crm\.people\. Run: alter publication "penstock" add table "crm"\."people"/,
  },
  'another schema': {
    sql: `${people}; create publication penstock for tables in schema copies`,
    code: 'object_not_found',
    says: /does not contain the table crm\.people/,
  },
  'inserts only': {
    sql: `${people}; create publication penstock for table crm.people with (publish = 'insert')`,
    code: 'invalid_setting',
    says: /penstock does not publish update and delete and truncate of crm\.people.*alter publication "penstock" set \(publish = /,
  },
  'no removals': {
    sql: `${people}; create publication penstock for table crm.people with (publish = 'insert, update, truncate')`,
    code: 'invalid_setting',
    says: /does not publish delete of/,
  },
  'no truncations': {
    sql: `${people}; create publication penstock for all tables with (publish = 'insert, update, delete')`,
    code: 'invalid_setting',
    says: /does not publish truncate of/,
  },
  'no updates, if removals are skipped': {
    sql: `${people}; create publication penstock for table crm.people with (publish = 'insert, delete')`,
    settings: { deletes: 'Skip' },
    code: 'invalid_setting',
    says: /does not publish update of/,
  },
  'a column list without a key column of the settings': {
    sql: `${people}; alter table crm.people replica identity full; create publication penstock for table crm.people (id, name)`,
    code: 'invalid_key',
    says: /column list of the publication does not contain active/,
  },
  'changes under the names of partitions': {
    sql: `${parts}; create publication penstock for table crm.people`,
    code: 'invalid_setting',
    says: /alter publication "penstock" set \(publish_via_partition_root = true\)/,
  },
  'changes of a partition under the name of its table': {
    sql: `${parts}; create publication penstock for table crm.people with (publish_via_partition_root = true)`,
    settings: { table: 'people_1' },
    code: 'invalid_setting',
    says: /crm\.people_1 is a partition.*Read the table crm\.people/,
  },
  'an unlogged table': {
    sql: 'create unlogged table crm.people (id int primary key); create publication penstock for all tables',
    code: 'not_supported',
    says: /crm\.people is an unlogged table.*alter table crm\.people set logged/,
  },
  'an unlogged partition': {
    sql: `${parts}; create unlogged table crm.people_2 partition of crm.people for values from (10) to (20);
      create publication penstock for table crm.people with (publish_via_partition_root = true)`,
    code: 'not_supported',
    says: /crm\.people_2 is an unlogged table/,
  },
  'a foreign partition': {
    sql: `${parts}; create foreign data wrapper nothing; create server nothing foreign data wrapper nothing;
      create publication penstock for table crm.people with (publish_via_partition_root = true);
      alter table crm.people drop constraint people_pkey;
      create foreign table crm.people_2 partition of crm.people for values from (10) to (20) server nothing;
      alter table crm.people replica identity full; alter table crm.people_1 replica identity full`,
    settings: { keyColumns: 'id' },
    code: 'not_supported',
    says: /crm\.people_2 is a foreign table/,
  },
  'tables that inherit': {
    sql: `${people}; create table crm.more () inherits (crm.people); create publication penstock for table crm.people`,
    code: 'not_supported',
    says: /Other tables inherit from crm\.people/,
  },
  'a replica identity of nothing': {
    sql: `${people}; alter table crm.people replica identity nothing; create publication penstock for table crm.people`,
    code: 'invalid_key',
    says: /does not send id of a removed row of crm\.people.*replica identity full/,
  },
  'a partition without a replica identity': {
    sql: `${parts}; alter table crm.people_1 replica identity nothing;
      create publication penstock for table crm.people with (publish_via_partition_root = true)`,
    code: 'invalid_key',
    says: /does not send id of a removed row of crm\.people_1/,
  },
  'a key that is not a replica identity because it can be deferred': {
    sql: 'create table crm.people (id int primary key deferrable); create publication penstock for table crm.people',
    code: 'invalid_key',
    says: /does not send id of a removed row.*replica identity full/,
  },
  'a key column that is only included in an index': {
    sql: `create table crm.people (id int not null, name text not null);
      create unique index people_id on crm.people (id) include (name);
      alter table crm.people replica identity using index people_id; create publication penstock for table crm.people`,
    settings: { keyColumns: 'id, name' },
    code: 'invalid_key',
    says: /does not send name of a removed row/,
  },
}

describe('a publication that omits changes is refused before anything is read', () => {
  for (const [name, { sql, code, says, settings }] of Object.entries(refused)) {
    test(name, async () => {
      await scene.clear()
      await scene.query('drop foreign data wrapper if exists nothing cascade')
      await scene.query(sql)
      const failure = await scene.failure(undefined, settings)
      assert.equal(failure.code, code)
      assert.match(failure.message, says)
      assert.deepEqual(
        await scene.query('select from pg_replication_slots where database = current_database()'),
        [],
        'no slot was created',
      )
    })
  }

  test('row-level security', async () => {
    await scene.clear()
    await scene.query(`${people}; create publication penstock for table crm.people`)
    await scene.query(`drop role if exists reader; create role reader login replication password 'secret';
      alter table crm.people enable row level security; grant usage on schema crm to reader;
      grant select on crm.people to reader; create policy few on crm.people for select to reader using (active)`)
    const role = { ...scene.secrets, user: 'reader', password: 'secret' }
    const failure = await scene.failure(undefined, {}, undefined, role)
    assert.equal(failure.code, 'permission_denied')
    assert.match(failure.message, /Row-level security hides rows of crm\.people/)
    await scene.query('drop owned by reader; drop role reader')
  })
})

/** Tables that are published in part: the rows at the destination are the result of the query `expected`. */
const interpreted: Record<
  string,
  { sql: string; copies: string; changes: string; expected: string; settings?: Values }
> = {
  'a row filter': {
    sql: `create table crm.people (id int, name text, active bool not null, primary key (id, active));
      create publication penstock for table crm.people where (active)`,
    copies: 'create table copies.people (id int primary key, name text, active bool)',
    changes: `update crm.people set active = not active where id < 3; update crm.people set name = 'new';
      insert into crm.people values (7, 'seven', true), (8, 'eight', false)`,
    expected: 'select id, name, active from crm.people where active',
  },
  'a row filter with large values': {
    sql: `create table crm.people (id int primary key, name text, active bool, note text default repeat('n', 5000));
      alter table crm.people alter note set storage external; alter table crm.people replica identity full;
      create publication penstock for table crm.people where (active and id <> 3)`,
    copies: 'create table copies.people (id int primary key, name text, active bool, note text)',
    changes: `update crm.people set active = not active where id < 3; update crm.people set name = 'new'`,
    expected: 'select id, name, active, note from crm.people where active and id <> 3',
  },
  'a column list': {
    sql: 'create table crm.people (id int primary key, name text, active bool, secret text); create publication penstock for table crm.people (name, id)',
    copies: 'create table copies.people (id int primary key, name text)',
    changes: `update crm.people set secret = 's'; update crm.people set name = 'new' where id = 1; delete from crm.people where id = 2`,
    expected: 'select id, name from crm.people',
  },
  'generated columns': {
    sql: `create table crm.people (id int primary key, name text, active bool, twice int generated always as (id * 2) stored);
      create publication penstock for table crm.people`,
    copies: 'create table copies.people (id int primary key, name text, active bool, twice int)',
    changes: `update crm.people set id = 30 where id = 3; insert into crm.people values (5, 'five'); update crm.people set name = 'new' where id = 1`,
    expected: 'select id, name, active, twice from crm.people',
  },
  'all tables': {
    sql: `${people}; create publication penstock for all tables`,
    copies: 'create table copies.people (id int primary key, name text, active bool)',
    changes: 'delete from crm.people where id = 1; update crm.people set name = null where id = 2',
    expected: 'select id, name, active from crm.people',
  },
  'the tables of a schema': {
    sql: `${people}; create publication penstock for tables in schema crm`,
    copies: 'create table copies.people (id int primary key, name text, active bool)',
    changes: 'delete from crm.people where id = 1; update crm.people set name = null where id = 2',
    expected: 'select id, name, active from crm.people',
  },
  'updates but no removals, which are skipped': {
    sql: `${people}; create publication penstock for table crm.people with (publish = 'insert, update')`,
    copies: 'create table copies.people (id int primary key, name text, active bool)',
    changes: `update crm.people set name = 'new'`,
    expected: 'select id, name, active from crm.people',
    settings: { deletes: 'Skip' },
  },
  'a row filter of a partitioned table': {
    sql: `create table crm.people (id int primary key, name text, active bool) partition by range (id);
      create table crm.people_1 partition of crm.people for values from (0) to (3);
      create table crm.people_2 partition of crm.people for values from (3) to (100);
      create publication penstock for table crm.people where (id <> 2) with (publish_via_partition_root = true)`,
    copies: 'create table copies.people (id int primary key, name text, active bool)',
    changes: `update crm.people set id = id + 10; update crm.people set id = 2 where id = 11; update crm.people set name = 'new'`,
    expected: 'select id, name, active from crm.people where id <> 2',
  },
}

describe('a publication of a part of a table', () => {
  for (const [name, { sql, copies, changes, expected, settings }] of Object.entries(interpreted)) {
    test(`${name}: the copy has the same part`, async () => {
      await scene.clear()
      await scene.query(`${sql}; ${copies}`)
      await scene.query(
        `insert into crm.people (id, name, active) select i, 'n' || i, i % 2 = 1 from generate_series(4, 1, -1) i`,
      )
      const more = { keyColumns: 'id', ...settings }
      const first = await scene.read(undefined, more)
      await scene.write('people', first)
      assert.equal(rowsOf(first).length, (await scene.query(expected)).length)
      assert.deepEqual(
        await scene.query('select * from copies.people order by id'),
        await scene.query(`${expected} order by id`),
      )
      await scene.query(changes)
      await scene.write('people', await scene.read(lastCursor(first), more))
      assert.deepEqual(
        await scene.query('select * from copies.people order by id'),
        await scene.query(`${expected} order by id`),
      )
    })
  }
})
