import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ColumnChange, DriftMode } from '@penstock/wire'
import { startMariadb } from '../packages/connectors/test/mariadb.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { skipWithout } from './harness/programs.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Columns that changed since the last successful transfer of a connection are found before records move. */

let fixture: Fixture
const mariadb = await startMariadb()
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
})
after(async () => {
  await mariadb?.stop()
  await fixture.close()
})

const of = (id: string) => ({ accountId: fixture.accountId, id })
const drift = (id: string) => fixture.caller.expect(fixture.caller.call('getDrift', of(id)))
const set = (id: string, body: { drift?: DriftMode; accept?: boolean; add?: boolean }) =>
  fixture.caller.expect(fixture.caller.call('setDrift', { ...of(id), body }))
const short = (changes: readonly ColumnChange[]) =>
  changes.map(({ side, change, column, from, to }) => [side, change, column, from, to])
async function move(id: string) {
  const { status, error, records, columnChanges } = await fixture.ended(id, (await fixture.start(id)).id)
  return { status, code: error?.code, message: error?.message, read: records.read, changes: short(columnChanges) }
}

describe('changed columns', () => {
  test('of tables stop a transfer before its first record, until a person accepts them', async () => {
    const { target, caller } = fixture
    await target.query(
      'create table people (id int primary key, age int, name text); insert into people values (1, 30, $$a$$)',
    )
    await target.query('create table copies (id int, age int, name text)')
    const id = await fixture.connect(postgresql, { table: 'people' }, postgresql, {
      table: 'copies',
      writeMode: 'Insert',
      mapping: JSON.stringify({ id: 'id', name: 'name' }),
    })
    assert.deepEqual(await drift(id), {
      connectionId: id,
      drift: 'ignore',
      source: null,
      destination: null,
      changes: [],
    })
    await set(id, { drift: 'stop' })
    const first = await move(id)
    assert.deepEqual([first.status, first.changes], ['succeeded', []], first.message)
    const known = await drift(id)
    assert.deepEqual(known.source?.[0], { name: 'id', type: 'integer', required: true, key: true })
    assert.deepEqual(
      known.destination?.map(({ name, type }) => [name, type]),
      [
        ['id', 'integer'],
        ['age', 'integer'],
        ['name', 'text'],
      ],
    )
    await target.query(`alter table people alter age type text, add column city text;
      alter table copies rename column age to years`)
    const changes = [
      ['source', 'added', 'city', null, 'text'],
      ['source', 'retyped', 'age', 'integer', 'text'],
      ['destination', 'renamed', 'age', 'age', 'years'],
    ]
    const stopped = await move(id)
    assert.deepEqual(
      { ...stopped, message: '' },
      { status: 'failed', code: 'columns_changed', message: '', read: 0, changes },
    )
    assert.match(
      stopped.message ?? '',
      /^Columns changed .*: city of the source \(added\), age of the source \(integer before, text now\), age of the destination \(renamed to years\)\. Nothing was moved\./,
    )
    assert.equal((await target.query('select from copies')).rowCount, 1)
    const { status } = await caller.expect(caller.call('getConnection', of(id)))
    assert.equal(status, 'active', 'the connection stays active')
    assert.deepEqual(short((await drift(id)).changes), changes)
    assert.equal((await move(id)).code, 'columns_changed', 'nothing was accepted yet')
    const accepted = await set(id, { accept: true })
    assert.deepEqual([accepted.drift, accepted.changes], ['stop', []])
    const next = await move(id)
    assert.deepEqual([next.status, next.changes], ['succeeded', []], next.message)
    await target.query('alter table people drop column city')
    assert.deepEqual((await move(id)).changes, [['source', 'removed', 'city', 'text', null]])
    await set(id, { drift: 'ignore' })
    assert.equal((await move(id)).status, 'succeeded')
    const events = await caller.expect(caller.call('listConnectionEvents', of(id)))
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'columns').map(({ to, changes }) => [to, changes?.map(({ key }) => key)]),
      [
        ['Source', ['city']],
        ['Source', ['city']],
        ['Destination', ['age']],
        ['Source', ['city', 'age']],
        ['Destination', ['age']],
        ['Source', ['city', 'age']],
      ],
    )
  })

  test('that are new are added to the mapping and to the table if a person accepts and adds them', async () => {
    const { target, caller } = fixture
    await target.query(
      'create table guests (id int primary key, name text, ssn text, age int); insert into guests values (1, $$a$$)',
    )
    await target.query('create table visits (id int, name text)')
    const mapping = JSON.stringify({ id: 'id', name: 'name' })
    const settings = { table: 'visits', writeMode: 'Insert', mapping }
    const id = await fixture.connect(postgresql, { table: 'guests' }, postgresql, settings)
    const mapped = async () => {
      const { destConnectionConfig } = await caller.expect(caller.call('getConnection', of(id)))
      return Object.keys(JSON.parse(String(destConnectionConfig.mapping)))
    }
    await set(id, { drift: 'stop' })
    assert.equal((await move(id)).status, 'succeeded')
    await target.query(
      'alter table guests add column city text; alter table guests rename column name to full_name; alter table guests rename column ssn to social_no',
    )
    assert.equal((await move(id)).code, 'columns_changed')
    assert.deepEqual((await set(id, { accept: true, add: true })).changes, [])
    await target.query('alter table guests drop column age, add column plan text')
    assert.equal((await move(id)).code, 'columns_changed', 'before a transfer followed the first changes')
    await set(id, { accept: true })
    const again = await move(id)
    assert.equal(again.status, 'succeeded', again.message)
    const only = 'the column that was to be added, no column that has another name or was not'
    assert.deepEqual(await mapped(), ['id', 'name', 'city'], only)
    await target.query("update guests set city = 'Bonn'")
    assert.equal((await move(id)).status, 'succeeded', 'it continues as before')
    assert.deepEqual((await target.query('select name, city from visits order by city nulls first')).rows.at(-1), {
      name: 'a',
      city: 'Bonn',
    })
    await target.query('alter table guests add column later text')
    assert.equal((await move(id)).code, 'columns_changed', 'the next new column stops again')
    await set(id, { accept: true })
    assert.equal((await move(id)).status, 'succeeded')
    assert.deepEqual(await mapped(), ['id', 'name', 'city'], 'it was accepted, and not added')
  })

  test('of a file are known by their names, and shown also where they stop nothing', async () => {
    const file = join(fixture.folder, 'leads.csv')
    await writeFile(file, 'email,city\na@example.com,Berlin\n')
    const id = await fixture.connect(localFolder, { files: 'leads.csv' }, localFolder, { subfolder: 'leads' })
    assert.deepEqual((await move(id)).changes, [])
    assert.deepEqual(
      (await drift(id)).source?.map(({ name }) => name),
      ['email', 'city'],
    )
    await writeFile(file, 'email,town,age\na@example.com,Berlin,3\n')
    const ignored = await move(id)
    assert.deepEqual(ignored, {
      status: 'succeeded',
      code: undefined,
      message: undefined,
      read: 1,
      changes: [
        ['source', 'renamed', 'city', 'city', 'town'],
        ['source', 'added', 'age', null, null],
      ],
    })
    assert.deepEqual((await move(id)).changes, [], 'compared with the last successful transfer')
    await set(id, { drift: 'stop' })
    assert.equal((await move(id)).status, 'succeeded')
    await writeFile(file, 'email,age,town\na@example.com,3,Berlin\n')
    assert.equal((await move(id)).status, 'succeeded', 'another order is no change')
    await writeFile(file, 'email,age\na@example.com,3\n')
    const stopped = await move(id)
    assert.deepEqual([stopped.code, stopped.read], ['columns_changed', 0])
    assert.deepEqual(stopped.changes, [['source', 'removed', 'town', null, null]])
    await writeFile(file, 'email,age,town\na@example.com,3,Berlin\n')
    const restored = await move(id)
    assert.deepEqual([restored.status, restored.changes], ['succeeded', []])
    assert.deepEqual((await drift(id)).changes, [])
    const tried = await fixture.start(id, { test: { rows: 1 } })
    assert.deepEqual((await fixture.ended(id, tried.id)).columnChanges, [], 'a test is compared with nothing')
  })

  test('of a table of MariaDB have types', { skip: mariadb ? false : skipWithout('mariadbd') }, async () => {
    assert.ok(mariadb)
    const mysql = connectorBySlug('mysql')
    const { caller, accountId } = fixture
    await caller.addConnectors(accountId, mysql)
    const secretConfig = { ...mariadb.secrets } as Record<string, string | number>
    await caller.expect(caller.call('configureConnector', { accountId, id: mysql.id, body: { secretConfig } }))
    await mariadb.query('create table orders (id int primary key, total decimal(6, 2))')
    await mariadb.query('insert into orders values (1, 2.5)')
    const id = await fixture.connect(mysql, { table: 'orders' }, localFolder, {
      subfolder: 'orders',
    })
    await set(id, { drift: 'stop' })
    const first = await move(id)
    assert.equal(first.status, 'succeeded', first.message)
    await mariadb.query('alter table orders modify total decimal(8, 2), add column note text')
    assert.deepEqual((await move(id)).changes, [
      ['source', 'added', 'note', null, 'text'],
      ['source', 'retyped', 'total', 'decimal(6,2)', 'decimal(8,2)'],
    ])
  })

  test('are an incident of their own, and settings refuse what means nothing', async () => {
    const { caller, accountId } = fixture
    const rule = {
      name: 'Failures',
      accountId,
      conditions: { transferFailed: true },
      slackUrl: 'https://hooks.example.com/x',
    }
    await caller.expect(caller.call('createAlertRule', { body: rule }))
    const file = join(fixture.folder, 'watched.csv')
    await writeFile(file, 'email\na@example.com\n')
    const id = await fixture.connect(localFolder, { files: 'watched.csv' }, localFolder, { subfolder: 'watched' })
    await set(id, { drift: 'stop' })
    await move(id)
    await writeFile(file, 'mail,age\na@example.com,1\n')
    assert.equal((await move(id)).code, 'columns_changed')
    const incident = await until('an incident', async () => {
      const incidents = await caller.expect(caller.call('listAlertIncidents', {}))
      return incidents.find(({ connectionId }) => connectionId === id)
    })
    assert.deepEqual(incident.reasons, ['columns_changed'])
    for (const body of [{}, { drift: 'adds' }, { accept: 1 }, { add: true }]) {
      assert.equal((await caller.call('setDrift', { ...of(id), body: body as never })).status, 400)
    }
  })
})
