import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  type AmazonServer,
  amazonAdvertiser,
  amazonRoutes,
  amazonSecrets,
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
import { refusalsMax } from '../platform-api/rows/refusals.ts'
import { amazonAdsDspEvents } from './amazon-ads-dsp-events.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const iso = (daysAgo = 0) => new Date(Date.now() - daysAgo * 86_400_000 - 60_000).toISOString()
const columns = ['advertiserId', 'eventType', 'eventTime', 'eventValue', 'currency', 'email', 'countryCode', 'eventId']
const bought = (id: string | null = null, currency = 'usd'): Cell[] => [
  ...[amazonAdvertiser, 'Purchase', iso(), '9.50', currency, sha('jane@example.com'), 'us', id],
]
const createPath = /create\/events$/

describe('Amazon Ads DSP Events, against a server that keeps to what is known of Amazon', () => {
  let amazon: AmazonServer

  beforeEach(async () => {
    amazon = await startAmazon()
  })
  afterEach(() => amazon.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ ...{ secrets: amazonSecrets, columns }, routes: amazonRoutes(amazon.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = amazonAdsDspEvents.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const posted = () => amazon.received.filter(({ path }) => createPath.test(path))

  test('sends what columns say of a purchase, exactly', async () => {
    const cells: Record<string, Cell> = {
      ...{ advertiserId: amazonAdvertiser, eventType: 'purchase', eventTime: '2026-01-31T12:00:00+01:00' },
      ...{ eventValue: '142.526', currency: 'usd', eventId: 'e-1', eventName: 'Order', unitsSold: '2' },
      // The digest of test@example.com that is published everywhere, in upper case.
      email: '973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b'.toUpperCase(),
      ...{ phone: sha('15551234567'), firstName: sha('john'), lastName: sha('doe'), address: sha('123mainstapt4') },
      ...{ city: sha('sanfrancisco'), state: sha('ca'), postalCode: sha('90210') },
      ...{ maid: 'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6', rampId: 'Xi1234', matchId: 'loyal-1' },
      ...{ countryCode: 'us', eventSource: 'physical store', limitedDataUse: 'yes', eventAttributionSource: null },
      ...{ consentAdStorage: 'yes', consentUserData: 'granted', tcf: 'CP-tcf', gpp: 'DBA-gpp', ipAddress: '192.0.2.7' },
      customData: '{"brand":"Acme","productId":12,"none":null}',
    }
    const writer = await openWriter({ settings: { dataSetName: 'Shop_Events' } })
    assert.deepEqual((await writer.deliver(batchOf(Object.keys(cells), [Object.values(cells)]))).rejected, [])
    const [request] = posted()
    assert.equal(request?.headers['amazon-ads-accountid'], amazonAdvertiser)
    assert.equal(request?.headers['amazon-ads-clientid'], amazonSecrets.clientId)
    assert.deepEqual(request?.json, {
      events: [
        {
          eventDescription: {
            name: 'Order',
            conversionType: 'OFF_AMAZON_PURCHASES',
            eventSource: 'OFFLINE',
            eventIngestionMethod: 'SERVER_TO_SERVER',
            dataSetName: 'Shop_Events',
          },
          countryCode: 'US',
          eventTime: '2026-01-31T12:00:00+01:00',
          matchKeys: [
            { type: 'EMAIL', values: ['973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b'] },
            { type: 'PHONE', values: [sha('15551234567')] },
            { type: 'FIRST_NAME', values: [sha('john')] },
            { type: 'LAST_NAME', values: [sha('doe')] },
            { type: 'ADDRESS', values: [sha('123mainstapt4')] },
            { type: 'CITY', values: [sha('sanfrancisco')] },
            { type: 'STATE', values: [sha('ca')] },
            { type: 'POSTAL', values: [sha('90210')] },
            { type: 'MAID', values: ['F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6'] },
            { type: 'RAMP_ID', values: ['Xi1234'] },
            { type: 'MATCH_ID', values: ['loyal-1'] },
          ],
          value: 142.53,
          currencyCode: 'USD',
          unitsSold: 2,
          eventId: 'e-1',
          dataProcessingOptions: { options: 'LIMITED_DATA_USE' },
          consent: {
            geo: { ipAddress: '192.0.2.7' },
            amazonConsent: { amznAdStorage: 'GRANTED', amznUserData: 'GRANTED' },
            tcf: 'CP-tcf',
            gpp: 'DBA-gpp',
          },
          customData: [
            { name: 'brand', dataType: 'STRING', value: 'Acme' },
            { name: 'productId', dataType: 'INTEGER', value: '12' },
          ],
        },
      ],
    })
  })

  test('reads who it was from userId, times in seconds, and the country and consent of the connection', async () => {
    const names = ['advertiserId', 'eventType', 'eventTime', 'eventValue', 'currency', 'userId', 'email']
    const seconds = Math.floor(Date.now() / 1000) - 60
    const users: [Cell, Cell, string, string][] = [
      [' Jane@Example.com', null, 'EMAIL', sha('jane@example.com')],
      [sha('jane@example.com'), null, 'EMAIL', sha('jane@example.com')],
      ['+1 (555) 123-4567', null, 'PHONE', sha('15551234567')],
      ['f81d4fae-7dec-11d0-a765-00a0c91e6bf6', null, 'MAID', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'],
      ['customer 7', sha('joe@example.com'), 'EMAIL', sha('joe@example.com')],
      ['f81d4fae-7dec-11d0-a765-00a0c91e6bf6', sha('joe@example.com'), 'EMAIL', sha('joe@example.com')],
    ]
    const rows = users.map(([user, email]): Cell[] => [amazonAdvertiser, 'SIGN_UP', seconds, 3, 'EUR', user, email])
    const settings = { region: 'EU', country: 'de', consentUserData: 'DENIED' }
    assert.deepEqual((await (await openWriter({ settings })).deliver(batchOf(names, rows))).rejected, [])
    const events = (objectIn(posted()[0]?.json).events ?? []) as Record<string, unknown>[]
    assert.deepEqual(
      events.map(({ matchKeys }) => matchKeys),
      users.map(([, , type, value]) => [{ type, values: [value] }]),
    )
    const { matchKeys: _, eventId, ...first } = events[0] ?? {}
    assert.match(String(eventId), /^[0-9a-f]{32}$/)
    assert.deepEqual(first, {
      eventDescription: {
        ...{ name: 'SIGN_UP', conversionType: 'SIGN_UP', eventSource: 'WEBSITE' },
        eventIngestionMethod: 'SERVER_TO_SERVER',
      },
      countryCode: 'DE',
      eventTime: new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'),
      value: 3,
      consent: { amazonConsent: { amznUserData: 'DENIED' } },
    })
  })

  test('rejects before sending what cannot be taken', async () => {
    const names = [...columns, 'consentUserData', 'userId', 'customData', 'eventSource']
    const change = (at: number, cell: Cell): Cell[] =>
      [...bought(), 'GRANTED', null, null, null].with(at, cell) as Cell[]
    const rows: [Cell[], string][] = [
      [change(0, 'ENTITY1'), 'advertiserId'],
      [change(1, 'no such type'), 'eventType'],
      [change(2, 'yesterday'), 'eventTime'],
      [change(2, iso(-1)), 'eventTime'],
      [change(3, '-1'), 'eventValue'],
      [change(3, '1,50'), 'eventValue'],
      [change(4, 'Euro'), 'currency'],
      [change(5, 'jane@example.com'), 'email'],
      [change(6, null), 'countryCode'],
      [change(6, 'Germany'), 'countryCode'],
      [change(8, null), 'consentUserData'],
      [change(8, 'maybe'), 'consentUserData'],
      [change(5, null).with(9, 'customer 7') as Cell[], 'userId'],
      [change(5, null), 'userId'],
      [change(10, '[]'), 'customData'],
      [change(10, '{"a b":1}'), 'customData'],
      [change(11, 'TV'), 'eventSource'],
    ]
    const batch = batchOf(names, [...rows.map(([row]) => row), change(8, 'GRANTED')])
    const { rejected = [] } = await (await openWriter({ settings: { region: 'EU' } })).deliver(batch)
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example\.com/)
    assert.equal(amazon.events.size, 1)
  })

  test('takes a batch of the largest size, and names the events that Amazon does not accept', async () => {
    const { rowsMax = 0 } = amazonAdsDspEvents.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, (_, n) => bought(null, n === 3 || n === 499 ? 'chf' : 'usd'))
    const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
    const reason = 'Amazon did not accept the event (INVALID_ARGUMENT); check $.currencyCode.'
    assert.deepEqual(rejected, [
      { index: 3, reason },
      { index: 499, reason },
    ])
    assert.equal(amazon.events.size, rowsMax - 2)
    assert.equal(posted().length, 1)
  })

  test('rejects rows of the batch by their own places where some were not sent and others belong to another advertiser', async () => {
    const rows = [bought().with(2, 'x') as Cell[], bought(null, 'chf'), bought()]
    const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(
      rejected.map(({ index }) => index),
      [0, 1],
    )
    const foreign = bought().with(0, '7') as Cell[]
    const error = await connectorErrorOf(
      (await openWriter()).deliver(batchOf(columns, [bought(), foreign])),
      contextOf(),
    )
    assert.equal(error.code, 'permission_denied')
  })

  test('finds the events for which Amazon refuses the whole request, within bounds', async () => {
    amazon.failure(createPath, { status: 400, json: { code: 'BAD_REQUEST' } })
    const rows = [bought(), bought(null, 'chf'), bought()]
    const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(
      rejected.map(({ index }) => index),
      [1],
    )
    for (let n = 0; n < refusalsMax; n++) amazon.failure(createPath, { status: 400, json: {} })
    const many = batchOf(
      columns,
      Array.from({ length: 500 }, () => bought()),
    )
    const error = await connectorErrorOf((await openWriter()).deliver(many), contextOf())
    assert.deepEqual([error.action, error.code], ['fail', 'everything_refused'])
  })

  test('renews an access token that ends in the middle of a transfer', async () => {
    const writer = await openWriter()
    await writer.deliver(batchOf(columns, [bought()]))
    amazon.accessTokens.push('ended early')
    assert.deepEqual((await writer.deliver(batchOf(columns, [bought()], 2))).rejected, [])
    assert.equal(amazon.events.size, 2)
  })

  test('reports to the engine what each of Amazon’s answers asks for', async () => {
    const listed = (code: unknown): Failure => ({ status: 207, json: { error: [{ index: 0, errors: [{ code }] }] } })
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ status: 429 }, 'retry', 'rate_limited'],
      [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
      [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
      ['reset', 'retry', 'connection_lost'],
      [{ status: 207, json: [] }, 'retry', 'malformed_response'],
      [{ status: 207, json: {} }, 'retry', 'malformed_response'],
      [{ status: 207, json: { success: {}, error: 'x' } }, 'retry', 'malformed_response'],
      [{ status: 207, json: { success: [{ index: 7 }] } }, 'retry', 'malformed_response'],
      [{ status: 207, json: { success: [{ index: '0' }] } }, 'retry', 'malformed_response'],
      [{ status: 207, json: { success: [{ index: 0 }, { index: 0 }] } }, 'retry', 'malformed_response'],
      [{ status: 207, json: { success: [{ index: 0 }], error: [{ index: 0 }] } }, 'retry', 'malformed_response'],
      [{ status: 207, json: { success: [null] } }, 'retry', 'malformed_response'],
      [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
      [listed('TOO_MANY_REQUESTS'), 'retry', 'rate_limited'],
      [listed('INTERNAL_ERROR'), 'retry', 'platform_error'],
      [listed('FORBIDDEN'), 'reconfigure', 'permission_denied'],
      [{ status: 403, json: {} }, 'reconfigure', 'permission_denied'],
      [{ status: 404, text: '' }, 'reconfigure', 'object_not_found'],
      [{ status: 413, text: '' }, 'split', 'batch_too_large'],
      [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
    ]
    const setting = { server: amazon, context: contextOf(), match: createPath }
    const writer = await openWriter()
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batchOf(columns, [bought()]), failure, wanted)
    }
    assert.equal(amazon.events.size, 0)
  })

  test('survives reasons of any kind, and repeats none of Amazon’s words', async () => {
    for (const errors of [null, 'x', [1, null, { code: {} }, { code: 'quotes jane@example.com' }], { 0: 'A' }]) {
      amazon.failure(createPath, { status: 207, json: { error: [{ index: 0, errors, message: 'jane' }] } })
      const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, [bought()]))
      assert.deepEqual(
        rejected.map(({ index }) => index),
        [0],
      )
      assert.doesNotMatch(rejected[0]?.reason ?? '', /jane/)
    }
  })

  test('checks whether Amazon is reached and the refresh token accepted, and looks at the settings', async () => {
    const { check, destination } = amazonAdsDspEvents
    assert.ok(check && destination?.deliver?.inspect)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions true'])
    const revoked = { secrets: { ...amazonSecrets, refreshToken: 'revoked' } }
    assert.deepEqual(await run(revoked), ['connectivity true', 'authentication false'])
    for (const settings of [{ country: 'Germany' }, { dataSetName: '1st' }]) {
      const error = await connectorErrorOf(destination.deliver.inspect(contextOf({ settings })), contextOf())
      assert.equal(error.code, 'invalid_setting')
    }
    assert.equal(amazon.events.size, 0)
  })
})

