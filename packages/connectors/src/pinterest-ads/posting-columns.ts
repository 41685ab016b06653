import { amount, asWritten, type EventColumns, flag, moment, object, oneOf, plain } from '../kit/columns.ts'

/** The columns of campaigns and ad groups of Pinterest, by the OpenAPI document of its API. */

const oneOfWords = (to: string, description: string, ...words: readonly string[]) =>
  oneOf(to, description, { values: asWritten(...words), wanted: words.join(', '), listed: words })

const shared: EventColumns = {
  status: oneOf('status', 'Whether it runs; a new one is paused unless this says active', {
    values: { active: 'ACTIVE', paused: 'PAUSED' },
    wanted: 'active or paused',
    listed: ['active', 'paused'],
  }),
  start_time: moment('start_time', 'When it starts, with the time zone'),
  end_time: moment('end_time', 'When it ends, with the time zone'),
  tracking_urls: object('tracking_urls', 'Object with addresses of other services that count, in Pinterest’s format'),
}

export const campaignColumns: EventColumns = {
  ...shared,
  objective_type: oneOfWords(
    'objective_type',
    'Objective of the campaign',
    'AWARENESS',
    'CONSIDERATION',
    'WEB_CONVERSION',
    'CATALOG_SALES',
    'VIDEO_COMPLETION',
  ),
  daily_budget: amount('daily_spend_cap', 'Budget of a day of the campaign, in whole units of the currency: 12.50', {
    isBudget: true,
  }),
  lifetime_budget: amount('lifetime_spend_cap', 'Budget of the campaign as a whole, in whole units of the currency', {
    isBudget: true,
  }),
  campaign_budget_optimization: flag(
    'is_campaign_budget_optimization',
    'Whether the campaign has the budget, and not its ad groups',
  ),
  flexible_daily_budgets: flag('is_flexible_daily_budgets', 'Whether daily budgets are flexible'),
  performance_plus: flag('is_performance_plus', 'Whether a new campaign is a Performance+ campaign'),
  order_line_id: plain('order_line_id', 'ID of the line on the invoice', {
    pattern: /^\d{1,20}$/,
    wanted: 'The ID of the order line must be a number.',
  }),
}

export const adGroupColumns: EventColumns = {
  ...shared,
  budget: amount('budget_in_micro_currency', 'Budget of the ad group, in whole units of the currency: 12.50', {
    isBudget: true,
  }),
  budget_type: oneOfWords(
    'budget_type',
    'Whether the budget is of a day or as a whole',
    'DAILY',
    'LIFETIME',
    'CBO_ADGROUP',
  ),
  billable_event: oneOfWords(
    'billable_event',
    'The event that is paid for',
    'CLICKTHROUGH',
    'IMPRESSION',
    'VIDEO_V_50_MRC',
  ),
  bid: amount('bid_in_micro_currency', 'Bid, in whole units of the currency'),
  bid_strategy_type: oneOfWords('bid_strategy_type', 'How Pinterest bids', 'AUTOMATIC_BID', 'MAX_BID', 'TARGET_AVG'),
  placement_group: oneOfWords('placement_group', 'Where ads are shown', 'ALL', 'SEARCH', 'BROWSE', 'OTHER'),
  pacing_delivery_type: oneOfWords('pacing_delivery_type', 'How fast the budget is spent', 'STANDARD', 'ACCELERATED'),
  auto_targeting: flag('auto_targeting_enabled', 'Whether Pinterest adds to the targeting'),
  targeting_spec: object(
    'targeting_spec',
    'Object with the targeting, in Pinterest’s format; it replaces all targeting of the ad group',
  ),
  optimization_goal_metadata: object(
    'optimization_goal_metadata',
    'Object with goals of the optimization, in Pinterest’s format',
  ),
}
