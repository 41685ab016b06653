import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { stripeBilling } from './stripe-billing.ts'

const version = '2026-08-26.dahlia'
const own = 'acct_1PgafTB7WZ01zgkW'
const second = (time: string) => Date.parse(time) / 1000
/** A page of objects that were created on some days, of the account of the key or of another. */
const page = (
  path: string,
  [from, before]: readonly [string, string],
  answer: Exchange['answer'],
  {
    after,
    account = null,
    query = {},
  }: { after?: string; account?: string | null; query?: Record<string, string> } = {},
): Exchange => ({
  path: `/v1/${path}`,
  query: {
    ...query,
    'created[gte]': String(second(`${from}T00:00:00Z`)),
    'created[lt]': String(second(`${before}T00:00:00Z`)),
    limit: '100',
    ...(after !== undefined && { starting_after: after }),
  },
  headers: { 'stripe-version': version, 'stripe-account': account },
  answer,
})
const list = (data: unknown[], has_more = false) => ({ json: { object: 'list', url: '/v1/x', has_more, data } })
const error = (status: number, code: string) => ({ status, json: { error: { code, type: 'invalid_request_error' } } })

const refund = (id: string, created: string, others: object = {}) => ({
  id,
  object: 'refund',
  amount: 100,
  balance_transaction: null,
  charge: 'ch_1',
  created: second(created),
  currency: 'usd',
  metadata: {},
  payment_intent: null,
  reason: null,
  status: 'succeeded',
  ...others,
})
const [one, two, three] = [
  refund('re_1', '2026-03-02T10:00:00Z', { metadata: { order: '7' } }),
  refund('re_2', '2026-03-01T00:00:00Z', { amount: 9_007_199_254_740_991 }),
  refund('re_3', '2026-03-03T23:59:59Z', { reason: 'duplicate' }),
]
const subscription = {
  id: 'sub_1',
  object: 'subscription',
  created: second('2026-03-01T08:00:00Z'),
  livemode: true,
  customer: 'cus_1',
  status: 'canceled',
  currency: 'eur',
  start_date: second('2026-03-01T08:00:00Z'),
  trial_start: null,
  trial_end: null,
  cancel_at_period_end: false,
  cancel_at: null,
  canceled_at: second('2026-03-02T08:00:00Z'),
  ended_at: null,
  collection_method: 'charge_automatically',
  latest_invoice: 'in_1',
  items: { object: 'list', data: [{ id: 'si_1' }] },
  metadata: {},
}
const event = {
  id: 'evt_1',
  object: 'event',
  api_version: version,
  created: second('2026-03-03T01:02:03Z'),
  livemode: false,
  type: 'customer.updated',
  data: { object: { id: 'cus_1', object: 'customer' }, previous_attributes: { email: null } },
}
const settings = { startDate: '2026-03-01', endDate: '2026-03-03' }
const days = ['2026-03-01', '2026-03-04'] as const
const always = ['created_day', 'account_id', 'livemode', 'id', 'created']
const rowOf = (item: ReturnType<typeof refund>, ...cells: (string | number | null)[]) => [
  ...cells,
  item.status,
  item.reason,
  item.charge,
  null,
  null,
  JSON.stringify(item.metadata),
  JSON.stringify(item),
]

await testReportSource({
  connector: stripeBilling,
  now: '2026-03-05T12:00:00Z',
  origins: ['https://api.stripe.com'],
  secrets: { apiKey: 'rk_live_good' },
  wrongSecrets: { apiKey: 'rk_live_bad' },
  denies: ({ headers }: Received) =>
    headers.authorization === 'Bearer rk_live_good' ? undefined : error(401, 'invalid_api_key'),
  common: [
    {
      path: '/v1/account',
      answer: { json: { id: own, object: 'account', default_currency: 'usd', business_profile: { name: 'Shop' } } },
    },
  ],
  reads: /^GET \/v1\/refunds$/,
  revoked: error(401, 'invalid_api_key'),
  failures: [
    [error(400, 'parameter_unknown'), 'fail', 'request_refused'],
    [{ json: { object: 'list', data: [one], has_more: 'many' } }, 'retry', 'malformed_response'],
    [{ json: { object: 'list', data: [], has_more: true } }, 'retry', 'malformed_response'],
    [{ json: { object: 'list', has_more: false } }, 'retry', 'malformed_response'],
  ],
  refused: {
    account: 'acct_other',
    exchanges: [page('refunds', days, error(403, 'account_invalid'), { account: 'acct_other' })],
  },
  refusals: [error(403, 'account_invalid'), error(403, 'more_permissions_required')],
  transient: [error(429, 'lock_timeout'), error(429, 'rate_limit')],
  nextPage: 'none',
  examples: [
    {
      title: 'reads the pages of objects by the time of creation, with whole amounts',
      settings: { ...settings, accountIds: own, level: 'refund' },
      exchanges: [
        page('refunds', days, list([three, one], true)),
        page('refunds', days, list([two]), { after: 're_1' }),
      ],
      columns: [
        ...[...always, 'amount', 'currency', 'status', 'reason', 'charge', 'payment_intent', 'balance_transaction'],
        ...['metadata', 'object_json'],
      ],
      rows: [
        rowOf(three, '2026-03-03', own, null, 're_3', '2026-03-03T23:59:59Z', 100, 'usd'),
        rowOf(one, '2026-03-02', own, null, 're_1', '2026-03-02T10:00:00Z', 100, 'usd'),
        rowOf(two, '2026-03-01', own, null, 're_2', '2026-03-01T00:00:00Z', 9_007_199_254_740_991, 'usd'),
      ],
    },
    {
      title: 'reads subscriptions that were cancelled, too, of a connected account',
      settings: { ...settings, accountIds: 'acct_2', level: 'subscription' },
      exchanges: [page('subscriptions', days, list([subscription]), { account: 'acct_2', query: { status: 'all' } })],
      columns: [
        ...[...always, 'customer', 'status', 'currency', 'start_date', 'trial_start', 'trial_end'],
        ...['cancel_at_period_end', 'cancel_at', 'canceled_at', 'ended_at', 'collection_method', 'latest_invoice'],
        ...['items', 'metadata', 'object_json'],
      ],
      rows: [
        [
          ...['2026-03-01', 'acct_2', true, 'sub_1', '2026-03-01T08:00:00Z', 'cus_1', 'canceled', 'eur'],
          ...['2026-03-01T08:00:00Z', null, null, false, null, '2026-03-02T08:00:00Z', null, 'charge_automatically'],
          ...['in_1', '[{"id":"si_1"}]', '{}', JSON.stringify(subscription)],
        ],
      ],
    },
    {
      title: 'reads the changes of the last 30 days, of the account of the key',
      settings: { level: 'event', startDate: '2025-01-01' },
      exchanges: [
        page('events', ['2026-02-03', '2026-03-06'], list([event])),
        page('events', ['2026-03-06', '2026-03-06'], list([])),
      ],
      columns: [...always, 'type', 'event_object', 'event_object_id', 'api_version', 'event_data'],
      rows: [
        [
          ...[
            '2026-03-03',
            own,
            false,
            'evt_1',
            '2026-03-03T01:02:03Z',
            'customer.updated',
            'customer',
            'cus_1',
            version,
          ],
          '{"id":"cus_1","object":"customer"}',
        ],
      ],
    },
  ],
})
