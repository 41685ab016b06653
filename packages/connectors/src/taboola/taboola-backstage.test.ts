import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { taboolaBackstage } from './taboola-backstage.ts'

const api = '/backstage/api/1.0'
const report = (
  account: string,
  days: [string, string],
  answer: Exchange['answer'],
  by = 'campaign_day_breakdown',
): Exchange => ({
  path: `${api}/${account}/reports/campaign-summary/dimensions/${by}`,
  query: { start_date: days[0], end_date: days[1] },
  answer,
})
const row = (date: string, campaign: string, figures: object) => ({
  date: `${date} 00:00:00.0`,
  campaign,
  campaign_name: `Campaign ${campaign}`,
  currency: 'USD',
  ...figures,
})
const settings = {
  accountIds: 'shop',
  startDate: '2026-02-15',
  endDate: '2026-03-17',
  metrics: ['clicks', 'spent', 'ctr'],
}

await testReportSource({
  connector: taboolaBackstage,
  now: '2026-03-20T12:00:00Z',
  origins: ['https://backstage.taboola.com'],
  secrets: { clientId: 'app', clientSecret: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/backstage/oauth/token') {
      const isGood = new URLSearchParams(text).get('client_secret') === 'good'
      return isGood ? undefined : { status: 401, json: { error: 'invalid_client' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: {} }
  },
  common: [
    {
      method: 'POST',
      path: '/backstage/oauth/token',
      form: { grant_type: 'client_credentials', client_id: 'app', client_secret: 'good' },
      answer: { json: { access_token: 'access', expires_in: 43_200, token_type: 'bearer' } },
    },
    { path: `${api}/users/current/account/`, answer: { json: { account_id: 'shop' } } },
  ],
  reads: /campaign-summary/,
  revoked: { status: 401, json: {} },
  failures: [
    [{ status: 400, json: { http_status: 400 } }, 'fail', 'request_refused'],
    [{ json: {} }, 'retry', 'malformed_response'],
  ],
  refused: { account: 'other', exchanges: [report('other', ['2026-02-15', '2026-03-16'], { status: 403, json: {} })] },
  refusals: [],
  transient: [],
  nextPage: 'none',
  examples: [
    {
      title: 'reads campaigns 30 days at a time, with percentages as fractions',
      settings,
      exchanges: [
        report('shop', ['2026-02-15', '2026-03-16'], {
          json: {
            'last-used-rawdata-update-time': '2026-03-20 11:00:00.0',
            timezone: 'UTC',
            results: [
              row('2026-02-15', '1', { clicks: 12, spent: 3.45, ctr: 0.5 }),
              row('2026-02-16', '1', { clicks: 0, spent: 0, ctr: 0 }),
            ],
            recordCount: 2,
          },
        }),
        report('shop', ['2026-03-17', '2026-03-17'], { json: { results: [], recordCount: 0 } }),
      ],
      columns: ['date', 'account_id', 'currency', 'campaign_id', 'campaign_name', 'clicks', 'spent', 'ctr'],
      rows: [
        ['2026-02-15', 'shop', 'USD', '1', 'Campaign 1', 12, '3.45', '0.005'],
        ['2026-02-16', 'shop', 'USD', '1', 'Campaign 1', 0, '0', '0'],
      ],
    },
  ],
})
