import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readBatches } from '../packages/connectors/src/kafka/record-batch.ts'
import { startKafkaBroker } from '../packages/connectors/test/kafka-broker.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { countFit, fitsFile, writePeople } from './harness/people.ts'
import type { Program } from './harness/process.ts'
import { localFolder } from './harness/transfers.ts'
import { type ProcessFixture, startProcessFixture } from './harness/worker-processes.ts'

/** Rows on their way to and from a topic, while workers with their runners are killed. */

const rows = 40_000
const kills = 2
const kafka = connectorBySlug('kafka')
const broker = await startKafkaBroker()
after(() => broker.close())

/** Kills workers with what they run, each in the middle of a request, after some others. */
async function killWhileRunning(
  fixture: ProcessFixture,
  first: Program,
  api: 'produce' | 'fetch',
  skips: number,
): Promise<Program> {
  let worker = first
  for (let killed = 0; killed < kills; killed += 1) {
    broker.failure = { what: 'hangs', api, skips, times: 1 }
    await broker.hangs()
    worker.signal('SIGKILL')
    await worker.ended
    broker.failure = undefined
    worker = fixture.spawnWorker()
  }
  return worker
}

test('with kills on the way to a topic and back, every row is there, and from the topic once', async (t) => {
  const fixture = await startProcessFixture(t)
  const { caller, accountId } = fixture
  await caller.addConnectors(accountId, kafka)
  const secretConfig = { brokers: broker.address, tlsMode: 'disable', saslMechanism: 'none' }
  await caller.expect(caller.call('configureConnector', { accountId, id: kafka.id, body: { secretConfig } }))
  await writePeople(join(fixture.folder, 'people.csv'), rows)
  broker.create('people', 4)
  broker.create('once', 4)

  const to = await fixture.connect(localFolder, { files: 'people.csv' }, kafka, {
    topic: 'people',
    keyColumns: 'id',
    compression: 'none',
  })
  const written = await fixture.start(to)
  const worker = await killWhileRunning(fixture, fixture.spawnWorker(), 'produce', 20)
  const done = await fixture.ended(to, written.id)
  const sent = countFit(rows, fitsFile)
  assert.deepEqual(done.records, { read: rows, sent, accepted: sent, rejected: rows - sent })

  // A message that was not confirmed can be stored twice, next to each other. A copy without duplicates is read.
  const seen = new Set<string>()
  let repeated = 0
  for (const [partition, { batches }] of (broker.topics.get('people') ?? []).entries()) {
    const copy = broker.topics.get('once')?.[partition]
    for (const { bytes } of batches) {
      const keys = [...readBatches(bytes, 'people')].flatMap((batch) => batch.records().map(({ key }) => String(key)))
      const fresh = keys.filter((key) => !seen.has(key))
      repeated += keys.length - fresh.length
      for (const key of fresh) seen.add(key)
      if (fresh.length === 0 || !copy) continue
      assert.equal(fresh.length, keys.length, 'batches come whole')
      const own = Buffer.from(bytes)
      own.writeBigInt64BE(BigInt(copy.next), 0)
      copy.batches.push({ base: copy.next, next: copy.next + keys.length, maxTimestamp: 0, bytes: own })
      copy.next += keys.length
    }
  }
  assert.equal(seen.size, sent)

  const from = await fixture.connect(
    kafka,
    { topic: 'once', startAt: 'earliest', valueFields: 'id,email,amount,note' },
    localFolder,
    { subfolder: 'out', fileFormat: 'NDJSON' },
  )
  const { id } = await fixture.start(from)
  await killWhileRunning(fixture, worker, 'fetch', 5)
  const { records, attempt, error } = await fixture.ended(from, id)
  assert.equal(error, null)
  assert.deepEqual(records, { read: sent, sent, accepted: sent, rejected: 0 })
  const files = await readdir(join(fixture.folder, 'out'))
  const lines = (await readFile(join(fixture.folder, 'out', files[0] ?? ''), 'utf8')).trimEnd().split('\n')
  const ids = lines.map((line) => JSON.parse(line).id)
  assert.deepEqual([files.length, ids.length, new Set(ids).size], [1, sent, sent])
  for (const line of lines) assert.equal(JSON.parse(line).email, `person${JSON.parse(line).id}@example.com`)
  t.diagnostic(`${repeated} messages twice; attempts: ${done.attempt}, ${attempt}`)
  assert.deepEqual([done.attempt, attempt], [kills + 1, kills + 1])

  // The next transfer continues there.
  const again = await fixture.ended(from, (await fixture.start(from)).id)
  assert.equal(again.records.read, 0)
})
