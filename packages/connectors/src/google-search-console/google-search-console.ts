import { ConnectorError, select, text } from '@penstock/connector'
import { googleAuthorization } from '../google/authorization.ts'
import { googleAuth, googleReports } from '../google/reporting-api.ts'
import { googleSignIn } from '../google/sign-in.ts'
import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import type { ReportRequest } from '../kit/report-facts.ts'
import { reportSource } from '../kit/report-source.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { googleSearchConsole as platform } from './platform.ts'

const scope = 'https://www.googleapis.com/auth/webmasters.readonly'
/** The most rows that Google returns in one answer. */
const pageRows = 25_000
const appearance = 'searchAppearance'
/** Google has figures by appearance for a whole request only, which is one day. */
const dimensionsOf = ({ asks: { always, breakdowns } }: Pick<ReportRequest, 'asks'>): readonly string[] =>
  breakdowns.includes(appearance) ? [appearance] : [...always, ...breakdowns]

/** The conditions of a setting, one in each line: `page contains /shop`. Throws `invalid_setting`. */
function filtersIn(setting: unknown): object[] {
  const lines = (textIn(setting) ?? '').split('\n').map((line) => line.trim())
  return lines.filter(Boolean).map((line) => {
    const [, dimension, operator, expression] =
      /^(query|page|country|device|searchAppearance) +(equals|notEquals|contains|notContains|includingRegex|excludingRegex) +(.+)$/.exec(
        line,
      ) ?? []
    if (expression !== undefined) return { dimension, operator, expression }
    throw new ConnectorError(
      'invalid_setting',
      `“${line.slice(0, 60)}” is not a filter. Write query, page, country, device or searchAppearance, then equals, notEquals, contains, notContains, includingRegex or excludingRegex, then the value: page contains /shop.`,
    )
  })
}

const filteredBy = (filters: readonly object[]): object =>
  filters.length === 0 ? {} : { dimensionFilterGroups: [{ groupType: 'and', filters }] }

const figures = ['clicks', 'impressions', 'ctr', 'position']

/** Search term that people entered on Google before they came, by day. */
export const googleSearchConsole = reportSource({
  slug: 'google-search-console',
  name: 'Google Search Console',
  platform,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads clicks, impressions and positions of websites in Google Search.',
  actions: ['get'],
  notes:
    'Reads one day at a time, in the time zone of Google (Pacific time), from the newest final day on, which is about two days old; Google has 16 months. Rows are the top rows: queries that few people made are left out, so that the sums by query are smaller than those without it. Totals by page and by property differ. Google limits new projects to 60 requests a minute.',
  tested: 'Recorded answers that follow Google’s published documentation of the Search Console API; not Google itself.',
  api: { version: 'Search Console API v3', ends: 'no end is announced' },
  authorization: googleAuthorization(scope),
  platformApi: googleReports('Google Search Console', 'https://www.googleapis.com/webmasters/v3'),
  auth: googleAuth(scope),
  secrets: googleSignIn('an owner or a user of the property'),
  settings: {
    searchType: select({
      label: 'Search type',
      description: 'Where on Google the results were shown',
      options: ['web', 'image', 'video', 'news', 'discover', 'googleNews'],
      labels: {
        web: 'Web',
        image: 'Images',
        video: 'Videos',
        news: 'News tab',
        discover: 'Discover',
        googleNews: 'Google News',
      },
      default: 'web',
    }),
    filters: text({
      label: 'Filters',
      description: 'Conditions that rows must meet, one in each line: page contains /shop',
    }),
  },
  accounts: {
    label: 'Properties',
    id: /^(https?:\/\/[^\s,;]{1,400}|sc-domain:[a-z0-9.-]{1,253})$/,
    example: 'sc-domain:example.com',
    all: true,
  },
  listed: {
    accountIds: {
      kind: 'account',
      page: () => ({ path: '/sites' }),
      found: ({ json }) =>
        listIn(objectIn(json).siteEntry)
          .map(objectIn)
          .filter(({ permissionLevel }) => permissionLevel !== 'siteUnverifiedUser')
          .map(({ siteUrl }) => ({ id: siteUrl, name: siteUrl })),
    },
  },
  always: ['date', 'site_url'],
  levels: { property: { key: [] } },
  breakdowns: ['query', 'page', 'country', 'device', 'search_appearance'],
  presets: {
    Queries: { breakdowns: ['query'], metrics: figures },
    Pages: { breakdowns: ['page'], metrics: figures },
    'Queries and pages': { breakdowns: ['query', 'page', 'country', 'device'], metrics: figures },
    Totals: { metrics: figures },
    'Search appearance': { breakdowns: ['search_appearance'], metrics: figures },
  },
  columns: {
    date: day('Day, in Pacific time'),
    site_url: ofAccount('account', 'Property, as Search Console names it'),
    query: dimension('Search term that people entered'),
    page: dimension('Address of the page'),
    country: dimension('Country of the search, as ISO 3166-1 alpha-3 in lower case'),
    device: dimension('Kind of device: DESKTOP, MOBILE, TABLET'),
    search_appearance: dimension('How the page was shown, such as AMP_BLUE_LINK', { ask: appearance }),
    clicks: metric('whole', 'Clicks from Google to the page'),
    impressions: metric('whole', 'How often people saw the page in results'),
    ctr: metric('decimal', 'Share of impressions that were clicked, as a fraction'),
    position: metric('decimal', 'Average position in the results; 1 is the first'),
  },
  days: { backMax: 486, lookBack: 4, chunk: 1, newest: 2, zone: { fixed: 'America/Los_Angeles' } },
  refuses: ({ breakdowns, settings }) => {
    filtersIn(settings.filters)
    return breakdowns.includes('search_appearance') && breakdowns.length > 1
      ? 'Google combines search_appearance with no other breakdown. Filter by searchAppearance to split one appearance further.'
      : undefined
  },
  report: {
    form: 'pages',
    page: (to, startRow = '0') => ({
      method: 'POST',
      path: `/sites/${encodeURIComponent(to.account)}/searchAnalytics/query`,
      repeatable: true,
      body: {
        startDate: to.from,
        endDate: to.to,
        dimensions: dimensionsOf(to),
        ...filteredBy(filtersIn(to.context.settings.filters)),
        type: textIn(to.context.settings.searchType) ?? 'web',
        dataState: 'final',
        rowLimit: pageRows,
        startRow: Number(startRow),
      },
    }),
    rows({ json }, to) {
      // A day without rows has no list, but says how it was added up.
      const { rows = [], responseAggregationType } = objectIn(json)
      const isReport = responseAggregationType !== undefined || objectIn(json).rows !== undefined
      if (!isReport || !Array.isArray(rows) || !rows.every(isObject)) return undefined
      const names = dimensionsOf(to)
      return rows.map(
        ({ keys, ...values }): JsonObject => ({
          ...values,
          ...Object.fromEntries(names.map((name, at) => [name, listIn(keys)[at]])),
        }),
      )
    },
    next: (_, { cursor = '0', rows }) => (rows === pageRows ? String(Number(cursor) + rows) : undefined),
  },
  check: { authentication: () => ({ path: '/sites' }) },
})
