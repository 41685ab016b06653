import { boolean } from '@penstock/connector'
import { entitySource } from '../kit/entity-source.ts'
import { dimension, ofAccount } from '../kit/report-columns.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { objectIn } from '../platform-api/json.ts'
import { nextIn, xAccounts, xListed, xReads, xReadsVersion } from './api.ts'
import { xTwitter } from './platform.ts'
import { signatures, signIn } from './sign-in.ts'

/** The lists of X, by level. */
const lists: Readonly<Record<string, string>> = {
  campaign: 'campaigns',
  line_item: 'line_items',
  promoted_tweet: 'promoted_tweets',
  funding_instrument: 'funding_instruments',
}
const times = ['created_at', 'updated_at', 'deleted'] as const

/** Campaigns and ads on X. */
export const xCampaignMeasurement = entitySource({
  slug: 'x-campaign-measurement',
  name: 'X (Twitter) Campaign Measurement',
  platform: xTwitter,
  dataType: 'ads analytics',
  dataTypeCategory: 'reporting',
  description: 'Reads your campaigns and ads on X through its campaign management APIs.',
  actions: ['get'],
  notes:
    'The Ads API of X uses OAuth 1.0a: enter the API key as the client ID, its secret as the client secret, the access token as the refresh token, and the access token secret. X must have approved the app for its Ads API. A row is a campaign, an ad group (line item), an ad (promoted post) or a funding instrument as it is now. Money is converted from micros to units of its currency. Figures are read by X (Twitter) Ad Analytics, whose rows have the same IDs.',
  tested: 'Recorded answers as the documents of X show them, with the signatures of the requests; not X itself.',
  api: xReadsVersion,
  platformApi: xReads,
  auth: signatures,
  secrets: signIn,
  settings: {
    withDeleted: boolean({
      label: 'Deleted entities',
      description: 'Also read deleted entities, so that earlier figures have names',
      default: false,
    }),
  },
  accounts: xAccounts,
  listed: xListed,
  always: ['account_id', 'account_name', 'currency'],
  levels: {
    campaign: {
      key: ['campaign_id'],
      columns: [
        ...['name', 'entity_status', 'effective_status', 'servable', 'reasons_not_servable', 'funding_instrument_id'],
        ...['budget_optimization', 'daily_budget', 'total_budget', 'standard_delivery', 'purchase_order_number'],
        ...times,
      ],
    },
    line_item: {
      key: ['line_item_id'],
      columns: [
        ...['name', 'entity_status', 'campaign_id', 'objective', 'product_type', 'placements', 'goal', 'pay_by'],
        ...['bid_strategy', 'bid_amount', 'daily_budget', 'total_budget', 'start_time', 'end_time', ...times],
      ],
    },
    promoted_tweet: {
      key: ['promoted_tweet_id'],
      columns: ['line_item_id', 'tweet_id', 'entity_status', 'approval_status', ...times],
    },
    funding_instrument: {
      key: ['funding_instrument_id'],
      columns: [
        ...['description', 'type', 'entity_status', 'able_to_fund', 'credit_limit', 'credit_remaining'],
        ...['funded_amount', 'start_time', 'end_time', ...times],
      ],
    },
  },
  columns: {
    account_id: ofAccount('account', 'ID of the ad account'),
    account_name: ofAccount('name', 'Name of the ad account'),
    currency: ofAccount('currency', 'Currency of the money in the row', { at: 'currency' }),
    campaign_id: dimension('ID of the campaign'),
    line_item_id: dimension('ID of the ad group'),
    promoted_tweet_id: dimension('ID of the ad, which is not that of its post'),
    funding_instrument_id: dimension('ID of the funding instrument'),
    name: dimension('Name'),
    description: dimension('Description of the funding instrument'),
    type: dimension('Kind of funding instrument'),
    entity_status: dimension('Status that the advertiser set: ACTIVE, PAUSED or DRAFT'),
    effective_status: dimension('Status by which X shows it'),
    approval_status: dimension('Whether X approved the ad'),
    servable: dimension('Whether X can show it', { type: 'boolean' }),
    reasons_not_servable: dimension('Why X cannot show it, as JSON', { type: 'json' }),
    able_to_fund: dimension('Whether it can pay', { type: 'boolean' }),
    objective: dimension('Objective'),
    product_type: dimension('The promoted product'),
    placements: dimension('Where ads may be shown, as JSON', { type: 'json' }),
    goal: dimension('The goal for which delivery is optimized'),
    pay_by: dimension('The event that is paid for'),
    bid_strategy: dimension('How X bids'),
    bid_amount: dimension('Bid', { type: 'micros', at: 'bid_amount_local_micro' }),
    budget_optimization: dimension('Whether the campaign or its ad groups have the budget'),
    daily_budget: dimension('Budget of a day', { type: 'micros', at: 'daily_budget_amount_local_micro' }),
    total_budget: dimension('Budget as a whole', { type: 'micros', at: 'total_budget_amount_local_micro' }),
    credit_limit: dimension('Limit of the credit', { type: 'micros', at: 'credit_limit_local_micro' }),
    credit_remaining: dimension('Credit that is left', { type: 'micros', at: 'credit_remaining_local_micro' }),
    funded_amount: dimension('Amount that was funded', { type: 'micros', at: 'funded_amount_local_micro' }),
    standard_delivery: dimension('Whether delivery is even over the day', { type: 'boolean' }),
    purchase_order_number: dimension('Number of the order, for invoices'),
    tweet_id: dimension('ID of the post'),
    start_time: dimension('When it begins', { type: 'time' }),
    end_time: dimension('When it ends', { type: 'time' }),
    created_at: dimension('When it was created', { type: 'time' }),
    updated_at: dimension('When it was changed', { type: 'time' }),
    deleted: dimension('Whether it was deleted', { type: 'boolean' }),
  },
  report: {
    form: 'pages',
    pageRows: 1_000,
    page: ({ account, level, pageRows, context: { settings } }, cursor) => ({
      path: `/accounts/${account}/${lists[level]}`,
      query: { count: String(pageRows), with_deleted: String(settings.withDeleted === true), cursor },
    }),
    rows: ({ json }, { level }) => rowsIn(objectIn(json).data)?.map((one) => ({ ...one, [`${level}_id`]: one.id })),
    next: nextIn,
  },
  check: { authentication: () => ({ path: '/accounts', query: { count: '1' } }) },
})
