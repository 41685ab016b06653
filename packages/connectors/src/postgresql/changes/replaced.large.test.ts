import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Json, Values } from '@penstock/connector'
import { type ChangesScene, lastCursor, startChanges } from '../../../test/postgresql-changes.ts'
import { rowsOf } from '../../../test/tables.ts'
import { packLeaves, unpackLeaves } from './stamp.ts'

/** A table that is not the one of the last transfer any more, or whose rows changed without being in the log, is reported. */

let scene: ChangesScene
before(async () => {
  scene = await startChanges()
})
after(() => scene.close())

const people = 'create table crm.people (id int primary key, name text)'
const filled = `insert into crm.people select i, 'n' || i from generate_series(1, 3) i`
const publish = 'create publication penstock for table crm.people'

/** Statements after a first transfer, and the error of the second transfer, or how many rows it reads. */
type Case = { first?: string; after: string; says?: RegExp; settings?: Values; rows?: number }

const cases: Record<string, Case> = {
  'dropped and created again': {
    after: `drop table crm.people; ${people}; ${filled}; alter publication penstock add table crm.people`,
    says: /crm\.people is another table than in the last transfer: it was dropped and created again, or renamed/,
  },
  'exchanged with another one': {
    after: `create table crm.other (like crm.people including all); alter table crm.people rename to old;
      alter table crm.other rename to people; alter publication penstock add table crm.people`,
    says: /another table/,
  },
  'in a schema that was exchanged': {
    after: `alter schema crm rename to crm_old; create schema crm; ${people}; alter publication penstock add table crm.people;
      drop schema crm_old cascade`,
    says: /another table/,
  },
  'renamed and renamed back': {
    after: `alter table crm.people rename to other; update crm.other set name = 'other'; alter table crm.other rename to people`,
    rows: 3,
  },
  'moved to another schema and back': {
    after: `alter table crm.people set schema copies; update copies.people set name = 'other'; alter table copies.people set schema crm`,
    rows: 3,
  },
  'removed from the publication for a while': {
    after: `alter publication penstock set table copies.any; update crm.people set name = 'missed'; alter publication penstock set table crm.people`,
    first: `create table copies.any (id int primary key)`,
    says: /publication was altered or created again/,
  },
  'in a publication that was created again': {
    after: `drop publication penstock; update crm.people set name = 'missed'; ${publish}`,
    says: /publication was altered or created again/,
  },
  'in a publication that published less for a while': {
    after: `alter publication penstock set (publish = 'insert'); delete from crm.people;
      alter publication penstock set (publish = 'insert, update, delete, truncate')`,
    says: /publication was altered or created again/,
  },
  'moved to another schema and back, if a schema is published': {
    first: 'drop publication penstock; create publication penstock for tables in schema crm',
    after: `alter table crm.people set schema copies; update copies.people set name = 'missed'; alter table copies.people set schema crm`,
    says: /publication was altered or created again/,
  },
  'in a publication that got another table': {
    after: `create table crm.other (id int primary key); alter publication penstock add table crm.other; delete from crm.people where id = 1`,
    rows: 1,
  },
  truncated: { after: `truncate crm.people; ${filled}`, says: /crm\.people was truncated/ },
  'truncated, if rows say so': { after: `truncate crm.people; ${filled}`, settings: { deletes: 'Add' }, rows: 4 },
  'unlogged for a while': {
    first: 'drop publication penstock; create publication penstock for all tables',
    after: `alter table crm.people set unlogged; update crm.people set name = 'missed'; alter table crm.people set logged`,
    says: /crm\.people was truncated or written anew/,
  },
  unlogged: {
    first: 'drop publication penstock; create publication penstock for all tables',
    after: 'alter table crm.people set unlogged',
    says: /crm\.people is an unlogged table/,
  },
  'written anew by VACUUM FULL': { after: 'vacuum full crm.people', rows: 0 },
  'given another replica identity': {
    after: `update crm.people set name = 'a'; alter table crm.people replica identity full; delete from crm.people where id = 1`,
    rows: 4,
  },
  'given another primary key': {
    after: `alter table crm.people add column org int not null default 1; delete from crm.people where id = 1;
      alter table crm.people drop constraint people_pkey; alter table crm.people add primary key (org, id)`,
    says: /A change was logged without the key column org/,
  },
}

const partitioned = `create table crm.people (id int primary key, name text) partition by range (id);
  create table crm.people_1 partition of crm.people for values from (0) to (10);
  create table crm.people_2 partition of crm.people for values from (10) to (20) partition by range (id);
  create table crm.people_2a partition of crm.people_2 for values from (10) to (15);
  create table crm.people_2b partition of crm.people_2 for values from (15) to (20);
  insert into crm.people select i, 'n' || i from generate_series(1, 19) i;
  ${publish} with (publish_via_partition_root = true)`

