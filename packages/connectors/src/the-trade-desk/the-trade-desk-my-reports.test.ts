import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { connectorErrorOf, type Received, type Reply } from '../../test/platform-server.ts'
import { type Exchange, startRecorded, testReportSource } from '../../test/test-report-source.ts'
import { theTradeDeskMyReports } from './the-trade-desk-my-reports.ts'

const storage = 'https://ttd-reports.s3.amazonaws.com'
const advertiser = (id: string, answer: Exchange['answer']): Exchange => ({ path: `/v3/advertiser/${id}`, answer })
const create = (days: [string, string], answer: Exchange['answer']): Exchange => ({
  method: 'POST',
  path: '/v3/myreports/reportschedule',
  headers: { 'ttd-auth': 'access' },
  body: {
    ReportScheduleName: `Penstock abc ${days[0]}`,
    ReportTemplateId: 168005,
    AdvertiserFilters: ['abc'],
    ReportFrequency: 'Once',
    ReportDateRange: 'Custom',
    ReportStartDateInclusive: `${days[0]}T00:00:00`,
    ReportEndDateExclusive: `${days[1]}T00:00:00`,
    TimeZone: 'America/New_York',
    ReportFileFormat: 'CSV',
    ReportDateFormat: 'Sortable',
    ReportNumericFormat: 'US',
    IncludeHeaders: true,
  },
  answer,
})
const complete = (schedule: number, url?: string): Exchange['answer'] => ({
  json: {
    Result: [
      {
        ReportExecutionId: 1,
        ReportScheduleId: schedule,
        ReportExecutionState: 'Complete',
        ReportDeliveries: url === undefined ? [] : [{ ReportDestination: 'API', DownloadURL: url }],
      },
    ],
    ResultCount: 1,
  },
})
const made = (schedule: number, answer: Exchange['answer']): Exchange[] => [
  {
    method: 'POST',
    path: '/v3/myreports/reportexecution/query/advertisers',
    body: { AdvertiserIds: ['abc'], ReportScheduleIds: [schedule], PageStartIndex: 0, PageSize: 10 },
    answer,
  },
  { method: 'DELETE', path: `/v3/myreports/reportschedule/${schedule}`, answer: {} },
]
const signIn: Exchange = {
  method: 'POST',
  path: '/v3/authentication',
  body: { Login: 'user', Password: 'good', TokenExpirationInMinutes: 60 },
  answer: { json: { Token: 'access', ExpirationDateUtc: '2026-04-20T13:00:00Z' } },
}
const account = advertiser('abc', { json: { AdvertiserId: 'abc', AdvertiserName: 'Shop', CurrencyCode: 'EUR' } })
const settings = {
  accountIds: 'abc',
  templateId: '168005',
  timezone: 'America/New_York',
  startDate: '2026-03-01',
  endDate: '2026-04-01',
  metrics: ['impressions', 'advertiser_cost'],
  otherMetrics: '01 - Click Conversion',
}
const header =
  'Date,Advertiser Id,Campaign ID,Campaign,Ad Group ID,Ad Group,Impressions,Clicks,Advertiser Cost (Adv Currency),02 - View Through Conversion,01 - Click Conversion\n'
const row = (date: string, figures: string) => `${date},abc,c1,"Spring, sale",g1,Shoes,${figures}\n`
const origins = ['https://api.thetradedesk.com', storage]
const secrets = { clientId: 'user', clientSecret: 'good' }

