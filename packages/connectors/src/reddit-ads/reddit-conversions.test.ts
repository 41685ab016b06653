import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { sha256 } from '../../test/digest.ts'
import { batchOf } from '../../test/platform-server.ts'
import {
  type RedditEvents,
  redditConversionToken,
  redditPixel,
  startRedditEvents,
} from '../../test/reddit-events-server.ts'
import { jsonError, refusal } from '../../test/reddit-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { redditConversions } from './reddit-conversions.ts'

const ms = Date.now() - 60_000
const page = 'https://shop.example.com/?rdt_cid=click-1'

await testEventDestination<RedditEvents>({
  connector: redditConversions,
  testServer: 'a server that keeps to what is published of Reddit',
  start: startRedditEvents,
  origins: ['https://ads-api.reddit.com'],
  secrets: { conversionToken: redditConversionToken },
  wrongSecrets: { conversionToken: 'expired-token' },
  settings: { pixelId: redditPixel },
  missing: { pixelId: 'a2_other' },
  posts: /conversion_events$/,
  eventsIn: (json) => (json as { data: { events: unknown[] } }).data.events,
  taken: ({ events }) => events.values(),
  clear: ({ events }) => events.clear(),
  row: (n) => ({
    event_name: 'Lead',
    event_time: ms,
    action_source: 'website',
    email: sha256(`${n}@example.com`),
    event_id: `e-${n}`,
  }),
  kept: ({
    event_at,
    user,
    metadata,
  }: {
    event_at: number
    user: { email: string }
    metadata: { conversion_id: string }
  }) => ['Lead', event_at, 'website', user.email, metadata.conversion_id],
  refused: { event_name: 'Refused' },
  refusedBecause: /does not take/,
  deduplicates: true,
  revoked: refusal(401),
  examples: [
    {
      title: 'every column, with the click of the address and a limited use',
      whole: true,
      row: {
        event_name: 'Purchase',
        event_time: new Date(ms).toISOString(),
        action_source: 'web',
        event_id: 'order-1',
        email: sha256('janedoe@example.com').toUpperCase(),
        phone: sha256('+493012345678'),
        external_id: sha256('c-1'),
        ip_address: sha256('203.0.113.7'),
        idfa: sha256('IDFA'),
        aaid: sha256('aaid'),
        uuid: '1677.uuid',
        user_agent: 'Browser/1',
        screen_width: 1080,
        screen_height: '1920',
        value: '72.39',
        currency: 'eur',
        event_source_url: page,
        num_items: 2,
        limited_data_use: 'yes',
        products: '[{"id":7,"name":"Shirt","quantity":"2","price":14.99,"colour":"red"}]',
        data_processing_country: 'US',
        data_processing_region: 'US-CA',
      },
      event: {
        event_at: ms,
        action_source: 'WEBSITE',
        type: { tracking_type: 'PURCHASE' },
        click_id: 'click-1',
        event_source_url: page,
        user: {
          email: sha256('janedoe@example.com'),
          phone_number: sha256('+493012345678'),
          external_id: sha256('c-1'),
          ip_address: sha256('203.0.113.7'),
          idfa: sha256('IDFA'),
          aaid: sha256('aaid'),
          uuid: '1677.uuid',
          user_agent: 'Browser/1',
          screen_dimensions: { width: 1080, height: 1920 },
          data_processing_options: { modes: ['LDU'], country: 'US', region: 'US-CA' },
        },
        metadata: {
          conversion_id: 'order-1',
          value: 72.39,
          currency: 'EUR',
          item_count: 2,
          products: [{ id: '7', name: 'Shirt', quantity: 2, item_price: 14.99 }],
        },
      },
    },
    {
      title: 'an event of your own in a shop, of which only a click and one side of the screen are known',
      whole: true,
      row: {
        event_name: 'Tried on',
        event_time: Math.floor(ms / 1000),
        event_id: 'e',
        click_id: 'click-2',
        action_source: 'physical_store',
        event_source_url: page,
        screen_width: 9,
        limited_data_use: 'no',
        data_processing_country: 'US',
      },
      event: {
        event_at: Math.floor(ms / 1000) * 1000,
        action_source: 'PHYSICAL_STORE',
        click_id: 'click-2',
        type: { tracking_type: 'CUSTOM', custom_event_name: 'Tried on' },
        metadata: { conversion_id: 'e' },
      },
    },
  ],
  rejected: [
    [{ event_name: null }, 'event_name'],
    [{ event_time: 'yesterday' }, 'event_time'],
    [{ event_time: Date.now() - 8 * 86_400_000 }, 'event_time'],
    [{ action_source: 'phone' }, 'action_source'],
    [{ email: 'jane@example.com' }, 'email'],
    [{ email: null, user_agent: 'Browser/1' }, 'email'],
    [{ value: 'much' }, 'value'],
    [{ currency: 'euro' }, 'currency'],
    [{ limited_data_use: 'perhaps' }, 'limited_data_use'],
    [{ products: 'shirt' }, 'products'],
  ],
  failures: [
    [refusal(401), 'reauthenticate', 'invalid_credentials'],
    [refusal(403), 'reconfigure', 'permission_denied'],
    [refusal(404), 'reconfigure', 'object_not_found'],
    [{ status: 429, headers: { 'retry-after': '7' }, text: '' }, 'retry', 'rate_limited', 7_000],
    [{ json: { data: { message: 'Successfully processed 0 conversion events.' } } }, 'retry', 'malformed_response'],
  ],
  answers: [
    ['takes a JSON that Reddit cannot read for a request that it refuses', jsonError, []],
    ['takes an answer without success for a refusal', { json: { success: false } }, []],
  ],
})

test('sends events as tests if the connection has a test ID', async (t) => {
  const server = await startRedditEvents()
  t.after(() => server.close())
  const columns = ['event_name', 'event_time', 'action_source', 'email', 'event_id']
  const writer = await redditConversions.destination?.deliver?.open(
    testContext({
      secrets: { conversionToken: redditConversionToken },
      settings: { pixelId: redditPixel, testId: ' t2_test ' },
      columns,
      routes: { 'https://ads-api.reddit.com': server.url },
    }),
  )
  const row = ['Lead', ms, 'website', sha256('1@example.com'), 'e-1']
  assert.deepEqual((await writer?.deliver(batchOf(columns, [row])))?.rejected, [])
  const sent = server.received.at(-1)?.json as { data: Record<string, unknown> } | undefined
  assert.equal(sent?.data.test_id, 't2_test')
})
