import { ConnectorError } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import type { ReportChoice, ReportRequest } from '../kit/report-facts.ts'
import { granularity, isMonthly, monthsOf } from '../kit/report-months.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import type { JsonObject } from '../platform-api/json.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { linkedinMarketing } from './api.ts'
import { linkedinAuthorization } from './authorization.ts'
import { adAccounts } from './listings.ts'
import { linkedinAds } from './platform.ts'
import { signIn } from './sign-in.ts'
import { linkedinApi } from './version.ts'

/** The pivot of each level, as LinkedIn calls it. */
const pivots: Readonly<Record<string, string>> = {
  campaign: 'CAMPAIGN',
  account: 'ACCOUNT',
  campaign_group: 'CAMPAIGN_GROUP',
  creative: 'CREATIVE',
  conversion: 'CONVERSION',
  company: 'MEMBER_COMPANY',
  company_size: 'MEMBER_COMPANY_SIZE',
  industry: 'MEMBER_INDUSTRY',
  job_function: 'MEMBER_JOB_FUNCTION',
  job_title: 'MEMBER_JOB_TITLE',
  seniority: 'MEMBER_SENIORITY',
  country: 'MEMBER_COUNTRY_V2',
}
/** The pivots by which rows of a level can be split further, by our names. */
const furtherPivots = {
  by_campaign: ['CAMPAIGN', 'URN of the campaign'],
  by_campaign_group: ['CAMPAIGN_GROUP', 'URN of the campaign group'],
  by_creative: ['CREATIVE', 'URN of the creative'],
  by_conversion: ['CONVERSION', 'URN of the conversion rule'],
  by_device: ['IMPRESSION_DEVICE_TYPE', 'Kind of device'],
  by_placement: ['PLACEMENT_NAME', 'Place where the ad was shown'],
  by_serving_location: ['SERVING_LOCATION', 'Whether the ad was shown on LinkedIn or elsewhere'],
  by_company: ['MEMBER_COMPANY', 'URN of the company of the members'],
  by_company_size: ['MEMBER_COMPANY_SIZE', 'Size of the company of the members'],
  by_industry: ['MEMBER_INDUSTRY', 'URN of the industry of the members'],
  by_job_function: ['MEMBER_JOB_FUNCTION', 'URN of the job function of the members'],
  by_job_title: ['MEMBER_JOB_TITLE', 'URN of the job title of the members'],
  by_seniority: ['MEMBER_SENIORITY', 'URN of the seniority of the members'],
  by_country: ['MEMBER_COUNTRY_V2', 'URN of the country of the members'],
} as const
/** LinkedIn accepts three pivots, and one of them is the level. */
const breakdownsMax = 2
/** LinkedIn truncates an answer after this number of elements, without reporting it. */
const elementsMax = 15_000

const dateOf = (day: string): string => {
  const [year, month, date] = day.split('-').map(Number)
  return `(year:${year},month:${month},day:${date})`
}

/**
 * The address is built by hand, because LinkedIn requires parentheses, colons and commas unencoded, but encoded inside a URN.
 */
const pathOf = ({ account, from, to, level, asks, context: { settings } }: ReportRequest): string => {
  const pivot = pivots[level] ?? 'CAMPAIGN'
  const unit = isMonthly(settings) ? 'MONTHLY' : 'DAILY'
  return [
    ...(asks.breakdowns.length === 0
      ? ['/adAnalytics?q=analytics', `pivot=(value:${pivot})`, `timeGranularity=(value:${unit})`]
      : [
          '/adAnalytics?q=statistics',
          `pivots=List(${[pivot, ...asks.breakdowns].join(',')})`,
          `timeGranularity=${unit}`,
        ]),
    `accounts=List(urn%3Ali%3AsponsoredAccount%3A${account})`,
    `dateRange=(start:${dateOf(from)},end:${dateOf(to)})`,
    `fields=${['dateRange', 'pivotValues', ...asks.metrics].join(',')}`,
  ].join('&')
}

