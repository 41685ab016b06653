import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  type LinkedInServer,
  linkedinRoutes,
  linkedinSecrets,
  refusal,
  startLinkedIn,
} from '../../test/linkedin-server.ts'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import { linkedinOfflineConversions } from './linkedin-offline-conversions.ts'

const columns = ['conversion_rule_id', 'event_time', 'event_id', 'value', 'currency', 'email', 'li_fat_id']
const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const events = /^POST \/rest\/conversionEvents$/
const settings = { conversionRuleId: '104', adAccountId: '500' }
const time = Date.now() - 3_600_000

describe('LinkedIn Offline Conversions, against a server that keeps to what is known of LinkedIn', () => {
  let linkedin: LinkedInServer

  beforeEach(async () => {
    linkedin = await startLinkedIn()
  })
  afterEach(() => linkedin.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets: linkedinSecrets, settings, columns, routes: linkedinRoutes(linkedin.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = linkedinOfflineConversions.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const row = (n: number | string, rule: string | null = null): Cell[] => [
    ...[rule, time, `event-${n}`, null, null, sha(`${n}@example.com`), null],
  ]

  test('sends a row as LinkedIn documents it', async () => {
    const wide = [...columns, 'first_name', 'last_name', 'title', 'company', 'country', 'external_id', 'ip_address']
    const digest = 'bad8677b6c86f5d308ee82786c183482a5995f066694246c58c4df37b0cc41f1'
    const iso = new Date(time).toISOString()
    const golden: Cell[] = [
      ...['urn:lla:llaPartnerConversion:105', iso, 'abc12345', '50.0', 'usd', digest, 'df5gf5-gh6t7-ph4j7h-fgf6n1'],
      ...['mike', 'smith', 'software engineer', 'microsoft', 'us', 'crm-1', '192.0.2.7'],
    ]
    const seconds = String(Math.floor(time / 1000))
    const bare: Cell[] = [
      null,
      seconds,
      null,
      9.5,
      'EUR',
      null,
      null,
      'Ada',
      'Byron',
      null,
      null,
      null,
      null,
      '2001:db8::1',
    ]
    const batch = batchOf(wide, [golden, bare])
    assert.deepEqual((await (await openWriter({ columns: wide })).deliver(batch)).rejected, [])
    const sent = linkedin.received.find(({ path }) => path === '/rest/conversionEvents')
    assert.deepEqual(sent?.json, {
      elements: [
        {
          conversion: 'urn:lla:llaPartnerConversion:105',
          conversionHappenedAt: time,
          conversionValue: { currencyCode: 'USD', amount: '50.0' },
          eventId: 'abc12345',
          user: {
            userIds: [
              { idType: 'SHA256_EMAIL', idValue: digest },
              { idType: 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', idValue: 'df5gf5-gh6t7-ph4j7h-fgf6n1' },
              { idType: 'PLAINTEXT_IP_ADDRESS', idValue: '192.0.2.7' },
            ],
            userInfo: {
              ...{ firstName: 'mike', lastName: 'smith', title: 'software engineer' },
              ...{ companyName: 'microsoft', countryCode: 'US' },
            },
            externalIds: ['crm-1'],
          },
        },
        {
          conversion: 'urn:lla:llaPartnerConversion:104',
          conversionHappenedAt: Number(seconds) * 1000,
          conversionValue: { currencyCode: 'EUR', amount: '9.5' },
          eventId: createHash('sha256').update(`${batch.key}:1`).digest('hex').slice(0, 32),
          user: { userIds: [], userInfo: { firstName: 'Ada', lastName: 'Byron' } },
        },
      ],
    })
  })

  test('rejects before sending what LinkedIn would refuse', async () => {
    const old = time - 91 * 86_400_000
    const rows: [Cell[], string | undefined][] = [
      [['abc', time, null, null, null, sha('a'), null], 'conversion_rule_id'],
      [[null, old, null, null, null, sha('a'), null], 'event_time'],
      [[null, time + 7_200_000, null, null, null, sha('a'), null], 'event_time'],
      [[null, '2026-01-31 12:00', null, null, null, sha('a'), null], 'event_time'],
      [[null, time, null, '9,50', 'EUR', sha('a'), null], 'value'],
      [[null, time, null, '9.50', null, sha('a'), null], 'currency'],
      [[null, time, null, '9.50', 'Euro', sha('a'), null], 'currency'],
      [[null, time, null, null, null, 'jane@example.com', null], 'email'],
      [[null, time, null, null, null, null, ''], 'email'],
    ]
    const { rejected = [] } = await (await openWriter()).deliver(
      batchOf(columns, [...rows.map(([one]) => one), row(1)]),
    )
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example/)
    assert.equal(linkedin.conversions.size, 1)
  })

  test('names the rows of which LinkedIn says that it did not accept them, or says nothing', async () => {
    const rows = [row(1), [null, time, 'refuse-1', null, null, sha('b'), null], row(3)]
    const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(
      rejected.map(({ index, reason }) => [index, /status 400, code INVALID_VALUE/.test(reason)]),
      [[1, true]],
    )
    linkedin.failure(events, { json: { elements: [{ status: 201 }] } })
    const short = await (await openWriter()).deliver(batchOf(columns, [row(4), row(5)]))
    assert.deepEqual(
      short.rejected?.map(({ index }) => index),
      [1],
    )
    linkedin.failure(events, { json: { elements: [] } })
    const none = await (await openWriter()).deliver(batchOf(columns, [row(4), row(5)]))
    assert.deepEqual(
      none.rejected?.map(({ index }) => index),
      [0, 1],
    )
  })

  test('leaves out the rows that LinkedIn blames, and sends the others again', async () => {
    const message =
      'Index: 0, ERROR :: /user :: jane@example.com\nIndex: 2, ERROR :: /eventId :: no\nERROR :: /x :: no\n'
    linkedin.failure(events, { status: 422, json: { status: 422, message } })
    const early: Cell[] = [null, 'never', null, null, null, sha('x'), null]
    const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, [early, row(1), row(2), row(3)]))
    assert.deepEqual(
      rejected.map(({ index }) => index),
      [0, 1, 3],
    )
    assert.deepEqual([...linkedin.conversions.keys()], ['event-2'])
    const wrongRule = await (await openWriter()).deliver(batchOf(columns, [row(4), row(5, '777'), row(6, '105')]))
    assert.deepEqual(
      wrongRule.rejected?.map(({ index, field }) => [index, field]),
      [[1, 'conversion_rule_id']],
    )
    assert.equal(linkedin.conversions.size, 3)
  })

  test('asks for halves where LinkedIn refuses a request without naming a row', async () => {
    linkedin.failure(events, { status: 422, json: { status: 422, message: 'no, Index: 99, ERROR :: x' } })
    const error = await connectorErrorOf((await openWriter()).deliver(batchOf(columns, [row(1), row(2)])), contextOf())
    assert.deepEqual([error.action, error.code], ['split', 'invalid_batch'])
  })

  test('takes a batch of the largest size, and renews a token that ends between two batches', async () => {
    const { rowsMax = 0 } = linkedinOfflineConversions.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, (_, n) => row(n))
    const writer = await openWriter()
    assert.deepEqual((await writer.deliver(batchOf(columns, rows))).rejected, [])
    linkedin.expireTokens()
    assert.deepEqual((await writer.deliver(batchOf(columns, [row('later')], 2))).rejected, [])
    assert.equal(linkedin.conversions.size, rowsMax + 1)
    assert.equal(linkedin.tokensGiven(), 2)
  })

  test('needs a conversion rule, in the settings or in the rows', async () => {
    const none = await connectorErrorOf(openWriter({ settings: {}, columns: ['email'] }), contextOf())
    assert.equal(none.code, 'invalid_setting')
    const odd = await connectorErrorOf(openWriter({ settings: { conversionRuleId: 'x' } }), contextOf())
    assert.equal(odd.code, 'invalid_setting')
    const writer = await openWriter({ settings: {} })
    assert.deepEqual((await writer.deliver(batchOf(columns, [row(1, '105')]))).rejected, [])
  })

  test('maps LinkedIn’s answers to codes', async () => {
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ status: 429, json: { status: 429 } }, 'retry', 'rate_limited'],
      [{ status: 429, headers: { 'retry-after': '7' }, json: {} }, 'retry', 'rate_limited', 7000],
      [{ status: 500, json: { status: 500 } }, 'retry', 'platform_error'],
      [{ status: 503, text: '<html>' }, 'retry', 'platform_error'],
      [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
      [{ status: 200, json: { elements: 'all' } }, 'retry', 'malformed_response'],
      [{ status: 200, json: [[[]]] }, 'retry', 'malformed_response'],
      [{ status: 200, json: { elements: [{ status: 429 }] } }, 'retry', 'rate_limited'],
      [{ status: 200, json: { elements: [{ status: 500 }] } }, 'retry', 'platform_error'],
      ['reset', 'retry', 'connection_lost'],
      ['reset after', 'retry', 'connection_lost'],
      [refusal(409, 'CONFLICT'), 'retry', 'conflict'],
      [refusal(403, 'ACCESS_DENIED', 100), 'reconfigure', 'permission_denied'],
      [refusal(426, 'NONEXISTENT_VERSION'), 'fail', 'version_retired'],
      [refusal(400, 'VERSION_DEPRECATED'), 'split', 'invalid_batch'],
      [{ status: 413, text: '' }, 'split', 'batch_too_large'],
    ]
    const setting = { server: linkedin, context: contextOf(), match: events }
    const writer = await openWriter()
    const batch = batchOf(columns, [row(1)])
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batch, failure, wanted)
    }
    for (const [number, code] of [
      [65601, 'invalid_credentials'],
      [65600, 'expired_credentials'],
    ] as const) {
      // It is asked for a new token first.
      linkedin.failure(events, refusal(401, 'X', number))
      await assertFailure(setting, writer, batch, refusal(401, 'X', number), { action: 'reauthenticate', code })
    }
    await writer.deliver(batch)
    assert.equal(linkedin.conversions.size, 1)
  })

  test('checks whether LinkedIn is reached, signs in, and gives the user a role', async () => {
    const { check } = linkedinOfflineConversions
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    const well = ['connectivity true', 'authentication true', 'permissions true']
    assert.deepEqual(await run(), well)
    assert.deepEqual(await run({ settings: {} }), well)
    const denied = ['connectivity true', 'authentication true', 'permissions false']
    assert.deepEqual(await run({ settings: { adAccountId: '501' } }), denied)
    const revoked = { secrets: { ...linkedinSecrets, refreshToken: 'revoked-token' } }
    assert.deepEqual(await run(revoked), ['connectivity true', 'authentication false'])
    linkedin.roles.set('urn:li:sponsoredAccount:500', 'VIEWER')
    assert.deepEqual(await run(), denied)
  })
})