await testReportSource({
  connector: theTradeDeskMyReports,
  now: '2026-04-20T12:00:00Z',
  origins,
  secrets,
  wrongSecrets: { clientId: 'user', clientSecret: 'bad' },
  denies: ({ path, headers, json }: Received) => {
    if (path === '/v3/authentication') {
      const { Password } = (json ?? {}) as { Password?: string }
      return Password === 'good' ? undefined : { status: 401, json: { Message: 'Unauthorized' } }
    }
    if (path.startsWith('/files/')) return undefined
    return headers['ttd-auth'] === 'access' ? undefined : { status: 401, json: {} }
  },
  common: [
    signIn,
    account,
    {
      method: 'POST',
      path: '/v3/myreports/reporttemplateheader/query',
      body: { NameContains: '', PageStartIndex: 0, PageSize: 1 },
      answer: { json: { Result: [{ ReportTemplateId: 168005, Name: 'Penstock' }] } },
    },
  ],
  reads: /^POST \/v3\/myreports\/reportschedule$/,
  revoked: { status: 401, json: {} },
  failures: [
    [{ status: 400, json: { ErrorDetails: [{ Property: 'ReportTemplateId' }] } }, 'fail', 'request_refused'],
    [{ status: 410, json: {} }, 'fail', 'version_retired'],
    [{ json: {} }, 'retry', 'malformed_response'],
  ],
  refused: { account: 'other', exchanges: [advertiser('other', { status: 403, json: {} })] },
  refusals: [],
  transient: [],
  nextPage: 'none',
  examples: [
    {
      title: 'reads reports of 31 days by the labels of a template, once they are made, and deletes their schedules',
      settings,
      exchanges: [
        create(['2026-03-01', '2026-04-01'], { json: { ReportScheduleId: 7001 } }),
        ...made(7001, complete(7001, `${storage}/files/7001.csv?sig=s`)),
        {
          path: '/files/7001.csv',
          query: { sig: 's' },
          headers: { 'ttd-auth': null },
          answer: {
            text: `\uFEFF${header}${row('2026-03-01', '"1,200",3,12.345600,5,2')}${row('2026-03-31', '0,0,0,0,')}`,
          },
        },
        create(['2026-04-01', '2026-04-02'], { json: { ReportScheduleId: 7002 } }),
        ...made(7002, complete(7002)),
      ],
      columns: [
        ...['date', 'advertiser_id', 'advertiser_name', 'currency', 'ad_group_id', 'ad_group_name'],
        ...['campaign_id', 'campaign_name', 'impressions', 'advertiser_cost', '01 - Click Conversion'],
      ],
      rows: [
        ['2026-03-01', 'abc', 'Shop', 'EUR', 'g1', 'Shoes', 'c1', 'Spring, sale', 1200, '12.345600', '2'],
        ['2026-03-31', 'abc', 'Shop', 'EUR', 'g1', 'Shoes', 'c1', 'Spring, sale', 0, '0', null],
      ],
    },
  ],
})

describe('a template of My Reports', async () => {
  let exchanges: readonly Exchange[] = []
  const server = await startRecorded(
    () => undefined,
    () => [signIn, account, ...exchanges],
  )
  after(() => server.close())
  const routes = Object.fromEntries(origins.map((origin) => [origin, server.url]))
  const errorOf = async (url: string, text = header, reply: Reply = { text }) => {
    exchanges = [
      create(['2026-04-01', '2026-04-02'], { json: { ReportScheduleId: 7 } }),
      ...made(7, complete(7, url)),
      { path: '/files/7.csv', headers: { 'ttd-auth': null }, answer: reply },
    ]
    const context = testContext({ secrets, routes, settings: { ...settings, startDate: '2026-04-01' } })
    const read = async () => {
      const reader = await theTradeDeskMyReports.source?.open?.(context)
      for await (const _ of reader?.read() ?? []);
    }
    const { code, message } = await connectorErrorOf(read(), context)
    return `${code}: ${message}`
  }

  test('is refused with the columns that are missing, or that could split rows', async () => {
    const url = `${storage}/files/7.csv`
    assert.match(
      await errorOf(url, header.replace('Ad Group ID', 'Group')),
      /^invalid_setting: .* no column Ad Group ID\./,
    )
    assert.match(
      await errorOf(url, header.replace('Clicks', 'Hour')),
      /^invalid_setting: .* the column Hour, which may/,
    )
    assert.match(await errorOf(url, header.replace('Clicks', 'Creative ID')), /the column Creative ID, which may split/)
  })

  test('is read from hosts of The Trade Desk alone', async () => {
    for (const url of [
      'https://example.com/files/7.csv',
      'https://thetradedesk.com.example.com/7.csv',
      'http://a/7',
      '7',
    ]) {
      assert.match(await errorOf(url), /^malformed_response: /, url)
    }
    const moved = { status: 302, headers: { location: 'https://example.com/files/7.csv' } }
    assert.match(await errorOf(`${storage}/files/7.csv`, '', moved), /^platform_error: .* did not return the report/)
  })
})
