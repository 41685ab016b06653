import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Transfer } from '@penstock/wire'
import { assertAccounted } from './harness/accounting.ts'
import { runnersOf } from './harness/children.ts'
import { addWebhook, type Endpoint, type Message, startEndpoint, webhook } from './harness/endpoint.ts'
import type { Program } from './harness/process.ts'
import { postgresql } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { isActive, type ProcessFixture, startProcessFixture } from './harness/worker-processes.ts'

/**
 * A message whose answer is lost while the source changes. A receiver that ignores repeated messages gets unchanged rows once.
 */

type Scene = ProcessFixture & { readonly endpoint: Endpoint; readonly connectionId: string }
type Sent = { id: string; name: string }

const incremental = { syncMode: 'Incremental', markerColumn: 'id', lagSeconds: 0 }
const broken = 'broken'

/** A table of 100 rows, and an endpoint that refuses each message with the name `broken`. */
async function prepareScene(t: TestContext, source: object, isBroken: boolean): Promise<Scene> {
  const endpoint = await startEndpoint(t)
  const fixture = await startProcessFixture(t)
  await fixture.target.query('create table recorded (id int primary key, name text)')
  await fixture.target.query(
    `insert into recorded select n * 10, case when $1 and n = 1 then '${broken}' else 'name ' || n end from generate_series(1, 100) as numbers (n)`,
    [isBroken],
  )
  await addWebhook(fixture, endpoint)
  const connectionId = await fixture.connect(postgresql, { table: 'recorded', ...source }, webhook, {
    rowsPerRequest: 100,
  })
  return { ...fixture, endpoint, connectionId }
}

const isRefused = ({ rows }: Message) => rows.some(({ name }) => name === broken)

/** Runs a transfer until the endpoint accepts the first message, but the worker does not get the answer. Kills the worker. */
async function loseFirstAnswer({ endpoint, connectionId, ...fixture }: Scene): Promise<string> {
  const { id } = await fixture.start(connectionId)
  const taken = Promise.withResolvers<void>()
  endpoint.answer = (message) => {
    if (isRefused(message)) return 422
    taken.resolve()
    return new Promise(() => {})
  }
  const worker: Program = fixture.spawnWorker()
  await taken.promise
  for (const pid of [worker.pid, ...runnersOf(worker.pid)]) process.kill(pid, 'SIGKILL')
  await worker.ended
  endpoint.answer = (message) => (isRefused(message) ? 422 : undefined)
  return id
}

/** Changes a row, removes one, and adds one that sorts before others. */
async function edit({ target }: Scene): Promise<void> {
  await target.query(`update recorded set name = 'changed' where id = 500`)
  await target.query('delete from recorded where id = 600')
  await target.query(`insert into recorded values (705, 'new')`)
}

/** The rows of the messages, without refused or repeated rows. */
function taken({ messages }: Endpoint): Sent[] {
  const seen = new Map<string, Message>()
  for (const message of messages.filter((each) => !isRefused(each))) {
    if (!seen.has(message.key)) seen.set(message.key, message)
  }
  return [...seen.values()].flatMap(({ rows }) => rows.map(({ id, name }) => ({ id: String(id), name: String(name) })))
}

async function assertOnce(scene: Scene, transfer: Transfer): Promise<void> {
  await assertAccounted(scene, transfer)
  const rows = taken(scene.endpoint)
  const texts = rows.map(({ id, name }) => `${id} ${name}`)
  assert.equal(
    new Set(texts).size,
    texts.length,
    `a row came twice: ${scene.endpoint.messages.map(({ key, rows: { length } }) => `${key} ${length}`)}`,
  )
  const { rows: source } = await scene.target.query<{ text: string }>(
    `select id || ' ' || name as text from recorded where name <> '${broken}'`,
  )
  assert.deepEqual(
    source.map(({ text }) => text).filter((text) => !texts.includes(text)),
    [],
  )
}

describe('a message that the receiver processed without an answer, and of which a row changed meanwhile', () => {
  for (const [what, source, isBroken] of [
    ['of all rows', {}, false],
    ['of all rows, after a larger one was refused', {}, true],
    ['of new rows', incremental, false],
  ] as const) {
    test(`${what}, is repeated under its key with the rows that are as they were`, async (t) => {
      const scene = await prepareScene(t, source, isBroken)
      const id = await loseFirstAnswer(scene)
      const lost = scene.endpoint.messages.at(-1)
      assert(lost)
      await edit(scene)
      scene.spawnWorker()
      const transfer = await scene.ended(scene.connectionId, id)
      assert.equal(transfer.status, isBroken ? 'partial' : 'succeeded', transfer.error?.message)
      await assertOnce(scene, transfer)
      const repeated = scene.endpoint.messages.filter(({ key }) => key === lost.key)
      const changed = lost.rows.filter((row) => ['500', '600'].includes(String(row.id))).length
      assert.deepEqual(
        repeated.map(({ rows: { length } }) => length),
        [lost.rows.length, lost.rows.length - changed],
      )
    })
  }

  test('is repeated by the next transfer of an incremental connection', async (t) => {
    const scene = await prepareScene(t, incremental, false)
    const { connectionId: id, accountId, caller } = scene
    const transferId = await loseFirstAnswer(scene)
    await edit(scene)
    await caller.expect(caller.call('cancelTransfer', { accountId, id, transferId }))
    scene.spawnWorker()
    await until('it is cancelled', async () => !isActive(await scene.standing(transferId)))
    const transfer = await scene.ended(id, (await scene.start(id)).id)
    assert.equal(transfer.status, 'succeeded', transfer.error?.message)
    await assertOnce(scene, transfer)
  })
})
