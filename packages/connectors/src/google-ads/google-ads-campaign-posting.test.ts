import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell, Row } from '@penstock/connector'
import { googleAdsCustomer, googleAdsRefusal, googleAdsSecrets } from '../../test/google-ads-server.ts'
import { type GoogleCampaignsServer, startGoogleCampaigns } from '../../test/google-campaigns-server.ts'
import { googleReportSignIn } from '../../test/google-reports.ts'
import { type DestinationScene, testDestination } from '../../test/test-destination.ts'
import { googleAdsCampaignPosting as connector } from './google-ads-campaign-posting.ts'

const columns = ['name', 'daily_budget', 'channel_type', 'bid_strategy']
const settings = { customerId: '123-456-7890', budgetMax: 500, increaseMax: 10_000, euPoliticalAds: 'no' }
const posts = /googleAds:mutate$/
const customer = `customers/${googleAdsCustomer}`
const campaign = (name: string, budget = '12.50'): Row => [name, budget, 'SEARCH', 'manual_cpc']

type Scene = DestinationScene<GoogleCampaignsServer>
const sent = ({ server }: Scene) =>
  server.received
    .filter(({ path }) => posts.test(path))
    .map(({ json }) => (json as { mutateOperations: unknown }).mutateOperations)

/** Rows by the names of their columns. */
function named(rows: readonly Readonly<Record<string, Cell>>[]): { columns: string[]; rows: Row[] } {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return { columns: names, rows: rows.map((row) => names.map((name) => row[name] ?? null)) }
}

