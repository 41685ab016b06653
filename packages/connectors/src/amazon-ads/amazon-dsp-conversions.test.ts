import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  type AmazonServer,
  amazonAdvertiser,
  amazonRoutes,
  amazonConversionSecrets as secrets,
  startAmazon,
} from '../../test/amazon-server.ts'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import { objectIn } from '../platform-api/json.ts'
import { amazonDspConversions } from './amazon-dsp-conversions.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const iso = (daysAgo = 0) => new Date(Date.now() - daysAgo * 86_400_000 - 60_000).toISOString()
const columns = [
  'source',
  'eventTime',
  'conversionValue',
  'userIdentifier',
  'conversionType',
  'countryCode',
  'currency',
]
const bought = (currency = 'usd', source = 'SERVER_TO_SERVER'): Cell[] => [
  ...[source, iso(), '9.50', sha('jane@example.com'), 'Purchase', 'us', currency],
]
const importPath = /eventData$/

describe('Amazon DSP Conversions, against a server that keeps to what is known of Amazon', () => {
  let amazon: AmazonServer

  beforeEach(async () => {
    amazon = await startAmazon()
  })
  afterEach(() => amazon.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ ...{ secrets, columns }, routes: amazonRoutes(amazon.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = amazonDspConversions.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const posted = () => amazon.received.filter(({ path }) => importPath.test(path))

  test('sends what columns say of a purchase, exactly', async () => {
    const time = iso()
    const cells: Record<string, Cell> = {
      ...{ source: 'server_to_server', eventTime: time, conversionValue: '142.526', conversionType: 'purchase' },
      ...{ userIdentifier: ' Jane@Example.com', phone: sha('15551234567').toUpperCase(), postalCode: sha('90210') },
      ...{ maid: 'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6', countryCode: 'us', currency: 'usd', unitsSold: '2' },
      ...{ eventId: 'o-7', eventName: 'Order', limitedDataUse: 'true' },
    }
    const writer = await openWriter()
    assert.deepEqual((await writer.deliver(batchOf(Object.keys(cells), [Object.values(cells)]))).rejected, [])
    const [request] = posted()
    assert.equal(request?.path, `/accounts/${amazonAdvertiser}/dsp/conversionDefinitions/eventData`)
    assert.deepEqual(request?.json, {
      source: 'SERVER_TO_SERVER',
      eventData: [
        {
          name: 'Order',
          conversionDefinitionId: '581000000000000001',
          timestamp: time,
          matchKeys: [
            { type: 'PHONE', values: [sha('15551234567')] },
            { type: 'POSTAL', values: [sha('90210')] },
            { type: 'MAID', values: ['F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6'] },
            { type: 'EMAIL', values: [sha('jane@example.com')] },
          ],
          countryCode: 'US',
          value: 142.53,
          currencyCode: 'USD',
          unitsSold: 2,
          clientDedupeId: 'o-7',
          dataProcessingOptions: 'LIMITED_DATA_USE',
        },
      ],
    })
  })

  test('finds conversion definitions by source, type and name, once for all batches', async () => {
    const names = ['source', 'eventTime', 'conversionValue', 'userIdentifier', 'conversionType', 'eventName', 'id']
    const named = names.with(6, 'conversionDefinitionId')
    const row = (source: string, type: string, name: Cell, id: Cell): Cell[] => [
      ...[source, iso(), 1, sha('jane@example.com'), type, name, id],
    ]
    const rows = [
      row('SERVER_TO_SERVER', 'LEAD', 'Leads of the fair', null),
      row('AMAZON_AD_TAG', 'purchase', null, null),
      row('SERVER_TO_SERVER', 'LEAD', null, '581000000000000002'),
      row('SERVER_TO_SERVER', 'LEAD', null, null),
      row('SERVER_TO_SERVER', 'CHECKOUT', null, null),
      row('SERVER_TO_SERVER', 'LEAD', null, '581000000000000004'),
    ]
    const writer = await openWriter({ settings: { country: 'de' } })
    const { rejected = [] } = await writer.deliver(batchOf(named, rows))
    assert.deepEqual(
      rejected.map(({ index, reason }) => [index, reason.split(/[;:(]/)[0]?.trim()]),
      [
        [3, 'The advertiser has several conversion definitions of this source and type'],
        [4, 'The advertiser has no conversion definition of this source and type'],
        [5, 'Amazon did not accept the event'],
      ],
    )
    await writer.deliver(batchOf(named, rows.slice(0, 1), 2))
    assert.equal(amazon.received.filter(({ path }) => path.endsWith('/list')).length, 2, 'two pages')
    assert.deepEqual(
      posted().map(({ json }) => objectIn(json).source),
      ['AMAZON_AD_TAG', 'SERVER_TO_SERVER', 'SERVER_TO_SERVER'],
    )
    assert.deepEqual(
      [...amazon.events.values()].map(({ conversionDefinitionId, countryCode }) => [
        conversionDefinitionId,
        countryCode,
      ]),
      [
        ['581000000000000004', 'DE'],
        ['581000000000000003', 'DE'],
        ['581000000000000002', 'DE'],
        ['581000000000000003', 'DE'],
      ],
    )
  })

  test('rejects before sending what cannot be taken', async () => {
    const change = (at: number, cell: Cell): Cell[] => bought().with(at, cell) as Cell[]
    const rows: [Cell[], string][] = [
      [change(0, 'TV'), 'source'],
      [change(1, iso(8)), 'eventTime'],
      [change(1, null), 'eventTime'],
      [change(2, '-1'), 'conversionValue'],
      [change(3, 'customer 7'), 'userIdentifier'],
      [change(3, null), 'userIdentifier'],
      [change(4, 'no such type'), 'conversionType'],
      [change(5, null), 'countryCode'],
      [change(6, 'Euro'), 'currency'],
    ]
    const batch = batchOf(columns, [...rows.map(([row]) => row), bought()])
    const { rejected = [] } = await (await openWriter()).deliver(batch)
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    assert.equal(amazon.events.size, 1)
  })

  test('takes a batch of the largest size, and names the events that Amazon does not accept, counted from 1', async () => {
    const { rowsMax = 0 } = amazonDspConversions.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, (_, n) => bought(n === 0 || n === 99 ? 'chf' : 'usd'))
    const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
    const reason = 'Amazon did not accept the event (BAD_REQUEST, INVALID_VALUE); check currencyCode.'
    assert.deepEqual(rejected, [
      { index: 0, reason },
      { index: 99, reason },
    ])
    assert.equal(amazon.events.size, rowsMax - 2)
  })

  test('reports to the engine what each of Amazon’s answers asks for', async () => {
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ status: 429 }, 'retry', 'rate_limited'],
      [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
      [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
      ['reset', 'retry', 'connection_lost'],
      [{ status: 207, json: {} }, 'retry', 'malformed_response'],
      [{ status: 207, json: { success: [{ index: 2 }] } }, 'retry', 'malformed_response'],
      [{ status: 207, json: { error: [{ index: 1, code: 'INTERNAL_ERROR' }] } }, 'retry', 'platform_error'],
      [{ status: 403, json: {} }, 'reconfigure', 'permission_denied'],
      [{ status: 404, text: '' }, 'reconfigure', 'object_not_found'],
    ]
    const setting = { server: amazon, context: contextOf(), match: importPath }
    const writer = await openWriter()
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batchOf(columns, [bought()]), failure, wanted)
    }
    assert.equal(amazon.events.size, 0)
    amazon.failure(importPath, { status: 400, json: {} })
    const { rejected = [] } = await writer.deliver(batchOf(columns, [bought(), bought('chf')]))
    assert.deepEqual(
      rejected.map(({ index }) => index),
      [1],
    )
  })

  test('survives definitions of any kind, and asks again after an error', async () => {
    const writer = await openWriter()
    amazon.failure(/list$/, { status: 403 })
    const error = await connectorErrorOf(writer.deliver(batchOf(columns, [bought()])), contextOf())
    assert.equal(error.code, 'permission_denied')
    assert.deepEqual((await writer.deliver(batchOf(columns, [bought()], 2))).rejected, [])
    for (const conversionDefinitions of [null, 'x', [1, null, {}, { conversionDefinitionId: {}, source: [] }]]) {
      amazon.failure(/list$/, { json: { conversionDefinitions, nextToken: {} } })
      const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, [bought()], 3))
      assert.equal(rejected.length, 1)
    }
    amazon.failure(/list$/, { json: { nextToken: 'page 2' } })
    amazon.failure(/list$/, { json: { nextToken: 'page 2' } })
    const endless = await connectorErrorOf((await openWriter()).deliver(batchOf(columns, [bought()])), contextOf())
    assert.equal(endless.code, 'malformed_response')
  })

  test('says which secrets are missing, and what is wrong with settings', async () => {
    const { check, destination } = amazonDspConversions
    assert.ok(check && destination?.deliver?.inspect)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions true'])
    const { refreshToken: _, ...less } = secrets
    assert.deepEqual(await run({ secrets: less }), ['connectivity true', 'authentication false'])
    const cases: [TestContextOptions, string][] = [
      [{ secrets: less }, 'invalid_credentials'],
      [{ secrets: { ...secrets, accountId: 'ENTITY1' } }, 'invalid_setting'],
      [{ secrets: { ...secrets, accountId: '7' } }, 'permission_denied'],
      [{ settings: { country: 'Germany' } }, 'invalid_setting'],
    ]
    for (const [options, code] of cases) {
      const error = await connectorErrorOf(destination.deliver.inspect(contextOf(options)), contextOf())
      assert.equal(error.code, code)
    }
  })
})

