import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { endClient } from '../packages/server/src/organizations/credentials.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { commandsOn } from './harness/commands.ts'
import { makeInbox } from './harness/connections.ts'
import { createTestDatabase } from './harness/database.ts'
import { callEveryOperation } from './harness/every-operation.ts'
import { assertInTable, countFit, createPeopleTable, fitsTable, writePeople } from './harness/people.ts'
import { startPgBouncer } from './harness/pgbouncer.ts'
import { http, prepareStage } from './harness/process.ts'
import { skipWithout } from './harness/programs.ts'
import { startServiceOn } from './harness/service.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/** A real PgBouncer in transaction mode between the service and PostgreSQL. Fewer sessions than clients, so that they change. */

const rows = 3_000
const settings = ['pool_mode = transaction', 'default_pool_size = 3', 'server_round_robin = 1']

async function preparePooler(t: TestContext) {
  const database = await createTestDatabase()
  const pooler = await startPgBouncer(t, database.url, settings)
  const env = { DATABASE_URL: pooler.url, PENSTOCK_DATABASE_DIRECT_URL: database.url }
  return { database, pooler, env }
}

describe('behind pgbouncer in transaction mode', { skip: skipWithout('pgbouncer') }, () => {
  test('every operation succeeds', async (t) => {
    const { database, env } = await preparePooler(t)
    const inbox = await makeInbox()
    t.after(inbox.remove)
    const service = await startServiceOn(database.url, { ...inbox.env, ...env }, database.drop)
    t.after(service.close)
    await callEveryOperation(service, inbox.folder)
  })

  test('processes move data and hear each other, and continue after it was killed', async (t) => {
    const { database, pooler, env } = await preparePooler(t)
    const masterKey = generateMasterKey()
    const fixture = await startProcessFixture(
      t,
      { ...env, PENSTOCK_MASTER_KEY: masterKey },
      database.url,
      database.drop,
    )
    const stage = await prepareStage(t)
    const served = await stage.serve({ env: { ...env, PENSTOCK_MASTER_KEY: masterKey, PENSTOCK_WORKER: '0' } })
    const look = async (token: string) => (await http(served.url, '/accounts', { token })).status

    const transfers = []
    for (const table of ['first', 'second']) {
      await writePeople(join(fixture.folder, `${table}.csv`), rows)
      await createPeopleTable(fixture.target, table, true)
      const into = { table, writeMode: 'Insert' }
      const connectionId = await fixture.connect(localFolder, { files: `${table}.csv` }, postgresql, into)
      transfers.push({ table, connectionId })
    }
    const holder = await fixture.target.connect()
    await holder.query('begin; lock table first, second in access exclusive mode')
    const workers = [fixture.spawnWorker(), fixture.spawnWorker()]
    const started = []
    for (const { table, connectionId } of transfers)
      started.push({ table, connectionId, id: (await fixture.start(connectionId)).id })
    for (const { id } of started) await fixture.claimed(id, 0)
    await until('both work', () => workers.every(({ said }) => said.stderr.includes('"working"')))

    await pooler.kill()
    await until('requests are refused', async () => (await look(fixture.token)) === 503)
    await pooler.start()
    await until('requests are served', async () => (await look(fixture.token)) === 200)
    await holder.query('rollback')
    holder.release()
    for (const { table, connectionId, id } of started) {
      const transfer = await fixture.ended(connectionId, id)
      const { accepted } = transfer.records
      assert.deepEqual([transfer.error, accepted], [null, countFit(rows, fitsTable)])
      await assertInTable(fixture.target, table, rows)
    }

    const other = await fixture.service.addOrganization()
    assert.equal(await look(other.token), 200)
    await fixture.service.database.transaction((tx) => endClient(tx, other.clientId))
    await until('the other process hears of it', async () => (await look(other.token)) === 401)
    for (const program of [served, ...workers]) {
      assert(!program.said.stderr.includes('LISTEN connection lost'), program.said.stderr)
      program.signal('SIGTERM')
      assert.equal((await program.ended).code, 0, program.said.stderr)
    }
  })

  test('commands that need a session of their own use the direct address, and a wrong one is refused', async (t) => {
    const { database, pooler, env } = await preparePooler(t)
    t.after(database.drop)
    const stage = await prepareStage(t)
    const key = { PENSTOCK_MASTER_KEY: generateMasterKey(), PENSTOCK_NEXT_MASTER_KEY: generateMasterKey() }
    const commands = commandsOn(stage, { ...env, ...key })
    await commands.done('org', 'create', '--name', 'First', '--owner-email', 'owner@example.com')
    await commands.done('backup', join(stage.base, 'some.backup'))
    await commands.done('audit', 'verify')
    await commands.done('key', 'rotate')

    const refused = (settings: Record<string, string>) =>
      commandsOn(stage, { ...env, ...key, ...settings }).fails(1, 'org', 'list')
    assert.match(await refused({ PENSTOCK_DATABASE_DIRECT_URL: pooler.url }), /DIRECT_URL is the address of a pooler/)
    const other = await createTestDatabase()
    t.after(other.drop)
    assert.match(await refused({ PENSTOCK_DATABASE_DIRECT_URL: other.url }), /lead to different databases/)
  })
})
