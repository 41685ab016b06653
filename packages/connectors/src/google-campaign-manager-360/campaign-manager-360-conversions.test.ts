import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction, Values } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  type CampaignManagerServer,
  floodlight,
  campaignManagerRefusal as refusal,
  startCampaignManager,
} from '../../test/campaign-manager-server.ts'
import { googleSecrets } from '../../test/data-manager-server.ts'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import { campaignManager360Conversions as connector } from './campaign-manager-360-conversions.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const columns = [
  ...['floodlightActivityId', 'floodlightConfigurationId', 'timestampMicros', 'gclid', 'ordinal', 'value', 'quantity'],
  'action',
]
const { floodlightActivityId: activity, floodlightConfigurationId: configuration } = floodlight
const row = (n: number | string, action: Cell = null): Cell[] => [
  ...[activity, configuration, '1763632800000000', `click-${n}`, `${n}`, '1.5', '2'],
  action,
]
const inserts = /conversions\/batchinsert/
const routesTo = ({ url }: { url: string }) => ({
  'https://dfareporting.googleapis.com': url,
  'https://oauth2.googleapis.com': url,
})

describe('Campaign Manager 360 Conversions', () => {
  let google: CampaignManagerServer

  beforeEach(async () => {
    google = await startCampaignManager()
  })
  afterEach(() => google.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets: googleSecrets, columns, routes: routesTo(google), ...options })
  async function openWriter(settings: Values = {}, names = columns) {
    const { deliver } = connector.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf({ settings, columns: names }))
  }
  const deliver = async (rows: Cell[][], names = columns, settings: Values = {}) =>
    (await openWriter(settings, names)).deliver(batchOf(names, rows))
  const bodies = () =>
    google.received.filter(({ path }) => /\/batch/.test(path)).map(({ json }) => json as Record<string, unknown>)

  test('inserts conversions, and then corrects those that rows correct', async () => {
    const delivery = await deliver([row(1, 'update'), row(1), row(2, 'add')].reverse())
    assert.deepEqual(delivery.rejected, [])
    const conversion = (n: number) => ({
      ...floodlight,
      timestampMicros: '1763632800000000',
      ordinal: `${n}`,
      gclid: `click-${n}`,
      quantity: '2',
      value: 1.5,
    })
    assert.deepEqual(bodies(), [
      { kind: 'dfareporting#conversionsBatchInsertRequest', conversions: [conversion(2), conversion(1)] },
      { kind: 'dfareporting#conversionsBatchUpdateRequest', conversions: [conversion(1)] },
    ])
    assert.equal(google.received.find(({ path }) => inserts.test(path))?.path.split('/')[4], '7001')
  })

  test('reads plain columns: times of several forms, one identifier, flags and variables', async () => {
    const names = [
      ...['floodlightActivityId', 'floodlightConfigurationId', 'timestampMicros', 'ordinal', 'dclid', 'matchId'],
      ...['adUserDataConsent', 'limitAdTracking', 'nonPersonalizedAd', 'customVariables'],
    ]
    const times = ['1763632800123456', '1763632800123', '1763632800', '2025-11-20T11:00:00.5+01:00']
    const rows = times.map((time, n): Cell[] => [
      ...[activity, configuration, time, `${n}`, 'D1', 'M1'],
      ...(n === 0 ? ['granted', 'true', false, '{"U1": "red", "U2": 7}'] : [null, null, null, null]),
    ])
    assert.deepEqual((await deliver(rows, names)).rejected, [])
    const sent = bodies()[0]?.conversions as Record<string, unknown>[]
    assert.deepEqual(
      sent.map(({ timestampMicros }) => timestampMicros),
      ['1763632800123456', '1763632800123000', '1763632800000000', '1763632800500000'],
    )
    assert.deepEqual(sent[0], {
      ...floodlight,
      timestampMicros: '1763632800123456',
      ordinal: '0',
      dclid: 'D1',
      quantity: '1',
      value: 0,
      customVariables: [
        { type: 'U1', value: 'red' },
        { type: 'U2', value: '7' },
      ],
      limitAdTracking: true,
      nonPersonalizedAd: false,
      adUserDataConsent: 'GRANTED',
    })
  })

  test('completes conversions with contact data, by their match ID', async () => {
    const names = [
      ...['floodlightActivityId', 'floodlightConfigurationId', 'timestampMicros', 'ordinal', 'matchId', 'value'],
      ...['quantity', 'action', 'gclid', 'email', 'phone'],
    ]
    const match: Cell[] = [activity, configuration, '1763632800000000', '1', 'M1', '3', '1']
    await deliver([[...match, 'add', null, null, null]], names)
    const { rejected } = await deliver(
      [[...match, 'update', 'click-1', sha('user@example.com'), sha('+18005550100')]],
      names,
    )
    assert.deepEqual(rejected, [])
    assert.deepEqual(bodies()[1]?.conversions, [
      {
        ...floodlight,
        timestampMicros: '1763632800000000',
        ordinal: '1',
        matchId: 'M1',
        quantity: '1',
        value: 3,
        userIdentifiers: [{ hashedEmail: sha('user@example.com') }, { hashedPhoneNumber: sha('+18005550100') }],
      },
    ])
  })

  test('says who encrypted user IDs, and asks for it where the settings do not say it', async () => {
    const names = ['floodlightActivityId', 'floodlightConfigurationId', 'timestampMicros', 'ordinal', 'encryptedUserId']
    const rows: Cell[][] = [[activity, configuration, '1763632800000000', '1', 'EUI']]
    const encryption = {
      encryptionEntityType: 'DCM_ADVERTISER',
      encryptionEntityId: '99',
      encryptionSource: 'AD_SERVING',
    }
    assert.deepEqual((await deliver(rows, names, encryption)).rejected, [])
    assert.deepEqual(bodies()[0]?.encryptionInfo, { kind: 'dfareporting#encryptionInfo', ...encryption })
    const error = await connectorErrorOf(deliver(rows, names), contextOf())
    assert.deepEqual([error.code, error.action], ['invalid_setting', 'reconfigure'])
  })

  test('rejects before sending what would make a request unreadable', async () => {
    const changed = (at: number, value: Cell, action: Cell = null): Cell[] =>
      row(9, action).map((cell, index) => (index === at ? value : cell))
    const rows: [Cell[], string | undefined][] = [
      [changed(0, 'Purchase'), 'floodlightActivityId'],
      [changed(1, null), 'floodlightConfigurationId'],
      [changed(2, '2026-01-31 12:00'), 'timestampMicros'],
      [changed(3, null), 'gclid'],
      [changed(4, null), 'ordinal'],
      [changed(5, '1,5'), 'value'],
      [changed(6, '1.5'), 'quantity'],
      [changed(7, 'delete'), 'action'],
      [changed(5, null, 'update'), 'value'],
    ]
    const { rejected } = await deliver([...rows.map(([one]) => one), row(1)])
    assert.deepEqual(
      rejected?.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    assert.equal(google.conversions.size, 1)
  })

  test('names the rows that Campaign Manager 360 does not accept, whatever was rejected before', async () => {
    const unknown = row(5).map((cell, index) => (index === 3 ? 'unknown-click' : cell))
    const other = row(6).map((cell, index) => (index === 1 ? '4002' : cell))
    const { rejected } = await deliver([row('x', 'none'), row(1), unknown, row(2), other, row(7, 'update')])
    assert.deepEqual(
      rejected?.map(({ index, reason }) => [index, /\((\w+)\)\.$/.exec(reason)?.[1]]),
      [
        [0, undefined],
        [2, 'NOT_FOUND'],
        [4, 'PERMISSION_DENIED'],
        [5, 'NOT_FOUND'],
      ],
    )
    assert.equal(google.conversions.size, 2)
    assert.doesNotMatch(JSON.stringify(rejected), /may quote/)
  })

  test('sends conversions again at which the platform failed, and gives up where it fails again', async () => {
    google.failing.set('2', ['INTERNAL'])
    assert.deepEqual((await deliver([row(1), row(2), row(3)])).rejected, [])
    assert.deepEqual(
      bodies().map(({ conversions }) => (conversions as unknown[]).length),
      [3, 1],
    )
    assert.equal(google.conversions.size, 3)
    google.failing.set('4', ['INTERNAL', 'NOT_FOUND'])
    assert.deepEqual(
      (await deliver([row(4), row(5)])).rejected?.map(({ index }) => index),
      [0],
    )
    google.failing.set('6', ['INTERNAL', 'INTERNAL'])
    const error = await connectorErrorOf(deliver([row(6)]), contextOf())
    assert.deepEqual([error.code, error.action], ['platform_error', 'retry'])
  })

  test('fails, and rejects no row, where the user profile may change none of the conversions', async () => {
    const others = [1, 2, 3].map((n) => row(n).map((cell, index) => (index === 1 ? '4002' : cell)))
    const error = await connectorErrorOf(deliver(others), contextOf())
    assert.deepEqual([error.code, error.action], ['permission_denied', 'reconfigure'])
  })

  test('uses the only user profile, and asks which one where there are several', async () => {
    google.profiles.push('7002')
    const several = await connectorErrorOf(deliver([row(1)]), contextOf())
    assert.equal(several.code, 'invalid_setting')
    assert.match(several.message, /User profile ID/)
    assert.deepEqual((await deliver([row(1)], columns, { profileId: '7002' })).rejected, [])
    const unknown = await connectorErrorOf(deliver([row(1)], columns, { profileId: '9' }), contextOf())
    assert.equal(unknown.code, 'object_not_found')
    google.profiles.splice(0)
    assert.equal((await connectorErrorOf(deliver([row(1)]), contextOf())).code, 'permission_denied')
  })

  test('checks which user profiles there are', async () => {
    const { check } = connector
    assert.ok(check)
    const permission = async (settings: Values = {}) => (await check(contextOf({ settings }))).at(-1)
    assert.deepEqual([(await permission())?.ok, (await permission({ profileId: 'me' }))?.ok], [true, false])
    google.profiles.push('7002')
    assert.match((await permission())?.message ?? '', /2 user profiles/)
    google.profiles.splice(0)
    assert.equal((await permission())?.code, 'permission_denied')
  })

  test('maps each refusal to a code', async () => {
    const retired =
      '3140 : Version v5 of the API is no longer supported. Please upgrade to the latest version of the API.'
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ ...refusal(429, 'rateLimitExceeded'), headers: { 'retry-after': '3' } }, 'retry', 'rate_limited', 3000],
      [refusal(429, 'rateLimitExceeded'), 'retry', 'rate_limited'],
      [refusal(403, 'userRateLimitExceeded'), 'retry', 'rate_limited'],
      [refusal(403, 'quotaExceeded'), 'retry', 'rate_limited'],
      [refusal(500, 'backendError'), 'retry', 'platform_error'],
      ['reset', 'retry', 'connection_lost'],
      [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
      [{ json: {} }, 'retry', 'malformed_response'],
      [{ json: { hasFailures: true } }, 'retry', 'malformed_response'],
      [{ json: { hasFailures: true, status: [{}] } }, 'retry', 'malformed_response'],
      [{ json: { hasFailures: false, status: [{}, {}] } }, 'retry', 'malformed_response'],
      [{ json: { hasFailures: false, status: ['taken'] } }, 'retry', 'malformed_response'],
      [refusal(403, 'insufficientPermissions'), 'reconfigure', 'permission_denied'],
      [refusal(403, 'accessNotConfigured'), 'reconfigure', 'permission_denied'],
      [refusal(403, 'forbidden'), 'reconfigure', 'permission_denied'],
      [refusal(403, 'forbidden', retired), 'fail', 'version_retired'],
      [refusal(400, 'invalid'), 'split', 'invalid_batch'],
      [{ status: 413, text: '' }, 'split', 'batch_too_large'],
    ]
    const setting = { server: google, context: contextOf(), match: inserts }
    const writer = await openWriter()
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batchOf(columns, [row(1)]), failure, wanted)
    }
  })

  test('asks for another token where one ends in the middle of a transfer', async () => {
    const writer = await openWriter()
    await writer.deliver(batchOf(columns, [row(1)]))
    google.expireTokens()
    await writer.deliver(batchOf(columns, [row(2)], 2))
    assert.equal(google.conversions.size, 2)
    assert.equal(google.received.filter(({ path }) => path === '/token').length, 2)
  })

  test('takes a batch of the largest size', async () => {
    const { rowsMax = 0 } = connector.destination?.deliver?.batch({}) ?? {}
    assert.deepEqual((await deliver(Array.from({ length: rowsMax }, (_, n) => row(n)))).rejected, [])
    assert.equal(google.conversions.size, 1_000)
  })
})

