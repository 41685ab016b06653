import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventStreamConnectorId } from '@penstock/wire'
import { keepOnce, keepPartitions } from '../packages/server/src/streams/keep.ts'
import { assertInvariants } from './harness/invariants.ts'
import { withSession } from './harness/session.ts'
import { addStreamWithKey, basic } from './harness/streams.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Streams over time: continuous transfers, cursors, retention, partitions. */

let fixture: Fixture
let stream: { id: string; key: string }
before(async () => {
  fixture = await startFixture()
  stream = await addStreamWithKey(fixture.caller, fixture.accountId, { retentionDays: 2 })
  await fixture.target.query('create table received (n bigint, _number bigint, _received_time timestamptz)')
  await fixture.startWorker()
})
after(async () => {
  await assertInvariants(fixture.service.database.pool)
  await fixture.close()
})

const sql = async (text: string, ...values: unknown[]) => (await fixture.service.database.pool.query(text, values)).rows
const send = async (...events: object[]) => {
  const { status, text } = await fixture.service.send({
    method: 'POST',
    path: `/events/${stream.id}`,
    headers: { authorization: basic(stream.key), 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  assert.equal(status, 200, text)
}
const connect = (settings: Record<string, string>) =>
  fixture.connect({ id: eventStreamConnectorId }, settings, postgresql, { table: 'received' })
const call = () => ({ accountId: fixture.accountId })
const schedule = (id: string, body = { cron: '@continuous' }) =>
  fixture.caller.call('setSchedule', { ...call(), id, body })
const consumerOf = async (id: string) => {
  const { consumers } = await fixture.caller.expect(fixture.caller.call('getStream', { ...call(), id: stream.id }))
  return consumers?.find(({ connectionId }) => connectionId === id)
}
const received = async () =>
  (await fixture.target.query('select n::int from received order by _number')).rows.map(({ n }) => n)
const keep = () => keepOnce(fixture.service.database, fixture.service.config.streams)

test('a continuous schedule starts a transfer for new events, and none without', async () => {
  await send({ n: 0 })
  const id = await connect({ startAt: 'newest' })
  const { response } = await schedule(id)
  assert.deepEqual([response.cron, response.nextTime], ['@continuous', null])
  await until('it has begun behind the newest event', async () => (await consumerOf(id))?.readNumber === 1)
  await send({ n: 1 }, { n: 2 })
  await until('the events are delivered', async () => (await received()).length === 2)
  await send({ n: 3 })
  await until('the next one is delivered', async () => (await received()).length === 3)
  assert.deepEqual(await received(), [1, 2, 3])
  await until('the connection is not behind', async () => (await consumerOf(id))?.readNumber === 4)
  const transfers = await fixture.caller.expect(fixture.caller.call('listTransfers', { ...call(), id }))
  assert.ok(transfers.length <= 3, 'one that fixes the beginning, and one for each message')
  const other = await fixture.connect(localFolder, { files: 'a.csv' }, postgresql, { table: 'received' })
  const refused = await schedule(other)
  assert.deepEqual([refused.error, refused.details[0]?.field], ['invalid_request', 'body.cron'])
  await fixture.caller.expect(fixture.caller.call('deleteSchedule', { ...call(), id }))
})

test('a transfer rejects one record for the events that retention removed before they were read', async () => {
  const id = await connect({})
  const first = await fixture.ended(id, (await fixture.start(id)).id)
  assert.deepEqual([first.status, first.records.accepted], ['succeeded', 4])
  await send({ n: 5 }, { n: 6 })
  await sql(`update stream_batches set time = now() - interval '3 days'`)
  await keep()
  const [row] = await sql(
    'select last_number::int as last, removed_number::int as removed, kept_bytes::int as kept from streams where id = $1',
    stream.id,
  )
  assert.deepEqual(row, { last: 6, removed: 6, kept: 0 })
  assert.deepEqual(await sql('select from stream_batches'), [])
  await send({ n: 7 })
  const transfer = await fixture.ended(id, (await fixture.start(id)).id)
  assert.deepEqual([transfer.status, transfer.records.accepted, transfer.records.rejected], ['partial', 1, 1])
  const [reject] = await fixture.caller.expect(
    fixture.caller.call('listRejects', { ...call(), id, transferId: transfer.id }),
  )
  assert.match(reject?.reason ?? '', /Retention removed 2 events .*numbers 5 to 6/)
  assert.equal((await consumerOf(id))?.readNumber, 7)
})

test('without keeping read events, they are removed once every connection has read them', async () => {
  const body = { secretConfig: { keepRead: false } }
  await fixture.caller.expect(
    fixture.caller.call('configureConnector', { ...call(), id: eventStreamConnectorId, body }),
  )
  await send({ n: 8 })
  await keep()
  const kept = async () =>
    (await sql('select last_number - removed_number as kept from streams where id = $1', stream.id))[0]?.kept
  assert.equal(Number(await kept()), 2, 'one connection has read up to 4, and one up to 7')
  const { consumers } = await fixture.caller.expect(fixture.caller.call('getStream', { ...call(), id: stream.id }))
  for (const { connectionId } of consumers ?? [])
    await fixture.ended(connectionId, (await fixture.start(connectionId)).id)
  await keep()
  assert.equal(Number(await kept()), 0)
})

test('events are in the partition of their day, or in the default one, and old days are dropped', async () => {
  await sql(`create table stream_batches_20200101 (like stream_batches including all)`)
  await sql(
    `alter table stream_batches attach partition stream_batches_20200101 for values from ('2020-01-01Z') to ('2020-01-02Z')`,
  )
  await keepPartitions(fixture.service.database, fixture.service.config.streams)
  const parts = (
    await sql(`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'stream_batches'::regclass`)
  ).map(({ name }) => name)
  assert.ok(!parts.includes('stream_batches_20200101') && parts.includes('stream_batches_default'))
  assert.ok(parts.filter((name) => /_\d{8}$/.test(name)).length >= 3, parts.join())
  await sql(`update stream_batches set time = now() + interval '2 days' where stream > 0`)
  await send({ n: 9 })
  const id = await connect({})
  const transfer = await fixture.ended(id, (await fixture.start(id)).id)
  assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
})

test('partitions wait for a table that somebody holds, without an error', async () => {
  const { database, config, databaseUrl } = fixture.service
  const parts = async () =>
    (await sql(`select count(*)::int as n from pg_inherits where inhparent = 'stream_batches'::regclass`))[0]?.n
  const before = await parts()
  await withSession(databaseUrl, async (session) => {
    await session.query('begin; lock table only stream_batches in access share mode')
    await sql('create table stream_batches_20200101 (like stream_batches including all)')
    await sql(
      `alter table stream_batches attach partition stream_batches_20200101 for values from ('2020-01-01Z') to ('2020-01-02Z')`,
    )
    await keepPartitions(database, config.streams)
    assert.equal(await parts(), Number(before) + 1)
    await session.query('commit')
  })
  await keepPartitions(database, config.streams)
  assert.equal(await parts(), before)
})
