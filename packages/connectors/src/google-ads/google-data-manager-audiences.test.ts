import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Batch, Cell, ErrorAction } from '@penstock/connector'
import type { TestContextOptions } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import {
  because,
  type DataManagerServer,
  dataManagerFacts,
  dataManagerMembers,
  googleSecrets,
  refusal,
} from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { assertFailure, assertPreviewed, batchOf, connectorErrorOf, type Failure } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { googleDataManagerAudiences as connector } from './google-data-manager-audiences.ts'

const columns = ['segment_name', 'action', 'email', 'phone_sha256', 'first_name', 'last_name', 'country', 'postal_code']
const settings = {
  accountType: 'Google Ads',
  advertiserId: '123-456-7890',
  audienceType: 'Contact Information',
  dataSourceType: 'FIRST_PARTY',
  adUserDataConsent: 'Granted',
  adPersonalizationConsent: 'Unspecified',
}
const row = (n: number | string, action = 'add', name: string | null = 'Loyal'): Cell[] => [
  name,
  action,
  sha256(`${n}@example.com`),
  null,
  null,
  null,
  null,
  null,
]
const member = (n: number | string) =>
  JSON.stringify({ userData: { userIdentifiers: [{ emailAddress: sha256(`${n}@example.com`) }] } })
const account = 'accountTypes/GOOGLE_ADS/accounts/1234567890'
const ingest = /audienceMembers:ingest/

