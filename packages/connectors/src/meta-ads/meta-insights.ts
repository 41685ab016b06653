import { secret } from '@penstock/connector'
import { reportSource } from '../kit/report-source.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { lacking, metaApi, metaAuth, permissions } from './api.ts'
import { app } from './app.ts'
import { adAccounts, nextCursor } from './listings.ts'
import { metaAds } from './platform.ts'

const inAccount = (account: string) => `/act_${account.replace(/^act_/, '')}`
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
    'A report of one day of one ad account is made at a time, by a job at Meta; after a crash, reading resumes in the job that runs already. Days are in the time zone of each ad account. Meta restates figures for 28 days: each incremental transfer reads the days of the look-back window again, so use an upsert by date_start, account_id, the ID of the level and every breakdown. A row that Meta no longer reports stays at the destination. Meta has reports of 37 months, and reach with breakdowns of 13. Lists of figures by kind, such as actions, are JSON. An ad account that is refused is a rejected row with the reason, and the others are read. The token needs ads_read or ads_management.',
  tested: 'Our own test server, which follows the published documentation of Meta’s Insights API; not Meta itself.',
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
    get: (account) => ({
      path: inAccount(account),
      query: { fields: 'account_id,name,currency,timezone_name' },
    }),
    zoneOf: ({ json }) => textIn(objectIn(json).timezone_name),
  },
  listed: { accountIds: adAccounts },
  always: ['date_start', 'date_stop', 'account_id', 'account_name', 'account_currency'],
  levels: {
    campaign: ['campaign_id', 'campaign_name', 'objective'],
    account: [],
    adset: ['campaign_id', 'campaign_name', 'objective', 'adset_id', 'adset_name'],
    ad: ['campaign_id', 'campaign_name', 'objective', 'adset_id', 'adset_name', 'ad_id', 'ad_name'],
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
  usualMetrics: ['impressions', 'reach', 'clicks', 'inline_link_clicks', 'spend', 'actions', 'action_values'],
  days: { backMax: 1_123, lookBack: 28 },
  columns: {
    date_start: { kind: 'dimension', type: 'day', description: 'First day that the row covers' },
    date_stop: { kind: 'dimension', type: 'day', description: 'Last day that the row covers' },
    account_id: { kind: 'dimension', type: 'text', description: 'ID of the ad account' },
    account_name: { kind: 'dimension', type: 'text', description: 'Name of the ad account' },
    account_currency: { kind: 'dimension', type: 'text', description: 'Currency of the ad account, in which money is' },
    ad_id: { kind: 'dimension', type: 'text', description: 'ID of the ad' },
    ad_name: { kind: 'dimension', type: 'text', description: 'Name of the ad' },
    adset_id: { kind: 'dimension', type: 'text', description: 'ID of the ad set' },
    adset_name: { kind: 'dimension', type: 'text', description: 'Name of the ad set' },
    buying_type: { kind: 'dimension', type: 'text', description: 'How the ads were bought, such as by auction' },
    campaign_id: { kind: 'dimension', type: 'text', description: 'ID of the campaign' },
    campaign_name: { kind: 'dimension', type: 'text', description: 'Name of the campaign' },
    conversion_values: { kind: 'dimension', type: 'json', description: 'Values of the conversions, by kind' },
    device_platform: { kind: 'dimension', type: 'text', description: 'Kind of device on which the ad was seen' },
    media_asset: { kind: 'dimension', type: 'json', description: 'Image or video that was shown' },
    objective: { kind: 'dimension', type: 'text', description: 'Goal set for the campaign' },
    publisher_platform: { kind: 'dimension', type: 'text', description: 'Meta platform that showed the ad' },
    user_segment_key: { kind: 'dimension', type: 'text', description: 'Segment of users to which the row belongs' },
    actions: { kind: 'metric', type: 'json', description: 'What people did because of the ad, counted by kind' },
    clicks: { kind: 'metric', type: 'whole', description: 'Number of clicks' },
    conversions: { kind: 'metric', type: 'json', description: 'Number of conversions, by kind' },
    impressions: { kind: 'metric', type: 'whole', description: 'How often the ad was on screen' },
    inline_link_clicks: { kind: 'metric', type: 'whole', description: 'Clicks on links inside the ad' },
    reach: { kind: 'metric', type: 'whole', description: 'Number of people who saw the ad at least once' },
    spend: { kind: 'metric', type: 'decimal', description: 'Money spent, in the currency of the ad account' },
    video_continuous_2_sec_watched_actions: {
      kind: 'metric',
      type: 'json',
      description: 'Video plays that ran for two seconds without a break',
    },
    video_p100_watched_actions: { kind: 'metric', type: 'json', description: 'Video plays that reached the end' },
    video_p25_watched_actions: { kind: 'metric', type: 'json', description: 'Video plays that reached one quarter' },
    video_p50_watched_actions: { kind: 'metric', type: 'json', description: 'Video plays that reached one half' },
    video_p75_watched_actions: { kind: 'metric', type: 'json', description: 'Video plays that reached three quarters' },
    frequency: { kind: 'metric', type: 'decimal', description: 'How often a person saw the ad on average' },
    unique_clicks: { kind: 'metric', type: 'whole', description: 'Number of people who clicked' },
    cpc: { kind: 'metric', type: 'decimal', description: 'Average cost of a click' },
    cpm: { kind: 'metric', type: 'decimal', description: 'Average cost of 1,000 impressions' },
    ctr: { kind: 'metric', type: 'decimal', description: 'Clicks for 100 impressions' },
    action_values: {
      kind: 'metric',
      type: 'json',
      description: 'Values of what people did because of the ad, by kind',
    },
    age: { kind: 'dimension', type: 'text', description: 'Age group of the people' },
    gender: { kind: 'dimension', type: 'text', description: 'Gender of the people' },
    country: { kind: 'dimension', type: 'text', description: 'Country of the people' },
    region: { kind: 'dimension', type: 'text', description: 'Region of the people' },
    impression_device: { kind: 'dimension', type: 'text', description: 'Device on which the ad was shown' },
    platform_position: {
      kind: 'dimension',
      type: 'text',
      description: 'Place on the platform at which the ad was shown',
    },
  },
  job: {
    start: ({ account, day, level, columns, breakdowns }) => ({
      path: `${inAccount(account)}/insights`,
      body: {
        level,
        fields: columns.filter((name) => !breakdowns.includes(name)).join(','),
        ...(breakdowns.length > 0 && { breakdowns: breakdowns.join(',') }),
        time_range: { since: day, until: day },
        time_increment: 1,
      },
    }),
    started: ({ json }) => textIn(objectIn(json).report_run_id),
    state: (job) => ({ path: `/${job}`, query: { fields: 'async_status' } }),
    stateOf: ({ json }) => states[textIn(objectIn(json).async_status) ?? ''] ?? 'running',
    page: (job, after) => ({ path: `/${job}/insights`, query: { limit: '500', after } }),
    rows: ({ json }) => listIn(objectIn(json).data).map(objectIn),
    next: nextCursor,
    totalMs: 30 * 60_000,
  },
  check: {
    authentication: () => ({ path: '/me', query: { fields: 'id' } }),
    permissions: () => permissions,
    lacks: lacking('ads_read', 'ads_management'),
  },
})