const testServer = await startAmazon()
after(() => testServer.close())
const time = iso()
const maid = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'

acceptDestination({
  connector: amazonAdsDspEvents,
  testServer: 'a server that keeps to what is known of Amazon',
  secrets: amazonSecrets,
  wrongSecrets: { ...amazonSecrets, refreshToken: 'Atzr|refresh-of-another' },
  settings: { country: 'US' },
  missing: { dataSetName: '1st' },
  context: { routes: amazonRoutes(testServer.url) },
  columns: ['advertiserId', 'eventType', 'eventTime', 'eventValue', 'currency', 'maid'],
  rows: Array.from({ length: 12 }, (_, n) => [amazonAdvertiser, 'OFF_AMAZON_PURCHASES', time, n + 1, 'USD', maid]),
  badRows: [
    { row: [amazonAdvertiser, 'OFF_AMAZON_PURCHASES', time, 1, 'CHF', maid], reason: /INVALID_ARGUMENT/ },
    { row: [amazonAdvertiser, 'Nothing', time, 1, 'USD', maid], reason: /none of Amazon's/, field: 'eventType' },
  ],
  async readBack() {
    return [...testServer.events.values()].map(({ eventDescription, eventTime, value, currencyCode, matchKeys }) => {
      const { conversionType } = eventDescription as Record<string, unknown>
      const [key] = matchKeys as { values: string[] }[]
      return [
        ...[amazonAdvertiser, String(conversionType), String(eventTime), Number(value), String(currencyCode)],
        String(key?.values[0]),
      ]
    })
  },
  reset: () => testServer.events.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(
      testServer,
      createPath,
      { status: 429, headers: { 'retry-after': '7' } },
      { name: 'limits calls', action: 'retry', afterMs: 7000 },
    ),
    problemOf(testServer, createPath, { status: 500 }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, createPath, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, createPath, { status: 403 }, { name: 'takes the role away', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, createPath),
})
