import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { tiktokAdReporting } from './tiktok-ad-reporting.ts'

const metrics = ['spend', 'impressions', 'ctr']
const base = '/open_api/v1.3'
const info = (id: string, answer: Exchange['answer']): Exchange => ({
  path: `${base}/advertiser/info/`,
  query: {
    advertiser_ids: JSON.stringify([id]),
    fields: '["advertiser_id","name","currency","timezone"]',
  },
  answer,
})
const report = (
  { level, id, names, page = 1, of = 1 }: { level: string; id: string; names: string[]; page?: number; of?: number },
  list: unknown[],
): Exchange => ({
  path: `${base}/report/integrated/get/`,
  query: {
    report_type: 'BASIC',
    service_type: 'AUCTION',
    advertiser_id: '70',
    data_level: level,
    dimensions: JSON.stringify([id, 'stat_time_day']),
    metrics: JSON.stringify([...names, ...metrics]),
    start_date: '2026-03-01',
    end_date: '2026-03-02',
    page: String(page),
    page_size: '1000',
  },
  answer: {
    json: {
      code: 0,
      message: 'OK',
      request_id: '20260302',
      data: { list, page_info: { page, page_size: 1000, total_number: 3, total_page: of } },
    },
  },
})
const audience = (from: string, to: string, json: object): Exchange => ({
  path: `${base}/report/integrated/get/`,
  query: {
    report_type: 'AUDIENCE',
    service_type: 'AUCTION',
    advertiser_id: '70',
    data_level: 'AUCTION_CAMPAIGN',
    dimensions: JSON.stringify(['campaign_id', 'stat_time_day', 'age', 'gender']),
    metrics: JSON.stringify(['campaign_name', ...metrics]),
    start_date: from,
    end_date: to,
    page: '1',
    page_size: '1000',
  },
  answer: { json },
})
const campaigns = { level: 'AUCTION_CAMPAIGN', id: 'campaign_id', names: ['campaign_name'] }
const row = (day: string, id: string, figures: object) => ({
  dimensions: { campaign_id: id, stat_time_day: `${day} 00:00:00` },
  metrics: { campaign_name: `Campaign ${id}`, ...figures },
})
const settings = { accountIds: '70', startDate: '2026-03-01', endDate: '2026-03-02', metrics }

