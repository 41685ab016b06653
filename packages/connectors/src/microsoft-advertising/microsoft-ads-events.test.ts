import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  fault,
  type MicrosoftServer,
  microsoftRoutes,
  microsoftSecrets,
  microsoftSettings,
  partial,
  startMicrosoft,
} from '../../test/microsoft-server.ts'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import { microsoftAdsEvents } from './microsoft-ads-events.ts'

const columns = ['conversion_name', 'event_time', 'msclkid', 'email', 'phone', 'value', 'currency']
const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const click = (n: number | string) => createHash('md5').update(String(n)).digest('hex')
const apply = /OfflineConversions\/Apply$/
const time = Date.now() - 3_600_000
const { authType: _, appDeveloperToken: developerToken, ...app } = microsoftSecrets
const secrets = { ...app, developerToken }
const settings = { ...microsoftSettings, conversionName: 'Offline sale', currency: 'EUR' }

describe('Microsoft Advertising Events, against a server that keeps to what is known of Microsoft', () => {
  let microsoft: MicrosoftServer

  beforeEach(async () => {
    microsoft = await startMicrosoft()
  })
  afterEach(() => microsoft.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets, settings, columns, routes: microsoftRoutes(microsoft.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = microsoftAdsEvents.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const row = (n: number | string, goal: string | null = null): Cell[] => [goal, time, click(n), null, null, null, null]

  test('sends a row as Microsoft documents it', async () => {
    const wide = [...columns, 'external_attribution_credit', 'external_attribution_model']
    const iso = new Date(time).toISOString()
    const [email, phone] = [sha('test@contoso.com'), sha('+12345678901')]
    const rows: Cell[][] = [
      ['Offline sale', iso, click(1), email, phone, '49.90', 'usd', '0.5', 'Linear'],
      [null, String(Math.floor(time / 1000)), null, email, null, 10, null, null, null],
      [null, time, click(3), null, null, null, null, null, null],
    ]
    assert.deepEqual((await (await openWriter({ columns: wide })).deliver(batchOf(wide, rows))).rejected, [])
    const sent = microsoft.received.find(({ path }) => apply.test(path))
    assert.deepEqual(sent?.json, {
      OfflineConversions: [
        {
          ...{ MicrosoftClickId: click(1), HashedEmailAddress: email, HashedPhoneNumber: phone },
          ...{ ConversionName: 'Offline sale', ConversionTime: iso, ConversionValue: 49.9 },
          ...{ ConversionCurrencyCode: 'USD', ExternalAttributionCredit: 0.5, ExternalAttributionModel: 'Linear' },
        },
        {
          ...{ HashedEmailAddress: email, ConversionName: 'Offline sale', ConversionValue: 10 },
          ConversionTime: new Date(Math.floor(time / 1000) * 1000).toISOString(),
          ConversionCurrencyCode: 'EUR',
        },
        { MicrosoftClickId: click(3), ConversionName: 'Offline sale', ConversionTime: iso },
      ],
    })
  })

  test('rejects before sending what Microsoft would refuse', async () => {
    const wide = [...columns, 'external_attribution_credit']
    const rows: [Cell[], string | undefined][] = [
      [[null, time - 91 * 86_400_000, click(1), null, null, null, null, null], 'event_time'],
      [[null, 'yesterday', click(1), null, null, null, null, null], 'event_time'],
      [[null, time, null, 'jane@example.com', null, null, null, null], 'email'],
      [[null, time, null, null, '+12345678901', null, null, null], 'phone'],
      [[null, time, null, null, null, null, null, null], 'msclkid'],
      [[null, time, click(1), null, null, '9,50', null, null], 'value'],
      [[null, time, click(1), null, null, '9.50', 'Euro', null], 'currency'],
      [[null, time, click(1), null, null, null, null, '1.5'], 'external_attribution_credit'],
    ]
    const { rejected = [] } = await (await openWriter()).deliver(
      batchOf(wide, [...rows.map(([one]) => one), [...row(9), null]]),
    )
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example/)
    assert.equal(microsoft.conversions.size, 1)
  })

  test('names the rows that Microsoft does not accept, by their places among those that were sent', async () => {
    const early: Cell[] = [null, 'never', click(0), null, null, null, null]
    const strange: Cell[] = [null, time, 'no click', null, null, null, null]
    const rows = [early, row(1), strange, row(2, 'No such goal'), row(3, 'Too new'), row(4)]
    const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      [
        [0, 'event_time'],
        [2, undefined],
        [3, 'conversion_name'],
        [4, undefined],
      ],
    )
    assert.match(rejected[1]?.reason ?? '', /code 5604, OfflineConversionMicrosoftClickIdInvalid/)
    assert.equal(microsoft.conversions.size, 2)
  })

  test('says what is wrong with the goal of the connection and the settings, and blames no row', async () => {
    const failureOf = async (work: Promise<unknown>) => {
      const { code, afterMs } = await connectorErrorOf(work, contextOf())
      return [code, afterMs]
    }
    const one = batchOf(columns, [row(1)])
    const unknown = await openWriter({ settings: { ...settings, conversionName: 'No such goal' } })
    assert.deepEqual(await failureOf(unknown.deliver(one)), ['invalid_setting', undefined])
    const young = await openWriter({ settings: { ...settings, conversionName: 'Too new' } })
    assert.deepEqual(await failureOf(young.deliver(one)), ['platform_unavailable', 1_800_000])
    for (const wrong of [{ ...settings, currency: 'Euro' }, { ...settings, accountId: '' }, { conversionName: 'x' }]) {
      assert.deepEqual(await failureOf(openWriter({ settings: wrong })), ['invalid_setting', undefined])
    }
    const none = openWriter({ settings: microsoftSettings, columns: ['event_time', 'msclkid'] })
    assert.deepEqual(await failureOf(none), ['invalid_setting', undefined])
    assert.deepEqual(await failureOf(openWriter({ secrets: app })), ['invalid_setting', undefined])
  })

  test('takes a batch of the largest size, and renews a token that ends between two batches', async () => {
    const { rowsMax = 0 } = microsoftAdsEvents.destination?.deliver?.batch({}) ?? {}
    const writer = await openWriter()
    const rows = Array.from({ length: rowsMax }, (_, n) => row(n))
    assert.deepEqual((await writer.deliver(batchOf(columns, rows))).rejected, [])
    microsoft.expireTokens()
    assert.deepEqual((await writer.deliver(batchOf(columns, [row('later')], 2))).rejected, [])
    assert.equal(microsoft.conversions.size, rowsMax + 1)
  })

  test('maps Microsoft’s answers to codes', async () => {
    const cases: [Failure, ErrorAction, string, number?][] = [
      [fault(400, 117), 'retry', 'rate_limited', 60_000],
      [{ status: 429, headers: { 'retry-after': '7' }, json: {} }, 'retry', 'rate_limited', 7000],
      [{ status: 429, text: '' }, 'retry', 'rate_limited'],
      [{ status: 502, text: '<html>' }, 'retry', 'platform_error'],
      [{ json: partial([0, 5612, 'OfflineConversionsApplyFailed']) }, 'retry', 'platform_error'],
      [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
      [{ json: [] }, 'retry', 'malformed_response'],
      ['reset', 'retry', 'connection_lost'],
      ['reset after', 'retry', 'connection_lost'],
      [{ json: partial([-1, 4711, 'Strange']) }, 'split', 'invalid_batch'],
      [
        { json: partial([0, 5613, 'OfflineConversionPilotNotEnabledForCustomer']) },
        'reconfigure',
        'account_restricted',
      ],
      [fault(403, 106), 'reconfigure', 'permission_denied'],
      [fault(400, 5601, 'OperationErrors'), 'fail', 'request_refused'],
    ]
    const setting = { server: microsoft, context: contextOf(), match: apply }
    const writer = await openWriter()
    const batch = batchOf(columns, [row(1)])
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batch, failure, wanted)
    }
    await writer.deliver(batch)
    assert.equal(microsoft.conversions.size, 1)
  })
})

