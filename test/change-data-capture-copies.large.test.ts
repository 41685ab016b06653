import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { loggingOptions, startMariadb } from '../packages/connectors/test/mariadb.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { startLogicalPostgres } from './harness/logical-postgres.ts'
import { skipWithout } from './harness/programs.ts'
import { postgresql, postgresqlSecrets } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/**
 * A table whose changes are followed is copied again. Rows that were deleted meanwhile, without a change event, are removed at
 * the destination, whatever interrupts the second copy.
 */

const server = await startLogicalPostgres()
after(() => server.stop())
const mysql = connectorBySlug('mysql')
const mariadb = await startMariadb(loggingOptions)
after(() => mariadb?.stop())

test('a second copy removes the rows that the source lost meanwhile', async (t) => {
  const pool = new pg.Pool({ connectionString: server.url, max: 4 })
  pool.on('error', () => {})
  t.after(() => pool.end())
  const query = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows
  await query('create schema crm')
  await query('create table crm.people (id int primary key, name text)')
  await query('create table crm.copy (id int primary key, name text)')
  const rows = 20_000
  await query(`insert into crm.people select i, 'n' || i from generate_series(1, ${rows}) i`)
  await query('create publication penstock for table crm.people')
  const fixture = await startProcessFixture(t)
  const { caller, accountId } = fixture
  const secretConfig = postgresqlSecrets(server.url)
  await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
  const source = { schema: 'crm', table: 'people', syncMode: 'Changes', publication: 'penstock', slot: 'penstock' }
  const upsert = { schema: 'crm', table: 'copy', writeMode: 'Upsert', keyColumns: 'id' }
  const id = await fixture.connect(postgresql, source, postgresql, { ...upsert, sendRows: 'Mirror' })
  const run = async () => fixture.ended(id, (await fixture.start(id)).id)
  const succeed = async () => {
    const transfer = await run()
    assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
    return transfer
  }
  const reset = () =>
    caller.expect(caller.call('resetConnectionState', { accountId, id, body: { cursor: true, rows: true } }))
  const activate = () =>
    caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
  const differences = async () =>
    (
      await query(`select (select count(*)::int from (table crm.people except table crm.copy) a) as lacks,
        (select count(*)::int from (table crm.copy except table crm.people) b) as remains`)
    )[0]
  const equal = { lacks: 0, remains: 0 }

  let worker = fixture.spawnWorker()
  await succeed()
  assert.deepEqual(await differences(), equal)
  // Changes (removals, keys that return, and new rows) are not treated as missing later.
  await query(`delete from crm.people where id <= 100; insert into crm.people values (5, 'back'), (30000, 'new')`)
  assert.equal((await succeed()).removed, 100)
  assert.deepEqual(await differences(), equal)
  await query(`delete from crm.people where id = 30000; update crm.people set name = 'changed' where id = 200`)
  await succeed()
  assert.deepEqual(await differences(), equal)

  // The slot is lost, and with it what was removed since.
  await query(`select pg_drop_replication_slot('penstock')`)
  await query('delete from crm.people where id between 1000 and 1099')
  const lost = await run()
  assert.deepEqual([lost.status, lost.error?.code], ['failed', 'changes_lost'])
  await activate()
  await reset()
  assert.equal((await succeed()).removed, 100)
  assert.deepEqual(await differences(), equal)

  // A full refresh that is cancelled, and the next one: rows are removed before, between and after.
  await query('delete from crm.people where id between 2000 and 2099')
  await reset()
  const lock = await pool.connect()
  await lock.query('begin; lock table crm.copy in exclusive mode')
  const { id: cancelled } = await fixture.start(id)
  const waiting = `select from pg_locks where not granted and relation = 'crm.copy'::regclass`
  await until('the destination is written', async () => (await query(waiting)).length > 0)
  await caller.expect(caller.call('cancelTransfer', { accountId, id, transferId: cancelled }))
  await lock.query('rollback')
  assert.equal((await fixture.ended(id, cancelled)).status, 'cancelled')
  await query('delete from crm.people where id between 3000 and 3099')
  await succeed()
  assert.deepEqual(await differences(), equal)

  // A worker that dies before the removals, when all changes since the copy are confirmed.
  await query('delete from crm.people where id between 4000 and 4099')
  await reset()
  await query(`create function crm.hold() returns trigger language plpgsql as $$ begin
    perform pg_advisory_xact_lock(77); return old; end $$`)
  await query('create trigger hold before delete on crm.copy for each row execute function crm.hold()')
  await lock.query('begin; select pg_advisory_xact_lock(77)')
  const { id: killed } = await fixture.start(id)
  await until(
    'rows are being removed',
    async () => (await query(`select from pg_locks where locktype = 'advisory' and not granted`)).length > 0,
  )
  worker.signal('SIGKILL')
  await worker.ended
  await lock.query('rollback')
  lock.release()
  await query('delete from crm.people where id between 5000 and 5099')
  worker = fixture.spawnWorker()
  const { status, error } = await fixture.ended(id, killed)
  assert.deepEqual([status, error], ['succeeded', null])
  await succeed()
  assert.deepEqual(await differences(), equal)
  await query('drop trigger hold on crm.copy')
  assert.equal((await succeed()).removed, 0)

  // Without a mirror, it is announced.
  const other = await fixture.connect(postgresql, { ...source, slot: 'other' }, postgresql, upsert)
  assert.equal((await fixture.ended(other, (await fixture.start(other)).id)).status, 'succeeded')
  const of = { accountId, id: other }
  const state = () => caller.expect(caller.call('getConnectionState', of))
  assert.equal((await state()).removedRowsStay, undefined)
  await caller.expect(caller.call('resetConnectionState', { ...of, body: { cursor: true } }))
  assert.match((await state()).removedRowsStay ?? '', /since 2\d{3}-.* can stay at the destination.*Mirror/)
  const { findings } = await caller.expect(caller.call('previewConnection', { ...of, body: {} }))
  assert(findings.some(({ code }) => code === 'removed_rows_stay'))
  const transfer = await fixture.ended(other, (await fixture.start(other)).id)
  const lines = await caller.expect(caller.call('listTransferLog', { ...of, transferId: transfer.id }))
  assert(lines.some(({ kind, text }) => kind === 'noted' && /can stay at the destination/.test(text)))
  assert.equal((await state()).removedRowsStay, undefined)
})

