import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import {
  type CampaignManagerServer,
  floodlight,
  campaignManagerRefusal as refusal,
  startCampaignManager,
} from '../../test/campaign-manager-server.ts'
import { googleSecrets } from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf, type Failure } from '../../test/platform-server.ts'
import { type NamedRow, testEventDestination } from '../../test/test-event-destination.ts'
import { campaignManager360Conversions as connector } from './campaign-manager-360-conversions.ts'

const origins = ['https://dfareporting.googleapis.com', 'https://oauth2.googleapis.com']
const row = (n: number) => ({
  ...floodlight,
  timestampMicros: '1763632800000000',
  gclid: `click-${n}`,
  ordinal: `${n}`,
  value: '1.5',
  quantity: '2',
})
const sent = (n: number) => ({ ...row(n), value: 1.5 })
const times: Record<string, string> = {
  '1763632800123': '1763632800123000',
  '1763632800': '1763632800000000',
  '2025-11-20T11:00:00.5+01:00': '1763632800500000',
}
const encryption = { encryptionEntityType: 'DCM_ADVERTISER', encryptionEntityId: '99', encryptionSource: 'AD_SERVING' }
const retired = '3140 : Version v5 of the API is no longer supported. Please upgrade to the latest version of the API.'
const denied: Failure = { json: { hasFailures: true, status: [{ errors: [{ code: 'PERMISSION_DENIED' }] }] } }

await testEventDestination<CampaignManagerServer>({
  connector,
  testServer: 'a server that keeps to what is known of Campaign Manager 360',
  start: startCampaignManager,
  origins,
  secrets: googleSecrets,
  wrongSecrets: { ...googleSecrets, refreshToken: 'revoked-token' },
  settings: {},
  missing: { profileId: '42' },
  posts: /conversions\/batchinsert/,
  eventsIn: (json) => (json as { conversions: unknown[] }).conversions,
  taken: ({ conversions }) => conversions.values(),
  clear: ({ conversions }) => conversions.clear(),
  row,
  kept: (conversion: Record<string, Cell>) => Object.keys(row(0)).map((column) => String(conversion[column])),
  refused: { gclid: 'unknown-click' },
  refusedBecause: /replay the record after that hour \(NOT_FOUND\)/,
  deduplicates: true,
  revoked: refusal(401, 'authError'),
  expireTokens: (server) => server.expireTokens(),
  examples: [
    {
      title: 'one identifier of several, flags, variables and consent, and nothing of the value',
      whole: true,
      row: {
        ...floodlight,
        timestampMicros: '1763632800123456',
        ordinal: '0',
        dclid: 'D1',
        matchId: 'M1',
        adUserDataConsent: 'granted',
        limitAdTracking: 'true',
        nonPersonalizedAd: false,
        customVariables: '{"U1": "red", "U2": 7}',
        email: sha256('user@example.com'),
      },
      event: {
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
      },
    },
    ...Object.entries(times).map(([timestampMicros, micros]) => ({
      title: `the time ${timestampMicros}, a whole quantity with a point, and no consent`,
      row: { timestampMicros, quantity: '3.0', action: 'Add', adUserDataConsent: 'unspecified' },
      event: { ...sent(1), timestampMicros: micros, quantity: '3' },
    })),
    {
      title: 'an encrypted user ID, with who encrypted it',
      settings: encryption,
      row: { gclid: null, encryptedUserId: 'EUI' },
      event: (({ gclid: _, ...others }) => ({ ...others, encryptedUserId: 'EUI' }))(sent(1)),
    },
  ],
  rejected: [
    [{ floodlightActivityId: 'Purchase' }, 'floodlightActivityId'],
    [{ floodlightConfigurationId: null }, 'floodlightConfigurationId'],
    [{ timestampMicros: '2026-01-31 12:00' }, 'timestampMicros'],
    [{ timestampMicros: null }, 'timestampMicros'],
    [{ gclid: null }, 'gclid'],
    [{ gclid: null, email: sha256('user@example.com') }, 'gclid'],
    [{ ordinal: null }, 'ordinal'],
    [{ value: '1,5' }, 'value'],
    [{ quantity: '1.5' }, 'quantity'],
    [{ action: 'delete' }, 'action'],
    [{ value: null, action: 'update' }, 'value'],
    [{ quantity: null, action: 'update' }, 'quantity'],
    [{ customVariables: '{"colour": "red"}' }, 'customVariables'],
    [{ limitAdTracking: 'perhaps' }, 'limitAdTracking'],
    [{ email: 'jane@example.com' }, 'email'],
  ],
  failures: [
    [{ ...refusal(429, 'rateLimitExceeded'), headers: { 'retry-after': '3' } }, 'retry', 'rate_limited', 3000],
    [refusal(429, 'rateLimitExceeded'), 'retry', 'rate_limited'],
    [refusal(403, 'userRateLimitExceeded'), 'retry', 'rate_limited'],
    [refusal(403, 'quotaExceeded'), 'retry', 'rate_limited'],
    [refusal(500, 'backendError'), 'retry', 'platform_error'],
    ['reset', 'retry', 'connection_lost'],
    [{ json: { hasFailures: true } }, 'retry', 'malformed_response'],
    [{ json: { hasFailures: true, status: [{}] } }, 'retry', 'malformed_response'],
    [{ json: { hasFailures: false, status: [{}, {}] } }, 'retry', 'malformed_response'],
    [{ json: { hasFailures: false, status: ['taken'] } }, 'retry', 'malformed_response'],
    [refusal(403, 'insufficientPermissions'), 'reconfigure', 'permission_denied'],
    [refusal(403, 'accessNotConfigured'), 'reconfigure', 'permission_denied'],
    [refusal(403, 'forbidden'), 'reconfigure', 'permission_denied'],
    [denied, 'reconfigure', 'permission_denied'],
    [refusal(403, 'forbidden', retired), 'fail', 'version_retired'],
    [{ status: 413, text: '' }, 'split', 'batch_too_large'],
  ],
  answers: [
    ['sends halves if Google refuses a request because of its content', refusal(400, 'invalid'), []],
    [
      'names the rows that Campaign Manager 360 does not accept, whatever was rejected before',
      undefined,
      [[0, 'value'], 2, 4, 5],
      [
        { value: 'none' },
        {},
        { gclid: 'unknown-click' },
        {},
        { floodlightConfigurationId: '4002' },
        { action: 'update' },
      ],
    ],
  ],
  openings: [[{ settings: { profileId: 'me' } }, 'invalid_setting']],
  checks: [
    { title: 'that the user has the user profile', change: () => {}, settings: { profileId: 'me' }, ok: false },
    {
      title: 'which user profiles there are',
      change: ({ profiles }) => profiles.push('7002'),
      ok: true,
      message: /2 user profiles/,
    },
    {
      title: 'that there is a user profile',
      change: ({ profiles }) => profiles.splice(0),
      ok: false,
      message: /no user profile/,
    },
  ],
})

