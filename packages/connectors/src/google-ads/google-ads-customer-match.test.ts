import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import {
  type DataManagerServer,
  dataManagerFacts,
  dataManagerMembers,
  refusal,
} from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { assertPreviewed, batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { testDestination } from '../../test/test-destination.ts'
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
await testDestination<DataManagerServer>({
  ...dataManagerFacts,
  connector,
  settings,
  missing: { ...settings, customerId: '42' },
  columns,
  posts: ingest,
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
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha256(`${n}@example.com`)]),
    badRows: [
      { row: ['Loyal', 'add', `99999999${sha256('a').slice(8)}`], reason: /INVALID_SHA256_FORMAT/ },
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email' },
      { row: ['Loyal', 'add', null], reason: /no e-mail address/, field: 'email' },
      { row: ['Loyal', 'swap', sha256('b')], reason: /add or remove/, field: 'action' },
    ],
    readBack: dataManagerMembers,
    reset: ({ lists }) => lists.splice(0),
    problems: [
      [refusal(429, 'RESOURCE_EXHAUSTED'), 'limits calls', 'retry'],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [refusal(403, 'PERMISSION_DENIED'), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, deliver } = scene
    const sent = () => scene.server.received.filter(({ path }) => /audienceMembers:/.test(path)).map(({ json }) => json)

    test('sends what the reference asks for, and makes the list with its retention', async () => {
      const address = [sha256('dana'), sha256('quinn'), '94045', 'us']
      await deliver([
        ['Loyal', 'add', sha256('dana@example.com'), sha256('+18005550100'), ...address],
        ['Loyal', 'remove', sha256('alexz@example.com'), null, null, null, null, null],
      ])
      const destinations = [
        {
          operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' },
          productDestinationId: '8000000001',
        },
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
        scene.server.lists.map(({ displayName, membershipDuration, info }) => [displayName, membershipDuration, info]),
        [['Loyal', '7776000s', { dataSourceType: 'DATA_SOURCE_TYPE_FIRST_PARTY' }]],
      )
    })

    test('leaves out an incomplete address where something else identifies the person, and rejects it where not', async () => {
      const rows: Cell[][] = [
        ['Loyal', 'add', sha256('a@example.com'), null, sha256('dana'), null, null, null],
        ['Loyal', 'add', null, null, sha256('dana'), sha256('quinn'), '94045', null],
        ['Loyal', 'add', null, null, sha256('dana'), sha256('quinn'), '94045', 'USA'],
      ]
      const { rejected } = await deliver(rows)
      await assertPreviewed(connector, contextOf(), batchOf(columns, rows), rejected)
      assertRejected(rejected, [
        [1, 'country_code'],
        [2, 'country_code'],
      ])
      const [list] = scene.server.lists
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
      await deliver(rows('iOS'), { settings: { ...mobile, mobileAppId: '476943146' }, columns: names })
      await deliver(rows('Android'), { settings: { ...mobile, mobileAppId: 'com.example.app' }, columns: names })
      assert.deepEqual(
        scene.server.lists.map(({ info }) => info),
        [
          { dataSourceType: 'DATA_SOURCE_TYPE_FIRST_PARTY', appId: '476943146', keySpace: 'IOS' },
          { dataSourceType: 'DATA_SOURCE_TYPE_FIRST_PARTY', appId: 'com.example.app', keySpace: 'ANDROID' },
        ],
      )
      assert.deepEqual(
        [...(scene.server.lists[0]?.members ?? [])],
        [JSON.stringify({ mobileData: { mobileIds: [device] } })],
      )
      const wrong: Cell[][] = [
        ['iOS', 'add', '476943146'],
        ['iOS', 'add', null],
      ]
      const { rejected } = await deliver(wrong, { settings: mobile, columns: names })
      assert.equal(rejected?.length, 2)
      await assertPreviewed(connector, contextOf({ settings: mobile }), batchOf(names, wrong), rejected)
      const body = sent()[0] as Record<string, unknown>
      assert.ok(!('encoding' in body))
      const error = await connectorErrorOf(deliver(rows('None'), { settings: mobile, columns: names }), contextOf())
      assert.deepEqual([error.code, error.action], ['invalid_setting', 'reconfigure'])
      assert.match(error.message, /Mobile app ID/)
    })

    test('says what has to be done if the refresh token has another scope', async () => {
      scene.server.refusing.reply = refusal(403, 'PERMISSION_DENIED', [
        { '@type': 'type.googleapis.com/scene.server.rpc.ErrorInfo', reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT' },
      ])
      const rows: Cell[][] = [['Loyal', 'add', sha256('a@example.com'), null, null, null, null, null]]
      const scope = await connectorErrorOf(deliver(rows), contextOf())
      assert.equal(scope.code, 'permission_denied')
      assert.match(scope.message, /sign in at Google again/)
    })
  },
})
