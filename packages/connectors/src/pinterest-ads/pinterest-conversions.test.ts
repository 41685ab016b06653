import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { sha256 } from '../../test/digest.ts'
import {
  conversionToken,
  eventsAccount,
  type PinterestEvents,
  startPinterestEvents,
} from '../../test/pinterest-events-server.ts'
import { batchOf } from '../../test/platform-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { pinterestConversions } from './pinterest-conversions.ts'

const seconds = Math.floor(Date.now() / 1000) - 60
const secrets = { conversionToken }
const lead = (n: number) => ({
  event_name: 'lead',
  event_time: seconds,
  action_source: 'web',
  email: sha256(`${n}@example.com`),
  event_source_url: 'https://shop.example.com/',
  event_id: `e-${n}`,
})
const said = (json: object, status = 200) => ({ status, json: { code: 1, message: 'jane@example.com', ...json } })
const failed = { status: 'failed', error_message: 'jane@example.com' }
const processed = { status: 'processed' }

await testEventDestination<PinterestEvents>({
  connector: pinterestConversions,
  testServer: 'a server that keeps to its OpenAPI document',
  start: startPinterestEvents,
  origins: ['https://api.pinterest.com'],
  secrets,
  wrongSecrets: { conversionToken: 'expired-token' },
  settings: { adAccountId: eventsAccount },
  missing: { adAccountId: '1' },
  posts: /events$/,
  eventsIn: (json) => (json as { data: unknown[] }).data,
  taken: ({ events }) => events.values(),
  clear: ({ events }) => events.clear(),
  row: lead,
  kept: (event: Omit<ReturnType<typeof lead>, 'email'> & { user_data: { em: string[] } }) => [
    event.event_name,
    event.event_time,
    event.action_source,
    event.user_data.em[0] ?? null,
    event.event_source_url,
    event.event_id,
  ],
  refused: { event_source_url: 'https://refused.example.com/' },
  refusedBecause: /could not process/,
  deduplicates: true,
  revoked: { status: 401, json: {} },
  examples: [
    {
      title: 'every column, with amounts as texts and digests in lists',
      whole: true,
      row: {
        event_name: 'checkout',
        event_time: seconds * 1000,
        action_source: 'website',
        event_id: 'order-1',
        event_source_url: 'https://shop.example.com/?epik=dj0',
        email: sha256('jane@example.com').toUpperCase(),
        phone: sha256('493012345678'),
        first_name: sha256('jane'),
        last_name: sha256('doe'),
        gender: sha256('f'),
        date_of_birth: sha256('19800131'),
        city: sha256('berlin'),
        state: sha256('be'),
        zip: sha256('10115'),
        country: sha256('de'),
        external_id: sha256('c-1'),
        maid: sha256('6d92078a-8246-4ba4-ae5b-76104861e7dc'),
        client_ip_address: '203.0.113.7',
        client_user_agent: 'Browser/1',
        value: '72.39',
        currency: 'eur',
        contents: '[{"id":"a","quantity":"2","item_price":14.99,"colour":"red"}]',
        content_ids: 'a,b',
        num_items: 2,
        order_id: 'o-1',
        custom_data: '{"predicted_ltv":5,"content_name":"Shirt"}',
        opt_out: 'no',
        opt_out_type: 'LDP',
        language: 'en-US',
        wifi: 'true',
        os_version: '17.1',
      },
      event: {
        event_name: 'checkout',
        action_source: 'web',
        event_time: seconds,
        event_id: 'order-1',
        user_data: {
          em: [sha256('jane@example.com')],
          ph: [sha256('493012345678')],
          fn: [sha256('jane')],
          ln: [sha256('doe')],
          ge: [sha256('f')],
          db: [sha256('19800131')],
          ct: [sha256('berlin')],
          st: [sha256('be')],
          zp: [sha256('10115')],
          country: [sha256('de')],
          external_id: [sha256('c-1')],
          client_ip_address: '203.0.113.7',
          hashed_maids: [sha256('6d92078a-8246-4ba4-ae5b-76104861e7dc')],
          client_user_agent: 'Browser/1',
          click_id: 'dj0',
        },
        os_version: '17.1',
        event_source_url: 'https://shop.example.com/?epik=dj0',
        custom_data: {
          predicted_ltv: '5',
          content_name: 'Shirt',
          value: '72.39',
          currency: 'EUR',
          content_ids: ['a', 'b'],
          contents: [{ id: 'a', item_price: '14.99', quantity: 2 }],
          num_items: 2,
          order_id: 'o-1',
          opt_out_type: 'LDP',
        },
        opt_out: false,
        partner_name: 'ss-penstock',
        language: 'en',
        wifi: true,
      },
    },
    {
      title: 'a person in an object, of which Pinterest does not know every key',
      row: { email: null, user_data: JSON.stringify({ em: sha256('1@example.com'), fn: [''], colour: 'red' }) },
      event: {
        event_name: 'lead',
        event_time: seconds,
        action_source: 'web',
        event_id: 'e-1',
        event_source_url: 'https://shop.example.com/',
        user_data: { em: [sha256('1@example.com')] },
        partner_name: 'ss-penstock',
      },
    },
    {
      title: 'an app and a device, by objects and by columns of their own, and several addresses of a person',
      row: {
        email: null,
        user_data: JSON.stringify({ em: [sha256('jane@example.com'), sha256('j@example.org')] }),
        action_source: 'app_ios',
        app_info: '{"app_name":"Shop","install_time":1739222269}',
        app_store: 'Apple App Store',
        device_info: '{"brand":"Apple","languages":["en","de"],"screen_width":1}',
        os_family: 'iOS',
        network_type: 'wifi',
        form_factor: 'cellphone',
        screen_width: '1320',
      },
      event: {
        event_name: 'lead',
        event_time: seconds,
        action_source: 'app_ios',
        event_source_url: 'https://shop.example.com/',
        event_id: 'e-1',
        user_data: { em: [sha256('jane@example.com'), sha256('j@example.org')] },
        app_info: { app_name: 'Shop', install_time: 1739222269, app_store: 'Apple App Store' },
        device_info: {
          brand: 'Apple',
          languages: ['en', 'de'],
          screen_width: 1320,
          os_family: 'ios',
          network_type: 'wifi',
          form_factor: 'cellphone',
        },
        partner_name: 'ss-penstock',
      },
    },
  ],
  rejected: [
    [{ app_info: '{"colour":"red"}' }, 'app_info'],
    [{ os_family: 'Symbian' }, 'os_family'],
    [{ app_store: 'x'.repeat(101) }, 'app_store'],
    [{ event_name: 'Purchase' }, 'event_name'],
    [{ event_name: null }, 'event_name'],
    [{ event_time: 'today' }, 'event_time'],
    [{ action_source: 'billboard' }, 'action_source'],
    [{ email: 'jane@example.com' }, 'email'],
    [{ email: null, user_data: '{"em":["jane"]}' }, 'user_data'],
    [{ email: null, client_ip_address: '203.0.113.7' }, 'email'],
    [{ custom_data: '{"colour":"red"}' }, 'custom_data'],
    [{ custom_data: '{"contents":"a"}' }, 'custom_data'],
    [{ contents: '["a"]' }, 'contents'],
  ],
  openings: [[{ settings: { adAccountId: '../me' } }, 'invalid_setting']],
  failures: [
    [{ ...said({}, 429), headers: { 'retry-after': '20' } }, 'retry', 'rate_limited', 20_000],
    [said({}, 401), 'reauthenticate', 'invalid_credentials'],
    [said({}, 403), 'reconfigure', 'permission_denied'],
    [said({}, 404), 'reconfigure', 'object_not_found'],
    [said({ events: 7 }), 'retry', 'malformed_response'],
    [said({ events: [{}, {}] }), 'retry', 'malformed_response'],
    [said({ details: { events: 'x' } }), 'retry', 'malformed_response'],
  ],
  answers: [
    ['names the events of a partial failure', said({ details: { events: [failed, processed, 7] } }, 422), [0, 2]],
    [
      'takes no status that is not a text for a success',
      said({ events: [{ status: ['processed'] }, processed, processed] }),
      [0],
    ],
  ],
})