const testServer = await startMicrosoft()
after(() => testServer.close())

acceptDestination({
  connector: microsoftAdsEvents,
  testServer: 'a server that keeps to what is known of Microsoft',
  secrets,
  wrongSecrets: { ...secrets, refreshToken: 'revoked-token' },
  settings,
  missing: { ...settings, accountId: '9002' },
  context: { routes: microsoftRoutes(testServer.url) },
  columns: ['event_time', 'msclkid', 'value'],
  rows: Array.from({ length: 12 }, (_, n) => [new Date(time).toISOString(), click(n), n]),
  badRows: [
    { row: [time - 91 * 86_400_000, click(98), 1], reason: /older than the 90 days/, field: 'event_time' },
    { row: [time, 'no click', 1], reason: /does not accept/ },
  ],
  async readBack() {
    return [...testServer.conversions.values()].map(({ ConversionTime, MicrosoftClickId, ConversionValue }) => [
      ...[String(ConversionTime), String(MicrosoftClickId), Number(ConversionValue)],
    ])
  },
  reset: () => testServer.conversions.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, apply, fault(400, 117), { name: 'limits calls', action: 'retry', code: 'rate_limited' }),
    problemOf(testServer, apply, fault(500, 0), { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, apply, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, apply, fault(403, 106), { name: 'denies access', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, apply),
})
