import { gzipSync } from 'node:zlib'
import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { amazonAdsReporting } from './amazon-ads-reporting.ts'

const storage = 'https://offline-report-storage-eu-west-1-prod.s3.amazonaws.com'
const running = '5f2a91c0-1b2c-4d3e-8f90-a1b2c3d4e5f6'
const profile = (id: string, answer: Exchange['answer']): Exchange => ({
  path: `/v2/profiles/${id}`,
  headers: { 'amazon-advertising-api-clientid': 'app' },
  answer,
})
const create = (days: [string, string], answer: Exchange['answer']): Exchange => ({
  method: 'POST',
  path: '/reporting/reports',
  headers: {
    'content-type': 'application/vnd.createasyncreportrequest.v3+json',
    'amazon-advertising-api-scope': '800',
  },
  body: {
    name: `Penstock sp_campaign ${days[0]}`,
    startDate: days[0],
    endDate: days[1],
    configuration: {
      adProduct: 'SPONSORED_PRODUCTS',
      reportTypeId: 'spCampaigns',
      groupBy: ['campaign'],
      columns: ['date', 'campaignId', 'campaignName', 'campaignStatus', 'impressions', 'cost', 'sales7d'],
      timeUnit: 'DAILY',
      format: 'GZIP_JSON',
    },
  },
  answer,
})
const made = (id: string, rows: string): Exchange[] => [
  {
    path: `/reporting/reports/${id}`,
    answer: { json: { reportId: id, status: 'COMPLETED', url: `${storage}/${id}.json.gz?sig=s`, fileSize: 100 } },
  },
  {
    path: `/${id}.json.gz`,
    query: { sig: 's' },
    headers: { authorization: null },
    answer: { bytes: gzipSync(rows) },
  },
]
const settings = {
  accountIds: '800',
  region: 'EU',
  startDate: '2026-03-01',
  endDate: '2026-04-01',
  metrics: ['impressions', 'cost', 'sales7d'],
}
const row = (date: string, cost: string) =>
  `{"date":"${date}","campaignId":91823746501928374650,"campaignName":"Spring","campaignStatus":"ENABLED","impressions":1200,"cost":${cost}}`

await testReportSource({
  connector: amazonAdsReporting,
  now: '2026-04-20T12:00:00Z',
  origins: [
    'https://advertising-api-eu.amazon.com',
    'https://advertising-api.amazon.com',
    storage,
    'https://api.amazon.com',
  ],
  secrets: { authType: 'oauth2', clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { authType: 'oauth2', clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/auth/o2/token') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    if (path.endsWith('.gz')) return undefined
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: {} }
  },
  common: [
    { method: 'POST', path: '/auth/o2/token', answer: { json: { access_token: 'access', expires_in: 3600 } } },
    { path: '/v2/profiles', answer: { json: [{ profileId: 800 }] } },
    profile('800', {
      json: { profileId: 800, currencyCode: 'EUR', timezone: 'Europe/Berlin', accountInfo: { name: 'Shop' } },
    }),
  ],
  reads: /^POST \/reporting\/reports$/,
  revoked: { status: 401, json: { code: 'UNAUTHORIZED' } },
  failures: [
    [
      { status: 400, json: { code: '400', detail: 'configuration columns includes invalid values' } },
      'fail',
      'request_refused',
    ],
    [{ json: {} }, 'retry', 'malformed_response'],
  ],
  refused: { account: '801', exchanges: [profile('801', { status: 404, json: { code: 'NOT_FOUND' } })] },
  refusals: [
    { status: 401, json: { code: 'UNAUTHORIZED', details: 'Not authorized to access scope 801' } },
    { status: 400, json: { code: '400', details: 'KDP authors do not have access to Sponsored Brands functionality' } },
    { status: 406, json: { details: 'Report date is too far in the past.' } },
  ],
  transient: [],
  nextPage: 'none',
  examples: [
    {
      title: 'reads packed reports of 31 days, and uses one that Amazon already makes',
      settings,
      exchanges: [
        create(['2026-03-01', '2026-03-31'], { json: { reportId: 'first', status: 'PENDING' } }),
        ...made('first', `[${row('2026-03-01', '12.34')},${row('2026-03-31', '0')}]`),
        create(['2026-04-01', '2026-04-01'], {
          status: 425,
          json: { code: '425', detail: `The Request is a duplicate of : ${running}` },
        }),
        ...made(running, '[]'),
      ],
      columns: [
        ...['date', 'profileId', 'profileName', 'currency', 'campaignId', 'campaignName', 'campaignStatus'],
        ...['impressions', 'cost', 'sales7d'],
      ],
      rows: [
        ['2026-03-01', '800', 'Shop', 'EUR', '91823746501928374650', 'Spring', 'ENABLED', 1200, '12.34', null],
        ['2026-03-31', '800', 'Shop', 'EUR', '91823746501928374650', 'Spring', 'ENABLED', 1200, '0', null],
      ],
    },
  ],
})
