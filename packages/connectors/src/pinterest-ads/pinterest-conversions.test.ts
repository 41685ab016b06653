import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  conversionToken,
  eventsAccount,
  type PinterestEvents,
  startPinterestEvents,
} from '../../test/pinterest-events-server.ts'
import { assertFailure, batchOf, connectorErrorOf, hangOf, problemOf } from '../../test/platform-server.ts'
import { pinterestConversions } from './pinterest-conversions.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const seconds = Math.floor(Date.now() / 1000) - 60
const secrets = { conversionToken }
const columns = ['event_name', 'event_time', 'action_source', 'email', 'event_source_url', 'event_id']
const lead = (n: number, page = 'https://shop.example.com/'): Cell[] => [
  ...['lead', seconds, 'web', sha(`${n}@example.com`), page, `e-${n}`],
]
const refused = 'https://refused.example.com/'

describe('Pinterest Conversions, against a server that keeps to its OpenAPI document', () => {
  let pinterest: PinterestEvents
  beforeEach(async () => {
    pinterest = await startPinterestEvents()
  })
  afterEach(() => pinterest.close())
  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      secrets,
      settings: { adAccountId: eventsAccount },
      routes: { 'https://api.pinterest.com': pinterest.url },
      columns,
      ...options,
    })
  function openWriter(options: TestContextOptions = {}) {
    const { deliver } = pinterestConversions.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }

  test('makes Pinterest’s events of columns, with amounts as texts and digests in lists', async () => {
    const row: Record<string, Cell> = {
      ...{ event_name: 'checkout', event_time: seconds * 1000, action_source: 'website', event_id: 'order-1' },
      ...{ event_source_url: 'https://shop.example.com/?epik=dj0', email: sha('jane@example.com').toUpperCase() },
      ...{ phone: sha('493012345678'), first_name: sha('jane'), last_name: sha('doe'), gender: sha('f') },
      ...{ date_of_birth: sha('19800131'), city: sha('berlin'), state: sha('be'), zip: sha('10115') },
      ...{ country: sha('de'), external_id: sha('c-1'), maid: sha('6d92078a-8246-4ba4-ae5b-76104861e7dc') },
      ...{ client_ip_address: '203.0.113.7', client_user_agent: 'Browser/1', value: '72.39', currency: 'eur' },
      ...{
        contents: '[{"id":"a","quantity":"2","item_price":14.99,"colour":"red"}]',
        content_ids: 'a,b',
        num_items: 2,
      },
      ...{
        order_id: 'o-1',
        custom_data: '{"predicted_ltv":5,"content_name":"Shirt"}',
        opt_out: 'no',
        opt_out_type: 'LDP',
      },
      ...{ language: 'en-US', wifi: 'true', os_version: '17.1' },
    }
    const batch = batchOf(Object.keys(row), [Object.values(row)])
    assert.deepEqual((await (await openWriter()).deliver(batch)).rejected, [])
    assert.deepEqual(pinterest.received.at(-1)?.json, {
      data: [
        {
          ...{ event_name: 'checkout', action_source: 'web', event_time: seconds, event_id: 'order-1' },
          user_data: {
            ...{ em: [sha('jane@example.com')], ph: [sha('493012345678')], fn: [sha('jane')], ln: [sha('doe')] },
            ...{ ge: [sha('f')], db: [sha('19800131')], ct: [sha('berlin')], st: [sha('be')], zp: [sha('10115')] },
            ...{ country: [sha('de')], external_id: [sha('c-1')], client_ip_address: '203.0.113.7' },
            ...{ hashed_maids: [sha('6d92078a-8246-4ba4-ae5b-76104861e7dc')], client_user_agent: 'Browser/1' },
            click_id: 'dj0',
          },
          ...{ os_version: '17.1', event_source_url: 'https://shop.example.com/?epik=dj0' },
          custom_data: {
            ...{ predicted_ltv: '5', content_name: 'Shirt', value: '72.39', currency: 'EUR', content_ids: ['a', 'b'] },
            ...{ contents: [{ id: 'a', item_price: '14.99', quantity: 2 }], num_items: 2, order_id: 'o-1' },
            opt_out_type: 'LDP',
          },
          ...{ opt_out: false, partner_name: 'ss-penstock', language: 'en', wifi: true },
        },
      ],
    })
    assert.equal(pinterest.received.at(-1)?.query.has('test'), false)
  })

  test('names the events that Pinterest fails in an answer that is a success, and those of a partial failure', async () => {
    const batch = batchOf(columns, [lead(1), lead(2, refused), lead(3)])
    const writer = await openWriter()
    const indexesOf = async () => (await writer.deliver(batch)).rejected?.map(({ index }) => index)
    assert.deepEqual(await indexesOf(), [1])
    assert.deepEqual([...pinterest.events.keys()], ['e-1', 'e-3'])
    const events = [{ status: 'failed', error_message: 'jane@example.com' }, { status: 'processed' }, 7]
    const json = { code: 1, message: 'x', details: { events } }
    pinterest.failure(/events$/, { status: 422, json })
    assert.deepEqual(await indexesOf(), [0, 2])
    await writer.deliver(batch)
    assert.equal(pinterest.events.size, 2, 'an event that comes again is the same one')
  })

  test('only tries events in test mode', async () => {
    const writer = await openWriter({ settings: { adAccountId: eventsAccount, testMode: true } })
    assert.deepEqual((await writer.deliver(batchOf(columns, [lead(1), lead(2, refused)]))).rejected?.length, 1)
    assert.deepEqual([pinterest.events.size, pinterest.received.at(-1)?.query.get('test')], [0, 'true'])
  })

  test('finds the event for which Pinterest refuses a request', async () => {
    const batch = batchOf(columns, [lead(1), lead(2)])
    const bad = { status: 400, json: { code: 4196, message: 'jane@example.com' } }
    pinterest.failure(/events$/, bad)
    pinterest.failure(/events$/, bad)
    const { rejected } = await (await openWriter()).deliver(batch)
    assert.deepEqual(rejected, [{ index: 0, reason: 'Pinterest does not accept the event (status 400, code 4196).' }])
    assert.deepEqual([...pinterest.events.keys()], ['e-2'])
  })

  test('rejects before sending what Pinterest refuses a request for', async () => {
    const names = 'event_name event_time action_source email user_data custom_data contents client_ip_address'.split(
      ' ',
    )
    const good: Cell[] = ['lead', seconds, 'offline', sha('a'), null, null, null, null]
    const bad: [Cell[], string | undefined][] = [
      [good.with(0, 'Purchase'), 'event_name'],
      [good.with(0, null), 'event_name'],
      [good.with(1, 'today'), 'event_time'],
      [good.with(2, 'billboard'), 'action_source'],
      [good.with(3, 'jane@example.com'), 'email'],
      [good.with(3, null).with(4, '{"em":["jane"]}'), 'user_data'],
      [good.with(3, null).with(7, '203.0.113.7'), 'email'],
      [good.with(5, '{"colour":"red"}'), 'custom_data'],
      [good.with(5, '{"contents":"a"}'), 'custom_data'],
      [good.with(6, '["a"]'), 'contents'],
    ]
    const { rejected = [] } = await (await openWriter()).deliver(
      batchOf(
        names,
        bad.map(([row]) => row),
      ),
    )
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      bad.map(([, field], index) => [index, field]),
    )
    assert.equal(pinterest.received.length, 0)
  })

  test('makes of what Pinterest refuses as a whole, and of answers that are none, no bad rows', async () => {
    const setting = { server: pinterest, context: contextOf(), match: /events$/ }
    const batch = batchOf(columns, [lead(1)])
    const writer = await openWriter()
    const json = { code: 1, message: 'jane@example.com' }
    const retryAfter = { status: 429, json, headers: { 'retry-after': '20' } }
    await assertFailure(setting, writer, batch, retryAfter, { action: 'retry', code: 'rate_limited', afterMs: 20_000 })
    await assertFailure(
      setting,
      writer,
      batch,
      { status: 401, json },
      { action: 'reauthenticate', code: 'invalid_credentials' },
    )
    await assertFailure(
      setting,
      writer,
      batch,
      { status: 403, json },
      { action: 'reconfigure', code: 'permission_denied' },
    )
    await assertFailure(
      setting,
      writer,
      batch,
      { status: 404, json },
      { action: 'reconfigure', code: 'object_not_found' },
    )
    for (const hostile of [{}, { events: 7 }, { events: [{}, {}] }, { details: { events: 'x' } }]) {
      pinterest.failure(/events$/, { json: hostile })
      assert.equal((await connectorErrorOf(writer.deliver(batch), contextOf())).code, 'malformed_response')
    }
    pinterest.failure(/events$/, { json: { events: [{ status: ['processed'] }] } })
    assert.equal((await writer.deliver(batch)).rejected?.length, 1)
    const { code } = await connectorErrorOf(openWriter({ settings: { adAccountId: '../me' } }), contextOf())
    assert.equal(code, 'invalid_setting')
  })

  test('checks the token with an event that Pinterest does not record', async () => {
    const { check } = pinterestConversions
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) => (await check(contextOf(options))).map(({ ok }) => ok)
    assert.deepEqual(await run(), [true, true, true])
    assert.deepEqual(await run({ settings: {} }), [true, true, true])
    assert.deepEqual(await run({ settings: { adAccountId: '1' } }), [true, true, false])
    assert.deepEqual(await run({ secrets: { conversionToken: 'other' } }), [true, false])
    assert.equal(pinterest.events.size, 0)
  })
})

