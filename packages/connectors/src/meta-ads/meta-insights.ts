import { secret } from '@penstock/connector'
import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { lacking, metaApi, metaAuth, permissions } from './api.ts'
import { app } from './app.ts'
import { adAccounts, nextCursor } from './listings.ts'
import { metaAds } from './platform.ts'

const inAccount = (account: string) => `/act_${account}`
const usual = ['impressions', 'reach', 'clicks', 'inline_link_clicks', 'spend', 'actions', 'action_values']
/** The states of a report. Any other says that it is being made. */
const states: Readonly<Record<string, 'done' | 'failed' | 'gone'>> = {
  'Job Completed': 'done',
  'Job Failed': 'failed',
  // It expired, or was dropped.
  'Job Skipped': 'gone',
}

/** Delivery and result figures of Meta's ads. */
export const metaInsights = reportSource({
  slug: 'meta-insights',
  name: 'Meta Insights',
  platform: metaAds,
  dataType: 'Insights',
  dataTypeCategory: 'reporting',
  description: 'Reads the delivery and the results of campaigns on Meta.',
  actions: ['get'],
  notes:
    'A report of one day of one ad account is made at a time, by a job at Meta; after a crash, reading resumes in the job that runs already. Days are in the time zone of each ad account. Meta has reports of 37 months, and reach with breakdowns of 13. Lists of figures by kind, such as actions, are JSON. The token needs ads_read or ads_management.',
  tested:
    'Our own test server, which follows the published documentation of Meta’s Insights API; not Meta itself. No one else has checked the server, because the licence of Meta’s own client allows its use with Meta’s services only.',
  api: { version: 'Graph API v26.0', ends: 'about a year after its release; Meta announces the date' },
  platformApi: metaApi,
  auth: metaAuth('accessToken'),
  secrets: {
    ...app,
    accessToken: secret({
      label: 'Long-lived access token',
      description: 'Token that Meta issued when access was granted',
      required: true,
    }),
  },
  accounts: {
    label: 'Ad account IDs',
    id: /^(act_)?\d{1,20}$/,
    example: '1234567890',
    normal: (id) => id.replace(/^act_/, ''),
    get: (account) => ({
      path: inAccount(account),
      query: { fields: 'account_id,name,currency,timezone_name' },
    }),
    about({ json }) {
      const { name, currency, timezone_name: zone } = objectIn(json)
      return { name: textIn(name), currency: textIn(currency), zone: textIn(zone) }
    },
  },
  listed: { accountIds: adAccounts },
  always: ['date_start', 'date_stop', 'account_id', 'account_name', 'account_currency'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['campaign_name', 'objective'] },
    account: { key: [] },
    adset: { key: ['adset_id'], columns: ['campaign_id', 'campaign_name', 'objective', 'adset_name'] },
    ad: {
      key: ['ad_id'],
      columns: ['campaign_id', 'campaign_name', 'objective', 'adset_id', 'adset_name', 'ad_name'],
    },
  },
  breakdowns: [
    'age',
    'gender',
    'country',
    'region',
    'publisher_platform',
    'platform_position',
    'device_platform',
    'impression_device',
    'media_asset',
    'user_segment_key',
  ],
  presets: {
    Campaigns: { metrics: usual },
    Ads: { level: 'ad', metrics: usual },
    'Age and gender': { breakdowns: ['age', 'gender'], metrics: usual },
    'Video views': {
      level: 'ad',
      metrics: [
        'impressions',
        'spend',
        'video_p25_watched_actions',
        'video_p50_watched_actions',
        'video_p75_watched_actions',
        'video_p100_watched_actions',
      ],
    },
  },
  days: { backMax: 1_123, lookBack: 28, chunk: 1 },
  readers: 3,
  columns: {
    date_start: day('First day that the row covers'),
    date_stop: dimension('Last day that the row covers', { type: 'day' }),
    account_id: ofAccount('account', 'ID of the ad account', { ask: 'account_id' }),
    account_name: ofAccount('name', 'Name of the ad account', { ask: 'account_name' }),
    account_currency: ofAccount('currency', 'Currency of the ad account, in which money is', {
      ask: 'account_currency',
    }),
    ad_id: dimension('ID of the ad'),
    ad_name: dimension('Name of the ad'),
    adset_id: dimension('ID of the ad set'),
    adset_name: dimension('Name of the ad set'),
    buying_type: dimension('How the ads were bought, such as by auction'),
    campaign_id: dimension('ID of the campaign'),
    campaign_name: dimension('Name of the campaign'),
    conversion_values: dimension('Values of the conversions, by kind', { type: 'json' }),
    device_platform: dimension('Kind of device on which the ad was seen'),
    media_asset: dimension('Image or video that was shown', { type: 'json' }),
    objective: dimension('Goal set for the campaign'),
    publisher_platform: dimension('Meta platform that showed the ad'),
    user_segment_key: dimension('Segment of users to which the row belongs'),
    actions: metric('json', 'What people did because of the ad, counted by kind'),
    clicks: metric('whole', 'Number of clicks'),
    conversions: metric('json', 'Number of conversions, by kind'),
    impressions: metric('whole', 'How often the ad was on screen'),
    inline_link_clicks: metric('whole', 'Clicks on links inside the ad'),
    reach: metric('whole', 'Number of people who saw the ad at least once'),
    spend: metric('money', 'Money spent, in the currency of the ad account'),
    video_continuous_2_sec_watched_actions: metric('json', 'Video plays that ran for two seconds without a break'),
    video_p100_watched_actions: metric('json', 'Video plays that reached the end'),
    video_p25_watched_actions: metric('json', 'Video plays that reached one quarter'),
    video_p50_watched_actions: metric('json', 'Video plays that reached one half'),
    video_p75_watched_actions: metric('json', 'Video plays that reached three quarters'),
    frequency: metric('decimal', 'How often a person saw the ad on average'),
    unique_clicks: metric('whole', 'Number of people who clicked'),
    cpc: metric('money', 'Average cost of a click'),
    cpm: metric('money', 'Average cost of 1,000 impressions'),
    ctr: metric('decimal', 'Clicks for 100 impressions'),
    action_values: metric('json', 'Values of what people did because of the ad, by kind'),
    age: dimension('Age group of the people'),
    gender: dimension('Gender of the people'),
    country: dimension('Country of the people'),
    region: dimension('Region of the people'),
    impression_device: dimension('Device on which the ad was shown'),
    platform_position: dimension('Place on the platform at which the ad was shown'),
  },
  report: {
    form: 'job',
    start: ({ account, from, to, level, asks: { always, level: ofLevel, breakdowns, metrics } }) => ({
      path: `${inAccount(account)}/insights`,
      body: {
        level,
        fields: [...always, ...ofLevel, ...metrics].filter((name) => !breakdowns.includes(name)).join(','),
        ...(breakdowns.length > 0 && { breakdowns: breakdowns.join(',') }),
        time_range: { since: from, until: to },
        time_increment: 1,
      },
    }),
    started: ({ json }) => textIn(objectIn(json).report_run_id),
    state: (job) => ({ path: `/${job}`, query: { fields: 'async_status' } }),
    stateOf: ({ json }) => states[textIn(objectIn(json).async_status) ?? ''] ?? 'running',
    pageRows: 500,
    page: (job, after, { pageRows }) => ({ path: `/${job}/insights`, query: { limit: String(pageRows), after } }),
    rows: ({ json }) => rowsIn(objectIn(json).data),
    next: nextCursor,
    totalMs: 30 * 60_000,
  },
  check: {
    authentication: () => ({ path: '/me', query: { fields: 'id' } }),
    permissions: () => permissions,
    lacks: lacking('ads_read', 'ads_management'),
  },
})
