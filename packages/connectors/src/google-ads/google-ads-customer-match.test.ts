import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, Values } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { type DataManagerServer, googleSecrets, refusal, startDataManager } from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { assertPreviewed, batchOf, connectorErrorOf, hangOf, problemOf } from '../../test/platform-server.ts'
import { googleAdsCustomerMatch as connector } from './google-ads-customer-match.ts'

const settings = {
  customerId: '123-456-7890',
  audienceType: 'Contact Information',
  retentionDays: 90,
  adUserDataConsent: 'Granted',
  adPersonalizationConsent: 'Denied',
  resultWaitSeconds: 0,
}
const columns = ['segment_name', 'action', 'email', 'phone', 'fname', 'lname_sha256', 'postal_code', 'country_code']
const ingest = /audienceMembers:ingest/
const routesTo = ({ url }: { url: string }) => ({
  'https://datamanager.googleapis.com': url,
  'https://oauth2.googleapis.com': url,
})

describe('Google Ads Customer Match, by way of Google Data Manager', () => {
  let google: DataManagerServer

  beforeEach(async () => {
    google = await startDataManager()
  })
  afterEach(() => google.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets: googleSecrets, settings, columns, routes: routesTo(google), ...options })
  async function deliver(rows: Cell[][], own: Values = settings, names = columns) {
    const { deliver: destination } = connector.destination ?? {}
    assert.ok(destination)
    const writer = await destination.open(contextOf({ settings: own, columns: names }))
    return { writer, delivery: await writer.deliver(batchOf(names, rows)) }
  }
  const sent = () => google.received.filter(({ path }) => /audienceMembers:/.test(path)).map(({ json }) => json)

  test('sends what the reference asks for, and makes the list with its retention', async () => {
    const address = [sha256('dana'), sha256('quinn'), '94045', 'us']
    await deliver([
      ['Loyal', 'add', sha256('dana@example.com'), sha256('+18005550100'), ...address],
      ['Loyal', 'remove', sha256('alexz@example.com'), null, null, null, null, null],
    ])
    const destinations = [
      { operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' }, productDestinationId: '8000000001' },
    ]
    assert.deepEqual(sent(), [
      {
        destinations,
        audienceMembers: [
          {
            userData: {
              userIdentifiers: [
                { emailAddress: sha256('dana@example.com') },
                { phoneNumber: 'fb4f73a6ec5fdb7077d564cdd22c3554b43ce49168550c3b12c547b78c517b30' },
                {
                  address: {
                    givenName: sha256('dana'),
                    familyName: sha256('quinn'),
                    regionCode: 'US',
                    postalCode: '94045',
                  },
                },
              ],
            },
          },
        ],
        encoding: 'HEX',
        consent: { adUserData: 'CONSENT_GRANTED', adPersonalization: 'CONSENT_DENIED' },
        termsOfService: { customerMatchTermsOfServiceStatus: 'ACCEPTED' },
      },
      {
        destinations,
        audienceMembers: [
          {
            userData: {
              userIdentifiers: [{ emailAddress: '509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a' }],
            },
          },
        ],
        encoding: 'HEX',
      },
    ])
    assert.deepEqual(
      google.lists.map(({ displayName, membershipDuration, info }) => [displayName, membershipDuration, info]),
      [['Loyal', '7776000s', { dataSourceType: 'DATA_SOURCE_TYPE_FIRST_PARTY' }]],
    )
  })

  test('leaves out an incomplete address where something else identifies the person, and rejects it where not', async () => {
    const rows: Cell[][] = [
      ['Loyal', 'add', sha256('a@example.com'), null, sha256('dana'), null, null, null],
      ['Loyal', 'add', null, null, sha256('dana'), sha256('quinn'), '94045', null],
      ['Loyal', 'add', null, null, sha256('dana'), sha256('quinn'), '94045', 'USA'],
    ]
    const { delivery } = await deliver(rows)
    await assertPreviewed(connector, contextOf(), batchOf(columns, rows), delivery.rejected)
    assert.deepEqual(
      delivery.rejected?.map(({ index, field }) => [index, field]),
      [
        [1, 'country_code'],
        [2, 'country_code'],
      ],
    )
    const [list] = google.lists
    assert.deepEqual(
      [...(list?.members ?? [])],
      [JSON.stringify({ userData: { userIdentifiers: [{ emailAddress: sha256('a@example.com') }] } })],
    )
  })

  test('keeps lists of devices, for iOS or Android as the app is', async () => {
    const device = 'AEBE52E7-03EE-455A-B3C4-E57283966239'
    const mobile = { ...settings, audienceType: 'Mobile Advertising ID' }
    const rows = (name: string): Cell[][] => [[name, 'add', device]]
    const names = ['segment_name', 'action', 'maid']
    await deliver(rows('iOS'), { ...mobile, mobileAppId: '476943146' }, names)
    await deliver(rows('Android'), { ...mobile, mobileAppId: 'com.example.app' }, names)
    assert.deepEqual(
      google.lists.map(({ info }) => info),
      [
        { dataSourceType: 'DATA_SOURCE_TYPE_FIRST_PARTY', appId: '476943146', keySpace: 'IOS' },
        { dataSourceType: 'DATA_SOURCE_TYPE_FIRST_PARTY', appId: 'com.example.app', keySpace: 'ANDROID' },
      ],
    )
    assert.deepEqual([...(google.lists[0]?.members ?? [])], [JSON.stringify({ mobileData: { mobileIds: [device] } })])
    const wrong: Cell[][] = [
      ['iOS', 'add', '476943146'],
      ['iOS', 'add', null],
    ]
    const { delivery } = await deliver(wrong, mobile, names)
    assert.equal(delivery.rejected?.length, 2)
    await assertPreviewed(connector, contextOf({ settings: mobile }), batchOf(names, wrong), delivery.rejected)
    const body = sent()[0] as Record<string, unknown>
    assert.ok(!('encoding' in body))
    const error = await connectorErrorOf(deliver(rows('None'), mobile, names), contextOf())
    assert.deepEqual([error.code, error.action], ['invalid_setting', 'reconfigure'])
    assert.match(error.message, /Mobile app ID/)
  })

  test('says what has to be done if the refresh token has another scope', async () => {
    google.refusing.reply = refusal(403, 'PERMISSION_DENIED', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT' },
    ])
    const rows: Cell[][] = [['Loyal', 'add', sha256('a@example.com'), null, null, null, null, null]]
    const scope = await connectorErrorOf(deliver(rows), contextOf())
    assert.equal(scope.code, 'permission_denied')
    assert.match(scope.message, /sign in at Google again/)
  })
})

