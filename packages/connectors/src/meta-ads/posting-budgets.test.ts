import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cell, Row } from '@penstock/connector'
import { startMetaCampaigns } from '../../test/meta-campaigns-server.ts'
import { metaSecrets } from '../../test/meta-server.ts'
import { batchOf } from '../../test/platform-server.ts'
import { destinationScene } from '../../test/test-destination.ts'
import { metaCampaignPosting as connector } from './meta-campaign-posting.ts'

const columns = ['name', 'daily_budget', 'objective']
const settings = { advertiserId: '900', budgetMax: 500, increaseMax: 10_000, specialAdCategory: 'NONE' }
const posts = /^POST .*\/campaigns$/
const campaign = (name: string, budget: Cell = '12.50', objective: Cell = 'OUTCOME_SALES'): Row => [
  name,
  budget,
  objective,
]

describe('the budgets of campaigns', () => {
  const scene = destinationScene({
    connector,
    start: startMetaCampaigns,
    routes: (url) => ({ 'https://graph.facebook.com': url }),
    secrets: metaSecrets,
    settings,
    columns,
    posts,
  })
  const { deliver, openWriter, codeOf, contextOf } = scene

  test('converts amounts by the currency of the account, and refuses unknown currencies', async () => {
    const { facts, campaigns } = scene.server
    const limits = { settings: { ...settings, budgetMax: 1_000_000, increaseMax: 10_000_000 } }
    for (const [currency, budget, units] of [
      ['USD', '12.5', 1_250],
      ['USD', '0.29', undefined],
      ['USD', '1.10', 110],
      ['JPY', '1500', 1_500],
      ['JPY', '1500.5', undefined],
      // Meta has these in units that differ from ISO 4217.
      ['HUF', '4000', 4_000],
      ['BHD', '4.25', 425],
      ['BHD', '4.255', undefined],
    ] as const) {
      facts.currency = currency
      campaigns.length = 0
      const { rejected = [] } = await deliver([campaign('One', budget)], limits)
      assert.equal(campaigns[0]?.daily_budget, units, `${currency} ${budget}`)
      assert.equal(rejected.length, units === undefined ? 1 : 0)
    }
    facts.currency = 'KWD'
    assert.equal(await codeOf(deliver([campaign('One')])), 'invalid_setting')
    assert.equal(
      await codeOf(connector.destination?.deliver?.inspect?.({ ...contextOf(), columns, rows: [] })),
      'invalid_setting',
    )
  })

  test('limits the sum by which budgets rise in a transfer, also after a crash', async () => {
    const limited = { settings: { ...settings, increaseMax: 100 } }
    const low = scene.server.add('campaigns', {
      name: 'Low',
      status: 'PAUSED',
      daily_budget: 5_000,
      special_ad_categories: [],
    })
    const writer = await openWriter(limited)
    const first = await writer.deliver(
      batchOf(columns, [
        campaign('Low', '80', null),
        campaign('A', '40'),
        campaign('B', '30.01'),
        campaign('Cheap', '0.99'),
        campaign('C', '30'),
      ]),
    )
    assert.deepEqual(
      first.rejected?.map(({ index, field }) => [index, field]),
      [
        [2, 'daily_budget'],
        [3, 'daily_budget'],
      ],
    )
    assert.match(
      first.rejected?.[0]?.reason ?? '',
      /^A value lets all budgets rise by more than 100, the greatest increase/,
    )
    // Another writer continues. A lower budget returns its earlier rise.
    const next = await openWriter({ ...limited, deliveryStates: [first.deliveryState ?? null] })
    const second = await next.deliver(
      batchOf(columns, [campaign('D', '1'), campaign('Low', '60', null), campaign('E', '20')], 2),
    )
    assert.deepEqual(
      second.rejected?.map(({ index }) => index),
      [0],
    )
    assert.equal(scene.server.campaigns.find(({ id }) => id === low.id)?.daily_budget, 6_000)
  })

  test('counts budgets of a delivery whose confirmation was lost', async () => {
    const limited = { settings: { ...settings, increaseMax: 100 } }
    const batch = batchOf(columns, [campaign('A', '60'), campaign('B', '40')])
    await (await openWriter(limited)).deliver(batch)
    const writer = await openWriter(limited)
    const { rejected, answers } = await writer.deliver({ ...batch, isRepeated: true })
    assert.deepEqual(rejected, [])
    assert.deepEqual(
      answers?.map((one) => (one as { result: string }).result),
      ['unchanged', 'unchanged'],
    )
    const { rejected: over } = await writer.deliver(batchOf(columns, [campaign('C', '1')], 2))
    assert.deepEqual(
      over?.map(({ field }) => field),
      ['daily_budget'],
    )
  })

  test('does not count a budget twice whose answer broke off', async () => {
    const limited = { settings: { ...settings, increaseMax: 100 } }
    const writer = await openWriter(limited)
    const batch = batchOf(columns, [campaign('A', '60'), campaign('B', '40')])
    scene.server.failure(posts, 'reset after')
    await assert.rejects(writer.deliver(batch))
    const { rejected } = await writer.deliver(batch)
    assert.deepEqual(rejected, [])
    assert.deepEqual(
      scene.server.campaigns.map(({ name }) => name),
      ['A', 'B'],
    )
  })
})
