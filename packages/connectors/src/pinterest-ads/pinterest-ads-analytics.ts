import { select } from '@penstock/connector'
import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import type { ReportState } from '../kit/report-facts.ts'
import { granularity, isMonthly, monthsOf } from '../kit/report-months.ts'
import { reportSource } from '../kit/report-source.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { readAuthorization } from './authorization.ts'
import { pinterestAds } from './platform.ts'
import { pinterestAccounts, pinterestListed, pinterestReads } from './reads.ts'
import { signIn } from './sign-in.ts'

/** The levels, by the names of Pinterest, and its columns of each. */
const levels: Readonly<Record<string, string>> = {
  campaign: 'CAMPAIGN',
  account: 'ADVERTISER',
  ad_group: 'AD_GROUP',
  ad: 'PIN_PROMOTION',
  keyword: 'KEYWORD',
  product_group: 'PRODUCT_GROUP',
}
const states: Readonly<Record<string, ReportState>> = {
  FINISHED: 'done',
  FAILED: 'failed',
  CANCELLED: 'failed',
  EXPIRED: 'gone',
  DOES_NOT_EXIST: 'gone',
}
const windows = ['0', '1', '7', '14', '30', '60']
const usual = ['spend', 'impressions', 'clickthroughs', 'outbound_clicks', 'ctr', 'total_conversions']
const days = { backMax: 913, lookBack: 30, chunk: 30 }
const windowIn = (value: unknown, usually: number): number => Number(textIn(value) ?? usually)

