import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { zipOf } from '../../test/zip.ts'
import { bingAdsReporting } from './bing-ads-reporting.ts'

const storage = 'https://bingadsappsstorageprod.blob.core.windows.net'
const base = '/Reporting/v13/GenerateReport'
const names = [
  ...['TimePeriod', 'AccountId', 'AccountName', 'CurrencyCode', 'CampaignId', 'CampaignName', 'CampaignStatus'],
  ...['Impressions', 'Ctr', 'Spend', 'TopImpressionSharePercent'],
]
const dateOf = (of: string) => {
  const [Year, Month, Day] = of.split('-').map(Number)
  return { Day, Month, Year }
}
const submit = (account: string, days: [string, string], answer: Exchange['answer']): Exchange => ({
  method: 'POST',
  path: `${base}/Submit`,
  headers: { customeraccountid: account, developertoken: 'developer' },
  body: {
    ReportRequest: {
      Type: 'CampaignPerformanceReportRequest',
      ReportName: 'Penstock',
      Format: 'Csv',
      FormatVersion: '2.0',
      ExcludeReportHeader: true,
      ExcludeReportFooter: true,
      ExcludeColumnHeaders: false,
      ReturnOnlyCompleteData: false,
      Aggregation: 'Daily',
      Columns: names,
      Scope: { AccountIds: [account] },
      Time: {
        CustomDateRangeStart: dateOf(days[0]),
        CustomDateRangeEnd: dateOf(days[1]),
        ReportTimeZone: 'GreenwichMeanTimeDublinEdinburghLisbonLondon',
      },
    },
  },
  answer,
})
const poll = (id: string, status: object): Exchange => ({
  method: 'POST',
  path: `${base}/Poll`,
  body: { ReportRequestId: id },
  answer: { json: { ReportRequestStatus: status } },
})
const errorOf = (code: number, status = 400) => ({ status, json: { Errors: [{ Code: code, ErrorCode: 'AnyError' }] } })
const csv = [
  names.map((name) => `"${name}"`).join(','),
  '"2026-03-01","600","Shop","EUR","7","Spring, sale","Active","1200","1.25%","12.34","--"',
  '"2026-03-02","600","Shop","EUR","7","Spring, sale","Active","0","--","0.00","50.00%"',
].join('\r\n')
const settings = {
  accountIds: '600',
  startDate: '2026-03-01',
  endDate: '2026-05-30',
  metrics: ['impressions', 'ctr', 'spend'],
  otherMetrics: 'TopImpressionSharePercent',
}

await testReportSource({
  connector: bingAdsReporting,
  now: '2026-06-20T12:00:00Z',
  origins: ['https://reporting.api.bingads.microsoft.com', storage, 'https://login.microsoftonline.com'],
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good', developerToken: 'developer' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad', developerToken: 'developer' },
  denies: ({ path, headers, text }: Received) => {
    if (path.endsWith('/token')) {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    if (path.startsWith('/reports/')) return undefined
    return headers.authorization === 'Bearer access' ? undefined : errorOf(105, 401)
  },
  common: [
    {
      method: 'POST',
      path: '/common/oauth2/v2.0/token',
      answer: { json: { access_token: 'access', refresh_token: 'good', expires_in: 3600, token_type: 'Bearer' } },
    },
    { method: 'POST', path: `${base}/Poll`, body: { ReportRequestId: '0' }, answer: errorOf(2101) },
  ],
  reads: /Submit$/,
  revoked: errorOf(109, 401),
  failures: [
    [errorOf(2015), 'fail', 'request_refused'],
    [{ json: {} }, 'retry', 'malformed_response'],
  ],
  refused: { account: '601', exchanges: [submit('601', ['2026-03-01', '2026-05-29'], errorOf(2003))] },
  refusals: [errorOf(2003), errorOf(106)],
  transient: [errorOf(117), errorOf(207), errorOf(0), errorOf(2004)],
  nextPage: 'none',
  examples: [
    {
      title: 'reads reports of 90 days from packed files, and those without rows, which have no file',
      settings,
      exchanges: [
        submit('600', ['2026-03-01', '2026-05-29'], { json: { ReportRequestId: 'first' } }),
        poll('first', { Status: 'Success', ReportDownloadUrl: `${storage}/reports/first.zip?sig=s` }),
        {
          path: '/reports/first.zip',
          query: { sig: 's' },
          headers: { authorization: null },
          answer: { bytes: zipOf('Penstock.csv', `\uFEFF${csv}\r\n`) },
        },
        submit('600', ['2026-05-30', '2026-05-30'], { json: { ReportRequestId: 'second' } }),
        poll('second', { Status: 'Success', ReportDownloadUrl: null }),
      ],
      columns: [
        ...['date', 'account_id', 'account_name', 'currency', 'campaign_id', 'campaign_name', 'campaign_status'],
        ...['impressions', 'ctr', 'spend', 'TopImpressionSharePercent'],
      ],
      rows: [
        ['2026-03-01', '600', 'Shop', 'EUR', '7', 'Spring, sale', 'Active', 1200, '0.0125', '12.34', null],
        ['2026-03-02', '600', 'Shop', 'EUR', '7', 'Spring, sale', 'Active', 0, null, '0.00', '50.00%'],
      ],
    },
  ],
})
