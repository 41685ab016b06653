import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { criteoReporting } from './criteo-reporting.ts'

const report = (account: string, days: [string, string], answer: Exchange['answer']): Exchange => ({
  method: 'POST',
  path: '/2026-07/statistics/report',
  body: {
    advertiserIds: account,
    dimensions: ['Day', 'AdsetId', 'Adset', 'CampaignId', 'Campaign'],
    metrics: ['Displays', 'AdvertiserCost', 'SalesPv24h'],
    startDate: days[0],
    endDate: days[1],
    timezone: 'Europe/Paris',
    currency: 'USD',
    format: 'json',
  },
  answer,
})
const row = (day: string, adset: string, displays: string, cost: string) => ({
  Day: day,
  AdsetId: adset,
  Adset: `Ad set ${adset}`,
  CampaignId: '9',
  Campaign: 'Campaign',
  Currency: 'USD',
  Displays: displays,
  AdvertiserCost: cost,
  SalesPv24h: '1',
})
const settings = {
  accountIds: '123',
  startDate: '2026-03-01',
  endDate: '2026-03-05',
  metrics: ['displays', 'advertiser_cost'],
  otherMetrics: 'SalesPv24h',
  currency: 'USD',
  timezone: 'Europe/Paris',
}
const columns = ['day', 'advertiser_id', 'currency', 'adset_id', 'adset_name', 'campaign_id', 'campaign_name']

await testReportSource({
  connector: criteoReporting,
  now: '2026-03-20T12:00:00Z',
  origins: ['https://api.criteo.com'],
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/oauth2/token') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: {} }
  },
  common: [
    { method: 'POST', path: '/oauth2/token', answer: { json: { access_token: 'access', expires_in: 900 } } },
    { path: '/2026-07/advertisers/me', answer: { json: { data: [] } } },
  ],
  reads: /statistics\/report$/,
  revoked: { status: 401, json: { errors: [{ type: 'authentication', code: 'authorization-token-expired' }] } },
  failures: [
    [{ status: 400, json: { errors: [{ type: 'validation', code: 'invalid-metric' }] } }, 'fail', 'request_refused'],
    [{ status: 410, json: {} }, 'fail', 'version_retired'],
    [{ json: {} }, 'retry', 'malformed_response'],
  ],
  refused: {
    account: '124',
    exchanges: [
      report('124', ['2026-03-01', '2026-03-04'], { status: 403, json: { errors: [{ type: 'access-control' }] } }),
    ],
  },
  refusals: [{ status: 403, json: { errors: [{ type: 'access-control' }] } }],
  transient: [{ status: 400, json: { errors: [{ code: 'quota-exceeded' }] } }],
  nextPage: 'none',
  examples: [
    {
      title: 'reads four days at a time, in a currency and a time zone',
      settings,
      exchanges: [
        report('123', ['2026-03-01', '2026-03-04'], {
          json: { Total: {}, Rows: [row('2026-03-01', '1', '1000', '12.3456'), row('2026-03-04', '2', '0', '0')] },
        }),
        report('123', ['2026-03-05', '2026-03-05'], { json: { Rows: [] } }),
      ],
      columns: [...columns, 'displays', 'advertiser_cost', 'SalesPv24h'],
      rows: [
        ['2026-03-01', '123', 'USD', '1', 'Ad set 1', '9', 'Campaign', 1000, '12.3456', '1'],
        ['2026-03-04', '123', 'USD', '2', 'Ad set 2', '9', 'Campaign', 0, '0', '1'],
      ],
    },
    {
      title: 'halves the days of a report that is too large',
      settings: { ...settings, endDate: '2026-03-02' },
      exchanges: [
        report('123', ['2026-03-01', '2026-03-02'], { status: 413, json: {} }),
        report('123', ['2026-03-01', '2026-03-01'], { json: { Rows: [row('2026-03-01', '1', '1', '1')] } }),
        report('123', ['2026-03-02', '2026-03-02'], { json: { Rows: [] } }),
      ],
      columns: [...columns, 'displays', 'advertiser_cost', 'SalesPv24h'],
      rows: [['2026-03-01', '123', 'USD', '1', 'Ad set 1', '9', 'Campaign', 1, '1', '1']],
    },
  ],
})
