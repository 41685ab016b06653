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
import {
  type SnapchatServer,
  snapchatRoutes,
  snapchatSecrets,
  snapchatSettings,
  startSnapchat,
} from '../../test/snapchat-server.ts'
import { objectIn } from '../platform-api/json.ts'
import { refusalsMax } from '../platform-api/rows/refusals.ts'
import { snapchatConversions } from './snapchat-conversions.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const seconds = (daysAgo = 0) => Math.floor(Date.now() / 1000) - daysAgo * 86_400 - 60
const columns = ['event_name', 'event_time', 'action_source', 'email', 'conversion_value', 'currency', 'event_id']
const purchase = (id: string | null = null, source = 'WEB'): Cell[] => [
  ...['PURCHASE', seconds(), source, sha('jane@example.com'), '9.50', 'eur', id],
]
const nameless = (): Cell[] => ['no such event!', ...purchase().slice(1)]

describe('Snapchat Conversions, against a server that keeps to what is known of Snapchat', () => {
  let snapchat: SnapchatServer

  beforeEach(async () => {
    snapchat = await startSnapchat()
  })
  afterEach(() => snapchat.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      ...{ secrets: snapchatSecrets, settings: snapchatSettings, columns },
      routes: snapchatRoutes(snapchat.url),
      ...options,
    })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = snapchatConversions.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const posted = () => snapchat.received.filter(({ path }) => path.endsWith('/events'))

  test('sends what columns say of an event on the web, exactly', async () => {
    const time = seconds()
    // The digests of Snapchat's page about parameters, one of them in upper case.
    const cells: Record<string, Cell> = {
      ...{ event_name: 'PURCHASE', event_time: time * 1000 + 7, action_source: 'website', event_id: 'e-1' },
      ...{ conversion_value: '142.52', currency: 'usd', order_id: 'o-7', content_ids: '["003","004"]', num_items: 2 },
      contents: '[{"id":"003","quantity":"1","item_price":"5"}]',
      email: '542d240129883c019e106e3b1b2d3f3cb3537c43c425364de8e951d5a3083345'.toUpperCase(),
      phone: 'dc008fda46e2e64002cf2f82a4906236282d431c4f75e5b60bfe79fc48546383',
      first_name: '96d9632f363564cc3032521409cf22a852f2032eec099ed5967c0d000cec607a',
      ...{ external_id: sha('u-1'), client_ip_address: '192.0.2.7', client_user_agent: 'Mozilla/5.0' },
      ...{ sc_click_id: 'click', sc_cookie1: 'cookie', event_source_url: 'https://shop.example/' },
      ...{ limited_data_use: 'LDU', data_processing_options_country: 1, data_processing_options_state: '1000' },
    }
    const writer = await openWriter()
    assert.deepEqual((await writer.deliver(batchOf(Object.keys(cells), [Object.values(cells)]))).rejected, [])
    const [request] = posted()
    assert.equal(request?.path, `/v3/${snapchatSettings.pixelId}/events`)
    assert.deepEqual(request?.json, {
      data: [
        {
          event_name: 'PURCHASE',
          event_time: time,
          event_id: 'e-1',
          event_source_url: 'https://shop.example/',
          action_source: 'WEB',
          user_data: {
            em: ['542d240129883c019e106e3b1b2d3f3cb3537c43c425364de8e951d5a3083345'],
            ph: ['dc008fda46e2e64002cf2f82a4906236282d431c4f75e5b60bfe79fc48546383'],
            fn: '96d9632f363564cc3032521409cf22a852f2032eec099ed5967c0d000cec607a',
            external_id: [sha('u-1')],
            client_ip_address: '192.0.2.7',
            client_user_agent: 'Mozilla/5.0',
            sc_click_id: 'click',
            sc_cookie1: 'cookie',
          },
          custom_data: {
            value: 142.52,
            currency: 'USD',
            content_ids: ['003', '004'],
            contents: [{ id: '003', quantity: '1', item_price: '5' }],
            num_items: 2,
            order_id: 'o-7',
          },
          data_processing_options: ['LDU'],
          data_processing_options_country: 1,
          data_processing_options_state: 1000,
          integration: 'penstock',
        },
      ],
    })
  })

  test('sends objects as they are, and events of apps to the app', async () => {
    const columns = ['event_name', 'event_time', 'action_source', 'user_data', 'custom_data', 'os_version', 'app_id']
    const user = JSON.stringify({ em: sha('jane@example.com'), madid: 'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6' })
    const rows: Cell[][] = [
      ['APP_OPEN', seconds(), 'MOBILE_APP', user, '{"search_string":"acme"}', '17.1', '1234567'],
      ['APP_OPEN', seconds(), 'app', user, null, null, null],
      ['PAGE_VIEW', seconds(30), 'physical_store', user, null, null, null],
    ]
    const settings = { ...snapchatSettings, appId: 'com.example.shop', testEventCode: 'T1' }
    const { rejected } = await (await openWriter({ settings })).deliver(batchOf(columns, rows))
    assert.deepEqual(rejected, [])
    const [stored, opened, second] = [...snapchat.events.values()]
    assert.equal(stored?.action_source, 'OFFLINE')
    assert.deepEqual(stored?.user_data, {
      em: [sha('jane@example.com')],
      madid: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    })
    assert.equal(stored?.test_event_code, 'T1')
    assert.deepEqual(opened?.app_data, {
      app_id: '1234567',
      advertiser_tracking_enabled: 0,
      extinfo: ['i2', '', '', '', '17.1', ...Array.from({ length: 11 }, () => '')],
    })
    assert.deepEqual(opened?.custom_data, { search_string: 'acme' })
    assert.deepEqual(objectIn(second?.app_data).app_id, 'com.example.shop')
    assert.deepEqual(
      posted().map(({ path }) => path.split('/')[2]),
      [snapchatSettings.pixelId, snapchatSettings.snapAppId],
    )
  })

  test('rejects before sending what cannot be taken', async () => {
    const columns = ['event_name', 'event_time', 'action_source', 'user_data', 'conversion_value', 'currency']
    const person = JSON.stringify({ ph: [sha('12025550100')] })
    const rows: [Cell[], string | undefined][] = [
      [['', seconds(), 'WEB', person, 1, 'EUR'], 'event_name'],
      [['PURCHASE', seconds(38), 'WEB', person, 1, 'EUR'], 'event_time'],
      [['PURCHASE', 'yesterday', 'WEB', person, 1, 'EUR'], 'event_time'],
      [['PURCHASE', seconds(), 'TV', person, 1, 'EUR'], 'action_source'],
      [['PURCHASE', seconds(), 'WEB', '{"em":"jane@example.com"}', 1, 'EUR'], 'user_data'],
      [['PURCHASE', seconds(), 'WEB', `{"fn":"${sha('jane')}","client_ip_address":"192.0.2.7"}`, 1, 'EUR'], 'email'],
      [['PURCHASE', seconds(), 'WEB', '[]', 1, 'EUR'], 'user_data'],
      [['PURCHASE', seconds(), 'WEB', person, '1,50', 'EUR'], 'conversion_value'],
      [['PURCHASE', seconds(), 'WEB', person, null, 'EUR'], 'conversion_value'],
      [['PURCHASE', seconds(), 'WEB', person, 1, 'Euro'], 'currency'],
      [['PURCHASE', seconds(), 'MOBILE_APP', person, 1, 'EUR'], 'action_source'],
    ]
    const batch = batchOf(columns, [...rows.map(([row]) => row), ['PURCHASE', seconds(), 'WEB', person, 1, 'EUR']])
    const { pixelId } = snapchatSettings
    const { rejected = [] } = await (await openWriter({ settings: { pixelId } })).deliver(batch)
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example/)
    assert.equal(snapchat.events.size, 1)
  })

  test('takes a batch of the largest size, and finds the events that Snapchat does not accept, with its codes', async () => {
    const { rowsMax = 0 } = snapchatConversions.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, (_, n) => (n === 3 || n === 1731 ? nameless() : purchase()))
    const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
    const reason =
      'Snapchat did not accept the event (E_EVENT_NAME); check its name, its time, the person and the value.'
    assert.deepEqual(rejected, [
      { index: 3, reason },
      { index: 1731, reason },
    ])
    assert.equal(snapchat.events.size, rowsMax - 2, 'what was sent again counts once')
  })

  test('delivers a batch twice without a second event', async () => {
    const batch = batchOf(columns, [purchase(), purchase('own-id'), purchase(null, 'OFFLINE')])
    for (let times = 0; times < 2; times++) await (await openWriter()).deliver(batch)
    assert.equal(snapchat.events.size, 3)
  })

  test('gives up after a bounded number of requests where Snapchat refuses every event', async () => {
    const rows = Array.from({ length: 1000 }, nameless)
    const error = await connectorErrorOf((await openWriter()).deliver(batchOf(columns, rows)), contextOf())
    assert.deepEqual([error.action, error.code], ['fail', 'everything_refused'])
    assert.equal(posted().length, refusalsMax)
  })

  test('renews an access token that ends in the middle of a batch, and shows it nowhere', async () => {
    const writer = await openWriter()
    await writer.deliver(batchOf(columns, [purchase()]))
    const [first = ''] = snapchat.accessTokens
    snapchat.accessTokens.push('ended early')
    assert.deepEqual((await writer.deliver(batchOf(columns, [purchase()], 2))).rejected, [])
    assert.equal(snapchat.events.size, 2)
    for (const failure of [{ status: 403, json: {} }, 'reset', { status: 429 }, { text: '<html>' }] as Failure[]) {
      snapchat.failure(/events$/, failure)
      const error = await connectorErrorOf(writer.deliver(batchOf(columns, [purchase()], 3)), contextOf())
      assert.ok(!`${error.stack}${JSON.stringify(error)}${error.cause}`.includes(first.slice(0, 17)))
    }
  })

  test('reports to the engine what each of Snapchat’s answers asks for', async () => {
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ status: 429 }, 'retry', 'rate_limited'],
      [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
      [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
      [{ status: 200, json: [] }, 'retry', 'malformed_response'],
      [{ status: 200, json: { status: 7 } }, 'retry', 'malformed_response'],
      [{ status: 200, json: {} }, 'retry', 'malformed_response'],
      ['reset', 'retry', 'connection_lost'],
      [{ status: 403, json: { status: 'INVALID' } }, 'reconfigure', 'permission_denied'],
      [{ status: 404, text: '' }, 'reconfigure', 'object_not_found'],
      [{ status: 413, text: '' }, 'split', 'batch_too_large'],
      [{ status: 400, text: '<html>' }, 'fail', 'request_refused'],
      [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
    ]
    const setting = { server: snapchat, context: contextOf(), match: /events$/ }
    const writer = await openWriter()
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batchOf(columns, [purchase()]), failure, wanted)
    }
    assert.equal(snapchat.events.size, 0)
  })

  test('survives codes of any kind in a refusal', async () => {
    for (const codes of [null, 'x', [1, {}, 'quotes jane@example.com'], { 0: 'A' }]) {
      snapchat.failure(/events$/, { status: 400, json: { status: 'invalid', errors: { codes }, event: 'x' } })
      const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, [purchase()]))
      assert.deepEqual(
        rejected.map(({ index }) => index),
        [0],
      )
      assert.doesNotMatch(rejected[0]?.reason ?? '', /jane/)
    }
  })

  test('checks whether Snapchat is reached, the refresh token accepted and the pixel visible, and sends no event', async () => {
    const { check } = snapchatConversions
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions true'])
    assert.deepEqual(await run({ settings: {} }), ['connectivity true', 'authentication true', 'permissions true'])
    const another = { settings: { pixelId: 'another' } }
    assert.deepEqual(await run(another), ['connectivity true', 'authentication true', 'permissions false'])
    const revoked = { secrets: { ...snapchatSecrets, refreshToken: 'revoked' } }
    assert.deepEqual(await run(revoked), ['connectivity true', 'authentication false'])
    assert.equal(snapchat.events.size, 0)
    const { inspect } = snapchatConversions.destination?.deliver ?? {}
    assert.ok(inspect)
    const error = await connectorErrorOf(inspect(contextOf({ settings: {} })), contextOf())
    assert.equal(error.code, 'invalid_setting')
  })
})