describe('Campaign Manager 360 Conversions, with several requests', () => {
  let google: CampaignManagerServer

  beforeEach(async () => {
    google = await startCampaignManager()
  })
  afterEach(() => google.close())

  const columns = ['action', 'matchId', 'email', 'phone', 'limitAdTracking', 'encryptedUserId', ...Object.keys(row(0))]
  const contextOf = (settings: Values = {}) => {
    const routes = Object.fromEntries(origins.map((origin) => [origin, google.url]))
    return testContext({ secrets: googleSecrets, settings, columns, routes })
  }
  const open = (settings: Values = {}) => {
    const { deliver } = connector.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(settings))
  }
  const batch = (...rows: NamedRow[]) =>
    batchOf(
      columns,
      rows.map((one) => columns.map((column) => one[column] ?? null)),
    )
  const rejectedOf = async (rows: readonly NamedRow[]) =>
    (await (await open()).deliver(batch(...rows))).rejected?.map(({ index }) => index)
  const errorOf = async (rows: readonly NamedRow[], settings: Values = {}) => {
    const writer = await open(settings)
    return connectorErrorOf(writer.deliver(batch(...rows)), contextOf())
  }
  const bodies = () =>
    google.received.filter(({ path }) => /\/batch/.test(path)).map(({ json }) => json as { conversions: unknown[] })

  test('inserts conversions, and then corrects those that rows correct, under the only user profile', async () => {
    const update = { ...row(1), action: 'update', limitAdTracking: 'true' }
    assert.deepEqual(await rejectedOf([{ ...row(2), action: 'add' }, row(1), update].reverse()), [])
    assert.deepEqual(bodies(), [
      { kind: 'dfareporting#conversionsBatchInsertRequest', conversions: [sent(1), sent(2)] },
      { kind: 'dfareporting#conversionsBatchUpdateRequest', conversions: [sent(1)] },
    ])
    assert.deepEqual(
      google.received.flatMap(({ path }) => (/\/batch/.test(path) ? path.split('/')[4] : [])),
      ['7001', '7001'],
    )
  })

  test('completes conversions with contact data, by their match ID', async () => {
    const [email, phone] = [sha256('user@example.com'), sha256('+18005550100')]
    const added = { ...row(1), gclid: null, matchId: 'M1' }
    assert.deepEqual(await rejectedOf([added, { ...row(1), matchId: 'M1', action: 'update', email, phone }]), [])
    const { gclid: _, ...others } = sent(1)
    assert.deepEqual(bodies()[1]?.conversions, [
      { ...others, matchId: 'M1', userIdentifiers: [{ hashedEmail: email }, { hashedPhoneNumber: phone }] },
    ])
  })

  test('asks who encrypted user IDs if the settings do not say it', async () => {
    const error = await errorOf([{ ...row(1), gclid: null, encryptedUserId: 'EUI' }])
    assert.deepEqual([error.code, error.action], ['invalid_setting', 'reconfigure'])
  })

  test('tries again while a conversion to be changed may not have been processed yet, for six hours', async () => {
    const aged = (n: number, hours: number) => ({ ...row(n), timestampMicros: `${Date.now() - hours * 3_600_000}000` })
    const [first, second, late] = [aged(1, 2), aged(2, 5.9), aged(3, 6.1)]
    await rejectedOf([first, second])
    const changes = [first, second, late].map((one) => ({ ...one, action: 'update' }))
    for (const codes of [['NOT_FOUND'], ['INTERNAL', 'NOT_FOUND']]) {
      google.failing.set('2', codes)
      const { code, action, afterMs, message } = await errorOf(changes)
      assert.deepEqual([code, action, afterMs], ['platform_unavailable', 'retry', 60_000])
      assert.match(message, /not know 1 of the conversions/)
    }
    assert.deepEqual(await rejectedOf(changes), [2])
    // A new conversion is not found for other reasons, as a click that Google does not know.
    assert.deepEqual(await rejectedOf([{ ...aged(4, 2), gclid: 'unknown-click' }, row(5)]), [0])
  })

  test('sends conversions again at which the platform failed, and gives up if it fails again', async () => {
    google.failing.set('2', ['INTERNAL'])
    assert.deepEqual(await rejectedOf([row(1), row(2), row(3)]), [])
    assert.deepEqual(
      bodies().map(({ conversions }) => conversions.length),
      [3, 1],
    )
    assert.equal(google.conversions.size, 3)
    google.failing.set('4', ['INTERNAL', 'NOT_FOUND'])
    assert.deepEqual(await rejectedOf([row(4), row(5)]), [0])
    google.failing.set('6', ['INTERNAL', 'INTERNAL'])
    const error = await errorOf([row(6)])
    assert.deepEqual([error.code, error.action], ['platform_error', 'retry'])
  })

  test('uses the user profile of the connection, and asks which one if there are several', async () => {
    google.profiles.push('7002')
    const several = await errorOf([row(1)])
    assert.deepEqual([several.code, /User profile ID/.test(several.message)], ['invalid_setting', true])
    assert.deepEqual((await (await open({ profileId: '7002' })).deliver(batch(row(1)))).rejected, [])
    assert.equal((await errorOf([row(1)], { profileId: '9' })).code, 'object_not_found')
    google.profiles.splice(0)
    assert.equal((await errorOf([row(1)])).code, 'permission_denied')
  })

  test('looks for the user profile again after a transient error', async () => {
    const writer = await open()
    for (let times = 0; times < 3; times++) google.failure(/userprofiles$/, { status: 500, text: '' })
    const error = await connectorErrorOf(writer.deliver(batch(row(1))), contextOf())
    assert.equal(error.action, 'retry')
    assert.deepEqual((await writer.deliver(batch(row(1)))).rejected, [])
  })
})
