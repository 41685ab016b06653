import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import {
  type DataManagerServer,
  dataManagerFacts,
  dataManagerMembers,
  googleSecrets,
  refusal,
  startDataManager,
} from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { assertPreviewed, batchOf } from '../../test/platform-server.ts'
import { testDestination } from '../../test/test-destination.ts'
import { dv360CustomerMatch as connector } from './dv360-customer-match.ts'

const advertiser = { accountType: 'DISPLAY_VIDEO_ADVERTISER', accountId: '555' }
const settings = {
  advertiserId: '555',
  partnerId: '777',
  audienceType: 'Contact Info',
  audienceSource: 'CRM',
  retentionDays: 30,
  resultWaitSeconds: 0,
}
const columns = ['segment_name', 'action', 'email', 'consent_ad_user_data']
const ingest = /audienceMembers:ingest/
await testDestination<DataManagerServer>({
  ...dataManagerFacts,
  connector,
  start: () => startDataManager(advertiser),
  wrongSecrets: { ...googleSecrets, clientSecret: 'another' },
  settings,
  missing: { ...settings, advertiserId: '42' },
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
    rows: Array.from({ length: 12 }, (_, n): Cell[] => ['Loyal', 'add', sha256(`${n}@example.com`)]),
    badRows: [
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email' },
      { row: ['Loyal', 'add', null], reason: /no e-mail address/, field: 'email' },
      { row: ['Loyal', 'swap', sha256('b')], reason: /add or remove/, field: 'action' },
    ],
    readBack: dataManagerMembers,
    reset: ({ lists }) => lists.splice(0),
    problems: [
      [refusal(503, 'UNAVAILABLE'), 'has an internal error', 'retry'],
      ['reset', 'breaks the connection', 'retry'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver } = scene
    test('reaches the advertiser through its partner, and states that consent was granted', async () => {
      const rows: Cell[][] = [
        ['Loyal', 'add', sha256('a@example.com'), null],
        ['Loyal', 'add', sha256('b@example.com'), 'denied'],
      ]
      await deliver(rows)
      const [find] = scene.server.received.filter(({ path }) => path.endsWith('/userLists'))
      assert.equal(find?.path, '/v1/accountTypes/DISPLAY_VIDEO_ADVERTISER/accounts/555/userLists')
      assert.equal(find?.headers['login-account'], 'accountTypes/DISPLAY_VIDEO_PARTNER/accounts/777')
      assert.deepEqual(scene.server.received.find(({ path }) => ingest.test(path))?.json, {
        destinations: [
          {
            operatingAccount: advertiser,
            loginAccount: { accountType: 'DISPLAY_VIDEO_PARTNER', accountId: '777' },
            productDestinationId: '8000000001',
          },
        ],
        audienceMembers: [
          { userData: { userIdentifiers: [{ emailAddress: sha256('a@example.com') }] } },
          {
            userData: { userIdentifiers: [{ emailAddress: sha256('b@example.com') }] },
            consent: { adUserData: 'CONSENT_DENIED', adPersonalization: 'CONSENT_GRANTED' },
          },
        ],
        encoding: 'HEX',
        consent: { adUserData: 'CONSENT_GRANTED', adPersonalization: 'CONSENT_GRANTED' },
        termsOfService: { customerMatchTermsOfServiceStatus: 'ACCEPTED' },
      })
      assert.deepEqual(
        scene.server.lists.map(({ displayName, description, membershipDuration }) => [
          displayName,
          description,
          membershipDuration,
        ]),
        [['Loyal', 'Collected from: CRM', '2592000s']],
      )
    })

    test('keeps lists of devices', async () => {
      const names = ['segment_id', 'action', 'maid']
      const device = '38400000-8cf0-11bd-b23e-10b96e40000d'
      const mobile = { ...settings, audienceType: 'MAID' }
      const makes = await openWriter({ settings: { ...mobile, mobileAppId: 'com.example.app' }, columns: names })
      await makes.deliver(batchOf(names, [[null, 'add', device]]))
      const wrong = batchOf(names, [
        ['Loyal', 'add', device],
        [null, 'add', sha256('a@example.com')],
        [null, 'add', null],
      ])
      const { rejected } = await makes.deliver(wrong)
      assert.deepEqual(
        rejected?.map(({ field }) => field),
        ['segment_id', 'maid', 'maid'],
      )
      await assertPreviewed(connector, contextOf({ settings: mobile }), wrong, rejected)
      // A list that exists needs no app.
      await deliver([['8000000001', 'remove', device]], { settings: mobile, columns: names })
      assert.deepEqual(
        scene.server.lists.map(({ uploadKeyTypes, members }) => [uploadKeyTypes, members.size]),
        [[['MOBILE_ID'], 0]],
      )
    })
  },
})
