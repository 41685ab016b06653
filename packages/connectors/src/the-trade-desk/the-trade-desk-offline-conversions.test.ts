import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import {
  type ConversionsServer,
  offlineToken,
  providerId,
  offlineSecrets as secrets,
  startConversions,
} from '../../test/trade-desk-conversions-server.ts'
import { theTradeDeskOfflineConversions as connector } from './the-trade-desk-offline-conversions.ts'

const guid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const uid2 = 'ku4mBX7Z3qJTXWyLFB1INzkyR2WZGW4ANSJUiW21iI8='
const time = '2026-01-31T12:00:00Z'
const settings = { advertiserId: 'adv1', offlineDataProviderId: providerId }
const sale = (n: number) => ({
  DataProviderId: providerId,
  TrackingTagId: 'tag1',
  TimestampUtc: time,
  TDID: guid(n),
  OrderId: `o-${n}`,
})
const full: Record<string, Cell> = {
  DataProviderId: providerId,
  TrackingTagId: 'tag1',
  TimestampUtc: '2026-01-31T13:00:00+01:00',
  UID2: uid2,
  EventName: 'purchase',
  Value: '142.50',
  ValueCurrency: 'eur',
  Country: 'usa',
  Region: 'California',
  City: 'Käse',
  OrderId: 'o-7',
  TD1: 'one',
  TD10: 'ten',
  LineItems: '[{"item_code":"622c","qty":5,"price":"49.99"}]',
  PrivacySettings: '[{"privacy_type":"GDPR","is_applicable":1,"consent_string":"ok"}]',
}
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

