import { gzipSync } from 'node:zlib'
import { definePlatform, secret } from '@penstock/connector'
import type { Received } from '../../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../../test/test-report-source.ts'
import { zipOf } from '../../../test/zip.ts'
import { isObject, objectIn, textIn } from '../../platform-api/json.ts'
import { bearer, restApi } from '../api.ts'
import { day, dimension, metric, ofAccount } from '../report-columns.ts'
import type { ReportSource } from '../report-facts.ts'
import { rowsIn } from '../report-rows.ts'
import { reportSource } from '../report-source.ts'

/*
 * Three made-up platforms, one for each form of report, with quirks of real ones: pages by number, two objects in a row,
 * metrics in several requests; a job that answers 425 if it runs already, and a list as gzip; a table as ZIP with lines around
 * it.
 */
const origin = 'https://api.example.com'
const storage = 'https://files.example.com'
const platform = definePlatform({ slug: 'example-ads', name: 'Example Ads', type: 'Demand-Side Platform (DSP)' })
const common = {
  platform,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the figures of a made-up platform.',
  secrets: { token: secret({ label: 'Token', description: 'Token of the platform', required: true }) },
  platformApi: restApi({ name: 'Example', baseUrl: `${origin}/v1` }),
  auth: bearer('token'),
  accounts: {
    label: 'Account IDs',
    id: /^\d{1,10}$/,
    example: '100',
    get: (account) => ({ path: `/accounts/${account}` }),
    about({ json }) {
      const { name, currency, zone } = objectIn(json)
      return { name: textIn(name), currency: textIn(currency), zone: textIn(zone) }
    },
  },
  check: { authentication: () => ({ path: '/me' }) },
} satisfies Partial<ReportSource>

const isSignedIn = { headers: { authorization: 'Bearer good' } }
const basics: Exchange[] = [
  { path: '/v1/me', ...isSignedIn, answer: { json: { id: '1' } } },
  {
    path: '/v1/accounts/100',
    answer: { json: { name: 'Shop', currency: 'EUR', zone: 'America/Los_Angeles' } },
  },
]
const given = {
  // It is still the fifth in Los Angeles.
  now: '2026-03-06T05:00:00Z',
  origins: [origin, storage],
  secrets: { token: 'good' },
  wrongSecrets: { token: 'bad' },
  denies: ({ headers, path }: Received) =>
    headers.authorization === 'Bearer good' || path.startsWith('/signed/') ? undefined : { status: 401, json: {} },
  common: basics,
  revoked: { status: 401, json: {} },
  refused: { account: '200', exchanges: [{ path: '/v1/accounts/200', answer: { status: 403, json: {} } }] },
  refusals: [],
  transient: [],
  nextPage: 'none',
} as const

const pages = reportSource({
  ...common,
  slug: 'example-pages',
  name: 'Example pages',
  levels: { ad: { key: ['ad_id'], columns: ['ad_name'] }, campaign: { key: ['campaign_id'] } },
  always: ['date', 'account_id', 'currency'],
  breakdowns: ['country'],
  presets: {
    Delivery: { metrics: ['impressions', 'spend', 'ctr'] },
    Results: { level: 'campaign', metrics: ['sales'] },
  },
  nulls: ['-'],
  metricsMax: 2,
  columns: {
    date: day('Day of the row', { ask: 'stat_day', at: 'dimensions.stat_day' }),
    account_id: ofAccount('account', 'ID of the account'),
    currency: ofAccount('currency', 'Currency of the account'),
    ad_id: dimension('ID of the ad', { at: 'dimensions.ad_id' }),
    ad_name: dimension('Name of the ad', { at: 'metrics.ad_name' }),
    campaign_id: dimension('ID of the campaign', { at: 'dimensions.campaign_id' }),
    country: dimension('Country', { at: 'dimensions.country' }),
    impressions: metric('whole', 'Views', { at: 'metrics.impressions' }),
    spend: metric('micros', 'Spend', { ask: 'spend_micros', at: 'metrics.spend_micros' }),
    ctr: metric('percent', 'Clicks for each view', { at: 'metrics.ctr' }),
    sales: metric('money', 'Sales', { at: 'metrics.sales' }),
  },
  days: { backMax: 60, lookBack: 3, chunk: 2 },
  report: {
    form: 'pages',
    page: ({ account, from, to, asks }, page = '1') => ({
      path: '/report',
      query: {
        account,
        from,
        to,
        dimensions: [...asks.always, ...asks.level, ...asks.breakdowns].join(),
        metrics: asks.metrics.join(),
        page,
      },
    }),
    rows: ({ json }) => rowsIn(objectIn(objectIn(json).data).list),
    next({ json }) {
      const { page, total_page: total } = objectIn(objectIn(objectIn(json).data).page_info)
      return Number(page) < Number(total) ? String(Number(page) + 1) : undefined
    },
  },
})