await testReportSource({
  connector: tiktokAdReporting,
  now: '2026-03-05T12:00:00Z',
  origins: ['https://business-api.tiktok.com'],
  secrets: { clientId: 'app', clientSecret: 'secret', accessToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', accessToken: 'bad' },
  denies: ({ headers }) =>
    headers['access-token'] === 'good' ? undefined : { json: { code: 40105, message: 'Access token is incorrect' } },
  common: [
    {
      path: `${base}/oauth2/advertiser/get/`,
      query: { app_id: 'app', secret: 'secret' },
      answer: { json: { code: 0, data: { list: [{ advertiser_id: '70', advertiser_name: 'Shop' }] } } },
    },
    info('70', { json: { code: 0, data: { list: [{ name: 'Shop', currency: 'EUR', timezone: 'Europe/Berlin' }] } } }),
  ],
  reads: /^GET \/open_api\/v1\.3\/report/,
  revoked: { json: { code: 40105, message: 'Access token is incorrect or has been revoked' } },
  failures: [
    [{ json: { code: 40002, message: 'metrics: invalid' } }, 'fail', 'request_refused'],
    [{ json: { code: 0, data: {} } }, 'retry', 'malformed_response'],
  ],
  refused: {
    account: '71',
    exchanges: [info('71', { json: { code: 40001, message: 'No permission' } })],
  },
  refusals: [40001, 40002, 40300].map((code) => ({ json: { code, message: 'refused' } })),
  transient: [40016, 40100, 40133, 40200, 40201, 40202, 40700, 50000, 50002, 60001].map((code) => ({
    json: { code, message: 'later' },
  })),
  nextPage: { at: 'data.page_info.total_page', rowsAt: 'data.list', is: 'count' },
  examples: [
    {
      title: 'reads campaigns by day, in pages, with rates as fractions and nothing for “-”',
      settings,
      exchanges: [
        report({ ...campaigns, of: 2 }, [
          row('2026-03-01', '1', { spend: '12.34', impressions: '1000', ctr: '1.5' }),
          row('2026-03-01', '2', { spend: '0.00', impressions: '0', ctr: '-' }),
        ]),
        report({ ...campaigns, page: 2, of: 2 }, [
          row('2026-03-02', '1', { spend: '12345678901234.567', impressions: '9007199254740993', ctr: '0' }),
        ]),
      ],
      columns: [
        ...['date', 'advertiser_id', 'advertiser_name', 'currency', 'campaign_id', 'campaign_name'],
        ...['ad_account_id', 'ad_account_name', ...metrics],
      ],
      rows: [
        ['2026-03-01', '70', 'Shop', 'EUR', '1', 'Campaign 1', '70', 'Shop', '12.34', 1000, '0.015'],
        ['2026-03-01', '70', 'Shop', 'EUR', '2', 'Campaign 2', '70', 'Shop', '0.00', 0, null],
        [
          '2026-03-02',
          '70',
          'Shop',
          'EUR',
          '1',
          'Campaign 1',
          '70',
          'Shop',
          '12345678901234.567',
          '9007199254740993',
          '0',
        ],
      ],
    },
    {
      title: 'asks for the names above an ad as metrics',
      settings: { ...settings, level: 'ad' },
      exchanges: [
        report(
          {
            level: 'AUCTION_AD',
            id: 'ad_id',
            names: ['ad_name', 'adgroup_id', 'adgroup_name', 'campaign_id', 'campaign_name'],
          },
          [],
        ),
      ],
      columns: [
        ...['date', 'advertiser_id', 'advertiser_name', 'currency', 'ad_id', 'ad_name', 'adgroup_id', 'adgroup_name'],
        ...['campaign_id', 'campaign_name', 'ad_account_id', 'ad_account_name', ...metrics],
      ],
      rows: [],
    },
    {
      title: 'reads an audience report if there are breakdowns, and fewer days if it is too large',
      settings: { ...settings, preset: 'Age and gender' },
      exchanges: [
        audience('2026-03-01', '2026-03-02', { code: 40067, message: 'The query is too large' }),
        audience('2026-03-01', '2026-03-01', {
          code: 0,
          data: {
            list: [
              {
                dimensions: {
                  campaign_id: '1',
                  stat_time_day: '2026-03-01 00:00:00',
                  age: 'AGE_25_34',
                  gender: 'FEMALE',
                },
                metrics: { campaign_name: 'Campaign 1', spend: '1.50', impressions: '7', ctr: '-' },
              },
            ],
            page_info: { total_page: 1 },
          },
        }),
        audience('2026-03-02', '2026-03-02', { code: 0, data: { list: [], page_info: { total_page: 1 } } }),
      ],
      columns: [
        ...['date', 'advertiser_id', 'advertiser_name', 'currency', 'campaign_id', 'campaign_name'],
        ...['ad_account_id', 'ad_account_name', 'age', 'gender', ...metrics],
      ],
      rows: [
        ['2026-03-01', '70', 'Shop', 'EUR', '1', 'Campaign 1', '70', 'Shop', 'AGE_25_34', 'FEMALE', '1.50', 7, null],
      ],
    },
  ],
})

test('refuses breakdowns and metrics that TikTok refuses', async () => {
  for (const [choice, message] of [
    [{ breakdowns: ['age', 'country_code'] }, /does not combine age and country_code/],
    [{ breakdowns: ['age'], metrics: ['reach'] }, /Reports with breakdowns have no reach/],
  ] as const) {
    const secrets = { clientId: 'app', clientSecret: 'secret', accessToken: 'good' }
    const context = testContext({ secrets, settings: { ...settings, ...choice } })
    await assert.rejects(async () => await tiktokAdReporting.source?.open?.(context), {
      code: 'invalid_setting',
      message,
    })
  }
})
