import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { criteoRetailMediaReporting } from './criteo-retail-media-reporting.ts'

const base = '/2026-07/retail-media'
const state = (id: string, status: string) => ({ json: { data: { id, attributes: { status } } } })
const report = (
  id: string,
  { account = '77', days, dimensions }: { account?: string; days: [string, string]; dimensions: string[] },
  rows: object[],
): Exchange[] => [
  {
    method: 'POST',
    path: `${base}/reports/accounts`,
    body: {
      data: {
        type: 'AsyncAccountsReport',
        attributes: {
          accountIds: [account],
          startDate: days[0],
          endDate: days[1],
          timezone: 'Europe/Paris',
          dimensions,
          metrics: ['impressions', 'spend', 'winRate'],
          clickAttributionWindow: '14D',
          viewAttributionWindow: 'none',
          format: 'json-newline',
        },
      },
    },
    answer: state(id, 'pending'),
  },
  { path: `${base}/reports/${id}/status`, answer: [state(id, 'pending'), state(id, 'success')] },
  { path: `${base}/reports/${id}/output`, answer: { text: rows.map((row) => JSON.stringify(row)).join('\n') } },
]
const campaigns = ['date', 'accountName', 'campaignId', 'campaignName', 'campaignTypeName']
const settings = {
  accountIds: '77',
  startDate: '2026-02-01',
  endDate: '2026-03-03',
  metrics: ['impressions', 'spend'],
  otherMetrics: 'winRate',
  timezone: 'Europe/Paris',
  clickWindow: '14D',
}
const always = ['date', 'account_id', 'account_name']

await testReportSource({
  connector: criteoRetailMediaReporting,
  now: '2026-03-20T12:00:00Z',
  origins: ['https://api.criteo.com'],
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/oauth2/token') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: {} }
  },
  common: [
    { method: 'POST', path: '/oauth2/token', answer: { json: { access_token: 'access', expires_in: 900 } } },
    {
      path: `${base}/accounts`,
      query: { pageIndex: '0', pageSize: '1' },
      answer: { json: { data: [], metadata: { totalPages: 1 } } },
    },
  ],
  reads: /^POST .*reports\/accounts$/,
  revoked: { status: 401, json: { errors: [{ type: 'authentication', code: 'authorization-token-expired' }] } },
  failures: [
    [{ status: 400, json: { errors: [{ code: 'invalid-metric' }] } }, 'fail', 'request_refused'],
    [{ status: 410, json: {} }, 'fail', 'version_retired'],
    [{ json: { data: {} } }, 'retry', 'malformed_response'],
  ],
  refused: {
    account: '78',
    exchanges: [
      {
        method: 'POST',
        path: `${base}/reports/accounts`,
        body: {
          data: {
            type: 'AsyncAccountsReport',
            attributes: {
              accountIds: ['78'],
              startDate: '2026-02-01',
              endDate: '2026-03-02',
              timezone: 'Europe/Paris',
              dimensions: campaigns,
              metrics: ['impressions', 'spend', 'winRate'],
              clickAttributionWindow: '14D',
              viewAttributionWindow: 'none',
              format: 'json-newline',
            },
          },
        },
        answer: { status: 403, json: { errors: [{ code: 'access-denied' }] } },
      },
    ],
  },
  refusals: [{ status: 403, json: { errors: [{ code: 'access-denied' }] } }],
  transient: [{ status: 400, json: { errors: [{ code: 'quota-exceeded' }] } }],
  nextPage: 'none',
  examples: [
    {
      title: 'reads campaigns by reports that Criteo makes in the background, 30 days each',
      settings,
      exchanges: [
        ...report('r1', { days: ['2026-02-01', '2026-03-02'], dimensions: campaigns }, [
          {
            date: '2026-02-01',
            accountName: 'Shop',
            campaignId: '9007199254740993',
            campaignName: 'Spring',
            campaignTypeName: 'Sponsored Products',
            impressions: 10,
            spend: 1.25,
            winRate: 0.5,
          },
        ]),
        ...report('r2', { days: ['2026-03-03', '2026-03-03'], dimensions: campaigns }, [
          { date: '2026-03-03', accountName: 'Shop', campaignId: '8', campaignName: 'Sale', impressions: 1 },
        ]),
      ],
      columns: [...always, 'campaign_id', 'campaign_name', 'campaign_type', 'impressions', 'spend', 'winRate'],
      rows: [
        ['2026-02-01', '77', 'Shop', '9007199254740993', 'Spring', 'Sponsored Products', 10, '1.25', '0.5'],
        ['2026-03-03', '77', 'Shop', '8', 'Sale', null, 1, null, null],
      ],
    },
    {
      title: 'reads keywords of line items',
      settings: { ...settings, preset: 'Keywords', startDate: '2026-03-03' },
      exchanges: report(
        'r3',
        {
          days: ['2026-03-03', '2026-03-03'],
          dimensions: [
            ...['date', 'accountName', 'lineItemId', 'lineItemName', 'campaignId', 'campaignName', 'retailerId'],
            ...['retailerName', 'keyword'],
          ],
        },
        [
          {
            date: '2026-03-03',
            accountName: 'Shop',
            lineItemId: '5',
            lineItemName: 'Shoes',
            campaignId: '9',
            campaignName: 'Spring',
            retailerId: '3',
            retailerName: 'Mart',
            keyword: 'red shoes',
            impressions: 4,
          },
        ],
      ),
      columns: [
        ...[...always, 'line_item_id', 'line_item_name', 'campaign_id', 'campaign_name', 'retailer_id'],
        ...['retailer_name', 'keyword', 'impressions', 'spend', 'winRate'],
      ],
      rows: [['2026-03-03', '77', 'Shop', '5', 'Shoes', '9', 'Spring', '3', 'Mart', 'red shoes', 4, null, null]],
    },
  ],
})
