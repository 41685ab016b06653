import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { assertFailure, batchOf, type Failure } from '../../test/platform-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import {
  type ConversionsServer,
  knownAdvertiser,
  realTimeSecrets as secrets,
  startConversions,
} from '../../test/trade-desk-conversions-server.ts'
import { theTradeDeskRealTimeConversions as connector } from './the-trade-desk-real-time-conversions.ts'

const purchase = (n: number) => ({
  adv: knownAdvertiser,
  tracker_id: 'tag1',
  event_name: 'purchase',
  client_ip: '192.0.2.7',
  order_id: `o-${n}`,
})
const named = (EventResponses: unknown): Failure => ({ status: 400, json: { Message: null, EventResponses } })

await testEventDestination<ConversionsServer>({
  connector,
  testServer: 'a server that keeps to what is known of The Trade Desk',
  start: startConversions,
  origins: ['https://insight.adsrvr.org'],
  secrets,
  settings: {},
  posts: /track/,
  eventsIn: (json) => (json as { data: unknown[] }).data,
  taken: ({ events }) => events,
  clear: ({ events }) => events.splice(0),
  row: purchase,
  kept: (event: ReturnType<typeof purchase>) => Object.keys(purchase(1)).map((key) => event[key as 'adv']),
  refused: { adv: 'strange' },
  refusedBecause: /did not accept the event \(InvalidAdvertiser\)\.$/,
  deduplicates: false,
  reportsOnlyErrors: true,
  revoked: { status: 401 },
  examples: [
    {
      title: 'every column, with the advertiser of the connection and one consent',
      whole: true,
      settings: { advertiserId: knownAdvertiser, trackingTagId: 'another tag' },
      row: {
        tracker_id: 'tag1',
        event_name: 'addtocart',
        value: '249.95',
        currency: 'usd',
        order_id: 'o-7',
        client_ip: '192.0.2.7',
        referrer_url: 'https://shop.example/',
        imp: 'imp-1',
        adid: 'test-ramp-id',
        adid_type: 'RampID',
        td1: 'value1',
        td10: 'value10',
        items: '[{"item_code":"622c","name":"Cones of Dunshire","qty":5,"price":49.99,"cat":"Games"}]',
        data_processing_option: 'LDU',
        data_processing_region: 'US-CA',
        consent_string: 'ok',
        privacy_type: 'gdpr',
        privacy_applies: true,
        country: 'us',
        zip: '94043',
      },
      event: {
        adv: knownAdvertiser,
        tracker_id: 'tag1',
        event_name: 'addtocart',
        client_ip: '192.0.2.7',
        referrer_url: 'https://shop.example/',
        imp: 'imp-1',
        order_id: 'o-7',
        country: 'us',
        zip: '94043',
        td1: 'value1',
        td10: 'value10',
        adid: 'test-ramp-id',
        adid_type: 'IDL',
        value: 249.95,
        currency: 'USD',
        items: [{ item_code: '622c', name: 'Cones of Dunshire', qty: 5, price: 49.99, cat: 'Games' }],
        privacy_settings: [{ privacy_type: 'GDPR', is_applicable: 1, consent_string: 'ok' }],
        data_processing_option: { policies: ['LDU'], region: 'US-CA' },
      },
    },
    {
      title: 'a page view of a universal pixel with objects, in which the kind of no ID is left out',
      whole: true,
      settings: { universalPixelId: 'pixel1', merchantId: 'm1' },
      row: {
        adid_type: 'email',
        privacy_type: 'none',
        privacy_settings: '[{"privacy_type":"CCPA","is_applicable":0,"consent_string":"1YNN"}]',
        data_processing_option: '{"policies":["LDU"],"region":"US-CO"}',
      },
      event: {
        merchant_id: 'm1',
        upixel_id: 'pixel1',
        privacy_settings: [{ privacy_type: 'CCPA', is_applicable: 0, consent_string: '1YNN' }],
        data_processing_option: { policies: ['LDU'], region: 'US-CO' },
      },
    },
  ],
  rejected: [
    [{ tracker_id: null }, 'tracker_id'],
    [{ adv: ' ' }, 'adv'],
    [{ event_name: '' }, 'event_name'],
    [{ adid: 'x' }, 'adid_type'],
    [{ adid: 'jane@example.com', adid_type: 'email' }, 'adid_type'],
    [{ value: '1,50' }, 'value'],
    [{ currency: 'Euro' }, 'currency'],
    [{ items: '[{"sku":"jane@example.com"}]' }, 'items'],
    [{ items: '[1]' }, 'items'],
    [{ data_processing_option: 'no object' }, 'data_processing_option'],
  ],
  failures: [
    [{ status: 429 }, 'retry', 'rate_limited'],
    [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
    [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
    ['reset', 'retry', 'connection_lost'],
    [{ status: 401 }, 'reauthenticate', 'invalid_credentials'],
    [{ status: 403 }, 'reconfigure', 'permission_denied'],
    [{ status: 413 }, 'split', 'batch_too_large'],
    [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
  ],
  answers: [
    ['halves a request that is refused for no event', named([]), []],
    ['halves a request that is refused without a list', named('x'), []],
    [
      'halves a request that is refused for events that were not sent',
      named([7, { EventIndex: 99, Successful: false }, { EventIndex: 'x' }]),
      [],
    ],
    ['rejects an event that is refused alone', named([]), [0], [{}]],
  ],
})

describe('The Trade Desk Real-Time Conversion Events', () => {
  let desk: ConversionsServer
  beforeEach(async () => {
    desk = await startConversions()
  })
  afterEach(() => desk.close())
  const columns = Object.keys(purchase(1))
  const contextOf = () =>
    testContext({ secrets, settings: {}, columns, routes: { 'https://insight.adsrvr.org': desk.url } })
  const { deliver } = connector.destination ?? {}
  assert.ok(deliver)

  test('names the events of a batch of the largest size that are not accepted, and sends the others again', async () => {
    const { rowsMax } = deliver.batch({})
    const rows = Array.from({ length: rowsMax }, (_, n) => {
      const adv = n === 3 || n === 71 ? 'strange' : knownAdvertiser
      return n === 0 ? columns.map(() => null) : Object.values({ ...purchase(n), adv })
    })
    const { rejected } = await (await deliver.open(contextOf())).deliver(batchOf(columns, rows))
    const reason = 'The Trade Desk did not accept the event (InvalidAdvertiser).'
    assert.deepEqual(rejected?.slice(1), [
      { index: 3, reason },
      { index: 71, reason },
    ])
    assert.deepEqual([desk.events.length, desk.received.length], [rowsMax - 3, 2])
    assert.equal(desk.received[0]?.headers['ttd-auth'], secrets.apiToken)
  })

  test('quotes no code that is none', async () => {
    const errors = [{ Error: 'jane@example.com' }, 7]
    desk.failure(/track/, named([{ EventIndex: 0, Successful: false, EventErrors: errors }]))
    const batch = batchOf(columns, [Object.values(purchase(1))])
    const { rejected } = await (await deliver.open(contextOf())).deliver(batch)
    assert.deepEqual(rejected, [{ index: 0, reason: 'The Trade Desk did not accept the event (Unknown, Unknown).' }])
  })

  test('gives up after a bounded number of requests if The Trade Desk refuses everything', async () => {
    const writer = await deliver.open(contextOf())
    const batch = batchOf(columns, [Object.values({ ...purchase(1), adv: 'strange' })])
    for (let batches = 1; batches < 250; batches++) await writer.deliver(batch)
    const setting = { server: desk, context: contextOf(), match: /track/ }
    const response = [{ EventIndex: 0, Successful: false }]
    await assertFailure(setting, writer, batch, named(response), { action: 'fail', code: 'everything_refused' })
  })
})