const page = (days: [string, string], metrics: string, list: unknown[], at = 1, of = 1): Exchange => ({
  path: '/v1/report',
  query: {
    account: '100',
    from: days[0],
    to: days[1],
    dimensions: 'stat_day,ad_id,ad_name',
    metrics,
    page: String(at),
  },
  answer: { json: { data: { list, page_info: { page: at, total_page: of } } } },
})
const item = (stat_day: string, ad_id: string, metrics: Record<string, string>) => ({
  dimensions: { stat_day, ad_id },
  metrics: { ad_name: `Ad ${ad_id}`, ...metrics },
})
const first: [string, string] = ['2026-03-03', '2026-03-04']
const second: [string, string] = ['2026-03-05', '2026-03-05']

await testReportSource({
  ...given,
  connector: pages,
  reads: /GET \/v1\/report/,
  examples: [
    {
      title:
        'makes one row of several requests for metrics, moves points by digits, and keeps a missing figure missing',
      settings: { accountIds: '100', startDate: '2026-03-03' },
      exchanges: [
        page(first, 'impressions,spend_micros', [
          item('2026-03-03 00:00:00', '7', { impressions: '1,200', spend_micros: '12345678901234567' }),
          item('2026-03-04 00:00:00', '7', { impressions: '0', spend_micros: '-' }),
        ]),
        page(first, 'ctr', [item('2026-03-03 00:00:00', '7', { ctr: '12.5%' })], 1, 2),
        page(first, 'ctr', [item('2026-03-04 00:00:00', '8', { ctr: '0.05' })], 2, 2),
        page(second, 'impressions,spend_micros', [
          item('2026-03-05', '7', { impressions: '5', spend_micros: '-250000' }),
        ]),
        page(second, 'ctr', []),
      ],
      columns: ['date', 'account_id', 'currency', 'ad_id', 'ad_name', 'impressions', 'spend', 'ctr'],
      rows: [
        ['2026-03-03', '100', 'EUR', '7', 'Ad 7', 1200, '12345678901.234567', '0.125'],
        ['2026-03-04', '100', 'EUR', '7', 'Ad 7', 0, null, null],
        ['2026-03-04', '100', 'EUR', '8', 'Ad 8', null, null, '0.0005'],
        ['2026-03-05', '100', 'EUR', '7', 'Ad 7', 5, '-0.25', null],
      ],
    },
    {
      title: 'takes level and metrics of a preset, and breaks down what the connection chose',
      settings: { accountIds: '100', preset: 'Results', breakdowns: ['country'], startDate: '2026-03-05' },
      exchanges: [
        {
          path: '/v1/report',
          query: {
            account: '100',
            from: '2026-03-05',
            to: '2026-03-05',
            dimensions: 'stat_day,campaign_id,country',
            metrics: 'sales',
            page: '1',
          },
          answer: {
            json: {
              data: {
                list: [
                  { dimensions: { stat_day: '20260305', campaign_id: 9, country: 'DE' }, metrics: { sales: '3.10' } },
                ],
              },
            },
          },
        },
      ],
      columns: ['date', 'account_id', 'currency', 'campaign_id', 'country', 'sales'],
      rows: [['2026-03-05', '100', 'EUR', '9', 'DE', '3.10']],
    },
  ],
  refused: {
    account: '200',
    exchanges: [{ path: '/v1/accounts/200', answer: { status: 403, json: {} } }],
  },
})

const twin = 'the report is a duplicate of : 00000000-aaaa'
const list = reportSource({
  ...common,
  slug: 'example-lists',
  name: 'Example lists',
  levels: { campaign: { key: ['campaignId'] } },
  always: ['date', 'profile'],
  breakdowns: [],
  presets: { usual: { metrics: ['cost', 'viewed'] } },
  columns: {
    date: day('Day of the row'),
    profile: ofAccount('account', 'ID of the profile'),
    campaignId: dimension('ID of the campaign'),
    cost: metric('decimal', 'Cost'),
    viewed: metric('boolean', 'Whether it was seen'),
  },
  days: { backMax: 60, lookBack: 14, chunk: 31, zone: { fixed: 'UTC' } },
  report: {
    form: 'file',
    start: ({ account, from, to, asks }) => ({
      path: '/reports',
      body: { startDate: from, endDate: to, columns: [...asks.always, ...asks.level, ...asks.metrics] },
      headers: { scope: account },
      expects: ({ status }) => status === 425,
    }),
    started: ({ json }) => textIn(objectIn(json).reportId) ?? /[\w-]+$/.exec(String(objectIn(json).detail ?? ''))?.[0],
    state: (job) => ({ path: `/reports/${job}` }),
    stateOf: ({ json }) => (objectIn(json).status === 'COMPLETED' ? 'done' : 'running'),
    file: ({ json }) => ({ url: String(objectIn(json).url) }),
    content: { format: 'json' },
    totalMs: 1_000,
  },
})

