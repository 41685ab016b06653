import assert from 'node:assert/strict'
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
  type ConversionsServer,
  knownAdvertiser,
  realTimeSecrets as secrets,
  startConversions,
} from '../../test/trade-desk-conversions-server.ts'
import { theTradeDeskRealTimeConversions as connector } from './the-trade-desk-real-time-conversions.ts'

const columns = ['adv', 'tracker_id', 'event_name', 'client_ip', 'order_id']
const routesOf = (url: string) => ({ 'https://insight.adsrvr.org': url })
const row = (n: number, adv = knownAdvertiser): Cell[] => [adv, 'tag1', 'purchase', '192.0.2.7', `o-${n}`]

describe('The Trade Desk Real-Time Conversion Events, against a server that keeps to what is known of The Trade Desk', () => {
  let desk: ConversionsServer

  beforeEach(async () => {
    desk = await startConversions()
  })
  afterEach(() => desk.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ ...{ secrets, settings: {}, columns }, routes: routesOf(desk.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = connector.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }

  test('sends what columns say of an event, exactly', async () => {
    const cells: Record<string, Cell> = {
      ...{ tracker_id: 'tag1', event_name: 'addtocart', value: '249.95', currency: 'usd', order_id: 'o-7' },
      ...{ client_ip: '192.0.2.7', referrer_url: 'https://shop.example/', imp: 'imp-1' },
      ...{ adid: 'test-ramp-id', adid_type: 'RampID', td1: 'value1', td10: 'value10' },
      items: '[{"item_code":"622c","name":"Cones of Dunshire","qty":5,"price":49.99,"cat":"Games"}]',
      ...{ data_processing_option: 'LDU', data_processing_region: 'US-CA' },
      ...{ consent_string: 'ok', privacy_type: 'gdpr', privacy_applies: true, country: 'us', zip: '94043' },
    }
    const settings = { advertiserId: knownAdvertiser, trackingTagId: 'another tag' }
    const writer = await openWriter({ settings })
    assert.deepEqual((await writer.deliver(batchOf(Object.keys(cells), [Object.values(cells)]))).rejected, [])
    assert.equal(desk.received[0]?.headers['ttd-auth'], secrets.apiToken)
    assert.deepEqual(desk.received[0]?.json, {
      data: [
        {
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
      ],
    })
  })

  test('rejects before sending what cannot be taken', async () => {
    const columns = [
      'adv',
      'tracker_id',
      'event_name',
      'adid',
      'adid_type',
      'value',
      'currency',
      'items',
      'data_processing_option',
    ]
    const good: Cell[] = ['adv1', 'tag1', 'purchase', null, null, null, null, null, null]
    const but = (at: number, value: Cell, more: Record<number, Cell> = {}) =>
      good.map((cell, place) => (place === at ? value : (more[place] ?? cell)))
    const rows: [Cell[], string][] = [
      [but(1, null), 'tracker_id'],
      [but(0, ' '), 'adv'],
      [but(2, ''), 'event_name'],
      [but(3, 'x'), 'adid_type'],
      [but(4, 'email', { 3: 'jane@example.com' }), 'adid_type'],
      [but(5, '1,50'), 'value'],
      [but(6, 'Euro'), 'currency'],
      [but(7, '[{"sku":"jane@example.com"}]'), 'items'],
      [but(7, '[1]'), 'items'],
      [but(8, 'no object'), 'data_processing_option'],
    ]
    const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, [...rows.map(([one]) => one), good]))
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example/)
    assert.equal(desk.events.length, 1)
  })

  test('names the events that The Trade Desk does not accept, and sends the others again', async () => {
    const { rowsMax = 0 } = connector.destination?.deliver?.batch({}) ?? {}
    const early: Cell[] = [null, null, null, null, null]
    const rows = Array.from({ length: rowsMax }, (_, n) =>
      n === 0 ? early : row(n, n === 3 || n === 71 ? 'strange' : 'adv1'),
    )
    const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
    const reason = 'The Trade Desk did not accept the event (InvalidAdvertiser).'
    assert.deepEqual(rejected?.slice(1), [
      { index: 3, reason },
      { index: 71, reason },
    ])
    assert.equal(desk.events.length, rowsMax - 3)
    assert.equal(desk.received.length, 2)
  })

  test('reports to the engine what each answer of The Trade Desk asks for', async () => {
    const named = (EventResponses: unknown): Failure => ({ status: 400, json: { Message: null, EventResponses } })
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ status: 429 }, 'retry', 'rate_limited'],
      [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
      [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
      ['reset', 'retry', 'connection_lost'],
      [{ text: '<html>' }, 'retry', 'malformed_response'],
      [{ json: [] }, 'retry', 'malformed_response'],
      [{ status: 401 }, 'reauthenticate', 'invalid_credentials'],
      [{ status: 403 }, 'reconfigure', 'permission_denied'],
      [{ status: 413 }, 'split', 'batch_too_large'],
      [named([]), 'split', 'invalid_batch'],
      [named('x'), 'split', 'invalid_batch'],
      [named([7, { EventIndex: 99, Successful: false }, { EventIndex: 'x' }]), 'split', 'invalid_batch'],
      [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
    ]
    const setting = { server: desk, context: contextOf(), match: /track/ }
    const writer = await openWriter()
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batchOf(columns, [row(1)]), failure, wanted)
    }
    assert.equal(desk.events.length, 0)
    desk.failure(
      /track/,
      named([{ EventIndex: 0, Successful: false, EventErrors: [{ Error: 'jane@example.com' }, 7] }]),
    )
    const { rejected } = await writer.deliver(batchOf(columns, [row(1)]))
    assert.deepEqual(rejected, [{ index: 0, reason: 'The Trade Desk did not accept the event (Unknown, Unknown).' }])
  })

  test('gives up after a bounded number of requests where The Trade Desk refuses everything', async () => {
    const writer = await openWriter()
    let error: Error | undefined
    for (let batches = 0; batches < 300 && !error; batches++) {
      const work = writer.deliver(batchOf(columns, [row(1, 'strange')]))
      error = await work.then(
        () => undefined,
        (thrown: Error) => thrown,
      )
    }
    assert.ok(error)
    assert.equal((await connectorErrorOf(Promise.reject(error), contextOf())).code, 'everything_refused')
  })
})

const testServer = await startConversions()
after(() => testServer.close())

acceptDestination({
  connector,
  testServer: 'a server that keeps to what is known of The Trade Desk',
  secrets,
  settings: {},
  context: { routes: routesOf(testServer.url) },
  columns,
  rows: Array.from({ length: 12 }, (_, n) => row(n)),
  badRows: [
    { row: row(90, 'strange'), reason: /InvalidAdvertiser/ },
    {
      row: ['adv1', null, 'purchase', '192.0.2.7', 'o'],
      reason: /needs the ID of a tracking tag/,
      field: 'tracker_id',
    },
  ],
  readBack: async () => testServer.events.map((event) => columns.map((column) => String(event[column]))),
  reset: () => testServer.events.splice(0),
  deduplicates: false,
  visible: 'at once',
  errors: [
    problemOf(
      testServer,
      /track/,
      { status: 429, headers: { 'retry-after': '7' } },
      { name: 'limits calls', action: 'retry', afterMs: 7000 },
    ),
    problemOf(testServer, /track/, { status: 500 }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, /track/, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
  ],
  hang: hangOf(testServer, /track/),
})
