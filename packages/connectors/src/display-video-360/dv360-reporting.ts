import { text } from '@penstock/connector'
import { googleAuthorization } from '../google/authorization.ts'
import { googleAuth, googleReports } from '../google/reporting-api.ts'
import { googleSignIn } from '../google/sign-in.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import type { ReportRequest, ReportState } from '../kit/report-facts.ts'
import { reportSource } from '../kit/report-source.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { displayVideo360 } from './platform.ts'

const scope = 'https://www.googleapis.com/auth/doubleclickbidmanager'
const states: Readonly<Record<string, ReportState>> = { DONE: 'done', FAILED: 'failed' }
const filter = (name: string, description: string): ReportColumn => dimension(description, { ask: `FILTER_${name}` })
const figure = (type: ReportColumn['type'], name: string, description: string): ReportColumn =>
  metric(type, description, { ask: `METRIC_${name}` })
const dateOf = (of: string) => {
  const [year, month, date] = of.split('-').map(Number)
  return { year, month, day: date }
}
const groupsOf = ({ asks }: ReportRequest): string[] => [...asks.always, ...asks.level, ...asks.breakdowns]

/** Creates a query and runs it. The ID combines the IDs of the query and the run. Empty if Google returns no ID. */
async function start(client: PlatformClient, to: ReportRequest): Promise<string> {
  const { account, from, to: until, asks } = to
  const { json: query } = await client.askObject({
    method: 'POST',
    path: '/queries',
    body: {
      metadata: {
        title: `Penstock ${account} ${from}`,
        format: 'CSV',
        dataRange: { range: 'CUSTOM_DATES', customStartDate: dateOf(from), customEndDate: dateOf(until) },
      },
      params: {
        type: 'STANDARD',
        groupBys: groupsOf(to),
        filters: [{ type: 'FILTER_ADVERTISER', value: account }],
        metrics: asks.metrics,
      },
      schedule: { frequency: 'ONE_TIME' },
    },
  })
  const queryId = textIn(query.queryId) ?? ''
  if (queryId === '') return ''
  const { json: run } = await client.askObject({
    method: 'POST',
    path: `/queries/${encodeURIComponent(queryId)}:run`,
    query: { synchronous: 'false' },
    body: {},
  })
  const reportId = textIn(objectIn(run.key).reportId)
  return reportId === undefined ? '' : `${queryId}/${reportId}`
}

const usual = ['impressions', 'clicks', 'ctr', 'revenue_advertiser', 'total_conversions']