const testServer = await startLinkedIn()
after(() => testServer.close())

acceptDestination({
  connector: linkedinOfflineConversions,
  testServer: 'a server that keeps to what is known of LinkedIn',
  secrets: linkedinSecrets,
  wrongSecrets: { ...linkedinSecrets, refreshToken: 'revoked-token' },
  settings,
  missing: { conversionRuleId: '999', adAccountId: '501' },
  context: { routes: linkedinRoutes(testServer.url) },
  columns: ['event_time', 'event_id', 'email'],
  rows: Array.from({ length: 12 }, (_, n) => [time, `event-${n}`, sha(`${n}@example.com`)]),
  badRows: [
    { row: [time - 91 * 86_400_000, 'event-98', sha('98')], reason: /older than the 90 days/, field: 'event_time' },
    { row: [time, 'refuse-99', sha('99')], reason: /did not accept/ },
  ],
  async readBack() {
    return [...testServer.conversions.values()].map(({ conversionHappenedAt, eventId, user }) => [
      ...[Number(conversionHappenedAt), String(eventId)],
      String((user as { userIds: { idValue: string }[] }).userIds[0]?.idValue),
    ])
  },
  reset: () => testServer.conversions.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, events, { status: 429, json: {} }, { name: 'limits calls', action: 'retry' }),
    problemOf(testServer, events, { status: 500, text: '<html>' }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, events, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, events, refusal(403, 'ACCESS_DENIED'), { name: 'denies access', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, events),
})
