import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { snapchatReporting } from './snapchat-reporting.ts'

const account = (id: string, adaccount: object, status = 'SUCCESS'): Exchange => ({
  path: `/v1/adaccounts/${id}`,
  answer: { json: { request_status: 'SUCCESS', adaccounts: [{ sub_request_status: status, adaccount }] } },
})
type Stats = { readonly id: string; readonly days: readonly (readonly [startTime: string, stats: object])[] }
const stats = (
  { from, to, fields, level, cursor }: { from: string; to: string; fields: string; level?: string; cursor?: string },
  list: readonly Stats[],
  next?: string,
): Exchange => {
  const series = list.map(({ id, days }) => ({
    id,
    granularity: 'DAY',
    timeseries: days.map(([start_time, figures]) => ({ start_time, stats: figures })),
  }))
  return {
    path: '/v1/adaccounts/acc-1/stats',
    query: {
      granularity: 'DAY',
      start_time: from,
      end_time: to,
      fields,
      ...(level !== undefined && { breakdown: level }),
      swipe_up_attribution_window: '28_DAY',
      view_attribution_window: '1_DAY',
      limit: '1000',
      ...(cursor !== undefined && { cursor }),
    },
    answer: {
      json: {
        request_status: 'SUCCESS',
        // Without rows, Snapchat omits the list.
        ...(list.length > 0 && {
          timeseries_stats: [
            {
              sub_request_status: 'SUCCESS',
              timeseries_stat: level === undefined ? series[0] : { id: 'acc-1', breakdown_stats: { [level]: series } },
            },
          ],
        }),
        ...(next !== undefined && {
          paging: { next_link: `https://adsapi.snapchat.com/v1/adaccounts/acc-1/stats?cursor=${next}` },
        }),
      },
    },
  }
}
const settings = {
  accountIds: 'acc-1',
  startDate: '2026-03-07',
  endDate: '2026-03-14',
  metrics: ['impressions', 'spend'],
}
// The clocks of Los Angeles changed on 8 March 2026.
const week = { from: '2026-03-07T00:00:00.000-08:00', to: '2026-03-14T00:00:00.000-07:00', fields: 'impressions,spend' }

await testReportSource({
  connector: snapchatReporting,
  now: '2026-03-20T12:00:00Z',
  origins: ['https://adsapi.snapchat.com', 'https://accounts.snapchat.com'],
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/login/oauth2/access_token') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: {} }
  },
  common: [
    {
      method: 'POST',
      path: '/login/oauth2/access_token',
      answer: { json: { access_token: 'access', expires_in: 1800, token_type: 'Bearer' } },
    },
    { path: '/v1/me', answer: { json: { request_status: 'SUCCESS', me: { id: '1' } } } },
    account('acc-1', { name: 'Shop', currency: 'USD', timezone: 'America/Los_Angeles' }),
  ],
  reads: /\/stats$/,
  revoked: { status: 401, json: {} },
  failures: [
    [{ status: 400, json: { request_status: 'ERROR', error_code: 'E1008' } }, 'fail', 'request_refused'],
    [{ status: 403, json: { request_status: 'ERROR', error_code: 'E3003' } }, 'reconfigure', 'permission_denied'],
    [{ json: { request_status: 'SUCCESS', timeseries_stats: {} } }, 'retry', 'malformed_response'],
  ],
  refused: { account: 'acc-2', exchanges: [account('acc-2', {}, 'ERROR')] },
  refusals: [{ status: 403, json: { request_status: 'ERROR', error_code: 'E3003' } }],
  transient: [{ status: 400, json: { request_status: 'ERROR', error_code: 'E1001' } }],
  nextPage: {
    at: 'paging.next_link',
    rowsAt: 'timeseries_stats',
    is: 'address',
    unusable: [
      (answer) => ({ ...answer, paging: { next_link: 'https://adsapi.snapchat.com/v1/adaccounts/acc-1/stats' } }),
      (answer) => ({ ...answer, paging: { next_link: 'https://adsapi.snapchat.com/v2/stats?cursor=more' } }),
    ],
  },
  examples: [
    {
      title: 'reads campaigns in pages, by the midnights of the account on both sides of a change of clocks',
      settings,
      exchanges: [
        stats(
          { ...week, level: 'campaign' },
          [{ id: 'c1', days: [['2026-03-07T00:00:00.000-08:00', { impressions: 10, spend: 1234567 }]] }],
          'more',
        ),
        stats({ ...week, level: 'campaign', cursor: 'more' }, [
          { id: 'c2', days: [['2026-03-09T00:00:00.000-07:00', { impressions: 0, spend: 0 }]] },
        ]),
        stats(
          {
            from: '2026-03-14T00:00:00.000-07:00',
            to: '2026-03-15T00:00:00.000-07:00',
            fields: week.fields,
            level: 'campaign',
          },
          [],
        ),
      ],
      columns: ['day', 'ad_account_id', 'ad_account_name', 'currency', 'campaign_id', 'impressions', 'spend'],
      rows: [
        ['2026-03-07', 'acc-1', 'Shop', 'USD', 'c1', 10, '1.234567'],
        ['2026-03-09', 'acc-1', 'Shop', 'USD', 'c2', 0, '0'],
      ],
    },
    {
      title: 'reads the account as a whole',
      settings: { ...settings, level: 'account', endDate: '2026-03-07', otherMetrics: 'paid_impressions' },
      exchanges: [
        stats({ from: week.from, to: '2026-03-08T00:00:00.000-08:00', fields: 'impressions,spend,paid_impressions' }, [
          { id: 'acc-1', days: [['2026-03-07T00:00:00.000-08:00', { impressions: 7, paid_impressions: 6 }]] },
        ]),
      ],
      columns: ['day', 'ad_account_id', 'ad_account_name', 'currency', 'impressions', 'spend', 'paid_impressions'],
      rows: [['2026-03-07', 'acc-1', 'Shop', 'USD', 7, null, '6']],
    },
  ],
})
