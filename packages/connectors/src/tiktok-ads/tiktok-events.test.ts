import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import { coded, startTikTok, type TikTokServer, tiktokSecrets, tiktokSettings } from '../../test/tiktok-server.ts'
import { refusalsMax } from '../platform-api/rows/refusals.ts'
import { tiktokEvents } from './tiktok-events.ts'

const columns = ['event', 'event_time', 'event_source', 'context', 'properties', 'event_id']
const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const iso = (daysAgo = 0) => new Date(Date.now() - daysAgo * 86_400_000 - 60_000).toISOString()
const person = JSON.stringify({ user: { email: sha('jane@example.com') }, ip: '192.0.2.7', user_agent: 'Acme/1' })

describe('TikTok Events, against a server that keeps to what is known of TikTok', () => {
  let tiktok: TikTokServer

  beforeEach(async () => {
    tiktok = await startTikTok()
  })
  afterEach(() => tiktok.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      ...{ secrets: tiktokSecrets, settings: tiktokSettings, columns },
      routes: { 'https://business-api.tiktok.com': tiktok.url },
      ...options,
    })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = tiktokEvents.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const click = (source: string, id: string | null = null): Cell[] => ['ClickButton', iso(), source, person, null, id]

  test('sends events of every kind to where they belong, and delivers twice without a second one', async () => {
    const v2 = JSON.stringify({ phone: [sha('+12025550100')], ttclid: 'E.C.P', page: { url: 'https://acme.example/' } })
    const bought: Cell[] = ['Purchase', iso(40), 'offline', v2, '{"value":9.5,"currency":"EUR"}', 'own-id']
    const batch = batchOf(columns, [click('web'), bought, click('app')])
    for (let times = 0; times < 2; times++) {
      const { rejected } = await (await openWriter()).deliver(batch)
      assert.deepEqual(rejected, [])
    }
    const kept = [...tiktok.events.values()]
    assert.deepEqual(kept.map(({ event_source }) => event_source).sort(), ['app', 'offline', 'web'])
    const { event_time: time, ...purchase } = tiktok.events.get('Purchase\nown-id') ?? {}
    assert.equal(time, Math.floor(Date.parse(String(bought[1])) / 1000))
    assert.deepEqual(purchase, {
      ...{ event: 'Purchase', event_id: 'own-id', event_source: 'offline' },
      user: { phone: [sha('+12025550100')], ttclid: 'E.C.P' },
      properties: { value: 9.5, currency: 'EUR' },
      page: { url: 'https://acme.example/' },
    })
    assert.deepEqual(kept[0]?.user, { email: [sha('jane@example.com')], ip: '192.0.2.7', user_agent: 'Acme/1' })
  })

  test('sends what columns of their own say, exactly', async () => {
    const time = Math.floor(Date.now() / 1000) - 60
    const cells: Record<string, Cell> = {
      ...{ event: 'Purchase', event_time: `${time}123`, event_source: 'CRM', event_id: 'e-1' },
      ...{ email: sha('jane@example.com').toUpperCase(), phone: sha('+12025550100'), external_id: sha('u1') },
      ...{ first_name: sha('jane'), city: 'newyork', country: 'us', ip: '192.0.2.7', user_agent: 'Mozilla/5.0' },
      ...{ ttp: 'cookie', page_url: 'https://shop.example/?ttclid=E.C.P&x=1', value: '9.50', currency: 'eur' },
      ...{ content_ids: 'a1; b,2', contents: '[{"content_id":"a1","quantity":1,"price":9.5}]', num_items: 2 },
      ...{ order_id: 'o-7', lead_id: '77', lead_event_source: 'Acme CRM', limited_data_use: 'yes' },
      ...{ context: '{"user":{"ttp":"another","locale":"en"}}', properties: '{"value":1,"content_type":"product"}' },
    }
    const writer = await openWriter({ settings: { ...tiktokSettings, crmEventSetId: '8001', testEventCode: 'T1' } })
    assert.deepEqual((await writer.deliver(batchOf(Object.keys(cells), [Object.values(cells)]))).rejected, [])
    assert.deepEqual(tiktok.received[0]?.json, {
      event_source: 'crm',
      event_source_id: '8001',
      partner_name: 'Penstock',
      test_event_code: 'T1',
      data: [
        {
          event: 'Purchase',
          event_time: time,
          event_id: 'e-1',
          user: {
            email: [sha('jane@example.com')],
            phone: [sha('+12025550100')],
            external_id: [sha('u1')],
            first_name: sha('jane'),
            ttp: 'cookie',
            ip: '192.0.2.7',
            user_agent: 'Mozilla/5.0',
            locale: 'en',
            city: 'newyork',
            country: 'us',
            ttclid: 'E.C.P',
          },
          properties: {
            value: 9.5,
            content_type: 'product',
            currency: 'EUR',
            content_ids: ['a1', 'b,2'],
            contents: [{ content_id: 'a1', quantity: 1, price: 9.5 }],
            num_items: 2,
            order_id: 'o-7',
          },
          page: { url: 'https://shop.example/?ttclid=E.C.P&x=1' },
          lead: { lead_id: '77', lead_event_source: 'Acme CRM' },
          limited_data_use: true,
        },
      ],
    })
  })

  test('gives up after a bounded number of requests where TikTok refuses every event', async () => {
    const rows = Array.from({ length: 1000 }, (): Cell[] => ['no name of an event', ...click('web').slice(1)])
    const connectorError = await connectorErrorOf((await openWriter()).deliver(batchOf(columns, rows)), contextOf())
    assert.deepEqual([connectorError.action, connectorError.code], ['fail', 'everything_refused'])
    assert.equal(tiktok.received.length, refusalsMax)
  })

  test('takes a batch of the largest size', async () => {
    const { rowsMax = 0 } = tiktokEvents.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, () => click('web'))
    assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
    assert.equal(tiktok.events.size, rowsMax)
  })

  test('rejects before sending what cannot be taken', async () => {
    const rows: [Cell[], string][] = [
      [['', iso(), 'web', person, null, null], 'event'],
      [['ClickButton', iso(8), 'web', person, null, null], 'event_time'],
      [['ClickButton', 'yesterday', 'web', person, null, null], 'event_time'],
      [['ClickButton', iso(), 'tv', person, null, null], 'event_source'],
      [['ClickButton', iso(), 'web', '{"email":"jane@example.com"}', null, null], 'context'],
      [['ClickButton', iso(), 'web', '{"locale":"en"}', null, null], 'context'],
      [['ClickButton', iso(), 'web', '[]', null, null], 'context'],
      [['ClickButton', iso(), 'web', person, 'red', null], 'properties'],
      [click('app'), 'event_source'],
    ]
    const batch = batchOf(columns, [...rows.map(([row]) => row), click('web')])
    const writer = await openWriter({ settings: { pixelCode: 'CPIXEL' } })
    const { rejected = [] } = await writer.deliver(batch)
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example/)
    assert.equal(tiktok.events.size, 1)
  })

  for (const by of ['event_id', 'index', 'nothing'] as const) {
    test(`names the events that TikTok did not accept of several, where it lists them by ${by}`, async () => {
      tiktok.listing.by = by
      const strange = (): Cell[] => ['no such event!', iso(), 'web', person, null, null]
      const rows = Array.from({ length: 40 }, (_, n) => (n === 3 || n === 31 ? strange() : click('web')))
      const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
      assert.deepEqual(
        rejected?.map(({ index }) => index),
        [3, 31],
      )
      assert.equal(tiktok.events.size, 38, 'what was sent again counts once')
    })
  }

  test('rejects every event of a batch that TikTok refuses as a whole', async () => {
    const rows = [0, 1, 2].map((): Cell[] => ['no such event!', iso(), 'web', person, null, null])
    const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(
      rejected?.map(({ index }) => index),
      [0, 1, 2],
    )
  })

  test('maps each of TikTok’s codes to a code of ours', async () => {
    const cases: [Failure, ErrorAction, string, number?][] = [
      [coded(40100), 'retry', 'rate_limited'],
      [{ ...coded(40100), headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
      [coded(40016), 'retry', 'rate_limited'],
      [coded(40202), 'retry', 'conflict'],
      [coded(60001), 'retry', 'platform_error'],
      [{ json: { code: {}, data: 1 } }, 'retry', 'malformed_response'],
      [coded(50000), 'retry', 'platform_error'],
      [coded(51305), 'retry', 'platform_error'],
      [{ status: 502, text: '<html>' }, 'retry', 'platform_error'],
      [{ text: '<html>' }, 'retry', 'malformed_response'],
      ['reset', 'retry', 'connection_lost'],
      [coded(40102), 'reauthenticate', 'invalid_credentials'],
      [coded(40104), 'reauthenticate', 'invalid_credentials'],
      [coded(40105), 'reauthenticate', 'invalid_credentials'],
      [coded(40001), 'reconfigure', 'permission_denied'],
      [{ status: 413, text: '' }, 'split', 'batch_too_large'],
      [coded(41000), 'fail', 'request_refused'],
    ]
    const setting = { server: tiktok, context: contextOf(), match: /track/ }
    const writer = await openWriter()
    const batch = batchOf(columns, [click('web')])
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batch, failure, wanted)
    }
    assert.equal(tiktok.events.size, 0)
    const wrong = await openWriter({ settings: { pixelCode: 'CANOTHER' } })
    assert.equal((await connectorErrorOf(wrong.deliver(batch), contextOf())).code, 'permission_denied')
  })

  test('checks whether TikTok is reached, the token accepted and the pixel writable, and sends no event', async () => {
    const { check } = tiktokEvents
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions true'])
    assert.deepEqual(await run({ settings: {} }), ['connectivity true', 'authentication true', 'permissions true'])
    const another = { settings: { pixelCode: 'CANOTHER' } }
    assert.deepEqual(await run(another), ['connectivity true', 'authentication true', 'permissions false'])
    assert.deepEqual(await run({ secrets: { accessToken: 'expired' } }), ['connectivity true', 'authentication false'])
    assert.equal(tiktok.events.size, 0)
  })
})

