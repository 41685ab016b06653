import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell, Row } from '@penstock/connector'
import { type MetaCampaignsServer, startMetaCampaigns } from '../../test/meta-campaigns-server.ts'
import { metaSecrets, problem } from '../../test/meta-server.ts'
import { assertPreviewed, batchOf } from '../../test/platform-server.ts'
import { type DestinationScene, testDestination } from '../../test/test-destination.ts'
import { metaCampaignPosting as connector } from './meta-campaign-posting.ts'

const columns = ['level', 'id', 'name', 'status', 'daily_budget', 'objective']
const settings = { advertiserId: '900', budgetMax: 500, increaseMax: 10_000, specialAdCategory: 'NONE' }
const posts = /^POST .*\/campaigns$/
const campaign = (name: string, budget: Cell = '12.50', more: Partial<Record<string, Cell>> = {}): Row =>
  columns.map((column) => ({ name, daily_budget: budget, objective: 'OUTCOME_SALES', ...more })[column] ?? null)

type Scene = DestinationScene<MetaCampaignsServer>
const sent = ({ server }: Scene) =>
  server.received.filter(({ method }) => method === 'POST').map(({ path, json }) => [path.replace('/v26.0', ''), json])

/** Rows by the names of their columns. */
function named(rows: readonly Readonly<Record<string, Cell>>[]): { columns: string[]; rows: Row[] } {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return { columns: names, rows: rows.map((row) => names.map((name) => row[name] ?? null)) }
}

