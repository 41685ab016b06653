import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { metaErrorOf } from './graph-errors.ts'
import { metaInsights } from './meta-insights.ts'

const base = '/v26.0'
const account = (id: string, answer: Exchange['answer']): Exchange => ({
  path: `${base}/act_${id}`,
  query: { fields: 'account_id,name,currency,timezone_name' },
  answer,
})
const fields =
  'date_start,date_stop,account_id,account_name,account_currency,campaign_id,campaign_name,objective,impressions,spend'
const day = (of: string, job: string): Exchange[] => [
  {
    method: 'POST',
    path: `${base}/act_900/insights`,
    body: { level: 'campaign', fields, time_range: { since: of, until: of }, time_increment: 1 },
    answer: { json: { report_run_id: job } },
  },
  { path: `${base}/${job}`, query: { fields: 'async_status' }, answer: { json: { async_status: 'Job Completed' } } },
]
const page = (job: string, query: Record<string, string>, answer: Exchange['answer']): Exchange => ({
  path: `${base}/${job}/insights`,
  query,
  answer,
})
const row = (of: string, id: string) => ({
  date_start: of,
  date_stop: of,
  campaign_id: id,
  campaign_name: `Campaign ${id}`,
  objective: 'OUTCOME_SALES',
  impressions: '7',
  spend: '1.50',
})
const rows = (of: string, id: string) => [
  ...[of, of, '900', 'Shop', 'EUR', id, `Campaign ${id}`, 'OUTCOME_SALES', 7, '1.50'],
]
const settings = {
  accountIds: '900',
  startDate: '2026-03-01',
  endDate: '2026-03-01',
  metrics: ['impressions', 'spend'],
}
const columns = fields.split(',')
const next = 'https://graph.facebook.com/v26.0/1/insights?after=more'
const refusal = (status: number, error: object) => ({ status, json: { error: { message: '', ...error } } })
const tooMuch = (status: number) =>
  refusal(status, { code: 1, message: "Please reduce the amount of data you're asking for, then retry your request" })

