import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventStreamConnectorId, kafkaConnectorId } from '@penstock/wire'
import type { KafkaFailure } from '../packages/connectors/test/kafka-broker.ts'
import { type KcatMessage, startKcatCluster } from '../packages/connectors/test/kcat.ts'
import { skipWithout } from './harness/programs.ts'
import { basic } from './harness/streams.ts'
import { startTopic, type Topic } from './harness/topics.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Streams that store their events in Apache Kafka, while brokers fail. */

const jsonType = 'application/json'
type Stream = { readonly id: string; readonly key: string }

const sendTo = (fixture: Fixture, { id, key }: Stream, body: unknown) =>
  fixture.service.send({
    method: 'POST',
    path: `/events/${id}`,
    headers: { authorization: basic(key), 'content-type': jsonType },
    body: JSON.stringify(body),
  })

/** Sends as senders do: until it is answered with another status than 503. */
const sendUntilAnswered = (fixture: Fixture, stream: Stream, body: unknown) =>
  until('the events are answered', async () => {
    const answer = await sendTo(fixture, stream, body)
    return answer.status === 503 ? undefined : answer
  })

const checkOf = ({ caller, accountId }: Fixture, { id: configurationId }: Stream) =>
  caller.expect(caller.call('checkConnector', { accountId, id: eventStreamConnectorId, query: { configurationId } }))

const idsOn = (topic: Topic) => topic.messages().map(({ json }) => json.messageId)

/** Another configuration of the connector, with a write key. */
async function addStreamOf(
  { caller, accountId }: Fixture,
  secretConfig: Record<string, string | boolean>,
  name: string,
) {
  const id = eventStreamConnectorId
  await caller.expect(caller.call('addConnectors', { accountId, body: { connectorIds: [id] } }))
  const { configurationId } = await caller.expect(
    caller.call('createConnectorConfiguration', { accountId, id, body: { name } }),
  )
  await caller.expect(caller.call('configureConnector', { accountId, id, body: { configurationId, secretConfig } }))
  const { key } = await caller.expect(caller.call('createStreamKey', { accountId, id: configurationId }))
  return { id: configurationId, key }
}