const testServer = await startAmazon()
after(() => testServer.close())
const time = iso()
const maid = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'

acceptDestination({
  connector: amazonDspConversions,
  testServer: 'a server that keeps to what is known of Amazon',
  secrets,
  wrongSecrets: { ...secrets, refreshToken: 'Atzr|refresh-of-another' },
  settings: { country: 'US' },
  missing: { country: 'Germany' },
  context: { routes: amazonRoutes(testServer.url) },
  columns: ['source', 'eventTime', 'conversionValue', 'userIdentifier', 'conversionType', 'currency'],
  rows: Array.from({ length: 12 }, (_, n) => ['SERVER_TO_SERVER', time, n + 1, maid, 'OFF_AMAZON_PURCHASES', 'USD']),
  badRows: [
    { row: ['SERVER_TO_SERVER', time, 1, maid, 'OFF_AMAZON_PURCHASES', 'CHF'], reason: /INVALID_VALUE/ },
    { row: ['SERVER_TO_SERVER', iso(8), 1, maid, 'LEAD', 'USD'], reason: /older than the 7 days/, field: 'eventTime' },
  ],
  async readBack() {
    return [...testServer.events.values()].map(({ source, timestamp, value, matchKeys, name, currencyCode }) => {
      const [key] = matchKeys as { values: string[] }[]
      const person = String(key?.values[0])
      return [String(source), String(timestamp), Number(value), person, String(name), String(currencyCode)]
    })
  },
  reset: () => testServer.events.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(
      testServer,
      importPath,
      { status: 429, headers: { 'retry-after': '7' } },
      { name: 'limits calls', action: 'retry', afterMs: 7000 },
    ),
    problemOf(testServer, importPath, { status: 500 }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, importPath, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, importPath, { status: 403 }, { name: 'takes the role away', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, /conversionDefinitions/),
})
