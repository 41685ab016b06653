import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  type AmazonAudienceServer,
  amazonEntity,
  amazonManager,
  startAmazonAudiences,
} from '../../test/amazon-audience-server.ts'
import { amazonRoutes, amazonSecrets } from '../../test/amazon-server.ts'
import {
  assertFailure,
  assertPreviewed,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import { sha256 } from '../../test/test-event-destination.ts'
import { amazonAdsDataManagerAudiences } from './amazon-ads-data-manager-audiences.ts'
import { amazonAdsDataManagerDspAudiences } from './amazon-ads-data-manager-dsp-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'external_user_id', 'email_sha256', 'maid', 'tcf']
const consents = { consentAdStorage: 'GRANTED', consentUserData: 'GRANTED' }
const settings = { managerId: amazonManager, country: 'us', ...consents }
const members = /^POST .*\/members$/
const jane = sha256('jane@example.com')
const strange = `99999999${jane.slice(8)}`

describe('Amazon Ads Data Manager Audiences, against a server that keeps to Amazon’s models', () => {
  let amazon: AmazonAudienceServer

  beforeEach(async () => {
    amazon = await startAmazonAudiences()
  })
  afterEach(() => amazon.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets: amazonSecrets, settings, columns, routes: amazonRoutes(amazon.url), ...options })
  async function openWriter(options: TestContextOptions = {}, connector = amazonAdsDataManagerAudiences) {
    const { deliver } = connector.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const row = (id: string | null, email: string | null, action = 'add', maid: string | null = null): Cell[] => [
    'Loyal_customers',
    null,
    action,
    id,
    email,
    maid,
    null,
  ]
  const sentTo = (path: RegExp) => amazon.received.filter((one) => path.test(`${one.method} ${one.path}`))

  test('makes an audience and sends people with their identifiers, their country and their consent', async () => {
    const rows: Cell[][] = [
      row('c-1', jane),
      row(null, jane, 'add', 'AB12-34'),
      ['Loyal_customers', null, 'remove', 'c-3', null, 'cd56', 'CPtcf'],
    ]
    const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(rejected, [])
    assert.deepEqual(sentTo(/^POST \/adm\/audiences$/)[0]?.json, {
      name: 'Loyal_customers',
      countryCode: 'US',
      description: 'Loyal_customers',
    })
    const [added, removed] = sentTo(members)
    assert.equal(added?.headers['amazon-ads-manager-account-id'], amazonManager)
    const userConsent = {
      geo: { countryCode: 'US' },
      consent: { amzn: { amznAdStorage: 'GRANTED', amznUserData: 'GRANTED' } },
    }
    assert.deepEqual(added?.json, {
      members: [
        { action: 'CREATE', externalUserId: 'c-1', userIdentity: { hashedPiis: [{ em: jane }] }, userConsent },
        {
          action: 'CREATE',
          externalUserId: sha256(`em ${jane}`),
          userIdentity: { hashedPiis: [{ em: jane }], externalIdentities: [{ maId: 'AB12-34' }] },
          userConsent,
        },
      ],
    })
    assert.deepEqual(removed?.json, {
      members: [
        {
          action: 'DELETE',
          externalUserId: 'c-3',
          userIdentity: { externalIdentities: [{ maId: 'cd56' }] },
          userConsent: { geo: { countryCode: 'US' }, consent: { tcf: 'CPtcf' } },
        },
      ],
    })
  })

  test('names the account of the DSP in another header, and takes the last row about a person', async () => {
    const dsp = { settings: { customerFacingId: amazonEntity, country: 'DE', region: 'EU', ...consents } }
    const writer = await openWriter(dsp, amazonAdsDataManagerDspAudiences)
    const rows = [row('c-1', jane), row('c-1', jane, 'remove'), row('c-2', jane)]
    assert.deepEqual((await writer.deliver(batchOf(columns, rows))).rejected, [])
    assert.equal(sentTo(members)[0]?.headers['amazon-ads-accountid'], amazonEntity)
    assert.deepEqual([...(amazon.datasets[0]?.members.keys() ?? [])], ['c-2'])
  })

  test('finds an audience on a later page, one of the same name that came meanwhile, and that of the connection', async () => {
    for (const name of ['First', 'Second', 'Loyal_customers']) {
      amazon.datasets.push({ id: `ds-${amazon.datasets.length + 1}`, name, country: 'US', members: new Map() })
    }
    const { state } = await (await openWriter()).deliver(batchOf(columns, [row('c-1', jane)]))
    assert.deepEqual(state, { account: amazonManager, audiences: { Loyal_customers: 'ds-3' } })
    amazon.failure(/^GET \/adm\/audiences$/, { json: { dataSets: [] } })
    await (await openWriter()).deliver(batchOf(columns, [row('c-2', jane)]))
    assert.equal(amazon.datasets.length, 3)
    const own = await (await openWriter()).deliver(batchOf(columns, [row('c-2', jane).with(0, null)]))
    assert.deepEqual(own.rejected, [])
    assert.match(amazon.datasets[3]?.name ?? '', /^Penstock_[\w-]+$/)
  })

  test('rejects the people whom Amazon names, and counts those whom it does not name', async () => {
    const rows = [row('c-1', strange), row('c-2', jane), row('c-3', strange)]
    const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
    const reason = 'Amazon did not accept the person (400, 1003, INVALID_PII).'
    assert.deepEqual(
      rejected?.map((one) => [one.index, one.reason]),
      [
        [0, reason],
        [2, reason],
      ],
    )
    amazon.failure(members, { json: { errors: [{ errorCode: 7 }, { index: 99 }, { index: 1 }] } })
    const unnamed = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(
      unnamed.rejected?.map(({ index, count }) => [index, count]),
      [
        [1, undefined],
        [undefined, 2],
      ],
    )
  })

  test('rejects before sending what cannot be taken, as a preview does', async () => {
    const rows: [Cell[], string][] = [
      [row('c-1', jane).with(0, 'My customers'), 'segment_name'],
      [row('c-1', jane).with(0, 'Four'), 'segment_name'],
      [row('c-1', jane).with(1, '../terms'), 'segment_id'],
      [row('not an id', jane), 'external_user_id'],
      [row('c-1', 'jane@example.com'), 'email_sha256'],
      [row('c-1', null), 'email_sha256'],
    ]
    const context = contextOf()
    const batch = batchOf(
      columns,
      rows.map(([one]) => one),
    )
    const { rejected } = await (await openWriter()).deliver(batch)
    assert.deepEqual(
      rejected?.map(({ field }) => field),
      rows.map(([, field]) => field),
    )
    await assertPreviewed(amazonAdsDataManagerAudiences, context, batch, rejected)
    const { country: _, ...without } = settings
    assert.equal((await connectorErrorOf(openWriter({ settings: without }), contextOf())).code, 'invalid_setting')
  })

  test('maps Amazon’s answers to codes, and renews a token that ended', async () => {
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ status: 429, headers: { 'retry-after': '70' } }, 'retry', 'rate_limited', 70_000],
      [{ status: 400, json: { code: '400' } }, 'split', 'invalid_batch'],
      [{ status: 403, json: { code: '403' } }, 'reconfigure', 'permission_denied'],
      [{ status: 404, json: { code: '404' } }, 'reconfigure', 'object_not_found'],
    ]
    const setting = { server: amazon, context: contextOf(), match: members }
    const writer = await openWriter()
    const batch = batchOf(columns, [row('c-1', jane)])
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batch, failure, wanted)
    }
    for (const failure of [{ status: 429 }, { status: 500 }, 'reset', 'reset after'] as const) {
      amazon.failure(members, failure)
      assert.deepEqual((await writer.deliver(batch)).rejected, [])
    }
    amazon.expireTokens()
    assert.deepEqual((await writer.deliver(batch)).rejected, [])
    amazon.failure(/^POST \/adm\/audiences$/, { status: 201, json: { dataSetId: '../x' } })
    const odd = (await openWriter()).deliver(batchOf(columns, [row('c-1', jane).with(0, 'Other_one')]))
    assert.equal((await connectorErrorOf(odd, contextOf())).code, 'malformed_response')
  })

  test('checks the sign-in and the account', async () => {
    const { check } = amazonAdsDataManagerAudiences
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions true'])
    const other = { settings: { ...settings, managerId: 'another' } }
    assert.deepEqual((await run(other)).at(-1), 'permissions false')
    amazon.failure(/^GET \/adm\/audiences$/, { status: 404, json: { code: '404' } })
    const [, , denied] = await check(contextOf())
    assert.match(denied?.message ?? '', /terms of Ads data manager/)
  })
})

