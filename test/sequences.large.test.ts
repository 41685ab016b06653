import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { assertAccounted } from './harness/accounting.ts'
import { runnersOf } from './harness/children.ts'
import { type HoldingProxy, startHoldingProxy } from './harness/holding-proxy.ts'
import type { Program } from './harness/process.ts'
import { postgresql, postgresqlSecrets } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { isActive, type ProcessFixture, startProcessFixture } from './harness/worker-processes.ts'

/** Transfers of one connection that follow each other, with PostgreSQL on both sides and workers that are killed (docs/rows-to-send.md). */

type Scene = ProcessFixture & { readonly proxy: HoldingProxy; readonly connectionId: string }

/** Two tables, of which the first has 100 rows, and a connection that adds its rows to the second. */
async function prepareScene(t: TestContext, source: object, destination: object): Promise<Scene> {
  const fixture = await startProcessFixture(t)
  const { accountId, caller, target } = fixture
  await target.query('create table recorded (id int primary key, name text)')
  await target.query(`insert into recorded select n, 'name ' || n from generate_series(1, 100) as numbers (n)`)
  await target.query('create table arrived (id int not null, name text)')
  const proxy = await startHoldingProxy(fixture.targetUrl)
  t.after(async () => proxy.close())
  const secretConfig = postgresqlSecrets(proxy.url)
  await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
  const connectionId = await fixture.connect(postgresql, { table: 'recorded', ...source }, postgresql, {
    table: 'arrived',
    writeMode: 'Insert',
    ...destination,
  })
  return { ...fixture, proxy, connectionId }
}

/** Runs a transfer until its first batch is committed and its worker does not know. Kills the worker, and answers the transfer. */
async function loseFirstAnswer({ proxy, target, connectionId, ...fixture }: Scene): Promise<string> {
  const { id } = await fixture.start(connectionId)
  const held = proxy.hold('set rows = ', true)
  const worker: Program = fixture.spawnWorker()
  await held
  await until('the batch is committed', async () => {
    const { rows } = await target.query('select count(*)::int as count from arrived')
    return rows[0]?.count === 100
  })
  for (const pid of [worker.pid, ...runnersOf(worker.pid)]) process.kill(pid, 'SIGKILL')
  await worker.ended
  return id
}

/** How often the rows arrived, and the rows that did not. */
async function arrivedIn({ target }: Scene) {
  const { rows } = await target.query(`
    select count(*)::int as rows, count(distinct (id, name))::int as different,
      (select count(*)::int from recorded r where not exists (select from arrived a where (a.id, a.name) = (r.id, r.name))) as missing
    from arrived`)
  return rows[0]
}

const edit = async ({ target }: Scene) => {
  await target.query(`update recorded set name = 'changed' where id between 11 and 20`)
  await target.query('delete from recorded where id between 31 and 35')
  await target.query(`insert into recorded select n, 'new' from generate_series(201, 207) as numbers (n)`)
}
const changed = { sendRows: 'Changed', rowKey: 'id' }
const incremental = { syncMode: 'Incremental', markerColumn: 'id', lagSeconds: 0 }

describe('a batch that was committed without an answer', () => {
  for (const [name, edits] of [
    ['as it was', false],
    ['changed meanwhile', true],
  ] as const) {
    test(`of changed rows is not sent again by this transfer or the next one, with a source ${name}`, async (t) => {
      const scene = await prepareScene(t, {}, changed)
      const id = await loseFirstAnswer(scene)
      if (edits) await edit(scene)
      scene.spawnWorker()
      const transfer = await scene.ended(scene.connectionId, id)
      assert.deepEqual([transfer.status, transfer.attempt], ['succeeded', 2])
      const { records, skipped } = transfer
      assert.deepEqual([records.accepted, skipped.unchanged], [edits ? 102 : 100, 0])
      await assertAccounted(scene, transfer)
      const all = edits ? 117 : 100
      assert.deepEqual(await arrivedIn(scene), { rows: all, different: all, missing: 0 })
      const next = await scene.ended(scene.connectionId, (await scene.start(scene.connectionId)).id)
      assert.deepEqual([next.status, next.records.accepted], ['succeeded', 0])
      assert.deepEqual(await arrivedIn(scene), { rows: all, different: all, missing: 0 })
    })
  }

  for (const [mode, source, destination] of [
    ['of an incremental connection', incremental, {}],
    ['of changed rows', {}, changed],
  ] as const) {
    test(`${mode} is not added again after the transfer was cancelled`, async (t) => {
      const scene = await prepareScene(t, source, destination)
      const { connectionId: id, accountId, caller } = scene
      const transferId = await loseFirstAnswer(scene)
      await caller.expect(caller.call('cancelTransfer', { accountId, id, transferId }))
      scene.spawnWorker()
      await until('it is cancelled', async () => !isActive(await scene.standing(transferId)))
      assert.equal((await scene.get(id, transferId)).status, 'cancelled')
      await scene.target.query('delete from recorded where id = 50')
      await scene.target.query(`insert into recorded values (201, 'new')`)
      const transfer = await scene.ended(id, (await scene.start(id)).id)
      assert.equal(transfer.status, 'succeeded')
      await assertAccounted(scene, transfer)
      assert.deepEqual(await arrivedIn(scene), { rows: 101, different: 101, missing: 0 })
    })
  }
})

test('records that were all rejected are read again once the destination takes them', async (t) => {
  const scene = await prepareScene(t, incremental, {})
  const { connectionId: id, target } = scene
  await target.query('alter table arrived add constraint short check (length(name) < 3)')
  scene.spawnWorker()
  const refused = await scene.ended(id, (await scene.start(id)).id)
  assert.deepEqual([refused.status, refused.error?.code, refused.records.read], ['failed', 'nothing_accepted', 100])
  await target.query('alter table arrived drop constraint short')
  const transfer = await scene.ended(id, (await scene.start(id)).id)
  assert.deepEqual([transfer.status, transfer.records.accepted], ['succeeded', 100])
  assert.deepEqual(await arrivedIn(scene), { rows: 100, different: 100, missing: 0 })
})
