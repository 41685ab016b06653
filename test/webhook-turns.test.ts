import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Database } from '../packages/server/src/db/database.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { createOutgoing } from '../packages/server/src/outgoing/outgoing.ts'
import type { SenderBounds } from '../packages/server/src/webhooks/sending/context.ts'
import { leaseWebhooks } from '../packages/server/src/webhooks/sending/queries.ts'
import { Sender } from '../packages/server/src/webhooks/sending/sender.ts'
import { type Caller, callerOf } from './harness/fixtures.ts'
import { type Receiver, startReceiver } from './harness/receiver.ts'
import type { TestService } from './harness/service.ts'
import { startTests } from './harness/started.ts'
import { until } from './harness/until.ts'

/**
 * How webhooks share the slots of a process: no webhook waits for slow receivers, or for receivers with many
 * deliveries.
 */

const service = await startTests()

const addOrganization = async () => callerOf(service, await service.addOrganization())
const addWebhook = async (caller: Caller, { url }: Receiver, accountId?: string) =>
  (await caller.expect(caller.call('createWebhook', { body: { url, ...(accountId ? { accountId } : {}) } }))).id
/** Queues test events for a webhook. */
async function queue(caller: Caller, id: string, times = 1): Promise<void> {
  for (let n = 0; n < times; n++) await caller.expect(caller.call('testWebhook', { id }))
}

/** The database, slowed down when it leases webhooks, so that slots become free meanwhile. */
function slowToLease({ database }: TestService): Database {
  const query = (run: Parameters<Database['query']>[0]) =>
    run.text === leaseWebhooks.text ? setTimeout(() => database.query(run), 100) : database.query(run)
  return new Proxy(database, { get: (target, key) => (key === 'query' ? query : Reflect.get(target, key, target)) })
}

/** Sends, as a worker does, until the test ends. */
function startSending(t: TestContext, bounds: Partial<SenderBounds> = {}, database = service.database): void {
  const outgoing = createOutgoing(service.config)
  const { keyring } = service.service.deps
  const deps = { database, keyring, outgoing, mailer: { send: () => {} }, bounds }
  const stop = new AbortController()
  const running = new Sender(deps, createLogger('silent', { write: () => {} })).run(stop.signal)
  t.after(async () => {
    stop.abort()
    await running
    await outgoing.close()
  })
}

/** Far less than in a worker, so that the tests are short. */
const slowMs = 300
/** With one request per turn if others could be waiting. */
const bounds = { slowMs, turnMs: 0, requests: 1, timeoutMs: 100_000 }

/** A receiver that answers with success when the test tells it to. */
async function startSlowReceiver(t: TestContext) {
  const receiver = await startReceiver(t)
  const waiting = new Set<{ readonly fromMs: number; readonly webhookId: unknown; answer(): void }>()
  receiver.answer = ({ event }) =>
    new Promise((resolve) => {
      const { webhookId } = event.data
      const one = { fromMs: performance.now(), webhookId, answer: () => resolve(200) }
      waiting.add(one)
    })
  // One answer after another, so that slots become free while others are being taken.
  const release = () => {
    for (const [n, one] of [...waiting].entries()) setTimeout(one.answer, n * 20)
    waiting.clear()
  }
  t.after(release)
  return {
    receiver,
    /** How many webhooks wait for an answer. */
    open: () => new Set([...waiting].map(({ webhookId }) => webhookId)).size,
    release,
    /** Answers once every request has waited for so long that its webhook is slow. */
    releaseLate: async () => {
      const isLate = ({ fromMs }: { fromMs: number }) => performance.now() - fromMs > slowMs + 50
      await until('every request has waited', () => [...waiting].every(isLate))
      release()
    },
  }
}

