import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '@penstock/wire'
import { Webhook } from 'standardwebhooks'
import { createLogger } from '../packages/server/src/log.ts'
import type { Mail } from '../packages/server/src/mail.ts'
import { createOutgoing } from '../packages/server/src/outgoing/outgoing.ts'
import type { SenderBounds } from '../packages/server/src/webhooks/sending/context.ts'
import { Sender } from '../packages/server/src/webhooks/sending/sender.ts'
import { addAccountWithConnection, type Connection } from './harness/connections.ts'
import { type Caller, callerOf } from './harness/fixtures.ts'
import { type ReceivedRequest, type Receiver, startReceiver } from './harness/receiver.ts'
import type { Organization } from './harness/service.ts'
import { startTestsWithInbox } from './harness/started.ts'
import { until } from './harness/until.ts'
import { addPerson } from './harness/users.ts'

/** How events reach their receivers, with a clock that the tests set. */

const { service, inbox } = await startTestsWithInbox()

const hourMs = 3_600_000
const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
const silent = createLogger('silent', { write: () => {} })

/** A sender with a separate clock, like a worker process. */
function startSender(t: { after(work: () => Promise<void>): void }, bounds: Partial<SenderBounds> = {}) {
  const outgoing = createOutgoing(service.config)
  t.after(outgoing.close)
  const clock = { aheadMs: 0 }
  const mails: Mail[] = []
  const deps = {
    database: service.database,
    keyring: service.service.deps.keyring,
    outgoing,
    bounds,
    mailer: { send: (mail: Mail) => void mails.push(mail) },
    now: () => new Date(Date.now() + clock.aheadMs),
  }
  return { sender: new Sender(deps, silent), clock, mails }
}

type Party = { organization: Organization; caller: Caller }
async function addOrganization(): Promise<Party> {
  const organization = await service.addOrganization()
  return { organization, caller: callerOf(service, organization) }
}
const addWebhook = ({ caller }: Party, { url }: Receiver, body: object = {}) =>
  caller.expect(caller.call('createWebhook', { body: { url, ...body } }))
const statusTypes = { eventTypes: ['connection.status_changed'] }
const act = ({ caller }: Party, connection: Connection, action: 'disable' | 'enable') =>
  caller.expect(caller.call('updateConnectionStatus', { ...connection, body: { action } }))
/** Disables and enables a connection this number of times. */
async function toggle(party: Party, connection: Connection, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await act(party, connection, 'disable')
    await act(party, connection, 'enable')
  }
}
const deliveriesOf = ({ caller }: Party, id: string) =>
  caller.expect(caller.call('listWebhookDeliveries', { id, query: { size: 500 } }))

/** Fails unless a request is signed with these secrets, by the library that receivers use. */
function assertSigned({ headers, id, body }: ReceivedRequest, ...secrets: string[]): void {
  const time = new Date(Number(headers['webhook-timestamp']) * 1000)
  const expected = secrets.map((secret) => new Webhook(secret).sign(id, time, body))
  assert.deepEqual(String(headers['webhook-signature']).split(' '), expected)
}

/** Fails if an event of a connection was sent before the previous one was accepted. */
function assertInOrder(requests: readonly ReceivedRequest[]): void {
  for (const [, ofConnection] of Map.groupBy(requests, ({ event }) => event.connectionId)) {
    let waitsFor: string | undefined
    const taken = new Set<string>()
    for (const { id, status } of ofConnection) {
      assert(waitsFor === undefined || waitsFor === id, 'another event was sent before this one was taken')
      assert(!taken.has(id))
      const isTaken = status !== undefined && status < 300
      waitsFor = isTaken ? undefined : id
      if (isTaken) taken.add(id)
    }
  }
}

