import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  type AmazonServer,
  amazonRoutes,
  amazonConversionSecrets as secrets,
  startAmazon,
} from '../../test/amazon-server.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf, type Failure } from '../../test/platform-server.ts'
import { type NamedRow, testEventDestination } from '../../test/test-event-destination.ts'
import { objectIn } from '../platform-api/json.ts'
import { amazonDspConversions } from './amazon-dsp-conversions.ts'

const time = new Date(Date.now() - 60_000).toISOString()
const tooOld = new Date(Date.now() - 8 * 86_400_000).toISOString()
const maid = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'
const posts = /^POST \/accounts\/\d+\/dsp\/conversionDefinitions\/eventData$/
const { refreshToken: _, ...unsigned } = secrets
const said = (json: unknown): Failure => ({ status: 207, json })

const row = (n: number) => ({
  source: 'SERVER_TO_SERVER',
  eventTime: time,
  conversionValue: n + 1,
  userIdentifier: maid,
  conversionType: 'OFF_AMAZON_PURCHASES',
  currency: 'USD',
  countryCode: 'us',
  eventId: `order-${n}`,
})

type Kept = {
  source: string
  timestamp: string
  value: number
  matchKeys: { values: string[] }[]
  name: string
  currencyCode: string
  countryCode: string
  clientDedupeId: string
}

