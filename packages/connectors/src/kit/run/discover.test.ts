import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Connector, Discovered, Values } from '@penstock/connector'
import { startCampaignManager } from '../../../test/campaign-manager-server.ts'
import { criteoRoutes, criteoSecrets, startCriteo } from '../../../test/criteo-server.ts'
import { googleSecrets } from '../../../test/data-manager-server.ts'
import { discover, valuesOf } from '../../../test/discover.ts'
import { linkedinRoutes, linkedinSecrets, startLinkedIn } from '../../../test/linkedin-server.ts'
import { insightsSecrets, startMetaInsights } from '../../../test/meta-insights-server.ts'
import { metaSecrets, startMeta } from '../../../test/meta-server.ts'
import { microsoftRoutes, microsoftSecrets, startMicrosoft } from '../../../test/microsoft-server.ts'
import { pinterestRoutes, pinterestSecrets, startPinterest } from '../../../test/pinterest-server.ts'
import { connectorErrorOf, type PlatformServer, type Reply } from '../../../test/platform-server.ts'
import { redditRoutes, redditSecrets, startReddit } from '../../../test/reddit-server.ts'
import { startSnapchatAds } from '../../../test/snapchat-ads-server.ts'
import { snapchatRoutes, snapchatSecrets } from '../../../test/snapchat-server.ts'
import { startTikTokAudiences, tiktokAudienceSecrets } from '../../../test/tiktok-audience-server.ts'
import { crmRoutes, crmSecrets, startCrm } from '../../../test/trade-desk-crm-server.ts'
import { startX, xRoutes, xSecrets } from '../../../test/x-server.ts'
import { startYahooAudiences, yahooAudienceRoutes } from '../../../test/yahoo-audiences-server.ts'
import { yahooSecrets } from '../../../test/yahoo-events-server.ts'
import { criteoCommerceGrowthAudiences } from '../../criteo/criteo-commerce-growth-audiences.ts'
import { criteoRetailMediaAudiences } from '../../criteo/criteo-retail-media-audiences.ts'
import { campaignManager360Conversions } from '../../google-campaign-manager-360/campaign-manager-360-conversions.ts'
import { linkedinDmpSegments } from '../../linkedin-ads/linkedin-dmp-segments.ts'
import { linkedinOfflineConversions } from '../../linkedin-ads/linkedin-offline-conversions.ts'
import { metaAppEvents } from '../../meta/meta-app-events.ts'
import { metaConversions } from '../../meta-ads/meta-conversions.ts'
import { metaCustomAudiences } from '../../meta-ads/meta-custom-audiences.ts'
import { metaInsights } from '../../meta-ads/meta-insights.ts'
import { microsoftAdsCustomerMatch } from '../../microsoft-advertising/microsoft-ads-customer-match.ts'
import { microsoftAdsEvents } from '../../microsoft-advertising/microsoft-ads-events.ts'
import { pinterestCustomerLists } from '../../pinterest-ads/pinterest-customer-lists.ts'
import { redditAudiences } from '../../reddit-ads/reddit-audiences.ts'
import { snapchatCustomerLists } from '../../snapchat-ads/snapchat-customer-lists.ts'
import { theTradeDeskCrmAudiences } from '../../the-trade-desk/the-trade-desk-crm-audiences.ts'
import { tiktokAudienceManagement } from '../../tiktok-ads/tiktok-audience-management.ts'
import { tiktokCustomerFileAudiences } from '../../tiktok-ads/tiktok-customer-file-audiences.ts'
import { xCustomAudiences } from '../../x-ads/x-custom-audiences.ts'
import { yahooDspAudiences } from '../../yahoo-dsp/yahoo-dsp-audiences.ts'

type Example = {
  readonly connector: Connector
  readonly start: () => Promise<PlatformServer>
  readonly secrets: Values
  readonly routes: (url: string) => Record<string, string>
  readonly field: string
  readonly settings?: Values
  /** Settings without which there is nothing to list. */
  readonly needs?: string
  readonly kind: Discovered['kind']
  /** Values and labels. */
  readonly found: readonly (readonly [value: string, label?: string])[]
}

const metaRoutes = (url: string) => ({ 'https://graph.facebook.com': url })
const tiktokRoutes = (url: string) => ({ 'https://business-api.tiktok.com': url })
const googleRoutes = (url: string) => ({
  'https://oauth2.googleapis.com': url,
  'https://dfareporting.googleapis.com': url,
})

const meta = { start: startMeta, secrets: metaSecrets, routes: metaRoutes }
const linkedin = { start: startLinkedIn, secrets: linkedinSecrets, routes: linkedinRoutes }
const microsoft = { start: startMicrosoft, secrets: microsoftSecrets, routes: microsoftRoutes }
const tiktok = { start: startTikTokAudiences, secrets: tiktokAudienceSecrets, routes: tiktokRoutes }
const x = { start: startX, secrets: xSecrets, routes: xRoutes }
const pinterest = {
  secrets: pinterestSecrets,
  routes: pinterestRoutes,
  async start() {
    const server = await startPinterest()
    for (const [id, name, rule] of [
      ['2542001', 'Loyal', { customer_list_id: '1' }],
      ['2542002', 'Visitors', { visitor_source_id: ['1'] }],
      ['2542003', 'Lapsed', { customer_list_id: '2' }],
    ] as const) {
      server.audiences.push({ id, name, rule })
    }
    return server
  },
}

