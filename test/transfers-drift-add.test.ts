import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** Columns that a source gained are added to the mapping, and to the table of the destination, if the connection wants it. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
})
after(() => fixture.close())

const of = (id: string) => ({ accountId: fixture.accountId, id })
const add = (id: string) =>
  fixture.caller.expect(fixture.caller.call('setDrift', { ...of(id), body: { drift: 'add' } }))
const mappingOf = async (id: string) =>
  (await fixture.caller.expect(fixture.caller.call('getConnection', of(id)))).destConnectionConfig.mapping
async function move(id: string) {
  const { status, error, columnChanges } = await fixture.ended(id, (await fixture.start(id)).id)
  const changes = columnChanges.map(({ side, change, column }) => `${side} ${change} ${column}`)
  return { status, code: error?.code, message: error?.message ?? '', changes }
}
const connect = (name: string, settings: Record<string, string> = {}) =>
  fixture.connect(postgresql, { table: `${name}_source` }, postgresql, {
    table: `${name}_copy`,
    writeMode: 'Insert',
    ...settings,
  })

describe('columns that a source gained', () => {
  test('are added to the table with their types, and to the mapping behind its entries', async () => {
    const { target, caller } = fixture
    await target.query(`create table people_source (id int primary key, name text, city text);
      insert into people_source values (1, 'a', 'Berlin'); create table people_copy (id int, label text, "Note" text)`)
    const mapping = JSON.stringify({ id: 'id', label: 'name', Note: null })
    const id = await connect('people', { mapping })
    await add(id)
    assert.deepEqual(await move(id), { status: 'succeeded', code: undefined, message: '', changes: [] })
    await target.query(`alter table people_source add column total numeric(8, 2) default 2.5,
      add column at timestamptz default '2026-01-02 03:04:05Z', add column note text default 'n', add column label text`)
    const next = await move(id)
    assert.equal(next.status, 'succeeded', next.message)
    const added = ['source added total', 'source added at', 'source added note', 'source added label']
    assert.deepEqual(next.changes, [...added, 'destination added total', 'destination added at'])
    assert.deepEqual(JSON.parse(String(await mappingOf(id))), {
      id: 'id',
      label: 'name',
      Note: null,
      total: 'total',
      at: 'at',
    })
    const { rows } = await target.query(
      'select label, total::text, pg_typeof(at)::text as type, at::text from people_copy order by total nulls first',
    )
    assert.deepEqual(rows.map(Object.values), [
      ['a', null, 'timestamp with time zone', null],
      ['a', '2.50', 'timestamp with time zone', '2026-01-02 03:04:05+00'],
    ])
    assert.deepEqual((await move(id)).changes, [], 'nothing is new any more')
    const events = await caller.expect(caller.call('listConnectionEvents', of(id)))
    const [settings] = events.filter(({ kind }) => kind === 'settings')
    assert.deepEqual(
      [settings?.to, settings?.changes?.map(({ key, from }) => [key, from]), settings?.actor?.kind],
      ['Destination', [['mapping', mapping]], 'service'],
    )
    const audited = await caller.expect(caller.call('listAudit', { query: { action: 'addColumns' } }))
    assert.deepEqual(
      audited.map(({ targetId, details }) => [targetId, (details as { columns?: unknown }).columns]),
      [[id, ['total', 'at']]],
    )
  })

  test('pass an empty mapping, and are found where a crash left them in the table alone', async () => {
    const { target } = fixture
    await target.query(`create table plain_source (id int); insert into plain_source values (1);
      create table plain_copy (id int)`)
    const id = await connect('plain')
    await add(id)
    await move(id)
    await target.query(`alter table plain_source add column age int; alter table plain_copy add column age bigint`)
    const next = await move(id)
    assert.deepEqual([next.status, next.changes], ['succeeded', ['source added age', 'destination added age']])
    assert.equal((await mappingOf(id)) ?? '', '')
  })

  test('stop a transfer together with other changes, and as a part of the key', async () => {
    const { target } = fixture
    await target.query(
      `create table kept_source (id int primary key, name text); create table kept_copy (id int, name text)`,
    )
    const id = await connect('kept', { mapping: JSON.stringify({ id: 'id', name: 'name' }) })
    await target.query('insert into kept_source values (1, $$a$$)')
    await add(id)
    await move(id)
    const is = (statement: string) => target.query(`alter table kept_source ${statement}`)
    await is('add column age int, alter name type varchar(20)')
    const stopped = await move(id)
    assert.deepEqual([stopped.code, stopped.changes], ['columns_changed', ['source added age', 'source retyped name']])
    await is('drop column age, alter name type text')
    await is('add column tenant int not null default 1, drop constraint kept_source_pkey, add primary key (id, tenant)')
    assert.deepEqual((await move(id)).code, 'columns_changed')
    const { rows } = await target.query(
      `select attname from pg_attribute where attrelid = 'kept_copy'::regclass and attnum > 0`,
    )
    assert.equal(rows.length, 2, 'the table is as it was')
    assert.equal(await mappingOf(id), '{"id":"id","name":"name"}')
  })

  test('that the table may not have stop it, with the reason, and can be accepted', async () => {
    const { target, caller } = fixture
    await target.query(`create table view_source (id int); insert into view_source values (1);
      create table view_base (id int); create view view_copy as select id from view_base`)
    const mapping = JSON.stringify({ id: 'id' })
    const id = await connect('view', { mapping })
    await add(id)
    await move(id)
    await target.query('alter table view_source add column age int')
    const refused = await move(id)
    assert.equal(refused.code, 'columns_changed')
    assert.match(
      refused.message,
      /^Columns were added to the source \(age\) and could not be added to the destination\. /,
    )
    await caller.expect(caller.call('setDrift', { ...of(id), body: { accept: true } }))
    assert.equal((await move(id)).status, 'succeeded')
    assert.equal(await mappingOf(id), mapping)
  })

  test('of files are added to the mapping without types', async () => {
    const file = join(fixture.folder, 'leads.csv')
    await writeFile(file, 'email,city\na@example.com,Berlin\n')
    await fixture.target.query('create table leads_copy (mail text)')
    const id = await fixture.connect(localFolder, { files: 'leads.csv' }, postgresql, {
      table: 'leads_copy',
      writeMode: 'Insert',
      mapping: JSON.stringify({ mail: 'email' }),
    })
    await add(id)
    await move(id)
    await writeFile(file, 'email,city,age\na@example.com,Berlin,3\n')
    const next = await move(id)
    assert.equal(next.status, 'succeeded', next.message)
    const { rows } = await fixture.target.query('select age from leads_copy order by age')
    assert.deepEqual(rows.map(Object.values), [['3'], [null]])
  })
})
