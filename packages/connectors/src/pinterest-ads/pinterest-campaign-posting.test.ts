import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell, Row } from '@penstock/connector'
import {
  exception,
  type PinterestCampaignsServer,
  startPinterestCampaigns,
} from '../../test/pinterest-campaigns-server.ts'
import { pinterestRoutes, pinterestSecrets, refusal } from '../../test/pinterest-server.ts'
import { testDestination } from '../../test/test-destination.ts'
import { pinterestCampaignPosting as connector } from './pinterest-campaign-posting.ts'

const columns = ['name', 'daily_budget', 'objective_type']
const settings = { adAccountId: '549', budgetMax: 500, increaseMax: 10_000 }
const posts = /^POST .*\/campaigns$/
const campaign = (name: string, budget = '12.50'): Row => [name, budget, 'AWARENESS']

/** Rows by the names of their columns. */
function named(rows: readonly Readonly<Record<string, Cell>>[]): { columns: string[]; rows: Row[] } {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return { columns: names, rows: rows.map((row) => names.map((name) => row[name] ?? null)) }
}

await testDestination<PinterestCampaignsServer>({
  connector,
  testServer: 'a server that keeps to Pinterest’s OpenAPI document',
  start: startPinterestCampaigns,
  routes: pinterestRoutes,
  secrets: pinterestSecrets,
  wrongSecrets: { ...pinterestSecrets, clientSecret: 'another-secret' },
  settings,
  missing: { ...settings, adAccountId: '550' },
  columns,
  posts,
  hangs: /^(GET .*\/ad_accounts\/549|POST .*\/campaigns)$/,
  check: {
    denied: [{ settings: { ...settings, adAccountId: '550' } }],
    unknown: [{ ...pinterestSecrets, refreshToken: 'revoked-token' }],
  },
  accepts: {
    columns,
    rows: Array.from({ length: 12 }, (_, n) => campaign(`Campaign ${n}`, `${n + 10}.5`)),
    badRows: [
      { row: campaign('Cheap', '0.50'), reason: /does not accept the campaign \(code 2304\)/ },
      { row: campaign('Greedy', '500.01'), reason: /greatest budget of the connection, 500\./, field: 'daily_budget' },
      { row: ['Odd', '20', 'FAME'], reason: /must be AWARENESS/, field: 'objective_type' },
    ],
    readBack: ({ campaigns }) =>
      campaigns.map(({ name, status, daily_spend_cap: cap, objective_type: objective }) => {
        assert.equal(status, 'PAUSED')
        return [String(name), String(Number(cap) / 1e6), String(objective)]
      }),
    reset(server) {
      server.campaigns.length = 0
      server.adGroups.length = 0
    },
    problems: [
      [refusal(429, 8), 'limits calls', 'retry', { code: 'rate_limited' }],
      [refusal(500, 0), 'has an internal error', 'retry'],
      ['reset', 'breaks off before the work', 'retry'],
      ['reset after', 'breaks off after the work', 'retry'],
      [{ json: { items: [] } }, 'does not answer the ID', 'retry', { code: 'malformed_response' }],
      [exception(29), 'denies access', 'reconfigure', { code: 'permission_denied' }],
    ],
  },
  tests(scene) {
    const { deliver, contextOf } = scene

    test('creates and changes campaigns and ad groups as the OpenAPI document has them', async () => {
      const { columns, rows } = named([
        {
          level: 'ad_group',
          campaign_name: 'Autumn',
          name: 'Women',
          budget: '20',
          budget_type: 'daily',
          billable_event: 'CLICKTHROUGH',
          bid: '0.35',
          targeting_spec: '{"GENDER":["female"]}',
        },
        { name: 'Autumn', objective_type: 'consideration', start_time: '2030-01-31T12:00:00+01:00', status: 'active' },
      ])
      const first = await deliver(rows, { columns })
      assert.deepEqual(first.rejected, [])
      const { campaigns, adGroups, received } = scene.server
      const sent = () => received.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/token'))
      assert.deepEqual(
        sent().map(({ method, json }) => [method, json]),
        [
          [
            'POST',
            [
              {
                ad_account_id: '549',
                status: 'ACTIVE',
                objective_type: 'CONSIDERATION',
                start_time: 1_896_087_600,
                name: 'Autumn',
              },
            ],
          ],
          [
            'POST',
            [
              {
                campaign_id: campaigns[0]?.id,
                status: 'PAUSED',
                budget_in_micro_currency: 20_000_000,
                budget_type: 'DAILY',
                billable_event: 'CLICKTHROUGH',
                bid_in_micro_currency: 350_000,
                targeting_spec: { GENDER: ['female'] },
                name: 'Women',
              },
            ],
          ],
        ],
      )
      assert.deepEqual(first.answers, [
        { id: adGroups[0]?.id, result: 'created' },
        { id: campaigns[0]?.id, result: 'created' },
      ])
      const again = await deliver(rows, { columns })
      assert.deepEqual(
        again.answers?.map((one) => (one as { result: string }).result),
        ['unchanged', 'unchanged'],
      )
      const changes = named([
        { id: String(campaigns[0]?.id), status: 'paused' },
        { level: 'ad_group', id: String(adGroups[0]?.id), budget: '25', name: 'All' },
      ])
      assert.deepEqual((await deliver(changes.rows, { columns: changes.columns })).rejected, [])
      assert.deepEqual(
        sent()
          .slice(2)
          .map(({ method, json }) => [method, json]),
        [
          ['PATCH', [{ id: campaigns[0]?.id, ad_account_id: '549', status: 'PAUSED' }]],
          ['PATCH', [{ id: adGroups[0]?.id, budget_in_micro_currency: 25_000_000, name: 'All' }]],
        ],
      )
    })

    test('looks up the rows of a preview, and says that Pinterest was not asked to validate', async () => {
      const rows = [campaign('New'), campaign('Greedy', '501'), ['Nothing', '5', null] as Row]
      const tried = await connector.destination?.deliver?.tryRows?.({ ...contextOf(), columns, rows })
      assert.deepEqual(
        tried?.rejected.map(({ index, field }) => [index, field]),
        [[2, 'objective_type']],
      )
      assert.deepEqual(tried?.untried, ['the rules of Pinterest'])
      assert.deepEqual(scene.server.campaigns, [])
    })
  },
})