await testDestination<DataManagerServer>({
  ...dataManagerFacts,
  connector,
  settings,
  missing: { ...settings, advertiserId: '42' },
  columns,
  posts: ingest,
  check: {
    denied: [{ settings: { ...settings, advertiserId: '42' } }],
    unknown: [{ ...googleSecrets, refreshToken: 'revoked' }],
  },
  measures: {
    request: /GET .*userLists\/\d+$/,
    // Numbers of 64 bits are texts in Google's JSON.
    reply: (id) => ({
      id,
      membershipStatus: 'OPEN',
      sizeInfo: { displayNetworkMembersCount: '8100', searchNetworkMembersCount: '6400' },
    }),
    measure: { low: 8100, high: 8100, received: null, matched: null, status: 'OPEN' },
  },
  accepts: {
    columns: columns.slice(0, 3),
    rows: Array.from({ length: 12 }, (_, n) => row(n).slice(0, 3)),
    badRows: [
      { row: ['Loyal', 'add', `99999999${sha256('a').slice(8)}`], reason: /INVALID_SHA256_FORMAT/ },
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email' },
      { row: ['Loyal', 'add', null], reason: /no e-mail address/, field: 'email' },
      { row: ['Loyal', null, sha256('b')], reason: /add or remove/, field: 'action' },
    ],
    readBack: dataManagerMembers,
    reset: ({ lists }) => lists.splice(0),
    problems: [
      [refusal(429, 'RESOURCE_EXHAUSTED'), 'limits calls', 'retry'],
      [refusal(503, 'UNAVAILABLE'), 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [refusal(403, 'PERMISSION_DENIED'), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter } = scene
    const deliver = async (batch: Batch, options: TestContextOptions = {}) => (await openWriter(options)).deliver(batch)
    const members = (at = 0) => [...(scene.server.lists[at]?.members ?? [])].sort()

    test('makes a list that rows name, adds and removes people, and delivers twice without harm', async () => {
      const batch = batchOf(columns, [row(1), row(2), row(2, 'remove'), row(3, 'remove'), row(3)])
      const delivery = await deliver(batch)
      assert.deepEqual(delivery.rejected, [])
      assert.deepEqual(delivery.state, { account, audiences: { Loyal: '8000000001' } })
      assert.equal(delivery.held, true)
      assert.deepEqual(scene.server.lists[0]?.info, { dataSourceType: 'DATA_SOURCE_TYPE_FIRST_PARTY' })
      await deliver(batch)
      await deliver(batch, { state: delivery.state ?? null })
      assert.equal(scene.server.lists.length, 1)
      assert.deepEqual(members(), [member(1), member(3)].sort())
      const sent = scene.server.received.find(({ path }) => ingest.test(path))?.json as Record<string, unknown>
      assert.deepEqual(sent.consent, { adUserData: 'CONSENT_GRANTED' })
    })

    test('sends addresses whole, hashed where Google wants it and plain where not', async () => {
      const address = [sha256('jane'), sha256('saoirse'), 'ie', 'D02 X285']
      const digest = sha256('+12345678901')
      await deliver(batchOf(columns, [['Loyal', 'add', null, digest, ...address]]))
      const [givenName, familyName] = address
      const identifiers = [
        { phoneNumber: digest },
        { address: { givenName, familyName, regionCode: 'IE', postalCode: 'D02 X285' } },
      ]
      assert.deepEqual(members(), [JSON.stringify({ userData: { userIdentifiers: identifiers } })])
    })

    test('keeps lists of devices, from the column of their kind', async () => {
      const wide = ['action', 'email', 'idfa', 'gaid']
      const device = 'AEBE52E7-03EE-455A-B3C4-E57283966239'
      const mobile = { ...settings, audienceType: 'Mobile Advertising Id', appId: 'app.acme', keySpace: 'IOS' }
      const rows: Cell[][] = [
        ['add', '', device, null],
        ['add', sha256('x'), null, device],
        ['add', null, 'jane@example.com', null],
      ]
      const batch = batchOf(wide, rows)
      const { rejected, state } = await deliver(batch, { settings: mobile, columns: wide })
      await assertPreviewed(connector, contextOf({ settings: mobile }), batch, rejected)
      assertRejected(rejected, [
        [1, 'idfa'],
        [2, 'idfa'],
      ])
      assert.deepEqual(members(), [JSON.stringify({ mobileData: { mobileIds: [device] } })])
      assert.deepEqual(state, { account, audienceId: '8000000001', audiences: {} })
      assert.deepEqual(
        [scene.server.lists[0]?.displayName, scene.server.lists[0]?.uploadKeyTypes],
        ['Penstock 0f1e2d3c4b5a6978', ['MOBILE_ID']],
      )
    })

    test('makes no second list where the answer to making it was lost, or another client made it', async () => {
      scene.server.failure(/^POST .*userLists$/, 'reset after')
      const batch = batchOf(columns, [row(1, 'add', 'With "quotes" \\ and more')])
      assert.equal((await connectorErrorOf(deliver(batch), contextOf())).action, 'retry')
      scene.server.failure(/^GET .*userLists$/, { json: {} })
      await deliver(batch)
      assert.equal(scene.server.lists.length, 1)
      assert.deepEqual(members(), [member(1)])
    })

    test('takes a batch of the largest size', async () => {
      const rowsMax = await scene.largest(row)
      assert.equal(scene.server.lists[0]?.members.size, rowsMax)
    })

    test('creates another list if the cached one is gone', async () => {
      await deliver(batchOf(columns, [row(1, 'add', null)]), { state: { account, audienceId: '77', audiences: {} } })
      assert.deepEqual(
        scene.server.lists.map(({ displayName }) => displayName),
        ['Penstock 0f1e2d3c4b5a6978'],
      )
    })

    test('rejects before sending what would make Google refuse the whole request', async () => {
      const rows: [Cell[], string | undefined][] = [
        [row(1, 'replace'), 'action'],
        [['Loyal', 'add', 'jane@example.com', null, null, null, null, null], 'email'],
        [['Loyal', 'add', null, sha256('1').slice(1), null, null, null, null], 'phone_sha256'],
        [['Loyal', 'add', null, null, null, null, null, null], 'email'],
        [['Loyal', 'add', null, null, sha256('jane'), sha256('saoirse'), null, 'D02'], 'country'],
        [['Loyal', 'add', null, null, sha256('jane'), sha256('saoirse'), 'Ireland', 'D02'], 'country'],
        [row(7, 'remove', 'Unknown audience'), 'segment_name'],
      ]
      const batch = batchOf(columns, [...rows.map(([one]) => one), row(9)])
      const { rejected } = await deliver(batch)
      assertRejected(
        rejected,
        rows.map(([, field], index) => [index, field]),
      )
      // Only Google knows that there is no list with this name.
      await assertPreviewed(connector, contextOf(), batch, rejected?.slice(0, -1))
      assert.deepEqual(members(), [member(9)])
      assert.equal(scene.server.lists.length, 1)
    })

    const digestOnlyGoogleRefuses = (n: number): Cell[] => [
      'Loyal',
      'add',
      `99999999${sha256(String(n)).slice(8)}`,
      null,
      null,
      null,
      null,
      null,
    ]

    test('takes out the members that Google blames, however many answers that needs, and names their rows', async () => {
      for (const path of [scene.server.blame.path, (at: number) => `audienceMembers[${at}].userData`]) {
        scene.server.blame.path = path
        const rows = Array.from({ length: 50 }, (_, n) => (n % 5 === 0 ? digestOnlyGoogleRefuses(n) : row(n)))
        const { rejected } = await deliver(batchOf(columns, rows))
        assert.deepEqual(
          rejected?.map(({ index }) => index).sort((a, b) => Number(a) - Number(b)),
          [0, 5, 10, 15, 20, 25, 30, 35, 40, 45],
        )
        assert.equal(
          rejected?.[0]?.reason,
          'Google does not accept this member: a digest is not SHA-256 (INVALID_SHA256_FORMAT).',
        )
        assert.equal(scene.server.lists[0]?.members.size, 40)
      }
    })

    test('halves a batch if Google blames too many rows, one after the other, or no particular row', async () => {
      scene.server.blame.most = 1
      const rows = Array.from({ length: 30 }, (_, n) => digestOnlyGoogleRefuses(n))
      const many = await connectorErrorOf(deliver(batchOf(columns, rows)), contextOf())
      assert.deepEqual([many.action, many.code], ['split', 'invalid_batch'])
      scene.server.blame.path = () => 'audience_members'
      const empty = await connectorErrorOf(deliver(batchOf(columns, rows)), contextOf())
      assert.deepEqual([empty.action, empty.code], ['split', 'invalid_batch'])
    })

    test('asks for a new access token once when the old one has ended, and for none otherwise', async () => {
      const writer = await openWriter()
      await writer.deliver(batchOf(columns, [row(1)]))
      await writer.deliver(batchOf(columns, [row(2)]))
      const tokens = () => scene.server.received.filter(({ path }) => path === '/token').length
      assert.equal(tokens(), 1)
      scene.server.expireTokens()
      await writer.deliver(batchOf(columns, [row(3)]))
      assert.equal(tokens(), 2)
      scene.server.failure(ingest, refusal(401, 'UNAUTHENTICATED'))
      scene.server.failure(ingest, refusal(401, 'UNAUTHENTICATED'))
      const connectorError = await connectorErrorOf(writer.deliver(batchOf(columns, [row(4)])), contextOf())
      assert.deepEqual([connectorError.action, connectorError.code], ['reauthenticate', 'invalid_credentials'])
    })

    test('maps each refusal to a code', async () => {
      const delay = [{ '@type': 'type.googleapis.com/scene.server.rpc.RetryInfo', retryDelay: '7.5s' }]
      const cases: FailureCase[] = [
        [refusal(429, 'RESOURCE_EXHAUSTED', delay), 'retry', 'rate_limited', 7500],
        [{ ...refusal(429, 'RESOURCE_EXHAUSTED'), headers: { 'retry-after': '3' } }, 'retry', 'rate_limited', 3000],
        [refusal(503, 'UNAVAILABLE'), 'retry', 'platform_error'],
        [refusal(504, 'DEADLINE_EXCEEDED'), 'retry', 'platform_error'],
        [refusal(500, 'INTERNAL'), 'retry', 'platform_error'],
        [refusal(409, 'ABORTED'), 'retry', 'platform_error'],
        [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
        ['reset', 'retry', 'connection_lost'],
        [refusal(403, 'PERMISSION_DENIED'), 'reconfigure', 'permission_denied'],
        [because('TERMS_AND_CONDITIONS_NOT_SIGNED'), 'reconfigure', 'terms_not_accepted'],
        [because('NOT_ALLOWLISTED'), 'reconfigure', 'account_restricted'],
        [because('INVALID_USER_LIST_ID'), 'reconfigure', 'object_not_found'],
        [because('INVALID_USER_LIST_TYPE'), 'reconfigure', 'invalid_setting'],
        [because('OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH'), 'reconfigure', 'invalid_setting'],
        [because('EU_POLITICAL_ADVERTISING_DECLARATION_REQUIRED'), 'reconfigure', 'terms_not_accepted'],
        [because('DESTINATION_ACCOUNT_TYPE_MISMATCH'), 'reconfigure', 'invalid_setting'],
        [because('ADVERTISER_NOT_ALLOWLISTED_FOR_UPLOADED_DATA'), 'reconfigure', 'account_restricted'],
        [because('ADVERTISER_TOS_NOT_ACCEPTED'), 'reconfigure', 'terms_not_accepted'],
        [because('USER_LIST_TYPE_NOT_SUPPORTED_FOR_ACCOUNT'), 'reconfigure', 'invalid_setting'],
        [because('SENSITIVE_USER_LIST_IMMUTABLE'), 'reconfigure', 'account_restricted'],
        [because('USER_LIST_MUTATION_NOT_SUPPORTED'), 'reconfigure', 'account_restricted'],
        [because('OWNERSHIP_REQUIRED_FOR_UPDATE'), 'reconfigure', 'permission_denied'],
        [because('MEMBERSHIP_DURATION_TOO_LONG'), 'reconfigure', 'invalid_setting'],
        [because('TOO_MANY_AUDIENCE_MEMBERS', 'audience_members'), 'split', 'invalid_batch'],
        [because('INVALID_HEX_ENCODING', 'encoding'), 'fail', 'request_refused'],
        [because('REASON_OF_NEXT_YEAR'), 'fail', 'request_refused'],
        [refusal(400, 'INVALID_ARGUMENT'), 'fail', 'request_refused'],
        [{ status: 413, text: '' }, 'split', 'batch_too_large'],
      ]
      await scene.fails(cases, [row(1)])
      const tokenCases: [Failure, ErrorAction, string][] = [
        [{ status: 400, json: { error: 'invalid_grant' } }, 'reauthenticate', 'invalid_credentials'],
        [{ status: 401, json: { error: 'invalid_client' } }, 'reauthenticate', 'invalid_credentials'],
        [{ status: 503, text: '' }, 'retry', 'platform_error'],
        [{ json: { access_token: 't', expires_in: 9, scope: 'openid email' } }, 'reconfigure', 'permission_denied'],
      ]
      for (const [failure, action, code] of tokenCases) {
        // A request that reads is repeated twice after a transient error.
        const repeats = action === 'retry' ? 2 : 0
        for (let n = 0; n < repeats; n++) scene.server.failure(/token$/, failure)
        const fresh = { server: scene.server, context: contextOf(), match: /token$/ }
        await assertFailure(fresh, await openWriter(), batchOf(columns, [row(1)]), failure, { action, code })
      }
    })

    test('says through which manager account it signs in', async () => {
      await deliver(batchOf(columns, [row(1)]), { settings: { ...settings, managerAccountId: '999-888-7777' } })
      const [found] = scene.server.received.filter(({ path }) => path.endsWith('/userLists'))
      assert.equal(found?.headers['login-account'], 'accountTypes/GOOGLE_ADS/accounts/9998887777')
      const sent = scene.server.received.find(({ path }) => ingest.test(path))?.json as {
        destinations: Record<string, unknown>[]
      }
      assert.deepEqual(sent.destinations[0]?.loginAccount, { accountType: 'GOOGLE_ADS', accountId: '9998887777' })
      const wrong = await connectorErrorOf(openWriter({ settings: { ...settings, advertiserId: 'acme' } }), contextOf())
      assert.deepEqual([wrong.action, wrong.code], ['reconfigure', 'invalid_setting'])
    })
  },
})
