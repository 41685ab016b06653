import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf, type Failure } from '../../test/platform-server.ts'
import {
  type SnapchatServer,
  snapchatOrigins,
  snapchatRoutes,
  snapchatSecrets,
  snapchatSettings,
  startSnapchat,
} from '../../test/snapchat-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { snapchatConversions } from './snapchat-conversions.ts'

const seconds = (daysAgo = 0) => Math.floor(Date.now() / 1000) - daysAgo * 86_400 - 60
const time = seconds()
const { pixelId, snapAppId } = snapchatSettings
const event = {
  event_name: 'PURCHASE',
  event_time: time,
  event_id: 'e-1',
  action_source: 'WEB',
  user_data: { em: [sha256('1@example.com')] },
  custom_data: { value: 2, currency: 'EUR' },
  integration: 'penstock',
}
const person = (user: object) => ({ email: null, user_data: JSON.stringify(user) })

await testEventDestination<SnapchatServer>({
  connector: snapchatConversions,
  testServer: 'a server that keeps to what is known of Snapchat',
  start: startSnapchat,
  origins: snapchatOrigins,
  secrets: snapchatSecrets,
  wrongSecrets: { ...snapchatSecrets, refreshToken: 'snap-refresh-of-another' },
  settings: { pixelId },
  missing: { pixelId: 'another-pixel' },
  posts: /\/events/,
  eventsIn: (json) => (json as { data: unknown[] }).data,
  taken: ({ events }) => events.values(),
  clear: ({ events }) => events.clear(),
  // Rows without an ID get one that stays the same when they are sent again.
  row: (n) => ({
    event_name: 'PURCHASE',
    event_time: time,
    action_source: 'WEB',
    email: sha256(`${n}@example.com`),
    conversion_value: n + 1,
    currency: 'EUR',
  }),
  kept: ({ event_name, event_time, action_source, user_data, custom_data }: typeof event) => [
    event_name,
    event_time,
    action_source,
    user_data.em[0] ?? null,
    custom_data.value,
    custom_data.currency,
  ],
  refused: { event_name: 'no such event!', event_id: 'bad' },
  refusedBecause: /\(status 400, code E_EVENT_NAME\)\.$/,
  deduplicates: true,
  revoked: { status: 401 },
  expireTokens: ({ tokens }) => tokens.expire(),
  examples: [
    {
      // The digests of Snapchat's page about parameters, one of them in upper case.
      title: 'every column of an event on the web',
      whole: true,
      row: {
        event_name: 'PURCHASE',
        event_time: time * 1000 + 7,
        action_source: 'website',
        event_id: 'e-1',
        conversion_value: '142.52',
        currency: 'usd',
        order_id: 'o-7',
        content_ids: '["003","004"]',
        num_items: 2,
        contents: '[{"id":"003","quantity":"1","item_price":"5"}]',
        email: '542d240129883c019e106e3b1b2d3f3cb3537c43c425364de8e951d5a3083345'.toUpperCase(),
        phone: 'dc008fda46e2e64002cf2f82a4906236282d431c4f75e5b60bfe79fc48546383',
        first_name: '96d9632f363564cc3032521409cf22a852f2032eec099ed5967c0d000cec607a',
        external_id: sha256('u-1'),
        client_ip_address: '192.0.2.7',
        client_user_agent: 'Mozilla/5.0',
        sc_click_id: 'click',
        sc_cookie1: 'cookie',
        anon_id: 'install-1',
        partner_id: 'partner-1',
        event_source_url: 'https://shop.example/',
        limited_data_use: 'LDU',
        data_processing_options_country: 1,
        data_processing_options_state: '1000',
        advertiser_tracking_enabled: 'only of apps',
      },
      event: {
        event_name: 'PURCHASE',
        event_time: time,
        event_id: 'e-1',
        event_source_url: 'https://shop.example/',
        action_source: 'WEB',
        user_data: {
          em: ['542d240129883c019e106e3b1b2d3f3cb3537c43c425364de8e951d5a3083345'],
          ph: ['dc008fda46e2e64002cf2f82a4906236282d431c4f75e5b60bfe79fc48546383'],
          fn: '96d9632f363564cc3032521409cf22a852f2032eec099ed5967c0d000cec607a',
          external_id: [sha256('u-1')],
          client_ip_address: '192.0.2.7',
          client_user_agent: 'Mozilla/5.0',
          sc_click_id: 'click',
          sc_cookie1: 'cookie',
          anon_id: 'install-1',
          partner_id: 'partner-1',
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
    },
    {
      title: 'an event that needs no value, and has no currency without one',
      row: { event_name: 'LOGIN', event_id: 'e-1', conversion_value: null, order_id: 'o-1' },
      event: { ...event, event_name: 'LOGIN', custom_data: { order_id: 'o-1' } },
    },
    {
      title: 'the currency of a value in an object',
      row: { event_id: 'e-1', conversion_value: null, custom_data: '{"value":2}' },
      event,
    },
    {
      title: 'an event of an app with objects, to the app',
      settings: { snapAppId },
      row: {
        ...person({ em: sha256('1@example.com'), fn: '', madid: 'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6' }),
        event_name: 'APP_OPEN',
        event_id: 'e-1',
        action_source: 'MOBILE_APP',
        conversion_value: null,
        currency: null,
        custom_data: '{"search_string":"acme"}',
        os_version: '17.1',
        app_id: '1234567',
      },
      event: {
        ...event,
        event_name: 'APP_OPEN',
        action_source: 'MOBILE_APP',
        user_data: { em: [sha256('1@example.com')], madid: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' },
        custom_data: { search_string: 'acme' },
        app_data: {
          app_id: '1234567',
          advertiser_tracking_enabled: 0,
          extinfo: ['i2', '', '', '', '17.1', ...Array.from({ length: 11 }, () => '')],
        },
      },
    },
    {
      title: 'an event of an app that the connection names',
      settings: { snapAppId, appId: 'com.example.shop' },
      row: { event_id: 'e-1', action_source: 'app', app_data: '{"advertiser_tracking_enabled":true}' },
      event: {
        ...event,
        action_source: 'MOBILE_APP',
        app_data: {
          app_id: 'com.example.shop',
          advertiser_tracking_enabled: 1,
          extinfo: ['a2', ...Array.from({ length: 15 }, () => '')],
        },
      },
    },
    {
      title: 'a test of an event in a shop a month ago',
      settings: { testEventCode: 'T1' },
      row: { event_id: 'e-1', action_source: 'physical_store', event_time: seconds(30) },
      event: { ...event, action_source: 'OFFLINE', event_time: seconds(30), test_event_code: 'T1' },
    },
  ],
  rejected: [
    [{ event_name: '' }, 'event_name'],
    [{ event_time: seconds(38) }, 'event_time'],
    [{ event_time: 'yesterday' }, 'event_time'],
    [{ action_source: 'TV' }, 'action_source'],
    [person({ em: 'jane@example.com' }), 'user_data'],
    [person({ fn: sha256('jane'), client_ip_address: '192.0.2.7' }), 'user_data'],
    [{ email: null, client_ip_address: '192.0.2.7' }, 'email'],
    [{ email: null, user_data: '[]' }, 'user_data'],
    [{ conversion_value: '1,50' }, 'conversion_value'],
    [{ conversion_value: null }, 'conversion_value'],
    [{ currency: null }, 'currency'],
    [{ currency: 'Euro' }, 'currency'],
    // The connection names no app.
    [{ action_source: 'MOBILE_APP' }, 'action_source'],
  ],
  failures: [
    [{ status: 429 }, 'retry', 'rate_limited'],
    [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
    [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
    [{ status: 200, json: { status: 7 } }, 'retry', 'malformed_response'],
    ['reset', 'retry', 'connection_lost'],
    [{ status: 403, json: { status: 'INVALID' } }, 'reconfigure', 'permission_denied'],
    [{ status: 404, text: '' }, 'reconfigure', 'object_not_found'],
    [{ status: 413, text: '' }, 'split', 'batch_too_large'],
    [{ status: 400, text: '<html>' }, 'fail', 'request_refused'],
    [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
  ],
})

describe('Snapchat Conversions', () => {
  let snapchat: SnapchatServer
  beforeEach(async () => {
    snapchat = await startSnapchat()
  })
  afterEach(() => snapchat.close())
  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      secrets: snapchatSecrets,
      settings: snapchatSettings,
      columns,
      routes: snapchatRoutes(snapchat.url),
      ...options,
    })
  const columns = ['event_name', 'event_time', 'action_source', 'email']
  const login = ['LOGIN', time, 'WEB', sha256('jane@example.com')]
  const { deliver } = snapchatConversions.destination ?? {}
  assert.ok(deliver)

  test('renews an access token that ends in the middle of a batch, and shows it nowhere', async () => {
    const writer = await deliver.open(contextOf())
    await writer.deliver(batchOf(columns, [login]))
    const first = snapchat.tokens.good
    snapchat.tokens.expire()
    assert.deepEqual((await writer.deliver(batchOf(columns, [login], 2))).rejected, [])
    assert.equal(snapchat.events.size, 2)
    for (const failure of [{ status: 403, json: {} }, 'reset', { status: 429 }, { text: '<html>' }] as Failure[]) {
      snapchat.failure(/events$/, failure)
      const error = await connectorErrorOf(writer.deliver(batchOf(columns, [login], 3)), contextOf())
      assert.ok(!`${error.stack}${JSON.stringify(error)}${error.cause}`.includes(first.slice(0, 17)))
    }
  })

  test('survives codes of any kind in a refusal', async () => {
    const writer = await deliver.open(contextOf())
    for (const codes of [null, 'x', [1, {}, 'quotes jane@example.com'], { 0: 'A' }]) {
      snapchat.failure(/events$/, { status: 400, json: { status: 'invalid', errors: { codes }, event: 'x' } })
      const { rejected = [] } = await writer.deliver(batchOf(columns, [login]))
      assertRejected(rejected, [0])
      assert.doesNotMatch(rejected[0]?.reason ?? '', /jane/)
    }
  })

  test('needs a pixel or an app before a transfer, and only three columns', async () => {
    assert.ok(deliver.inspect)
    const work = deliver.inspect({ ...contextOf({ settings: {} }), rows: [] })
    assert.equal((await connectorErrorOf(work, contextOf())).code, 'invalid_setting')
    const { records = {} } = snapchatConversions.destination ?? {}
    assert.deepEqual(
      Object.keys(records).filter((column) => records[column]?.required),
      ['event_name', 'event_time', 'action_source'],
    )
  })
})
