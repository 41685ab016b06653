import { gzipSync } from 'node:zlib'
import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { isSigned, refusal, xSecrets } from '../../test/x-server.ts'
import { xAdAnalytics } from './x-ad-analytics.ts'

const files = 'https://ton.twimg.com'
const nonces = new Set<string>()
const account = (id: string, answer: Exchange['answer']): Exchange => ({ path: `/12/accounts/${id}`, answer })
const active = (entity: string, [start, end]: [string, string], data: unknown[]): Exchange => ({
  path: '/12/stats/accounts/acc1/active_entities',
  query: { entity, start_time: start, end_time: end },
  answer: { json: { request: {}, data } },
})
const entity = (id: string, first: string, last: string, ...placements: string[]) => ({
  entity_id: id,
  activity_start_time: first,
  activity_end_time: last,
  placements,
})
type Job = { readonly id: string; readonly states?: readonly string[]; readonly data: unknown[] }
const job = (query: Record<string, string>, { id, states = [], data }: Job): Exchange[] => [
  {
    method: 'POST',
    path: '/12/stats/jobs/accounts/acc1',
    query: { granularity: 'DAY', ...query },
    answer: { json: { request: {}, data: { id: Number(id), id_str: id, status: 'PROCESSING', url: null } } },
  },
  {
    path: '/12/stats/jobs/accounts/acc1',
    query: { job_ids: id },
    answer: [...states, 'SUCCESS'].map((status) => ({
      json: { data: [{ id_str: id, status, url: status === 'SUCCESS' ? `${files}/stats_job_${id}.json.gz` : null }] },
    })),
  },
  {
    path: `/stats_job_${id}.json.gz`,
    headers: { authorization: null },
    answer: { bytes: gzipSync(JSON.stringify({ data_type: 'stats', time_series_length: 2, data, request: {} })) },
  },
]
const settings = { accountIds: 'acc1', startDate: '2026-03-07', endDate: '2026-03-08' }
// The clocks went forward on March 8. Midnights have the present offset.
const days = { start_time: '2026-03-07T00:00:00-07:00', end_time: '2026-03-09T00:00:00-07:00' }
const hours: [string, string] = ['2026-03-07T07:00:00Z', '2026-03-20T13:00:00Z']
const columns = ['date', 'account_id', 'account_name', 'currency', 'campaign_id', 'placement']

const byAge = {
  entity: 'CAMPAIGN',
  ...days,
  placement: 'ALL_ON_TWITTER',
  metric_groups: 'ENGAGEMENT',
  segmentation_type: 'AGE',
}
/** A report that X does not finish. @param again the ID of the report that is started next */
const timedOut = (ids: string, id: string, again = id): Exchange[] => [
  {
    method: 'POST',
    path: '/12/stats/jobs/accounts/acc1',
    query: { granularity: 'DAY', ...byAge, entity_ids: ids },
    answer: [id, again].map((one) => ({ json: { data: { id_str: one, status: 'PROCESSING' } } })),
  },
  {
    path: '/12/stats/jobs/accounts/acc1',
    query: { job_ids: id },
    answer: { json: { data: [{ id_str: id, status: 'TIMEOUT', url: null }] } },
  },
]
const ofAge = (id: string, name: string, value: string) => ({
  id,
  id_data: [{ segment: { segment_name: name, segment_value: value }, metrics: { impressions: [5, null] } }],
})

