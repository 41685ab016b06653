import { ConnectorError, secret, text } from '@penstock/connector'
import { googleAuthorization } from '../google/authorization.ts'
import { nextPageToken } from '../google/reporting-api.ts'
import { googleSignIn } from '../google/sign-in.ts'
import { idSetting } from '../kit/api.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import type { PagesReport, ReportDays, ReportRequest } from '../kit/report-facts.ts'
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
  selectableFields,
} from './google-ads-api.ts'
import { ownQuery, placeOf } from './own-query.ts'
import { googleAds } from './platform.ts'

/** The resources of the query language that levels are read from. */
const resources: Readonly<Record<string, string>> = {
  campaign: 'campaign',
  account: 'customer',
  ad_group: 'ad_group',
  ad: 'ad_group_ad',
  keyword: 'keyword_view',
  search_term: 'search_term_view',
  asset_group: 'asset_group',
  product: 'shopping_performance_view',
  geographic: 'geographic_view',
  user_location: 'user_location_view',
  click: 'click_view',
}
const places = ['geographic', 'user_location']

const of = (field: string): { ask: string; at: string } => ({ ask: field, at: placeOf(field) })
const attribute = (field: string, description: string): ReportColumn => dimension(description, of(field))
const segment = (name: string, description: string, levels?: readonly string[]): ReportColumn =>
  dimension(description, { ...of(`segments.${name}`), ...(levels && { levels }) })
const figure = (type: ReportColumn['type'], name: string, description: string): ReportColumn =>
  metric(type, description, of(`metrics.${name}`))

const textOf = ({ level, from, to, asks }: ReportRequest): string => {
  const fields = [...asks.always, ...asks.level, ...asks.breakdowns, ...asks.metrics]
  return `SELECT ${fields.join(', ')} FROM ${resources[level] ?? 'campaign'} WHERE segments.date BETWEEN '${from}' AND '${to}'`
}

const usual = ['impressions', 'clicks', 'cost', 'conversions', 'conversions_value', 'ctr', 'average_cpc']
/** Figures that Google omits from its JSON if they are zero. For averages and shares, absence means that there is no value. */
const zeros = new Set(['impressions', 'clicks', 'costMicros', 'conversions', 'conversionsValue', 'interactions'])

/** Puts zeros into a row for counted figures that were requested and omitted. */
function withZeros(row: JsonObject, { asks }: ReportRequest): JsonObject {
  const figures = objectIn(row.metrics)
  const missing = asks.metrics
    .map((field) => placeOf(field.replace('metrics.', '')))
    .filter((name) => zeros.has(name) && figures[name] === undefined)
  return missing.length === 0
    ? row
    : { ...row, metrics: { ...figures, ...Object.fromEntries(missing.map((name) => [name, 0])) } }
}

const days = { backMax: 1_095, lookBack: 30, chunk: 14 } satisfies ReportDays
/** Google has each click for 90 days, and returns the clicks of one day. */
const clickDays = { backMax: 90, chunk: 1 }

/** @param textOf the query of some days, if it differs from the query of the level */
const report = (textOfDays?: (from: string, to: string) => string): PagesReport => ({
  form: 'pages',
  page: (to, pageToken) => googleAdsQuery(to.account, textOfDays?.(to.from, to.to) ?? textOf(to), pageToken),
  rows: ({ json }, to) => {
    // An answer without rows contains the mask of the requested fields.
    const isReport = isObject(json) && (json.results !== undefined || json.fieldMask !== undefined)
    return isReport ? rowsOrNone(json, 'results')?.map((row) => withZeros(row, to)) : undefined
  },
  next: nextPageToken,
})