describe('a receiver', { timeout: 120_000 }, () => {
  test('that fails for two days gets every event, in order for each connection, signed', async (t) => {
    const party = await addOrganization()
    const receiver = await startReceiver(t)
    const { sender, clock } = startSender(t)
    const connections = await Promise.all(
      Array.from({ length: 5 }, () => addAccountWithConnection(party.caller, inbox.folder)),
    )
    const { id, secret } = await addWebhook(party, receiver, statusTypes)
    receiver.answer = () => (clock.aheadMs < 48 * hourMs ? 500 : 200)
    for (const connection of connections) await toggle(party, connection, 3)
    const changes = connections.length * 6
    for (; clock.aheadMs < 60 * hourMs; clock.aheadMs += hourMs / 2) await sender.sendDue()
    const failed = receiver.requests.filter(({ status }) => status === 500)
    const taken = receiver.requests.filter(({ status }) => status === 200)
    assert(failed.length >= connections.length * 5, `${failed.length} attempts failed`)
    assert.equal(taken.length, changes)
    assert.equal(new Set(taken.map(({ id }) => id)).size, changes)
    assertInOrder(receiver.requests)
    for (const { id: connectionId } of connections) {
      const of = taken.filter(({ event }) => event.connectionId === connectionId)
      const reported = of.map(({ event }) => event.data.to)
      assert.deepEqual(reported, ['disabled', 'active', 'disabled', 'active', 'disabled', 'active'])
    }
    for (const request of receiver.requests) assertSigned(request, secret)
    const deliveries = await deliveriesOf(party, id)
    assert.equal(deliveries.length, changes)
    assert(deliveries.every(({ status, responseStatus }) => status === 'delivered' && responseStatus === 200))
    const webhook = await party.caller.expect(party.caller.call('getWebhook', { id }))
    assert.equal(webhook.failingSince, null)
  })

  test('gets the same bytes under the same identifier with each replay', async (t) => {
    const party = await addOrganization()
    const receiver = await startReceiver(t)
    const { sender, clock } = startSender(t)
    const connection = await addAccountWithConnection(party.caller, inbox.folder)
    const { id, secret } = await addWebhook(party, receiver, statusTypes)
    await toggle(party, connection, 2)
    await sender.sendDue()
    assert.equal(receiver.requests.length, 4)
    const first = receiver.requests.map(({ id, body }) => ({ id, body }))
    const [newest] = await deliveriesOf(party, id)
    assert(newest)
    clock.aheadMs = 10_000
    await party.caller.expect(party.caller.call('replayWebhookDelivery', { id: newest.id }))
    await sender.sendDue()
    const again = receiver.requests.slice(4)
    assert.deepEqual(
      again.map(({ id, body }) => ({ id, body })),
      first.slice(-1),
    )
    assert.equal(again[0]?.id, newest.eventId)
    const all = await party.caller.expect(party.caller.call('replayWebhook', { id, body: { since: 1 } }))
    assert.deepEqual(all, { replayed: 4, complete: true })
    await sender.sendDue()
    assert.deepEqual(
      receiver.requests.slice(5).map(({ id, body }) => ({ id, body })),
      first,
    )
    for (const request of receiver.requests) assertSigned(request, secret)
    const since = Math.floor(Date.now() / 1000) + 60
    const none = await party.caller.expect(party.caller.call('replayWebhook', { id, body: { since } }))
    assert.deepEqual(none, { replayed: 0, complete: true })
    const details = await party.caller.expect(party.caller.call('getWebhookDelivery', { id: newest.id }))
    assert.equal(details.payload, first.at(-1)?.body)
    assert.deepEqual(
      details.log.map(({ number, responseStatus, body }) => [number, responseStatus, body]),
      [3, 2, 1].map((number) => [number, 200, 'answer of the receiver']),
    )
  })

  test('that is replaced while a request is on its way to it: nothing that waited goes to the next one', async (t) => {
    const party = await addOrganization()
    const [receiver, next] = [await startReceiver(t), await startReceiver(t)]
    const { sender, clock } = startSender(t)
    const connection = await addAccountWithConnection(party.caller, inbox.folder)
    const { id } = await addWebhook(party, receiver, statusTypes)
    await toggle(party, connection, 2)
    receiver.answer = async () => {
      await party.caller.expect(party.caller.call('updateWebhook', { id, body: { url: next.url } }))
      return 500
    }
    await sender.sendDue()
    await sql('update webhooks set lease_until = now() where id = $1', id)
    for (clock.aheadMs = 0; clock.aheadMs < 24 * hourMs; clock.aheadMs += hourMs) await sender.sendDue()
    assert.equal(receiver.requests.length, 1)
    assert.deepEqual(next.requests, [])
    const deliveries = await deliveriesOf(party, id)
    assert.deepEqual(
      deliveries.map(({ status, errorCode }) => [status, errorCode]),
      Array(4).fill(['failed', 'address_changed']),
    )
    await act(party, connection, 'disable')
    await sender.sendDue()
    assert.equal(next.requests.length, 1)
  })

  test('is sent both signatures while its secret is rotated', async (t) => {
    const party = await addOrganization()
    const receiver = await startReceiver(t)
    const { sender } = startSender(t)
    const { id, secret } = await addWebhook(party, receiver)
    const rotate = (overlapHours: number) =>
      party.caller.expect(party.caller.call('rotateWebhookSecret', { id, body: { overlapHours } }))
    const send = async () => {
      await party.caller.expect(party.caller.call('testWebhook', { id }))
      await sender.sendDue()
      const request = receiver.requests.at(-1)
      assert(request)
      assert.equal(request.event.type, 'webhook.test')
      return request
    }
    const second = (await rotate(1)).secret
    const both = await send()
    assertSigned(both, second, secret)
    // As a receiver verifies it, with either secret.
    for (const one of [secret, second]) new Webhook(one).verify(both.body, both.headers as Record<string, string>)
    const third = (await rotate(0)).secret
    assertSigned(await send(), third)
    await rotate(1)
    await sql(`update webhooks set previous_secret_until = now() where id = $1`, id)
    const { headers, body } = await send()
    assert.throws(() => new Webhook(third).verify(body, headers as Record<string, string>))
  })

  test('that answers with 410 is disabled, and what waited is sent once it is enabled again', async (t) => {
    const party = await addOrganization()
    const receiver = await startReceiver(t)
    const other = await startReceiver(t)
    const { sender, mails } = startSender(t)
    const owner = await addPerson(service, party.organization, { role: 'owner' })
    const connection = await addAccountWithConnection(party.caller, inbox.folder)
    const { id } = await addWebhook(party, receiver, statusTypes)
    await addWebhook(party, other, { eventTypes: ['webhook.disabled'] })
    receiver.answer = () => 410
    await toggle(party, connection, 1)
    await sender.sendDue()
    await sender.sendDue()
    assert.equal(receiver.requests.length, 1)
    const get = () => party.caller.expect(party.caller.call('getWebhook', { id }))
    const disabled = await get()
    assert.deepEqual([disabled.enabled, disabled.disabledReason], [false, 'gone'])
    const [reported] = other.requests
    assert.deepEqual(reported?.event.data, { webhookId: id, url: receiver.url, reason: 'gone' })
    assert.deepEqual(
      mails.map(({ to, subject }) => [to, subject]),
      [[owner.email, 'A webhook was disabled']],
    )
    const events = await party.caller.expect(party.caller.call('listAudit', { query: { action: 'webhookDisabled' } }))
    assert.deepEqual(
      events.map(({ targetId, actor }) => [targetId, actor.kind]),
      [[id, 'service']],
    )
    // Nothing is written for it while it is disabled.
    await act(party, connection, 'disable')
    assert.equal((await deliveriesOf(party, id)).length, 2)
    receiver.answer = () => 200
    await party.caller.expect(party.caller.call('updateWebhook', { id, body: { enabled: true } }))
    await sender.sendDue()
    assert.deepEqual(
      receiver.requests.map(({ event, status }) => [event.data.to, status]),
      [
        ['disabled', 410],
        ['active', 200],
      ],
    )
    assert.equal((await get()).disabledReason, null)
  })

  test('that answers with 410 again and again has one mail a day sent, which has no link', async (t) => {
    const party = await addOrganization()
    const receiver = await startReceiver(t)
    const { sender, mails } = startSender(t)
    await addPerson(service, party.organization, { role: 'owner' })
    const { id } = await addWebhook(party, receiver)
    receiver.answer = () => 410
    const disableAgain = async () => {
      await party.caller.expect(party.caller.call('updateWebhook', { id, body: { enabled: true } }))
      await party.caller.expect(party.caller.call('testWebhook', { id }))
      await sender.sendDue()
      assert.equal((await party.caller.expect(party.caller.call('getWebhook', { id }))).enabled, false)
    }
    for (let n = 0; n < 5; n++) await disableAgain()
    assert.equal(mails.length, 1)
    const { host } = new URL(receiver.url)
    const text = mails[0]?.text ?? ''
    assert(!text.includes(host) && !text.includes('http') && !text.includes('/events'), text)
    assert(text.replaceAll('\u200b', '').includes(`the webhook ${id} at ${host}`), text)
    await sql(`update webhooks set disabled_mail_time = disabled_mail_time - interval '1 day' where id = $1`, id)
    await disableAgain()
    assert.equal(mails.length, 2)
    // Another webhook counts towards the limit of its organization too.
    await sql(`update mail_counts set mails = 150`)
    await addWebhook(party, receiver, statusTypes).then(({ id: other }) =>
      party.caller.expect(party.caller.call('testWebhook', { id: other })),
    )
    await sender.sendDue()
    assert.equal(mails.length, 2)
  })

  test('is counted in the metrics: what was delivered, retried and given up, and what waits for how long', async (t) => {
    const samples = async () => {
      const { text } = await service.send({ method: 'GET', path: '/metrics' })
      const found = text.matchAll(/^penstock_webhook_deliveries_(\S+) (\S+)$/gm)
      return new Map([...found].map(([, name = '', value]) => [name, Number(value)]))
    }
    const party = await addOrganization()
    const receiver = await startReceiver(t)
    const { sender, clock } = startSender(t)
    const connection = await addAccountWithConnection(party.caller, inbox.folder)
    await addWebhook(party, receiver, statusTypes)
    const before = await samples()
    const added = async (...names: string[]) => {
      const now = await samples()
      return names.map((name) => (now.get(name) ?? Number.NaN) - (before.get(name) ?? Number.NaN))
    }
    const counts = () =>
      added(...['delivered', 'retried', 'failed'].map((outcome) => `total{outcome="${outcome}"}`), 'waiting')
    receiver.answer = ({ event }) => (event.data.to === 'disabled' ? 200 : 500)
    await act(party, connection, 'disable')
    assert.deepEqual(await counts(), [0, 0, 0, 1])
    await sender.sendDue()
    assert.deepEqual(await counts(), [1, 0, 0, 0])
    await act(party, connection, 'enable')
    clock.aheadMs = 10_000
    await sender.sendDue()
    assert.deepEqual(await counts(), [1, 1, 0, 1])
    await sql(`update webhook_deliveries set created_time = now() - interval '1 hour' where status = 'pending'`)
    const oldest = (await samples()).get('oldest_seconds') ?? 0
    assert(oldest >= 3600 && oldest < 3700, `${oldest}`)
    clock.aheadMs = (limits.webhookRetryHours + 9) * hourMs
    await sender.sendDue()
    assert.deepEqual(await counts(), [1, 1, 1, 0])
  })

  test('that fails for a week is disabled; each event is given up after three days', async (t) => {
    const party = await addOrganization()
    const receiver = await startReceiver(t)
    const { sender, clock } = startSender(t)
    const connection = await addAccountWithConnection(party.caller, inbox.folder)
    const { id } = await addWebhook(party, receiver, statusTypes)
    receiver.answer = () => 503
    await toggle(party, connection, 1)
    await sender.sendDue()
    const get = () => party.caller.expect(party.caller.call('getWebhook', { id }))
    assert.notEqual((await get()).failingSince, null)
    clock.aheadMs = (limits.webhookRetryHours - 1) * hourMs
    await sender.sendDue()
    assert.deepEqual(
      (await deliveriesOf(party, id)).map(({ status }) => status),
      ['pending', 'pending'],
    )
    clock.aheadMs = (limits.webhookRetryHours + 9) * hourMs
    await sender.sendDue()
    clock.aheadMs += hourMs
    await sender.sendDue()
    const given = await deliveriesOf(party, id)
    assert.deepEqual([...new Set(given.map(({ status }) => status))], ['failed'])
    assert((await get()).enabled)
    clock.aheadMs = (limits.webhookFailureDays * 24 + 1) * hourMs
    await act(party, connection, 'disable')
    await sender.sendDue()
    const { enabled, disabledReason } = await get()
    assert.deepEqual([enabled, disabledReason], [false, 'failing'])
  })

  test('is left alone for as long as its Retry-After asks, at most eight hours', async (t) => {
    const party = await addOrganization()
    const receiver = await startReceiver(t)
    const { sender, clock } = startSender(t)
    const { id } = await addWebhook(party, receiver)
    const countAt = async (aheadMs: number) => {
      clock.aheadMs = aheadMs
      await sender.sendDue()
      return receiver.requests.length
    }
    receiver.answer = () => ({ status: 429, headers: { 'retry-after': '3600' } })
    await party.caller.expect(party.caller.call('testWebhook', { id }))
    assert.equal(await countAt(0), 1)
    assert.equal(await countAt(3_500_000), 1)
    receiver.answer = () => ({ status: 503, headers: { 'retry-after': '99999999' } })
    assert.equal(await countAt(3_700_000), 2)
    assert.equal(await countAt(3_700_000 + 7 * hourMs), 2)
    assert.equal(await countAt(3_700_000 + 8.1 * hourMs), 3)
  })

  test('that is slow keeps no other waiting', async (t) => {
    const slow = await addOrganization()
    const quick = await addOrganization()
    const [dead, alive] = [await startReceiver(t), await startReceiver(t)]
    const { sender } = startSender(t, { timeoutMs: 60_000 })
    dead.answer = () => 'nothing'
    for (let n = 0; n < 3; n++) {
      const { id } = await addWebhook(slow, dead)
      for (let m = 0; m < 20; m++) await slow.caller.expect(slow.caller.call('testWebhook', { id }))
    }
    const { id } = await addWebhook(quick, alive)
    const stop = new AbortController()
    const running = sender.run(stop.signal)
    await until('the slow one has requests open', async () => dead.requests.length >= 20)
    for (let n = 0; n < 50; n++) await quick.caller.expect(quick.caller.call('testWebhook', { id }))
    await until('the quick one has all', async () => alive.requests.length === 50)
    assert.equal(dead.requests.filter(({ status }) => status !== undefined).length, 0)
    stop.abort()
    await running
  })

  test('that has a connection whose events it refuses gets those of the others', async (t) => {
    const party = await addOrganization()
    const receiver = await startReceiver(t)
    const { sender } = startSender(t)
    const one = await addAccountWithConnection(party.caller, inbox.folder)
    const other = await addAccountWithConnection(party.caller, inbox.folder)
    await addWebhook(party, receiver, statusTypes)
    receiver.answer = ({ event }) => (event.connectionId === one.id ? 400 : 200)
    await toggle(party, one, 2)
    await toggle(party, other, 2)
    await sender.sendDue()
    const sentTo = ({ id }: Connection) => receiver.requests.filter(({ event }) => event.connectionId === id).length
    assert.deepEqual([sentTo(one), sentTo(other)], [1, 4])
  })

  test('of a deleted sub-account gets nothing until the account is restored', async (t) => {
    const party = await addOrganization()
    const receiver = await startReceiver(t)
    const { sender, clock } = startSender(t)
    const { id: accountId } = await party.caller.addAccount()
    const { id } = await addWebhook(party, receiver, { accountId })
    await party.caller.expect(party.caller.call('testWebhook', { id }))
    await party.caller.expect(party.caller.call('deleteAccount', { id: accountId }))
    await sender.sendDue()
    assert.equal(receiver.requests.length, 0)
    assert.equal((await party.caller.call('getWebhook', { id })).status, 404)
    await sql('update accounts set deleted_time = null where id = $1', accountId)
    clock.aheadMs = 10_000
    await sender.sendDue()
    assert.deepEqual(receiver.requests.map(({ event }) => event.type).toSorted(), [
      'account.deleted',
      'account.restored',
      'webhook.test',
    ])
    await sql('delete from accounts where id = $1', accountId)
    assert.deepEqual(await sql('select id from webhooks where id = $1', id), [])
  })
})