const testServer = await startSnapchat()
after(() => testServer.close())
const time = seconds()
const device = JSON.stringify({ madid: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' })

acceptDestination({
  connector: snapchatConversions,
  testServer: 'a server that keeps to what is known of Snapchat',
  secrets: snapchatSecrets,
  wrongSecrets: { ...snapchatSecrets, refreshToken: 'snap-refresh-of-another' },
  settings: snapchatSettings,
  missing: { pixelId: 'another-pixel' },
  context: { routes: snapchatRoutes(testServer.url) },
  columns: ['event_name', 'event_time', 'action_source', 'user_data', 'conversion_value', 'currency'],
  rows: Array.from({ length: 12 }, (_, n) => ['CUSTOM_EVENT_1', time, 'WEB', device, n + 1, 'EUR']),
  badRows: [
    { row: ['bad name!', time, 'WEB', device, 1, 'EUR'], reason: /E_EVENT_NAME/ },
    {
      row: ['LOGIN', time - 38 * 86_400, 'WEB', device, 1, 'EUR'],
      reason: /older than the 37 days/,
      field: 'event_time',
    },
  ],
  async readBack() {
    return [...testServer.events.values()].map(({ event_name, event_time, action_source, user_data, custom_data }) => {
      const { value, currency } = custom_data as Record<string, unknown>
      const user = JSON.stringify(user_data)
      return [String(event_name), Number(event_time), String(action_source), user, Number(value), String(currency)]
    })
  },
  reset: () => testServer.events.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(
      testServer,
      /events$/,
      { status: 429, headers: { 'retry-after': '7' } },
      { name: 'limits calls', action: 'retry', afterMs: 7000 },
    ),
    problemOf(testServer, /events$/, { status: 500 }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, /events$/, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, /events$/, { status: 403 }, { name: 'takes the role away', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, /events/),
})
