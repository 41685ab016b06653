import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
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
  offlineToken,
  providerId,
  offlineSecrets as secrets,
  startConversions,
} from '../../test/trade-desk-conversions-server.ts'
import { theTradeDeskOfflineConversions as connector } from './the-trade-desk-offline-conversions.ts'

const columns = ['DataProviderId', 'TrackingTagId', 'TimestampUtc', 'TDID', 'OrderId']
const settings = { advertiserId: 'adv1', offlineDataProviderId: providerId }
const routesOf = (url: string) => ({ 'https://offlineattrib.adsrvr.org': url })
const guid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const uid2 = 'ku4mBX7Z3qJTXWyLFB1INzkyR2WZGW4ANSJUiW21iI8='
const time = '2026-01-31T12:00:00Z'
const row = (n: number, tag = 'tag1'): Cell[] => [providerId, tag, time, guid(n), `o-${n}`]

describe('The Trade Desk Offline Conversions, against a server that follows the published documentation of The Trade Desk', () => {
  let desk: ConversionsServer

  beforeEach(async () => {
    desk = await startConversions()
  })
  afterEach(() => desk.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ ...{ secrets, settings, columns }, routes: routesOf(desk.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = connector.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }

  test('sends what columns say of a conversion, exactly, and signs the bytes', async () => {
    const cells: Record<string, Cell> = {
      ...{ DataProviderId: providerId, TrackingTagId: 'tag1', TimestampUtc: '2026-01-31T13:00:00+01:00' },
      ...{ UID2: uid2, ImpressionId: guid(7), EventName: 'purchase', Value: '142.50', ValueCurrency: 'eur' },
      ...{ Country: 'usa', Region: 'California', City: 'Käse', OrderId: 'o-7', TD1: 'one', TD10: 'ten' },
      LineItems: '[{"item_code":"622c","qty":5,"price":"49.99"}]',
      PrivacySettings: '[{"privacy_type":"GDPR","is_applicable":1,"consent_string":"ok"}]',
    }
    const several: Record<string, Cell> = { ...cells, TDID: guid(1), EUID: uid2, ImpressionId: null }
    const keys = Object.keys(several)
    const rows = [cells, several].map((one) => keys.map((key) => one[key] ?? null))
    const writer = await openWriter({ secrets: { ...secrets, apiToken: offlineToken } })
    assert.deepEqual((await writer.deliver(batchOf(keys, rows))).rejected, [])
    const common = {
      TrackingTagId: 'tag1',
      TimestampUtc: time,
      Value: '142.50',
      ValueCurrency: 'EUR',
      Country: 'USA',
      EventName: 'purchase',
      Region: 'California',
      City: 'Käse',
      OrderId: 'o-7',
      TD1: 'one',
      TD10: 'ten',
      LineItems: [{ item_code: '622c', qty: '5', price: '49.99' }],
      PrivacySettings: [{ privacy_type: 'GDPR', is_applicable: 1, consent_string: 'ok' }],
    }
    const [request] = desk.received
    assert.deepEqual(request?.json, {
      DataProviderId: providerId,
      Items: [
        { ...common, UID2: uid2, ImpressionId: guid(7) },
        {
          ...common,
          UserIdArray: [
            ['TDID', guid(1)],
            ['UID2', uid2],
            ['EUID', uid2],
          ],
        },
      ],
    })
    const signature = createHmac('sha1', secrets.advertiserSecretKey).update(request?.text ?? '')
    assert.equal(request?.headers.ttdsignature, signature.digest('base64'))
    assert.equal(request?.headers['ttd-auth'], offlineToken)
  })

  test('rejects before sending what cannot be taken, raw addresses above all', async () => {
    const columns = [
      ...'DataProviderId TrackingTagId TimestampUtc TDID UID2 ImpressionId Value Country LineItems'.split(' '),
    ]
    const good: Cell[] = [providerId, 'tag1', time, guid(1), null, null, null, null, null]
    const but = (at: number, value: Cell, more: Record<number, Cell> = {}) =>
      good.map((cell, place) => (place === at ? value : place in more ? (more[place] ?? null) : cell))
    const rows: [Cell[], string][] = [
      [but(0, ''), 'DataProviderId'],
      [but(1, null), 'TrackingTagId'],
      [but(2, '31.1.2026'), 'TimestampUtc'],
      [but(2, '2126-01-31T12:00:00Z'), 'TimestampUtc'],
      [but(3, 'abc'), 'TDID'],
      [but(4, 'jane@example.com'), 'UID2'],
      [but(5, 'abc'), 'ImpressionId'],
      [but(3, null), 'ImpressionId'],
      [but(6, '1,50'), 'Value'],
      [but(7, 'Atlantis'), 'Country'],
      [but(7, 'us'), 'Region'],
      [but(8, '[{"email":"jane@example.com"}]'), 'LineItems'],
    ]
    const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, [...rows.map(([one]) => one), good]))
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example/)
    assert.equal(desk.conversions.length, 1)
  })

  for (const by of ['number', 'message', 'nothing'] as const) {
    test(`says which conversions were not taken, where lines say it by ${by}`, async () => {
      desk.lines.by = by
      const early: Cell[] = ['', 'tag1', time, guid(1), null]
      const rows = [early, ...Array.from({ length: 40 }, (_, n) => row(n, n === 3 || n === 31 ? 'unknown' : 'tag1'))]
      const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, rows))
      const reason = 'The Trade Desk does not know the tracking tag (MissingOrInvalidTrackingTagId).'
      const wanted =
        by === 'nothing' ? [1, 1].map((count) => ({ count, reason })) : [4, 32].map((index) => ({ index, reason }))
      assert.deepEqual(rejected.slice(1), wanted)
      assert.equal(desk.conversions.length, 38)
    })
  }

  test('takes a batch of the largest size', async () => {
    const { rowsMax = 0 } = connector.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, (_, n) => row(n))
    assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
    assert.equal(desk.conversions.length, rowsMax)
  })

  test('reports to the engine what each answer of The Trade Desk asks for', async () => {
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ status: 429 }, 'retry', 'rate_limited'],
      [{ status: 503, headers: { 'retry-after': '4' }, text: 'busy' }, 'retry', 'platform_error', 4000],
      [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
      [{ status: 200, json: [] }, 'retry', 'malformed_response'],
      [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
      ['reset', 'retry', 'connection_lost'],
      [{ status: 401, text: 'InvalidToken' }, 'reauthenticate', 'invalid_credentials'],
      [{ status: 403, text: 'DataProviderMisconfigured' }, 'reconfigure', 'permission_denied'],
      [{ status: 404, text: 'EndpointNotConfigured' }, 'reconfigure', 'object_not_found'],
      [{ status: 400, text: 'SerializationFailed' }, 'split', 'invalid_batch'],
      [{ status: 400, json: { FailedLines: 'x' } }, 'split', 'invalid_batch'],
      [{ status: 413, text: 'MaxRequestSizeExceeded' }, 'split', 'batch_too_large'],
      [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
    ]
    const setting = { server: desk, context: contextOf(), match: /offlineconversion/ }
    const writer = await openWriter()
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batchOf(columns, [row(1)]), failure, wanted)
    }
    assert.equal(desk.conversions.length, 0)
    const lines = [7, { ErrorCode: {}, ItemNumber: '99' }, { ErrorCode: 'jane@example.com', ItemNumber: 1 }]
    desk.failure(/offlineconversion/, { status: 400, json: { FailedLines: lines } })
    const { rejected } = await writer.deliver(batchOf(columns, [row(1)]))
    assert.deepEqual(rejected, [{ index: 0, reason: 'The Trade Desk did not accept the conversion (Unknown).' }])
  })

  test('checks whether The Trade Desk is reached, the signature accepted and the provider allowed', async () => {
    const { check } = connector
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions true'])
    assert.deepEqual(await run({ settings: {} }), ['connectivity true', 'authentication true', 'permissions true'])
    const another = { settings: { ...settings, offlineDataProviderId: 'another' } }
    assert.deepEqual(await run(another), ['connectivity true', 'authentication true', 'permissions false'])
    assert.deepEqual(await run({ secrets: { advertiserSecretKey: 'wrong' } }), [
      'connectivity true',
      'authentication false',
    ])
    assert.equal(desk.conversions.length, 0)
    const refused = openWriter({ secrets: { ...secrets, apiToken: 'another-token' } })
    const error = await connectorErrorOf((await refused).deliver(batchOf(columns, [row(1)])), contextOf())
    assert.equal(error.code, 'invalid_credentials')
  })
})