await testEventDestination<AmazonServer>({
  connector: amazonDspConversions,
  testServer: 'a server that keeps to what is known of Amazon',
  start: startAmazon,
  origins: Object.keys(amazonRoutes('')),
  secrets,
  wrongSecrets: { ...secrets, refreshToken: 'Atzr|refresh-of-another' },
  settings: {},
  posts,
  eventsIn: (json) => (json as { eventData: unknown[] }).eventData,
  taken: ({ events }) => events.values(),
  clear: ({ events }) => events.clear(),
  row,
  kept: ({ matchKeys: [key], ...one }: Kept) => [
    one.source,
    one.timestamp,
    one.value,
    key?.values[0] ?? '',
    one.name,
    one.currencyCode,
    one.countryCode.toLowerCase(),
    one.clientDedupeId,
  ],
  refused: { currency: 'CHF' },
  refusedBecause: /^Amazon did not accept the event \(BAD_REQUEST, INVALID_VALUE\); check currencyCode\.$/,
  deduplicates: true,
  revoked: { status: 401, json: {} },
  expireTokens: ({ tokens }) => tokens.expire(),
  examples: [
    {
      title: 'a purchase with everything',
      whole: true,
      row: {
        source: 'server_to_server',
        eventTime: time,
        conversionValue: '142.526',
        conversionType: 'purchase',
        userIdentifier: ' Jane@Example.com',
        phone: sha256('15551234567').toUpperCase(),
        postalCode: sha256('90210'),
        maid: maid.toUpperCase(),
        countryCode: 'us',
        currency: 'usd',
        unitsSold: '2',
        eventId: 'o-7',
        eventName: 'Order',
        limitedDataUse: 'true',
      },
      event: {
        name: 'Order',
        conversionDefinitionId: '581000000000000001',
        timestamp: time,
        matchKeys: [
          { type: 'PHONE', values: [sha256('15551234567')] },
          { type: 'POSTAL', values: [sha256('90210')] },
          { type: 'MAID', values: [maid.toUpperCase()] },
          { type: 'EMAIL', values: [sha256('jane@example.com')] },
        ],
        countryCode: 'US',
        value: 142.53,
        currencyCode: 'USD',
        unitsSold: 2,
        clientDedupeId: 'o-7',
        dataProcessingOptions: 'LIMITED_DATA_USE',
      },
    },
    {
      title: 'a lead without a value, of the definition in its row and the country of the connection',
      settings: { country: 'de' },
      row: {
        conversionType: 'LEAD',
        conversionValue: null,
        currency: 'no currency',
        countryCode: null,
        conversionDefinitionId: '581000000000000002',
      },
      event: {
        name: 'LEAD',
        conversionDefinitionId: '581000000000000002',
        timestamp: time,
        matchKeys: [{ type: 'MAID', values: [maid] }],
        countryCode: 'DE',
        clientDedupeId: 'order-1',
      },
    },
  ],
  rejected: [
    [{ source: 'TV' }, 'source'],
    [{ source: null }, 'source'],
    [{ eventTime: tooOld }, 'eventTime'],
    [{ eventTime: null }, 'eventTime'],
    [{ conversionValue: '-1' }, 'conversionValue'],
    [{ conversionValue: null }, 'conversionValue'],
    [{ userIdentifier: 'customer 7' }, 'userIdentifier'],
    [{ userIdentifier: null }, 'userIdentifier'],
    [{ conversionType: 'no such type' }, 'conversionType'],
    [{ countryCode: null }, 'countryCode'],
    [{ currency: 'Euro' }, 'currency'],
  ],
  failures: [
    [{ status: 429 }, 'retry', 'rate_limited'],
    [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
    [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
    ['reset', 'retry', 'connection_lost'],
    [said({}), 'retry', 'malformed_response'],
    [said({ success: [{ index: 2 }] }), 'retry', 'malformed_response'],
    [said({ error: [{ index: 1, code: 'INTERNAL_ERROR' }] }), 'retry', 'platform_error'],
    [{ status: 403, json: {} }, 'reconfigure', 'permission_denied'],
    [{ status: 404, text: '' }, 'reconfigure', 'object_not_found'],
  ],
  answers: [
    ['sends halves if Amazon refuses a request', { status: 400, json: {} }, [1], [{}, { currency: 'CHF' }]],
    [
      'names the events of a request of the largest size that Amazon does not accept, which it counts from 1',
      undefined,
      [0, 99],
      Array.from({ length: 100 }, (_, n) => (n === 0 || n === 99 ? { currency: 'CHF' } : {})),
    ],
  ],
  openings: [
    [{ secrets: unsigned }, 'invalid_credentials'],
    [{ secrets: { ...secrets, accountId: 'ENTITY1' } }, 'invalid_setting'],
    [{ settings: { country: 'Germany' } }, 'invalid_setting'],
    [{ settings: {}, columns: ['source'] }, 'invalid_setting'],
  ],
  inspectsOpenings: true,
})

describe('Amazon DSP Conversions finds the conversion definition of each event', () => {
  let amazon: AmazonServer
  beforeEach(async () => {
    amazon = await startAmazon()
  })
  afterEach(() => amazon.close())

  const columns = [...Object.keys(row(1)), 'eventName', 'conversionDefinitionId']
  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets, columns, routes: amazonRoutes(amazon.url), ...options })
  async function openWriter() {
    const { deliver } = amazonDspConversions.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf())
  }
  const batchOfRows = (changes: readonly NamedRow[], number?: number) =>
    batchOf(
      columns,
      changes.map((change, n) => {
        const cells: NamedRow = { ...row(n), ...change }
        return columns.map((column) => cells[column] ?? null)
      }),
      number,
    )
  const lead = { conversionType: 'LEAD' }

  test('by its source, its type and its name, listed once for all batches', async () => {
    const writer = await openWriter()
    const named = { ...lead, eventName: 'Leads of the fair' }
    const batch = batchOfRows([
      named,
      { source: 'AMAZON_AD_TAG', conversionType: 'purchase' },
      { ...lead, conversionDefinitionId: '581000000000000002' },
      lead,
      { conversionType: 'CHECKOUT' },
      { ...lead, conversionDefinitionId: '581000000000000004' },
    ])
    const { rejected = [] } = await writer.deliver(batch)
    assert.deepEqual(
      rejected.map(({ index, field, reason }) => [index, field, reason.split(/[;(]/)[0]?.trim()]),
      [
        [3, 'conversionType', 'The advertiser has several conversion definitions of this source and type'],
        [4, 'conversionType', 'The advertiser has no conversion definition of this source and type'],
        [5, undefined, 'Amazon did not accept the event'],
      ],
    )
    await writer.deliver(batchOfRows([{ ...named, eventId: 'another' }], 2))
    assert.equal(amazon.received.filter(({ path }) => path.endsWith('/list')).length, 2, 'two pages')
    const posted = amazon.received.filter(({ method, path }) => posts.test(`${method} ${path}`))
    assert.deepEqual(
      posted.map(({ json }) => objectIn(json).source),
      ['AMAZON_AD_TAG', 'SERVER_TO_SERVER', 'SERVER_TO_SERVER'],
    )
    assert.deepEqual(
      [...amazon.events.values()].map(({ conversionDefinitionId }) => conversionDefinitionId),
      ['581000000000000004', '581000000000000003', '581000000000000002', '581000000000000003'],
    )
  })

  test('which a preview cannot know', async () => {
    const find = await amazonDspConversions.destination?.deliver?.rejectionsOf?.(contextOf())
    assert.deepEqual(find?.(batchOfRows([{ conversionType: 'CHECKOUT' }])), [])
    assert.deepEqual(amazon.received, [])
  })

  test('although definitions may be of any kind, and after an error', async () => {
    const writer = await openWriter()
    amazon.failure(/list$/, { status: 403 })
    const error = await connectorErrorOf(writer.deliver(batchOfRows([{}])), contextOf())
    assert.equal(error.code, 'permission_denied')
    assert.deepEqual((await writer.deliver(batchOfRows([{}]))).rejected, [])
    for (const conversionDefinitions of [null, 'x', [1, null, {}, { conversionDefinitionId: {}, source: [] }]]) {
      amazon.failure(/list$/, { json: { conversionDefinitions, nextToken: {} } })
      assert.equal((await (await openWriter()).deliver(batchOfRows([{}]))).rejected?.length, 1)
    }
    for (let times = 0; times < 2; times++) amazon.failure(/list$/, { json: { nextToken: 'page 2' } })
    const endless = await connectorErrorOf((await openWriter()).deliver(batchOfRows([{}])), contextOf())
    assert.equal(endless.code, 'malformed_response')
  })

  test('and an inspection lists those of the account', async () => {
    const context = contextOf({ secrets: { ...secrets, accountId: '7' } })
    const error = await connectorErrorOf(amazonDspConversions.destination?.deliver?.inspect?.(context), context)
    assert.equal(error.code, 'permission_denied')
  })
})