const partitions: Record<string, Case> = {
  'truncated partition': { after: 'truncate crm.people_1', says: /crm\.people_1 was truncated/ },
  'truncated partition with new rows': {
    after: `truncate crm.people_2b; insert into crm.people values (16, 'new')`,
    says: /crm\.people_2b was truncated/,
  },
  'truncated table': { after: 'truncate crm.people', says: /was truncated/ },
  'truncated table, if rows say so': { after: 'truncate crm.people', settings: { deletes: 'Add' }, rows: 1 },
  'truncated partition, if rows say so': {
    after: 'truncate crm.people_1',
    settings: { deletes: 'Add' },
    says: /crm\.people_1 was truncated/,
  },
  'detached partition': {
    after: 'alter table crm.people detach partition crm.people_1',
    says: /A partition of crm\.people was detached or dropped: crm\.people_1/,
  },
  'detached partition of a partition': {
    after: 'alter table crm.people_2 detach partition crm.people_2a',
    says: /was detached or dropped: crm\.people_2a/,
  },
  'dropped partition': { after: 'drop table crm.people_2', says: /A partition of crm\.people was detached or dropped/ },
  'dropped partition, if removals are skipped': {
    after: 'drop table crm.people_2',
    settings: { deletes: 'Skip' },
    rows: 0,
  },
  'partition that was changed while it was detached': {
    after: `alter table crm.people detach partition crm.people_1; update crm.people_1 set name = 'missed';
      alter table crm.people attach partition crm.people_1 for values from (0) to (10)`,
    says: /crm\.people_1 of crm\.people was detached and attached again/,
  },
  'partition that was attached with rows': {
    after: `create table crm.people_3 (like crm.people including all); insert into crm.people_3 values (21, 'new');
      alter table crm.people attach partition crm.people_3 for values from (20) to (30)`,
    says: /crm\.people_3 was attached to crm\.people with rows/,
  },
  'partition that was attached with rows in one transaction': {
    after: `begin; create table crm.people_3 (like crm.people including all); insert into crm.people_3 values (21, 'new');
      alter table crm.people attach partition crm.people_3 for values from (20) to (30); commit`,
    says: /crm\.people_3 was attached to crm\.people with rows/,
  },
  'new partition': {
    after: `create table crm.people_3 partition of crm.people for values from (20) to (30); insert into crm.people values (21, 'new')`,
    rows: 1,
  },
  'new partition with rows of the same transaction': {
    after: `begin; create table crm.people_3 partition of crm.people for values from (20) to (30); insert into crm.people values (21, 'new'); commit`,
    rows: 1,
  },
  'partition that was attached empty': {
    after: `create table crm.people_3 (like crm.people including all);
      alter table crm.people attach partition crm.people_3 for values from (20) to (30); insert into crm.people_3 values (21, 'new')`,
    rows: 1,
  },
  'partition written anew by VACUUM FULL': {
    after: `vacuum full crm.people_1`,
    rows: 0,
  },
  'row that moves between partitions': { after: 'update crm.people set id = 0 where id = 19', rows: 2 },
}

describe('a table that was', () => {
  beforeEach(() => scene.clear())
  for (const [name, one] of Object.entries(cases)) {
    test(name, () => check(`${people}; ${filled}; ${publish}`, one))
  }
})

describe('of a partitioned table, a', () => {
  beforeEach(() => scene.clear())
  for (const [name, one] of Object.entries(partitions)) test(name, () => check(partitioned, one))
})

async function check(begin: string, { first, after: statements, says, settings, rows }: Case): Promise<void> {
  await scene.query(begin)
  if (first !== undefined) await scene.query(first)
  const cursor = lastCursor(await scene.read(undefined, settings))
  await scene.query(statements)
  if (says) {
    const { code, message } = await scene.failure(cursor, settings)
    assert.match(message, says)
    assert.equal(code, /unlogged/.test(String(says)) ? 'not_supported' : 'changes_lost')
  } else assert.equal(rowsOf(await scene.read(cursor, settings)).length, rows)
}

describe('a copy or a transfer that was interrupted', () => {
  beforeEach(() => scene.clear())
  test('does not continue in another table', async () => {
    await scene.query(`${people}; ${filled}; ${publish}`)
    const chunks = await scene.read()
    await scene.query(`drop table crm.people; ${people}; alter publication penstock add table crm.people`)
    for (const { checkpoint } of chunks) {
      const { code, message } = await scene.failure(undefined, {}, checkpoint)
      assert.equal(code, 'changes_lost')
      assert.match(message, /another table/)
    }
  })
})

describe('a cursor', () => {
  beforeEach(() => scene.clear())
  const withTable = (cursor: Json, more: { readonly [key: string]: Json }): Json => {
    const { table, ...rest } = cursor as { readonly [key: string]: Json }
    return { ...rest, table: { ...(table as { readonly [key: string]: Json }), ...more } }
  }

  test('of another server, or of one that was restored, is not continued', async () => {
    await scene.query(`${people}; ${filled}; ${publish}`)
    const cursor = lastCursor(await scene.read())
    const [server] = await scene.query<{ id: string }>(`select system_identifier::text as id from pg_control_system()`)
    const foreign = await scene.failure(withTable(cursor, { server: '7/00000001' }))
    assert.match(foreign.message, /is another server than in the last transfer/)
    const restored = await scene.failure(withTable(cursor, { server: `${server?.id}/0000000F` }))
    assert.match(restored.message, /was restored or has failed over/)
    const later = { ...(cursor as { readonly [key: string]: Json }), lsn: 'FF/0' }
    assert.match((await scene.failure(later)).message, /restored to an earlier time/)
  })

  test('that was stored before tables were recognised is continued', async () => {
    await scene.query(`${people}; ${filled}; ${publish}`)
    const { table: _, ...old } = lastCursor(await scene.read()) as { readonly [key: string]: Json }
    await scene.query('delete from crm.people where id = 1')
    const chunks = await scene.read(old)
    assert.equal(rowsOf(chunks).length, 1)
    assert('table' in (lastCursor(chunks) as object))
  })

  test('remembers a thousand partitions', () => {
    const leaves = Array.from({ length: 1_000 }, (_, at) => ({
      oid: 16_500 + at * 7,
      file: 16_500 + at * 7 + (at % 10 === 0 ? 90_000 + at : 0),
      attached: 800 + at * 3,
    }))
    const packed = packLeaves(leaves)
    assert(packed.length < 5_000, `${packed.length}`)
    assert.deepEqual(unpackLeaves(packed), leaves)
    assert.deepEqual(unpackLeaves(packLeaves([])), [])
  })
})