describe('receivers that answer with success after a long time', { timeout: 120_000 }, () => {
  test('keep no receiver of another organization waiting, neither new ones nor known ones', async (t) => {
    const slow = await startSlowReceiver(t)
    const quick = await startReceiver(t)
    const webhooks: { caller: Caller; id: string }[] = []
    for (let n = 0; n < 6; n++) {
      const caller = await addOrganization()
      for (let m = 0; m < 20; m++) webhooks.push({ caller, id: await addWebhook(caller, slow.receiver) })
    }
    const queueForAll = async () => {
      for (const { caller, id } of webhooks) await queue(caller, id)
    }
    const seventh = await addOrganization()
    const id = await addWebhook(seventh, quick)
    let events = 0
    const sendToSeventh = async () => {
      const answered = () => slow.receiver.requests.filter(({ status }) => status !== undefined).length
      const before = answered()
      for (let n = 0; n < 3; n++) {
        await queue(seventh, id)
        events++
        await until('the seventh has its event', () => quick.requests.length === events)
      }
      assert.equal(answered(), before, 'it waited for no slow one')
    }
    await queueForAll()
    startSending(t, bounds, slowToLease(service))
    await until('slow requests are open', () => slow.open() > 0)
    await sendToSeventh()
    // Webhooks that turn out to be slow give up their slots, and other new ones take these, up to a bound.
    await until('each organization holds as many as it may', () => slow.open() === 6 * 18)
    await sendToSeventh()
    await slow.releaseLate()
    await until('the others have their turn', () => slow.open() === 12)
    await slow.releaseLate()
    const known = 'select from webhooks where slow and lease_id is null'
    await until('they are known', async () => (await service.database.pool.query(known)).rowCount === 120)
    await queueForAll()
    await until('they have their slots', () => slow.open() === 20)
    await sendToSeventh()
    assert.equal(slow.open(), 20)
    // In each organization, one that has had its turn waits until all others have had theirs.
    await queueForAll()
    const turnsOf = (webhook: string) => slow.receiver.requests.filter(({ event }) => event.data.webhookId === webhook)
    for (let round = 0; round < 5; round++) {
      await slow.releaseLate()
      await until('others have the slots', () => slow.open() === 20)
      for (const [, same] of Map.groupBy(webhooks, ({ caller }) => caller)) {
        const turns = same.map((one) => turnsOf(one.id).length)
        assert(Math.max(...turns) - Math.min(...turns) <= 1, `${turns}`)
      }
    }
  })

  test('keep no other sub-account of their organization waiting', async (t) => {
    const slow = await startSlowReceiver(t)
    const quick = await startReceiver(t)
    const caller = await addOrganization()
    const [one, other] = [(await caller.addAccount()).id, (await caller.addAccount()).id]
    const ids: string[] = []
    for (let n = 0; n < 20; n++) ids.push(await addWebhook(caller, slow.receiver, one))
    const id = await addWebhook(caller, quick, other)
    const queueForAll = async () => {
      for (const slowId of ids) await queue(caller, slowId)
    }
    await queueForAll()
    startSending(t, bounds)
    // Its slots are taken again by others that are new, up to a bound.
    await until('the sub-account holds as many as it may', () => slow.open() === 18)
    await queue(caller, id)
    await until('the other sub-account has its event', () => quick.requests.length > 0)
    await slow.releaseLate()
    await until('the others have their turn', () => slow.open() === 2)
    await slow.releaseLate()
    const known = 'select from webhooks where slow and lease_id is null and account_id = $1'
    await until('they are known', async () => (await service.database.pool.query(known, [one])).rowCount === 20)
    await queueForAll()
    await until('they have their slots', () => slow.open() === 6)
    await queue(caller, id)
    await until('the other sub-account has its next event', () => quick.requests.length > 1)
    assert.equal(slow.open(), 6)
  })
})

test('a webhook with much to send gives its slot to others, and comes behind them', { timeout: 60_000 }, async (t) => {
  const receiver = await startReceiver(t)
  const callers = [await addOrganization(), await addOrganization(), await addOrganization()]
  const ids: string[] = []
  for (const caller of callers) {
    const id = await addWebhook(caller, receiver)
    await queue(caller, id, 8)
    ids.push(id)
  }
  startSending(t, { webhooks: 1, turnMs: 0, requests: 1, pollMs: 60 })
  await until('all is sent', () => receiver.requests.length === 24)
  const order = receiver.requests.map(({ event }) => ids.indexOf(String(event.data.webhookId)))
  const turns = order.filter((one, index) => one !== order[index - 1])
  // Each in its turn, until one has nothing left.
  const before = turns.slice(0, turns.length - 3)
  assert(before.length > 3, `${turns}`)
  assert(
    before.every((one, index) => index < 3 || one === before[index - 3]),
    `${turns}`,
  )
})
