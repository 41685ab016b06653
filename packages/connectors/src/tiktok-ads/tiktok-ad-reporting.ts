import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import type { ReportChoice } from '../kit/report-facts.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { unusableNext } from '../platform-api/next-page.ts'
import { advertisers, advertisersOf } from './advertisers.ts'
import { tiktokApi } from './api.ts'
import { tiktokAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** How TikTok names the levels, and the ID of each. */
const levels = {
  campaign: ['AUCTION_CAMPAIGN', 'campaign_id'],
  adgroup: ['AUCTION_ADGROUP', 'adgroup_id'],
  ad: ['AUCTION_AD', 'ad_id'],
  advertiser: ['AUCTION_ADVERTISER', 'advertiser_id'],
} as const
const pageRows = 1_000
const levelOf = (level: string) => levels[level as keyof typeof levels] ?? levels.campaign

const account = ['ad_account_id', 'ad_account_name']
const usual = ['spend', 'impressions', 'clicks', 'ctr', 'cpc', 'cpm', 'reach', 'frequency', 'conversion']

/** The groups of people by which an audience report splits rows. */
const audience = {
  age: 'Age group of the people',
  gender: 'Gender of the people',
  country_code: 'Country of the people, as ISO 3166-1 alpha-2',
  province_id: 'ID of the region of the people',
  language: 'Language of the people',
  platform: 'Platform of the device, such as ANDROID or IPHONE',
  ac: 'Kind of network, such as WIFI',
  placement: 'App on which the ad was shown',
  device_brand_id: 'ID of the brand of the device',
  interest_category: 'ID of the interest of the people',
}
const notOfAudiences = ['reach', 'frequency']
const ofAudiences = ['spend', 'impressions', 'clicks', 'ctr', 'cpc', 'cpm', 'conversion', 'cost_per_conversion']

/** Why TikTok would refuse breakdowns and metrics, in a sentence. */
function refuses({ breakdowns, metrics }: ReportChoice): string | undefined {
  if (breakdowns.length === 0) return undefined
  const isPair = breakdowns.length === 2 && breakdowns.includes('age') && breakdowns.includes('gender')
  if (breakdowns.length > 1 && !isPair) {
    return `TikTok does not combine ${breakdowns.join(' and ')}. Choose one breakdown, or age and gender.`
  }
  const missing = metrics.find((name) => notOfAudiences.includes(name))
  return missing && `Reports with breakdowns have no ${missing}. Choose other metrics, or the report Age and gender.`
}

/** Delivery and result figures of TikTok's ads. */
export const tiktokAdReporting = reportSource({
  slug: 'tiktok-ad-reporting',
  name: 'TikTok Ad Measurement',
  platform: tiktokAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the delivery and the results of campaigns on TikTok.',
  actions: ['get'],
  notes:
    'Reads the synchronous report of auction ads (report/integrated/get) in pages of 1,000 rows, 30 days at a time. Days are in the time zone of each advertiser. Rates are fractions: a ctr of 0.0123 is 1.23 %. Breakdowns are read from audience reports, whose figures are up to 12 hours late and do not include reach. Figures that TikTok writes as “-” are empty. Deleted campaigns and ads are left out by TikTok.',
  tested: 'Recorded answers that follow TikTok’s published SDK and the code of public clients; not TikTok itself.',
  api: { version: 'API for Business v1.3', ends: 'no end is announced' },
  platformApi: tiktokApi,
  auth: { header: 'access-token', secret: 'accessToken' },
  secrets: signIn,
  accounts: {
    label: 'Advertiser IDs',
    id: /^\d{1,20}$/,
    example: '7012345678901234567',
    all: true,
    get: (id) => ({
      path: '/advertiser/info/',
      query: {
        advertiser_ids: JSON.stringify([id]),
        fields: JSON.stringify(['advertiser_id', 'name', 'currency', 'timezone']),
      },
    }),
    about({ json }) {
      const { name, currency, timezone } = objectIn(listIn(objectIn(objectIn(json).data).list)[0])
      return { name: textIn(name), currency: textIn(currency), zone: textIn(timezone) }
    },
  },
  listed: { accountIds: advertisers },
  always: ['date', 'advertiser_id', 'advertiser_name', 'currency'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['campaign_name', ...account] },
    adgroup: { key: ['adgroup_id'], columns: ['adgroup_name', 'campaign_id', 'campaign_name', ...account] },
    ad: {
      key: ['ad_id'],
      columns: ['ad_name', 'adgroup_id', 'adgroup_name', 'campaign_id', 'campaign_name', ...account],
    },
    advertiser: { key: [], columns: account },
  },
  breakdowns: Object.keys(audience),
  refuses,
  presets: {
    Campaigns: { metrics: usual },
    Ads: { level: 'ad', metrics: usual },
    'Age and gender': { breakdowns: ['age', 'gender'], metrics: ofAudiences },
    Countries: { breakdowns: ['country_code'], metrics: ofAudiences },
    'Video views': {
      level: 'ad',
      metrics: [
        ...['impressions', 'spend', 'video_play_actions', 'video_watched_2s', 'video_watched_6s'],
        ...['video_views_p25', 'video_views_p50', 'video_views_p75', 'video_views_p100'],
      ],
    },
  },
  nulls: ['-'],
  columns: {
    date: day('Day that the row covers', { ask: null, at: 'stat_time_day' }),
    advertiser_id: ofAccount('account', 'ID of the advertiser'),
    advertiser_name: ofAccount('name', 'Name of the advertiser'),
    currency: ofAccount('currency', 'Currency of the advertiser, in which money is'),
    ad_account_id: ofAccount('account', 'ID of the ad account, which is the one of the advertiser'),
    ad_account_name: ofAccount('name', 'Name of the ad account, which is the one of the advertiser'),
    campaign_id: dimension('ID of the campaign'),
    campaign_name: dimension('Name of the campaign'),
    adgroup_id: dimension('ID of the ad group'),
    adgroup_name: dimension('Name of the ad group'),
    ad_id: dimension('ID of the ad'),
    ad_name: dimension('Name of the ad'),
    ...Object.fromEntries(Object.entries(audience).map(([name, description]) => [name, dimension(description)])),
    impressions: metric('whole', 'How often the ad was shown'),
    clicks: metric('whole', 'Number of clicks'),
    spend: metric('money', 'Money spent, in the currency of the advertiser'),
    conversion: metric('whole', 'Number of conversions'),
    cost_per_conversion: metric('money', 'Average cost of a conversion'),
    ctr: metric('percent', 'Share of impressions that were clicked, as a fraction'),
    cpc: metric('money', 'Average cost of a click'),
    cpm: metric('money', 'Average cost of a thousand impressions'),
    conversion_rate_v2: metric(
      'percent',
      'Share that led to a conversion, as a fraction, by the second version of TikTok’s formula',
    ),
    result: metric('whole', 'Number of results, by the goal of the campaign'),
    reach: metric('whole', 'Number of people who saw the ad at least once'),
    frequency: metric('decimal', 'How often each of these people saw the ad, on average'),
    video_play_actions: metric('whole', 'How often the video started to play'),
    video_watched_2s: metric('whole', 'Video plays that lasted two seconds or longer'),
    video_watched_6s: metric('whole', 'Video plays that lasted six seconds or longer'),
    video_views_p25: metric('whole', 'Video plays that reached one quarter'),
    video_views_p50: metric('whole', 'Video plays that reached one half'),
    video_views_p75: metric('whole', 'Video plays that reached three quarters'),
    video_views_p100: metric('whole', 'Video plays that reached the end'),
    engagements: metric('whole', 'How often people interacted with the ad'),
  },
  // TikTok allows 30 days a request, if its rows are by day.
  days: { backMax: 365, lookBack: 7, chunk: 30 },
  readers: 2,
  report: {
    form: 'pages',
    page({ account: advertiser, from, to, level, asks }, page = '1') {
      const [dataLevel, id] = levelOf(level)
      return {
        path: '/report/integrated/get/',
        query: {
          report_type: asks.breakdowns.length > 0 ? 'AUDIENCE' : 'BASIC',
          service_type: 'AUCTION',
          advertiser_id: advertiser,
          data_level: dataLevel,
          dimensions: JSON.stringify([id, 'stat_time_day', ...asks.breakdowns]),
          metrics: JSON.stringify([...asks.level.filter((name) => name !== id), ...asks.metrics]),
          start_date: from,
          end_date: to,
          page,
          page_size: String(pageRows),
        },
      }
    },
    rows: ({ json }) =>
      rowsIn(objectIn(objectIn(json).data).list)?.map(({ dimensions, metrics }) => ({
        ...objectIn(metrics),
        ...objectIn(dimensions),
      })),
    next({ json }, { cursor = '1', rows }) {
      const { page_info: info } = objectIn(objectIn(json).data)
      const pages = numberIn(objectIn(info).total_page) ?? (info === undefined && rows < pageRows ? 1 : undefined)
      if (pages === undefined) throw unusableNext('TikTok', 'the answer does not say how many pages there are')
      return Number(cursor) < pages ? String(Number(cursor) + 1) : undefined
    },
  },
  check: { authentication: advertisersOf },
})