const testServer = await startTikTok()
after(() => testServer.close())
const timestamp = Math.floor(Date.now() / 1000) - 60
const device = JSON.stringify({ ip: '192.0.2.7' })

acceptDestination({
  connector: tiktokEvents,
  testServer: 'a server that keeps to what is known of TikTok',
  secrets: tiktokSecrets,
  wrongSecrets: { accessToken: 'expired-token' },
  settings: tiktokSettings,
  missing: { pixelCode: 'CANOTHER' },
  context: { routes: { 'https://business-api.tiktok.com': testServer.url } },
  columns: columns.slice(0, 4),
  rows: Array.from({ length: 12 }, (_, n) => [`Click ${n}`, timestamp, 'web', device]),
  badRows: [
    { row: ['bad name!', timestamp, 'web', device], reason: /did not accept/ },
    { row: ['Click', timestamp - 8 * 86_400, 'web', device], reason: /older than the 7 days/, field: 'event_time' },
  ],
  async readBack() {
    return [...testServer.events.values()].map(({ event, event_time, event_source, user }) => [
      ...[String(event), Number(event_time), String(event_source), JSON.stringify(user)],
    ])
  },
  reset: () => testServer.events.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, /track/, coded(40100), { name: 'limits calls', action: 'retry', code: 'rate_limited' }),
    problemOf(testServer, /track/, coded(50002), { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, /track/, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, /track/, coded(40105), { name: 'finds the token expired', action: 'reauthenticate' }),
  ],
  hang: hangOf(testServer, /track/),
})
