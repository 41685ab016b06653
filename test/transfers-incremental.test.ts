import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addWebhook, type Message, startEndpoint, webhook } from './harness/endpoint.ts'
import { assertInvariants } from './harness/invariants.ts'
import { large } from './harness/tiers.ts'
import { postgresql } from './harness/transfers.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/**
 * Incremental reading of a PostgreSQL table into a webhook, whose transfers end in the middle of a chunk. The next transfer
 * sends no confirmed row again, and repeats, under its key, the batch that may have been delivered without a confirmation.
 */

const rowsPerRequest = 100
/** One chunk of the source. */
const rows = 1_000

const idsOf = ({ rows }: Pick<Message, 'rows'>) => rows.map(({ id }) => Number(id))

/** A connection from a table of people to the endpoint, which reads only new people. */
async function prepare(t: TestContext) {
  const fixture = await startProcessFixture(t)
  const endpoint = await startEndpoint(t)
  await addWebhook(fixture, endpoint)
  await fixture.target.query('create table people (id int primary key, name text)')
  await fixture.target.query(`insert into people select i, 'Person ' || i from generate_series(1, ${rows}) i`)
  const reading = { table: 'people', syncMode: 'Incremental', markerColumn: 'id', lagSeconds: 0 }
  const connectionId = await fixture.connect(postgresql, reading, webhook, { rowsPerRequest })
  const run = async () => fixture.ended(connectionId, (await fixture.start(connectionId)).id)
  return { fixture, endpoint, connectionId, run }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Asserts that every row has come, each under one key. */
function assertEachUnderOneKey(messages: readonly Message[]): void {
  const keysOf = new Map<number, Set<string>>()
  for (const message of messages)
    for (const id of idsOf(message)) keysOf.set(id, (keysOf.get(id) ?? new Set()).add(message.key))
  assert.deepEqual(
    [...keysOf.keys()].sort((a, b) => a - b),
    numbers(1, rows),
  )
  assert.deepEqual(
    [...keysOf].filter(([, keys]) => keys.size > 1),
    [],
    'these rows came under several keys',
  )
}

test('after a failure in mid-chunk the next transfer sends no confirmed row, and the batch in doubt under the same key', async (t) => {
  const { fixture, endpoint, connectionId, run } = await prepare(t)
  fixture.spawnWorker()
  // The fourth message is refused as too large. The second of its halves is in doubt.
  endpoint.answer = (_, count) => ({ 4: 413, 6: 418 })[count]
  const first = await run()
  assert.deepEqual([first.status, first.records.accepted], ['failed', 350])
  const doubtful = endpoint.messages.at(-1)
  assert(doubtful)
  assert.deepEqual(idsOf(doubtful), numbers(351, 400))

  // The next one fails in the same batch.
  endpoint.answer = () => 418
  assert.equal((await run()).status, 'failed')
  assert.deepEqual(endpoint.messages.at(-1), doubtful)

  endpoint.answer = () => undefined
  const before = endpoint.messages.length
  const next = await run()
  assert.deepEqual([next.status, next.records.read], ['succeeded', rows - 350])
  const sent = endpoint.messages.slice(before)
  assert.deepEqual(sent[0], doubtful)
  assert.deepEqual(sent.flatMap(idsOf), numbers(351, rows))
  assertEachUnderOneKey(endpoint.messages.filter((_, index) => index !== 3))
  const again = await fixture.ended(connectionId, (await fixture.start(connectionId)).id)
  assert.deepEqual([again.status, again.records.read], ['succeeded', 0])
  await assertInvariants(fixture.service.database.pool)
})

test('after a kill and a cancellation in mid-chunk, too', large, async (t) => {
  const { fixture, endpoint, connectionId, run } = await prepare(t)
  let worker = fixture.spawnWorker()
  const { id: transferId } = await fixture.start(connectionId)
  endpoint.answer = async (_, count) => {
    if (count === 3) {
      worker.signal('SIGKILL')
      await worker.ended
      worker = fixture.spawnWorker()
    } else if (count === 6) {
      // Taken, and never answered: the transfer ends while it tries again.
      const { caller, accountId } = fixture
      await caller.expect(caller.call('cancelTransfer', { accountId, id: connectionId, transferId }))
    }
    return count >= 6 ? 'breaks off' : undefined
  }
  const first = await fixture.ended(connectionId, transferId)
  assert.deepEqual([first.status, first.attempt, first.records.accepted], ['cancelled', 2, 400])
  const [, , third, fourth, , sixth] = endpoint.messages
  assert.deepEqual(fourth, third, 'the same transfer repeats a batch after a crash')
  assert(sixth)
  assert.deepEqual(idsOf(sixth), numbers(401, 500))

  endpoint.answer = () => undefined
  const before = endpoint.messages.length
  const next = await run()
  assert.deepEqual([next.status, next.records.read], ['succeeded', rows - 400])
  assert.deepEqual(endpoint.messages[before], sixth)
  assertEachUnderOneKey(endpoint.messages)
})

test('a row that has changed in the batch in doubt comes under another key, and the others under the same one', async (t) => {
  const { fixture, endpoint, run } = await prepare(t)
  fixture.spawnWorker()
  endpoint.answer = (_, count) => (count === 4 ? 418 : undefined)
  await run()
  const doubtful = endpoint.messages.at(-1)
  await fixture.target.query(`update people set name = 'Another' where id = 350`)
  endpoint.answer = () => undefined
  const before = endpoint.messages.length
  assert.equal((await run()).status, 'succeeded')
  const [repeated, ...others] = endpoint.messages.slice(before)
  assert(doubtful && repeated)
  const unchanged = doubtful.rows.filter(({ id }) => Number(id) !== 350)
  assert.deepEqual([repeated.key, repeated.rows], [doubtful.key, unchanged])
  assert.deepEqual(
    others.flatMap(idsOf).sort((a, b) => a - b),
    [350, ...numbers(401, rows)],
  )
  const changed = others.find((message) => idsOf(message).includes(350))
  assert.notEqual(changed?.key, doubtful.key)
  assert.equal(changed?.rows.find(({ id }) => Number(id) === 350)?.name, 'Another')
})
