import { ConnectorError, secret } from '@penstock/connector'
import { googleAuthorization } from '../google/authorization.ts'
import { nextPageToken } from '../google/reporting-api.ts'
import { googleSignIn } from '../google/sign-in.ts'
import { idSetting } from '../kit/api.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import type { ReportRequest } from '../kit/report-facts.ts'
import { rowsOrNone } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import {
  clientAccounts,
  customerDigits,
  googleAdsApi,
  googleAdsAuth,
  googleAdsQuery,
  googleAdsScope,
  googleAdsVersion,
} from './google-ads-api.ts'
import { googleAds } from './platform.ts'

/** The resources of the query language that levels are read from. */
const resources: Readonly<Record<string, string>> = {
  campaign: 'campaign',
  account: 'customer',
  ad_group: 'ad_group',
  ad: 'ad_group_ad',
  keyword: 'keyword_view',
  search_term: 'search_term_view',
}

/** A field in an answer: `metrics.cost_micros` is `metrics.costMicros` there. */
const placeOf = (field: string): string => field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const of = (field: string): { ask: string; at: string } => ({ ask: field, at: placeOf(field) })
const attribute = (field: string, description: string): ReportColumn => dimension(description, of(field))
const segment = (name: string, description: string): ReportColumn => attribute(`segments.${name}`, description)
const figure = (type: ReportColumn['type'], name: string, description: string): ReportColumn =>
  metric(type, description, of(`metrics.${name}`))

const textOf = ({ level, from, to, asks }: ReportRequest): string => {
  const fields = [...asks.always, ...asks.level, ...asks.breakdowns, ...asks.metrics]
  return `SELECT ${fields.join(', ')} FROM ${resources[level] ?? 'campaign'} WHERE segments.date BETWEEN '${from}' AND '${to}'`
}

const usual = ['impressions', 'clicks', 'cost', 'conversions', 'conversions_value', 'ctr', 'average_cpc']
/** Figures that Google leaves out of its JSON if they are zero; of averages and shares, absence means that there is none. */
const zeros = new Set(['impressions', 'clicks', 'costMicros', 'conversions', 'conversionsValue', 'interactions'])

/** Puts zeros into a row for counted figures that were asked for and left out. */
function withZeros(row: JsonObject, { asks }: ReportRequest): JsonObject {
  const figures = objectIn(row.metrics)
  const missing = asks.metrics
    .map((field) => placeOf(field.replace('metrics.', '')))
    .filter((name) => zeros.has(name) && figures[name] === undefined)
  return missing.length === 0
    ? row
    : { ...row, metrics: { ...figures, ...Object.fromEntries(missing.map((name) => [name, 0])) } }
}