const testServer = await startConversions()
after(() => testServer.close())

acceptDestination({
  connector,
  testServer: 'a server that follows the published documentation of The Trade Desk',
  secrets,
  wrongSecrets: { advertiserSecretKey: 'wrong-secret-key' },
  settings,
  context: { routes: routesOf(testServer.url) },
  columns,
  rows: Array.from({ length: 12 }, (_, n) => row(n)),
  badRows: [
    { row: row(90, 'unknown'), reason: /MissingOrInvalidTrackingTagId/ },
    { row: [providerId, 'tag1', time, 'abc', 'o'], reason: /8-4-4-4-12/, field: 'TDID' },
  ],
  readBack: async () => testServer.conversions.map((one) => columns.map((column) => String(one[column]))),
  reset: () => testServer.conversions.splice(0),
  deduplicates: false,
  visible: 'at once',
  errors: [
    problemOf(
      testServer,
      /offlineconversion/,
      { status: 429, headers: { 'retry-after': '7' } },
      { name: 'limits calls', action: 'retry', afterMs: 7000 },
    ),
    problemOf(testServer, /offlineconversion/, { status: 500 }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, /offlineconversion/, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(
      testServer,
      /offlineconversion/,
      { status: 401 },
      { name: 'finds the key changed', action: 'reauthenticate' },
    ),
  ],
  hang: hangOf(testServer, /offlineconversion/),
})
