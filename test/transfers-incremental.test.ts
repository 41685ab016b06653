import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { postgresql } from './harness/transfers.ts'
import { type ProcessMill, startProcessMill } from './harness/worker-processes.ts'

/**
 * Incremental reading of a PostgreSQL table into a webhook, whose transfers end in the middle of a chunk: the next one sends
 * no confirmed row again, and repeats under its key the batch that may have been delivered without a confirmation.
 */

const webhook = connectorBySlug('webhook')
const rowsPerRequest = 100
/** One chunk of the source. */
const rows = 1_000

type Message = { readonly key: string; readonly ids: readonly number[]; readonly names: readonly string[] }
/** What the endpoint does with a message that it has taken: nothing is a success. */
type Answer = (message: Message, count: number) => Promise<unknown> | unknown

/** An endpoint that keeps every message that reaches it, repeated ones too. */
async function startEndpoint(t: TestContext) {
  const endpoint = { url: '', messages: [] as Message[], answer: (() => {}) as Answer }
  const server = createServer(async (request, response) => {
    const { data } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const sent: { id: number; name: string }[] = data.rows
    const message = {
      key: String(request.headers['webhook-id']),
      ids: sent.map(({ id }) => id),
      names: sent.map(({ name }) => name),
    }
    endpoint.messages.push(message)
    const status = await endpoint.answer(message, endpoint.messages.length)
    if (status === 'breaks off') response.destroy()
    else response.writeHead(typeof status === 'number' ? status : 204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return endpoint
}

/** A connection from a table of people into the endpoint, which reads those that are new. */
async function prepare(t: TestContext) {
  const mill: ProcessMill = await startProcessMill(t)
  const endpoint = await startEndpoint(t)
  const { caller, accountId } = mill
  await caller.addConnectors(accountId, webhook)
  const signingSecret = `whsec_${Buffer.from('s'.repeat(24)).toString('base64')}`
  const body = { secretConfig: { url: endpoint.url, signingSecret } }
  await caller.expect(caller.call('configureConnector', { accountId, id: webhook.id, body }))
  await mill.target.query('create table people (id int primary key, name text)')
  await mill.target.query(`insert into people select i, 'Person ' || i from generate_series(1, ${rows}) i`)
  const reading = { table: 'people', syncMode: 'Incremental', markerColumn: 'id', lagSeconds: 0 }
  const connectionId = await mill.connect(postgresql, reading, webhook, { rowsPerRequest })
  const run = async () => mill.ended(connectionId, (await mill.start(connectionId)).id)
  return { mill, endpoint, connectionId, run }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Asserts that every row has come, each under one key. */
function assertEachUnderOneKey(messages: readonly Message[]): void {
  const keysOf = new Map<number, Set<string>>()
  for (const { key, ids } of messages) for (const id of ids) keysOf.set(id, (keysOf.get(id) ?? new Set()).add(key))
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
  const { mill, endpoint, connectionId, run } = await prepare(t)
  mill.spawnWorker()
  // The fourth message is refused as too large; of its halves the second one is in doubt.
  endpoint.answer = (_, count) => ({ 4: 413, 6: 418 })[count]
  const first = await run()
  assert.deepEqual([first.status, first.records.accepted], ['failed', 350])
  const doubtful = endpoint.messages.at(-1)
  assert.deepEqual(doubtful?.ids, numbers(351, 400))

  // The next one fails in the same batch.
  endpoint.answer = () => 418
  assert.equal((await run()).status, 'failed')
  assert.deepEqual(endpoint.messages.at(-1), doubtful)

  endpoint.answer = () => {}
  const before = endpoint.messages.length
  const next = await run()
  assert.deepEqual([next.status, next.records.read], ['succeeded', rows - 350])
  const sent = endpoint.messages.slice(before)
  assert.deepEqual(sent[0], doubtful)
  assert.deepEqual(
    sent.flatMap(({ ids }) => ids),
    numbers(351, rows),
  )
  assertEachUnderOneKey(endpoint.messages.filter((_, index) => index !== 3))
  const again = await mill.ended(connectionId, (await mill.start(connectionId)).id)
  assert.deepEqual([again.status, again.records.read], ['succeeded', 0])
  await assertInvariants(mill.service.database.pool)
})

test('after a kill and a cancellation in mid-chunk, too', async (t) => {
  const { mill, endpoint, connectionId, run } = await prepare(t)
  let worker = mill.spawnWorker()
  const { id: transferId } = await mill.start(connectionId)
  endpoint.answer = async (_, count) => {
    if (count === 3) {
      worker.signal('SIGKILL')
      await worker.ended
      worker = mill.spawnWorker()
    } else if (count === 6) {
      // Taken, and never answered: the transfer ends while it tries again.
      const { caller, accountId } = mill
      await caller.expect(caller.call('cancelTransfer', { accountId, id: connectionId, transferId }))
    }
    return count >= 6 ? 'breaks off' : undefined
  }
  const first = await mill.ended(connectionId, transferId)
  assert.deepEqual([first.status, first.attempt, first.records.accepted], ['cancelled', 2, 400])
  const [, , third, fourth, , sixth] = endpoint.messages
  assert.deepEqual(fourth, third, 'the same transfer repeats a batch after a crash')
  assert.deepEqual(sixth?.ids, numbers(401, 500))

  endpoint.answer = () => {}
  const before = endpoint.messages.length
  const next = await run()
  assert.deepEqual([next.status, next.records.read], ['succeeded', rows - 400])
  assert.deepEqual(endpoint.messages[before], sixth)
  assertEachUnderOneKey(endpoint.messages)
})

test('a row that has changed in the batch in doubt comes under another key', async (t) => {
  const { mill, endpoint, run } = await prepare(t)
  mill.spawnWorker()
  endpoint.answer = (_, count) => (count === 4 ? 418 : undefined)
  await run()
  const doubtful = endpoint.messages.at(-1)
  await mill.target.query(`update people set name = 'Another' where id = 350`)
  endpoint.answer = () => {}
  const before = endpoint.messages.length
  assert.equal((await run()).status, 'succeeded')
  const [changed, ...others] = endpoint.messages.slice(before)
  assert.deepEqual([changed?.ids, changed?.names[49]], [doubtful?.ids, 'Another'])
  assert.notEqual(changed?.key, doubtful?.key)
  assert.deepEqual(
    others.flatMap(({ ids }) => ids),
    numbers(401, rows),
  )
})