const testServer = await startCampaignManager()
after(() => testServer.close())

acceptDestination({
  connector,
  testServer: 'a server that keeps to what is known of Campaign Manager 360',
  secrets: googleSecrets,
  wrongSecrets: { ...googleSecrets, refreshToken: 'revoked-token' },
  settings: {},
  missing: { profileId: '42' },
  context: { routes: routesTo(testServer) },
  columns: columns.slice(0, 7),
  rows: Array.from({ length: 12 }, (_, n) => row(n).slice(0, 7)),
  badRows: [
    {
      row: row('a')
        .map((cell, index) => (index === 3 ? 'unknown-a' : cell))
        .slice(0, 7),
      reason: /NOT_FOUND/,
    },
    {
      row: row('b')
        .map((cell, index) => (index === 5 ? 'much' : cell))
        .slice(0, 7),
      reason: /number/,
      field: 'value',
    },
  ],
  async readBack() {
    return [...testServer.conversions.values()].map((conversion) =>
      columns.slice(0, 7).map((column) => String(conversion[column])),
    )
  },
  reset: () => testServer.conversions.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, inserts, refusal(429, 'rateLimitExceeded'), { name: 'limits calls', action: 'retry' }),
    problemOf(testServer, inserts, refusal(503, 'backendError'), { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, inserts, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, inserts, refusal(403, 'forbidden'), { name: 'denies access', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, inserts),
})