await testReportSource({
  connector: metaInsights,
  now: '2026-03-20T12:00:00Z',
  origins: ['https://graph.facebook.com'],
  secrets: { authType: 'api-token', accessToken: 'good' },
  wrongSecrets: { authType: 'api-token', accessToken: 'bad' },
  denies: ({ headers }) =>
    headers.authorization === 'Bearer good' ? undefined : refusal(400, { code: 190, error_subcode: 463 }),
  common: [
    { path: `${base}/me`, query: { fields: 'id' }, answer: { json: { id: '1' } } },
    {
      path: `${base}/me/permissions`,
      answer: { json: { data: [{ permission: 'ads_read', status: 'granted' }] } },
    },
    account('900', { json: { name: 'Shop', currency: 'EUR', timezone_name: 'Europe/Berlin' } }),
  ],
  reads: /\/insights$/,
  revoked: refusal(400, { code: 190, error_subcode: 463 }),
  failures: [
    [refusal(400, { code: 100, message: '(#100) Tried accessing nonexisting field' }), 'fail', 'request_refused'],
    [refusal(400, { code: 100, message: '(#100) Missing permissions' }), 'reconfigure', 'permission_denied'],
    [refusal(400, { code: 100, error_subcode: 33 }), 'reconfigure', 'object_not_found'],
    [tooMuch(500), 'fail', 'response_too_large'],
  ],
  refused: { account: '555', exchanges: [account('555', refusal(403, { code: 200 }))] },
  refusals: [
    refusal(400, { code: 100, message: '(#100) Missing permissions' }),
    refusal(400, { code: 100, error_subcode: 33 }),
    refusal(403, { code: 200 }),
    refusal(403, { code: 10 }),
    refusal(400, { code: 3 }),
  ],
  transient: [
    ...[1, 2, 4, 17, 32, 104, 341, 613, 960, 80_000, 80_004, 80_008, 80_014].map((code) => refusal(400, { code })),
    refusal(400, { code: 100, is_transient: true }),
    refusal(400, { code: 100, error_subcode: 99 }),
    refusal(400, { code: 2, error_subcode: 1_504_043 }),
    refusal(400, { code: 100, message: "Cannot include x in summary param because they weren't there while creating" }),
  ],
  nextPage: {
    at: 'paging.cursors.after',
    rowsAt: 'data',
    is: 'token',
    unusable: [
      (answer) => ({ ...answer, paging: { next } }),
      (answer) => ({ ...answer, paging: { next, cursors: {} } }),
    ],
  },
  examples: [
    {
      title: 'reads the pages of a report of a day',
      settings,
      exchanges: [
        ...day('2026-03-01', '1'),
        page(
          '1',
          { limit: '500' },
          {
            json: { data: [row('2026-03-01', '11')], paging: { cursors: { after: 'more' }, next } },
          },
        ),
        page(
          '1',
          { limit: '500', after: 'more' },
          {
            json: { data: [row('2026-03-01', '12')], paging: { cursors: { after: 'end' } } },
          },
        ),
      ],
      columns,
      rows: [rows('2026-03-01', '11'), rows('2026-03-01', '12')],
    },
    {
      title: 'asks for smaller pages if Meta asks for less data, and keeps them small',
      settings,
      exchanges: [
        ...day('2026-03-01', '1'),
        page('1', { limit: '500' }, tooMuch(500)),
        page('1', { limit: '125' }, refusal(400, { code: 2, error_subcode: 1_504_038 })),
        page(
          '1',
          { limit: '31' },
          {
            json: { data: [row('2026-03-01', '11')], paging: { cursors: { after: 'more' }, next } },
          },
        ),
        page('1', { limit: '31', after: 'more' }, tooMuch(400)),
        page('1', { limit: '10', after: 'more' }, { json: { data: [row('2026-03-01', '12')], paging: {} } }),
      ],
      columns,
      rows: [rows('2026-03-01', '11'), rows('2026-03-01', '12')],
    },
    {
      title: 'breaks down by product, with attribution windows, action breakdowns and metrics that are entered',
      settings: {
        accountIds: '900',
        startDate: '2026-03-01',
        endDate: '2026-03-01',
        level: 'account',
        breakdowns: ['product_id'],
        metrics: ['cost_per_action_type'],
        otherMetrics: 'website_ctr',
        attributionWindows: ['1d_click', '7d_click'],
        actionBreakdowns: ['action_device'],
        actionReportTime: 'conversion',
      },
      exchanges: [
        {
          method: 'POST',
          path: `${base}/act_900/insights`,
          body: {
            level: 'account',
            fields: 'date_start,date_stop,account_id,account_name,account_currency,cost_per_action_type,website_ctr',
            breakdowns: 'product_id',
            time_range: { since: '2026-03-01', until: '2026-03-01' },
            time_increment: 1,
            action_attribution_windows: ['1d_click', '7d_click'],
            action_breakdowns: ['action_device'],
            action_report_time: 'conversion',
          },
          answer: { json: { report_run_id: '9' } },
        },
        { path: `${base}/9`, query: { fields: 'async_status' }, answer: { json: { async_status: 'Job Completed' } } },
        page(
          '9',
          { limit: '500' },
          {
            json: {
              data: [
                {
                  date_start: '2026-03-01',
                  date_stop: '2026-03-01',
                  product_id: '77, Shoe',
                  cost_per_action_type: [{ action_device: 'desktop', value: '2.5', '7d_click': '1.5' }],
                  website_ctr: [{ action_type: 'link_click', value: '0.5' }],
                },
              ],
            },
          },
        ),
      ],
      columns: [
        ...['date_start', 'date_stop', 'account_id', 'account_name', 'account_currency', 'product_id'],
        ...['cost_per_action_type', 'website_ctr'],
      ],
      rows: [
        [
          ...['2026-03-01', '2026-03-01', '900', 'Shop', 'EUR', '77, Shoe'],
          '[{"action_device":"desktop","value":"2.5","7d_click":"1.5"}]',
          '[{"action_type":"link_click","value":"0.5"}]',
        ],
      ],
    },
  ],
})

test('refuses combinations that Meta refuses, before it asks, and names fields that Meta does not know', async () => {
  for (const [choice, message] of [
    [{ breakdowns: ['product_id', 'age'] }, /combines product_id with no other breakdown/],
    [{ breakdowns: ['image_asset', 'body_asset'] }, /does not combine image_asset and body_asset/],
    [{ breakdowns: ['hourly_stats_aggregated_by_advertiser_time_zone'], metrics: ['reach'] }, /has no reach by hour/],
    [{ otherMetrics: 'Reach!' }, /Other metrics must be/],
  ] as const) {
    const context = testContext({ secrets: { accessToken: 'good' }, settings: { ...settings, ...choice } as never })
    await assert.rejects(async () => await metaInsights.source?.open?.(context), { code: 'invalid_setting', message })
  }
  const said = (message: string) =>
    metaErrorOf({ status: 400, json: { error: { code: 100, message } } } as never)?.message
  assert.match(said('(#100) nope is not valid for fields param. please check') ?? '', /does not know the field nope/)
  assert.match(
    said('(#100) Current combination of data breakdown columns (action_type, age, country) is invalid') ?? '',
    /by action_type, age, country together/,
  )
})
