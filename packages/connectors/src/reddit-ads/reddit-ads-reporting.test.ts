import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { redditAdsReporting } from './reddit-ads-reporting.ts'

const account = (id: string, answer: Exchange['answer']): Exchange => ({ path: `/api/v3/ad_accounts/${id}`, answer })
const report = (
  [startsAt, endsAt]: [string, string],
  { breakdowns = ['DATE', 'CAMPAIGN_ID'], query = {} }: { breakdowns?: string[]; query?: Record<string, string> },
  metrics: unknown[],
  nextUrl: string | null = null,
): Exchange => ({
  method: 'POST',
  path: '/api/v3/ad_accounts/t2_shop/reports',
  query,
  body: {
    data: {
      breakdowns,
      fields: ['IMPRESSIONS', 'SPEND'],
      starts_at: startsAt,
      ends_at: endsAt,
      time_zone_id: 'Asia/Kolkata',
    },
  },
  answer: { json: { data: { metrics }, pagination: { next_url: nextUrl, previous_url: null } } },
})
const settings = {
  accountIds: 't2_shop',
  startDate: '2026-03-01',
  endDate: '2026-03-08',
  metrics: ['impressions', 'spend'],
}
// Midnight in Kolkata is at half past an hour in UTC, so the hours around it are requested.
const week: [string, string] = ['2026-02-28T18:00:00Z', '2026-03-07T19:00:00Z']

await testReportSource({
  connector: redditAdsReporting,
  now: '2026-03-20T12:00:00Z',
  origins: ['https://ads-api.reddit.com', 'https://www.reddit.com'],
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/api/v1/access_token') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: {} }
  },
  common: [
    {
      method: 'POST',
      path: '/api/v1/access_token',
      answer: { json: { access_token: 'access', expires_in: 3600, token_type: 'bearer', scope: 'adsread' } },
    },
    { path: '/api/v3/me', answer: { json: { data: { id: '1' } } } },
    account('t2_shop', { json: { data: { name: 'Shop', currency: 'INR', time_zone_id: 'Asia/Kolkata' } } }),
  ],
  reads: /\/reports$/,
  revoked: { status: 401, json: {} },
  failures: [
    [{ status: 400, json: { error: { code: 400 } } }, 'fail', 'request_refused'],
    [{ json: { data: {} } }, 'retry', 'malformed_response'],
  ],
  refused: { account: 't2_other', exchanges: [account('t2_other', { status: 403, json: {} })] },
  refusals: [{ status: 400, json: { error: { code: 400, message: 'Unknown Ad Account' } } }],
  transient: [],
  nextPage: { at: 'pagination.next_url', rowsAt: 'data.metrics', is: 'address' },
  examples: [
    {
      title: 'reads pages of a week in a zone of half an hour, without the hours of other days',
      settings,
      exchanges: [
        report(
          week,
          {},
          [
            { date: '2026-02-28', campaign_id: 'c1', impressions: 1, spend: 1 },
            { date: '2026-03-01', campaign_id: 'c1', impressions: 1500, spend: 2_500_000 },
          ],
          'https://ads-api.reddit.com/api/v3/ad_accounts/t2_shop/reports?page.token=two',
        ),
        report(week, { query: { 'page.token': 'two' } }, [
          { date: '2026-03-07', campaign_id: 'c2', impressions: 0, spend: 0 },
          { date: '2026-03-08', campaign_id: 'c2', impressions: 3, spend: 1 },
        ]),
        report(['2026-03-07T18:00:00Z', '2026-03-08T19:00:00Z'], {}, []),
      ],
      columns: ['date', 'ad_account_id', 'ad_account_name', 'currency', 'campaign_id', 'impressions', 'spend'],
      rows: [
        ['2026-03-01', 't2_shop', 'Shop', 'INR', 'c1', 1500, '2.5'],
        ['2026-03-07', 't2_shop', 'Shop', 'INR', 'c2', 0, '0'],
      ],
    },
    {
      title: 'breaks the figures of the account down by country',
      settings: { ...settings, level: 'account', breakdowns: ['country'], endDate: '2026-03-01' },
      exchanges: [
        report(['2026-02-28T18:00:00Z', '2026-03-01T19:00:00Z'], { breakdowns: ['DATE', 'COUNTRY'] }, [
          { date: '2026-03-01', country: 'IN', impressions: 9, spend: 10 },
        ]),
      ],
      columns: ['date', 'ad_account_id', 'ad_account_name', 'currency', 'country', 'impressions', 'spend'],
      rows: [['2026-03-01', 't2_shop', 'Shop', 'INR', 'IN', 9, '0.00001']],
    },
  ],
})