const accounts = [
  ['900', 'Account 900'],
  ['901', 'Account 901'],
  ['902', 'Account 902'],
] as const
const pixels = [
  ['9001', 'Pixel 9001'],
  ['77', 'Pixel 77'],
  ['9011', 'Pixel 9011'],
  ['9021', 'Pixel 9021'],
] as const
const linkedinAccounts = [
  ['500', 'Account 500'],
  ['501', 'Account 501'],
  ['502', 'Account 502'],
] as const

const account = 'account'
const examples: readonly Example[] = [
  { ...meta, connector: metaCustomAudiences, field: 'advertiserId', kind: account, found: accounts },
  {
    ...meta,
    connector: metaInsights,
    start: startMetaInsights,
    secrets: insightsSecrets,
    field: 'accountIds',
    kind: account,
    found: accounts,
  },
  { ...meta, connector: metaConversions, field: 'datasetId', kind: 'object', found: pixels },
  {
    ...meta,
    connector: metaAppEvents,
    secrets: { clientId: '77', clientSecret: metaSecrets.clientSecret, refreshToken: metaSecrets.accessToken },
    field: 'datasetId',
    kind: 'object',
    found: pixels,
  },
  { ...linkedin, connector: linkedinDmpSegments, field: 'adAccountId', kind: account, found: linkedinAccounts },
  { ...linkedin, connector: linkedinOfflineConversions, field: 'adAccountId', kind: account, found: linkedinAccounts },
  {
    ...linkedin,
    connector: linkedinOfflineConversions,
    field: 'conversionRuleId',
    settings: { adAccountId: '500' },
    needs: 'adAccountId',
    kind: 'object',
    // The rule between them is one of another method.
    found: [
      ['104', 'Purchase'],
      ['105', 'Lead'],
    ],
  },
  {
    ...pinterest,
    connector: pinterestCustomerLists,
    field: 'adAccountId',
    kind: account,
    found: [
      ['549', 'Account 549'],
      ['550', 'Account 550'],
      ['551', 'Account 551'],
    ],
  },
  {
    ...pinterest,
    connector: pinterestCustomerLists,
    field: 'audienceId',
    settings: { adAccountId: '549' },
    needs: 'adAccountId',
    kind: 'audience',
    found: [
      ['2542001', 'Loyal'],
      ['2542003', 'Lapsed'],
    ],
  },
  {
    ...pinterest,
    connector: pinterestCustomerLists,
    field: 'audienceName',
    settings: { adAccountId: '549' },
    needs: 'adAccountId',
    kind: 'audience',
    found: [['Loyal'], ['Lapsed']],
  },
  ...[tiktokAudienceManagement, tiktokCustomerFileAudiences].map((connector) => ({
    ...tiktok,
    connector,
    field: 'advertiserId',
    kind: account as 'account',
    found: [['6900000000000000001', 'Acme']] as const,
  })),
  {
    connector: snapchatCustomerLists,
    start: startSnapchatAds,
    secrets: snapchatSecrets,
    routes: snapchatRoutes,
    field: 'advertiserId',
    kind: account,
    found: [
      ['8adc3db7-8148-4fbf-999c-8d2266369d74', 'Acme'],
      ['b-2', 'Acme EU'],
      ['c-3', 'Hooli'],
    ],
  },
  {
    connector: redditAudiences,
    start: startReddit,
    secrets: redditSecrets,
    routes: redditRoutes,
    field: 'advertiserId',
    kind: account,
    // From two businesses. A third business between them has no accounts.
    found: [
      ['a2_loyal', 'Name of a2_loyal'],
      ['a2_b', 'Name of a2_b'],
      ['a2_c', 'Name of a2_c'],
      ['a2_d', 'Name of a2_d'],
    ],
  },
  {
    ...x,
    connector: xCustomAudiences,
    field: 'accountId',
    kind: account,
    found: [
      ['acc1', 'Acme'],
      ['acc3', 'Acme EU'],
    ],
  },
  ...(['audienceId', 'audienceName'] as const).map((field) => ({
    ...x,
    connector: xCustomAudiences,
    async start() {
      const server = await startX()
      for (const at of [1, 2, 3]) {
        server.audiences.push({ id: `aud${at}`, name: `Audience ${at}`, created_at: '', members: new Set() })
      }
      return server
    },
    field,
    settings: { accountId: 'acc1' },
    needs: 'accountId',
    kind: 'audience' as const,
    found: [1, 2, 3].map((at) => (field === 'audienceId' ? [`aud${at}`, `Audience ${at}`] : [`Audience ${at}`])) as [
      string,
      string?,
    ][],
  })),
  {
    connector: criteoCommerceGrowthAudiences,
    start: startCriteo,
    secrets: criteoSecrets,
    routes: criteoRoutes,
    field: 'advertiserId',
    kind: account,
    found: [
      ['77', 'Shop 77'],
      ['78', 'Shop 78'],
    ],
  },
  {
    connector: criteoRetailMediaAudiences,
    start: startCriteo,
    secrets: criteoSecrets,
    routes: criteoRoutes,
    field: 'accountId',
    kind: account,
    found: [
      ['9001', 'Brand 9001'],
      ['9002', 'Brand 9002'],
    ],
  },
  {
    connector: yahooDspAudiences,
    start: startYahooAudiences,
    secrets: yahooSecrets,
    routes: yahooAudienceRoutes,
    field: 'advertiserId',
    kind: account,
    found: [['1356341', 'Shop']],
  },
  {
    connector: theTradeDeskCrmAudiences,
    start: async () => {
      const crm = await startCrm()
      for (const name of ['Loyal', 'Lapsed', 'New']) {
        crm.audiences.push({ id: name, name, region: 'US', members: new Set() })
      }
      return crm
    },
    secrets: crmSecrets,
    routes: crmRoutes,
    field: 'audienceName',
    settings: { advertiserId: 'adv1' },
    needs: 'advertiserId',
    kind: 'audience',
    found: [['Loyal'], ['Lapsed'], ['New']],
  },
  {
    connector: campaignManager360Conversions,
    start: startCampaignManager,
    secrets: googleSecrets,
    routes: googleRoutes,
    field: 'profileId',
    kind: account,
    found: [['7001', 'Network 7001']],
  },
  ...[microsoftAdsCustomerMatch, microsoftAdsEvents].flatMap((connector): Example[] => [
    {
      ...microsoft,
      connector,
      field: 'customerId',
      kind: account,
      found: [
        ['7001', 'Name 7001'],
        ['7002', 'Name 7002'],
      ],
    },
    {
      ...microsoft,
      connector,
      field: 'accountId',
      settings: { customerId: '7001' },
      needs: 'customerId',
      kind: account,
      found: [
        ['9001', 'Name 9001'],
        ['9002', 'Name 9002'],
      ],
    },
  ]),
]

