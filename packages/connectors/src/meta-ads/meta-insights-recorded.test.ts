import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
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
  ],
})
