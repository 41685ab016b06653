import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventStreamConnectorId } from '@penstock/wire'
import { assertInvariants } from './harness/invariants.ts'
import { basic } from './harness/streams.ts'
import { startTopic, type Topic } from './harness/topics.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Streams that store their events in Apache Kafka. streams-kafka.large.test.ts tests failures. */

let fixture: Fixture
let topic: Topic
before(async () => {
  fixture = await startFixture()
  topic = await startTopic('events', 3)
})
after(async () => {
  await assertInvariants(fixture.service.database.pool)
  await fixture.close()
  await topic.close()
})

test('events of a stream are on its topic once they are acknowledged, and connections read the topic', async () => {
  const { caller, accountId } = fixture
  const stream = await topic.addStream(caller, accountId)
  // As senders do, because on a busy machine the process that sends events to the topic can start slowly.
  const post = (body: unknown) =>
    until('the events are answered', async () => {
      const answer = await fixture.service.send({
        method: 'POST',
        path: `/events/${stream.id}`,
        headers: { authorization: basic(stream.key), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return answer.status === 503 ? undefined : answer
    })
  const event = { messageId: 'order-1', event: 'Order Completed', properties: { total: 39.9 } }
  const { status, response } = await post([event, 7, { n: 2 }])
  // Repeated events are not found, so that their number is not stated.
  assert.deepEqual([status, response], [200, { accepted: 2, refused: [{ index: 1, reason: 'is not a JSON object' }] }])
  const [first, second] = topic.messages().toSorted((a, b) => (b.key ?? '').localeCompare(a.key ?? ''))
  assert.deepEqual(
    [first, second].map((message) => [message?.key, message?.json, message?.headers]),
    [
      ['order-1', event, [['penstock-message-id', 'order-1']]],
      [null, { n: 2 }, []],
    ],
  )
  assert(
    Math.abs((first?.timestampMs ?? 0) - Date.now()) < 600_000,
    'the time of the message is the one of its arrival',
  )

  const of = { accountId, id: stream.id }
  const { messageId } = await until('the test event is stored', async () => {
    const answer = await caller.call('sendTestEvent', of)
    return answer.status === 503 ? undefined : caller.expect(Promise.resolve(answer))
  })
  assert.equal(topic.messages().find(({ key }) => key === messageId)?.json.properties.test, true)
  const shown = await until('the events are counted', async () => {
    const found = await caller.expect(caller.call('getStream', of))
    return found.accepted === 3 ? found : undefined
  })
  const { store, topic: name, accepted, duplicates, keptEvents, keptBytes, consumers } = shown
  assert.deepEqual(
    { store, name, accepted, duplicates, keptEvents, keptBytes, consumers },
    {
      store: 'kafka',
      name: 'events',
      accepted: 3,
      duplicates: null,
      keptEvents: null,
      keptBytes: null,
      consumers: null,
    },
  )
  assert.deepEqual(
    shown.columns.map(({ name }) => name),
    ['messageId', 'event', 'properties.total', 'n'],
  )
  assert.notEqual(shown.keys[0]?.lastUsedTime, null)
  const newest = await caller.expect(caller.call('getStreamEvents', of))
  assert.equal(newest.consumers, null)
  assert(newest.events.every(({ outcome }) => outcome === 'refused'))
  assert.equal(newest.refusals.find(({ reason }) => reason === 'invalid_event')?.count, 1)

  const check = { accountId, id: eventStreamConnectorId, query: { configurationId: stream.id } }
  const checked = await caller.expect(caller.call('checkConnector', check))
  assert.equal(checked.checks.at(-1)?.message, 'The topic events has 3 partitions.')
  const body = {
    name: 'Events',
    srcConnectorId: eventStreamConnectorId,
    srcConnectionConfig: {},
    destConnectorId: postgresql.id,
    destConnectionConfig: { table: 'events' },
  }
  const connected = await caller.call('createConnection', { accountId, body })
  assert.equal(connected.status, 400)
  assert.match(
    connected.details[0]?.message ?? '',
    /Add the connector Apache Kafka as source and read the topic events/,
  )
})

test('a stream with an active connection stays in PostgreSQL', async () => {
  const { caller, accountId } = fixture
  const eventStream = eventStreamConnectorId
  const kept = await caller.expect(
    caller.call('createConnectorConfiguration', { accountId, id: eventStream, body: { name: 'Kept' } }),
  )
  const { configurationId } = kept
  const save = (secretConfig: Record<string, string | boolean>) =>
    caller.call('configureConnector', { accountId, id: eventStream, body: { configurationId, secretConfig } })
  await caller.expect(save({ receive: true }))
  const body = {
    name: 'Kept',
    srcConnectorId: eventStream,
    srcConfigurationId: configurationId,
    srcConnectionConfig: {},
    destConnectorId: postgresql.id,
    destConnectionConfig: { table: 'kept' },
  }
  const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
  const activate = () => caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } })
  await caller.expect(activate())
  const refused = await save(topic.settings)
  assert.equal(refused.status, 409)
  assert.deepEqual(
    refused.details.map(({ field }) => field),
    ['body.secretConfig', `connection.${id}`],
  )
  await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'disable' } }))
  await caller.expect(save(topic.settings))
  assert.equal((await activate()).status, 409)
})