/** Performance figures of Google Ads. */
export const googleAdsReporting = reportSource({
  slug: 'google-ads-reporting',
  name: 'Google Ads Reporting',
  platform: googleAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the performance of the ads of an account through the Google Ads API.',
  actions: ['get'],
  notes:
    'Reads by queries of the Google Ads Query Language, 14 days at a time, in the time zone of each account. Costs are converted from micros to units of the currency; rates are fractions. Without impressions, an object has no row. A breakdown splits every row, and Google does not allow all combinations. Conversions are restated for as long as their conversion window: 30 days by default, up to 90. A manager account has no figures: enter its client accounts, and its own ID under “Manager account ID”. Other segments and metrics of the API are entered by their names, such as segments.hour or metrics.phone_calls. The Google Cloud project of the OAuth client needs access to the Google Ads API; basic access allows 15,000 requests a day.',
  tested: 'Recorded answers that follow Google’s published protocol buffers of the Google Ads API; not Google itself.',
  api: googleAdsVersion,
  authorization: googleAuthorization(googleAdsScope),
  platformApi: googleAdsApi,
  auth: googleAdsAuth,
  secrets: {
    ...googleSignIn('a user of the Google Ads account'),
    developerToken: secret({
      label: 'Developer token',
      description: 'Google has ignored developer tokens since 9 September 2026: leave it empty',
    }),
  },
  settings: {
    managerAccountId: idSetting({
      label: 'Manager account ID',
      description: 'ID of the manager account through which the user has access to the accounts, if there is one',
      pattern: /^\d[\d\s-]*$/,
      example: '123-456-7890',
    }),
  },
  accounts: {
    label: 'Customer IDs',
    id: /^\d{3}-?\d{3}-?\d{4}$/,
    example: '123-456-7890',
    normal: customerDigits,
    get: (account) =>
      googleAdsQuery(
        account,
        'SELECT customer.descriptive_name, customer.currency_code, customer.time_zone FROM customer LIMIT 1',
      ),
    about({ json }) {
      const { descriptiveName, currencyCode, timeZone } = objectIn(objectIn(listIn(objectIn(json).results)[0]).customer)
      const zone = textIn(timeZone)
      if (zone !== undefined) return { name: textIn(descriptiveName), currency: textIn(currencyCode), zone }
      throw new ConnectorError('malformed_response', 'Google Ads answered without the time zone of the account.')
    },
  },
  listed: { accountIds: clientAccounts },
  always: ['date', 'customer_id', 'customer_name', 'currency'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['campaign_name', 'campaign_status', 'campaign_type'] },
    account: { key: [] },
    ad_group: { key: ['ad_group_id'], columns: ['ad_group_name', 'campaign_id', 'campaign_name'] },
    ad: {
      key: ['ad_group_id', 'ad_id'],
      columns: ['ad_name', 'ad_type', 'ad_group_name', 'campaign_id', 'campaign_name'],
    },
    keyword: {
      key: ['ad_group_id', 'criterion_id'],
      columns: ['keyword_text', 'keyword_match_type', 'ad_group_name', 'campaign_id', 'campaign_name'],
    },
    search_term: { key: ['ad_group_id', 'search_term'], columns: ['ad_group_name', 'campaign_id', 'campaign_name'] },
  },
  breakdowns: ['device', 'ad_network_type', 'conversion_action', 'conversion_action_name', 'click_type'],
  free: {
    breakdowns: {
      label: 'Other segments',
      pattern: /^segments\.[a-z][a-z_]{1,60}$/,
      example: 'segments.hour',
      at: placeOf,
    },
    metrics: {
      label: 'Other metrics',
      pattern: /^metrics\.[a-z][a-z0-9_]{1,80}$/,
      example: 'metrics.phone_calls',
      at: placeOf,
    },
  },
  presets: {
    Campaigns: { metrics: usual },
    Ads: { level: 'ad', metrics: usual },
    Keywords: { level: 'keyword', metrics: usual },
    'Search terms': { level: 'search_term', metrics: ['impressions', 'clicks', 'cost', 'conversions'] },
    'Conversions by action': {
      breakdowns: ['conversion_action', 'conversion_action_name'],
      metrics: ['conversions', 'conversions_value', 'all_conversions'],
    },
  },
  columns: {
    date: day('Day, in the time zone of the account', of('segments.date')),
    customer_id: ofAccount('account', 'ID of the account'),
    customer_name: ofAccount('name', 'Name of the account'),
    currency: ofAccount('currency', 'Currency of the account, in which money is'),
    campaign_id: attribute('campaign.id', 'ID of the campaign'),
    campaign_name: attribute('campaign.name', 'Name of the campaign'),
    campaign_status: attribute('campaign.status', 'Status of the campaign: ENABLED, PAUSED, REMOVED'),
    campaign_type: attribute(
      'campaign.advertising_channel_type',
      'Kind of campaign, such as SEARCH or PERFORMANCE_MAX',
    ),
    ad_group_id: attribute('ad_group.id', 'ID of the ad group'),
    ad_group_name: attribute('ad_group.name', 'Name of the ad group'),
    ad_id: attribute('ad_group_ad.ad.id', 'ID of the ad'),
    ad_name: attribute('ad_group_ad.ad.name', 'Name of the ad, if it has one'),
    ad_type: attribute('ad_group_ad.ad.type', 'Kind of ad'),
    criterion_id: attribute('ad_group_criterion.criterion_id', 'ID of the keyword within its ad group'),
    keyword_text: attribute('ad_group_criterion.keyword.text', 'Keyword'),
    keyword_match_type: attribute('ad_group_criterion.keyword.match_type', 'How the keyword is matched'),
    search_term: attribute('search_term_view.search_term', 'Search term that people entered'),
    device: segment('device', 'Kind of device'),
    ad_network_type: segment('ad_network_type', 'Network on which the ad was shown'),
    conversion_action: segment('conversion_action', 'Resource name of the conversion action'),
    conversion_action_name: segment('conversion_action_name', 'Name of the conversion action'),
    click_type: segment('click_type', 'Part of the ad that was clicked'),
    impressions: figure('whole', 'impressions', 'How often ads were shown'),
    clicks: figure('whole', 'clicks', 'Number of clicks'),
    cost: figure('micros', 'cost_micros', 'Money spent, in the currency of the account'),
    conversions: figure('decimal', 'conversions', 'Number of conversions of primary actions'),
    conversions_value: figure('decimal', 'conversions_value', 'Value of these conversions'),
    all_conversions: figure('decimal', 'all_conversions', 'Number of all conversions'),
    all_conversions_value: figure('decimal', 'all_conversions_value', 'Value of all conversions'),
    view_through_conversions: figure('whole', 'view_through_conversions', 'Conversions after a view without a click'),
    interactions: figure('whole', 'interactions', 'Clicks, views and other interactions, by kind of ad'),
    ctr: figure('decimal', 'ctr', 'Share of impressions that were clicked, as a fraction'),
    average_cpc: figure('micros', 'average_cpc', 'Average cost of a click'),
    average_cpm: figure('micros', 'average_cpm', 'Average cost of a thousand impressions'),
    cost_per_conversion: figure('micros', 'cost_per_conversion', 'Average cost of a conversion'),
    search_impression_share: figure(
      'decimal',
      'search_impression_share',
      'Share of possible impressions on the search network',
    ),
    video_views: figure('whole', 'video_trueview_views', 'Views of video ads'),
  },
  days: { backMax: 1_095, lookBack: 30, chunk: 14 },
  readers: 3,
  report: {
    form: 'pages',
    page: (to, pageToken) => googleAdsQuery(to.account, textOf(to), pageToken),
    rows: ({ json }, to) => {
      // An answer without rows has the mask of the fields that were asked for.
      const isReport = isObject(json) && (json.results !== undefined || json.fieldMask !== undefined)
      return isReport ? rowsOrNone(json, 'results')?.map((row) => withZeros(row, to)) : undefined
    },
    next: nextPageToken,
  },
  check: { authentication: () => ({ path: '/customers:listAccessibleCustomers' }) },
})
