import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventStreamConnectorId, type Scope, userRoles } from '@penstock/wire'
import { assertInvariants } from './harness/invariants.ts'
import { addStreamWithKey, basic } from './harness/streams.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** The newest events of a stream: the result of each, who sees values, and why events were refused. */

let fixture: Fixture
let stream: { id: string; key: string }
before(async () => {
  fixture = await startFixture()
  stream = await addStreamWithKey(fixture.caller, fixture.accountId, { origins: 'https://shop.example.com' })
  await fixture.startWorker()
})
after(async () => {
  await assertInvariants(fixture.service.database.pool)
  await fixture.close()
})

const view = '0123456789abcdef'
const post = (body: unknown, headers: Record<string, string> = {}, id = stream.id) =>
  fixture.service.send({
    method: 'POST',
    path: `/events/${id}`,
    headers: { authorization: basic(stream.key), 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const newest = (query: Record<string, unknown> = {}, of: object = {}) =>
  fixture.caller.expect(
    fixture.caller.call('getStreamEvents', { accountId: fixture.accountId, id: stream.id, query, ...of } as never),
  )
const sql = async (text: string, ...values: unknown[]) => (await fixture.service.database.pool.query(text, values)).rows

test('a stream that never received anything has no events', async () => {
  const empty = await newest()
  assert.deepEqual([empty.events, empty.refusals, empty.consumers, empty.masked], [[], [], [], true])
})

test('lists the newest events with their names, sizes and numbers, masked without a view', async () => {
  const event = {
    messageId: 'order-7',
    type: 'track',
    event: 'Order Completed',
    userId: 'ada@example.com',
    properties: { total: 39.9, 'a.b': 'x', items: ['secret item'], a: { b: 1 } },
  }
  assert.equal((await post([{ n: 1 }, event])).status, 200)
  assert.equal((await post({ type: 'page', name: 'Home' }, { 'webhook-id': 'msg_ada' })).status, 200)
  const { events } = await newest()
  assert.deepEqual(
    events.map(({ number, outcome, type, name, messageId }) => [number, outcome, type, name, messageId]),
    [
      [3, 'stored', 'page', 'Home', 'xxxx…-xx xxx_xxx'],
      [2, 'stored', 'track', 'Order Completed', 'xxxx…-#'],
      [1, 'stored', null, null, null],
    ],
  )
  const masked = JSON.parse(events[1]?.value ?? '')
  assert.deepEqual(Object.keys(masked), ['messageId', 'type', 'event', 'userId', 'properties'])
  assert.deepEqual([masked.properties.total, masked.properties.items, masked.userId], ['##.#', '[…]', 'xxx@xxxx….xxx'])
  assert.doesNotMatch(JSON.stringify(events.map(({ value, messageId }) => [value, messageId])), /ada|order-7|39|secret/)
  assert.equal(events[1]?.bytes, Buffer.byteLength(JSON.stringify([Date.now(), event])))
  const whole = await newest({ view })
  assert.deepEqual([whole.masked, JSON.parse(whole.events[1]?.value ?? '')], [false, event])
  assert.deepEqual([whole.events[1]?.messageId, whole.events[0]?.messageId], ['order-7', 'webhook-id msg_ada'])
  assert.deepEqual(
    (await newest({ size: 1 })).events.map(({ number }) => number),
    [3],
  )
})

test('says what was repeated or refused, and why, without values', async () => {
  const secret = 'secret-of-a-body'
  await post({ messageId: 'order-7', again: secret })
  const answers = [
    await post({ a: secret }, { authorization: basic('pwk_00000000000000000000000000000000') }),
    await post({ a: secret }, { origin: 'https://evil.example.com' }),
    await post(`{"a": "${secret}`),
    await post({ a: secret }, { 'content-type': 'multipart/form-data' }),
    await post('x'.repeat(5 * 1024 ** 2)),
    await post([secret, { n: 2 }, 7]),
    await post([secret]),
  ]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 403, 400, 415, 413, 200, 400],
  )
  const expected = {
    wrong_key: 1,
    wrong_origin: 1,
    invalid_body: 1,
    wrong_media_type: 1,
    too_large: 1,
    invalid_event: 3,
  }
  const of = await until('everything is counted', async () => {
    const all = await newest()
    return all.refused === 8 ? all : undefined
  })
  assert.deepEqual(Object.fromEntries(of.refusals.map(({ reason, count }) => [reason, count])), expected)
  const notes = of.events.filter(({ outcome }) => outcome !== 'stored')
  assert.deepEqual(
    notes
      .filter(({ outcome }) => outcome === 'repeated')
      .map(({ number, name, messageId }) => [number, name, messageId]),
    [[2, 'Order Completed', 'xxxx…-#']],
  )
  assert.deepEqual(
    notes.flatMap(({ reason, events }) => (reason ? [[reason, events]] : [])).toSorted(),
    Object.entries({ ...expected, invalid_event: 2 })
      .concat([['invalid_event', 1]])
      .toSorted(),
  )
  const kept = JSON.stringify([await sql('select * from stream_notes'), await sql('select * from stream_refusals')])
  assert.doesNotMatch(kept, /secret/)
})

test('keeps the newest 50 notes of a stream, and counts all', async () => {
  const before = (await newest()).refused
  await Promise.all(Array.from({ length: 70 }, () => post('{')))
  await until('all are counted', async () => (await newest()).refused === before + 70)
  assert.deepEqual(await sql('select count(*)::int as notes from stream_notes'), [{ notes: 50 }])
})

test('a request without the signature that the stream requires is a refusal with its reason', async () => {
  const { caller } = fixture
  const { id: accountId } = await caller.addAccount()
  const signed = await addStreamWithKey(caller, accountId, { sender: 'github', signingSecret: 'a secret of github' })
  const send = () => post({ a: 1 }, { authorization: basic(signed.key) }, signed.id)
  assert.equal((await send()).status, 401)
  const of = { accountId, id: signed.id }
  const { refusals } = await until('it is counted', async () => {
    const all = await newest({}, of)
    return all.refused === 1 ? all : undefined
  })
  assert.deepEqual(
    refusals.map(({ reason, count }) => [reason, count]),
    [['bad_signature', 1]],
  )
})

test('finds events by their outcome, and by a text in the part that the reader may see', async () => {
  await post({ messageId: 'order-7' })
  await until('it is noted', async () => (await newest()).events.some(({ outcome }) => outcome === 'repeated'))
  const outcomes = async (outcome: string) => new Set((await newest({ outcome })).events.map((event) => event.outcome))
  for (const outcome of ['stored', 'repeated', 'refused']) assert.deepEqual(await outcomes(outcome), new Set([outcome]))
  const numbers = async (query: object) => (await newest({ ...query })).events.map(({ number }) => number)
  assert.deepEqual(await numbers({ q: 'order comp' }), [2])
  assert.deepEqual(await numbers({ q: 'Order-7' }), [], 'a part of a value in another letter case')
  assert.deepEqual(await numbers({ q: 'order-7' }), [2], 'the whole message ID')
  for (const q of ['ada@', 'secret item', 'order-', '39.9']) assert.deepEqual(await numbers({ q }), [], q)
  for (const q of ['ADA@', 'Secret Item', 'ORDER-', '39.9']) assert.deepEqual(await numbers({ q, view }), [2], q)
  assert.deepEqual(await numbers({ q: 'order', view, outcome: 'refused' }), [])
  assert.deepEqual(await numbers({ q: '"', view, size: 1 }), [4], 'the newest one')
  const { searched, accepted } = await newest({ q: 'is nowhere', view })
  assert.deepEqual([searched, (await newest()).searched], [accepted, null])
})

test('counts events by minute and by hour, and forgets old ones', async () => {
  const { caller, accountId } = fixture
  const get = async () => caller.expect(caller.call('getStream', { accountId, id: stream.id }))
  const { accepted, duplicates, refused, volumes } = await get()
  const total = (of: typeof volumes.hours) =>
    (['accepted', 'duplicates', 'refused'] as const).map((key) => of.reduce((sum, one) => sum + one[key], 0))
  for (const [seconds, of] of [
    [60, volumes.minutes],
    [3_600, volumes.hours],
  ] as const) {
    assert.deepEqual(total(of), [accepted, duplicates, refused])
    assert.deepEqual(
      of.map(({ time }) => time % seconds),
      of.map(() => 0),
    )
  }
  await sql(`update stream_volumes set time = time - interval '3 hours' where seconds = 60`)
  await sql(`update stream_volumes set time = time - interval '9 days' where seconds = 3600`)
  const left = async () => (await sql('select count(*)::int as n from stream_volumes'))[0].n
  await until('the upkeep has deleted them', async () => (await left()) === 0)
  assert.deepEqual((await get()).volumes, { minutes: [], hours: [] })
})

test('says which transfer delivered an event, and what waits', async () => {
  await fixture.target.query('create table received (n bigint, _number bigint)')
  const connect = (settings: Record<string, string>) =>
    fixture.connect({ id: eventStreamConnectorId }, settings, postgresql, {
      table: 'received',
      mapping: '{"n": "n", "_number": "_number"}',
    })
  const last = (await newest({ size: 1 })).events[0]?.number ?? 0
  const [all, later] = [await connect({}), await connect({ startAt: 'newest' })]
  const move = async (id: string) => fixture.ended(id, (await fixture.start(id)).id)
  const first = await move(all)
  assert.equal(first.status, 'succeeded', JSON.stringify(first.error))
  await move(later)
  await post({ n: 10 })
  const second = await move(all)
  await move(all)
  await post({ n: 11 })
  const { consumers } = await newest()
  const of = (id: string) => consumers?.find(({ connectionId }) => connectionId === id)
  assert.deepEqual(of(all)?.transfers, [
    { id: second.id, after: last, last: last + 1 },
    { id: first.id, after: 0, last },
  ])
  assert.deepEqual([of(all)?.readNumber, of(all)?.behindEvents], [last + 1, 1])
  assert.deepEqual([of(later)?.readNumber, of(later)?.transfers], [last, []], 'it began behind these events')
})

test('values are whole only in a view of who can read records, which is one event of the audit log', async () => {
  const tokenWith = async (scopes: readonly Scope[]) => {
    const body = { name: 'Reader', scopes: [...scopes] }
    const { id: clientId, clientSecret } = await fixture.caller.expect(fixture.caller.call('createClient', { body }))
    return (await fixture.service.call('createToken', { body: { clientId, clientSecret } })).response.accessToken
  }
  const of = { accountId: fixture.accountId, id: stream.id }
  const viewed = 'fedcba9876543210'
  for (const [role, scopes] of Object.entries(userRoles)) {
    const token = await tokenWith(scopes)
    const ask = (query: object) => fixture.service.call('getStreamEvents', { ...of, query, token } as never)
    const [masked, whole] = [await ask({}), await ask({ view: viewed })]
    const isWhole = (scopes as readonly Scope[]).includes('records:read')
    assert.deepEqual([masked.status, whole.status], [200, 200], role)
    assert.doesNotMatch(masked.text, /ada@example|order-7/, role)
    assert.equal(/ada@example/.test(whole.text) && /order-7/.test(whole.text), isWhole, role)
    assert.equal(whole.response.masked, !isWhole, role)
    if (!isWhole) continue
    await ask({ view: viewed })
  }
  const readers = Object.values(userRoles).filter((scopes) => (scopes as readonly Scope[]).includes('records:read'))
  const events = await fixture.caller.expect(
    fixture.caller.call('listAudit', { query: { action: 'getStreamEvents', size: 100 } }),
  )
  const ofView = events.filter(({ details }) => (details as { view?: string } | null)?.view === viewed)
  assert.equal(ofView.length, readers.length, 'one for each reader')
  assert.doesNotMatch(JSON.stringify(events), /ada@example|order-7/)
})

test('a test event is stored like any other, marked, delivered, and no new column of a stream that has columns', async () => {
  const columns = () =>
    sql('select name from stream_columns c join streams s on s.number = c.stream where s.id = $1', stream.id)
  const before = await columns()
  const { accepted } = await newest()
  const send = (id: string, of = fixture.accountId) => fixture.caller.call('sendTestEvent', { accountId: of, id })
  const { messageId } = await fixture.caller.expect(send(stream.id))
  const { events, accepted: after, consumers } = await newest({ view })
  const event = events.find(({ test }) => test)
  assert.deepEqual(
    [event?.messageId, event?.name, event?.outcome, after],
    [messageId, 'Test event', 'stored', accepted + 1],
  )
  assert.equal(JSON.parse(event?.value ?? '').properties.test, true)
  assert.deepEqual(await columns(), before)
  const [consumer] = consumers ?? []
  const id = consumer?.connectionId ?? ''
  const transfer = await fixture.ended(id, (await fixture.start(id)).id)
  assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
  const { rows } = await fixture.target.query('select from received where _number = $1', [event?.number])
  assert.ok(rows.length > 0, 'it was delivered')

  const { caller } = fixture
  const { id: accountId } = await caller.addAccount()
  const other = await addStreamWithKey(caller, accountId, { sender: 'github', signingSecret: 'a secret of github' })
  await caller.expect(send(other.id, accountId))
  const [first] = (await newest({}, { accountId, id: other.id })).events
  assert.deepEqual([first?.number, first?.test], [1, true], 'a signature is not needed')
  assert.equal((await send(stream.id, accountId)).error, 'not_found', 'of another sub-account')
  const body = { secretConfig: { receive: false } }
  await caller.expect(caller.call('configureConnector', { accountId, id: eventStreamConnectorId, body }))
  await until(
    'the stream is closed',
    async () => (await send(other.id, accountId)).error === 'connector_not_configured',
  )
})

test('a connection that is behind for long is in the metrics, and opens an incident until it has caught up', async () => {
  const { caller, accountId, service } = fixture
  await fixture.target.query('create table late (n bigint)')
  const id = await fixture.connect({ id: eventStreamConnectorId }, { startAt: 'newest' }, postgresql, {
    table: 'late',
    mapping: '{"n": "n"}',
  })
  assert.equal((await fixture.ended(id, (await fixture.start(id)).id)).status, 'succeeded')
  const conditions = { behindMinutes: 5 }
  await caller.expect(
    caller.call('createAlertRule', { body: { name: 'Behind', accountId, conditions, connectionIds: [id] } }),
  )
  await post({ n: 12 })
  const metric = async () => {
    const { text } = await service.send({ method: 'GET', path: '/metrics' })
    return Number(new RegExp(`^penstock_stream_behind_seconds\\{connection="${id}"\\} (\\d+)$`, 'm').exec(text)?.[1])
  }
  const sweep = () => sql(`update alert_sweeps set next_time = now() where name = 'open and idle'`)
  const incidents = async (open: boolean) => {
    const found = await caller.expect(caller.call('listAlertIncidents', { query: { open } }))
    return found.filter(({ connectionId }) => connectionId === id).map(({ reasons }) => reasons)
  }
  await sql(
    `update stream_batches set time = time - interval '10 minutes' where stream = (select number from streams where id = $1)`,
    stream.id,
  )
  await sweep()
  await until('the incident is open', async () => (await incidents(true)).length > 0)
  assert.deepEqual(await incidents(true), [['behind_stream']])
  await until('the metric says it', async () => (await metric()) >= 600)
  assert.equal((await fixture.ended(id, (await fixture.start(id)).id)).status, 'succeeded')
  await sweep()
  await until('the incident is over', async () => (await incidents(true)).length === 0)
  assert.deepEqual(await incidents(false), [['behind_stream']])
})