test('a second copy of a table of MariaDB removes the rows that the source lost meanwhile', {
  skip: mariadb ? false : skipWithout('mariadbd'),
}, async (t) => {
  assert.ok(mariadb)
  const { query, administer, secrets } = mariadb
  await administer(`grant replication slave, replication client on *.* to penstock@'127.0.0.1'`)
  await query('create table people (id int primary key, name varchar(40)) engine = InnoDB')
  const rows = 5_000
  const numbers = Array.from({ length: rows }, (_, at) => `(${at + 1}, 'n${at + 1}')`)
  await query(`insert into people values ${numbers.join(', ')}`)
  const fixture = await startProcessFixture(t)
  const { caller, accountId, target } = fixture
  await target.query('create table copy (id int primary key, name text)')
  await target.query('create table plain (id int primary key, name text)')
  await caller.addConnectors(accountId, mysql)
  const secretConfig = secrets as Record<string, string | number>
  await caller.expect(caller.call('configureConnector', { accountId, id: mysql.id, body: { secretConfig } }))
  const source = { table: 'people', syncMode: 'Changes' }
  const connect = (table: string, more: Record<string, string> = {}) =>
    fixture.connect(mysql, source, postgresql, { table, writeMode: 'Upsert', keyColumns: 'id', ...more })
  const [id, plain] = [await connect('copy', { sendRows: 'Mirror' }), await connect('plain')]
  const run = async (connection = id) => fixture.ended(connection, (await fixture.start(connection)).id)
  const succeed = async (connection = id) => {
    const transfer = await run(connection)
    assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
    return transfer
  }
  const equal = async () => {
    const wanted = await query<{ id: number; name: string }>('select id, name from people order by id')
    const found = (await target.query('select id, name from copy order by id')).rows
    assert.deepEqual(found.map(Object.values), wanted.map(Object.values))
  }
  const copyAgain = async (connection = id) => {
    const of = { accountId, id: connection }
    await caller.expect(caller.call('updateConnectionStatus', { ...of, body: { action: 'activate' } }))
    await caller.expect(caller.call('resetConnectionState', { ...of, body: { cursor: true, rows: true } }))
  }

  let worker = fixture.spawnWorker()
  await succeed()
  await succeed(plain)
  await query('delete from people where id <= 100')
  await query(`insert into people values (5, 'back'), (30000, 'new')`)
  assert.equal((await succeed()).removed, 100)
  await equal()

  // The log is lost, and with it what was removed since.
  await query('delete from people where id between 1000 and 1099')
  await query(`update people set name = 'changed' where id = 2000`)
  await administer('flush binary logs')
  const connection = await mariadb.connect()
  // The server keeps a file while a reader that has just gone is still connected.
  await until('the log is purged', async () => {
    await administer('purge binary logs before now() + interval 1 day')
    const [files] = await connection.query('show binary logs')
    return (files as unknown[]).length === 1
  })
  await connection.end()
  const lost = await run()
  assert.deepEqual([lost.status, lost.error?.code], ['failed', 'changes_lost'])
  await copyAgain()
  assert.equal((await succeed()).removed, 100)
  await equal()

  // Converted columns copy the table again within a transfer. Rows are removed before and after.
  await query('delete from people where id between 3000 and 3009')
  await query('alter table people modify name varchar(80) character set utf8mb4')
  await query('delete from people where id between 3010 and 3019')
  await succeed()
  await equal()

  // A worker that dies while the rows are removed that the second copy did not have.
  await query('delete from people where id between 4000 and 4099')
  await administer('flush binary logs')
  await copyAgain()
  await target.query(`create function hold() returns trigger language plpgsql as $$ begin
    perform pg_advisory_xact_lock(77); return old; end $$`)
  await target.query('create trigger hold before delete on copy for each row execute function hold()')
  const lock = await target.connect()
  await lock.query('begin; select pg_advisory_xact_lock(77)')
  const { id: killed } = await fixture.start(id)
  const waiting = `select from pg_locks where locktype = 'advisory' and not granted`
  await until('rows are being removed', async () => (await target.query(waiting)).rows.length > 0)
  worker.signal('SIGKILL')
  await worker.ended
  await lock.query('rollback')
  lock.release()
  await query('delete from people where id between 4200 and 4299')
  worker = fixture.spawnWorker()
  const { status, error } = await fixture.ended(id, killed)
  assert.deepEqual([status, error], ['succeeded', null])
  await succeed()
  await equal()

  // Without a mirror they stay, as is announced.
  await copyAgain(plain)
  const { removedRowsStay } = await caller.expect(caller.call('getConnectionState', { accountId, id: plain }))
  assert.match(removedRowsStay ?? '', /since 2\d{3}-.* can stay at the destination.*Mirror/)
  await succeed(plain)
  const { rows: left } = await target.query('select count(*)::int as n from plain where id between 1000 and 1099')
  assert.deepEqual(left, [{ n: 100 }])
})
