import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../packages/server/src/embedded/embedded-postgres.ts'
import { findPostmaster } from '../packages/server/src/embedded/postmaster.ts'
import { assertAccounted } from './harness/accounting.ts'
import { copyCluster } from './harness/cluster.ts'
import { execute } from './harness/database.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { startFlakyEndpoint } from './harness/flaky-endpoint.ts'
import { assertInTable, countFit, createPeopleTable, fitsFile, fitsTable, writePeople } from './harness/people.ts'
import { seed } from './harness/seed.ts'
import { withSession } from './harness/session.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { bounded, until } from './harness/until.ts'
import { isActive, type ProcessFixture, startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/** Correctness of rows when something around a worker fails, or when the worker is stopped. Workers are processes here. */

/** Two batches, so that another batch is left when a test holds up the first one. */
const rows = 40_000
/** Four batches, for what happens at any time. */
const manyRows = 100_000

/** The people into a table, by their key. */
async function startUpsert(fixture: ProcessFixture, count = rows) {
  await writePeople(join(fixture.folder, 'people.csv'), count)
  await createPeopleTable(fixture.target, 'people', true)
  const settings = { table: 'people', writeMode: 'Upsert', keyColumns: 'id' }
  const connectionId = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, settings)
  return { connectionId, transferId: (await fixture.start(connectionId)).id }
}

async function assertMoved(
  fixture: ProcessFixture,
  { connectionId, transferId }: { connectionId: string; transferId: string },
  count = rows,
): Promise<void> {
  const transfer = await fixture.ended(connectionId, transferId)
  assert.deepEqual([transfer.status, transfer.error], ['partial', null])
  const accepted = countFit(count, fitsTable)
  assert.deepEqual(transfer.records, { ...transfer.records, read: count, accepted, rejected: count - accepted })
  await assertInTable(fixture.target, 'people', count)
  await assertAccounted(fixture, transfer)
}

/** A separate database on a separate server, which a test can restart. */
async function startServer() {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-restarted-'))
  await chmod(directory, 0o711)
  const options = { directory: join(directory, 'postgres'), settings: { max_connections: '100' } }
  await copyCluster(options.directory)
  const server = await startEmbeddedPostgres(options)
  const { url } = server
  return {
    url,
    close: async () => {
      await server.stop()
      await removeEmbeddedPostgres(options.directory)
      await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    },
    /** Kills it, as a crash does. The process that holds it starts it again at the same address. */
    restart: async (signal: 'SIGQUIT' | 'SIGKILL') => {
      const data = join(options.directory, 'data')
      const running = await findPostmaster(data)
      assert(running)
      process.kill(running.pid, signal)
      const again = await until('it runs again', async () => {
        const found = await findPostmaster(data)
        return found && found.pid !== running.pid ? found : undefined
      })
      assert.equal(again.port, running.port)
      await until('it answers', () =>
        execute(url, 'select').then(
          () => true,
          () => false,
        ),
      )
    },
  }
}