/** An element with its day, the ID at the end of the URN that it is about, and the values of further pivots. */
function rowOf({ dateRange, pivotValues, ...figures }: JsonObject, breakdowns: readonly string[]): JsonObject {
  const [first, ...others] = listIn(pivotValues)
  const urn = textIn(first) ?? ''
  const further = Object.fromEntries(breakdowns.map((name, at) => [name, others[at]]))
  return { ...figures, ...further, day: objectIn(dateRange).start, urn, id: urn.slice(urn.lastIndexOf(':') + 1) }
}

/** Why LinkedIn would refuse breakdowns, in a sentence. */
function refuses({ level, breakdowns }: ReportChoice): string | undefined {
  if (breakdowns.length > breakdownsMax) {
    return `LinkedIn takes at most ${breakdownsMax} breakdowns; ${breakdowns.length} are chosen.`
  }
  const twice = breakdowns.find((name) => furtherPivots[name as keyof typeof furtherPivots][0] === pivots[level])
  return twice && `The level ${level} and the breakdown ${twice} are the same. Choose another level or breakdown.`
}

const days = { backMax: 730, lookBack: 30, chunk: 7, zone: { fixed: 'UTC' } }

const usual = [
  ...['impressions', 'clicks', 'landingPageClicks', 'costInLocalCurrency', 'costInUsd', 'totalEngagements'],
  ...['externalWebsiteConversions', 'oneClickLeads', 'videoViews'],
]
const member = { key: ['pivot_urn'], columns: ['pivot_id'] }

