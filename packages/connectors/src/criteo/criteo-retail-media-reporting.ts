import { select, text } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import type { ReportState } from '../kit/report-facts.ts'
import { reportSource } from '../kit/report-source.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { unusableNext } from '../platform-api/next-page.ts'
import { criteo } from './platform.ts'
import { signIn } from './sign-in.ts'
import { criteoApi, criteoVersion } from './version.ts'

const states: Readonly<Record<string, ReportState>> = { success: 'done', failure: 'failed', expired: 'gone' }

const of = (name: string, description: string): ReportColumn => dimension(description, { ask: name })
const figure = (type: ReportColumn['type'], name: string, description: string): ReportColumn =>
  metric(type, description, { ask: name })

const usual = ['impressions', 'clicks', 'spend', 'attributed_sales', 'attributed_units', 'attributed_orders', 'roas']
const none = { none: 'None' }

/** Result figures of campaigns at the shops of retailers, through Criteo. */
export const criteoRetailMediaReporting = reportSource({
  slug: 'criteo-retail-media-reporting',
  name: 'Criteo Retail Media Reporting',
  platform: criteo,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the delivery and the sales of Retail Media campaigns at Criteo.',
  actions: ['get'],
  notes:
    'Criteo makes a report of up to 30 days of an account in the background; after a crash, reading continues with the report that is being made already. Days are those of the time zone in the settings, UTC by default. Without attribution windows, Criteo counts by those of each campaign. Criteo corrects sales as long as the windows are. Other metrics of Criteo are entered by their names, such as winRate. The app needs the right to read analytics, and the consent of the account.',
  tested: 'Recorded answers that follow the SDK that Criteo publishes for version 2026-01; not Criteo itself.',
  api: criteoApi,
  platformApi: restApi({
    name: 'Criteo',
    baseUrl: `https://api.criteo.com/${criteoVersion}/retail-media`,
    errors: {
      codeAt: 'errors.code',
      codes: { 'quota-exceeded': 'rate_limited' },
      statuses: {
        400: ['request_refused', 'Check the breakdowns, the metrics and the time zone.'],
        401: ['expired_credentials', 'Sign in at Criteo again and save the new refresh token.'],
        403: ['permission_denied', 'The app needs the right to read analytics, and the consent of the account.'],
        404: ['object_not_found', 'Check the IDs of the accounts.'],
        410: ['version_retired', `It was version ${criteoVersion}; update this service.`],
        413: 'batch_too_large',
      },
    },
  }),
  auth: { open: async (context) => (await import('./tokens.ts')).openCriteoTokens(context) },
  secrets: signIn,
  settings: {
    timezone: text({
      label: 'Time zone',
      description: 'Time zone in which days begin: Europe/Paris',
      default: 'UTC',
    }),
    clickWindow: select({
      label: 'Click attribution window',
      description: 'How long after a click a sale counts; by default as set for the campaign',
      options: ['none', '7D', '14D', '30D'],
      labels: { ...none, '7D': '7 days', '14D': '14 days', '30D': '30 days' },
      default: 'none',
    }),
    viewWindow: select({
      label: 'View attribution window',
      description: 'How long after a view a sale counts; by default as set for the campaign',
      options: ['none', '1D', '7D', '14D', '30D'],
      labels: { ...none, '1D': '1 day', '7D': '7 days', '14D': '14 days', '30D': '30 days' },
      default: 'none',
    }),
  },
  accounts: { label: 'Account IDs', id: /^\d{1,20}$/, example: '123456789', all: true },
  listed: {
    accountIds: {
      kind: 'account',
      page: (pageIndex = '0') => ({ path: '/accounts', query: { pageIndex, pageSize: '100' } }),
      found: ({ json }) =>
        listIn(objectIn(json).data)
          .map(objectIn)
          .map(({ id, attributes }) => ({ id, name: objectIn(attributes).name })),
      next({ json }, pageIndex = '0') {
        const { totalPages } = objectIn(objectIn(json).metadata)
        const pages = totalPages === undefined ? 0 : numberIn(totalPages)
        if (pages === undefined) throw unusableNext('Criteo', 'the number of pages is not a number')
        return Number(pageIndex) + 1 < pages ? String(Number(pageIndex) + 1) : undefined
      },
    },
  },
  always: ['date', 'account_id', 'account_name'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['campaign_name', 'campaign_type'] },
    line_item: {
      key: ['line_item_id'],
      columns: ['line_item_name', 'campaign_id', 'campaign_name', 'retailer_id', 'retailer_name'],
    },
    account: { key: [] },
  },
  breakdowns: [
    ...['retailer', 'brand', 'product_id', 'product_name', 'product_category', 'keyword', 'search_term'],
    ...['page_type', 'page_category', 'environment', 'sales_channel', 'media_type', 'creative_id'],
  ],
  free: { metrics: { label: 'Other metrics', pattern: /^[a-z][A-Za-z0-9]{1,80}$/, example: 'winRate' } },
  presets: {
    Campaigns: { metrics: usual },
    'Line items': { level: 'line_item', metrics: usual },
    Products: { level: 'line_item', breakdowns: ['product_id', 'product_name'], metrics: usual },
    Keywords: { level: 'line_item', breakdowns: ['keyword'], metrics: usual },
  },
  columns: {
    date: day('Day, in the time zone of the settings', { ask: 'date' }),
    account_id: ofAccount('account', 'ID of the account'),
    account_name: of('accountName', 'Name of the account'),
    campaign_id: of('campaignId', 'ID of the campaign'),
    campaign_name: of('campaignName', 'Name of the campaign'),
    campaign_type: of('campaignTypeName', 'Kind of campaign, such as Sponsored Products'),
    line_item_id: of('lineItemId', 'ID of the line item'),
    line_item_name: of('lineItemName', 'Name of the line item'),
    retailer_id: of('retailerId', 'ID of the retailer'),
    retailer_name: of('retailerName', 'Name of the retailer'),
    retailer: of('retailerId', 'ID of the retailer at whose shop the ad was shown'),
    brand: of('brandId', 'ID of the brand'),
    product_id: of('advProductId', 'ID of the product that was advertised'),
    product_name: of('advProductName', 'Name of the product that was advertised'),
    product_category: of('advProductCategory', 'Category of the product that was advertised'),
    keyword: of('keyword', 'Keyword'),
    search_term: of('searchTerm', 'Search term that people entered'),
    page_type: of('pageTypeName', 'Kind of page on which the ad was shown'),
    page_category: of('pageCategory', 'Category of this page'),
    environment: of('environment', 'Website or app'),
    sales_channel: of('salesChannel', 'Whether the sale was online or offline'),
    media_type: of('mediaType', 'Display or video'),
    creative_id: of('creativeId', 'ID of the creative'),
    impressions: figure('whole', 'impressions', 'How often ads were shown'),
    clicks: figure('whole', 'clicks', 'Number of clicks'),
    spend: figure('money', 'spend', 'Money spent'),
    attributed_sales: figure('money', 'attributedSales', 'Value of attributed sales'),
    attributed_units: figure('whole', 'attributedUnits', 'Number of products that were sold'),
    attributed_orders: figure('whole', 'attributedOrders', 'Number of orders'),
    assisted_sales: figure('money', 'assistedSales', 'Value of assisted sales'),
    assisted_units: figure('whole', 'assistedUnits', 'Number of products in assisted sales'),
    ctr: figure('decimal', 'ctr', 'Share of impressions that were clicked'),
    cpc: figure('money', 'cpc', 'Average cost of a click'),
    cpm: figure('money', 'cpm', 'Average cost of a thousand impressions'),
    cpo: figure('money', 'cpo', 'Average cost of an order'),
    roas: figure('decimal', 'roas', 'Value of sales for each unit spent'),
    video_views: figure('whole', 'videoViews', 'Number of video views'),
    new_to_brand_sales: figure(
      'money',
      'newToBrandAttributedSales',
      'Value of sales to people who are new to the brand',
    ),
    unique_visitors: figure('whole', 'uniqueVisitors', 'Number of people who saw an ad'),
  },
  days: { backMax: 730, lookBack: 30, chunk: 30, zone: { setting: 'timezone' } },
  report: {
    form: 'file',
    start: ({ account, from, to, zone, asks, context: { settings } }) => ({
      method: 'POST',
      path: '/reports/accounts',
      body: {
        data: {
          type: 'AsyncAccountsReport',
          attributes: {
            accountIds: [account],
            startDate: from,
            endDate: to,
            timezone: zone,
            dimensions: [...new Set([...asks.always, ...asks.level, ...asks.breakdowns])],
            metrics: asks.metrics,
            clickAttributionWindow: textIn(settings.clickWindow) ?? 'none',
            viewAttributionWindow: textIn(settings.viewWindow) ?? 'none',
            format: 'json-newline',
          },
        },
      },
    }),
    started: ({ json }) => textIn(objectIn(objectIn(json).data).id),
    state: (report) => ({ path: `/reports/${encodeURIComponent(report)}/status` }),
    stateOf({ json }) {
      const { attributes } = objectIn(objectIn(json).data)
      return states[textIn(objectIn(attributes).status) ?? ''] ?? 'running'
    },
    totalMs: 60 * 60_000,
    file: (_done, _to, report) => ({
      url: `https://api.criteo.com/${criteoVersion}/retail-media/reports/${encodeURIComponent(report)}/output`,
      signedIn: true,
    }),
    content: { format: 'json lines' },
  },
  check: { authentication: () => ({ path: '/accounts', query: { pageIndex: '0', pageSize: '1' } }) },
})
