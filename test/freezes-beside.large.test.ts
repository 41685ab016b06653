import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { openHeadSeal } from '../packages/server/src/audit/seal-heads.ts'
import { verifyAudit } from '../packages/server/src/audit/verify.ts'
import { addAccountWithConnection, makeInbox } from './harness/connections.ts'
import { holdLock } from './harness/database.ts'
import { http, prepareStage } from './harness/process.ts'
import { startReceiver } from './harness/receiver.ts'
import { until } from './harness/until.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/**
 * Processes asleep (SIGSTOP) that send events, link the audit log or answer requests: for a shorter time than others wait for them,
 * and until others have taken over. Both are relative to the heartbeat timeout, which is a few seconds here.
 */

const soonMs = 45_000
const masterKey = Buffer.alloc(32, 7).toString('base64')

async function prepareSender(t: TestContext) {
  const inbox = await makeInbox()
  t.after(inbox.remove)
  const fixture = await startProcessFixture(t, { PENSTOCK_LOCAL_FOLDERS: inbox.folder })
  const { caller } = fixture
  const receiver = await startReceiver(t)
  const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>()
  // The first request waits for the test.
  receiver.answer = async () => {
    if (receiver.requests.length === 1) await isAnswered
    return 200
  }
  const body = { url: receiver.url, eventTypes: ['connection.status_changed' as const] }
  const { id } = await caller.expect(caller.call('createWebhook', { body }))
  const connection = await addAccountWithConnection(caller, inbox.folder)
  const change = async () => {
    for (const action of ['disable', 'enable'] as const) {
      await caller.expect(caller.call('updateConnectionStatus', { ...connection, body: { action } }))
    }
  }
  await change()
  const sleeper = fixture.spawnWorker()
  await until('a request is sent', () => receiver.requests.length === 1)
  sleeper.signal('SIGSTOP')
  const delivered = (count: number) =>
    until(
      'all is delivered, and noted once',
      async () => {
        const noted = await caller.expect(caller.call('listWebhookDeliveries', { id, query: { size: 500 } }))
        return noted.length === count && noted.every(({ status }) => status === 'delivered') ? noted : undefined
      },
      soonMs,
    )
  return { fixture, receiver, answer, sleeper, change, delivered }
}

/** The states that a receiver got, each event once, in the order of its first arrival. */
const statesOf = ({ requests }: Awaited<ReturnType<typeof startReceiver>>) =>
  [...new Map(requests.toReversed().map((request) => [request.id, request])).values()]
    .toReversed()
    .map(({ event }) => event.data.to)

const states = (changes: number) => Array.from({ length: changes }, (_, i) => (i % 2 === 0 ? 'active' : 'disabled'))

describe('a process that sends events and sleeps with a request open', { concurrency: 2 }, () => {
  test('for less than its lease sends each event once', async (t) => {
    const { receiver, answer, sleeper, delivered } = await prepareSender(t)
    answer()
    sleeper.signal('SIGCONT')
    await delivered(3)
    assert.deepEqual(statesOf(receiver), states(3))
    assert.equal(receiver.requests.length, 3)
  })

  test('until its lease has ended leaves them to another, and notes nothing of them when it wakes', async (t) => {
    const { fixture, receiver, answer, sleeper, change, delivered } = await prepareSender(t)
    fixture.spawnWorker()
    await delivered(3)
    answer()
    sleeper.signal('SIGCONT')
    await change()
    const noted = await delivered(5)
    assert.deepEqual(statesOf(receiver), states(5))
    // The request in flight was sent again, with the same identifier. No other request was.
    assert.equal(receiver.requests.length, 6)
    assert.deepEqual(
      noted.map(({ attempts }) => attempts),
      noted.map(() => 1),
    )
  })
})

describe('an API process that sleeps', { concurrency: 2 }, () => {
  async function prepare(t: TestContext) {
    const fixture = await startProcessFixture(t, { PENSTOCK_MASTER_KEY: masterKey })
    const stage = await prepareStage(t)
    const { accountId, service, token } = fixture
    const env = {
      DATABASE_URL: service.databaseUrl,
      PENSTOCK_MASTER_KEY: masterKey,
      PENSTOCK_WORKER: '0',
      // A busy machine can take seconds between two statements of a transaction.
      PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: '6',
    }
    const served = await stage.serve({ env })
    const rename = (name: string) =>
      http(served.url, `/accounts/${accountId}`, { method: 'PUT', token, body: { name } })
    const waits = (statement: string) =>
      until(`it waits in "${statement}"`, async () => {
        const { rows } = await service.database.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ $1`,
          [statement],
        )
        return rows.length > 0
      })
    /** The names by which the audit log, which is intact, says that the account was renamed. */
    const audited = async () => {
      const { caller } = fixture
      const events = await caller.expect(caller.call('listAudit', { query: { action: 'editAccount', size: 500 } }))
      const seal = await openHeadSeal(service.database, service.service.deps.keyring)
      for (const { tampering } of await verifyAudit(service.database, seal, null)) assert.equal(tampering, undefined)
      return events.map(({ after }) => after?.name)
    }
    return { fixture, served, rename, waits, audited }
  }

  test('for less than its transactions may wait answers when it wakes', async (t) => {
    const { fixture, served, rename, waits, audited } = await prepare(t)
    let answer: ReturnType<typeof rename> | undefined
    {
      await using _ = await holdLock(
        fixture.service.databaseUrl,
        `select from accounts where id = '${fixture.accountId}' for update`,
      )
      answer = rename('Frozen 1')
      await waits('accounts')
      served.signal('SIGSTOP')
    }
    served.signal('SIGCONT')
    assert.equal((await answer).status, 200)
    assert.deepEqual(await audited(), ['Frozen 1'])
  })

  test('while it links the audit log leaves that to another, and links each event once', async (t) => {
    const { fixture, served, rename, waits, audited } = await prepare(t)
    await fixture.service.service.settleAudit()
    {
      await using _ = await holdLock(fixture.service.databaseUrl, 'select from audit_heads for update')
      assert.equal((await rename('Frozen 1')).status, 200)
      await waits('link_audit_events')
      served.signal('SIGSTOP')
    }
    assert.deepEqual(await audited(), ['Frozen 1'])
    served.signal('SIGCONT')
    await until('it knows', () => served.said.stderr.includes('linking audit events failed; retrying'), soonMs)
    assert.equal((await rename('Frozen 2')).status, 200)
    assert.deepEqual(await audited(), ['Frozen 2', 'Frozen 1'])
  })
})