/** Result figures of Pinterest's campaigns. */
export const pinterestAdsAnalytics = reportSource({
  slug: 'pinterest-ads-analytics',
  name: 'Pinterest Ads Analytics',
  platform: pinterestAds,
  dataType: 'ads analytics',
  dataTypeCategory: 'reporting',
  description: 'Reads how your campaigns on Pinterest performed.',
  actions: ['get'],
  notes:
    'Pinterest makes a report of up to 30 days of an ad account in the background; after a crash, reading continues with the report that is being made already. Reports go back 914 days. Money is converted from micros to units of the currency of the ad account. Pinterest restates conversions for 30 days. The attribution windows change the figures of days that were read already: use another destination for other windows. Other columns of Pinterest are entered by their names, such as TOTAL_SIGNUP.',
  tested: 'Recorded answers that follow the OpenAPI document that Pinterest publishes; not Pinterest itself.',
  api: { version: 'v5 (5.23.0)', ends: 'No end is known.' },
  platformApi: pinterestReads,
  auth: { open: async (context) => (await import('./tokens.ts')).openPinterestTokens(context) },
  authorization: readAuthorization,
  secrets: signIn,
  settings: {
    granularity,
    clickWindow: select({
      label: 'Click attribution window',
      description: 'How many days after a click a conversion counts',
      options: windows,
      default: '30',
    }),
    engagementWindow: select({
      label: 'Engagement attribution window',
      description: 'How many days after an engagement a conversion counts',
      options: windows,
      default: '30',
    }),
    viewWindow: select({
      label: 'View attribution window',
      description: 'How many days after a view a conversion counts',
      options: windows,
      default: '1',
    }),
    conversionTime: select({
      label: 'Day of a conversion',
      description: 'Whether a conversion counts on the day of the ad or on its own day',
      options: ['TIME_OF_AD_ACTION', 'TIME_OF_CONVERSION'],
      labels: { TIME_OF_AD_ACTION: 'Day of the ad', TIME_OF_CONVERSION: 'Day of the conversion' },
      default: 'TIME_OF_AD_ACTION',
    }),
  },
  accounts: pinterestAccounts,
  listed: pinterestListed,
  always: ['date', 'ad_account_id', 'ad_account_name', 'currency'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['campaign_name', 'campaign_status'] },
    account: { key: [] },
    ad_group: { key: ['ad_group_id'], columns: ['ad_group_name', 'campaign_id', 'campaign_name'] },
    ad: {
      key: ['pin_promotion_id'],
      columns: ['pin_promotion_name', 'pin_id', 'ad_group_id', 'campaign_id', 'campaign_name'],
    },
    keyword: { key: ['keyword_id'], columns: ['ad_group_id', 'campaign_id'] },
    product_group: { key: ['product_group_id'], columns: ['ad_group_id', 'campaign_id'] },
  },
  breakdowns: [],
  free: { metrics: { label: 'Other metrics', pattern: /^[A-Z][A-Z0-9_]{1,80}$/, example: 'TOTAL_SIGNUP' } },
  presets: { Campaigns: { metrics: usual }, Ads: { level: 'ad', metrics: usual } },
  columns: {
    date: day('Day, in the time zone of the ad account', { ask: null, at: 'DATE' }),
    ad_account_id: ofAccount('account', 'ID of the ad account'),
    ad_account_name: ofAccount('name', 'Name of the ad account'),
    currency: ofAccount('currency', 'Currency of the ad account, in which money is'),
    campaign_id: dimension('ID of the campaign', { ask: 'CAMPAIGN_ID' }),
    campaign_name: dimension('Name of the campaign', { ask: 'CAMPAIGN_NAME' }),
    campaign_status: dimension('Status of the campaign', { ask: 'CAMPAIGN_ENTITY_STATUS' }),
    ad_group_id: dimension('ID of the ad group', { ask: 'AD_GROUP_ID' }),
    ad_group_name: dimension('Name of the ad group', { ask: 'AD_GROUP_NAME' }),
    pin_promotion_id: dimension('ID of the ad', { ask: 'PIN_PROMOTION_ID' }),
    pin_promotion_name: dimension('Name of the ad', { ask: 'PIN_PROMOTION_NAME' }),
    pin_id: dimension('ID of the Pin', { ask: 'PIN_ID' }),
    keyword_id: dimension('ID of the keyword', { ask: 'KEYWORD_ID' }),
    product_group_id: dimension('ID of the product group', { ask: 'PRODUCT_GROUP_ID' }),
    spend: metric('micros', 'Money spent, in the currency of the ad account', { ask: 'SPEND_IN_MICRO_DOLLAR' }),
    impressions: metric('whole', 'How often the ad was shown, paid', { ask: 'IMPRESSION_1' }),
    clickthroughs: metric('whole', 'Clicks on the Pin, paid', { ask: 'CLICKTHROUGH_1' }),
    outbound_clicks: metric('whole', 'Clicks that led to the website, paid', { ask: 'OUTBOUND_CLICK_1' }),
    engagements: metric('whole', 'Saves and clicks, paid', { ask: 'ENGAGEMENT_1' }),
    repins: metric('whole', 'How often the Pin was saved, paid', { ask: 'REPIN_1' }),
    ctr: metric('decimal', 'Share of impressions that were clicked, as a fraction', { ask: 'CTR' }),
    cpc: metric('micros', 'Average cost of a click', { ask: 'CPC_IN_MICRO_DOLLAR' }),
    cpm: metric('micros', 'Average cost of a thousand impressions', { ask: 'CPM_IN_MICRO_DOLLAR' }),
    total_conversions: metric('whole', 'Number of conversions', { ask: 'TOTAL_CONVERSIONS' }),
    checkouts: metric('whole', 'Number of checkouts', { ask: 'TOTAL_CHECKOUT' }),
    checkout_value: metric('micros', 'Value of the checkouts', { ask: 'TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR' }),
    video_views: metric('whole', 'Views of the video by the definition of the MRC', { ask: 'VIDEO_MRC_VIEWS_1' }),
  },
  days,
  changed: (settings) => monthsOf(settings, days),
  readers: 2,
  report: {
    form: 'file',
    start: ({ account, from, to, level, asks, context: { settings } }) => ({
      method: 'POST',
      path: `/ad_accounts/${account}/reports`,
      body: {
        start_date: from,
        end_date: to,
        granularity: isMonthly(settings) ? 'MONTH' : 'DAY',
        level: levels[level] ?? 'CAMPAIGN',
        columns: [...asks.level, ...asks.metrics],
        click_window_days: windowIn(settings.clickWindow, 30),
        engagement_window_days: windowIn(settings.engagementWindow, 30),
        view_window_days: windowIn(settings.viewWindow, 1),
        conversion_report_time: textIn(settings.conversionTime) ?? 'TIME_OF_AD_ACTION',
        report_format: 'JSON',
      },
    }),
    started: ({ json }) => textIn(objectIn(json).token),
    state: (token, { account }) => ({ path: `/ad_accounts/${account}/reports`, query: { token } }),
    stateOf: ({ json }) => states[textIn(objectIn(json).report_status) ?? ''] ?? 'running',
    totalMs: 60 * 60_000,
    file({ json }) {
      const url = textIn(objectIn(json).url)
      return url === undefined ? undefined : { url }
    },
    // Lists of rows, by the IDs of what they are about.
    content: { format: 'json', at: '*' },
  },
  check: { authentication: () => ({ path: '/ad_accounts', query: { page_size: '1' } }) },
})