const testServer = await startPinterestEvents()
after(() => testServer.close())

acceptDestination({
  connector: pinterestConversions,
  testServer: 'a server that keeps to its OpenAPI document',
  secrets,
  wrongSecrets: { conversionToken: 'expired-token' },
  settings: { adAccountId: eventsAccount },
  missing: { adAccountId: '1' },
  context: { routes: { 'https://api.pinterest.com': testServer.url } },
  columns: columns.slice(0, 5),
  rows: Array.from({ length: 12 }, (_, n) => lead(n).slice(0, 5)),
  badRows: [{ row: lead(1, refused).slice(0, 5), reason: /could not process/ }],
  async readBack() {
    return [...testServer.events.values()].map((event) => [
      ...[String(event.event_name), Number(event.event_time), String(event.action_source)],
      ...[String((event.user_data as { em: string[] }).em[0]), String(event.event_source_url)],
    ])
  },
  reset: () => testServer.events.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(
      testServer,
      /events$/,
      { status: 429, text: '' },
      { name: 'limits calls', action: 'retry', code: 'rate_limited' },
    ),
    problemOf(testServer, /events$/, { status: 500, text: '' }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, /events$/, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(
      testServer,
      /events$/,
      { status: 401, json: {} },
      { name: 'finds the token expired', action: 'reauthenticate' },
    ),
  ],
  hang: hangOf(testServer, /events$/),
})
