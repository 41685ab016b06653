import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { columnsBy } from './report-labels.ts'
import { yahooDspReporting } from './yahoo-dsp-reporting.ts'

const storage = 'https://dsp-reports.s3.amazonaws.com'
const create = (account: number, dates: [string, string], answer: Exchange['answer']): Exchange => ({
  method: 'POST',
  path: '/yamplus_api/extreport/',
  headers: { 'x-auth-method': 'OAuth2' },
  body: {
    reportOption: {
      timezone: 'America/New_York',
      currency: 3,
      dimensionTypeIds: [4, 6, 5],
      metricTypeIds: [1, 44],
      accountIds: [account],
    },
    intervalTypeId: 2,
    dateTypeId: 11,
    startDate: dates[0],
    endDate: dates[1],
  },
  answer,
})
const march: [string, string] = ['2026-03-01T00:00:00-05:00', '2026-03-31T23:59:59-04:00']
const april: [string, string] = ['2026-04-01T00:00:00-04:00', '2026-04-01T23:59:59-04:00']
const settings = {
  accountIds: '20500',
  timezone: 'America/New_York',
  startDate: '2026-03-01',
  endDate: '2026-04-01',
  metrics: ['impressions', 'advertiser_spending'],
}

/** Whether a token request is signed with the secret `good`. */
function isSigned(text: string): boolean {
  const form = new URLSearchParams(text)
  const [header = '', claims = '', signature] = (form.get('client_assertion') ?? '').split('.')
  const { aud, iss, sub, exp, iat, jti } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  assert.deepEqual(
    [form.get('grant_type'), form.get('scope'), form.get('realm'), iss, sub, exp - iat, typeof jti],
    ['client_credentials', 'dsp-api-access', 'dsp', 'app', 'app', 600, 'string'],
  )
  assert.equal(aud, 'https://id.b2b.yahooinc.com/identity/oauth2/access_token?realm=dsp')
  return signature === createHmac('sha256', 'good').update(`${header}.${claims}`).digest('base64url')
}

await testReportSource({
  connector: yahooDspReporting,
  now: '2026-04-20T12:00:00Z',
  origins: ['https://api-sched-v3.admanagerplus.yahoo.com', 'https://id.b2b.yahooinc.com', storage],
  secrets: { clientId: 'app', clientSecret: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/identity/oauth2/access_token') {
      return isSigned(text) ? undefined : { status: 401, json: { error: 'invalid_client' } }
    }
    if (path.endsWith('.csv')) return undefined
    return headers['x-auth-token'] === 'access' ? undefined : { status: 401, json: { code: 'E0205' } }
  },
  common: [
    {
      method: 'POST',
      path: '/identity/oauth2/access_token',
      answer: { json: { access_token: 'access', scope: 'dsp-api-access', token_type: 'Bearer', expires_in: 3599 } },
    },
    {
      path: '/yamplus_api/extreport/00000000-0000-0000-0000-000000000000',
      answer: { status: 400, json: { code: 'E0006' } },
    },
  ],
  reads: /^POST \/yamplus_api\/extreport\/$/,
  revoked: { status: 401, json: { code: 'E0205' } },
  failures: [
    [{ status: 422, json: { code: 'E0200' } }, 'retry', 'rate_limited'],
    [{ status: 422, json: { code: 'E0203' } }, 'retry', 'rate_limited', 3_600_000],
    [{ status: 422, json: { code: 'E0042' } }, 'fail', 'request_refused'],
    [{ status: 401, json: { code: 'E0013' } }, 'reconfigure', 'permission_denied'],
    [{ json: {} }, 'retry', 'malformed_response'],
  ],
  refused: { account: '20501', exchanges: [create(20501, march, { status: 401, json: { code: 'E0047' } })] },
  refusals: [
    { status: 401, json: { code: 'E0047' } },
    { status: 401, json: { code: 'E0013' } },
  ],
  transient: [
    { status: 422, json: { code: 'E0200' } },
    { status: 400, json: { code: 'E0059' } },
    { status: 400, json: { code: 'E0101' } },
  ],
  nextPage: 'none',
  examples: [
    {
      title: 'reads reports of 31 days by day, once they are made, and one without rows',
      settings,
      exchanges: [
        create(20500, march, { json: { customerReportId: 'first-1', status: 'Submitted' } }),
        {
          path: '/yamplus_api/extreport/first-1',
          answer: { json: { customerReportId: 'first-1', status: 'Success', url: `${storage}/first.csv?sig=s` } },
        },
        {
          path: '/first.csv',
          query: { sig: 's' },
          headers: { 'x-auth-token': null },
          answer: {
            text: [
              'Day,Advertiser Id,Advertiser,Line Id,Line,Order Id,Order,Impressions,Advertiser Spending Campaign Currency',
              '2026-03-01,20500,Shop,11,"Shoes, new",7,Spring,1200,12.340000',
              '2026-03-31,20500,Shop,11,"Shoes, new",7,Spring,0,N/A',
              'Total,,,,,,,1200,12.340000',
            ].join('\n'),
          },
        },
        create(20500, april, { json: { customerReportId: 'second-2', status: 'Submitted' } }),
        { path: '/yamplus_api/extreport/second-2', answer: { json: { status: 'Success', numRows: 0 } } },
      ],
      columns: [
        ...['date', 'advertiser_id', 'advertiser_name', 'line_id', 'line_name', 'campaign_id', 'campaign_name'],
        ...['impressions', 'advertiser_spending'],
      ],
      rows: [
        ['2026-03-01', '20500', 'Shop', '11', 'Shoes, new', '7', 'Spring', 1200, '12.340000'],
        ['2026-03-31', '20500', 'Shop', '11', 'Shoes, new', '7', 'Spring', 0, null],
      ],
    },
  ],
})

test('a file without a column that is read is refused with its labels', () => {
  const request = { columns: ['date', 'campaign_id', 'clicks'] } as unknown as Parameters<typeof columnsBy>[0]
  assert.deepEqual(columnsBy(request, ['Date', 'Campaign Id', 'Clicks', 'CTR']), [
    'date',
    'campaign_id',
    'clicks',
    'CTR',
  ])
  assert.throws(() => columnsBy(request, ['Date', 'Campaign Id', 'Taps']), {
    code: 'malformed_response',
    message: /no column for clicks\. Its columns are Date, Campaign Id, Taps\./,
  })
})
