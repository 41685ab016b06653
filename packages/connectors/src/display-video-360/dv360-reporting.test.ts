import { googleReportSignIn, googleToken, googleTokens } from '../../test/google-reports.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { dv360Reporting } from './dv360-reporting.ts'

const storage = 'https://storage.googleapis.com'
const groups = [
  ...['FILTER_DATE', 'FILTER_ADVERTISER', 'FILTER_ADVERTISER_NAME', 'FILTER_ADVERTISER_CURRENCY'],
  ...['FILTER_MEDIA_PLAN', 'FILTER_MEDIA_PLAN_NAME'],
]
const dateOf = (of: string) => {
  const [year, month, day] = of.split('-').map(Number)
  return { year, month, day }
}
const query = (account: string, from: string, to: string, answer: Exchange['answer']): Exchange => ({
  method: 'POST',
  path: '/v2/queries',
  body: {
    metadata: {
      title: `Penstock ${account} ${from}`,
      format: 'CSV',
      dataRange: { range: 'CUSTOM_DATES', customStartDate: dateOf(from), customEndDate: dateOf(to) },
    },
    params: {
      type: 'STANDARD',
      groupBys: groups,
      filters: [{ type: 'FILTER_ADVERTISER', value: account }],
      metrics: ['METRIC_IMPRESSIONS', 'METRIC_CTR', 'METRIC_REVENUE_ADVERTISER'],
    },
    schedule: { frequency: 'ONE_TIME' },
  },
  answer,
})
const report = (id: string, days: [string, string], csv: string): Exchange[] => [
  query('70', ...days, { json: { queryId: id } }),
  {
    method: 'POST',
    path: `/v2/queries/${id}:run`,
    query: { synchronous: 'false' },
    body: {},
    answer: { json: { key: { queryId: id, reportId: '9' }, metadata: { status: { state: 'QUEUED' } } } },
  },
  {
    path: `/v2/queries/${id}/reports/9`,
    answer: {
      json: {
        key: { queryId: id, reportId: '9' },
        metadata: { status: { state: 'DONE' }, googleCloudStoragePath: `${storage}/bid/${id}.csv?GoogleAccessId=a` },
      },
    },
  },
  {
    path: `/bid/${id}.csv`,
    query: { GoogleAccessId: 'a' },
    headers: { authorization: null },
    answer: { text: csv },
  },
  { method: 'DELETE', path: `/v2/queries/${id}`, answer: { json: {} } },
]
const header = 'Datum,Werbetreibenden-ID,Werbetreibender,Währung,Kampagnen-ID,Kampagne,Impressionen,CTR,Umsatz\n'
const settings = {
  accountIds: '70',
  level: 'campaign',
  startDate: '2026-03-01',
  endDate: '2026-04-01',
  metrics: ['impressions', 'ctr', 'revenue_advertiser'],
}

await testReportSource({
  connector: dv360Reporting,
  ...googleReportSignIn,
  denies: (received) => (received.path.startsWith('/bid/') ? undefined : googleReportSignIn.denies(received)),
  now: '2026-04-20T12:00:00Z',
  origins: ['https://doubleclickbidmanager.googleapis.com', storage, googleTokens],
  common: [googleToken, { path: '/v2/queries', query: { pageSize: '1' }, answer: { json: {} } }],
  reads: /^POST \/v2\/queries$/,
  failures: [
    [{ status: 400, json: { error: { status: 'INVALID_ARGUMENT' } } }, 'fail', 'request_refused'],
    [{ json: {} }, 'retry', 'malformed_response'],
  ],
  refused: {
    account: '71',
    exchanges: [
      query('71', '2026-03-01', '2026-03-31', { status: 403, json: { error: { status: 'PERMISSION_DENIED' } } }),
    ],
  },
  refusals: [{ status: 403, json: { error: { status: 'PERMISSION_DENIED' } } }],
  transient: [
    { status: 403, json: { error: { errors: [{ reason: 'quotaExceeded' }] } } },
    { status: 400, json: { error: { status: 'RESOURCE_EXHAUSTED' } } },
    { status: 409, json: { error: { status: 'ABORTED' } } },
  ],
  nextPage: 'none',
  examples: [
    {
      title: 'reads reports of 31 days without their totals, whatever the language of the header',
      settings,
      exchanges: [
        ...report(
          'first',
          ['2026-03-01', '2026-03-31'],
          `${header}2026/03/01,70,Shop,EUR,5,"Spring, sale",1200,1.25%,12.340000\n2026/03/31,70,Shop,EUR,5,"Spring, sale",0,-,0\n,,,,,,1200,,12.34\n\nBerichtszeit:,2026/04/20\n`,
        ),
        ...report('second', ['2026-04-01', '2026-04-01'], `${header}\nNo data returned by the reporting service.\n`),
      ],
      columns: [
        ...['date', 'advertiser_id', 'advertiser_name', 'currency', 'campaign_id', 'campaign_name'],
        ...['impressions', 'ctr', 'revenue_advertiser'],
      ],
      rows: [
        ['2026-03-01', '70', 'Shop', 'EUR', '5', 'Spring, sale', 1200, '0.0125', '12.340000'],
        ['2026-03-31', '70', 'Shop', 'EUR', '5', 'Spring, sale', 0, null, '0'],
      ],
    },
  ],
})
