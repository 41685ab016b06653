import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLogger } from '../packages/server/src/log.ts'
import { runnerOptions } from '../packages/server/src/runners/options.ts'
import { createRunnerPool } from '../packages/server/src/runners/runner-pool.ts'
import { startWorker } from '../packages/server/src/worker/worker.ts'
import { assertAccounted } from './harness/accounting.ts'
import { runnersOf } from './harness/children.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { large } from './harness/tiers.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Transfers whose runners die: they are retried from the checkpoint, a few times, and nothing else is affected. */

const onLinux = process.platform === 'linux' ? {} : { skip: 'the processes of others are found in /proc' }
const webhook = connectorBySlug('webhook')

/** An endpoint that answers this number of messages, and does not answer further ones. */
async function startEndpoint(t: { after(work: () => unknown): void }, answered: number) {
  const asked: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      asked.push(response)
      if (asked.length <= answered) response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked }
}

async function connectToWebhook(fixture: Fixture, url: string): Promise<string> {
  const { caller, accountId } = fixture
  await caller.addConnectors(accountId, webhook)
  const secretConfig = { url, signingSecret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` }
  await caller.expect(caller.call('configureConnector', { accountId, id: webhook.id, body: { secretConfig } }))
  return fixture.connect(localFolder, { files: 'people.csv' }, webhook, { rowsPerRequest: 10 })
}

const people = (count: number) =>
  `id,email\n${Array.from({ length: count }, (_, i) => `${i},p${i}@example.com\n`).join('')}`

/** Kills the runner that sent the message that is without an answer. */
function killRunner(known: Set<number>): void {
  const pid = runnersOf(process.pid).find((each) => !known.has(each))
  assert(pid)
  known.add(pid)
  process.kill(pid, 'SIGKILL')
}

test(
  'a transfer whose runners die without progress fails after three retries, and its connection is broken',
  onLinux,
  async (t) => {
    const fixture = await startFixture()
    t.after(fixture.close)
    await writeFile(join(fixture.folder, 'people.csv'), people(25))
    const endpoint = await startEndpoint(t, 1)
    const id = await connectToWebhook(fixture, endpoint.url)
    await fixture.startWorker()
    const { id: transferId } = await fixture.start(id)
    const known = new Set<number>()
    for (let death = 1; death <= 4; death++) {
      await until('a batch is on its way', () => endpoint.asked.length === 1 + death)
      killRunner(known)
    }
    const transfer = await fixture.ended(id, transferId)
    assert.deepEqual([transfer.status, transfer.error?.code, transfer.attempt], ['failed', 'runner_crashed', 4])
    assert.equal(transfer.records.accepted, 10)
    const connection = await fixture.caller.expect(
      fixture.caller.call('getConnection', { accountId: fixture.accountId, id }),
    )
    assert.equal(connection.status, 'broken')
    await assertAccounted(fixture, transfer)
  },
)

test('a transfer that needs too much memory twice at the same place fails, and says so', async (t) => {
  const fixture = await startFixture()
  t.after(fixture.close)
  await writeFile(join(fixture.folder, 'people.csv'), people(25))
  const id = await connectToWebhook(fixture, 'http://127.0.0.1:1/')
  const { config, databaseUrl, logLines } = fixture.service
  assert(config.masterKey)
  const log = createLogger('info', { write: (line) => void logLines.push(line) })
  // Every process of Node needs more.
  const runners = createRunnerPool({ ...runnerOptions(config), spare: false, memoryBytesMax: 30 << 20 }, log)
  t.after(runners.close)
  const worker = await startWorker(config, { databaseUrl, masterKey: config.masterKey, runners }, log)
  t.after(worker.stop)
  const { id: transferId } = await fixture.start(id)
  const transfer = await fixture.ended(id, transferId)
  assert.deepEqual([transfer.status, transfer.error?.code, transfer.attempt], ['failed', 'out_of_memory', 2])
  assert.match(transfer.error?.message ?? '', /needed more memory than a runner may use .* twice at the same place/)
})

test('a transfer whose runners die with progress in between continues, and so do the others', {
  ...onLinux,
  ...large,
}, async (t) => {
  const fixture = await startFixture()
  t.after(fixture.close)
  await writeFile(join(fixture.folder, 'people.csv'), people(80))
  const endpoint = await startEndpoint(t, 0)
  const id = await connectToWebhook(fixture, endpoint.url)
  await fixture.target.query('create table people (id int, email text)')
  const other = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, { table: 'people' })
  await fixture.startWorker()
  const { id: transferId } = await fixture.start(id)
  const known = new Set<number>()
  // Each runner delivers one batch, and dies in the next.
  for (let batch = 0; batch < 7; batch++) {
    await until('a batch is on its way', () => endpoint.asked.length === 2 * batch + 1)
    endpoint.asked[2 * batch]?.end()
    await until('the next one is', () => endpoint.asked.length === 2 * batch + 2)
    killRunner(known)
  }
  const beside = await fixture.start(other)
  assert.equal((await fixture.ended(other, beside.id)).status, 'succeeded')
  await until('the last batch is on its way', () => endpoint.asked.length === 15)
  endpoint.asked[14]?.end()
  const transfer = await fixture.ended(id, transferId)
  assert.deepEqual([transfer.status, transfer.attempt], ['succeeded', 8])
  assert.equal(transfer.records.accepted, 80)
  await assertAccounted(fixture, transfer)
})

test('a transfer ends in time though its destination answers nothing when it is cancelled', async (t) => {
  const fixture = await startFixture()
  t.after(fixture.close)
  await writeFile(join(fixture.folder, 'people.csv'), people(25))
  const endpoint = await startEndpoint(t, 1)
  const id = await connectToWebhook(fixture, endpoint.url)
  await fixture.startWorker()
  const { id: transferId } = await fixture.start(id)
  await until('a batch is on its way', () => endpoint.asked.length === 2)
  const { accountId, caller } = fixture
  await caller.expect(caller.call('cancelTransfer', { accountId, id, transferId }))
  const transfer = await fixture.ended(id, transferId)
  assert.deepEqual([transfer.status, transfer.records.accepted], ['cancelled', 10])
})

test('a transfer runs with the settings that it started with', async (t) => {
  const fixture = await startFixture()
  t.after(fixture.close)
  await writeFile(join(fixture.folder, 'people.csv'), people(40))
  const endpoint = await startEndpoint(t, 1)
  const id = await connectToWebhook(fixture, endpoint.url)
  const worker = await fixture.startWorker()
  const { id: transferId } = await fixture.start(id)
  await until('a batch is on its way', () => endpoint.asked.length === 2)
  const { accountId, caller } = fixture
  const body = { srcConnectionConfig: { files: 'other.csv' }, destConnectionConfig: { rowsPerRequest: 20 } }
  await caller.expect(caller.call('updateConnection', { accountId, id, body }))
  await caller.expect(
    caller.call('configureConnector', {
      accountId,
      id: localFolder.id,
      body: { secretConfig: { folder: '/nowhere' } },
    }),
  )
  // The worker releases it, and another one continues.
  await worker.stop()
  await fixture.startWorker()
  for (let batch = 2; batch <= 4; batch++) {
    await until('a batch is on its way', () => endpoint.asked.length === batch + 1)
    endpoint.asked[batch]?.end()
  }
  const transfer = await fixture.ended(id, transferId)
  assert.deepEqual([transfer.status, transfer.records.accepted], ['succeeded', 40])
})

test('a transfer of which nothing is accepted has failed', async (t) => {
  const fixture = await startFixture()
  t.after(fixture.close)
  await writeFile(join(fixture.folder, 'people.csv'), 'id\nx\ny\nz\n')
  await fixture.target.query('create table numbers (id int)')
  const id = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, { table: 'numbers' })
  await fixture.startWorker()
  const { id: transferId } = await fixture.start(id)
  const transfer = await fixture.ended(id, transferId)
  assert.deepEqual([transfer.status, transfer.error?.code], ['failed', 'nothing_accepted'])
  assert.deepEqual([transfer.records.accepted, transfer.records.rejected], [0, 3])
  const connection = await fixture.caller.expect(
    fixture.caller.call('getConnection', { accountId: fixture.accountId, id }),
  )
  assert.equal(connection.status, 'active')
})
