import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { pinterestAdsAnalytics } from './pinterest-ads-analytics.ts'

const storage = 'https://pinterest-reports.s3.amazonaws.com'
const account = (id: string, answer: Exchange['answer']): Exchange => ({ path: `/v5/ad_accounts/${id}`, answer })
const columns = ['CAMPAIGN_ID', 'CAMPAIGN_NAME', 'CAMPAIGN_ENTITY_STATUS', 'SPEND_IN_MICRO_DOLLAR', 'IMPRESSION_1']
const report = (from: string, to: string, token: string, content: unknown, granularity = 'DAY'): Exchange[] => [
  {
    method: 'POST',
    path: '/v5/ad_accounts/549/reports',
    body: {
      start_date: from,
      end_date: to,
      granularity,
      level: 'CAMPAIGN',
      columns,
      click_window_days: 7,
      engagement_window_days: 30,
      view_window_days: 1,
      conversion_report_time: 'TIME_OF_AD_ACTION',
      report_format: 'JSON',
    },
    answer: { json: { report_status: 'IN_PROGRESS', token, message: '' } },
  },
  {
    path: '/v5/ad_accounts/549/reports',
    query: { token },
    answer: { json: { report_status: 'FINISHED', url: `${storage}/${token}.json?signature=s`, size: 100 } },
  },
  {
    path: `/${token}.json`,
    query: { signature: 's' },
    headers: { authorization: null },
    answer: { json: content },
  },
]
const row = (date: string, id: number, spend: number | undefined) => ({
  DATE: date,
  CAMPAIGN_ID: id,
  CAMPAIGN_NAME: `Campaign ${id}`,
  CAMPAIGN_ENTITY_STATUS: 'ACTIVE',
  ...(spend !== undefined && { SPEND_IN_MICRO_DOLLAR: spend }),
  IMPRESSION_1: 10,
})
const settings = {
  accountIds: '549',
  startDate: '2026-03-01',
  endDate: '2026-03-31',
  metrics: ['spend', 'impressions'],
  clickWindow: '7',
}

await testReportSource({
  connector: pinterestAdsAnalytics,
  now: '2026-04-20T12:00:00Z',
  origins: ['https://api.pinterest.com', storage],
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/v5/oauth/token') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    if (path.endsWith('.json')) return undefined
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: { code: 2 } }
  },
  common: [
    {
      method: 'POST',
      path: '/v5/oauth/token',
      answer: { json: { access_token: 'access', refresh_token: 'good', expires_in: 2_592_000, token_type: 'bearer' } },
    },
    { path: '/v5/ad_accounts', query: { page_size: '1' }, answer: { json: { items: [] } } },
    account('549', { json: { id: '549', name: 'Shop', currency: 'EUR', time_zone: 'Europe/Paris' } }),
  ],
  reads: /^POST .*reports$/,
  revoked: { status: 401, json: { code: 2 } },
  failures: [
    [{ status: 400, json: { code: 1, message: 'columns' } }, 'fail', 'request_refused'],
    [{ json: { report_status: 'IN_PROGRESS' } }, 'retry', 'malformed_response'],
  ],
  refused: { account: '550', exchanges: [account('550', { status: 403, json: { code: 29 } })] },
  refusals: [{ status: 403, json: { code: 29 } }],
  transient: [1, 8, 12].map((code) => ({ status: 400, json: { code } })),
  nextPage: 'none',
  examples: [
    {
      title: 'reads reports of 30 days, whose rows are in lists by campaign, without the credentials',
      settings,
      exchanges: [
        ...report('2026-03-01', '2026-03-30', 'first', {
          '626735565838': [
            row('2026-03-01', 626_735_565_838, 1_500_000),
            row('2026-03-30', 626_735_565_838, undefined),
          ],
          '7': [row('2026-03-02', 7, 0)],
        }),
        ...report('2026-03-31', '2026-03-31', 'second', {}),
      ],
      columns: [
        ...['date', 'ad_account_id', 'ad_account_name', 'currency', 'campaign_id', 'campaign_name', 'campaign_status'],
        ...['spend', 'impressions'],
      ],
      rows: [
        ['2026-03-02', '549', 'Shop', 'EUR', '7', 'Campaign 7', 'ACTIVE', '0', 10],
        ['2026-03-01', '549', 'Shop', 'EUR', '626735565838', 'Campaign 626735565838', 'ACTIVE', '1.5', 10],
        ['2026-03-30', '549', 'Shop', 'EUR', '626735565838', 'Campaign 626735565838', 'ACTIVE', null, 10],
      ],
    },
    {
      title: 'reads a report of each month, whatever day its rows have',
      settings: { ...settings, granularity: 'Month' },
      exchanges: report('2026-03-01', '2026-03-31', 'month', { '7': [row('2026-03', 7, 0)] }, 'MONTH'),
      columns: [
        ...['date', 'ad_account_id', 'ad_account_name', 'currency', 'campaign_id', 'campaign_name', 'campaign_status'],
        ...['spend', 'impressions'],
      ],
      rows: [['2026-03-01', '549', 'Shop', 'EUR', '7', 'Campaign 7', 'ACTIVE', '0', 10]],
    },
  ],
})