/** Figures on ads at LinkedIn and the people who saw them. */
export const linkedinAnalytics = reportSource({
  slug: 'linkedin-analytics',
  name: 'LinkedIn Analytics',
  platform: linkedinAds,
  dataType: 'analytics',
  dataTypeCategory: 'reporting',
  description: 'Reads how ads on LinkedIn performed and which audiences they reached.',
  actions: ['get'],
  notes:
    'Reads the figures of each ad account by day, seven days at a time, in UTC. LinkedIn gives up to 18 metrics in a request; more take several, whose rows are joined. An answer has at most 15,000 elements: if there are more, fewer days are read at a time. The levels company, company_size, industry, job_function, job_title, seniority and country say who saw the ads: LinkedIn rounds these figures, withholds small ones and adds them a day later, so their sum is smaller. Breakdowns split the rows of a level by up to two further pivots. By month, each report is one of a month, and the current month is read again until it has ended. Rows have IDs and URNs: LinkedIn’s analytics have no names. The app needs the Advertising API, with r_ads_reporting.',
  tested:
    'Recorded answers that follow LinkedIn’s published documentation and the code of public clients; not LinkedIn itself.',
  api: linkedinApi,
  platformApi: restApi({
    ...linkedinMarketing,
    errors: {
      ...linkedinMarketing.errors,
      statuses: { ...linkedinMarketing.errors?.statuses, 400: ['request_refused', 'Check the level and the metrics.'] },
    },
  }),
  auth: { open: async (context) => (await import('./tokens.ts')).openLinkedInTokens(context) },
  authorization: linkedinAuthorization('r_ads_reporting', 'r_ads'),
  secrets: signIn,
  settings: { granularity },
  accounts: {
    label: 'Ad account IDs',
    id: /^(urn:li:sponsoredAccount:)?\d{1,20}$/,
    example: '512345678',
    all: true,
    normal: (id) => id.slice(id.lastIndexOf(':') + 1),
    get: (account) => ({ path: `/adAccounts/${account}` }),
    about({ json }) {
      const { name, currency } = objectIn(json)
      return { name: textIn(name), currency: textIn(currency) }
    },
  },
  listed: { accountIds: adAccounts },
  always: ['day', 'account_id', 'account_name', 'account_currency'],
  levels: {
    campaign: { key: ['campaign_id'] },
    account: { key: [] },
    campaign_group: { key: ['campaign_group_id'] },
    creative: { key: ['creative_id'] },
    conversion: { key: ['conversion_id'] },
    company: member,
    company_size: member,
    industry: member,
    job_function: member,
    job_title: member,
    seniority: member,
    country: member,
  },
  breakdowns: Object.keys(furtherPivots),
  free: { metrics: { label: 'Other metrics', pattern: /^[a-z][A-Za-z0-9]{1,80}$/, example: 'documentCompletions' } },
  presets: {
    Campaigns: { metrics: usual },
    Creatives: { level: 'creative', metrics: usual },
    'Job titles': { level: 'job_title', metrics: ['impressions', 'clicks', 'costInLocalCurrency'] },
    Companies: { level: 'company', metrics: ['impressions', 'clicks', 'costInLocalCurrency'] },
  },
  columns: {
    day: day('Day, in UTC', { ask: null, at: 'day' }),
    account_id: ofAccount('account', 'ID of the ad account'),
    account_name: ofAccount('name', 'Name of the ad account'),
    account_currency: ofAccount('currency', 'Currency of the ad account'),
    campaign_id: dimension('ID of the campaign', { ask: null, at: 'id' }),
    campaign_group_id: dimension('ID of the campaign group', { ask: null, at: 'id' }),
    creative_id: dimension('ID of the creative', { ask: null, at: 'id' }),
    conversion_id: dimension('ID of the conversion rule', { ask: null, at: 'id' }),
    pivot_urn: dimension('URN of what the row is about, such as a job title', { ask: null, at: 'urn' }),
    pivot_id: dimension('ID at the end of this URN', { ask: null, at: 'id' }),
    ...Object.fromEntries(
      Object.entries(furtherPivots).map(([name, [pivot, description]]) => [
        name,
        dimension(description, { ask: pivot, at: name }),
      ]),
    ),
    impressions: metric('whole', 'How often ads were shown'),
    clicks: metric('whole', 'Clicks that are charged'),
    landingPageClicks: metric('whole', 'Clicks that led to the landing page'),
    costInLocalCurrency: metric('money', 'Money spent, in the currency of the ad account'),
    costInUsd: metric('money', 'Money spent, in US dollars'),
    totalEngagements: metric('whole', 'All interactions with the ads'),
    likes: metric('whole', 'Number of reactions'),
    comments: metric('whole', 'Number of comments'),
    shares: metric('whole', 'Number of shares'),
    follows: metric('whole', 'Number of follows'),
    externalWebsiteConversions: metric('whole', 'Conversions on the website'),
    externalWebsitePostClickConversions: metric('whole', 'Conversions on the website after a click'),
    externalWebsitePostViewConversions: metric('whole', 'Conversions on the website after a view'),
    conversionValueInLocalCurrency: metric('money', 'Value of the conversions, in the currency of the ad account'),
    oneClickLeads: metric('whole', 'Leads from lead forms'),
    oneClickLeadFormOpens: metric('whole', 'How often a lead form was opened'),
    videoStarts: metric('whole', 'How often the video started'),
    videoViews: metric('whole', 'Views of the video for two seconds or longer'),
    videoCompletions: metric('whole', 'Video views that reached the end'),
    approximateMemberReach: metric('whole', 'Approximate number of members who saw the ads'),
  },
  days,
  changed: (settings) => monthsOf(settings, days),
  refuses,
  metricsMax: 18,
  report: {
    form: 'pages',
    page: (to) => ({ path: pathOf(to) }),
    rows({ json }, { breakdowns }) {
      const { elements: list, paging } = objectIn(json)
      const elements = rowsIn(list)
      const hasMore = listIn(objectIn(paging).links).some((link) => objectIn(link).rel === 'next')
      if (elements === undefined || (elements.length < elementsMax && !hasMore))
        return elements?.map((element) => rowOf(element, breakdowns))
      throw new ConnectorError('batch_too_large', `LinkedIn cut the answer off after ${elements.length} elements.`)
    },
  },
  check: {
    authentication: () => ({ path: '/adAccountUsers', query: { q: 'authenticatedUser' } }),
  },
})
