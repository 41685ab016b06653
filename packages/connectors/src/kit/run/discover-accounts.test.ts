import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { Connector, Values } from '@penstock/connector'
import { discover } from '../../../test/discover.ts'
import { connectorErrorOf } from '../../../test/platform-server.ts'
import { type Exchange, startRecorded } from '../../../test/test-report-source.ts'
import { xSecrets } from '../../../test/x-server.ts'
import { appleSearchAds } from '../../apple-ads/apple-search-ads.ts'
import { googleAdManager } from '../../google-ad-manager/google-ad-manager.ts'
import { spotifyAds } from '../../spotify/spotify-ads.ts'
import { xAdAnalytics } from '../../x-twitter/x-ad-analytics.ts'
import { xCampaignMeasurement } from '../../x-twitter/x-campaign-measurement.ts'

/* The accounts of sources that read, by recorded lists. */
const app = { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' }
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const token = (path: string): Exchange => ({
  method: 'POST',
  path,
  answer: { json: { access_token: 'access', token_type: 'Bearer', expires_in: 3600 } },
})
const uuid = (digit: number) => `${String(digit).repeat(8)}-f04d-48b9-9ddf-fb3c85fbd57a`
const x = {
  origins: ['https://ads-api.x.com'],
  secrets: xSecrets,
  exchanges: [
    {
      path: '/12/accounts',
      query: { count: '1000' },
      answer: { json: { data: [{ id: 'acc1', name: 'Shop' }], next_cursor: 'two' } },
    },
    {
      path: '/12/accounts',
      query: { count: '1000', cursor: 'two' },
      answer: { json: { data: [{ id: 'gone', name: 'Gone', deleted: true }, { id: 'acc2' }], next_cursor: null } },
    },
  ],
  found: [
    { value: 'acc1', kind: 'account', label: 'Shop' },
    { value: 'acc2', kind: 'account' },
  ],
}

const cases: readonly {
  readonly connector: Connector
  readonly origins: readonly string[]
  readonly secrets: Values
  readonly exchanges: readonly Exchange[]
  readonly found: readonly object[]
}[] = [
  { connector: xAdAnalytics, ...x },
  { connector: xCampaignMeasurement, ...x },
  {
    connector: googleAdManager,
    origins: ['https://admanager.googleapis.com', 'https://oauth2.googleapis.com'],
    secrets: app,
    exchanges: [
      token('/token'),
      {
        path: '/v1/networks',
        query: { pageSize: '500' },
        answer: { json: { networks: [{ networkCode: '218', displayName: 'News' }, { networkCode: '../x' }] } },
      },
    ],
    found: [{ value: '218', kind: 'account', label: 'News' }],
  },
  {
    connector: appleSearchAds,
    origins: ['https://api.ads.apple.com', 'https://appleid.apple.com'],
    secrets: {
      clientId: 'client',
      teamId: 'team',
      keyId: 'key',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().replaceAll('\n', '\\n'),
    },
    exchanges: [
      token('/auth/oauth2/token'),
      {
        path: '/v1/acls',
        answer: { json: { result: { acls: [{ adAccount: { id: 123, name: 'App' }, roles: [] }, {}, null] } } },
      },
    ],
    found: [{ value: '123', kind: 'account', label: 'App' }],
  },
  {
    connector: spotifyAds,
    origins: ['https://api-partner.spotify.com', 'https://accounts.spotify.com'],
    secrets: app,
    exchanges: [
      token('/api/token'),
      {
        path: '/ads/v3/businesses',
        answer: { json: { businesses: [{ id: uuid(8) }, { id: '../x' }, { id: uuid(9) }] } },
      },
      { path: `/ads/v3/businesses/${uuid(8)}/ad_accounts`, answer: { json: { paging: {}, ad_accounts: [] } } },
      {
        path: `/ads/v3/businesses/${uuid(9)}/ad_accounts`,
        answer: { json: { paging: {}, ad_accounts: [{ id: uuid(1), name: 'Shop' }] } },
      },
    ],
    found: [{ value: uuid(1), kind: 'account', label: 'Shop' }],
  },
]

for (const { connector, origins, secrets, exchanges, found } of cases) {
  test(`lists the accounts of ${connector.name}`, async (t) => {
    const server = await startRecorded(
      () => undefined,
      () => exchanges,
    )
    t.after(() => server.close())
    const routes = Object.fromEntries(origins.map((origin) => [origin, server.url]))
    const find = (cursor?: string) =>
      discover(connector, secrets, 'accountIds', { role: 'source', routes, ...(cursor !== undefined && { cursor }) })
    assert.deepEqual(await find(), { items: found })
    if (connector === spotifyAds) {
      const error = await connectorErrorOf(find('0.../../x'), { secrets })
      assert.equal(error.code, 'invalid_setting')
    }
  })
}

test('a key of Apple that cannot be used is refused, and not repeated', async () => {
  const { privateKey: other } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  const pem = other.export({ type: 'pkcs8', format: 'pem' }).toString()
  for (const key of ['no-key-7731', pem]) {
    const secrets = { clientId: 'c-7731', teamId: 't-7731', keyId: 'k-7731', privateKey: key }
    const error = await connectorErrorOf(discover(appleSearchAds, secrets, 'accountIds', { role: 'source' }), {
      secrets,
    })
    assert.equal(error.code, 'invalid_credentials', key)
  }
})
