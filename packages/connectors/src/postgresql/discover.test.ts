import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { type Asked, discover, valuesOf } from '../../test/discover.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server
beforeEach(() => query('drop schema crm cascade; create schema crm'))

const find = (field: string, asked: Asked = {}) =>
  discover(postgresql, secrets, field, { ...asked, settings: { schema: 'crm', ...asked.settings } })

describe('discovering in PostgreSQL', () => {
  test('finds schemas without those of the system', async () => {
    assert.deepEqual(valuesOf(await find('schema')), ['crm', 'public'])
    assert.deepEqual(valuesOf(await find('schema', { search: 'CR' })), ['crm'])
  })

  test('finds tables, views and partitioned tables, with an estimate of rows', async () => {
    await query(`create table crm.people (id int); insert into crm.people select generate_series(1, 500); analyze crm.people;
      create view crm.recent as select 1 as x; create materialized view crm.sums as select 1 as x;
      create table crm.events (day date) partition by range (day);
      create table crm.events_1 partition of crm.events for values from ('2026-01-01') to ('2027-01-01');
      create table crm.penstock_batches (id int)`)
    assert.deepEqual((await find('table')).items, [
      { value: 'events', kind: 'table' },
      { value: 'people', kind: 'table', rows: 500 },
      { value: 'recent', kind: 'view' },
      { value: 'sums', kind: 'view' },
    ])
    assert.deepEqual(valuesOf(await find('table', { role: 'destination' })), ['events', 'people', 'recent'])
  })

  test('finds tables that others own only if the user may read or write them', async () => {
    await query(`drop role if exists reader; create role reader login password 'reader-password';
      create table crm.open (id int); create table crm.closed (id int); create table crm.part (id int, name text);
      grant usage on schema crm to reader; grant select on crm.open to reader; grant select (id) on crm.part to reader`)
    const asReader = { ...secrets, user: 'reader', password: 'reader-password' }
    const settings = { schema: 'crm' }
    assert.deepEqual(valuesOf(await discover(postgresql, asReader, 'table', { settings })), ['open', 'part'])
    assert.deepEqual(valuesOf(await discover(postgresql, asReader, 'table', { settings, role: 'destination' })), [])
    await query('revoke usage on schema crm from reader')
    assert.deepEqual(valuesOf(await discover(postgresql, asReader, 'table', { settings })), [])
    await query('drop owned by reader; drop role reader')
  })

  test('goes through 1,001 tables page by page, and treats signs of patterns as letters', async () => {
    await query(`do $$ begin for i in 1..1001 loop execute format('create table crm.t_%s (id int)', lpad(i::text, 4, '0'));
      end loop; end $$; create table crm."a%b_c" (id int)`)
    const all: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await find('table', { size: 200, ...(cursor === undefined ? {} : { cursor }) })
      all.push(...valuesOf(page))
      cursor = page.next
      if (cursor === undefined) break
    }
    assert.equal(new Set(all).size, 1_002)
    assert.deepEqual(valuesOf(await find('table', { search: '%' })), ['a%b_c'])
    assert.deepEqual(valuesOf(await find('table', { search: "'" })), [])
    for (const cursor of ['-1', 'x', '1e3', '99999999', '1;drop table crm.t_0001']) {
      await assert.rejects(find('table', { cursor }), { code: 'invalid_setting' })
    }
  })

  test('gives values of columns to callers that may see them, and columns without if they take too long', async () => {
    await query(`create table crm.orders (id int, "Total "" net" text, made timestamptz, nothing text);
      insert into crm.orders values (1, '1.001,50', '2026-11-22 10:00+01'), (2, repeat('x', 999), null);
      create view crm.slow as select pg_sleep(60)::text as x; create sequence crm.ids`)
    const settings = { table: 'orders' }
    const samplesOf = async (asked: Asked) => (await find('columns', asked)).items.map(({ samples }) => samples)
    const made = ['2026-11-22 09:00:00+00', null]
    assert.deepEqual(await samplesOf({ settings, withSamples: true }), [
      ['1', '2'],
      ['1.001,50', 'x'.repeat(200)],
      made,
      [null, null],
    ])
    assert.deepEqual(await samplesOf({ settings, withSamples: true, search: 'made' }), [made])
    assert.deepEqual(await samplesOf({ settings }), [undefined, undefined, undefined, undefined])
    const ofQuery = (sqlQuery: string) => ({ settings: { dataSourceType: 'SQL Query', sqlQuery }, withSamples: true })
    assert.deepEqual(await samplesOf(ofQuery('select id from crm.orders where id > 1 -- all;')), [['2']])
    assert.deepEqual(await samplesOf(ofQuery("select nextval('crm.ids') as x")), [undefined], 'it only reads')
    const slow = { settings: { table: 'slow' }, withSamples: true }
    assert.deepEqual(await samplesOf(slow), [undefined])
  })

  test('finds the columns of a table and of a query, with their types and their part in the key', async () => {
    await query(`create table crm.people (id int primary key, "E-Mail" varchar(99) not null, made timestamptz not null default now(),
      tags text[], gone int); alter table crm.people drop column gone`)
    assert.deepEqual((await find('columns', { settings: { table: 'people' } })).items, [
      { value: 'id', kind: 'column', type: 'integer', key: true, required: true },
      { value: 'E-Mail', kind: 'column', type: 'character varying(99)', key: false, required: true },
      { value: 'made', kind: 'column', type: 'timestamp with time zone', key: false, required: false },
      { value: 'tags', kind: 'column', type: 'text[]', key: false, required: false },
    ])
    const ofQuery = { dataSourceType: 'SQL Query', sqlQuery: 'select id, made::date as day from crm.people -- all;' }
    assert.deepEqual((await find('markerColumn', { settings: ofQuery })).items, [
      { value: 'id', kind: 'column', type: 'integer' },
      { value: 'day', kind: 'column', type: 'date' },
    ])
    assert.deepEqual(valuesOf(await find('columns', { settings: { table: 'people' }, search: 'mail' })), ['E-Mail'])
  })

  test('says what is needed first, and what is missing', async () => {
    await assert.rejects(find('columns'), { code: 'invalid_setting', message: /Select the table first/ })
    await assert.rejects(find('columns', { settings: { table: 'nowhere' } }), { code: 'table_not_found' })
    await assert.rejects(
      find('columns', {
        settings: { dataSourceType: 'SQL Query', sqlQuery: 'select 1) as x; drop schema crm cascade; --' },
      }),
    )
    assert.deepEqual(valuesOf(await find('schema', { search: 'crm' })), ['crm'])
  })
})
