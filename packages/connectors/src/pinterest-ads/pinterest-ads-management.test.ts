import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { pinterestAdsManagement } from './pinterest-ads-management.ts'

const account = (id: string, answer: Exchange['answer']): Exchange => ({ path: `/v5/ad_accounts/${id}`, answer })
const page = (list: string, items: unknown, bookmark?: string, next: string | null = null): Exchange => ({
  path: `/v5/ad_accounts/549/${list}`,
  // If a parameter is repeated, its last value.
  query: { entity_statuses: 'DRAFT', page_size: '250', ...(bookmark !== undefined && { bookmark }) },
  answer: { json: { items, bookmark: next } },
})
const campaign = (id: string) => ({
  id,
  ad_account_id: '549',
  name: 'Spring',
  status: 'PAUSED',
  summary_status: 'PAUSED',
  objective_type: 'AWARENESS',
  daily_spend_cap: 25_500_000,
  lifetime_spend_cap: null,
  is_campaign_budget_optimization: true,
  is_flexible_daily_budgets: false,
  order_line_id: null,
  tracking_urls: { impression: ['https://example.com'] },
  start_time: 1_767_225_600,
  end_time: -1,
  created_time: 1_767_225_601,
  updated_time: 1_767_225_602,
  type: 'campaign',
})
const row = (id: string) => [
  ...['549', 'Shop', 'EUR', id, 'Spring', 'PAUSED', 'PAUSED', 'AWARENESS', '25.5', null, true, false, null, null],
  ...['{"impression":["https://example.com"]}', '2026-01-01T00:00:00Z', null],
  ...['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z'],
]
const times = ['start_time', 'end_time', 'created_time', 'updated_time']

await testReportSource({
  connector: pinterestAdsManagement,
  now: '2026-04-20T12:00:00Z',
  origins: ['https://api.pinterest.com'],
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/v5/oauth/token') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: { code: 2 } }
  },
  common: [
    {
      method: 'POST',
      path: '/v5/oauth/token',
      answer: { json: { access_token: 'access', expires_in: 3600, token_type: 'bearer', refresh_token: 'good' } },
    },
    { path: '/v5/ad_accounts', query: { page_size: '1' }, answer: { json: { items: [{ id: '549' }] } } },
    account('549', { json: { id: '549', name: 'Shop', currency: 'EUR', time_zone: 'Europe/Berlin' } }),
  ],
  reads: /\/campaigns$/,
  revoked: { status: 401, json: { code: 2 } },
  failures: [
    [{ status: 400, json: { code: 3 } }, 'fail', 'request_refused'],
    [{ json: { bookmark: null } }, 'retry', 'malformed_response'],
  ],
  refused: { account: '777', exchanges: [account('777', { status: 403, json: { code: 29 } })] },
  refusals: [{ status: 403, json: { code: 29 } }],
  transient: [1, 8, 12].map((code) => ({ status: 400, json: { code } })),
  nextPage: { at: 'bookmark', rowsAt: 'items', is: 'token' },
  examples: [
    {
      title: 'reads pages of campaigns',
      settings: { accountIds: '549' },
      exchanges: [page('campaigns', [campaign('1')], undefined, 'two'), page('campaigns', [campaign('2')], 'two')],
      columns: [
        ...['ad_account_id', 'ad_account_name', 'currency', 'campaign_id', 'name', 'status', 'summary_status'],
        ...['objective_type', 'daily_spend_cap', 'lifetime_spend_cap', 'is_campaign_budget_optimization'],
        ...['is_flexible_daily_budgets', 'is_performance_plus', 'order_line_id', 'tracking_urls', ...times],
      ],
      rows: [row('1'), row('2')],
    },
    {
      title: 'reads ad groups, with money in units of the currency',
      settings: { accountIds: '549', level: 'ad_group' },
      exchanges: [
        page('ad_groups', [
          {
            id: '3',
            campaign_id: '1',
            name: 'Women',
            status: 'ACTIVE',
            budget_in_micro_currency: 5_000_000,
            budget_type: 'DAILY',
            bid_in_micro_currency: 250_000,
            auto_targeting_enabled: false,
            targeting_spec: { GENDER: ['female'] },
          },
        ]),
      ],
      columns: [
        ...['ad_account_id', 'ad_account_name', 'currency', 'ad_group_id', 'campaign_id', 'name', 'status'],
        ...['summary_status', 'budget', 'budget_type', 'bid', 'bid_strategy_type', 'billable_event'],
        ...['placement_group', 'pacing_delivery_type', 'auto_targeting_enabled', 'targeting_spec'],
        ...['optimization_goal_metadata', 'tracking_urls', ...times],
      ],
      rows: [
        [
          ...['549', 'Shop', 'EUR', '3', '1', 'Women', 'ACTIVE', null, '5', 'DAILY', '0.25', null, null, null, null],
          ...[false, '{"GENDER":["female"]}', null, null, null, null, null, null],
        ],
      ],
    },
  ],
})
