import { entitySource } from '../kit/entity-source.ts'
import { dimension, ofAccount } from '../kit/report-columns.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { type JsonObject, objectIn } from '../platform-api/json.ts'
import { readAuthorization } from './authorization.ts'
import { nextOf } from './pages.ts'
import { pinterestAds } from './platform.ts'
import { pinterestAccounts, pinterestListed, pinterestReads } from './reads.ts'
import { signIn } from './sign-in.ts'

const statuses = ['ACTIVE', 'PAUSED', 'ARCHIVED', 'DRAFT']
const times = ['start_time', 'end_time', 'created_time', 'updated_time']

/** An entity with its ID by the name of its level. */
const rowOf = (entity: JsonObject, level: string): JsonObject => ({ ...entity, [`${level}_id`]: entity.id })

/** How campaigns on Pinterest are set up. */
export const pinterestAdsManagement = entitySource({
  slug: 'pinterest-ads-management',
  name: 'Pinterest Ads Management',
  platform: pinterestAds,
  dataType: 'ads management',
  dataTypeCategory: 'campaign management',
  description: 'Reads how your campaigns on Pinterest are set up.',
  actions: ['get'],
  notes:
    'A row is a campaign, an ad group or an ad as it is now, archived ones and drafts included. Money is converted from micros to units of the currency of the ad account. Rows of Pinterest Ads Analytics have the same IDs.',
  tested: 'Recorded lists that follow the OpenAPI document that Pinterest publishes; not Pinterest itself.',
  api: { version: 'v5 (5.23.0)', ends: 'No end is known.' },
  platformApi: pinterestReads,
  auth: { open: async (context) => (await import('./tokens.ts')).openPinterestTokens(context) },
  authorization: readAuthorization,
  secrets: signIn,
  accounts: pinterestAccounts,
  listed: pinterestListed,
  always: ['ad_account_id', 'ad_account_name', 'currency'],
  levels: {
    campaign: {
      key: ['campaign_id'],
      columns: [
        ...['name', 'status', 'summary_status', 'objective_type', 'daily_spend_cap', 'lifetime_spend_cap'],
        ...['is_campaign_budget_optimization', 'is_flexible_daily_budgets', 'is_performance_plus', 'order_line_id'],
        ...['tracking_urls', ...times],
      ],
    },
    ad_group: {
      key: ['ad_group_id'],
      columns: [
        ...['campaign_id', 'name', 'status', 'summary_status', 'budget', 'budget_type', 'bid', 'bid_strategy_type'],
        ...['billable_event', 'placement_group', 'pacing_delivery_type', 'auto_targeting_enabled', 'targeting_spec'],
        ...['optimization_goal_metadata', 'tracking_urls', ...times],
      ],
    },
    ad: {
      key: ['ad_id'],
      columns: [
        ...['ad_group_id', 'campaign_id', 'pin_id', 'name', 'status', 'summary_status', 'review_status'],
        ...['rejected_reasons', 'creative_type', 'destination_url', 'click_tracking_url', 'view_tracking_url'],
        ...['is_pin_deleted', 'tracking_urls', 'created_time', 'updated_time'],
      ],
    },
  },
  columns: {
    ad_account_id: ofAccount('account', 'ID of the ad account'),
    ad_account_name: ofAccount('name', 'Name of the ad account'),
    currency: ofAccount('currency', 'Currency of the ad account, in which money is'),
    campaign_id: dimension('ID of the campaign'),
    ad_group_id: dimension('ID of the ad group'),
    ad_id: dimension('ID of the ad'),
    pin_id: dimension('ID of the Pin'),
    name: dimension('Name'),
    status: dimension('Status that the advertiser set: ACTIVE, PAUSED, ARCHIVED or DRAFT'),
    summary_status: dimension('Status by which Pinterest shows it'),
    review_status: dimension('Status of the review by Pinterest'),
    rejected_reasons: dimension('Why Pinterest rejected the ad, as JSON', { type: 'json' }),
    objective_type: dimension('Objective of the campaign'),
    daily_spend_cap: dimension('Budget of a day of the campaign', { type: 'micros' }),
    lifetime_spend_cap: dimension('Budget of the campaign as a whole', { type: 'micros' }),
    is_campaign_budget_optimization: dimension('Whether the campaign has the budget, and not its ad groups', {
      type: 'boolean',
    }),
    is_flexible_daily_budgets: dimension('Whether daily budgets are flexible', { type: 'boolean' }),
    is_performance_plus: dimension('Whether it is a Performance+ campaign', { type: 'boolean' }),
    order_line_id: dimension('ID of the line on the invoice'),
    budget: dimension('Budget of the ad group', { type: 'micros', at: 'budget_in_micro_currency' }),
    budget_type: dimension('Whether the budget is of a day or as a whole'),
    bid: dimension('Bid', { type: 'micros', at: 'bid_in_micro_currency' }),
    bid_strategy_type: dimension('How Pinterest bids'),
    billable_event: dimension('The event that is paid for'),
    placement_group: dimension('Where ads are shown'),
    pacing_delivery_type: dimension('How fast the budget is spent'),
    auto_targeting_enabled: dimension('Whether Pinterest adds to the targeting', { type: 'boolean' }),
    targeting_spec: dimension('Targeting, as JSON', { type: 'json' }),
    optimization_goal_metadata: dimension('Goals of the optimization, as JSON', { type: 'json' }),
    tracking_urls: dimension('Addresses of other services that count, as JSON', { type: 'json' }),
    creative_type: dimension('Form of the ad'),
    destination_url: dimension('Address to which the ad leads'),
    click_tracking_url: dimension('Address that counts clicks'),
    view_tracking_url: dimension('Address that counts views'),
    is_pin_deleted: dimension('Whether the Pin was deleted', { type: 'boolean' }),
    start_time: dimension('When it begins', { type: 'seconds' }),
    end_time: dimension('When it ends', { type: 'seconds' }),
    created_time: dimension('When it was created', { type: 'seconds' }),
    updated_time: dimension('When it was changed', { type: 'seconds' }),
  },
  report: {
    form: 'pages',
    pageRows: 250,
    page: ({ account, level, pageRows }, bookmark) => ({
      path: `/ad_accounts/${account}/${level}s?${statuses.map((status) => `entity_statuses=${status}`).join('&')}`,
      query: { page_size: String(pageRows), bookmark },
    }),
    rows: ({ json }, { level }) => rowsIn(objectIn(json).items)?.map((entity) => rowOf(entity, level)),
    next: nextOf,
  },
  check: { authentication: () => ({ path: '/ad_accounts', query: { page_size: '1' } }) },
})