describe('a stream in Apache Kafka', () => {
  let fixture: Fixture
  let topic: Topic
  let stream: Stream
  const send = (body: unknown) => sendUntilAnswered(fixture, stream, body)
  const fails = (what: KafkaFailure, times: number) => {
    topic.broker.failure = { what, api: 'produce', times }
  }
  before(async () => {
    fixture = await startFixture()
    await fixture.startWorker()
    topic = await startTopic('events', 4)
    stream = await addStreamOf(fixture, { ...topic.settings, keyAt: '/userId' }, 'Topic')
  })
  after(async () => {
    await fixture.close()
    await topic.close()
  })

  test('has an event once though answers of the broker are lost, and though the producer is not known any more', async () => {
    const lost: [KafkaFailure, number][] = [
      ['loses the answer', 1],
      ['loses the answer', 3],
      ['resets', 2],
      // OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, UNKNOWN_PRODUCER_ID and NOT_LEADER_OR_FOLLOWER
      [45, 1],
      [47, 1],
      [59, 1],
      [6, 2],
    ]
    const sent: string[] = []
    for (const [index, [what, times]] of lost.entries()) {
      const events = Array.from({ length: 40 }, (_, n) => ({ messageId: `lost-${index}-${n}`, userId: `u${n % 7}` }))
      fails(what, times)
      const { status, response } = await send(events)
      assert.deepEqual([status, response], [200, { accepted: 40, refused: [] }], `${what}`)
      sent.push(...events.map(({ messageId }) => messageId))
    }
    assert.deepEqual(idsOn(topic).toSorted(), sent.toSorted())
    // Events of one user are on one partition, in the order in which they were sent.
    const byUser = Map.groupBy(topic.messages(), ({ key }) => key)
    for (const messages of byUser.values()) {
      assert.equal(new Set(messages.map(({ partition }) => partition)).size, 1)
      const ids = messages.map(({ json }) => json.messageId as string)
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => sent.indexOf(a) - sent.indexOf(b)),
      )
    }
  })

  test('refuses the events that the topic does not take, and stores the others', async () => {
    topic.broker.messageBytesMax = 20_000
    // Not compressible.
    const large = Array.from({ length: 8_000 }, (_, n) => Math.sin(n).toString(36).slice(3)).join('')
    const { response } = await send([{ messageId: 'fits-1' }, { messageId: 'large', large }, { messageId: 'fits-2' }])
    topic.broker.messageBytesMax = 1_048_588
    const { accepted, refused } = response as { accepted: number; refused: { index: number; reason: string }[] }
    assert.deepEqual([accepted, refused.map(({ index }) => index)], [2, [1]])
    assert.match(refused[0]?.reason ?? '', /MESSAGE_TOO_LARGE/)
    assert.deepEqual(
      idsOn(topic)
        .filter((id) => /^(fits|large)/.test(id))
        .toSorted(),
      ['fits-1', 'fits-2'],
    )
  })

  test('answers 503 if the brokers are frozen, while other streams are answered, and goes on afterwards', async () => {
    const other = await addStreamOf(fixture, { receive: true }, 'Kept')
    await send({ messageId: 'before' })
    topic.broker.failure = { what: 'hangs', api: 'produce' }
    const frozen = sendTo(fixture, stream, { messageId: 'frozen' })
    await topic.broker.hangs()
    // These are answered while the broker hangs.
    for (let n = 0; n < 20; n++) assert.equal((await sendTo(fixture, other, { n })).status, 200)
    const { status, error, headers } = await frozen
    assert.deepEqual([status, error], [503, 'topic_unavailable'])
    assert(Number(headers['retry-after']) >= 1)
    // For a moment nothing is tried, so that requests do not wait.
    const asked = topic.broker.seen.length
    assert.equal((await sendTo(fixture, stream, { messageId: 'paused' })).status, 503)
    assert.equal(topic.broker.seen.length, asked)
    topic.broker.failure = undefined
    assert.equal((await send({ messageId: 'after' })).status, 200)
    assert.deepEqual(
      idsOn(topic).filter((id) => ['before', 'paused', 'after'].includes(id)),
      idsOn(topic).filter((id) => ['before', 'after'].includes(id)),
    )
    const { accountId, caller } = fixture
    const { refusals } = await until('the refusals are counted', async () => {
      const newest = await caller.expect(caller.call('getStreamEvents', { accountId, id: stream.id }))
      return newest.refusals.some(({ reason }) => reason === 'topic_unavailable') ? newest : undefined
    })
    assert((refusals.find(({ reason }) => reason === 'topic_unavailable')?.count ?? 0) >= 2)
  })

  test('is read by the source Apache Kafka into PostgreSQL, and an upsert removes repeated events', async () => {
    const { caller, accountId } = fixture
    const own = await startTopic('orders', 2)
    const orders = await addStreamOf(fixture, own.settings, 'Orders')
    const events = Array.from({ length: 30 }, (_, n) => ({ messageId: `order-${n}`, total: n }))
    assert.equal((await sendUntilAnswered(fixture, orders, events)).status, 200)
    assert.equal((await sendUntilAnswered(fixture, orders, events.slice(0, 5))).status, 200)
    assert.equal(own.messages().length, 35)
    await caller.expect(caller.call('addConnectors', { accountId, body: { connectorIds: [kafkaConnectorId] } }))
    const { brokers = '', tlsMode = '' } = own.settings
    const secretConfig = { brokers, tlsMode, saslMechanism: 'none' }
    await caller.expect(caller.call('configureConnector', { accountId, id: kafkaConnectorId, body: { secretConfig } }))
    await fixture.target.query('create table orders (id text primary key, total bigint)')
    const connection = await fixture.connect(
      { id: kafkaConnectorId },
      { topic: 'orders', startAt: 'earliest', valueFields: 'messageId,total' },
      postgresql,
      { table: 'orders', writeMode: 'Upsert', keyColumns: 'id', mapping: '{"id": "messageId", "total": "total"}' },
    )
    const transfer = await fixture.ended(connection, (await fixture.start(connection)).id)
    assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
    const { rows } = await fixture.target.query('select id, total::int from orders order by total')
    assert.deepEqual(
      rows,
      events.map(({ messageId, total }) => ({ id: messageId, total })),
    )
    await own.close()
  })

  test('does not exceed the streams that have a runner, and gives the place of an idle one to another', async () => {
    const streams = []
    for (let n = 0; n < 5; n++) streams.push(await addStreamOf(fixture, topic.settings, `Slot ${n}`))
    // A sub-account has half of the eight places.
    for (const [n, one] of streams.entries()) {
      assert.equal((await sendUntilAnswered(fixture, one, { messageId: `slot-${n}` })).status, 200)
    }
    assert.equal(idsOn(topic).filter((id) => id.startsWith('slot-')).length, 5)
    await until('the runners of idle streams have ended', async () => fixture.service.runners.stats().running <= 4)
  })
})

