import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { startLogicalPostgres } from './harness/logical-postgres.ts'
import { seed } from './harness/seed.ts'
import { postgresql, postgresqlSecrets } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { isActive, startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/**
 * A table is changed while its changes are copied to another one, and workers and the database are killed: in the end the copy is
 * equal. PENSTOCK_TEST_CHANGES sets how many changes, PENSTOCK_TEST_SEED repeats the choices.
 */

const changes = Number(process.env.PENSTOCK_TEST_CHANGES ?? 20_000)
const rounds = 6
const people = 5_000

const server = await startLogicalPostgres()
after(() => server.stop())

test(`a copy by changes equals its table after ${changes} changes, with kills of workers and of PostgreSQL (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
  const random = seeded(seed)
  const pool = new pg.Pool({ connectionString: server.url, max: 4 })
  pool.on('error', () => {})
  t.after(() => pool.end())
  const query = (text: string, values: unknown[] = []) =>
    until('PostgreSQL answers', () => pool.query(text, values).catch(() => undefined), 30_000)
  await query('create schema crm')
  await query('create table crm.people (id int primary key, name text, tags text[], note text)')
  await query('create table crm.copy (id int primary key, name text, tags text, note text)')
  await query(
    `insert into crm.people select i, 'n' || i, array['a', i::text], repeat(md5(i::text), 100) from generate_series(1, $1::int) i`,
    [people],
  )
  await query('create publication penstock for table crm.people')

  const fixture = await startProcessFixture(t)
  const { caller, accountId } = fixture
  const secretConfig = postgresqlSecrets(server.url)
  await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
  const connectionId = await fixture.connect(
    postgresql,
    { schema: 'crm', table: 'people', syncMode: 'Changes', publication: 'penstock', slot: 'penstock' },
    postgresql,
    { schema: 'crm', table: 'copy', writeMode: 'Upsert', keyColumns: 'id' },
  )

  /** Changes rows in transactions of different sizes, in one session. */
  const change = async (count: number) => {
    for (let left = count; left > 0; ) {
      const some = Math.min(left, 1 + random.int(400))
      left -= some
      const from = random.int(people)
      const statements = [
        `update crm.people set name = name || 'x', tags = tags || '{z}' where id between ${from} and ${from + some}`,
        `delete from crm.people where id between ${from} and ${from + some}`,
        `insert into crm.people select i, 'again', null, null from generate_series(${from}, ${from + some}) i on conflict (id) do update set note = 'there'`,
        `update crm.people set id = id + 1000000 where id between ${from} and ${from + some / 4}`,
        `update crm.people p set id = id - 1000000 where id > 1000000 and not exists (select from crm.people q where q.id = p.id - 1000000)`,
      ]
      await query(statements[random.int(statements.length)] ?? '')
    }
  }
  const end = async (transferId: string) => {
    const transfer = await fixture.ended(connectionId, transferId)
    assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
    assert.equal(transfer.records.read, transfer.records.accepted)
    return transfer
  }

  let worker = fixture.spawnWorker()
  let kills = 0
  for (let round = 0; round < rounds; round++) {
    const changing = change(changes / rounds)
    const { id } = await fixture.start(connectionId)
    const { attempt } = await fixture.claimed(id, 0)
    if (round % 2 === 0) {
      worker.signal('SIGKILL')
      await worker.ended
      worker = fixture.spawnWorker()
      if (isActive(await fixture.standing(id))) await fixture.claimed(id, attempt)
    } else await server.crash()
    kills++
    await changing
    await end(id)
  }
  await end((await fixture.start(connectionId)).id)
  const { rows } = (await query(`
    select count(*)::int as differ from crm.people p full join crm.copy c using (id)
    where p.id is null or c.id is null or p.name is distinct from c.name or p.note is distinct from c.note
       or to_json(p.tags)::text is distinct from c.tags`)) as pg.QueryResult<{ differ: number }>
  assert.equal(rows[0]?.differ, 0)
  t.diagnostic(`${kills} kills`)
})

test('a table that records changes gets each of them once, although a transfer is cancelled between two of its batches', async (t) => {
  const pool = new pg.Pool({ connectionString: server.url, max: 4 })
  pool.on('error', () => {})
  t.after(() => pool.end())
  const query = async <Row extends pg.QueryResultRow>(text: string) => (await pool.query<Row>(text)).rows
  await query('create schema shop')
  await query('create table shop.orders (id int primary key, note text)')
  await query('create table shop.history (id int, note text)')
  await query('create publication shop for table shop.orders')
  const fixture = await startProcessFixture(t)
  const { caller, accountId } = fixture
  const secretConfig = postgresqlSecrets(server.url)
  await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
  const source = { schema: 'shop', table: 'orders', syncMode: 'Changes', publication: 'shop', slot: 'shop' }
  const id = await fixture.connect(postgresql, { ...source, deletes: 'Skip' }, postgresql, {
    schema: 'shop',
    table: 'history',
    writeMode: 'Insert',
  })
  fixture.spawnWorker()
  const succeed = async () => {
    const transfer = await fixture.ended(id, (await fixture.start(id)).id)
    assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
  }
  await succeed()
  const rows = 30_000
  await query(`insert into shop.orders select i, repeat('x', 1000 + i % 7) from generate_series(1, ${rows}) i`)
  await query(`create function shop.wait_late() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(78); return new; end $$`)
  await query(`create trigger late before insert on shop.history for each row when (new.id = ${rows / 2})
    execute function shop.wait_late()`)
  const session = await pool.connect()
  await session.query('select pg_advisory_lock(78)')
  const { id: transferId } = await fixture.start(id)
  await until('batches are confirmed, and one waits', async () => {
    const [waiting] = await query<{ count: number }>('select count(*)::int as count from pg_locks where not granted')
    return waiting?.count && (await fixture.get(id, transferId)).records.accepted > 0
  })
  await caller.expect(caller.call('cancelTransfer', { accountId, id, transferId }))
  await session.query('select pg_advisory_unlock(78)')
  session.release()
  const cancelled = await fixture.ended(id, transferId)
  assert.equal(cancelled.status, 'cancelled')
  t.diagnostic(`cancelled after ${cancelled.records.accepted} rows`)
  await succeed()
  const [counts] = await query('select count(*)::int as rows, count(distinct id)::int as ids from shop.history')
  assert.deepEqual(counts, { rows, ids: rows })
})