await testReportSource({
  connector: xAdAnalytics,
  now: '2026-03-20T12:30:00Z',
  origins: ['https://ads-api.x.com', files],
  secrets: xSecrets,
  wrongSecrets: { ...xSecrets, accessTokenSecret: 'another' },
  denies: (received: Received) =>
    received.path.startsWith('/stats_job_') || isSigned(received, nonces)
      ? undefined
      : refusal(401, 'UNAUTHORIZED_ACCESS'),
  common: [
    { path: '/12/accounts', query: { count: '1' }, answer: { json: { data: [{ id: 'acc1' }], next_cursor: 'c' } } },
    account('acc1', { json: { data: { id: 'acc1', name: 'Shop', timezone: 'America/Los_Angeles' } } }),
    {
      path: '/12/accounts/acc1/funding_instruments',
      query: { count: '1', with_deleted: 'true' },
      answer: { json: { data: [{ id: 'f1', currency: 'USD' }], next_cursor: null } },
    },
  ],
  reads: /POST .*\/stats\/jobs/,
  revoked: refusal(401, 'UNAUTHORIZED_ACCESS'),
  failures: [
    [refusal(400, 'INVALID_PARAMETER'), 'fail', 'request_refused'],
    [{ json: { data: {} } }, 'retry', 'malformed_response'],
    [
      {
        ...refusal(429, 'TOO_MANY_REQUESTS'),
        headers: { 'x-account-rate-limit-reset': '9', 'x-rate-limit-reset': '1' },
      },
      'retry',
      'rate_limited',
      9_000,
    ],
  ],
  refused: { account: 'acc9', exchanges: [account('acc9', refusal(403, 'ACCOUNT_NOT_FOUND'))] },
  refusals: [refusal(400, 'INVALID_ACCOUNT_SERVICE_LEVEL'), refusal(401, 'UNAUTHORIZED_ACCESS')],
  transient: [
    refusal(400, 'TOO_MANY_REQUESTS'),
    refusal(403, 'OVER_CAPACITY'),
    { status: 400, json: { errors: [{ code: 88 }] } },
    { status: 420, json: {} },
  ],
  nextPage: 'none',
  examples: [
    {
      title: 'asks for what was active, by placement, and leaves out days on which nothing happened',
      settings: { ...settings, metrics: ['impressions', 'spend', 'purchases'] },
      exchanges: [
        active('CAMPAIGN', hours, [
          entity('c2', '2026-03-07T09:00:00Z', '2026-03-07T10:00:00Z', 'ALL_ON_TWITTER', 'PUBLISHER_NETWORK'),
          entity('c1', '2026-03-01T09:00:00Z', '2026-03-12T10:00:00Z', 'TREND', 'ALL_ON_TWITTER'),
          entity('late', '2026-03-10T09:00:00Z', '2026-03-11T10:00:00Z', 'ALL_ON_TWITTER'),
          entity('early', '2026-03-01T09:00:00Z', '2026-03-07T06:59:00Z', 'ALL_ON_TWITTER'),
        ]),
        ...job(
          {
            entity: 'CAMPAIGN',
            entity_ids: 'c1,c2',
            ...days,
            placement: 'ALL_ON_TWITTER',
            metric_groups: 'ENGAGEMENT,BILLING,WEB_CONVERSION',
          },
          {
            id: '1120829647711653888',
            data: [
              {
                id: 'c1',
                id_data: [
                  {
                    segment: null,
                    metrics: {
                      impressions: [1233, null],
                      billed_charge_local_micro: [1_500_000, null],
                      likes: null,
                      conversion_purchases: { metric: [2, null], sale_amount: [7, null] },
                    },
                  },
                ],
              },
              {
                id: 'c2',
                id_data: [
                  {
                    segment: null,
                    metrics: { impressions: [0, 7], billed_charge_local_micro: null, conversion_purchases: null },
                  },
                ],
              },
            ],
          },
        ),
        ...job(
          {
            entity: 'CAMPAIGN',
            entity_ids: 'c1',
            ...days,
            placement: 'TREND',
            metric_groups: 'ENGAGEMENT,BILLING,WEB_CONVERSION',
          },
          { id: '2', data: [{ id: 'c1', id_data: [{ segment: null, metrics: { impressions: [null, 3] } }] }] },
        ),
      ],
      columns: [...columns, 'impressions', 'spend', 'purchases'],
      rows: [
        ['2026-03-07', 'acc1', 'Shop', 'USD', 'c1', 'ALL_ON_TWITTER', 1233, '1.5', 2],
        ['2026-03-07', 'acc1', 'Shop', 'USD', 'c2', 'ALL_ON_TWITTER', 0, null, null],
        ['2026-03-08', 'acc1', 'Shop', 'USD', 'c2', 'ALL_ON_TWITTER', 7, null, null],
        ['2026-03-08', 'acc1', 'Shop', 'USD', 'c1', 'TREND', 3, null, null],
      ],
    },
    {
      title: 'breaks figures down by gender, and starts no report if nothing was active',
      settings: {
        ...settings,
        startDate: '2026-02-06',
        level: 'line_item',
        breakdowns: ['gender'],
        metrics: ['impressions'],
      },
      exchanges: [
        active(
          'LINE_ITEM',
          ['2026-02-06T07:00:00Z', '2026-03-20T13:00:00Z'],
          [entity('l1', '2026-02-06T09:00:00Z', '2026-02-07T10:00:00Z', 'ALL_ON_TWITTER')],
        ),
        active('LINE_ITEM', ['2026-03-08T07:00:00Z', '2026-03-20T13:00:00Z'], []),
        ...job(
          {
            entity: 'LINE_ITEM',
            entity_ids: 'l1',
            start_time: '2026-02-06T00:00:00-07:00',
            end_time: '2026-03-08T00:00:00-07:00',
            placement: 'ALL_ON_TWITTER',
            metric_groups: 'ENGAGEMENT',
            segmentation_type: 'GENDER',
          },
          {
            id: '3',
            states: ['PROCESSING'],
            data: [
              {
                id: 'l1',
                id_data: [
                  { segment: { segment_name: 'Female', segment_value: '2' }, metrics: { impressions: [5] } },
                  { segment: { segment_name: 'Male', segment_value: '1' }, metrics: { impressions: [null, 4] } },
                ],
              },
            ],
          },
        ),
      ],
      columns: [...columns.with(4, 'line_item_id'), 'gender', 'impressions'],
      rows: [
        ['2026-02-06', 'acc1', 'Shop', 'USD', 'l1', 'ALL_ON_TWITTER', 'Female', 5],
        ['2026-02-07', 'acc1', 'Shop', 'USD', 'l1', 'ALL_ON_TWITTER', 'Male', 4],
      ],
    },
    {
      title:
        'asks for fewer entities, and for one again, if X does not finish a report in time; names segments by their values',
      settings: { ...settings, breakdowns: ['age'], metrics: ['impressions'] },
      exchanges: [
        active('CAMPAIGN', hours, [
          entity('c1', '2026-03-07T09:00:00Z', '2026-03-07T10:00:00Z', 'ALL_ON_TWITTER'),
          entity('c2', '2026-03-07T09:00:00Z', '2026-03-07T10:00:00Z', 'ALL_ON_TWITTER'),
        ]),
        ...timedOut('c1,c2', '10'),
        ...job({ ...byAge, entity_ids: 'c1' }, { id: '11', data: [ofAge('c1', 'AGE', '18-24')] }),
        ...timedOut('c2', '12', '13'),
        ...job({ ...byAge, entity_ids: 'c2' }, { id: '13', data: [ofAge('c2', '25-34', '7')] }),
      ],
      columns: [...columns, 'age', 'impressions'],
      rows: [
        ['2026-03-07', 'acc1', 'Shop', 'USD', 'c1', 'ALL_ON_TWITTER', '18-24', 5],
        ['2026-03-07', 'acc1', 'Shop', 'USD', 'c2', 'ALL_ON_TWITTER', '25-34', 5],
      ],
    },
  ],
})