describe('Pinterest Conversions', () => {
  let pinterest: PinterestEvents
  beforeEach(async () => {
    pinterest = await startPinterestEvents()
  })
  afterEach(() => pinterest.close())
  const columns = Object.keys(lead(1))
  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      secrets,
      settings: { adAccountId: eventsAccount },
      routes: { 'https://api.pinterest.com': pinterest.url },
      columns,
      ...options,
    })
  const { deliver } = pinterestConversions.destination ?? {}
  assert.ok(deliver)
  const rejectionsOf = async (rows: readonly object[], options: TestContextOptions = {}) =>
    (
      await (
        await deliver.open(contextOf(options))
      ).deliver(
        batchOf(
          columns,
          rows.map((row) => Object.values(row)),
        ),
      )
    ).rejected

  test('takes every event of Pinterest’s page about conversion events', async () => {
    const names =
      `add_payment_info add_to_cart add_to_wishlist app_install app_open checkout contact custom customize_product
      find_location initiate_checkout lead page_visit schedule search signup start_trial submit_application subscribe
      view_category view_content watch_video`.split(/\s+/)
    assert.deepEqual(await rejectionsOf(names.map((event_name, n) => ({ ...lead(n), event_name }))), [])
    assert.deepEqual(
      [...pinterest.events.values()].map(({ event_name }) => event_name),
      names,
    )
  })

  test('only tries events in test mode', async () => {
    const rows = [lead(1), { ...lead(2), event_source_url: 'https://refused.example.com/' }]
    const rejected = await rejectionsOf(rows, { settings: { adAccountId: eventsAccount, testMode: true } })
    assert.equal(rejected?.length, 1)
    assert.deepEqual([pinterest.events.size, pinterest.received.at(-1)?.query.get('test')], [0, 'true'])
    await rejectionsOf([lead(1)])
    assert.equal(pinterest.received.at(-1)?.query.has('test'), false)
  })

  test('finds the event for which Pinterest refuses a request, with its code', async () => {
    for (let times = 0; times < 2; times++) pinterest.failure(/events$/, said({ code: 4196 }, 400))
    const reason = 'Pinterest does not accept the event (status 400, code 4196).'
    assert.deepEqual(await rejectionsOf([lead(1), lead(2)]), [{ index: 0, reason }])
    assert.deepEqual([...pinterest.events.keys()], ['e-2'])
  })
})