// They wait for most of their time: for timeouts, and for the next attempt.
describe('a transfer', { concurrency: 4 }, () => {
  test(`continues when our own database is restarted under it (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
    const random = seeded(seed)
    const server = await startServer()
    const fixture = await startProcessFixture(t, {}, server.url, server.close)
    const { connectionId, transferId } = await startUpsert(fixture, manyRows)
    fixture.spawnWorker()
    fixture.spawnWorker()
    let attempts = 0
    for (const signal of ['SIGQUIT', 'SIGKILL', 'SIGQUIT'] as const) {
      const standing = await fixture.claimed(transferId, attempts)
      if (!isActive(standing)) break
      attempts = standing.attempt
      await delay(random.int(600))
      await server.restart(signal)
    }
    await assertMoved(fixture, { connectionId, transferId }, manyRows)
    t.diagnostic(`restarted under ${attempts} attempts`)
    assert(attempts > 0)
  })

  test(`ends with every row once at an endpoint that fails at random while workers are killed (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
    const random = seeded(seed)
    const rejects = (number: number) => number % 50 === 0
    const endpoint = await startFlakyEndpoint(random, rejects)
    t.after(endpoint.close)
    const fixture = await startProcessFixture(t)
    const { caller, accountId } = fixture
    const count = 20_000
    await writePeople(join(fixture.folder, 'people.csv'), count)
    const webhook = connectorBySlug('webhook')
    await caller.addConnectors(accountId, webhook)
    const signingSecret = `whsec_${randomBytes(32).toString('base64')}`
    const secretConfig = { url: endpoint.url, signingSecret }
    await caller.expect(caller.call('configureConnector', { accountId, id: webhook.id, body: { secretConfig } }))
    const connectionId = await fixture.connect(localFolder, { files: 'people.csv' }, webhook, { rowsPerRequest: 500 })
    const { id: transferId } = await fixture.start(connectionId)
    let worker = fixture.spawnWorker()
    for (let kills = 0; kills < 4; kills++) {
      const standing = await fixture.standing(transferId)
      if (!isActive(standing)) break
      await fixture.claimed(transferId, standing.attempt)
      await delay(random.int(2_000))
      worker.signal('SIGKILL')
      await worker.ended
      worker = fixture.spawnWorker()
    }
    const transfer = await fixture.ended(connectionId, transferId)
    assert.deepEqual([transfer.status, transfer.error], ['partial', null])
    const accepted = countFit(count, (number) => fitsFile(number) && !rejects(number))
    assert.deepEqual(transfer.records, {
      read: count,
      sent: countFit(count, fitsFile),
      accepted,
      rejected: count - accepted,
    })
    await assertAccounted(fixture, transfer)
    const twice = [...endpoint.taken].filter(([, messages]) => messages > 1)
    assert.deepEqual(twice, [], 'a row came in two messages')
    assert.equal(endpoint.taken.size, accepted)
    t.diagnostic(`${transfer.attempt} attempts; ${JSON.stringify(endpoint.behaviours)}`)
    assert(Object.keys(endpoint.behaviours).length > 3, 'it failed in several ways')
  })

  test('stops when its connection is disabled in the middle of a batch, and a new one completes it', async (t) => {
    const fixture = await startProcessFixture(t)
    const { caller, accountId } = fixture
    const { connectionId, transferId } = await startUpsert(fixture)
    const change = (action: 'enable' | 'disable') =>
      caller.expect(caller.call('updateConnectionStatus', { accountId, id: connectionId, body: { action } }))
    await holding(fixture, async () => {
      fixture.spawnWorker()
      await until('a batch waits for the table', () => isWaiting(fixture))
      await change('disable')
      const transfer = await fixture.ended(connectionId, transferId)
      assert.deepEqual([transfer.status, transfer.error?.code], ['cancelled', 'connection_not_active'])
      await assertAccounted(fixture, transfer)
    })
    await change('enable')
    await assertMoved(fixture, { connectionId, transferId: (await fixture.start(connectionId)).id })
  })

  test('is left alone by a worker that was taken for dead and only slept', async (t) => {
    // Long enough that a busy machine makes no third attempt of it.
    const fixture = await startProcessFixture(t, { PENSTOCK_TRANSFERS: '1', PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: '8' })
    const { connectionId, transferId } = await startUpsert(fixture)
    const sleeper = fixture.spawnWorker()
    const workers = [sleeper]
    await holding(fixture, async () => {
      await until('a batch waits for the table', () => isWaiting(fixture))
      sleeper.signal('SIGSTOP')
      workers.push(fixture.spawnWorker())
      await fixture.claimed(transferId, 1)
      sleeper.signal('SIGCONT')
      await until('it knows', () => sleeper.said.stderr.includes('transfer lost to another worker'))
    })
    await assertMoved(fixture, { connectionId, transferId })
    const logs = workers.map(({ said }) => said.stderr).join('\n')
    assert.equal((await fixture.standing(transferId)).attempt, 2, logs)
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`is given back by a worker that gets ${signal}, and another one continues at once`, async (t) => {
      // No worker is treated as dead within this test, and none polls for work.
      const fixture = await startProcessFixture(t, {
        PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: '3600',
        PENSTOCK_TRANSFERS: '1',
      })
      const { connectionId, transferId } = await startUpsert(fixture)
      const first = fixture.spawnWorker()
      await holding(fixture, async () => {
        await until('a batch waits for the table', () => isWaiting(fixture))
        const second = fixture.spawnWorker()
        await until('the other one is ready', () => second.said.stderr.includes('"working"'))
        first.signal(signal)
        assert.equal((await bounded('the end', first.ended, 20_000)).code, 0)
        await until('the other one continues', () => second.said.stderr.includes('transfer claimed'))
        assert.equal((await fixture.standing(transferId)).attempt, 2)
      })
      await assertMoved(fixture, { connectionId, transferId })
    })
  }

  test('is one of those that two workers share', async (t) => {
    const fixture = await startProcessFixture(t, { PENSTOCK_TRANSFERS: '1' })
    const begun = [await startUpsert(fixture)]
    for (let count = 0; count < 3; count++) {
      const connectionId = await fixture.connect(localFolder, { files: 'people.csv' }, localFolder, {
        subfolder: `${count}`,
      })
      begun.push({ connectionId, transferId: (await fixture.start(connectionId)).id })
    }
    const workers = [fixture.spawnWorker(), fixture.spawnWorker()]
    const taken = () => workers.map(({ said }) => [...said.stderr.matchAll(/transfer claimed/g)].length)
    await holding(fixture, async () => {
      await until('one of them waits, and the other does the rest', () => taken().every((count) => count > 0))
    })
    for (const { connectionId, transferId } of begun) await fixture.ended(connectionId, transferId)
    assert.deepEqual(
      taken().reduce((sum, count) => sum + count, 0),
      4,
    )
  })
})

/** Keeps rows from coming into the table of people during `work`. */
const holding = (fixture: ProcessFixture, work: () => Promise<void>): Promise<void> =>
  withSession(fixture.targetUrl, async (session) => {
    await session.query('begin')
    await session.query('lock table people')
    await work()
    await session.query('rollback')
  })

/** Whether a delivery waits for the table. */
const isWaiting = async ({ target }: ProcessFixture): Promise<boolean> => {
  const { rows: waiting } = await target.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return waiting.length > 0
}
