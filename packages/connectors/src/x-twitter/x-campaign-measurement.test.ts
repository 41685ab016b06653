import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { isSigned, refusal, xSecrets } from '../../test/x-server.ts'
import { xCampaignMeasurement } from './x-campaign-measurement.ts'

const nonces = new Set<string>()
const account = (id: string, answer: Exchange['answer']): Exchange => ({ path: `/12/accounts/${id}`, answer })
const page = (list: string, query: Record<string, string>, data: unknown[], next: string | null = null): Exchange => ({
  path: `/12/accounts/acc1/${list}`,
  query: { count: '1000', with_deleted: 'false', ...query },
  answer: { json: { request: {}, data, next_cursor: next } },
})
const campaign = {
  name: 'Spring',
  budget_optimization: 'CAMPAIGN',
  reasons_not_servable: ['PAUSED_BY_ADVERTISER'],
  servable: false,
  purchase_order_number: null,
  effective_status: 'UNKNOWN',
  daily_budget_amount_local_micro: 10_500_000,
  funding_instrument_id: 'lygyi',
  standard_delivery: true,
  total_budget_amount_local_micro: null,
  id: '8wku2',
  entity_status: 'PAUSED',
  currency: 'EUR',
  created_at: '2026-01-03T21:38:07Z',
  updated_at: '2026-02-03T21:38:07Z',
  deleted: false,
}
const row = (id: string, currency: string) => [
  ...['acc1', 'Shop', currency, id, 'Spring', 'PAUSED', 'UNKNOWN', false, '["PAUSED_BY_ADVERTISER"]', 'lygyi'],
  ...['CAMPAIGN', '10.5', null, true, null, '2026-01-03T21:38:07Z', '2026-02-03T21:38:07Z', false],
]

await testReportSource({
  connector: xCampaignMeasurement,
  now: '2026-03-20T12:30:00Z',
  origins: ['https://ads-api.x.com'],
  secrets: xSecrets,
  wrongSecrets: { ...xSecrets, accessTokenSecret: 'another' },
  denies: (received: Received) => (isSigned(received, nonces) ? undefined : refusal(401, 'UNAUTHORIZED_ACCESS')),
  common: [
    { path: '/12/accounts', query: { count: '1' }, answer: { json: { data: [{ id: 'acc1' }], next_cursor: 'c' } } },
    account('acc1', { json: { data: { id: 'acc1', name: 'Shop', timezone: 'Europe/Berlin' } } }),
    {
      path: '/12/accounts/acc1/funding_instruments',
      query: { count: '1', with_deleted: 'true' },
      answer: { json: { data: [{ id: 'f1', currency: 'USD' }], next_cursor: null } },
    },
  ],
  reads: /\/campaigns$/,
  revoked: refusal(401, 'UNAUTHORIZED_ACCESS'),
  failures: [
    [refusal(400, 'INVALID_PARAMETER'), 'fail', 'request_refused'],
    [{ json: { data: {} } }, 'retry', 'malformed_response'],
  ],
  refused: {
    account: 'acc9',
    exchanges: [account('acc9', refusal(400, 'INVALID_ACCOUNT_SERVICE_LEVEL'))],
  },
  refusals: [refusal(400, 'INVALID_ACCOUNT_SERVICE_LEVEL'), refusal(401, 'UNAUTHORIZED_ACCESS')],
  transient: [
    refusal(400, 'TOO_MANY_REQUESTS'),
    refusal(403, 'OVER_CAPACITY'),
    { status: 400, json: { errors: [{ code: 88 }] } },
    { status: 420, json: {} },
  ],
  nextPage: { at: 'next_cursor', rowsAt: 'data', is: 'token' },
  examples: [
    {
      title: 'reads pages of campaigns, with the currency of each',
      settings: { accountIds: 'acc1' },
      exchanges: [
        page('campaigns', {}, [campaign], 'two'),
        page('campaigns', { cursor: 'two' }, [{ ...campaign, id: '9', currency: undefined }]),
      ],
      columns: [
        ...['account_id', 'account_name', 'currency', 'campaign_id', 'name', 'entity_status', 'effective_status'],
        ...['servable', 'reasons_not_servable', 'funding_instrument_id', 'budget_optimization', 'daily_budget'],
        ...['total_budget', 'standard_delivery', 'purchase_order_number', 'created_at', 'updated_at', 'deleted'],
      ],
      rows: [row('8wku2', 'EUR'), row('9', 'USD')],
    },
    {
      title: 'reads ads, deleted ones, too',
      settings: { accountIds: 'acc1', level: 'promoted_tweet', withDeleted: true },
      exchanges: [
        page('promoted_tweets', { with_deleted: 'true' }, [
          {
            id: '1efwlo',
            line_item_id: '96uzp',
            tweet_id: '8446744073709551615',
            entity_status: 'ACTIVE',
            approval_status: 'ACCEPTED',
            created_at: '2026-01-03T21:38:07Z',
            updated_at: '2026-02-03T21:38:07Z',
            deleted: true,
          },
        ]),
      ],
      columns: [
        ...['account_id', 'account_name', 'currency', 'promoted_tweet_id', 'line_item_id', 'tweet_id'],
        ...['entity_status', 'approval_status', 'created_at', 'updated_at', 'deleted'],
      ],
      rows: [
        [
          ...['acc1', 'Shop', 'USD', '1efwlo', '96uzp', '8446744073709551615', 'ACTIVE', 'ACCEPTED'],
          ...['2026-01-03T21:38:07Z', '2026-02-03T21:38:07Z', true],
        ],
      ],
    },
  ],
})
