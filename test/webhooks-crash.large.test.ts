import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { addAccountWithConnection, makeInbox } from './harness/connections.ts'
import { type ReceivedRequest, startReceiver } from './harness/receiver.ts'
import { until } from './harness/until.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/** Worker processes that are killed while they send events. */

const kills = 4
const changesOfEach = 10

test('a process that is killed between the commit and the answer loses no event', async (t) => {
  const inbox = await makeInbox()
  t.after(inbox.remove)
  const env = { PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: '2', PENSTOCK_LOCAL_FOLDERS: inbox.folder }
  const { caller, spawnWorker } = await startProcessFixture(t, env)
  const receiver = await startReceiver(t)
  const body = { url: receiver.url, eventTypes: ['connection.status_changed' as const] }
  const { id, secret } = await caller.expect(caller.call('createWebhook', { body }))
  const connection = await addAccountWithConnection(caller, inbox.folder)
  const act = (action: 'disable' | 'enable') =>
    caller.expect(caller.call('updateConnectionStatus', { ...connection, body: { action } }))
  const taken = () => receiver.requests.filter(({ status }) => status === 200)

  // Committed, and nothing to send it yet.
  await act('disable')
  await act('enable')
  for (let kill = 1; kill <= kills; kill++) {
    const sent = receiver.requests.length
    const answers = kill % 2 === 0 ? 3 : 0
    // It is killed with a request in flight: the request was not answered, or the answer was not stored.
    receiver.answer = () => (receiver.requests.length - sent <= answers ? 200 : 'nothing')
    const worker = spawnWorker()
    for (let change = 0; change < changesOfEach; change += 2) {
      await act('disable')
      await act('enable')
    }
    await until('an event is sent', () => receiver.requests.length > sent + answers)
    worker.signal('SIGKILL')
    await worker.ended
  }
  receiver.answer = () => 200
  spawnWorker()
  const changes = 3 + kills * changesOfEach
  const unique = () => [...new Map(taken().map((request) => [request.id, request])).values()]
  await until('every event is taken', () => unique().length === changes)
  assert.deepEqual(
    unique().map(({ event }: ReceivedRequest) => event.data.to),
    Array.from({ length: changes }, (_, i) => (i % 2 === 0 ? 'active' : 'disabled')),
  )
  for (const { headers, body: sent } of receiver.requests) {
    new Webhook(secret).verify(sent, headers as Record<string, string>)
  }
  await until('the log says so', async () => {
    const delivered = await caller.expect(caller.call('listWebhookDeliveries', { id, query: { size: 500 } }))
    return delivered.length === changes && delivered.every(({ status }) => status === 'delivered')
  })
})