describe('a stream at the mock cluster of librdkafka', { skip: skipWithout('kcat') }, () => {
  test('has its events on the topic as another client reads them', async (t) => {
    const fixture = await startFixture()
    t.after(fixture.close)
    const cluster = await startKcatCluster('events')
    assert.ok(cluster)
    t.after(() => cluster.stop())
    for (const compression of ['none', 'gzip', 'zstd']) {
      const settings = { store: 'kafka', ...cluster.secrets, topic: 'events', keyAt: '/userId', compression }
      const stream = await addStreamOf(fixture, settings, compression)
      const sent = Array.from({ length: 200 }, (_, n) => ({
        messageId: `${compression}-${n}`,
        ...(n % 4 !== 0 && { userId: `u${n % 7}` }),
        text: 'Zoë 😀',
      }))
      assert.equal((await sendUntilAnswered(fixture, stream, sent)).status, 200)
      const messages: readonly KcatMessage[] = (await cluster.consume('events')).filter(({ value }) =>
        value?.includes(`"${compression}-`),
      )
      const read = messages.map(({ key, value, headers }) => ({ key, event: JSON.parse(value ?? ''), headers }))
      const expected = sent.map((event) => ({
        key: event.userId ?? null,
        event,
        headers: [['penstock-message-id', event.messageId]],
      }))
      const byId = (a: { event: { messageId: string } }, b: { event: { messageId: string } }) =>
        a.event.messageId < b.event.messageId ? -1 : 1
      assert.deepEqual(read.sort(byId), expected.sort(byId))
      const ofOne = messages.filter(({ key }) => key === 'u1')
      assert.equal(new Set(ofOne.map(({ partition }) => partition)).size, 1)
    }
  })
})

describe('brokers that cannot be used', () => {
  test('a wrong password and a missing topic: 503, and the check says why', async (t) => {
    const fixture = await startFixture()
    t.after(fixture.close)
    const topic = await startTopic('events', 1, { users: { ada: 'the right password' } })
    t.after(topic.close)
    const signIn = { saslMechanism: 'SCRAM-SHA-256', user: 'ada' }
    const password = 'the wrong password'
    const wrong = await addStreamOf(fixture, { ...topic.settings, ...signIn, password }, 'Wrong')
    const { status, text } = await sendTo(fixture, wrong, { n: 1 })
    assert.equal(status, 503)
    assert(!text.includes('localhost') && !text.includes(password), 'senders learn nothing of the brokers')
    const { ok, error } = await checkOf(fixture, wrong)
    assert.deepEqual([ok, error?.code], [false, 'invalid_credentials'])
    const { caller, accountId } = fixture
    const tested = await caller.call('sendTestEvent', { accountId, id: wrong.id })
    assert.deepEqual([tested.status, tested.error], [503, 'topic_unavailable'])
    assert.match(tested.details[0]?.message ?? '', /SASL_AUTHENTICATION_FAILED/)
    // A corrected configuration is used immediately.
    const id = eventStreamConnectorId
    const corrected = { configurationId: wrong.id, secretConfig: { password: 'the right password' } }
    await caller.expect(caller.call('configureConnector', { accountId, id, body: corrected }))
    assert.equal((await sendUntilAnswered(fixture, wrong, { messageId: 'right' })).status, 200)
    assert.deepEqual(idsOn(topic), ['right'])

    const missing = await addStreamOf(
      fixture,
      { ...topic.settings, ...signIn, password: 'the right password', topic: 'nowhere' },
      'Missing',
    )
    assert.equal((await sendTo(fixture, missing, { n: 1 })).status, 503)
    assert.equal((await checkOf(fixture, missing)).error?.code, 'object_not_found')
    topic.broker.operations = 0
    assert.equal((await checkOf(fixture, wrong)).error?.code, 'permission_denied')
  })

  test('a broker in a private network is not connected to, unless the operator allows it', async (t) => {
    const fixture = await startFixture({ PENSTOCK_EGRESS: 'public' })
    t.after(fixture.close)
    const topic = await startTopic('events', 1)
    t.after(topic.close)
    const stream = await addStreamOf(fixture, topic.settings, 'Private')
    assert.equal((await sendTo(fixture, stream, { n: 1 })).status, 503)
    assert.equal((await checkOf(fixture, stream)).error?.code, 'address_not_allowed')
    assert.deepEqual(topic.broker.seen, [])
  })

  test('a broker that does not answer: 503, and the check fails', async (t) => {
    const fixture = await startFixture()
    t.after(fixture.close)
    const topic = await startTopic('events', 1)
    await topic.close()
    const stream = await addStreamOf(fixture, topic.settings, 'Gone')
    assert.equal((await sendTo(fixture, stream, { n: 1 })).status, 503)
    assert.equal((await checkOf(fixture, stream)).ok, false)
  })
})
