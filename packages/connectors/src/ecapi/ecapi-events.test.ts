import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConnectorError } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { sha256 } from '../../test/digest.ts'
import { type EcapiServer, ecapiToken, startEcapi } from '../../test/ecapi-server.ts'
import { batchOf } from '../../test/platform-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { ecapiEvents } from './ecapi-events.ts'

const seconds = Math.floor(Date.now() / 1000) - 60
const origin = 'https://events.example.com'
const secrets = { endpoint: `${origin}/v1/events`, apiToken: ecapiToken }
const signUp = (n: number) => ({
  id: `e-${n}`,
  timestamp: seconds,
  event_type: 'sign_up',
  email_address: sha256(`${n}@example.com`),
})
const event = { data_set_id: 'shop', id: 'e-1', timestamp: seconds, event_type: 'sign_up' }
type Kept = { id: string; timestamp: number; event_type: string; user_data: { email_address: [string] } }

await testEventDestination<EcapiServer>({
  connector: ecapiEvents,
  testServer: 'a server that keeps to the text of ECAPI 1.0',
  start: startEcapi,
  origins: [origin],
  secrets,
  settings: { dataSetId: 'shop' },
  posts: /^POST \/v1\//,
  eventsIn: (json) => [json],
  taken: ({ events }) => events.values(),
  clear: ({ events }) => events.clear(),
  row: signUp,
  kept: ({ id, timestamp, event_type, user_data }: Kept) => [id, timestamp, event_type, user_data.email_address[0]],
  refused: { event_type: 'refused' },
  refusedBecause: /does not accept the event/,
  deduplicates: true,
  reportsOnlyErrors: true,
  revoked: { status: 401 },
  examples: [
    {
      title: 'every column, hashed where the standard hashes',
      whole: true,
      row: {
        data_set_id: 'other',
        id: '12ab',
        timestamp: new Date(seconds * 1000).toISOString(),
        event_type: 'Purchase',
        custom_event: 'ignored',
        value: '22.00',
        currency_code: 'usd',
        source: 'web',
        customer_identifier: sha256('user123'),
        email_address: sha256('user@example.com'),
        phone_numbers: sha256('+12125550000'),
        first_name: sha256('jane'),
        last_name: sha256('smith'),
        street: sha256('1mainst'),
        postal_code: sha256('10001'),
        city: 'new york',
        state: 'ny',
        country_code: 'us',
        address_type: 'billing',
        gender: ' Female ',
        click_id: 'click',
        impression_id: 'imp',
        event_ip_address: '203.0.113.7',
        event_user_agent: 'Mozilla/5.0',
        landing_ip_address: '203.0.113.8',
        landing_user_agent: 'Mozilla/5.0',
        ifa: '38400000-8cf0-11bd-b23e-10b96e40000d',
        uids: '[{"id":"a","source":"example.com","atype":1}]',
        customer_segments: 'gold_member;frequent_shopper',
        utcoffset: '-300',
        age_range: '5',
        gpp_string: 'DBABMA~1YNN',
        gpp_sid: '[6, 7]',
        mmt_only: 'true',
        transaction_id: 'A-1',
        items: '[{"id":"sku","price":29.99,"quantity":2}]',
        page_url: 'https://shop.example.com/',
        referrer: 'https://shop.example.com/cart',
        search_term: 'toys',
        coupon: 'A,B',
        payment_type: '["credit_card"]',
        shipping: '11.5',
        tax: '1',
        shipping_tier: 'premium',
        ad_source: 'news',
        lead_source: 'a',
        lead_status: 'b',
        lead_reason: 'c',
        login_method: 'd',
        promotion_id: 'e',
        promotion_name: 'f',
      },
      event: {
        data_set_id: 'other',
        id: '12ab',
        timestamp: seconds,
        event_type: 'purchase',
        value: 22,
        currency_code: 'USD',
        source: 'website',
        user_data: {
          customer_identifier: sha256('user123'),
          email_address: [sha256('user@example.com')],
          phone_numbers: [sha256('+12125550000')],
          address: [
            {
              first_name: sha256('jane'),
              last_name: sha256('smith'),
              street: sha256('1mainst'),
              postal_code: sha256('10001'),
              city: 'new york',
              state: 'ny',
              country_code: 'us',
              address_type: 1,
            },
          ],
          // The digest of the standard's own example.
          gender: '9f165139a8c2894a47aea23b77d330eca847264224a44d5a17b19db8b9a72c08',
          click_id: 'click',
          impression_id: 'imp',
          event_ip_address: '203.0.113.7',
          event_user_agent: 'Mozilla/5.0',
          landing_ip_address: '203.0.113.8',
          landing_user_agent: 'Mozilla/5.0',
          ifa: '38400000-8cf0-11bd-b23e-10b96e40000d',
          uids: [{ id: 'a', source: 'example.com', atype: 1 }],
          customer_segments: ['gold_member', 'frequent_shopper'],
          utcoffset: -300,
          age_range: 5,
          gpp_string: 'DBABMA~1YNN',
          gpp_sid: [6, 7],
          mmt_only: true,
        },
        properties: {
          transaction_id: 'A-1',
          items: [{ id: 'sku', price: 29.99, quantity: 2 }],
          page_url: 'https://shop.example.com/',
          referrer: 'https://shop.example.com/cart',
          search_term: 'toys',
          coupon: ['A', 'B'],
          payment_type: ['credit_card'],
          shipping: 11.5,
          tax: 1,
          shipping_tier: 'premium',
          ad_source: 'news',
          lead_source: 'a',
          lead_status: 'b',
          lead_reason: 'c',
          login_method: 'd',
          promotion_id: 'e',
          promotion_name: 'f',
        },
      },
    },
    {
      title: 'objects of the standard, which separate columns override, and an event of one’s own',
      row: {
        event_type: 'Configured',
        email_address: null,
        user_data: `{"email_address":["${sha256('b@example.com')}"],"address":[{"city":"bonn","state":"nw"},{"city":"rom"}]}`,
        city: 'köln',
        properties: '{"group_id":"g","search_term":"x"}',
        search_term: 'y',
      },
      event: {
        ...event,
        event_type: 'custom',
        custom_event: 'Configured',
        user_data: {
          email_address: [sha256('b@example.com')],
          address: [{ city: 'köln', state: 'nw' }, { city: 'rom' }],
        },
        properties: { group_id: 'g', search_term: 'y' },
      },
    },
    {
      title: 'an event without an ID and without a person',
      whole: true,
      settings: { currency: 'EUR' },
      row: { timestamp: seconds * 1000, event_type: 'search', value: 1 },
      event: (id) => ({ ...event, id, event_type: 'search', value: 1, currency_code: 'EUR' }),
    },
    {
      title: 'a list, with the token in a header of the receiver',
      secrets: { ...secrets, endpoint: `${origin}/v1/list/`, headerName: 'X-API-Key' },
      settings: { body: 'list', eventsPerRequest: '10' },
      row: {},
      event: [{ ...event, user_data: { email_address: [sha256('1@example.com')] } }] as never,
    },
    {
      title: 'an object with data',
      secrets: { ...secrets, endpoint: `${origin}/v1/data` },
      settings: { body: 'data' },
      row: {},
      event: { data: [{ ...event, user_data: { email_address: [sha256('1@example.com')] } }] },
    },
  ],
  rejected: [
    [{ timestamp: null }, 'timestamp'],
    [{ timestamp: 'soon' }, 'timestamp'],
    [{ event_type: null }, 'event_type'],
    [{ event_type: 'custom' }, 'custom_event'],
    [{ value: 1 }, 'currency_code'],
    [{ value: 'much', currency_code: 'EUR' }, 'value'],
    [{ source: 'space' }, 'source'],
    [{ email_address: 'jane@example.com' }, 'email_address'],
    [{ user_data: '{"email_address":["jane@example.com"]}', email_address: null }, 'user_data'],
    [{ gpp_sid: 'seven' }, 'gpp_sid'],
    [{ address_type: 'home' }, 'address_type'],
    [{ items: '7' }, 'items'],
  ],
  failures: [
    [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
    [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
    ['reset', 'retry', 'connection_lost'],
    [{ status: 401 }, 'reauthenticate', 'invalid_credentials'],
    [{ status: 403 }, 'reconfigure', 'permission_denied'],
    [{ status: 404 }, 'reconfigure', 'object_not_found'],
    [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
  ],
  openings: [
    [{ settings: {}, columns: ['timestamp'] }, 'invalid_setting'],
    [{ settings: {}, columns: ['timestamp', 'data_set_id'] }, undefined],
    [{ settings: { dataSetId: 'shop', currency: 'Euro' } }, 'invalid_setting'],
  ],
})

describe('a receiver of ECAPI', () => {
  const columns = Object.keys(signUp(1))
  const rows = (count: number) => Array.from({ length: count }, (_, n) => Object.values(signUp(n)))

  async function sent(options: TestContextOptions, count: number, refused?: number) {
    await using server = await startEcapi().then((one) => ({ ...one, [Symbol.asyncDispose]: () => one.close() }))
    const context = testContext({
      settings: { dataSetId: 'shop', ...options.settings },
      secrets: { ...secrets, ...options.secrets },
      routes: { [origin]: server.url },
      columns,
    })
    const writer = await ecapiEvents.destination?.deliver?.open(context)
    const all = rows(count).map((row, n) => (n === refused ? [row[0], row[1], 'refused', row[3]] : row)) as (
      | string
      | number
    )[][]
    const delivery = await writer?.deliver(batchOf(columns, all))
    const sizes = server.received.filter(({ method }) => method === 'POST').map(({ json }) => [json].flat().length)
    return { sizes, rejected: delivery?.rejected?.map(({ index }) => index), events: server.events.size }
  }
  const list = { secrets: { endpoint: `${origin}/v1/list` }, settings: { body: 'list', eventsPerRequest: 10 } }

  test('gets the events of a request that it accepts, and one after another if it wants that', async () => {
    assert.deepEqual(await sent(list, 25), { sizes: [10, 10, 5], rejected: [], events: 25 })
    assert.deepEqual((await sent({}, 3)).sizes, [1, 1, 1])
  })

  test('gets halves of a request that it refuses, so that only the refused event is rejected', async () => {
    const { rejected, events } = await sent(list, 12, 5)
    assert.deepEqual([rejected, events], [[5], 11])
  })

  test('needs an address and headers that can be used', async () => {
    const refuses = (code: string, more: Record<string, string>) =>
      assert.rejects(sent({ secrets: more }, 1), (error) => error instanceof ConnectorError && error.code === code)
    await refuses('invalid_address', { endpoint: 'no address' })
    await refuses('invalid_address', { endpoint: 'ftp://events.example.com/' })
    await refuses('invalid_address', { endpoint: `${origin}/?key=1` })
    await refuses('invalid_credentials', { apiToken: 'a\r\nhost: x' })
    await refuses('invalid_credentials', { headerName: 'a b' })
  })
})
