import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { assertAccounted } from './harness/accounting.ts'
import { runnersOf } from './harness/children.ts'
import { holdLock } from './harness/database.ts'
import { type HoldingProxy, startHoldingProxy } from './harness/holding-proxy.ts'
import type { Program } from './harness/process.ts'
import { localFolder, postgresql, postgresqlSecrets } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { type ProcessFixture, startProcessFixture } from './harness/worker-processes.ts'

/**
 * A worker and its runners, killed at each point between two batches for PostgreSQL: the second one is copied while the first one is
 * being confirmed, and committed afterwards.
 */

const batchRows = 50_000
const rows = 2 * batchRows + 20_000

/** Rows that the database of the service counts, and rows in the table, when the processes are killed. */
type Standing = { readonly confirmed: number; readonly there: number }
type Scene = { readonly fixture: ProcessFixture; readonly proxy: HoldingProxy; readonly id: string }
/** Lets processes start, and resolves when they have reached the point. The returned function releases them. */
type Reach = (scene: Scene, start: () => void) => Promise<(() => PromiseLike<void>) | undefined>

/** Reaches the commit of the second batch. @param passes whether the server gets it */
const secondCommit =
  (passes: boolean): Reach =>
  async ({ proxy }, start) => {
    const first = proxy.hold('commit', false)
    start()
    await first
    const second = proxy.hold('commit', passes)
    proxy.release()
    await second
    return undefined
  }

const points: Record<string, Standing & { reach: Reach }> = {
  'the first batch is being confirmed, and the second one is copied': {
    confirmed: 0,
    there: batchRows,
    reach: async ({ fixture: { accountId, service, target } }, start) => {
      const lock = await holdLock(service.databaseUrl, `select from accounts where id = '${accountId}' for update`)
      start()
      await until('the second batch is copied', async () => {
        const { rows: copied } = await target.query(
          `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction' and query ~ '^copy '`,
        )
        const { rows: there } = await target.query('select count(*)::int as count from arrived')
        return copied.length === 1 && there[0]?.count === batchRows
      })
      return () => lock[Symbol.asyncDispose]()
    },
  },
  'the second batch is about to be committed': { confirmed: batchRows, there: batchRows, reach: secondCommit(false) },
  'the second batch is committed, and its runner does not know': {
    confirmed: batchRows,
    there: 2 * batchRows,
    reach: secondCommit(true),
  },
}

/** Kills a worker and its runners. */
async function killAll(worker: Program): Promise<void> {
  for (const pid of [worker.pid, ...runnersOf(worker.pid)]) process.kill(pid, 'SIGKILL')
  await worker.ended
}

async function prepareScene(t: TestContext): Promise<Scene & { connectionId: string }> {
  const fixture = await startProcessFixture(t)
  const { accountId, caller, folder, target, targetUrl } = fixture
  const lines = Array.from({ length: rows }, (_, i) => `${i + 1},someone\n`)
  await writeFile(join(folder, 'many.csv'), `id,name\n${lines.join('')}`)
  await target.query('create table arrived (id int not null, name text)')
  const proxy = await startHoldingProxy(targetUrl)
  t.after(async () => proxy.close())
  const settings = { table: 'arrived', writeMode: 'Insert' }
  const connectionId = await fixture.connect(localFolder, { files: 'many.csv' }, postgresql, settings)
  const secretConfig = postgresqlSecrets(proxy.url)
  await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
  const { id } = await fixture.start(connectionId)
  return { fixture, proxy, id, connectionId }
}

describe('killed when', () => {
  for (const [point, { confirmed, there, reach }] of Object.entries(points)) {
    test(`${point}, nothing is lost and nothing comes twice`, async (t) => {
      const scene = await prepareScene(t)
      const { fixture, id, connectionId } = scene
      const workers: ReturnType<typeof fixture.spawnWorker>[] = []
      const release = await reach(scene, () => workers.push(fixture.spawnWorker()))
      const [worker] = workers
      assert(worker)
      const counted = async () => {
        const { rows } = await fixture.target.query(
          'select count(*)::int as count, count(distinct id)::int as ids from arrived',
        )
        return rows[0]
      }
      await until('it is there', async () => (await counted())?.count === there)
      assert.equal((await fixture.standing(id)).read, confirmed)
      await killAll(worker)
      await release?.()
      fixture.spawnWorker()
      const transfer = await fixture.ended(connectionId, id)
      assert.deepEqual([transfer.status, transfer.attempt], ['succeeded', 2])
      assert.deepEqual(transfer.records, { read: rows, sent: rows, accepted: rows, rejected: 0 })
      assert.deepEqual(await counted(), { count: rows, ids: rows })
      await assertAccounted(fixture, transfer)
    })
  }

  test('the second batch of a table is committed, and the table changes meanwhile: rows that stayed come once', async (t) => {
    const fixture = await startProcessFixture(t)
    const { accountId, caller, target } = fixture
    await target.query('create table many (id int primary key, name text)')
    await target.query(`insert into many select n * 2, 'someone' from generate_series(1, ${rows}) as numbers (n)`)
    await target.query('analyze many')
    await target.query('create table arrived (id int not null, name text)')
    const settings = { table: 'arrived', writeMode: 'Insert' }
    const connectionId = await fixture.connect(postgresql, { table: 'many' }, postgresql, settings)
    const proxy = await startHoldingProxy(fixture.targetUrl)
    t.after(async () => proxy.close())
    const secretConfig = postgresqlSecrets(proxy.url)
    await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
    const { id } = await fixture.start(connectionId)
    const workers: Program[] = []
    await secondCommit(true)({ fixture, proxy, id }, () => workers.push(fixture.spawnWorker()))
    const count = async () => (await target.query('select count(*)::int as count from arrived')).rows[0]?.count
    await until('the second batch is there', async () => (await count()) === 2 * batchRows)
    assert.equal((await fixture.standing(id)).read, batchRows)
    for (const worker of workers) await killAll(worker)
    // Of the second batch, 300 rows are gone, and 500 are new.
    await target.query('delete from many where id > 110000 and id <= 110600')
    await target.query(`insert into many select n * 2 + 120001, 'new' from generate_series(1, 500) as numbers (n)`)
    fixture.spawnWorker()
    const transfer = await fixture.ended(connectionId, id)
    assert.deepEqual([transfer.status, transfer.attempt], ['succeeded', 2])
    const { rows: arrived } = await target.query(`
      select count(*)::int as rows, count(distinct id)::int as ids,
        (select count(*)::int from many m where name = 'someone' and not exists (select from arrived a where a.id = m.id)) as missing
      from arrived`)
    assert.deepEqual(arrived, [{ rows, ids: rows, missing: 0 }])
    await assertAccounted(fixture, transfer)
  })
})