await testDestination<GoogleCampaignsServer>({
  connector,
  testServer: 'a server that keeps to the protocol buffers of the Google Ads API',
  start: startGoogleCampaigns,
  routes: (url) => ({ 'https://googleads.googleapis.com': url, 'https://oauth2.googleapis.com': url }),
  secrets: googleAdsSecrets,
  wrongSecrets: { ...googleAdsSecrets, refreshToken: 'revoked-token' },
  settings,
  missing: { ...settings, customerId: '999-999-9999' },
  columns,
  posts,
  hangs: /googleAds:(mutate|search)$/,
  check: {
    denied: [{ settings: { ...settings, customerId: '999-999-9999' } }],
    unknown: [{ ...googleAdsSecrets, refreshToken: 'revoked-token' }],
  },
  accepts: {
    columns,
    rows: Array.from({ length: 12 }, (_, n) => campaign(`Campaign ${n}`, `${n + 10}.5`)),
    badRows: [
      { row: campaign('Fine', '20.001'), reason: /smallest unit/, field: 'daily_budget' },
      { row: campaign('Cheap', '0.50'), reason: /BUDGET_BELOW_PER_DAY_MINIMUM/, field: 'daily_budget' },
      { row: campaign('Greedy', '500.01'), reason: /greatest budget of the connection, 500\./, field: 'daily_budget' },
      { row: ['Odd', '20', 'RADIO', 'manual_cpc'], reason: /must be SEARCH/, field: 'channel_type' },
    ],
    readBack: ({ campaigns, budgets }) =>
      campaigns.map(({ name, status, campaignBudget, advertisingChannelType }) => {
        assert.equal(status, 'PAUSED')
        const budget = budgets.find(({ resourceName }) => resourceName === campaignBudget)
        return [String(name), String(Number(budget?.amountMicros) / 1e6), String(advertisingChannelType), 'manual_cpc']
      }),
    reset(server) {
      for (const list of [server.campaigns, server.budgets, server.adGroups]) list.length = 0
    },
    problems: [
      [googleAdsRefusal(429, 'RESOURCE_EXHAUSTED'), 'limits calls', 'retry', { code: 'rate_limited' }],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      ['reset', 'breaks off before the work', 'retry'],
      ['reset after', 'breaks off after the work', 'retry'],
      [{ json: {} }, 'does not answer the ID', 'retry', { code: 'malformed_response' }],
      [googleAdsRefusal(403, 'USER_PERMISSION_DENIED'), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { deliver, fails, rejects, contextOf } = scene

    test('creates a campaign with its own budget and its ad groups, as the protocol buffers have them', async () => {
      const { columns, rows } = named([
        {
          level: 'campaign',
          name: 'Autumn',
          daily_budget: '20',
          channel_type: 'search',
          bid_strategy: 'maximize_conversions',
          target_cpa: '7.5',
          eu_political_ads: 'yes',
          start_date: '2030-01-01',
          end_date: '2030-01-31',
          search_partners: 'true',
        },
        { level: 'ad_group', campaign_name: 'Autumn', name: 'Shoes', cpc_bid: '0.35', status: 'enabled' },
        {
          name: 'Display',
          total_budget: '100',
          channel_type: 'DISPLAY',
          bid_strategy: 'maximize_clicks',
          cpc_bid_ceiling: '2',
          end_date: '2030-01-31',
          status: 'enabled',
        },
      ])
      const { rejected, answers } = await deliver(rows, { columns })
      assert.deepEqual(rejected, [])
      const { campaigns, adGroups } = scene.server
      assert.deepEqual(sent(scene), [
        [
          {
            campaignBudgetOperation: {
              create: {
                resourceName: `${customer}/campaignBudgets/-1`,
                deliveryMethod: 'STANDARD',
                explicitlyShared: false,
                amountMicros: '20000000',
              },
            },
          },
          {
            campaignOperation: {
              create: {
                name: 'Autumn',
                status: 'PAUSED',
                advertisingChannelType: 'SEARCH',
                containsEuPoliticalAdvertising: 'CONTAINS_EU_POLITICAL_ADVERTISING',
                networkSettings: { targetGoogleSearch: true, targetSearchNetwork: true, targetContentNetwork: false },
                startDateTime: '2030-01-01 00:00:00',
                endDateTime: '2030-01-31 23:59:59',
                campaignBudget: `${customer}/campaignBudgets/-1`,
                maximizeConversions: { targetCpaMicros: '7500000' },
              },
            },
          },
        ],
        [
          {
            campaignBudgetOperation: {
              create: {
                resourceName: `${customer}/campaignBudgets/-1`,
                deliveryMethod: 'STANDARD',
                explicitlyShared: false,
                period: 'CUSTOM_PERIOD',
                totalAmountMicros: '100000000',
              },
            },
          },
          {
            campaignOperation: {
              create: {
                name: 'Display',
                status: 'ENABLED',
                advertisingChannelType: 'DISPLAY',
                containsEuPoliticalAdvertising: 'DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING',
                endDateTime: '2030-01-31 23:59:59',
                campaignBudget: `${customer}/campaignBudgets/-1`,
                targetSpend: { cpcBidCeilingMicros: '2000000' },
              },
            },
          },
        ],
        [
          {
            adGroupOperation: {
              create: {
                name: 'Shoes',
                status: 'ENABLED',
                cpcBidMicros: '350000',
                campaign: `${customer}/campaigns/${campaigns[0]?.id}`,
              },
            },
          },
        ],
      ])
      const ids = [campaigns[0]?.id, adGroups[0]?.id, campaigns[1]?.id]
      assert.deepEqual(
        answers,
        ids.map((id) => ({ id, result: 'created' })),
      )
      const again = await deliver(rows, { columns })
      assert.deepEqual(again.rejected, [])
      assert.deepEqual(
        again.answers,
        ids.map((id) => ({ id, result: 'unchanged' })),
      )
      assert.equal(sent(scene).length, 3)
    })

    test('changes budgets, targets, networks and status with masks, by ID or by name', async () => {
      const { addCampaign, adGroups } = scene.server
      const first = addCampaign(
        { name: 'First', maximizeConversions: { targetCpaMicros: '5000000' } },
        { amountMicros: '10000000' },
      )
      const second = addCampaign({ name: 'Second', manualCpc: {}, status: 'ENABLED' }, { amountMicros: '20000000' })
      adGroups.push({
        id: '9',
        resourceName: `${customer}/adGroups/9`,
        name: 'Group',
        status: 'PAUSED',
        campaign: first.resourceName,
      })
      const { columns, rows } = named([
        { id: String(first.id), daily_budget: '12', target_cpa: '6', search_partners: 'true', daily: null },
        { name: 'Second', status: 'paused', daily_budget: '20' },
        { level: 'ad_group', id: '9', cpc_bid: '1', name: 'Renamed' },
      ])
      const { rejected, answers } = await deliver(rows, { columns })
      assert.deepEqual(rejected, [])
      assert.deepEqual(
        answers?.map((one) => (one as { result: string }).result),
        Array(3).fill('changed'),
      )
      assert.deepEqual(sent(scene), [
        [
          {
            campaignBudgetOperation: {
              update: { resourceName: first.campaignBudget, amountMicros: '12000000' },
              updateMask: 'amountMicros',
            },
          },
          {
            campaignOperation: {
              update: {
                resourceName: first.resourceName,
                networkSettings: { targetSearchNetwork: true },
                maximizeConversions: { targetCpaMicros: '6000000' },
              },
              updateMask: 'networkSettings.targetSearchNetwork,maximizeConversions.targetCpaMicros',
            },
          },
        ],
        [
          {
            campaignOperation: {
              update: { resourceName: second.resourceName, status: 'PAUSED' },
              updateMask: 'status',
            },
          },
        ],
        [
          {
            adGroupOperation: {
              update: { resourceName: `${customer}/adGroups/9`, cpcBidMicros: '1000000', name: 'Renamed' },
              updateMask: 'cpcBidMicros,name',
            },
          },
        ],
      ])
    })

    test('rejects what Google could not do, and what a row must declare', async () => {
      const { addCampaign, campaigns } = scene.server
      addCampaign({ name: 'Shared', manualCpc: {} }, { amountMicros: '10000000', explicitlyShared: true })
      addCampaign({ name: 'Own', manualCpc: {} }, { amountMicros: '10000000' })
      const all = { channel_type: 'SEARCH', bid_strategy: 'manual_cpc', daily_budget: '5' }
      const { columns, rows } = named([
        { name: 'Shared', daily_budget: '20' },
        { name: 'Own', total_budget: '20' },
        { name: 'Own', target_cpa: '2' },
        { name: 'Own', channel_type: 'DISPLAY' },
        { name: 'New', ...all },
        { name: 'New', ...all, eu_political_ads: 'maybe' },
        { name: 'New', ...all, eu_political_ads: 'no', target_roas: '3' },
        { name: 'New', ...all, eu_political_ads: 'no', daily_budget: null },
        { level: 'ad_group', name: 'Group', campaign_id: '5' },
        { name: 'Own', start_date: '31.01.2030' },
      ])
      const { customerId, budgetMax, increaseMax } = settings
      const undeclared = { settings: { customerId, budgetMax, increaseMax }, columns }
      const { rejected = [] } = await deliver(rows, undeclared)
      const found = rejected
        .toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
        .map(({ field, reason }) => `${field}: ${reason}`)
      const expected = [
        /^daily_budget: The campaign shares its budget/,
        /^total_budget: A campaign keeps its kind of budget/,
        /^target_cpa: The bidding strategy of the campaign has no target_cpa/,
        /^channel_type: The campaign exists with another value/,
        /^eu_political_ads: There is no campaign with this name, and creating it needs a value in eu_political_ads/,
        /^eu_political_ads: The value must be yes or no/,
        /^target_roas: The bidding strategy of the campaign has no target_roas/,
        /^daily_budget: There is no campaign .* needs a value in daily_budget or total_budget/,
        /^campaign_id: The account has no such campaign/,
        /^start_date: The value must be a day/,
      ]
      assert.equal(found.length, expected.length, found.join('\n'))
      for (const [at, pattern] of expected.entries()) assert.match(found[at] ?? '', pattern)
      assert.equal(campaigns.length, 2)
      assert.deepEqual(sent(scene), [])
    })

    test('finds a campaign that another client created in the meantime, and names that only Google knows', async () => {
      const name = { campaignError: 'DUPLICATE_CAMPAIGN_NAME' }
      const taken = { status: 400, json: { error: { details: [{ errors: [{ errorCode: name }] }] } } }
      const writer = await scene.openWriter()
      scene.server.failure(posts, taken)
      const { rejected } = await deliver([campaign('One')])
      assert.deepEqual(rejected, [])
      for (let time = 0; time < 2; time++) scene.server.failure(posts, taken)
      const { rejected: refused } = await writer.deliver({ key: '1', columns, rows: [campaign('Two')], firstRow: 1 })
      assert.match(refused?.[0]?.reason ?? '', /another campaign has this name \(DUPLICATE_CAMPAIGN_NAME\)/)
    })

    test('asks Google to validate the rows of a preview, and changes nothing', async () => {
      const there = scene.server.addCampaign({ name: 'There', manualCpc: {} }, { amountMicros: '10000000' })
      const rows = [campaign('There', '20'), campaign('New'), campaign('Cheap', '0.5'), campaign('New', '13')]
      const tried = await connector.destination?.deliver?.tryRows?.({ ...contextOf(), columns, rows })
      assert.deepEqual(
        tried?.rejected.map(({ index, field }) => [index, field]),
        [[2, 'daily_budget']],
      )
      assert.deepEqual(tried?.untried, [])
      assert.deepEqual(scene.server.campaigns, [there])
      assert.deepEqual(
        scene.server.budgets.map(({ amountMicros }) => amountMicros),
        ['10000000'],
      )
      for (const { path, json } of scene.server.received) {
        if (posts.test(path)) assert.equal((json as { validateOnly: unknown }).validateOnly, true)
      }
    })

    test('finds errors of the account and of rows apart, without the words of Google', async () => {
      await rejects([[[...campaign('Cheap', '0.99')], 'daily_budget']], [campaign('Good')])
      await fails(
        [
          [googleAdsRefusal(429, 'RESOURCE_EXHAUSTED'), 'retry', 'rate_limited'],
          [googleAdsRefusal(400, 'CONCURRENT_MODIFICATION'), 'retry', 'platform_error'],
          [googleReportSignIn.revoked, 'reauthenticate', 'expired_credentials'],
          [googleAdsRefusal(403, 'USER_PERMISSION_DENIED'), 'reconfigure', 'permission_denied'],
          [googleAdsRefusal(400, 'UNSUPPORTED_VERSION'), 'fail', 'version_retired'],
        ],
        [campaign('Late')],
      )
    })
  },
})
