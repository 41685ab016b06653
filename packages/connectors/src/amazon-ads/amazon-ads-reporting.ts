import { type ErrorFact, restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import type { ReportLevel, ReportRequest, ReportState } from '../kit/report-facts.ts'
import { reportSource } from '../kit/report-source.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { amazonAdsApi, clientIdOf } from './api.ts'
import { authorizationOrTokens } from './authorization.ts'
import { amazonAds } from './platform.ts'
import { region } from './region.ts'
import { signInOrTokens } from './sign-in.ts'

/** Names of the reports of each level at Amazon: the product, the type, and what rows are grouped by. */
type AmazonReport = { readonly product: string; readonly type: string; readonly groupBy: readonly string[] }
const sponsoredProducts = 'SPONSORED_PRODUCTS'
const reports: Readonly<Record<string, AmazonReport>> = {
  sp_campaign: { product: sponsoredProducts, type: 'spCampaigns', groupBy: ['campaign'] },
  sp_ad_group: { product: sponsoredProducts, type: 'spCampaigns', groupBy: ['campaign', 'adGroup'] },
  sp_advertised_product: { product: sponsoredProducts, type: 'spAdvertisedProduct', groupBy: ['advertiser'] },
  sp_targeting: { product: sponsoredProducts, type: 'spTargeting', groupBy: ['targeting'] },
  sp_search_term: { product: sponsoredProducts, type: 'spSearchTerm', groupBy: ['searchTerm'] },
  sb_campaign: { product: 'SPONSORED_BRANDS', type: 'sbCampaigns', groupBy: ['campaign'] },
  sd_campaign: { product: 'SPONSORED_DISPLAY', type: 'sdCampaigns', groupBy: ['campaign'] },
}
const reportOf = (level: string): AmazonReport => reports[level] ?? (reports.sp_campaign as AmazonReport)
const levels = Object.keys(reports)
const ofProducts = levels.filter((level) => level.startsWith('sp_'))
const ofOthers = ['sb_campaign', 'sd_campaign']
const states: Readonly<Record<string, ReportState>> = { COMPLETED: 'done', FAILED: 'failed' }

const denied: ErrorFact = [
  'permission_denied',
  'Check the IDs of the profiles and the region, and that the user may read reports.',
]
const ofProfile = /\bscope\b|no matching advertiser|not authorized to use|do not have access to|invalid profile/i

const createType = 'application/vnd.createasyncreportrequest.v3+json'
const headersOf = ({ account, context }: Pick<ReportRequest, 'account' | 'context'>) => ({
  'amazon-advertising-api-clientid': clientIdOf(context),
  'amazon-advertising-api-scope': account,
})

/** The ID of the report that was begun, or of the same report if it is already being created (425). */
function idIn(json: unknown, text: string): string | undefined {
  const { reportId, detail } = objectIn(json)
  return textIn(reportId) ?? /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(textIn(detail) ?? text)?.[0]
}

const campaign: ReportLevel = { key: ['campaignId'], columns: ['campaignName', 'campaignStatus'] }
const usual = ['impressions', 'clicks', 'cost', 'purchases7d', 'sales7d']

/** Reports of Amazon Ads, version 3 of its reporting API. */
export const amazonAdsReporting = reportSource({
  slug: 'amazon-ads-reporting',
  name: 'Amazon Ads Reporting',
  platform: amazonAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads reports on sponsored ads from Amazon Ads, through version 3 of its reporting API.',
  actions: ['get'],
  notes:
    'Amazon makes a report of up to 31 days of a profile in the background, which can take three hours; after a crash, reading continues with the report that is being made already, and a report that Amazon already makes (425) is used. The figures of a day are usually available on the next day. Clicks are restated for three days, sales for up to 42; the look-back window is 14 days. Days are in the time zone of the profile. Reports go back 95 days, those of Sponsored Brands 60 and of Sponsored Display 65. Columns that Amazon does not have for a level are refused, with the names of those that it has.',
  tested: 'Recorded answers that follow Amazon’s published documentation of the reporting API; not Amazon itself.',
  api: { version: 'Reporting API v3', ends: 'no end is announced' },
  platformApi: (context) => {
    const api = amazonAdsApi(context)
    return restApi({
      ...api,
      errors: {
        // A profile that cannot be read is refused like credentials, or like a request.
        special: ({ status, text: body }) =>
          (status === 400 || status === 401) && ofProfile.test(body) ? denied : undefined,
        statuses: {
          400: ['request_refused', 'Check the level and the metrics.'],
          401: ['expired_credentials', 'Sign in with Amazon again and save the new refresh token in the connector.'],
          403: denied,
          404: ['object_not_found', 'Check the IDs of the profiles and the region.'],
        },
      },
    })
  },
  auth: { open: async (context) => (await import('./amazon-api.ts')).openSavedTokens(context) },
  authorization: authorizationOrTokens,
  secrets: signInOrTokens,
  settings: { region },
  accounts: {
    label: 'Profile IDs',
    id: /^\d{1,20}$/,
    example: '1234567890',
    get: (account, context) => ({
      path: `/v2/profiles/${account}`,
      headers: { 'amazon-advertising-api-clientid': clientIdOf(context) },
    }),
    about({ json }) {
      const { currencyCode, timezone, accountInfo } = objectIn(json)
      return { name: textIn(objectIn(accountInfo).name), currency: textIn(currencyCode), zone: textIn(timezone) }
    },
  },
  listed: {
    accountIds: {
      kind: 'account',
      page: (_, context) => ({
        path: '/v2/profiles',
        headers: { 'amazon-advertising-api-clientid': clientIdOf(context) },
      }),
      found: ({ json }) =>
        listIn(json)
          .map(objectIn)
          .map(({ profileId: id, accountInfo }) => ({ id, name: objectIn(accountInfo).name })),
    },
  },
  always: ['date', 'profileId', 'profileName', 'currency'],
  levels: {
    sp_campaign: campaign,
    sp_ad_group: { key: ['adGroupId'], columns: ['adGroupName', 'campaignId', 'campaignName'] },
    sp_advertised_product: {
      key: ['adId', 'advertisedAsin'],
      columns: ['advertisedSku', 'adGroupId', 'adGroupName', 'campaignId', 'campaignName'],
    },
    sp_targeting: {
      key: ['adGroupId', 'keywordId'],
      columns: ['targeting', 'matchType', 'adGroupName', 'campaignId', 'campaignName'],
    },
    sp_search_term: {
      key: ['adGroupId', 'keywordId', 'searchTerm'],
      columns: ['matchType', 'adGroupName', 'campaignId', 'campaignName'],
    },
    sb_campaign: campaign,
    sd_campaign: campaign,
  },
  breakdowns: [],
  free: { metrics: { label: 'Other metrics', pattern: /^[a-z][A-Za-z0-9]{1,80}$/, example: 'unitsSoldClicks14d' } },
  presets: {
    'Sponsored Products campaigns': { metrics: usual },
    'Advertised products': { level: 'sp_advertised_product', metrics: usual },
    'Search terms': { level: 'sp_search_term', metrics: usual },
    'Sponsored Brands campaigns': {
      level: 'sb_campaign',
      metrics: ['impressions', 'clicks', 'cost', 'purchases', 'sales'],
    },
    'Sponsored Display campaigns': {
      level: 'sd_campaign',
      metrics: ['impressions', 'clicks', 'cost', 'purchases', 'sales'],
    },
  },
  columns: {
    date: day('Day, in the time zone of the profile'),
    profileId: ofAccount('account', 'ID of the profile'),
    profileName: ofAccount('name', 'Name of the account of the profile'),
    currency: ofAccount('currency', 'Currency of the profile, in which money is'),
    campaignId: dimension('ID of the campaign'),
    campaignName: dimension('Name of the campaign'),
    campaignStatus: dimension('Status of the campaign'),
    adGroupId: dimension('ID of the ad group'),
    adGroupName: dimension('Name of the ad group'),
    adId: dimension('ID of the ad'),
    advertisedAsin: dimension('ASIN of the product'),
    advertisedSku: dimension('SKU of the product'),
    keywordId: dimension('ID of the keyword or the target'),
    targeting: dimension('Keyword or expression that was targeted'),
    matchType: dimension('How the keyword is matched'),
    searchTerm: dimension('Search term that people entered'),
    impressions: metric('whole', 'How often ads were shown'),
    clicks: metric('whole', 'How often ads were clicked'),
    cost: metric('money', 'Money spent'),
    purchases7d: ofSponsoredProducts('whole', 'Purchases within 7 days after a click'),
    purchases14d: ofSponsoredProducts('whole', 'Purchases within 14 days after a click'),
    sales7d: ofSponsoredProducts('money', 'Value of the sales within 7 days after a click'),
    sales14d: ofSponsoredProducts('money', 'Value of the sales within 14 days after a click'),
    unitsSoldClicks7d: ofSponsoredProducts('whole', 'Items sold within 7 days after a click'),
    purchases: metric('whole', 'Purchases that are credited to the ads', { levels: ofOthers }),
    sales: metric('money', 'Value of the sales that are credited to the ads', { levels: ofOthers }),
    unitsSold: metric('whole', 'Items sold', { levels: ofOthers }),
    detailPageViews: metric('whole', 'Views of product pages', { levels: ofOthers }),
  },
  days: { backMax: 95, lookBack: 14, chunk: 31 },
  readers: 2,
  report: {
    form: 'file',
    start: (to) => {
      const { product, type, groupBy } = reportOf(to.level)
      const { asks } = to
      return {
        method: 'POST',
        path: '/reporting/reports',
        headers: { ...headersOf(to), 'content-type': createType },
        body: {
          name: `Penstock ${to.level} ${to.from}`,
          startDate: to.from,
          endDate: to.to,
          configuration: {
            adProduct: product,
            reportTypeId: type,
            groupBy,
            columns: [...asks.always, ...asks.level, ...asks.metrics],
            timeUnit: 'DAILY',
            format: 'GZIP_JSON',
          },
        },
        expects: ({ status }) => status === 425,
      }
    },
    started: ({ json, text }) => idIn(json, text),
    state: (job, to) => ({ path: `/reporting/reports/${job}`, headers: headersOf(to) }),
    stateOf: ({ json }) => states[textIn(objectIn(json).status) ?? ''] ?? 'running',
    totalMs: 4 * 60 * 60_000,
    file({ json }) {
      const url = textIn(objectIn(json).url)
      return url === undefined ? undefined : { url }
    },
    content: { format: 'json' },
  },
  check: {
    authentication: (context) => ({
      path: '/v2/profiles',
      headers: { 'amazon-advertising-api-clientid': clientIdOf(context) },
    }),
  },
})

/** A figure that only the reports of Sponsored Products have. */
function ofSponsoredProducts(type: ReportColumn['type'], description: string): ReportColumn {
  return metric(type, description, { levels: ofProducts })
}
