import { select } from '@penstock/connector'
import { type ErrorFact, restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import { addDays, beginOfDay, isoIn } from '../kit/report-days.ts'
import { reportSource } from '../kit/report-source.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { nextCursor, snapchatTransient, snapchatUrl } from './api.ts'
import { authorization } from './authorization.ts'
import { snapchatAds } from './platform.ts'
import { signIn } from './sign-in.ts'

const isDenied: ErrorFact = [
  'permission_denied',
  'Check the ad account, and that the member who consented has a role on it that may read reports.',
]
const isSuccess = (status: unknown): boolean => textIn(status)?.toUpperCase() === 'SUCCESS'

/** Snapchat's Marketing API for reports. The status in the body is decisive, and so is the status of each part. */
const api = restApi({
  name: 'Snapchat',
  baseUrl: snapchatUrl,
  errors: {
    codeAt: 'error_code',
    codes: { ...snapchatTransient, E3002: isDenied, E3003: isDenied },
    statuses: {
      400: 'request_refused',
      401: ['invalid_credentials', 'Grant access again at Snapchat and save the new refresh token in the connector.'],
      403: isDenied,
      404: ['object_not_found', 'Check the IDs of the ad accounts.'],
    },
    special: ({ status, json }) => {
      if (status !== 200 || !isObject(json)) return undefined
      const parts = [...listIn(json.timeseries_stats), ...listIn(json.adaccounts)].map(objectIn)
      if (!isSuccess(json.request_status)) return 'malformed_response'
      return parts.every(({ sub_request_status: part }) => part === undefined || isSuccess(part)) ? undefined : isDenied
    },
  },
})

/** How Snapchat names the levels, and the list of each in an answer. */
const levels: Readonly<Record<string, string>> = { campaign: 'campaign', ad_squad: 'adsquad', ad: 'ad' }
const windows = ['1_DAY', '7_DAY', '28_DAY']
const windowLabels = {
  none: 'None',
  '1_HOUR': '1 hour',
  '3_HOUR': '3 hours',
  '6_HOUR': '6 hours',
  '1_DAY': '1 day',
  '7_DAY': '7 days',
  '28_DAY': '28 days',
}
const usual = ['impressions', 'swipes', 'spend', 'video_views', 'view_completion', 'conversion_purchases', 'uniques']

/** A row for each day of each entity, or for each day of the ad account as a whole. */
function rowsOf(json: unknown, level: string): JsonObject[] | undefined {
  if (!isObject(json)) return undefined
  // Without rows, Snapchat omits the list.
  const { timeseries_stats: list = [] } = json
  if (!Array.isArray(list)) return undefined
  return list
    .map((part) => objectIn(objectIn(part).timeseries_stat))
    .flatMap((stat) => (level === 'account' ? [stat] : listIn(objectIn(stat.breakdown_stats)[levels[level] ?? ''])))
    .map(objectIn)
    .flatMap(({ id, timeseries }) =>
      listIn(timeseries)
        .map(objectIn)
        .map(({ start_time, stats }) => ({ ...objectIn(stats), id, start_time })),
    )
}

/** Delivery and result figures of Snapchat's ads. */
export const snapchatReporting = reportSource({
  slug: 'snapchat-reporting',
  name: 'Snapchat Reporting',
  platform: snapchatAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the delivery and the results of campaigns on Snapchat.',
  actions: ['get'],
  notes:
    'Reads the statistics of each ad account by day, seven days at a time. Days begin at midnight of the ad account, also on the days on which clocks change. Snapchat restates figures for as long as the attribution windows, up to 28 days; other windows make other figures, so do not change them for rows that are there already. Spend is converted from micros to units of the currency. Rows have IDs: Snapchat’s statistics have no names.',
  tested: 'Recorded answers that follow Snapchat’s published documentation of the Marketing API; not Snapchat itself.',
  api: { version: 'Marketing API v1', ends: 'no end is announced' },
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openSnapchatTokens(context) },
  authorization,
  secrets: signIn,
  settings: {
    swipeUpWindow: select({
      label: 'Swipe-up attribution window',
      description: 'How long after a swipe-up a conversion counts',
      options: windows,
      labels: { '1_DAY': '1 day', '7_DAY': '7 days', '28_DAY': '28 days' },
      default: '28_DAY',
    }),
    viewWindow: select({
      label: 'View attribution window',
      description: 'How long after a view a conversion counts',
      options: ['none', '1_HOUR', '3_HOUR', '6_HOUR', ...windows],
      labels: windowLabels,
      default: '1_DAY',
    }),
  },
  accounts: {
    label: 'Ad account IDs',
    id: /^[\w-]{1,64}$/,
    example: '8adc3db7-8148-4fbf-999c-8d2266369d74',
    all: true,
    get: (account) => ({ path: `/adaccounts/${account}` }),
    about({ json }) {
      const { name, currency, timezone } = objectIn(objectIn(listIn(objectIn(json).adaccounts)[0]).adaccount)
      return { name: textIn(name), currency: textIn(currency), zone: textIn(timezone) }
    },
  },
  listed: {
    accountIds: {
      kind: 'account',
      page: (cursor) => ({ path: '/me/organizations', query: { with_ad_accounts: 'true', cursor } }),
      found: ({ json }) =>
        listIn(objectIn(json).organizations)
          .flatMap((part) => listIn(objectIn(objectIn(part).organization).ad_accounts).map(objectIn))
          .map(({ id, name }) => ({ id, name })),
      next: nextCursor,
    },
  },
  always: ['day', 'ad_account_id', 'ad_account_name', 'currency'],
  levels: {
    campaign: { key: ['campaign_id'] },
    account: { key: [] },
    ad_squad: { key: ['ad_squad_id'] },
    ad: { key: ['ad_id'] },
  },
  breakdowns: [],
  presets: {
    Campaigns: { metrics: usual },
    Ads: { level: 'ad', metrics: usual },
    'Video views': {
      level: 'ad',
      metrics: ['impressions', 'spend', 'video_views', 'quartile_1', 'quartile_2', 'quartile_3', 'view_completion'],
    },
  },
  free: { metrics: { label: 'Other metrics', pattern: /^[a-z][a-z0-9_]{1,80}$/, example: 'conversion_add_cart' } },
  columns: {
    day: day('Day that the row covers, in the time zone of the ad account', { ask: null, at: 'start_time' }),
    ad_account_id: ofAccount('account', 'ID of the ad account'),
    ad_account_name: ofAccount('name', 'Name of the ad account'),
    currency: ofAccount('currency', 'Currency of the ad account, in which money is'),
    campaign_id: dimension('ID of the campaign', { ask: null, at: 'id' }),
    ad_squad_id: dimension('ID of the ad squad', { ask: null, at: 'id' }),
    ad_id: dimension('ID of the ad', { ask: null, at: 'id' }),
    impressions: metric('whole', 'How often the ad was shown'),
    swipes: metric('whole', 'How often people swiped up on the ad'),
    view_time_millis: metric('whole', 'Time for which the ad was viewed, in milliseconds'),
    screen_time_millis: metric('whole', 'Time for which the ad was on screen, in milliseconds'),
    quartile_1: metric('whole', 'Video views that reached one quarter'),
    quartile_2: metric('whole', 'Video views that reached one half'),
    quartile_3: metric('whole', 'Video views that reached three quarters'),
    view_completion: metric('whole', 'Video views that reached the end'),
    spend: metric('micros', 'Money spent, in the currency of the ad account'),
    video_views: metric('whole', 'Number of video views'),
    uniques: metric('whole', 'Number of people who saw the ad at least once'),
    frequency: metric('decimal', 'How often each of these people saw the ad, on average'),
    conversion_purchases: metric('whole', 'Number of purchases'),
    conversion_purchases_value: metric('micros', 'Value of the purchases'),
    conversion_add_cart: metric('whole', 'How often something was put into a cart'),
    conversion_sign_ups: metric('whole', 'Number of sign-ups'),
    total_installs: metric('whole', 'Number of app installs'),
  },
  days: { backMax: 1_095, lookBack: 28, chunk: 7 },
  report: {
    form: 'pages',
    pageRows: 1_000,
    page: ({ account, from, to, level, zone, asks, pageRows, context: { settings } }, cursor) => ({
      path: `/adaccounts/${account}/stats`,
      query: {
        granularity: 'DAY',
        start_time: isoIn(zone, beginOfDay(from, zone)),
        end_time: isoIn(zone, beginOfDay(addDays(to, 1), zone)),
        fields: asks.metrics.join(','),
        breakdown: levels[level],
        swipe_up_attribution_window: textIn(settings.swipeUpWindow) ?? '28_DAY',
        view_attribution_window: textIn(settings.viewWindow) ?? '1_DAY',
        limit: String(pageRows),
        cursor,
      },
    }),
    rows: ({ json }, { level }) => rowsOf(json, level),
    next: nextCursor,
  },
  check: { authentication: () => ({ path: '/me' }) },
})
