import { googleAuthorization } from '../google/authorization.ts'
import { googleAuth, googleReports, nextPageToken } from '../google/reporting-api.ts'
import { googleSignIn } from '../google/sign-in.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import type { ReportRequest } from '../kit/report-facts.ts'
import { rowsOrNone } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { googleAdManagerPlatform } from './platform.ts'

const scope = 'https://www.googleapis.com/auth/admanager'
const reportName = /^networks\/\d+\/reports\/\d+$/
const resultName = /^networks\/\d+\/reports\/\d+\/results\/[\w-]+$/
const operationName = /^networks\/\d+\/operations\/[\w/-]+$/

const group = (ask: string, description: string): ReportColumn => dimension(description, { ask })
const figure = (type: ReportColumn['type'], ask: string, description: string): ReportColumn =>
  metric(type, description, { ask })
const dateOf = (of: string) => {
  const [year, month, date] = of.split('-').map(Number)
  return { year, month, day: date }
}
const dimensionsOf = ({ asks }: ReportRequest): string[] => [...asks.always, ...asks.level, ...asks.breakdowns]

/**
 * Creates a report that is hidden in Ad Manager, and runs it. The ID is the name of the operation. Empty if Google returns
 * none.
 */
async function start(client: PlatformClient, to: ReportRequest): Promise<string> {
  const { json: report } = await client.askObject({
    method: 'POST',
    path: `/networks/${to.account}/reports`,
    body: {
      displayName: `Penstock ${to.from}`,
      visibility: 'HIDDEN',
      reportDefinition: {
        reportType: 'HISTORICAL',
        dimensions: dimensionsOf(to),
        metrics: to.asks.metrics,
        dateRange: { fixed: { startDate: dateOf(to.from), endDate: dateOf(to.to) } },
        timeZoneSource: 'PUBLISHER',
      },
    },
  })
  const name = textIn(report.name) ?? ''
  if (!reportName.test(name)) return ''
  const { json } = await client.askObject({ method: 'POST', path: `/${name}:run`, body: {} })
  const operation = textIn(json.name) ?? ''
  return operationName.test(operation) ? operation : ''
}

/** A typed value of Ad Manager. Lists stay JSON. */
function typedValue(value: unknown): unknown {
  const [typed] = Object.values(objectIn(value))
  return isObject(typed) ? JSON.stringify(listIn(typed.values)) : typed
}

/** The values of a row, by their names in the request. */
function rowOf({ dimensionValues, metricValueGroups }: JsonObject, to: ReportRequest): JsonObject {
  const figures = listIn(objectIn(listIn(metricValueGroups)[0]).primaryValues)
  const named = (names: readonly string[], values: readonly unknown[]) =>
    Object.fromEntries(names.map((name, index) => [name, typedValue(values[index])]))
  return { ...named(dimensionsOf(to), listIn(dimensionValues)), ...named(to.asks.metrics, figures) }
}

const usual = ['ad_server_impressions', 'ad_server_clicks', 'ad_server_ctr', 'ad_server_revenue']
const all = ['impressions', 'clicks', 'ctr', 'revenue', 'average_ecpm']
const exchange = ['ad_exchange_impressions', 'ad_exchange_clicks', 'ad_exchange_ctr', 'ad_exchange_revenue']

