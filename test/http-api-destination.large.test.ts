import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { assertAccounted } from './harness/accounting.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { startFlakyEndpoint } from './harness/flaky-endpoint.ts'
import { countFit, fitsFile, writePeople } from './harness/people.ts'
import { seed } from './harness/seed.ts'
import { localFolder } from './harness/transfers.ts'
import { isActive, startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/** The truth about rows that an operation of a definition sends. */

const count = 20_000
/** The API recognises a repeated request by its ID, and names what it refuses by number. */
const definition = `
operations:
  send:
    path: /rows
    headers: { webhook-id: "{{ request.id }}" }
    batch: { rows: 500 }
    columns: { id: { type: whole number, required: true }, email: text, amount: text, note: text }
    body: { data: { rows: "{{ rows }}" } }
    result: { rows: { at: rejected, index: entry.index, reason: "{{ entry.reason }}" } }
`

test(`rows reach a described API once, which fails at random while workers are killed (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
  const random = seeded(seed)
  const rejects = (number: number) => number % 50 === 0
  const endpoint = await startFlakyEndpoint(random, rejects)
  t.after(endpoint.close)
  const fixture = await startProcessFixture(t)
  const { caller, accountId } = fixture
  await writePeople(join(fixture.folder, 'people.csv'), count)
  const httpApi = connectorBySlug('http-api')
  await caller.addConnectors(accountId, httpApi)
  const secretConfig = { url: endpoint.url, definition }
  await caller.expect(caller.call('configureConnector', { accountId, id: httpApi.id, body: { secretConfig } }))
  const connectionId = await fixture.connect(localFolder, { files: 'people.csv' }, httpApi, { operation: 'send' })
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
  assert.deepEqual(transfer.records, { ...transfer.records, read: count, accepted, rejected: count - accepted })
  await assertAccounted(fixture, transfer)
  const twice = [...endpoint.taken].filter(([, requests]) => requests > 1)
  assert.deepEqual(twice, [], 'a row came in two requests with different IDs')
  assert.equal(endpoint.taken.size, accepted)
  t.diagnostic(`${transfer.attempt} attempts; ${JSON.stringify(endpoint.behaviours)}`)
})
