import { amount, asWritten, decimal, type EventColumns, flag, oneOf, plain } from '../kit/columns.ts'
import type { JsonObject } from '../platform-api/json.ts'
import { type Read, type Wrong, wrong } from '../platform-api/rows/events.ts'

/** The columns of campaigns and ad groups of Google Ads, by the protocol buffers of its API v25. */

/** How a campaign bids: the field of a campaign that holds the strategy, by the type that Google answers. */
export const strategies: Readonly<Record<string, string>> = {
  MANUAL_CPC: 'manualCpc',
  TARGET_SPEND: 'targetSpend',
  MAXIMIZE_CONVERSIONS: 'maximizeConversions',
  MAXIMIZE_CONVERSION_VALUE: 'maximizeConversionValue',
  TARGET_CPA: 'targetCpa',
  TARGET_ROAS: 'targetRoas',
}

/** Limits of strategies: their column, and the strategies that have them. */
export const strategyLimits: Readonly<Record<string, readonly [column: string, strategies: readonly string[]]>> = {
  targetCpaMicros: ['target_cpa', ['MAXIMIZE_CONVERSIONS', 'TARGET_CPA']],
  targetRoas: ['target_roas', ['MAXIMIZE_CONVERSION_VALUE', 'TARGET_ROAS']],
  cpcBidCeilingMicros: ['cpc_bid_ceiling', ['TARGET_SPEND']],
}

/** A limit that a strategy does not have. */
export function strangeLimit(strategy: unknown, values: JsonObject): Wrong | undefined {
  for (const [path, [column, known]] of Object.entries(strategyLimits)) {
    if (values[path] !== undefined && !known.includes(String(strategy))) {
      return wrong(`The bidding strategy of the campaign has no ${column}.`, column)
    }
  }
  return undefined
}

const status = oneOf('status', 'Whether it runs; a new one is paused unless this says enabled', {
  values: { enabled: 'ENABLED', active: 'ENABLED', paused: 'PAUSED' },
  wanted: 'enabled or paused',
  listed: ['enabled', 'paused'],
})
const urls: EventColumns = {
  tracking_url_template: plain('trackingUrlTemplate', 'Template of tracking addresses', { lengthMax: 2_048 }),
  final_url_suffix: plain('finalUrlSuffix', 'Parameters that are added to landing pages', { lengthMax: 2_048 }),
}
const day = (to: string, description: string) =>
  plain(to, description, {
    pattern: /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d)?$/,
    wanted:
      'The value must be a day such as 2026-01-31, or a time such as 2026-01-31 12:00:00, in the zone of the account.',
  })

const channels = ['SEARCH', 'DISPLAY', 'PERFORMANCE_MAX', 'DEMAND_GEN']
const groupTypes = ['SEARCH_STANDARD', 'SEARCH_DYNAMIC_ADS', 'DISPLAY_STANDARD']

/** Declarations about political ads for the EU, by the words of rows and of the setting. */
export const politicalAds: Readonly<Record<string, string>> = {
  yes: 'CONTAINS_EU_POLITICAL_ADVERTISING',
  true: 'CONTAINS_EU_POLITICAL_ADVERTISING',
  contains_eu_political_advertising: 'CONTAINS_EU_POLITICAL_ADVERTISING',
  no: 'DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING',
  false: 'DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING',
  does_not_contain_eu_political_advertising: 'DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING',
}

export const campaignColumns: EventColumns = {
  status,
  daily_budget: amount('budget.amountMicros', 'Average budget of a day, in whole units of the currency: 12.50', {
    isBudget: true,
  }),
  total_budget: amount(
    'budget.totalAmountMicros',
    'Budget of the whole time, in whole units of the currency; the campaign then needs an end',
    { isBudget: true },
  ),
  channel_type: oneOf('advertisingChannelType', 'Kind of campaign', {
    values: asWritten(...channels),
    wanted: channels.join(', '),
    listed: channels,
  }),
  bid_strategy: oneOf('bidding', 'How a new campaign bids', {
    values: {
      manual_cpc: 'MANUAL_CPC',
      maximize_clicks: 'TARGET_SPEND',
      maximize_conversions: 'MAXIMIZE_CONVERSIONS',
      maximize_conversion_value: 'MAXIMIZE_CONVERSION_VALUE',
    },
    wanted: 'manual_cpc, maximize_clicks, maximize_conversions or maximize_conversion_value',
    listed: ['manual_cpc', 'maximize_clicks', 'maximize_conversions', 'maximize_conversion_value'],
  }),
  target_cpa: amount('targetCpaMicros', 'Target cost of a conversion, in whole units of the currency'),
  target_roas: decimal('targetRoas', 'Target return on ad spend, as a factor: 3.5', { min: 0 }),
  cpc_bid_ceiling: amount('cpcBidCeilingMicros', 'The most to pay for a click, if clicks are maximised'),
  eu_political_ads: oneOf(
    'containsEuPoliticalAdvertising',
    'Whether it contains political ads for the EU: yes or no; by default as set in the connection',
    { values: politicalAds, wanted: 'yes or no', listed: ['yes', 'no'] },
  ),
  start_date: day('startDateTime', 'First day, in the time zone of the account'),
  end_date: day('endDateTime', 'Last day, in the time zone of the account'),
  search_partners: flag(
    'networkSettings.targetSearchNetwork',
    'Whether ads are shown by search partners; false by default',
  ),
  display_network: flag(
    'networkSettings.targetContentNetwork',
    'Whether ads of a search campaign are shown on the display network; false by default',
  ),
  ...urls,
}

/** Finishes a campaign: days become times, and limits must fit the strategy of the row. */
export function finishCampaign(values: JsonObject): Read<JsonObject> {
  const strange = values.bidding === undefined ? undefined : strangeLimit(values.bidding, values)
  if (strange) return strange
  const timeOf = (value: unknown, time: string) =>
    value === undefined ? undefined : `${String(value).slice(0, 10)} ${String(value).slice(11) || time}`
  return {
    read: {
      ...values,
      startDateTime: timeOf(values.startDateTime, '00:00:00'),
      endDateTime: timeOf(values.endDateTime, '23:59:59'),
    },
  }
}

export const adGroupColumns: EventColumns = {
  status,
  type: oneOf('type', 'Kind of ad group; by default that of the campaign', {
    values: asWritten(...groupTypes),
    wanted: groupTypes.join(', '),
    listed: groupTypes,
  }),
  cpc_bid: amount('cpcBidMicros', 'The most to pay for a click, in whole units of the currency'),
  target_cpa: amount('targetCpaMicros', 'Target cost of a conversion, in whole units of the currency'),
  target_roas: decimal('targetRoas', 'Target return on ad spend, as a factor: 3.5', { min: 0 }),
  ...urls,
}