/** Reports of Display & Video 360. */
export const dv360Reporting = reportSource({
  slug: 'dv360-reporting',
  name: 'Display & Video 360 Reporting',
  platform: displayVideo360,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the performance of campaigns and how often people saw them from Display & Video 360.',
  actions: ['get'],
  notes:
    'The user who signs in needs read access only. Google makes a report of up to 31 days of an advertiser in the background, which can take an hour; after a crash, reading continues with the report that is being made already, and queries are deleted once they are read. Days are in the time zone of the advertiser. Figures of the last 30 days are restated, and the previous month is final on the third. Google limits the number of reports of a user in 24 hours, without naming it. Other filters and metrics are entered by their names, such as FILTER_COUNTRY or METRIC_RICH_MEDIA_VIDEO_PLAYS.',
  tested: 'Recorded answers that follow Google’s published client of the Bid Manager API; not Google itself.',
  api: { version: 'Bid Manager API v2', ends: 'no end is announced' },
  authorization: googleAuthorization(scope),
  platformApi: googleReports('Display & Video 360', 'https://doubleclickbidmanager.googleapis.com/v2'),
  auth: googleAuth(scope),
  secrets: googleSignIn('a user of Display & Video 360'),
  settings: {
    timezone: text({
      label: 'Time zone',
      description: 'Time zone of the advertisers, which determines the current day: America/New_York',
      default: 'UTC',
    }),
  },
  accounts: { label: 'Advertiser IDs', id: /^\d{1,20}$/, example: '1234567' },
  always: ['date', 'advertiser_id', 'advertiser_name', 'currency'],
  levels: {
    line_item: {
      key: ['line_item_id'],
      columns: ['line_item_name', 'insertion_order_id', 'insertion_order_name', 'campaign_id', 'campaign_name'],
    },
    campaign: { key: ['campaign_id'], columns: ['campaign_name'] },
    insertion_order: { key: ['insertion_order_id'], columns: ['insertion_order_name', 'campaign_id', 'campaign_name'] },
    creative: { key: ['creative_id'], columns: ['creative_name'] },
    advertiser: { key: [] },
  },
  breakdowns: ['device_type', 'country', 'exchange', 'age', 'gender'],
  free: {
    breakdowns: { label: 'Other filters', pattern: /^FILTER_[A-Z0-9_]{1,80}$/, example: 'FILTER_SITE_ID' },
    metrics: { label: 'Other metrics', pattern: /^METRIC_[A-Z0-9_]{1,80}$/, example: 'METRIC_RICH_MEDIA_VIDEO_PLAYS' },
  },
  presets: {
    'Line items': { metrics: usual },
    Campaigns: { level: 'campaign', metrics: usual },
    Creatives: { level: 'creative', metrics: usual },
    Devices: { level: 'campaign', breakdowns: ['device_type'], metrics: usual },
  },
  nulls: ['-', 'Unknown'],
  columns: {
    date: day('Day, in the time zone of the advertiser', { ask: 'FILTER_DATE' }),
    advertiser_id: ofAccount('account', 'ID of the advertiser', { ask: 'FILTER_ADVERTISER' }),
    advertiser_name: filter('ADVERTISER_NAME', 'Name of the advertiser'),
    currency: filter('ADVERTISER_CURRENCY', 'Currency of the advertiser, in which money is'),
    campaign_id: filter('MEDIA_PLAN', 'ID of the campaign'),
    campaign_name: filter('MEDIA_PLAN_NAME', 'Name of the campaign'),
    insertion_order_id: filter('INSERTION_ORDER', 'ID of the insertion order'),
    insertion_order_name: filter('INSERTION_ORDER_NAME', 'Name of the insertion order'),
    line_item_id: filter('LINE_ITEM', 'ID of the line item'),
    line_item_name: filter('LINE_ITEM_NAME', 'Name of the line item'),
    creative_id: filter('CREATIVE_ID', 'ID of the creative'),
    creative_name: filter('CREATIVE', 'Name of the creative'),
    device_type: filter('DEVICE_TYPE', 'Kind of device'),
    country: filter('COUNTRY', 'Country of the people'),
    exchange: filter('EXCHANGE', 'Exchange on which the impression was bought'),
    age: filter('AGE', 'Age group of the people'),
    gender: filter('GENDER', 'Gender of the people'),
    impressions: figure('whole', 'IMPRESSIONS', 'How often ads were shown'),
    clicks: figure('whole', 'CLICKS', 'Number of clicks'),
    ctr: figure('percent', 'CTR', 'Share of impressions that were clicked, as a fraction'),
    revenue_advertiser: figure('money', 'REVENUE_ADVERTISER', 'Money spent, in the currency of the advertiser'),
    media_cost_advertiser: figure('money', 'MEDIA_COST_ADVERTISER', 'Cost of media, in the currency of the advertiser'),
    total_conversions: figure('decimal', 'TOTAL_CONVERSIONS', 'Number of conversions'),
    post_click_conversions: figure('decimal', 'LAST_CLICKS', 'Conversions after a click'),
    post_view_conversions: figure('decimal', 'LAST_IMPRESSIONS', 'Conversions after a view'),
    video_completions: figure('whole', 'RICH_MEDIA_VIDEO_COMPLETIONS', 'Video views that reached the end'),
  },
  days: { backMax: 730, lookBack: 30, chunk: 31, zone: { setting: 'timezone' } },
  report: {
    form: 'file',
    start: { by: start },
    state: (job) => ({ path: `/queries/${job.replace('/', '/reports/')}` }),
    stateOf: ({ json }) => states[textIn(objectIn(objectIn(objectIn(json).metadata).status).state) ?? ''] ?? 'running',
    totalMs: 24 * 60 * 60_000,
    discard: (job) => ({ method: 'DELETE', path: `/queries/${job.split('/')[0]}` }),
    file({ json }) {
      const url = textIn(objectIn(objectIn(json).metadata).googleCloudStoragePath)
      return url === undefined ? undefined : { url }
    },
    // The header has labels, which follow the language of the user. Totals and a description of the report follow an empty line.
    content: {
      format: 'csv',
      names: (to) => [...groupsOf(to), ...to.asks.metrics],
      ends: 'empty line',
      omits: /^$|^No data returned/,
    },
  },
  check: { authentication: () => ({ path: '/queries', query: { pageSize: '1' } }) },
})