const testServer = await startAmazonAudiences()
after(() => testServer.close())

acceptDestination({
  connector: amazonAdsDataManagerAudiences,
  testServer: 'a server that keeps to Amazon’s models',
  secrets: amazonSecrets,
  wrongSecrets: { ...amazonSecrets, clientSecret: 'another-secret' },
  settings,
  missing: { managerId: 'another' },
  context: { routes: amazonRoutes(testServer.url) },
  columns: ['segment_name', 'action', 'external_user_id', 'email_sha256'],
  rows: Array.from({ length: 12 }, (_, n) => ['Loyal_customers', 'add', `c-${n}`, sha256(`${n}@example.com`)]),
  badRows: [
    { row: ['Loyal_customers', 'add', null, 'abc'], reason: /not a SHA-256/, field: 'email_sha256' },
    { row: ['Loyal_customers', 'swap', null, jane], reason: /must be/, field: 'action' },
    { row: ['Loyal_customers', 'add', null, strange], reason: /did not accept/ },
  ],
  async readBack() {
    assert.ok(testServer.datasets.length < 2, 'a second audience was made')
    const found = [...(testServer.datasets[0]?.members ?? [])]
    return found.map(([id, { userIdentity }]) => {
      const { hashedPiis } = userIdentity as { hashedPiis: { em: string }[] }
      return ['Loyal_customers', 'add', id, hashedPiis[0]?.em ?? '']
    })
  },
  reset() {
    testServer.datasets.length = 0
  },
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(
      testServer,
      members,
      { status: 429, headers: { 'retry-after': '30' } },
      { name: 'limits calls', action: 'retry', code: 'rate_limited' },
    ),
    problemOf(testServer, members, { status: 403 }, { name: 'denies access', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, members),
})
