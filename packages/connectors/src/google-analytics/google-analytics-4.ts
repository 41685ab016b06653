import { type ConnectorContext, ConnectorError, number, text, type Values } from '@penstock/connector'
import { googleAuthorization } from '../google/authorization.ts'
import { googleAuth, googleReports, nextPageToken } from '../google/reporting-api.ts'
import { googleSignIn } from '../google/sign-in.ts'
import type { ErrorFact } from '../kit/api.ts'
import type { Listing } from '../kit/listing-facts.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import { eachDay } from '../kit/report-days.ts'
import type { ReportChoice } from '../kit/report-facts.ts'
import { reportSource } from '../kit/report-source.ts'
import type { Answer } from '../platform-api/call.ts'
import { isObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { unusableNext } from '../platform-api/next-page.ts'
import { filterIn, wrongFilter } from './filter-expression.ts'
import { googleAnalytics } from './platform.ts'

const scope = 'https://www.googleapis.com/auth/analytics.readonly'
/** Google has up to nine dimensions in a report, of which one is the day, and ten metrics. */
const breakdownsMax = 8
const metricsMax = 10
const pageRows = 50_000

const property = (id: unknown) => String(id).replace(/^properties\//, '')
const adminApi = googleReports('Google Analytics', 'https://analyticsadmin.googleapis.com/v1beta')

const properties: Listing = {
  kind: 'account',
  platformApi: adminApi,
  page: (pageToken) => ({ path: '/accountSummaries', query: { pageSize: '200', pageToken } }),
  found: ({ json }) =>
    listIn(objectIn(json).accountSummaries)
      .flatMap((summary) => listIn(objectIn(summary).propertySummaries))
      .map(objectIn)
      .map(({ property: id, displayName: name }) => ({ id: property(id), name })),
  next: nextPageToken,
}

/** The dimensions or the metrics of the first property, with its own ones. */
const namesOf = (key: 'dimensions' | 'metrics'): Listing => ({
  kind: 'column',
  page(_, { settings }: Pick<ConnectorContext, 'settings'>) {
    const [first] = String(settings.accountIds ?? '').match(/\d+/) ?? []
    if (first !== undefined) return { path: `/properties/${first}/metadata` }
    throw new ConnectorError('invalid_setting', 'Set “Property IDs” first: fields belong to a property.')
  },
  found: ({ json }) =>
    listIn(objectIn(json)[key])
      .map(objectIn)
      .map(({ apiName: id, uiName: name }) => ({ id, name })),
})

const valuesIn = (cells: unknown): unknown[] => listIn(cells).map((cell) => objectIn(cell).value)
const headersIn = (headers: unknown): string[] => listIn(headers).map((header) => textIn(objectIn(header).name) ?? '')

const traffic = [
  'sessions',
  'totalUsers',
  'newUsers',
  'engagedSessions',
  'screenPageViews',
  'keyEvents',
  'totalRevenue',
]
const dimensions: Readonly<Record<string, string>> = {
  sessionDefaultChannelGroup: 'Channel group of the session',
  sessionSource: 'Source of the session',
  sessionMedium: 'Medium of the session',
  sessionCampaignName: 'Campaign of the session',
  sessionCampaignId: 'ID of the campaign of the session',
  sessionManualAdContent: 'Ad content of the session, from utm_content',
  firstUserDefaultChannelGroup: 'Channel group that first brought the user',
  firstUserSource: 'Source that first brought the user',
  firstUserMedium: 'Medium that first brought the user',
  country: 'Country of the user',
  region: 'Region of the user',
  city: 'City of the user',
  language: 'Language of the browser or device',
  deviceCategory: 'Kind of device: desktop, mobile, tablet',
  operatingSystem: 'Operating system',
  browser: 'Browser',
  platform: 'Platform of the app or website: web, iOS, Android',
  hostName: 'Host name of the page',
  pagePath: 'Path of the page',
  pageTitle: 'Title of the page',
  landingPage: 'Path of the first page of the session',
  eventName: 'Name of the event',
  isKeyEvent: 'Whether the event is a key event',
  itemId: 'ID of the item',
  itemName: 'Name of the item',
  transactionId: 'ID of the transaction',
}

const columns: Readonly<Record<string, ReportColumn>> = {
  date: day('Day, in the time zone of the property'),
  property_id: ofAccount('account', 'ID of the property'),
  currency: ofAccount('currency', 'Currency of the property, in which money is'),
  ...Object.fromEntries(Object.entries(dimensions).map(([name, description]) => [name, dimension(description)])),
  sessions: metric('whole', 'Sessions that began'),
  engagedSessions: metric('whole', 'Sessions longer than ten seconds, with a key event, or with several views'),
  totalUsers: metric('whole', 'People who had an event'),
  activeUsers: metric('whole', 'People who visited'),
  newUsers: metric('whole', 'People who came for the first time'),
  screenPageViews: metric('whole', 'Views of pages and app screens'),
  eventCount: metric('whole', 'Number of events'),
  eventValue: metric('decimal', 'Sum of the parameter value of events'),
  keyEvents: metric('decimal', 'Number of key events'),
  userEngagementDuration: metric('decimal', 'Time that the website or app was in the foreground, in seconds'),
  averageSessionDuration: metric('decimal', 'Average length of a session, in seconds'),
  engagementRate: metric('decimal', 'Share of sessions that were engaged, as a fraction'),
  bounceRate: metric('decimal', 'Share of sessions that were not engaged, as a fraction'),
  sessionKeyEventRate: metric('decimal', 'Share of sessions with a key event, as a fraction'),
  totalRevenue: metric('money', 'Revenue of purchases, subscriptions and ads'),
  purchaseRevenue: metric('money', 'Revenue of purchases'),
  ecommercePurchases: metric('whole', 'Number of purchases'),
  transactions: metric('whole', 'Number of transactions'),
  addToCarts: metric('whole', 'How often items were added to a cart'),
  checkouts: metric('whole', 'How often a checkout began'),
  itemRevenue: metric('money', 'Revenue of items'),
  itemsPurchased: metric('whole', 'Number of items that were bought'),
  advertiserAdCost: metric('money', 'Cost of ads'),
  advertiserAdClicks: metric('whole', 'Clicks on ads'),
  advertiserAdImpressions: metric('whole', 'How often ads were shown'),
  cohortActiveUsers: metric('whole', 'People of the cohort who were active on this day after their first session'),
  cohortTotalUsers: metric('whole', 'All people of the cohort'),
}

/** The columns of a cohort report. Its day is the day of the first session. */
const cohortColumns = {
  ...columns,
  date: day('Day of the first session, in the time zone of the property', { ask: 'cohort' }),
  cohort_day: dimension('Days since the first session', { type: 'whole', ask: 'cohortNthDay' }),
}

/** The meaning of a refusal because of a field, which it names: one that Google does not know or cannot combine. */
function meaningOfField({ json }: Answer): ErrorFact | undefined {
  const { status, message } = objectIn(objectIn(json).error)
  if (status !== 'INVALID_ARGUMENT') return undefined
  const [, unknown, kind] = /\bField ([\w:]{1,200}) is not a valid (dimension|metric)\b/.exec(String(message)) ?? []
  if (unknown !== undefined) {
    return ['request_refused', `The property has no ${kind} ${unknown}. Choose one that the list of fields shows.`]
  }
  const [, removed] = /\bPlease remove ([\w:, ]{1,300}?) to make the request compatible\b/.exec(String(message)) ?? []
  return removed === undefined
    ? undefined
    : ['request_refused', `Google Analytics cannot combine ${removed} with the rest. Remove it.`]
}

const days = { backMax: 1_500, lookBack: 12, chunk: 7 }
/** How many days cohorts are followed. 0 if the report is not a cohort report. */
const cohortDaysIn = (settings: Values): number => numberIn(settings.cohortDays) ?? 0
const ofCohorts = ['cohortActiveUsers', 'cohortTotalUsers']

/** The period of a report: some days, or the people of each of these days and what they did later. */
function periodOf(from: string, to: string, settings: Values): object {
  const followed = cohortDaysIn(settings)
  if (followed === 0) return { dateRanges: [{ startDate: from, endDate: to }] }
  const cohorts = eachDay(from, to).map((name) => ({
    name,
    dimension: 'firstSessionDate',
    dateRange: { startDate: name, endDate: name },
  }))
  const cohortsRange = { granularity: 'DAILY', startOffset: 0, endOffset: followed }
  return { cohortSpec: { cohorts, cohortsRange } }
}

/** Why Google would refuse what a connection chose, in a sentence. */
function refuses({ breakdowns, metrics, settings }: ReportChoice): string | undefined {
  const followed = cohortDaysIn(settings)
  const most = followed > 0 ? breakdownsMax - 1 : breakdownsMax
  if (breakdowns.length > most) {
    return `Google Analytics takes at most ${most} breakdowns; ${breakdowns.length} are chosen.`
  }
  if (followed === 0 && metrics.some((name) => ofCohorts.includes(name))) {
    return 'Set “Days to follow cohorts” to read metrics of cohorts.'
  }
  if (followed > Number(settings.lookBackDays ?? days.lookBack)) {
    return `Set “Look-back window in days” to ${followed} or more: the figures of a cohort change for as long as it is followed.`
  }
  return (
    wrongFilter(settings.dimensionFilter, 'Dimension filter') ?? wrongFilter(settings.metricFilter, 'Metric filter')
  )
}

/** Reports of Google Analytics 4. */
export const googleAnalytics4 = reportSource({
  slug: 'google-analytics-4',
  name: 'Google Analytics 4',
  platform: googleAnalytics,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads traffic, events and revenue of websites and apps from Google Analytics 4.',
  actions: ['get'],
  notes: `Reads reports of the Data API, seven days at a time, in the time zone of each property. A report has at most ${breakdownsMax} breakdowns; more than ${metricsMax} metrics take several requests, whose rows are joined. Google processes a day for up to 72 hours and attributes key events for up to 12 days, which is the look-back window. Users cannot be added up over days. If a report has very many rows, Google puts the rest into a row named (other); small figures can be withheld. Custom dimensions and metrics, such as customEvent:plan or keyEvents:purchase, are entered by name or picked from the list. Filters are expressions of the Data API, for dimensions and for metrics. A report of cohorts has a row for each day of a first session and each day after it. Quotas are per property: 200,000 tokens a day.`,
  tested: 'Recorded answers that follow Google’s published protocol buffers of the Data API; not Google itself.',
  api: { version: 'Data API v1beta', ends: 'no end is announced' },
  authorization: googleAuthorization(scope),
  platformApi: googleReports('Google Analytics', 'https://analyticsdata.googleapis.com/v1beta', meaningOfField),
  auth: googleAuth(scope),
  secrets: googleSignIn('a user of the property'),
  settings: {
    dimensionFilter: text({
      label: 'Dimension filter',
      description: 'Filter expression of the Data API over dimensions, in JSON',
    }),
    metricFilter: text({
      label: 'Metric filter',
      description: 'Filter expression of the Data API over metrics, in JSON',
    }),
    cohortDays: number({
      label: 'Days to follow cohorts',
      description: 'Follow the people of each day for this number of days as a cohort; 0 for no cohorts',
      min: 0,
      max: 90,
      default: 0,
    }),
  },
  accounts: {
    label: 'Property IDs',
    id: /^(properties\/)?\d{1,20}$/,
    example: '123456789',
    normal: property,
    // The Data API names the zone and the currency of a property with every report.
    get: (id) => ({
      method: 'POST',
      path: `/properties/${id}:runReport`,
      repeatable: true,
      body: {
        dateRanges: [{ startDate: 'yesterday', endDate: 'yesterday' }],
        metrics: [{ name: 'sessions' }],
        limit: '1',
      },
    }),
    about({ json }) {
      const { timeZone, currencyCode } = objectIn(objectIn(json).metadata)
      const zone = textIn(timeZone)
      if (zone !== undefined) return { currency: textIn(currencyCode), zone }
      throw new ConnectorError('malformed_response', 'Google Analytics answered without the time zone of the property.')
    },
  },
  listed: { accountIds: properties, otherBreakdowns: namesOf('dimensions'), otherMetrics: namesOf('metrics') },
  always: ['date', 'property_id', 'currency'],
  levels: { property: { key: [] } },
  breakdowns: Object.keys(dimensions),
  free: {
    breakdowns: {
      label: 'Other dimensions',
      pattern: /^[A-Za-z]\w{0,99}(:[\w ]{1,99})?$/,
      example: 'customEvent:plan',
    },
    metrics: { label: 'Other metrics', pattern: /^[A-Za-z]\w{0,99}(:[\w ]{1,99})?$/, example: 'keyEvents:purchase' },
  },
  presets: {
    Traffic: { breakdowns: ['sessionDefaultChannelGroup', 'sessionSource', 'sessionMedium'], metrics: traffic },
    Campaigns: { breakdowns: ['sessionCampaignName', 'sessionSource', 'sessionMedium'], metrics: traffic },
    Pages: {
      breakdowns: ['hostName', 'pagePath'],
      metrics: ['screenPageViews', 'totalUsers', 'userEngagementDuration', 'keyEvents'],
    },
    Events: { breakdowns: ['eventName'], metrics: ['eventCount', 'totalUsers', 'eventValue'] },
  },
  columns,
  days,
  readers: 3,
  metricsMax,
  changed: (settings) =>
    cohortDaysIn(settings) === 0
      ? undefined
      : {
          columns: cohortColumns,
          levels: { property: { key: ['cohort_day'] } },
          presets: { Cohorts: { metrics: ofCohorts } },
        },
  refuses,
  report: {
    form: 'pages',
    page: ({ account, from, to, asks, context: { settings } }, offset = '0') => ({
      method: 'POST',
      path: `/properties/${account}:runReport`,
      repeatable: true,
      body: {
        ...periodOf(from, to, settings),
        dimensions: [...asks.always, ...asks.level, ...asks.breakdowns].map((name) => ({ name })),
        metrics: asks.metrics.map((name) => ({ name })),
        dimensionFilter: filterIn(settings.dimensionFilter),
        metricFilter: filterIn(settings.metricFilter),
        limit: String(pageRows),
        offset,
      },
    }),
    rows({ json }) {
      const { dimensionHeaders, metricHeaders, rows = [], kind } = objectIn(json)
      const names = [...headersIn(dimensionHeaders), ...headersIn(metricHeaders)]
      // A report without rows has its headers, and its kind.
      if ((names.length === 0 && kind === undefined) || !Array.isArray(rows) || !rows.every(isObject)) return undefined
      return rows.map(({ dimensionValues, metricValues }) => {
        const values = [...valuesIn(dimensionValues), ...valuesIn(metricValues)]
        return Object.fromEntries(names.map((name, at) => [name, values[at]]))
      })
    },
    next({ json }, { cursor = '0', rows }) {
      const read = Number(cursor) + rows
      const { rowCount } = objectIn(json)
      // A report without rows has no count of them.
      const all = numberIn(rowCount) ?? (rowCount === undefined && rows < pageRows ? read : Number.NaN)
      if (read >= all) return undefined
      if (rows > 0 && read < all) return String(read)
      throw unusableNext('Google Analytics', `the report has ${all} rows, and none was returned behind row ${cursor}`)
    },
  },
  check: {
    // Property 0 has the fields that every property has.
    authentication: () => ({ path: '/properties/0/metadata' }),
  },
})
