import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startMariadb } from '../packages/connectors/test/mariadb.ts'
import { assertAccounted } from './harness/accounting.ts'
import { runnersOf } from './harness/children.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { skipWithout } from './harness/programs.ts'
import { seed } from './harness/seed.ts'
import { postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/** Many tables in one connection: kills while they are moved, and other databases. */

const many = (tables: string, more: Record<string, string | number> = {}) => ({
  dataSourceType: 'Many Tables',
  tables,
  ...more,
})

const tables = 12
const kills = 8
const rowsOf = (n: number) => n * 6_000

test(`with ${kills} kills, every row of ${tables} tables is there once, and the next transfer continues each table (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
  const fixture = await startProcessFixture(t)
  const { target } = fixture
  const random = seeded(seed)
  await target.query('create schema many; create schema arrived')
  for (let n = 1; n <= tables; n += 1) {
    await target.query(`create table many.t${n} (id bigint primary key, text text, day date, position bigint)`)
    await target.query(
      `insert into many.t${n} select g, repeat('x', 200), '2026-01-01'::date + g::int % 300, g from generate_series(1, ${rowsOf(n)}) g`,
    )
  }
  // It fails in every attempt, and stops no other table.
  await target.query('create table many.wrong (id int primary key, missing text); insert into many.wrong values (1)')
  await target.query('create table arrived.wrong (id int primary key)')
  const settings = many('many.*', { syncMode: 'Incremental', markerColumn: 'position', lagSeconds: 0 })
  const to = { schema: 'arrived', table: '{table}', createTable: true, writeMode: 'Insert' }
  const id = await fixture.connect(postgresql, settings, postgresql, to)
  const { id: transferId } = await fixture.start(id)
  const progress = async () => {
    const { rows } = await fixture.service.database.pool.query(
      `select t.status, t.read::int as read, coalesce(sum(p.attempt), 0)::int as attempts, max(p.crashes) as crashes
       from transfers t left join transfer_parts p on p.transfer_id = t.id where t.id = $1 group by t.id`,
      [transferId],
    )
    return rows[0] as { status: string; read: number; attempts: number; crashes: number }
  }
  const isActive = ({ status }: { status: string }) => status === 'queued' || status === 'running'
  let worker = fixture.spawnWorker()
  let hits = 0
  for (; hits < kills; hits += 1) {
    const before = await progress()
    const now = await until('a table is claimed, or all have ended', async () => {
      const found = await progress()
      return !isActive(found) || found.attempts > before.attempts || found.read > before.read ? found : undefined
    })
    if (!isActive(now)) break
    await delay(random.int(700))
    if (hits % 2 === 1 && now.crashes < 3 && process.platform === 'linux') {
      for (const pid of runnersOf(worker.pid)) process.kill(pid, 'SIGKILL')
    } else {
      worker.signal('SIGKILL')
      await worker.ended
      worker = fixture.spawnWorker()
    }
  }
  const transfer = await fixture.ended(id, transferId)
  assert.deepEqual([transfer.status, transfer.error?.code], ['partial', 'tables_failed'])
  const all = ((tables * (tables + 1)) / 2) * 6_000
  assert.deepEqual(transfer.records, { read: all, sent: all, accepted: all, rejected: 0 })
  await assertAccounted(fixture, transfer)
  const counted = async (n: number) => {
    const { rows } = await target.query(
      `select count(*)::int as rows, count(distinct id)::int as ids from arrived.t${n}`,
    )
    return rows[0]
  }
  for (let n = 1; n <= tables; n += 1) {
    assert.deepEqual(await counted(n), { rows: rowsOf(n), ids: rowsOf(n) }, `table ${n} after ${hits} kills`)
  }
  assert(hits > kills / 2, `${hits} kills hit the transfer`)
  await target.query('insert into many.t3 values (1000000, null, null, 1000000)')
  await target.query('alter table arrived.wrong add column missing text')
  const next = await fixture.ended(id, (await fixture.start(id)).id)
  assert.deepEqual([next.status, next.records.read], ['succeeded', 2])
  assert.equal((await counted(3)).rows, rowsOf(3) + 1)
  t.diagnostic(`${hits} kills, ${(await progress()).attempts} attempts of parts`)
})

const mariadb = await startMariadb()
const skip = skipWithout('mariadbd')

describe('many tables of MariaDB', { skip }, () => {
  test('go to PostgreSQL and back', async (t) => {
    const fixture = await startFixture()
    t.after(async () => {
      await fixture.close()
      await mariadb?.stop()
    })
    assert(mariadb)
    const { caller, accountId, target } = fixture
    await fixture.startWorker()
    const mysql = connectorBySlug('mysql')
    await caller.addConnectors(accountId, mysql)
    const secretConfig = { ...mariadb.secrets } as Record<string, string | number>
    await caller.expect(caller.call('configureConnector', { accountId, id: mysql.id, body: { secretConfig } }))
    await mariadb.query('create table orders (id int primary key, total decimal(10, 2), changed datetime)')
    await mariadb.query(`insert into orders values (1, 1.5, '2026-01-01 00:00:00'), (2, 2.25, '2026-01-02 00:00:00')`)
    await mariadb.query('create table `odd, "name".x` (a int, b int, note text, primary key (b, a))')
    await mariadb.query('insert into `odd, "name".x` values (1, 2, \'x\')')
    await mariadb.query('create table orders_tmp (id int)')
    await mariadb.query('create view seen as select * from orders')
    await target.query('create schema from_mariadb')
    const upsert = { table: '{schema}_{table}', createTable: true, writeMode: 'Upsert', keyColumns: '{key}' }
    const there = await fixture.connect(
      mysql,
      many('*', { tablesExcept: '*_tmp', syncMode: 'Incremental', markerColumn: 'changed', lagSeconds: 0 }),
      postgresql,
      { ...upsert, schema: 'from_mariadb' },
    )
    const move = async (id: string) => fixture.ended(id, (await fixture.start(id)).id)
    const first = await move(there)
    assert.deepEqual([first.status, first.error, first.records.accepted], ['succeeded', null, 3])
    const found = await target.query('select id, total, changed::text from from_mariadb.penstock_orders order by id')
    assert.deepEqual(found.rows, [
      { id: 1, total: '1.50', changed: '2026-01-01 00:00:00' },
      { id: 2, total: '2.25', changed: '2026-01-02 00:00:00' },
    ])
    const odd = await target.query('select * from from_mariadb."penstock_odd, ""name"".x"')
    assert.deepEqual(odd.rows, [{ a: 1, b: 2, note: 'x' }])
    await mariadb.query(`insert into orders values (3, 3, '2026-01-03 00:00:00')`)
    const second = await move(there)
    assert.deepEqual([second.status, second.records.read], ['succeeded', 2], 'the table without a cursor is read whole')

    const back = await fixture.connect(postgresql, many('from_mariadb.*'), mysql, { ...upsert, table: 'back_{table}' })
    const returned = await move(back)
    assert.deepEqual([returned.status, returned.error, returned.records.accepted], ['succeeded', null, 4])
    const [same] = await mariadb.query(
      'select count(*) as n from orders o join back_penstock_orders b on b.id = o.id and b.total = o.total and b.changed = o.changed',
    )
    assert.equal(Number(same?.n), 3)
  })
})
