import { secret, text } from '@penstock/connector'
import { type ErrorFact, restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import { addDays, beginOfDay } from '../kit/report-days.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { nextPath, redditApi } from './api.ts'
import { readAuthorization } from './authorization.ts'
import { redditAds } from './platform.ts'

const usual = ['impressions', 'reach', 'clicks', 'spend', 'ecpm', 'ctr', 'cpc']
/** Reddit's breakdown by the ID of a level. */
const levels: Readonly<Record<string, string>> = { campaign: 'CAMPAIGN_ID', ad_group: 'AD_GROUP_ID', ad: 'AD_ID' }
const unknown: ErrorFact = ['object_not_found', 'Check the IDs of the ad accounts.']
const hourMs = 3_600_000
/** Reddit expects whole hours. @param round rounds hours since 1970 */
const wholeHour = (at: number, round: (hours: number) => number): string =>
  new Date(round(at / hourMs) * hourMs).toISOString().replace('.000', '')

/** Result figures of Reddit's ads. */
export const redditAdsReporting = reportSource({
  slug: 'reddit-ads-reporting',
  name: 'Reddit Ads Reporting',
  platform: redditAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the delivery and the results of campaigns on Reddit.',
  actions: ['get'],
  notes:
    'Reads the report of each ad account by day, seven days at a time, in the time zone of the ad account. Reddit allows at most three breakdowns in a report: the day, the ID of the level and one more. Money is converted from micros to units of the currency. Rows have IDs: Reddit’s reports have no names. Figures are restated for 28 days. Other fields of Reddit are entered by their names, such as VIDEO_VIEWABLE_IMPRESSIONS.',
  tested:
    'Recorded answers that follow Reddit’s published documentation and the code of public clients; not Reddit itself.',
  api: { version: 'v3', ends: 'No end is known.' },
  platformApi: restApi({
    ...redditApi,
    errors: {
      special: ({ status, text: body }) => (status === 400 && /unknown ad account/i.test(body) ? unknown : undefined),
      statuses: {
        400: ['request_refused', 'Check the level, the breakdown and the metrics.'],
        401: ['expired_credentials', 'Sign in at Reddit again and save the new refresh token.'],
        403: ['permission_denied', 'Grant the app the scope adsread, and its user a role on the ad account.'],
        404: unknown,
        429: 'rate_limited',
      },
    },
  }),
  auth: { open: async (context) => (await import('./tokens.ts')).openTokensOf(context) },
  authorization: readAuthorization,
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of your OAuth app at Reddit',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({ label: 'Refresh token', description: 'Refresh token for access to Reddit', required: true }),
  },
  accounts: {
    label: 'Ad account IDs',
    id: /^[A-Za-z0-9]\w{0,63}$/,
    example: 't2_abc123',
    all: true,
    get: (account) => ({ path: `/ad_accounts/${account}` }),
    about({ json }) {
      const { name, currency, time_zone_id: zone } = objectIn(objectIn(json).data)
      return { name: textIn(name), currency: textIn(currency), zone: textIn(zone) }
    },
  },
  listed: {
    accountIds: {
      kind: 'account',
      read: async (client, cursor) => (await import('./read-accounts.ts')).readAccounts(client, cursor),
    },
  },
  always: ['date', 'ad_account_id', 'ad_account_name', 'currency'],
  levels: {
    campaign: { key: ['campaign_id'] },
    account: { key: [] },
    ad_group: { key: ['ad_group_id'] },
    ad: { key: ['ad_id'] },
  },
  breakdowns: ['country', 'community', 'keyword', 'interest', 'placement', 'gender', 'os_type'],
  free: {
    metrics: {
      label: 'Other metrics',
      pattern: /^[A-Z][A-Z0-9_]{1,80}$/,
      example: 'VIDEO_VIEWABLE_IMPRESSIONS',
      at: (name) => name.toLowerCase(),
    },
  },
  presets: {
    Campaigns: { metrics: usual },
    Ads: { level: 'ad', metrics: usual },
    Countries: { breakdowns: ['country'], metrics: usual },
    Purchases: { metrics: ['spend', 'conversion_purchase_clicks', 'conversion_purchase_views'] },
  },
  refuses: ({ breakdowns }) =>
    breakdowns.length > 1 ? 'Reddit takes one breakdown beside the day and the level; choose one.' : undefined,
  columns: {
    date: day('Day, in the time zone of the ad account', { ask: null }),
    ad_account_id: ofAccount('account', 'ID of the ad account'),
    ad_account_name: ofAccount('name', 'Name of the ad account'),
    currency: ofAccount('currency', 'Currency of the ad account, in which money is'),
    campaign_id: dimension('ID of the campaign', { ask: null }),
    ad_group_id: dimension('ID of the ad group', { ask: null }),
    ad_id: dimension('ID of the ad', { ask: null }),
    country: dimension('Country of the people', { ask: 'COUNTRY', at: 'country' }),
    community: dimension('Community in which the ad was shown', { ask: 'COMMUNITY', at: 'community' }),
    keyword: dimension('Keyword by which the ad was targeted', { ask: 'KEYWORD', at: 'keyword' }),
    interest: dimension('Interest by which the ad was targeted', { ask: 'INTEREST', at: 'interest' }),
    placement: dimension('Place of the ad', { ask: 'PLACEMENT', at: 'placement' }),
    gender: dimension('Gender of the people', { ask: 'GENDER', at: 'gender' }),
    os_type: dimension('Operating system of the device', { ask: 'OS_TYPE', at: 'os_type' }),
    impressions: metric('whole', 'How often the ad was shown', { ask: 'IMPRESSIONS', at: 'impressions' }),
    reach: metric('whole', 'Number of people who saw the ad', { ask: 'REACH', at: 'reach' }),
    clicks: metric('whole', 'Number of clicks', { ask: 'CLICKS', at: 'clicks' }),
    spend: metric('micros', 'Money spent, in the currency of the ad account', { ask: 'SPEND', at: 'spend' }),
    ecpm: metric('micros', 'Cost of a thousand impressions', { ask: 'ECPM', at: 'ecpm' }),
    cpc: metric('micros', 'Average cost of a click', { ask: 'CPC', at: 'cpc' }),
    ctr: metric('decimal', 'Share of impressions that were clicked, as a fraction', { ask: 'CTR', at: 'ctr' }),
    video_started: metric('whole', 'How often the video started', { ask: 'VIDEO_STARTED', at: 'video_started' }),
    video_watched_25_percent: metric('whole', 'Video views that reached one quarter', {
      ask: 'VIDEO_WATCHED_25_PERCENT',
      at: 'video_watched_25_percent',
    }),
    video_watched_100_percent: metric('whole', 'Video views that reached the end', {
      ask: 'VIDEO_WATCHED_100_PERCENT',
      at: 'video_watched_100_percent',
    }),
    conversion_purchase_clicks: metric('whole', 'Purchases after a click', {
      ask: 'CONVERSION_PURCHASE_CLICKS',
      at: 'conversion_purchase_clicks',
    }),
    conversion_purchase_views: metric('whole', 'Purchases after a view', {
      ask: 'CONVERSION_PURCHASE_VIEWS',
      at: 'conversion_purchase_views',
    }),
  },
  days: { backMax: 730, lookBack: 28, chunk: 7 },
  report: {
    form: 'pages',
    page({ account, from, to, level, zone, asks }, cursor) {
      const of = levels[level]
      return {
        method: 'POST',
        path: cursor ?? `/ad_accounts/${account}/reports`,
        repeatable: true,
        body: {
          data: {
            breakdowns: ['DATE', ...(of === undefined ? [] : [of]), ...asks.breakdowns],
            fields: asks.metrics,
            starts_at: wholeHour(beginOfDay(from, zone), Math.floor),
            ends_at: wholeHour(beginOfDay(addDays(to, 1), zone), Math.ceil),
            time_zone_id: zone,
          },
        },
      }
    },
    // If the zone is no whole hours from UTC, the hours touch the days before and after.
    rows: ({ json }, { from, to }) =>
      rowsIn(objectIn(objectIn(json).data).metrics)?.filter(({ date }) => {
        const of = String(date).slice(0, 10)
        return from <= of && of <= to
      }),
    next: (answer) => nextPath(answer),
  },
  check: { authentication: () => ({ path: '/me' }) },
})