await testEventDestination<ConversionsServer>({
  connector,
  testServer: 'a server that follows the published documentation of The Trade Desk',
  start: startConversions,
  origins: ['https://offlineattrib.adsrvr.org'],
  secrets,
  wrongSecrets: { advertiserSecretKey: 'wrong-secret-key' },
  settings,
  posts: /offlineconversion/,
  eventsIn: (json) => (json as { Items: unknown[] }).Items,
  taken: ({ conversions }) => conversions,
  clear: ({ conversions }) => conversions.splice(0),
  row: sale,
  kept: (conversion: ReturnType<typeof sale>) => Object.keys(sale(1)).map((key) => conversion[key as 'TDID']),
  refused: { TrackingTagId: 'unknown' },
  refusedBecause: /does not know the tracking tag \(MissingOrInvalidTrackingTagId\)\.$/,
  deduplicates: false,
  revoked: { status: 401 },
  reportsOnlyErrors: true,
  examples: [
    {
      title: 'every column, with one identifier and an impression',
      whole: true,
      row: { ...full, ImpressionId: guid(7) },
      event: { ...common, UID2: uid2, ImpressionId: guid(7) },
    },
    {
      title: 'several identifiers, in a list',
      whole: true,
      row: { ...full, TDID: guid(1), EUID: uid2 },
      event: {
        ...common,
        UserIdArray: [
          ['TDID', guid(1)],
          ['UID2', uid2],
          ['EUID', uid2],
        ],
      },
    },
    {
      title: 'a consent in columns, and a country in two letters',
      row: { consent_string: '1YNN', privacy_type: 'ccpa', privacy_applies: 'no', Country: 'de' },
      event: {
        TrackingTagId: 'tag1',
        TimestampUtc: time,
        TDID: guid(1),
        OrderId: 'o-1',
        Country: 'DEU',
        PrivacySettings: [{ privacy_type: 'CCPA', is_applicable: 0, consent_string: '1YNN' }],
      },
    },
  ],
  // Raw addresses above all.
  rejected: [
    [{ DataProviderId: '' }, 'DataProviderId'],
    [{ TrackingTagId: null }, 'TrackingTagId'],
    [{ TimestampUtc: '31.1.2026' }, 'TimestampUtc'],
    [{ TimestampUtc: '2126-01-31T12:00:00Z' }, 'TimestampUtc'],
    [{ TDID: 'abc' }, 'TDID'],
    [{ UID2: 'jane@example.com' }, 'UID2'],
    [{ ImpressionId: 'abc' }, 'ImpressionId'],
    [{ TDID: null }, 'ImpressionId'],
    [{ Value: '1,50' }, 'Value'],
    [{ Country: 'Atlantis' }, 'Country'],
    [{ Country: 'us' }, 'Region'],
    [{ LineItems: '[{"email":"jane@example.com"}]' }, 'LineItems'],
  ],
  failures: [
    [{ status: 429 }, 'retry', 'rate_limited'],
    [{ status: 503, headers: { 'retry-after': '4' }, text: 'busy' }, 'retry', 'platform_error', 4000],
    [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
    ['reset', 'retry', 'connection_lost'],
    [{ status: 401, text: 'InvalidToken' }, 'reauthenticate', 'invalid_credentials'],
    [{ status: 403, text: 'DataProviderMisconfigured' }, 'reconfigure', 'permission_denied'],
    [{ status: 404, text: 'EndpointNotConfigured' }, 'reconfigure', 'object_not_found'],
    [{ status: 413, text: 'MaxRequestSizeExceeded' }, 'split', 'batch_too_large'],
    [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
  ],
  answers: [
    ['takes an empty answer for a success', { text: '' }, []],
    ['halves a request that is refused in a word', { status: 400, text: 'SerializationFailed' }, []],
    ['rejects a conversion that is refused alone', { status: 400, json: { FailedLines: 'x' } }, [0], [{}]],
  ],
})

describe('The Trade Desk Offline Conversions', () => {
  let desk: ConversionsServer
  beforeEach(async () => {
    desk = await startConversions()
  })
  afterEach(() => desk.close())
  const columns = Object.keys(sale(1))
  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      secrets,
      settings,
      columns,
      routes: { 'https://offlineattrib.adsrvr.org': desk.url },
      ...options,
    })
  const { deliver } = connector.destination ?? {}
  assert.ok(deliver)
  const open = (apiToken: string) => deliver.open(contextOf({ secrets: { ...secrets, apiToken } }))

  for (const by of ['number', 'message', 'nothing'] as const) {
    test(`names the conversions that were not taken, in lines that name them by ${by}`, async () => {
      desk.lines.by = by
      const rows = Array.from({ length: 40 }, (_, n) =>
        Object.values({ ...sale(n), ...((n === 3 || n === 31) && { TrackingTagId: 'unknown' }) }),
      )
      const early = ['', 'tag1', time, guid(1), null]
      const writer = await deliver.open(contextOf())
      const { rejected = [] } = await writer.deliver(batchOf(columns, [early, ...rows]))
      const reason = 'The Trade Desk does not know the tracking tag (MissingOrInvalidTrackingTagId).'
      const wanted = by === 'nothing' ? [{ count: 2, reason }] : [4, 32].map((index) => ({ index, reason }))
      assert.deepEqual(rejected.slice(1), wanted)
      assert.equal(desk.conversions.length, 38)
    })
  }

  // Rows name the providers of deliveries. The check uses the setting.
  test('checks whether the provider of the connection is allowed', async () => {
    const context = contextOf({ settings: { ...settings, offlineDataProviderId: 'another' } })
    const steps = await connector.check?.(context)
    assert.deepEqual(
      steps?.map(({ ok }) => ok),
      [true, true, false],
    )
    const inspection = Promise.resolve(deliver.inspect?.({ ...context, rows: [] }))
    assert.equal((await connectorErrorOf(inspection, context)).code, 'permission_denied')
  })

  test('takes a batch of the largest size, and signs its bytes', async () => {
    const rows = Array.from({ length: deliver.batch({}).rowsMax }, (_, n) => Object.values(sale(n)))
    assert.deepEqual((await (await open(offlineToken)).deliver(batchOf(columns, rows))).rejected, [])
    assert.equal(desk.conversions.length, rows.length)
    const [request] = desk.received
    const signature = createHmac('sha1', secrets.advertiserSecretKey).update(request?.text ?? '')
    assert.equal(request?.headers.ttdsignature, signature.digest('base64'))
    assert.equal(request?.headers['ttd-auth'], offlineToken)
  })

  test('blames no conversion that was not sent, and quotes no code that is none', async () => {
    const lines = [7, { ErrorCode: {}, ItemNumber: '99' }, { ErrorCode: 'jane@example.com', ItemNumber: 1 }]
    desk.failure(/offlineconversion/, { status: 400, json: { FailedLines: lines } })
    const batch = batchOf(columns, [Object.values(sale(1))])
    const { rejected } = await (await deliver.open(contextOf())).deliver(batch)
    assert.deepEqual(rejected, [{ index: 0, reason: 'The Trade Desk did not accept the conversion (Unknown).' }])
    const error = await connectorErrorOf((await open('another-token')).deliver(batch), contextOf())
    assert.equal(error.code, 'invalid_credentials')
  })
})
