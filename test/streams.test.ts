import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventStreamConnectorId } from '@penstock/wire'
import { trackingPaths } from '../packages/server/src/streams/tracking.ts'
import { assertInvariants } from './harness/invariants.ts'
import type { Reply } from './harness/service.ts'
import { addStreamWithKey, basic } from './harness/streams.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Events that come in by HTTP: stored once, in order, and read by connections. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
})
after(async () => {
  await assertInvariants(fixture.service.database.pool)
  await fixture.close()
})

const json = { 'content-type': 'application/json' }
const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  fixture.service.send({
    method: 'POST',
    path,
    headers: { ...json, ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  })
const get = (path: string, headers: Record<string, string> = {}) =>
  fixture.service.send({ method: 'GET', path, headers })
const streamOf = (id: string) =>
  fixture.caller.expect(fixture.caller.call('getStream', { accountId: fixture.accountId, id }))

/** A stream in a separate sub-account would have no destination, so its settings are saved for each test instead. */
let stream: { id: string; key: string }
before(async () => {
  stream = await addStreamWithKey(fixture.caller, fixture.accountId)
})
const connect = (settings: Record<string, string>, table: string) =>
  fixture.connect({ id: eventStreamConnectorId }, settings, postgresql, { table })
const move = async (connection: string) => fixture.ended(connection, (await fixture.start(connection)).id)

describe('a stream', () => {
  test('takes any JSON, an object or a list, and stores an event with the same ID once', async () => {
    const path = `/events/${stream.id}`
    const headers = { authorization: basic(stream.key) }
    const one = await post(path, { messageId: 'a', total: 1 }, headers)
    assert.deepEqual([one.status, one.response], [200, { accepted: 1, duplicates: 0, refused: [] }])
    const list = await post(path, [{ messageId: 'a' }, { messageId: 'b' }, { total: 2 }, 7], headers)
    assert.deepEqual(list.response, {
      accepted: 2,
      duplicates: 1,
      refused: [{ index: 3, reason: 'is not a JSON object' }],
    })
    const byHeader = () => post(path, { total: 3 }, { ...headers, 'webhook-id': 'msg_1' })
    assert.deepEqual((await byHeader()).response, { accepted: 1, duplicates: 0, refused: [] })
    assert.deepEqual((await byHeader()).response, { accepted: 0, duplicates: 1, refused: [] })
    const lines = await post(path, '{"n":1}\n{"n":2}\n', { ...headers, 'content-type': 'application/x-ndjson' })
    assert.deepEqual(lines.response, { accepted: 2, duplicates: 0, refused: [] })
    const { accepted, duplicates, keptEvents, keys } = await streamOf(stream.id)
    assert.deepEqual([accepted, duplicates, keptEvents], [6, 2, 6])
    assert.notEqual(keys[0]?.lastUsedTime, null)
  })

  test('moves to a table: the keys of events are columns, in order, and each connection gets every event once', async () => {
    await fixture.target.query(
      'create table received (n bigint, "messageId" text, total bigint, _number bigint, _received_time timestamptz)',
    )
    const first = await connect({}, 'received')
    const transfer = await move(first)
    assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
    assert.deepEqual(transfer.records.accepted, 6)
    const rows = async () =>
      (
        await fixture.target.query(
          'select _number::int as at, "messageId", total::int, n::int from received order by _number',
        )
      ).rows
    assert.deepEqual(
      (await rows()).map(({ at, total, n }) => [at, total, n]),
      [
        [1, 1, null],
        [2, null, null],
        [3, 2, null],
        [4, 3, null],
        [5, null, 1],
        [6, null, 2],
      ],
    )
    await post(
      '/v1/track',
      { event: 'Order', userId: 'u1', properties: { total: 9 } },
      { authorization: basic(stream.key) },
    )
    const { consumers, columns } = await streamOf(stream.id)
    const kindsOf = (column: string) => columns.find(({ name }) => name === column)?.kinds
    assert.deepEqual(['event', 'n', 'properties.total', 'nothing'].map(kindsOf), [
      ['text'],
      ['integer'],
      ['integer'],
      undefined,
    ])
    assert.deepEqual(
      consumers?.map(({ connectionId, readNumber, behindEvents }) => [connectionId, readNumber, behindEvents]),
      [[first, 6, 1]],
    )
  })

  test('is the tracking API of Segment: each path, gzip, keys in the body, and the clock of the client', async () => {
    const sentAt = new Date(Date.now() - 3_600_000).toISOString()
    const timestamp = new Date(Date.now() - 3_600_000 - 5_000).toISOString()
    const batch = {
      batch: [
        { type: 'track', event: 'A', userId: 'u', messageId: 'm1', timestamp },
        { type: 'identify', userId: 'u', messageId: 'm2', traits: { email: 'ada@example.com' }, timestamp },
      ],
      sentAt,
      context: { library: { name: 'test' } },
    }
    const sent = await post('/v1/batch', gzipSync(JSON.stringify(batch)), {
      authorization: basic(stream.key),
      'content-encoding': 'gzip',
    })
    assert.deepEqual([sent.status, sent.text], [200, '{"success":true}'])
    const inBody = await post(
      '/v1/t',
      { event: 'B', anonymousId: 'x', writeKey: stream.key },
      { 'content-type': 'text/plain' },
    )
    assert.equal(inBody.status, 200)
    for (const call of ['identify', 'page', 'screen', 'group', 'alias', 'i', 'p', 's', 'g', 'a', 'merge'])
      assert.equal((await post(`/v1/${call}`, { userId: 'u' }, { authorization: basic(stream.key) })).status, 200, call)
    assert.equal((await post(`/beacon/v1/batch?writeKey=${stream.key}`, batch)).status, 200)
    await fixture.target.query(
      'create table tracked (type text, event text, "messageId" text, "timestamp" timestamptz, "traits.email" text, "context.library.name" text, _number bigint)',
    )
    const mapping = JSON.stringify(
      Object.fromEntries(
        ['type', 'event', 'messageId', 'timestamp', 'traits.email', 'context.library.name', '_number'].map((name) => [
          name,
          name,
        ]),
      ),
    )
    const connection = await fixture.connect({ id: eventStreamConnectorId }, {}, postgresql, {
      table: 'tracked',
      mapping,
    })
    const transfer = await move(connection)
    assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
    const { rows } = await fixture.target.query(
      `select * from tracked where "messageId" in ('m1', 'm2') order by _number`,
    )
    assert.deepEqual(
      rows.map((row) => [row.type, row.event, row['traits.email'], row['context.library.name']]),
      [
        ['track', 'A', null, 'test'],
        ['identify', null, 'ada@example.com', 'test'],
      ],
    )
    const behindMs = Date.now() - rows[0].timestamp.getTime()
    assert.ok(behindMs > 4_000 && behindMs < 60_000, 'five seconds before it arrived, by the clock of the service')
  })

  test('takes pixels, and answers a picture even to a refusal', async () => {
    const before = (await streamOf(stream.id)).accepted
    const data = Buffer.from(JSON.stringify({ event: 'Opened', userId: 'u', writeKey: stream.key })).toString('base64')
    const answers = [
      await get(`/v1/pixel/track?data=${encodeURIComponent(data)}`),
      await get(`/pixel/v1/page?writeKey=${stream.key}&anonymousId=a&properties.path=/x`),
      await get(`/events/${stream.id}/pixel.gif?writeKey=${stream.key}&campaign=spring`),
      await get('/pixel/v1/track?writeKey=unknown'),
      await get('/v1/pixel/track?data=!!!'),
    ]
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers['content-type']]),
      [200, 200, 200, 401, 400].map((status) => [status, 'image/gif']),
    )
    assert.equal((await streamOf(stream.id)).accepted, before + 3)
  })

  test('lets pages of its origins send, and no others', async () => {
    const { caller } = fixture
    const { id: accountId } = await caller.addAccount()
    const { id, key } = await addStreamWithKey(caller, accountId, {
      origins: 'https://shop.example.com',
      addresses: '127.0.0.0/8',
    })
    const from = (origin: string) => post(`/events/${id}`, { a: 1 }, { authorization: basic(key), origin })
    const allowed = await from('https://shop.example.com')
    assert.deepEqual(
      [allowed.status, allowed.headers['access-control-allow-origin']],
      [200, 'https://shop.example.com'],
    )
    assert.equal(allowed.headers['cross-origin-resource-policy'], 'cross-origin')
    assert.deepEqual([(await from('https://evil.example.com')).status], [403])
    const preflight = await fixture.service.send({
      method: 'OPTIONS',
      path: '/v1/t',
      headers: {
        origin: 'https://a.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-retry-count',
      },
    })
    assert.deepEqual(
      [
        preflight.status,
        preflight.headers['access-control-allow-headers'],
        preflight.headers['access-control-allow-origin'],
      ],
      [204, 'x-retry-count', 'https://a.example'],
    )
  })

  test('answers 401, 404 and 413 with sentences, and deletes keys', async () => {
    const { caller } = fixture
    const { id: accountId } = await caller.addAccount()
    const { id, key } = await addStreamWithKey(caller, accountId)
    const send = (as: string, body: unknown = { a: 1 }) => post(`/events/${id}`, body, { authorization: basic(as) })
    assert.equal((await send(key)).status, 200)
    const unknown = await send('pwk_00000000000000000000000000000000')
    assert.deepEqual([unknown.status, unknown.details[0]?.field], [401, 'key'])
    assert.equal((await send(stream.key)).status, 401, 'the key of another stream')
    const next = await caller.expect(caller.call('createStreamKey', { accountId, id }))
    assert.deepEqual([(await send(next.key)).status, (await send(key)).status], [200, 200])
    assert.equal((await caller.call('createStreamKey', { accountId, id })).error, 'quota_exceeded')
    const [old] = (await caller.expect(caller.call('getStream', { accountId, id }))).keys
    await caller.expect(caller.call('deleteStreamKey', { accountId, id: old?.id ?? '' }))
    await until('the key is no longer accepted', async () => (await send(key)).status === 401)
    assert.equal((await send(next.key, 'x'.repeat(4 * 1024 ** 2 + 1))).status, 413)
    assert.equal((await send(next.key, gzipSync(Buffer.alloc(9_000_000)))).status, 400, 'not declared as gzip')
    const bomb = await post(`/events/${id}`, gzipSync(Buffer.alloc(50_000_000)), {
      authorization: basic(next.key),
      'content-encoding': 'gzip',
    })
    assert.equal(bomb.status, 413)
    const settings = await get(`/v1/projects/${next.key}/settings`)
    assert.deepEqual(JSON.parse(settings.text).integrations['Segment.io'].apiHost, 'penstock.test/v1')
    assert.equal((await get('/v1/projects/unknown/settings')).status, 404)
    assert.equal((await get('/sourceConfig/', { authorization: basic(next.key) })).status, 200)
    const body = { secretConfig: { receive: false } }
    await caller.expect(caller.call('configureConnector', { accountId, id: eventStreamConnectorId, body }))
    await until('the stream is closed', async () => (await send(next.key)).status === 404)
  })

  test('answers whatever is sent to it without an error of its own, and logs no value of an event', async () => {
    const key = { authorization: basic(stream.key) }
    const paths = [
      `/events/${stream.id}`,
      '/v1/webhook',
      ...trackingPaths.filter((call) => /^(?:batch|t|page|import)$/.test(call)).map((call) => `/v1/${call}`),
      '/beacon/v1/batch',
      '/v1/nothing',
    ]
    const deep = '['.repeat(100_000)
    const bodies: (string | Buffer)[] = [
      '',
      'null',
      '0',
      '"text"',
      '[]',
      '{}',
      '[null]',
      '{"batch":null}',
      '{"batch":[null,1,"a",[],{}]}',
      '{"batch":{}}',
      deep,
      `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
      `${deep}1e999999999999999999${deep.replaceAll('[', ']')}`,
      '{"__proto__":{"a":1},"constructor":{"prototype":1},"toString":1}',
      '{"a\\u0000b":1,"\\ud800":2,"\\udfff":3,"":4}',
      '{"messageId":{"a":1},"timestamp":{},"sentAt":[],"context":7,"integrations":"x","traits":null}',
      '{"timestamp":1e308,"sentAt":"-271821-04-20T00:00:00Z","originalTimestamp":-1e308}',
      '{"timestamp":"+275760-09-13T00:00:00Z","sentAt":9007199254740993}',
      `{${Array.from({ length: 3_000 }, (_, i) => `"k${i}":${i}`).join()}}`,
      `[${Array.from({ length: 6_000 }, () => '{}').join()}]`,
      `{"secretvalue":"${'x'.repeat(300_000)}"}`,
      Buffer.from([0xff, 0xfe, 0x00]),
      Buffer.from([0x1f, 0x8b, 0x08, 0x00]),
    ]
    const types = [
      '',
      'application/json',
      'text/plain',
      'application/x-ndjson',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'a',
      ';',
    ]
    const statuses = new Set<number>()
    for (const [index, path] of paths.entries()) {
      for (const [at, body] of bodies.entries()) {
        const type = types[(index + at) % types.length] ?? ''
        const encoding = ['', 'gzip', 'deflate', 'br', 'x'][(index * 3 + at) % 5] ?? ''
        for (const extra of [{}, { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) }]) {
          const { status, text } = await post(path, body, { ...key, ...extra })
          assert.ok(status < 500, `${path} ${at} ${JSON.stringify(extra)}: ${status} ${text}`)
          statuses.add(status)
        }
      }
    }
    for (const query of [
      '',
      '?data',
      '?data=e30=',
      `?data=${'A'.repeat(9_000)}`,
      '?a.b=1&a=2&a.b.c=3',
      '?__proto__.x=1',
      '?%00=%ff',
      '?writeKey=a&writeKey=b',
    ])
      for (const path of [
        `/events/${stream.id}/pixel.gif`,
        '/v1/pixel/track',
        '/pixel/v1/page',
        '/v1/pixel/x',
        '/sourceConfig',
        '/events/x/pixel.gif',
        '/v1/projects/%00/settings',
      ])
        for (const headers of [{}, key, { authorization: 'Basic' }, { authorization: 'Bearer x' }]) {
          const { status, text } = await get(path + query, headers as Record<string, string>)
          assert.ok(status < 500, `${path}${query}: ${status} ${text}`)
        }
    assert.ok(
      [200, 400, 404, 415].every((status) => statuses.has(status)),
      [...statuses].join(),
    )
    assert.ok(!fixture.service.logLines.join('').includes('secretvalue'))
    const columns = await fixture.service.database.pool.query<{ name: string }>('select name from stream_columns')
    assert.ok(columns.rows.every(({ name }) => name.isWellFormed()))
  })
})