const testServer = await startDataManager()
after(() => testServer.close())
const row = (n: number): Cell[] => ['Loyal', 'add', sha256(`${n}@example.com`)]

acceptDestination({
  connector,
  testServer: 'a server that keeps to what is known of Google',
  secrets: googleSecrets,
  wrongSecrets: { ...googleSecrets, refreshToken: 'revoked-token' },
  settings,
  missing: { ...settings, customerId: '42' },
  context: { routes: routesTo(testServer) },
  columns: columns.slice(0, 3),
  rows: Array.from({ length: 12 }, (_, n) => row(n)),
  badRows: [
    { row: ['Loyal', 'add', `99999999${sha256('a').slice(8)}`], reason: /INVALID_SHA256_FORMAT/ },
    { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email' },
    { row: ['Loyal', 'add', null], reason: /no e-mail address/, field: 'email' },
    { row: ['Loyal', 'swap', sha256('b')], reason: /add or remove/, field: 'action' },
  ],
  async readBack() {
    assert.ok(testServer.lists.length < 2, 'a second list was made')
    return [...(testServer.lists[0]?.members ?? [])].map((text) => [
      'Loyal',
      'add',
      /[0-9a-f]{64}/.exec(text)?.[0] ?? '',
    ])
  },
  reset: () => testServer.lists.splice(0),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, ingest, refusal(429, 'RESOURCE_EXHAUSTED'), { name: 'limits calls', action: 'retry' }),
    problemOf(testServer, ingest, { status: 500, text: '' }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, ingest, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, ingest, refusal(403, 'PERMISSION_DENIED'), { name: 'denies access', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, ingest),
})