/** Reports of a publisher’s ad server. */
export const googleAdManager = reportSource({
  slug: 'google-ad-manager',
  name: 'Google Ad Manager',
  platform: googleAdManagerPlatform,
  dataType: 'ads management',
  dataTypeCategory: 'campaign management',
  description:
    'Reads reports about inventory, orders and line items from the Google Ad Manager network of a publisher.',
  actions: ['get'],
  notes:
    'The network must allow API access, and the user who signs in needs a role that may make reports. Google makes a report of up to 31 days of a network in the background; after a crash, reading continues with the report that is being made already. Reports are hidden in Ad Manager, and cannot be deleted by the API. Days are in the time zone of the network, and money is in its currency. Figures by line item are those of the ad server: requests and unfilled impressions belong to ad units. Other dimensions and metrics of historical reports are entered by their names, such as PLACEMENT_ID or ADSENSE_IMPRESSIONS.',
  tested: 'Recorded answers that follow Google’s published client of the Ad Manager API; not Google itself.',
  api: { version: 'Ad Manager API v1', ends: 'no end is announced' },
  authorization: googleAuthorization(scope),
  platformApi: googleReports('Google Ad Manager', 'https://admanager.googleapis.com/v1'),
  auth: googleAuth(scope),
  secrets: googleSignIn('a user of Ad Manager'),
  accounts: {
    label: 'Network codes',
    id: /^\d{1,20}$/,
    example: '21834411234',
    all: true,
    get: (network) => ({ path: `/networks/${network}` }),
    about({ json }) {
      const { displayName, currencyCode, timeZone } = objectIn(json)
      return { name: textIn(displayName), currency: textIn(currencyCode), zone: textIn(timeZone) }
    },
  },
  listed: {
    accountIds: {
      kind: 'account',
      page: (pageToken) => ({ path: '/networks', query: { pageSize: '500', pageToken } }),
      found: ({ json }) =>
        listIn(objectIn(json).networks)
          .map(objectIn)
          .map(({ networkCode: id, displayName: name }) => ({ id, name })),
      next: nextPageToken,
    },
  },
  always: ['date', 'network_code', 'network_name', 'currency'],
  levels: {
    line_item: {
      key: ['line_item_id'],
      columns: ['line_item_name', 'line_item_type', 'order_id', 'order_name', 'advertiser_id', 'advertiser_name'],
    },
    order: { key: ['order_id'], columns: ['order_name', 'advertiser_id', 'advertiser_name'] },
    advertiser: { key: ['advertiser_id'], columns: ['advertiser_name'] },
    creative: { key: ['creative_id', 'line_item_id'], columns: ['creative_name', 'line_item_name', 'order_id'] },
    ad_unit: { key: ['ad_unit_id'], columns: ['ad_unit_name', 'ad_unit_code'] },
    network: { key: [] },
  },
  breakdowns: ['country_code', 'device_category', 'demand_channel', 'inventory_format', 'request_type', 'ad_unit_id'],
  free: {
    breakdowns: { label: 'Other dimensions', pattern: /^[A-Z][A-Z0-9_]{1,80}$/, example: 'PLACEMENT_ID' },
    metrics: { label: 'Other metrics', pattern: /^[A-Z][A-Z0-9_]{1,80}$/, example: 'ADSENSE_IMPRESSIONS' },
  },
  presets: {
    'Line items': { metrics: usual },
    'Ad units': { level: 'ad_unit', metrics: ['ad_requests', 'responses_served', 'unfilled_impressions', ...all] },
    'Demand channels': { level: 'network', breakdowns: ['demand_channel'], metrics: all },
    'Ad Exchange': { level: 'ad_unit', metrics: exchange },
  },
  columns: {
    date: day('Day, in the time zone of the network', { ask: 'DATE' }),
    network_code: ofAccount('account', 'Code of the network'),
    network_name: ofAccount('name', 'Name of the network'),
    currency: ofAccount('currency', 'Currency of the network, in which money is'),
    line_item_id: group('LINE_ITEM_ID', 'ID of the line item'),
    line_item_name: group('LINE_ITEM_NAME', 'Name of the line item'),
    line_item_type: group('LINE_ITEM_TYPE_NAME', 'Kind of line item'),
    order_id: group('ORDER_ID', 'ID of the order'),
    order_name: group('ORDER_NAME', 'Name of the order'),
    advertiser_id: group('ADVERTISER_ID', 'ID of the advertiser'),
    advertiser_name: group('ADVERTISER_NAME', 'Name of the advertiser'),
    creative_id: group('CREATIVE_ID', 'ID of the creative'),
    creative_name: group('CREATIVE_NAME', 'Name of the creative'),
    ad_unit_id: group('AD_UNIT_ID', 'ID of the ad unit'),
    ad_unit_name: group('AD_UNIT_NAME', 'Name of the ad unit'),
    ad_unit_code: group('AD_UNIT_CODE', 'Code of the ad unit, as it is in tags'),
    country_code: group('COUNTRY_CODE', 'Country of the reader, as two letters'),
    device_category: group('DEVICE_CATEGORY_NAME', 'Kind of device'),
    demand_channel: group('DEMAND_CHANNEL_NAME', 'Where the ad was sold, such as Ad Exchange'),
    inventory_format: group('INVENTORY_FORMAT_NAME', 'Format of the ad request'),
    request_type: group('REQUEST_TYPE_NAME', 'Kind of ad request'),
    ad_server_impressions: figure('whole', 'AD_SERVER_IMPRESSIONS', 'How often ads of the ad server were shown'),
    ad_server_clicks: figure('whole', 'AD_SERVER_CLICKS', 'Clicks on ads of the ad server'),
    ad_server_ctr: figure('decimal', 'AD_SERVER_CTR', 'Share of ads of the ad server that were clicked, as a fraction'),
    ad_server_revenue: figure('money', 'AD_SERVER_REVENUE', 'Revenue from ads of the ad server'),
    ad_exchange_impressions: figure('whole', 'AD_EXCHANGE_IMPRESSIONS', 'How often ads of Ad Exchange were shown'),
    ad_exchange_clicks: figure('whole', 'AD_EXCHANGE_CLICKS', 'Clicks on ads of Ad Exchange'),
    ad_exchange_ctr: figure(
      'decimal',
      'AD_EXCHANGE_CTR',
      'Share of ads of Ad Exchange that were clicked, as a fraction',
    ),
    ad_exchange_revenue: figure('money', 'AD_EXCHANGE_REVENUE', 'Revenue from ads of Ad Exchange'),
    impressions: figure('whole', 'IMPRESSIONS', 'How often ads were shown, of all channels'),
    clicks: figure('whole', 'CLICKS', 'Clicks on ads, of all channels'),
    ctr: figure('decimal', 'CTR', 'Share of ads that were clicked, as a fraction'),
    revenue: figure('money', 'REVENUE', 'Revenue, of all channels'),
    average_ecpm: figure('money', 'AVERAGE_ECPM', 'Revenue of a thousand impressions'),
    ad_requests: figure('whole', 'AD_REQUESTS', 'Number of ad requests'),
    responses_served: figure('whole', 'RESPONSES_SERVED', 'Number of answers with an ad'),
    unfilled_impressions: figure('whole', 'UNFILLED_IMPRESSIONS', 'How often there was no ad to show'),
    fill_rate: figure('decimal', 'FILL_RATE', 'Share of ad requests that were filled, as a fraction'),
    viewable_impressions: figure('whole', 'ACTIVE_VIEW_VIEWABLE_IMPRESSIONS', 'How often ads could be seen'),
    measurable_impressions: figure(
      'whole',
      'ACTIVE_VIEW_MEASURABLE_IMPRESSIONS',
      'How often it was measured whether ads could be seen',
    ),
    viewable_rate: figure(
      'decimal',
      'ACTIVE_VIEW_VIEWABLE_IMPRESSIONS_RATE',
      'Share of measured ads that could be seen, as a fraction',
    ),
  },
  days: { backMax: 1_095, lookBack: 7, chunk: 31 },
  report: {
    form: 'job',
    start: { by: start },
    state: (operation) => ({ path: `/${operation}` }),
    stateOf({ json }) {
      const { done, error, response } = objectIn(json)
      if (done !== true) return 'running'
      return error === undefined && resultName.test(textIn(objectIn(response).reportResult) ?? '') ? 'done' : 'failed'
    },
    totalMs: 60 * 60_000,
    pageRows: 10_000,
    page: (_operation, pageToken, { pageRows }, { json }) => ({
      path: `/${textIn(objectIn(objectIn(json).response).reportResult)}:fetchRows`,
      query: { pageSize: String(pageRows), pageToken },
    }),
    // A report without rows has no list of them.
    rows: ({ json }, to) => rowsOrNone(json, 'rows')?.map((row) => rowOf(row, to)),
    next: nextPageToken,
  },
  check: { authentication: () => ({ path: '/networks', query: { pageSize: '1' } }) },
})
