import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, Values } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { type DataManagerServer, googleSecrets, refusal, startDataManager } from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { assertPreviewed, batchOf, hangOf, problemOf } from '../../test/platform-server.ts'
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
const routesTo = ({ url }: { url: string }) => ({
  'https://datamanager.googleapis.com': url,
  'https://oauth2.googleapis.com': url,
})

describe('Display & Video 360 Customer Match, by way of Google Data Manager', () => {
  let google: DataManagerServer

  beforeEach(async () => {
    google = await startDataManager(advertiser)
  })
  afterEach(() => google.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets: googleSecrets, settings, columns, routes: routesTo(google), ...options })
  async function openWriter(own: Values = settings, names = columns) {
    const { deliver } = connector.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf({ settings: own, columns: names }))
  }

  test('reaches the advertiser through its partner, and states that consent was granted', async () => {
    const writer = await openWriter()
    const rows: Cell[][] = [
      ['Loyal', 'add', sha256('a@example.com'), null],
      ['Loyal', 'add', sha256('b@example.com'), 'denied'],
    ]
    await writer.deliver(batchOf(columns, rows))
    const [find] = google.received.filter(({ path }) => path.endsWith('/userLists'))
    assert.equal(find?.path, '/v1/accountTypes/DISPLAY_VIDEO_ADVERTISER/accounts/555/userLists')
    assert.equal(find?.headers['login-account'], 'accountTypes/DISPLAY_VIDEO_PARTNER/accounts/777')
    assert.deepEqual(google.received.find(({ path }) => ingest.test(path))?.json, {
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
      google.lists.map(({ displayName, description, membershipDuration }) => [
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
    const makes = await openWriter({ ...settings, audienceType: 'MAID', mobileAppId: 'com.example.app' }, names)
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
    await assertPreviewed(connector, contextOf({ settings: { ...settings, audienceType: 'MAID' } }), wrong, rejected)
    // A list that exists needs no app.
    const adds = await openWriter({ ...settings, audienceType: 'MAID' }, names)
    await adds.deliver(batchOf(names, [['8000000001', 'remove', device]]))
    assert.deepEqual(
      google.lists.map(({ uploadKeyTypes, members }) => [uploadKeyTypes, members.size]),
      [[['MOBILE_ID'], 0]],
    )
  })
})

const testServer = await startDataManager(advertiser)
after(() => testServer.close())

acceptDestination({
  connector,
  testServer: 'a server that keeps to what is known of Google',
  secrets: googleSecrets,
  wrongSecrets: { ...googleSecrets, clientSecret: 'another' },
  settings,
  missing: { ...settings, advertiserId: '42' },
  context: { routes: routesTo(testServer) },
  columns: columns.slice(0, 3),
  rows: Array.from({ length: 12 }, (_, n): Cell[] => ['Loyal', 'add', sha256(`${n}@example.com`)]),
  badRows: [
    { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email' },
    { row: ['Loyal', 'add', null], reason: /no e-mail address/, field: 'email' },
    { row: ['Loyal', 'swap', sha256('b')], reason: /add or remove/, field: 'action' },
  ],
  async readBack() {
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
    problemOf(testServer, ingest, refusal(503, 'UNAVAILABLE'), { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, ingest, 'reset', { name: 'breaks the connection', action: 'retry' }),
  ],
  hang: hangOf(testServer, ingest),
})
