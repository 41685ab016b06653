import { multiSelect, secret, select } from '@penstock/connector'
import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import type { ReportChoice } from '../kit/report-facts.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { lacking, metaApi, metaAuth, permissions } from './api.ts'
import { app } from './app.ts'
import { adAccounts, nextCursor } from './listings.ts'
import { metaAds } from './platform.ts'

const inAccount = (account: string) => `/act_${account}`
const usual = ['impressions', 'reach', 'clicks', 'inline_link_clicks', 'spend', 'actions', 'action_values']
/** Breakdowns that Meta combines with no other one. */
const alone = [
  ...['product_id', 'frequency_value', 'place_page_id'],
  ...['hourly_stats_aggregated_by_advertiser_time_zone', 'hourly_stats_aggregated_by_audience_time_zone'],
]
const isHourly = (name: string): boolean => name.startsWith('hourly_stats_')
/** Of the assets of an ad, Meta breaks figures down by one kind. */
const assets: Readonly<Record<string, string>> = {
  image_asset: 'Image that was shown',
  video_asset: 'Video that was shown',
  title_asset: 'Title that was shown',
  body_asset: 'Text that was shown',
  description_asset: 'Description that was shown',
  call_to_action_asset: 'Button that was shown',
  link_url_asset: 'Address that was shown',
}

/** Why Meta would refuse breakdowns and metrics, in a sentence. */
function refuses({ breakdowns, metrics }: ReportChoice): string | undefined {
  const single = breakdowns.find((name) => alone.includes(name))
  if (single !== undefined && breakdowns.length > 1) return `Meta combines ${single} with no other breakdown.`
  const ofAssets = breakdowns.filter((name) => Object.hasOwn(assets, name))
  if (ofAssets.length > 1) return `Meta does not combine ${ofAssets.join(' and ')}. Choose one of them.`
  const unique = metrics.find((name) => name === 'reach' || name === 'frequency' || name.startsWith('unique_'))
  if (unique !== undefined && breakdowns.some(isHourly)) return `Meta has no ${unique} by hour. Choose other metrics.`
}

/** The entries of a setting with several, if there are any. */
const listOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value.map(String) : undefined

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
    'A report of one day of one ad account is made at a time, by a job at Meta; after a crash, reading resumes in the job that runs already. Days are in the time zone of each ad account. Meta has reports of 37 months, and reach with breakdowns of 13. Lists of figures by kind, such as actions, are JSON, in which attribution windows and action breakdowns are further keys. Fields and breakdowns that are not listed can be entered by their names; Meta combines only some breakdowns, and product_id and hours with no other one. The token needs ads_read or ads_management.',
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
  settings: {
    attributionWindows: multiSelect({
      label: 'Attribution windows',
      description: 'Also count results within these times. Lists such as actions name each of them',
      options: ['1d_view', '1d_ev', '1d_click', '7d_click', '28d_click', 'dda', 'default'],
      labels: {
        '1d_view': '1 day after a view',
        '1d_ev': '1 day after an engaged view',
        '1d_click': '1 day after a click',
        '7d_click': '7 days after a click',
        '28d_click': '28 days after a click',
        dda: 'Data-driven',
        default: 'As set for the ad set',
      },
    }),
    actionBreakdowns: multiSelect({
      label: 'Action breakdowns',
      description: 'Split lists such as actions by these; by default by action_type',
      options: [
        ...['action_type', 'action_device', 'action_destination', 'action_target_id', 'action_reaction'],
        ...['action_carousel_card_id', 'action_carousel_card_name', 'action_canvas_component_name'],
        ...['action_video_sound', 'action_video_type'],
      ],
    }),
    actionReportTime: select({
      label: 'Day of results',
      description: 'Count results on the day of the impression or of the conversion',
      options: ['impression', 'conversion', 'mixed'],
      labels: { impression: 'Impression', conversion: 'Conversion', mixed: 'Impression or conversion, by kind' },
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
    ...alone,
    ...Object.keys(assets),
  ],
  free: {
    breakdowns: { label: 'Other breakdowns', pattern: /^[a-z][a-z0-9_]{1,80}$/, example: 'skan_campaign_id' },
    metrics: { label: 'Other metrics', pattern: /^[a-z][a-z0-9_]{1,80}$/, example: 'cost_per_thruplay' },
  },
  refuses,
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
    Products: { level: 'ad', breakdowns: ['product_id'], metrics: ['impressions', 'clicks', 'spend'] },
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
    cost_per_action_type: metric('json', 'Average cost of what people did, by kind'),
    cost_per_conversion: metric('json', 'Average cost of a conversion, by kind'),
    cost_per_inline_link_click: metric('money', 'Average cost of a click on a link inside the ad'),
    cost_per_thruplay: metric('json', 'Average cost of a video play to the end or for 15 seconds'),
    cost_per_unique_click: metric('money', 'Average cost of a person who clicked'),
    converted_product_quantity: metric('json', 'Number of products that were bought, by kind'),
    converted_product_value: metric('json', 'Value of products that were bought, by kind'),
    inline_link_click_ctr: metric('decimal', 'Clicks on links inside the ad for 100 impressions'),
    outbound_clicks: metric('json', 'Clicks that left the platforms of Meta, by kind'),
    purchase_roas: metric('json', 'Value of purchases for each unit spent, by kind'),
    website_purchase_roas: metric('json', 'Value of purchases on the website for each unit spent, by kind'),
    unique_inline_link_clicks: metric('whole', 'Number of people who clicked on a link inside the ad'),
    video_avg_time_watched_actions: metric('json', 'Average time that the video was watched, in seconds'),
    video_thruplay_watched_actions: metric('json', 'Video plays to the end or for 15 seconds'),
    frequency_value: dimension('How often people saw the ad, as a group'),
    hourly_stats_aggregated_by_advertiser_time_zone: dimension('Hour in the time zone of the ad account'),
    hourly_stats_aggregated_by_audience_time_zone: dimension('Hour in the time zone of the people'),
    place_page_id: dimension('ID of the page of the place'),
    product_id: dimension('ID of the product of the catalogue, with its name'),
    ...Object.fromEntries(
      Object.entries(assets).map(([name, description]) => [name, dimension(description, { type: 'json' })]),
    ),
    age: dimension('Age group of the people'),
    gender: dimension('Gender of the people'),
    country: dimension('Country of the people'),
    region: dimension('Region of the people'),
    impression_device: dimension('Device on which the ad was shown'),
    platform_position: dimension('Place on the platform at which the ad was shown'),
  },
  report: {
    form: 'job',
    start: ({
      account,
      from,
      to,
      level,
      context: { settings },
      asks: { always, level: ofLevel, breakdowns, metrics },
    }) => ({
      path: `${inAccount(account)}/insights`,
      body: {
        level,
        fields: [...always, ...ofLevel, ...metrics].filter((name) => !breakdowns.includes(name)).join(','),
        ...(breakdowns.length > 0 && { breakdowns: breakdowns.join(',') }),
        time_range: { since: from, until: to },
        time_increment: 1,
        action_attribution_windows: listOf(settings.attributionWindows),
        action_breakdowns: listOf(settings.actionBreakdowns),
        action_report_time: textIn(settings.actionReportTime),
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