const columns: Readonly<Record<string, ReportColumn>> = {
  date: day('Day, in the time zone of the account', of('segments.date')),
  customer_id: ofAccount('account', 'ID of the account'),
  customer_name: ofAccount('name', 'Name of the account'),
  currency: ofAccount('currency', 'Currency of the account, in which money is'),
  campaign_id: attribute('campaign.id', 'ID of the campaign'),
  campaign_name: attribute('campaign.name', 'Name of the campaign'),
  campaign_status: attribute('campaign.status', 'Status of the campaign: ENABLED, PAUSED, REMOVED'),
  campaign_type: attribute('campaign.advertising_channel_type', 'Kind of campaign, such as SEARCH or PERFORMANCE_MAX'),
  ad_group_id: attribute('ad_group.id', 'ID of the ad group'),
  ad_group_name: attribute('ad_group.name', 'Name of the ad group'),
  ad_id: attribute('ad_group_ad.ad.id', 'ID of the ad'),
  ad_name: attribute('ad_group_ad.ad.name', 'Name of the ad, if it has one'),
  ad_type: attribute('ad_group_ad.ad.type', 'Kind of ad'),
  criterion_id: attribute('ad_group_criterion.criterion_id', 'ID of the keyword within its ad group'),
  keyword_text: attribute('ad_group_criterion.keyword.text', 'Keyword'),
  keyword_match_type: attribute('ad_group_criterion.keyword.match_type', 'How the keyword is matched'),
  search_term: attribute('search_term_view.search_term', 'Search term that people entered'),
  asset_group_id: attribute('asset_group.id', 'ID of the asset group'),
  asset_group_name: attribute('asset_group.name', 'Name of the asset group'),
  asset_group_status: attribute('asset_group.status', 'Status of the asset group: ENABLED, PAUSED, REMOVED'),
  product_item_id: segment('product_item_id', 'ID of the product in the feed', ['product']),
  product_title: segment('product_title', 'Title of the product', ['product']),
  product_brand: segment('product_brand', 'Brand of the product', ['product']),
  product_type_l1: segment('product_type_l1', 'Type of the product, first level', ['product']),
  product_merchant_id: segment('product_merchant_id', 'ID of the Merchant Center account', ['product']),
  country_id: attribute('geographic_view.country_criterion_id', 'ID of the country, such as 2276 for Germany'),
  location_type: attribute(
    'geographic_view.location_type',
    'Whether people were in the country or interested in it: LOCATION_OF_PRESENCE, AREA_OF_INTEREST',
  ),
  user_country_id: attribute('user_location_view.country_criterion_id', 'ID of the country where people were'),
  targeting_location: dimension('Whether the location is targeted', {
    ...of('user_location_view.targeting_location'),
    type: 'boolean',
  }),
  geo_target_region: segment('geo_target_region', 'Resource name of the region', places),
  geo_target_city: segment('geo_target_city', 'Resource name of the city', places),
  gclid: attribute('click_view.gclid', 'Google click ID'),
  click_ad: attribute('click_view.ad_group_ad', 'Resource name of the ad'),
  click_keyword: attribute('click_view.keyword_info.text', 'Keyword that led to the click'),
  click_country: attribute('click_view.location_of_presence.country', 'Resource name of the country of the person'),
  click_city: attribute('click_view.location_of_presence.city', 'Resource name of the city of the person'),
  click_page_number: attribute('click_view.page_number', 'Page of the search results with the ad'),
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
}

const always = ['date', 'customer_id', 'customer_name', 'currency']

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
    'Reads by queries of the Google Ads Query Language, 14 days at a time, in the time zone of each account. Costs are converted from micros to units of the currency; rates are fractions. Without impressions, an object has no row. A breakdown splits every row, and Google does not allow all combinations. Conversions are restated for as long as their conversion window: 30 days by default, up to 90. A manager account has no figures: enter its client accounts, and its own ID under “Manager account ID”. Other segments and metrics of the API are entered by their names, such as segments.hour or metrics.phone_calls. A query of your own can read any resource: its columns are named like the fields of its SELECT list, with amounts in micros, and its rows differ by all fields that are not metrics. With segments.date, days are read and restated as in other reports. Without it, each transfer reads everything that the query returns. Google keeps each click for 90 days, which are read day by day. The Google Cloud project of the OAuth client needs access to the Google Ads API; basic access allows 15,000 requests a day.',
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
    gaqlQuery: text({
      label: 'GAQL query',
      description: 'Your own SELECT statement, instead of the settings above. Days are added for segments.date',
    }),
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
  listed: {
    accountIds: clientAccounts,
    otherBreakdowns: selectableFields('SEGMENT'),
    otherMetrics: selectableFields('METRIC'),
  },
  always,
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
    asset_group: {
      key: ['asset_group_id'],
      columns: ['asset_group_name', 'asset_group_status', 'campaign_id', 'campaign_name'],
    },
    product: { key: ['campaign_id', 'product_item_id'], columns: ['campaign_name'] },
    geographic: { key: ['campaign_id', 'country_id', 'location_type'], columns: ['campaign_name'] },
    user_location: { key: ['campaign_id', 'user_country_id', 'targeting_location'], columns: ['campaign_name'] },
    click: {
      key: ['gclid'],
      columns: [
        ...['click_ad', 'click_keyword', 'click_country', 'click_city', 'click_page_number'],
        ...['ad_group_id', 'ad_group_name', 'campaign_id', 'campaign_name'],
      ],
      days: clickDays,
    },
  },
  breakdowns: [
    ...['device', 'ad_network_type', 'conversion_action', 'conversion_action_name', 'click_type'],
    ...['geo_target_region', 'geo_target_city'],
    ...['product_title', 'product_brand', 'product_type_l1', 'product_merchant_id'],
  ],
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
    'Asset groups': { level: 'asset_group', metrics: usual },
    Products: { level: 'product', breakdowns: ['product_title'], metrics: usual },
    Locations: { level: 'geographic', metrics: usual },
    'User locations': { level: 'user_location', metrics: usual },
    Clicks: { level: 'click', metrics: ['clicks'] },
  },
  columns,
  days,
  readers: 3,
  changed: (settings) => ownQuery(settings, { always, columns, days }, clickDays, report),
  refuses: ({ level, metrics }) =>
    level === 'click' && metrics.some((name) => name !== 'clicks')
      ? 'The level click has only the metric clicks. Choose the report Clicks, or only this metric.'
      : undefined,
  report: report(),
  check: { authentication: () => ({ path: '/customers:listAccessibleCustomers' }) },
})