await testDestination<MetaCampaignsServer>({
  connector,
  testServer: 'a server that keeps to Meta’s business SDK',
  start: startMetaCampaigns,
  routes: (url) => ({ 'https://graph.facebook.com': url }),
  secrets: metaSecrets,
  wrongSecrets: { ...metaSecrets, accessToken: 'EAAB-other' },
  settings,
  missing: { ...settings, advertiserId: '901' },
  columns,
  posts,
  hangs: /^(GET .*\/act_900|POST .*\/campaigns)$/,
  check: {
    denied: [{ settings: { ...settings, advertiserId: '901' } }],
    unknown: [{ ...metaSecrets, accessToken: 'x' }],
  },
  accepts: {
    columns: ['name', 'daily_budget', 'objective'],
    rows: Array.from({ length: 12 }, (_, n) => [`Campaign ${n}`, `${n + 10}.5`, 'OUTCOME_SALES']),
    badRows: [
      { row: ['Cheap', '0.99', 'OUTCOME_SALES'], reason: /below the least.*1885272/, field: 'daily_budget' },
      {
        row: ['Greedy', '500.01', 'OUTCOME_SALES'],
        reason: /above the greatest budget of the connection, 500\./,
        field: 'daily_budget',
      },
      { row: ['Fine', '20.001', 'OUTCOME_SALES'], reason: /at most 2 decimals/, field: 'daily_budget' },
      { row: ['Odd', '20', 'FAME'], reason: /must be/, field: 'objective' },
      { row: [null, '20', 'OUTCOME_SALES'], reason: /no ID and no name/, field: 'name' },
    ],
    readBack: ({ campaigns }) =>
      campaigns.map(({ name, daily_budget: cents, objective, status }) => {
        assert.equal(status, 'PAUSED')
        return [String(name), String(Number(cents) / 100), String(objective)]
      }),
    reset(server) {
      server.campaigns.length = 0
      server.adSets.length = 0
    },
    problems: [
      [problem(17), 'limits calls', 'retry', { code: 'rate_limited' }],
      [{ status: 429, text: '' }, 'limits calls by the status', 'retry', { code: 'rate_limited' }],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      ['reset', 'breaks off before the work', 'retry'],
      ['reset after', 'breaks off after the work', 'retry'],
      [{ json: {} }, 'does not answer the ID', 'retry', { code: 'malformed_response' }],
      [problem(200), 'denies access', 'reconfigure'],
      [problem(190), 'ends the token', 'reauthenticate'],
    ],
  },
  tests(scene) {
    const { deliver, rejects, fails, contextOf } = scene

    test('creates campaigns and ad sets as Meta documents them, paused unless the row says otherwise', async () => {
      const { columns, rows } = named([
        {
          level: 'ad set',
          name: 'Germany',
          campaign_name: 'Autumn',
          status: 'active',
          daily_budget: '20',
          optimization_goal: 'link_clicks',
          billing_event: 'IMPRESSIONS',
          countries: 'DE, AT',
          bid_amount: '1.5',
          end_time: '2030-01-31T12:00:00+01:00',
        },
        {
          level: 'campaign',
          name: 'Autumn',
          objective: 'OUTCOME_TRAFFIC',
          special_ad_categories: 'housing; employment',
        },
      ])
      const { rejected, answers } = await deliver(rows, { columns })
      assert.deepEqual(rejected, [])
      const [created] = scene.server.campaigns
      assert(created)
      assert.deepEqual(sent(scene), [
        [
          '/act_900/campaigns',
          {
            name: 'Autumn',
            objective: 'OUTCOME_TRAFFIC',
            status: 'PAUSED',
            special_ad_categories: ['HOUSING', 'EMPLOYMENT'],
            is_adset_budget_sharing_enabled: false,
          },
        ],
        [
          '/act_900/adsets',
          {
            campaign_id: created.id,
            name: 'Germany',
            status: 'ACTIVE',
            daily_budget: 2_000,
            optimization_goal: 'LINK_CLICKS',
            billing_event: 'IMPRESSIONS',
            targeting: { geo_locations: { countries: ['DE', 'AT'] } },
            bid_amount: 150,
            end_time: '2030-01-31T11:00:00Z',
          },
        ],
      ])
      assert.deepEqual(answers, [
        { id: scene.server.adSets[0]?.id, result: 'created' },
        { id: created.id, result: 'created' },
      ])
      // The same rows again change nothing.
      const again = await deliver(rows, { columns })
      assert.deepEqual(again.answers, [
        { id: scene.server.adSets[0]?.id, result: 'unchanged' },
        { id: created.id, result: 'unchanged' },
      ])
      assert.equal(sent(scene).length, 2)
    })

    test('changes only what differs, by ID or by name', async () => {
      const { add } = scene.server
      const values = {
        status: 'ACTIVE',
        objective: 'OUTCOME_SALES',
        daily_budget: 1_000,
        special_ad_categories: ['NONE'],
      }
      const first = add('campaigns', { name: 'First', ...values })
      const second = add('campaigns', { name: 'Second', ...values })
      const third = add('campaigns', {
        name: 'Third',
        ...values,
        daily_budget: undefined,
        is_adset_budget_sharing_enabled: false,
      })
      const child = add('adSets', { name: 'Child', status: 'PAUSED', daily_budget: 3_000 }, third.id)
      const { columns, rows } = named([
        { id: first.id, daily_budget: '12', status: 'active' },
        { name: 'Second', status: 'paused', objective: 'OUTCOME_SALES', daily_budget: '10.00' },
        { id: third.id, name: 'Renamed' },
        { level: 'ad_set', id: child.id, daily_budget: '25.5' },
        { name: 'Renamed', status: 'paused' },
      ])
      const { rejected, answers } = await deliver(rows, { columns })
      assert.deepEqual(rejected, [])
      assert.deepEqual(sent(scene), [
        [`/${first.id}`, { daily_budget: 1_200 }],
        [`/${second.id}`, { status: 'PAUSED' }],
        [`/${third.id}`, { name: 'Renamed' }],
        [`/${third.id}`, { status: 'PAUSED' }],
        [`/${child.id}`, { daily_budget: 2_550 }],
      ])
      assert.deepEqual(
        answers?.map((one) => (one as { result: string }).result),
        Array(5).fill('changed'),
      )
    })

    test('rejects rows that mean no object, several, or an object that cannot become like this', async () => {
      const { add } = scene.server
      const values = { status: 'PAUSED', objective: 'OUTCOME_SALES', daily_budget: 1_000, special_ad_categories: [] }
      add('campaigns', { name: 'Twice', ...values })
      add('campaigns', { name: 'Twice', ...values })
      const gone = add('campaigns', { name: 'Gone', ...values, status: 'DELETED' })
      add('campaigns', { name: 'Sales', ...values })
      const { columns, rows } = named([
        { name: 'Twice', status: 'active' },
        { id: gone.id, status: 'active' },
        { id: 'x1', status: 'active' },
        { name: 'Sales', objective: 'OUTCOME_LEADS' },
        { name: 'New' },
        { name: 'Sales', daily_budget: '20', currency: 'USD' },
        { level: 'ad_set', name: 'Child', campaign_name: 'Nowhere' },
        { level: 'ad_set', name: 'Child' },
        { level: 'ad_set', id: '99', status: 'paused' },
        { level: 'ad', name: 'Child' },
        { name: 'Sales', billing_event: 'CLICKS' },
        { name: 'Newer', objective: 'OUTCOME_LEADS', daily_budget: '5', special_ad_categories: 'CARS' },
        { name: 'x'.repeat(401) },
        { name: 'Sales', daily_budget: '-5' },
        { name: 'Sales', stop_time: '2030-01-31 12:00' },
      ])
      const { rejected = [] } = await deliver(rows, { columns })
      const found = rejected
        .toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
        .map(({ field, reason }) => `${field}: ${reason}`)
      const expected = [
        /^name: Several campaigns have this name/,
        /^id: The account has no such campaign/,
        /^id: The ID of the campaign is not valid/,
        /^objective: The campaign exists with another value/,
        /^objective: There is no campaign with this name, and creating it needs a value in objective/,
        /^currency: The account is in EUR/,
        /^campaign_name: The account has no such campaign/,
        /^campaign_name: The row has no ID and no name of the campaign of the ad set/,
        /^id: The account has no such ad set/,
        /^level: The level must be campaign or ad_set/,
        /^billing_event: A row of the level campaign cannot have a value in billing_event/,
        /^special_ad_categories: Special ad categories are NONE, HOUSING/,
        /^name: The name has more than 400 characters/,
        /^daily_budget: The amount must be a number/,
        /^stop_time: The time must be written as/,
      ]
      assert.equal(found.length, expected.length, found.join('\n'))
      for (const [at, pattern] of expected.entries()) assert.match(found[at] ?? '', pattern)
      assert.deepEqual(sent(scene), [])
    })

    test('never guesses special ad categories', async () => {
      const { advertiserId, budgetMax, increaseMax } = settings
      const undeclared = { settings: { advertiserId, budgetMax, increaseMax } }
      const { rejected } = await deliver([campaign('One')], undeclared)
      assert.deepEqual(
        rejected?.map(({ field }) => field),
        ['special_ad_categories'],
      )
      assert.deepEqual(sent(scene), [])
    })

    test('asks Meta to validate the rows of a preview, and changes nothing', async () => {
      const existing = scene.server.add('campaigns', {
        name: 'There',
        status: 'PAUSED',
        daily_budget: 1_000,
        special_ad_categories: [],
      })
      const { columns, rows } = named([
        { name: 'There', daily_budget: '20' },
        { name: 'New', daily_budget: '20', objective: 'OUTCOME_LEADS' },
        { name: 'Cheap', daily_budget: '0.5', objective: 'OUTCOME_LEADS' },
        {
          level: 'ad_set',
          name: 'Child',
          campaign_name: 'New',
          countries: 'DE',
          billing_event: 'CLICKS',
          optimization_goal: 'LINK_CLICKS',
        },
        { name: 'Greedy', daily_budget: '501', objective: 'OUTCOME_LEADS' },
        { name: 'New', status: 'active' },
      ])
      const tried = await connector.destination?.deliver?.tryRows?.({ ...contextOf({ columns }), columns, rows })
      assert.deepEqual(
        tried?.rejected.map(({ index, field }) => [index, field]),
        [[2, 'daily_budget']],
      )
      assert.deepEqual(tried?.untried, ['each ad set of a new campaign'])
      assert.deepEqual(
        scene.server.campaigns.map(({ id, daily_budget: budget }) => [id, budget]),
        [[existing.id, 1_000]],
      )
      for (const [, body] of sent(scene)) {
        assert.deepEqual((body as { execution_options: unknown }).execution_options, ['validate_only'])
      }
      await assertPreviewed(connector, contextOf(), batchOf(columns, rows), [
        {
          index: 4,
          field: 'daily_budget',
          reason: 'A value is above the greatest budget of the connection, 500.',
        },
      ])
    })

    test('finds errors of the account and of rows apart, without the words of Meta', async () => {
      await rejects([[[...campaign('Cheap', '0.99')], 'daily_budget']], [campaign('Good')])
      await fails(
        [
          [problem(17), 'retry', 'rate_limited'],
          [problem(190, { error_subcode: 463 }), 'reauthenticate', 'invalid_credentials'],
          [problem(200), 'reconfigure', 'permission_denied'],
          [problem(2635), 'fail', 'version_retired'],
        ],
        [campaign('Late')],
      )
    })

    test('checks that the token may manage ads', async () => {
      scene.server.facts.permissions.splice(0, 1, 'ads_read')
      const steps = await connector.check?.(contextOf())
      assert.match(steps?.at(-1)?.message ?? '', /lacks the permission ads_management/)
    })
  },
})