for (const example of examples) {
  const { connector, field, secrets, settings = {}, needs, kind, found } = example
  describe(`${connector.name}: ${field}`, () => {
    let server: PlatformServer
    beforeEach(async () => {
      server = await example.start()
    })
    afterEach(() => server.close())

    const find = (asked: { search?: string; cursor?: string; size?: number; settings?: Values } = {}) =>
      discover(connector, secrets, field, {
        role: connector.destination ? 'destination' : 'source',
        settings,
        routes: example.routes(server.url),
        ...asked,
      })
    const items = found.map(([value, label]) => ({ value, kind, ...(label === undefined ? {} : { label }) }))

    test('lists all, page by page, and what contains a search', async () => {
      assert.deepEqual(await find(), { items })
      const listed: Discovered[] = []
      let cursor: string | undefined
      do {
        const page = await find({ size: 1, ...(cursor === undefined ? {} : { cursor }) })
        assert.ok(page.items.length <= 1)
        listed.push(...page.items)
        cursor = page.next
      } while (cursor !== undefined)
      assert.deepEqual(new Set(listed.map(({ value }) => value)), new Set(items.map(({ value }) => value)))
      const last = found.at(-1) ?? ['']
      assert.ok(valuesOf(await find({ search: (last[1] ?? last[0]).toUpperCase() })).includes(last[0]))
      assert.deepEqual(valuesOf(await find({ search: 'no such name' })), [])
    })

    test('says why it cannot: refusals, another setting first, a cursor that is none', async () => {
      for (const [status, action] of [
        [401, 'reauthenticate'],
        [403, undefined],
        [429, 'retry'],
      ] as const) {
        const reply: Reply = { status, headers: { 'retry-after': '60' }, json: {} }
        for (const _ of [1, 2, 3]) server.failure(/^(GET|POST) (?!.*([Tt]oken|access_token)$)/, reply)
        const error = await connectorErrorOf(find(), { secrets })
        if (action) assert.equal(error.action, action, `${status}: ${error.message}`)
        assert.notEqual(error.code, 'malformed_response')
        server.calm()
      }
      if (needs !== undefined) {
        assert.equal((await connectorErrorOf(find({ settings: {} }), { secrets })).code, 'invalid_setting')
        assert.equal(
          (await connectorErrorOf(find({ settings: { [needs]: '../x' } }), { secrets })).code,
          'invalid_setting',
        )
      }
      for (const cursor of ['', 'x', '-1', '12345678', '1.']) {
        assert.equal((await connectorErrorOf(find({ cursor }), { secrets })).code, 'invalid_setting', cursor)
      }
    })
  })
}
