import { googleReportSignIn, googleToken, googleTokens } from '../../test/google-reports.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { googleAdManager } from './google-ad-manager.ts'

const network = (code: string, answer: Exchange['answer']): Exchange => ({ path: `/v1/networks/${code}`, answer })
const dateOf = (of: string) => {
  const [year, month, day] = of.split('-').map(Number)
  return { year, month, day }
}
const create = ([from, to]: [string, string], names: [string[], string[]], answer: Exchange['answer']): Exchange => ({
  method: 'POST',
  path: '/v1/networks/218/reports',
  body: {
    displayName: `Penstock ${from}`,
    visibility: 'HIDDEN',
    reportDefinition: {
      reportType: 'HISTORICAL',
      dimensions: names[0],
      metrics: names[1],
      dateRange: { fixed: { startDate: dateOf(from), endDate: dateOf(to) } },
      timeZoneSource: 'PUBLISHER',
    },
  },
  answer,
})
/** A report with the given number that is created immediately, and its pages of rows. */
const report = (id: string, days: [string, string], names: [string[], string[]], ...pages: unknown[]): Exchange[] => [
  create(days, names, { json: { name: `networks/218/reports/${id}`, reportId: id } }),
  {
    method: 'POST',
    path: `/v1/networks/218/reports/${id}:run`,
    body: {},
    answer: { json: { name: `networks/218/operations/reports/runs/${id}`, metadata: { percentComplete: 0 } } },
  },
  {
    path: `/v1/networks/218/operations/reports/runs/${id}`,
    answer: {
      json: {
        name: `networks/218/operations/reports/runs/${id}`,
        done: true,
        response: { reportResult: `networks/218/reports/${id}/results/9` },
      },
    },
  },
  ...pages.map((rows, index) => ({
    path: `/v1/networks/218/reports/${id}/results/9:fetchRows`,
    query: { pageSize: '10000', ...(index > 0 && { pageToken: String(index) }) },
    answer: {
      json: {
        ...(rows !== undefined && { rows }),
        ...(index < pages.length - 1 && { nextPageToken: String(index + 1) }),
      },
    },
  })),
]
const ofLineItems: [string[], string[]] = [
  [
    ...['DATE', 'LINE_ITEM_ID', 'LINE_ITEM_NAME', 'LINE_ITEM_TYPE_NAME', 'ORDER_ID', 'ORDER_NAME', 'ADVERTISER_ID'],
    'ADVERTISER_NAME',
  ],
  ['AD_SERVER_IMPRESSIONS', 'AD_SERVER_CTR', 'AD_SERVER_REVENUE'],
]
const row = (date: string, id: string, [impressions, ctr, revenue]: [string, number, number]) => ({
  dimensionValues: [
    { intValue: date },
    { intValue: id },
    ...['Banner', 'Standard'].map((stringValue) => ({ stringValue })),
    { intValue: '70' },
    { stringValue: 'Spring' },
    { intValue: '7' },
    { stringValue: 'Shoes' },
  ],
  metricValueGroups: [{ primaryValues: [{ intValue: impressions }, { doubleValue: ctr }, { doubleValue: revenue }] }],
})
const settings = {
  accountIds: '218',
  startDate: '2026-03-01',
  endDate: '2026-04-01',
  metrics: ['ad_server_impressions', 'ad_server_ctr', 'ad_server_revenue'],
}

await testReportSource({
  connector: googleAdManager,
  ...googleReportSignIn,
  now: '2026-04-20T12:00:00Z',
  origins: ['https://admanager.googleapis.com', googleTokens],
  common: [
    googleToken,
    { path: '/v1/networks', query: { pageSize: '1' }, answer: { json: { networks: [{ networkCode: '218' }] } } },
    network('218', {
      json: { networkCode: '218', displayName: 'News', currencyCode: 'EUR', timeZone: 'Europe/Berlin' },
    }),
  ],
  reads: /^POST \/v1\/networks\/218\/reports$/,
  failures: [
    [{ status: 400, json: { error: { status: 'INVALID_ARGUMENT' } } }, 'fail', 'request_refused'],
    [{ json: { name: 'networks/218/../elsewhere' } }, 'retry', 'malformed_response'],
  ],
  refused: {
    account: '219',
    exchanges: [network('219', { status: 403, json: { error: { status: 'PERMISSION_DENIED' } } })],
  },
  refusals: [{ status: 403, json: { error: { status: 'PERMISSION_DENIED' } } }],
  transient: [
    { status: 403, json: { error: { errors: [{ reason: 'quotaExceeded' }] } } },
    { status: 400, json: { error: { status: 'RESOURCE_EXHAUSTED' } } },
    { status: 409, json: { error: { status: 'ABORTED' } } },
  ],
  nextPage: { at: 'nextPageToken', rowsAt: 'rows', is: 'token', emptyEnds: true },
  examples: [
    {
      title: 'reads pages of line items, and a report without rows',
      settings,
      exchanges: [
        ...report(
          '1',
          ['2026-03-01', '2026-03-31'],
          ofLineItems,
          [row('20260301', '12345678901', ['1500', 0.0125, 3.25])],
          [row('20260302', '12345678901', ['0', 0, 0])],
        ),
        ...report('2', ['2026-04-01', '2026-04-01'], ofLineItems, undefined),
      ],
      columns: [
        ...['date', 'network_code', 'network_name', 'currency', 'line_item_id', 'line_item_name', 'line_item_type'],
        ...['order_id', 'order_name', 'advertiser_id', 'advertiser_name', 'ad_server_impressions', 'ad_server_ctr'],
        'ad_server_revenue',
      ],
      rows: [
        [
          ...['2026-03-01', '218', 'News', 'EUR', '12345678901', 'Banner', 'Standard', '70', 'Spring', '7', 'Shoes'],
          ...[1500, '0.0125', '3.25'],
        ],
        [
          ...['2026-03-02', '218', 'News', 'EUR', '12345678901', 'Banner', 'Standard', '70', 'Spring', '7', 'Shoes'],
          ...[0, '0', '0'],
        ],
      ],
    },
    {
      title: 'takes dimensions and metrics by their names, and lists as JSON',
      settings: {
        ...settings,
        endDate: '2026-03-01',
        level: 'network',
        breakdowns: ['demand_channel'],
        otherBreakdowns: 'AD_UNIT_ID_ALL_LEVEL',
        metrics: ['revenue'],
        otherMetrics: 'ADSENSE_REVENUE',
      },
      exchanges: report(
        '3',
        ['2026-03-01', '2026-03-01'],
        [
          ['DATE', 'DEMAND_CHANNEL_NAME', 'AD_UNIT_ID_ALL_LEVEL'],
          ['REVENUE', 'ADSENSE_REVENUE'],
        ],
        [
          {
            dimensionValues: [
              { stringValue: '2026-03-01' },
              { stringValue: 'Ad Exchange' },
              { intListValue: { values: ['1', '2'] } },
            ],
            metricValueGroups: [{ primaryValues: [{ doubleValue: 0.1 }, {}] }],
          },
        ],
      ),
      columns: [
        ...['date', 'network_code', 'network_name', 'currency', 'demand_channel', 'AD_UNIT_ID_ALL_LEVEL', 'revenue'],
        'ADSENSE_REVENUE',
      ],
      rows: [['2026-03-01', '218', 'News', 'EUR', 'Ad Exchange', '["1","2"]', '0.1', null]],
    },
  ],
})