await testReportSource({
  ...given,
  connector: list,
  // A report is started, and not repeated, since the platform might make it twice.
  reads: /POST \/v1\/reports/,
  examples: [
    {
      title: 'finds the report again that is being made already, and reads a list that is packed',
      settings: { accountIds: '100', startDate: '2026-03-01', endDate: '2026-03-02' },
      exchanges: [
        {
          method: 'POST',
          path: '/v1/reports',
          headers: { scope: '100' },
          body: { startDate: '2026-03-01', endDate: '2026-03-02', columns: ['date', 'campaignId', 'cost', 'viewed'] },
          answer: { status: 425, json: { detail: twin } },
        },
        {
          path: '/v1/reports/00000000-aaaa',
          answer: { json: { status: 'COMPLETED', url: `${storage}/signed/00000000-aaaa` } },
        },
        {
          path: '/signed/00000000-aaaa',
          headers: { authorization: null },
          answer: {
            bytes: gzipSync(
              '[{"date":"2026-03-01","campaignId":12345678901234567890,"cost":0.1,"viewed":true},\n {"date":"2026-03-02","campaignId":"a,]\\"b","viewed":null}]',
            ),
          },
        },
      ],
      columns: ['date', 'profile', 'campaignId', 'cost', 'viewed'],
      rows: [
        ['2026-03-01', '100', '12345678901234567890', '0.1', true],
        ['2026-03-02', '100', 'a,]"b', null, null],
      ],
    },
  ],
})

const table = reportSource({
  ...common,
  slug: 'example-tables',
  name: 'Example tables',
  levels: { campaign: { key: ['campaign_id'] } },
  always: ['day', 'account'],
  breakdowns: [],
  presets: { usual: { metrics: ['clicks', 'spend'] } },
  nulls: ['--'],
  columns: {
    day: day('Day of the row', { ask: 'TimePeriod' }),
    account: ofAccount('account', 'ID of the account'),
    campaign_id: dimension('ID of the campaign', { ask: 'CampaignId' }),
    clicks: metric('whole', 'Clicks', { ask: 'Clicks' }),
    spend: metric('money', 'Spend', { ask: 'Spend' }),
  },
  days: { backMax: 60, lookBack: 14, chunk: 31 },
  report: {
    form: 'file',
    start: ({ from, to }) => ({ path: '/submit', body: { from, to } }),
    started: ({ json }) => textIn(objectIn(json).id),
    state: (id) => ({ path: '/poll', method: 'POST', body: { id }, repeatable: true }),
    stateOf: ({ json }) => (objectIn(json).Status === 'Success' ? 'done' : 'running'),
    file({ json }) {
      const url = isObject(json) ? textIn(json.Url) : undefined
      return url === undefined ? undefined : { url }
    },
    content: {
      format: 'csv',
      header: /^Report labels$/,
      names: ({ asks }) => [...asks.always, ...asks.level, ...asks.metrics],
      ends: 'empty line',
      omits: /^$/,
    },
    totalMs: 1_000,
  },
})
const tableText = `"Report for, Shop"\r\n\r\nReport labels,Campaign,Clicks,Spend\r\n3/1/2026,"1,2",4,--\r\n2026/03/02,"a ""b""
c",--,"1,234.50"\r\n,,4,1234.50\r\n\r\nReport Time:,2026/03/03\r\n`
const submit = (id: string, from: string, to: string, Url: string): Exchange[] => [
  { method: 'POST', path: '/v1/submit', body: { from, to }, answer: { json: { id } } },
  { method: 'POST', path: '/v1/poll', body: { id }, answer: { json: { Status: 'Success', Url } } },
]
const columns = ['day', 'account', 'campaign_id', 'clicks', 'spend']

await testReportSource({
  ...given,
  connector: table,
  reads: /POST \/v1\/submit/,
  examples: [
    {
      title: 'reads a packed table without the lines around it, from an address that gets no credentials',
      settings: { accountIds: '100', startDate: '2026-03-01', endDate: '2026-03-02' },
      exchanges: [
        ...submit('r1', '2026-03-01', '2026-03-02', `${storage}/signed/r1.zip`),
        { path: '/signed/r1.zip', headers: { authorization: null }, answer: { bytes: zipOf('report.csv', tableText) } },
      ],
      columns,
      rows: [
        ['2026-03-01', '100', '1,2', 4, null],
        ['2026-03-02', '100', 'a "b"\nc', null, '1234.50'],
      ],
    },
    {
      title: 'takes a report without an address as one without rows',
      settings: { accountIds: '100', startDate: '2026-03-01', endDate: '2026-03-01' },
      exchanges: submit('r2', '2026-03-01', '2026-03-01', ''),
      columns,
      rows: [],
    },
    {
      title: 'reads an archive whose sizes are behind its content, and asks for the address again that has ended',
      settings: { accountIds: '100', startDate: '2026-03-01', endDate: '2026-03-01' },
      exchanges: [
        ...submit('r3', '2026-03-01', '2026-03-01', `${storage}/signed/r3.zip`),
        {
          path: '/signed/r3.zip',
          answer: [
            { status: 403, text: '' },
            { bytes: zipOf('r.csv', 'Report labels,Campaign,Clicks,Spend\n3/1/2026,ä,4,1', true) },
          ],
        },
      ],
      columns,
      rows: [['2026-03-01', '100', 'ä', 4, '1']],
    },
  ],
})
