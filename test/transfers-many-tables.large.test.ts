import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Transfer } from '@penstock/wire'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'

/** Many tables in one connection: each is moved with its own state, and one that fails does not stop the others. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
})
after(() => fixture.close())

const source = (tables: string, more: Record<string, string | number> = {}) => ({
  dataSourceType: 'Many Tables',
  tables,
  ...more,
})
const destination = (schema: string, more: Record<string, string | boolean> = {}) => ({
  schema,
  table: '{schema}_{table}',
  createTable: true,
  ...more,
})

const sql = async (text: string) => (await fixture.target.query(text)).rows
const countIn = async (table: string): Promise<number> => (await sql(`select count(*)::int as n from ${table}`))[0].n
const move = async (id: string, body: object = {}): Promise<Transfer> =>
  fixture.ended(id, (await fixture.start(id, body)).id)
const partsOf = (id: string, transferId: string) =>
  fixture.caller.expect(
    fixture.caller.call('listTransferParts', {
      accountId: fixture.accountId,
      id,
      transferId,
      query: { size: 500 },
    }),
  )
const tablesOf = async (id: string, transferId: string) =>
  Object.fromEntries(
    (await partsOf(id, transferId)).map(({ table, status, records, error }) => [
      table,
      error ? `${status}: ${error.message}` : `${status} ${records.read}/${records.accepted}/${records.rejected}`,
    ]),
  )

describe('many tables', () => {
  test('are copied by patterns, to tables that a template names', async () => {
    await sql(`create schema shop; create schema copied;
      create table shop.orders (id int primary key, total numeric, paid boolean, at timestamptz);
      insert into shop.orders select n, n * 1.5, n % 2 = 0, '2026-01-01'::timestamptz + n * interval '1 hour' from generate_series(1, 500) n;
      create table shop.people (email text, tags text[], extra jsonb);
      insert into shop.people select 'p' || n || '@example.com', array['a', n::text], '{"a": 1}' from generate_series(1, 30) n;
      create table shop.orders_tmp (id int);
      create table shop."Odd, ""name"".x" (id int primary key, "a b" text);
      insert into shop."Odd, ""name"".x" values (1, 'x');
      create view shop.seen as select * from shop.people`)
    const id = await fixture.connect(
      postgresql,
      source('shop.*', { tablesExcept: '*_tmp' }),
      postgresql,
      destination('copied'),
    )
    const transfer = await move(id)
    assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
    assert.deepEqual(await tablesOf(id, transfer.id), {
      'shop.Odd, "name".x': 'succeeded 1/1/0',
      'shop.orders': 'succeeded 500/500/0',
      'shop.people': 'succeeded 30/30/0',
    })
    assert.deepEqual(transfer.records, { read: 531, sent: 531, accepted: 531, rejected: 0 })
    const [same] = await sql(`select
      (select md5(string_agg(o::text, '|' order by id)) from shop.orders o)
        = (select md5(string_agg(o::text, '|' order by id)) from (select id, total, paid, at from copied.shop_orders) o) as orders`)
    assert.equal(same?.orders, true)
    assert.deepEqual(await sql(`select * from copied."shop_Odd, ""name"".x"`), [{ id: 1, 'a b': 'x' }])
  })

  test('a table that fails does not stop the others, and is retried alone', async () => {
    await sql(`create schema mixed; create schema arrived;
      do $$ begin
        for n in 1..18 loop
          execute format('create table mixed.t%s (id int primary key, value %s)', n,
            (array['int', 'text', 'numeric(10,2)', 'boolean', 'date', 'timestamptz', 'uuid', 'jsonb', 'bytea'])[1 + n % 9]);
          execute format('insert into mixed.t%s (id) select g from generate_series(1, %s) g', n, n);
        end loop;
      end $$;
      create table mixed.broken (id int primary key, when_ date); insert into mixed.broken values (1, '2026-01-01');
      create table mixed.partly (id int primary key, name text); insert into mixed.partly values (1, 'a'), (2, null);
      create table arrived.mixed_broken (id int, other date not null);
      create table arrived.mixed_partly (id int primary key, name text not null)`)
    const id = await fixture.connect(postgresql, source('mixed.*'), postgresql, destination('arrived'))
    const transfer = await move(id)
    assert.equal(transfer.status, 'partial')
    assert.equal(transfer.error?.code, 'tables_failed')
    assert.match(transfer.error?.message ?? '', /^1 of 20 tables failed\. mixed\.broken: .*when_/)
    const tables = await tablesOf(id, transfer.id)
    assert.equal(Object.keys(tables).length, 20)
    assert.match(tables['mixed.broken'] ?? '', /^failed: .*when_/)
    assert.equal(tables['mixed.partly'], 'succeeded 2/1/1')
    for (let n = 1; n <= 18; n += 1) assert.equal(tables[`mixed.t${n}`], `succeeded ${n}/${n}/0`)
    const { status } = await fixture.caller.expect(
      fixture.caller.call('getConnection', { accountId: fixture.accountId, id }),
    )
    assert.equal(status, 'active', 'an error of one table does not break the connection')
    await sql('drop table arrived.mixed_broken')
    await fixture.caller.expect(
      fixture.caller.call('retryTransfer', { accountId: fixture.accountId, id, transferId: transfer.id }),
    )
    const retried = await fixture.ended(id, transfer.id)
    assert.deepEqual([retried.status, retried.error, retried.records.read], ['partial', null, 174])
    assert.equal((await tablesOf(id, transfer.id))['mixed.broken'], 'succeeded 1/1/0')
    assert.equal(await countIn('arrived.mixed_t18'), 18, 'nothing is sent twice')
  })

  test('fails and breaks the connection if every table fails', async () => {
    await sql(
      `create schema hopeless; create schema lost; create table hopeless.a (id int); insert into hopeless.a values (1)`,
    )
    const id = await fixture.connect(postgresql, source('hopeless.*'), postgresql, {
      ...destination('lost'),
      createTable: false,
    })
    const transfer = await move(id)
    assert.deepEqual([transfer.status, transfer.error?.code], ['failed', 'table_not_found'])
    assert.match(transfer.error?.message ?? '', /^hopeless\.a: /)
    const { status } = await fixture.caller.expect(
      fixture.caller.call('getConnection', { accountId: fixture.accountId, id }),
    )
    assert.equal(status, 'broken')
  })

  test('continue after their own cursors, by their own keys, and new tables wait for a decision', async () => {
    await sql(`create schema crm; create schema kept;
      create table crm.leads (id int, part int, changed timestamptz default now() - interval '1 day', name text, primary key (part, id));
      insert into crm.leads (id, part, name) select n, n % 3, 'n' || n from generate_series(1, 40) n;
      create table crm.calls (call_id int primary key, changed timestamptz default now() - interval '1 day');
      insert into crm.calls select generate_series(1, 10);
      create table crm.colors (id int primary key, name text); insert into crm.colors values (1, 'red');
      create table crm.keyless (name text); insert into crm.keyless values ('x')`)
    const settings = source('crm.*', { syncMode: 'Incremental', markerColumn: 'changed', lagSeconds: 0 })
    const to = destination('kept', { table: '{table}', writeMode: 'Upsert', keyColumns: '{key}' })
    const id = await fixture.connect(postgresql, settings, postgresql, to)
    const first = await move(id)
    assert.deepEqual(await tablesOf(id, first.id), {
      'crm.calls': 'succeeded 10/10/0',
      'crm.colors': 'succeeded 1/1/0',
      'crm.keyless':
        'failed: The table has no primary key, which an update by {key} needs. Exclude the table, or add a key.',
      'crm.leads': 'succeeded 40/40/0',
    })
    assert.equal(first.status, 'partial')

    await sql(`update crm.leads set name = 'new', changed = now() where id = 7; insert into crm.leads (id, part, changed) values (99, 1, now());
      create table crm.later (id int primary key); insert into crm.later values (1), (2)`)
    const second = await move(id)
    const tables = await tablesOf(id, second.id)
    assert.deepEqual([tables['crm.calls'], tables['crm.leads']], ['succeeded 0/0/0', 'succeeded 2/2/0'])
    assert.match(tables['crm.later'] ?? '', /^skipped: The table crm\.later is new in the source\./)
    assert.equal(await countIn('kept.leads'), 41)
    assert.equal(await countIn(`kept.leads where name = 'new'`), 1)

    const drift = (mode: 'stop' | 'add') =>
      fixture.caller.expect(
        fixture.caller.call('setDrift', { accountId: fixture.accountId, id, body: { drift: mode } }),
      )
    await drift('stop')
    const stopped = await move(id)
    assert.deepEqual([stopped.status, stopped.error?.code], ['failed', 'new_table'])
    await drift('add')
    const added = await move(id)
    assert.equal((await tablesOf(id, added.id))['crm.later'], 'succeeded 2/2/0')

    await sql(`alter table crm.colors add column code text; update crm.colors set code = 'f00'`)
    await move(id)
    assert.deepEqual(await sql('select * from kept.colors'), [{ id: 1, name: 'red', code: 'f00' }])
  })

  test('changed columns stop their tables until they are accepted, and no other table', async () => {
    await sql(`create schema drifting; create schema drifted;
      create table drifting.a (id int primary key, name text); insert into drifting.a values (1, 'a');
      create table drifting.b (id int primary key, name text); insert into drifting.b values (1, 'b');
      create table drifting.c (id int primary key, name text); insert into drifting.c values (1, 'c');
      create table drifting.d (id int primary key, name text); insert into drifting.d values (1, 'd')`)
    const to = destination('drifted', { table: '{table}', writeMode: 'Upsert', keyColumns: '{key}' })
    const id = await fixture.connect(postgresql, source('drifting.*'), postgresql, to)
    const { caller, accountId } = fixture
    const drift = (body: object) => caller.expect(caller.call('setDrift', { accountId, id, body }))
    const refused = async (body: object) => (await caller.call('setDrift', { accountId, id, body })).status
    assert.equal((await drift({ drift: 'stop' })).tables, undefined)
    assert.equal((await move(id)).status, 'succeeded')

    await sql(`alter table drifting.a add column code text; update drifting.a set code = 'x';
      alter table drifting.b rename column name to label; alter table drifting.c add column extra int`)
    const stopped = await move(id)
    assert.deepEqual([stopped.status, stopped.error?.code], ['partial', 'tables_failed'])
    assert.equal((await tablesOf(id, stopped.id))['drifting.d'], 'succeeded 1/1/0')
    const waiting = await caller.expect(caller.call('getDrift', { accountId, id }))
    assert.deepEqual(waiting.changes, [])
    assert.deepEqual(
      waiting.tables?.map(({ table, changes }) => [table, changes.map(({ change, column }) => `${change} ${column}`)]),
      [
        ['drifting.a', ['added code']],
        ['drifting.b', ['renamed name']],
        ['drifting.c', ['added extra']],
      ],
    )

    assert.equal(await refused({ tables: ['drifting.a'] }), 400)
    assert.equal(await refused({ accept: true, tables: ['drifting.d'] }), 400)
    assert.equal(await refused({ accept: true, tables: ['x'.repeat(601)] }), 400)
    const left = await drift({ accept: true, add: true, tables: ['drifting.a'] })
    assert.deepEqual(
      left.tables?.map(({ table }) => table),
      ['drifting.b', 'drifting.c'],
    )
    await caller.expect(caller.call('retryTransfer', { accountId, id, transferId: stopped.id }))
    const retried = await tablesOf(id, (await fixture.ended(id, stopped.id)).id)
    assert.equal(retried['drifting.a'], 'succeeded 1/1/0')
    assert.match(retried['drifting.b'] ?? '', /^failed: /)
    assert.deepEqual(await sql('select * from drifted.a'), [{ id: 1, name: 'a', code: 'x' }])

    assert.equal((await drift({ accept: true, add: true })).tables, undefined)
    const moved = await move(id)
    assert.deepEqual([moved.status, moved.error], ['succeeded', null])
    assert.deepEqual(await sql('select * from drifted.b'), [{ id: 1, name: 'b', label: 'b' }])
    assert.equal((await move(id)).status, 'succeeded', 'what was accepted does not stop the next transfer')
  })

  test('never share a destination table', async () => {
    const long = 'x'.repeat(60)
    await sql(`create schema twins; create schema apart; create table twins.${long}1 (id int); create table twins.${long}2 (id int);
      insert into twins.${long}1 values (1); insert into twins.${long}2 values (2);
      create table twins.a (id int); insert into twins.a values (1)`)
    const id = await fixture.connect(postgresql, source('twins.*'), postgresql, destination('apart'))
    const transfer = await move(id)
    const tables = await tablesOf(id, transfer.id)
    for (const n of [1, 2]) assert.match(tables[`twins.${long}${n}`] ?? '', /^failed: PostgreSQL allows 63 bytes/)
    assert.deepEqual([transfer.status, tables['twins.a']], ['partial', 'succeeded 1/1/0'])
  })

  test('are refused with settings that need one table', async () => {
    const refusals: [Record<string, string | boolean>, Record<string, string>, RegExp][] = [
      [{ table: 'fixed' }, {}, /must contain \{table\}/],
      [{ sendRows: 'Changed', writeMode: 'Upsert', keyColumns: '{key}' }, {}, /only changed rows are sent/],
      [{ mapping: '{"id": "id"}' }, {}, /has no mapping/],
      [{}, { tables: 'nothing.*' }, /^No table matches/],
      [{}, { tables: 'a.b.c' }, /is not a pattern/],
      [{}, { tables: '"open' }, /is not a pattern/],
    ]
    for (const [to, from, message] of refusals) {
      const id = await fixture.connect(postgresql, { ...source('crm.*'), ...from }, postgresql, destination('kept', to))
      const transfer = await move(id)
      assert.equal(transfer.status, 'failed')
      assert.match(transfer.error?.message ?? '', message)
    }
  })
})
