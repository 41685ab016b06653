import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { googleReportSignIn, googleToken, googleTokens } from '../../test/google-reports.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { googleSearchConsole } from './google-search-console.ts'

const query = (
  site: string,
  day: string,
  dimensions: string[],
  answer: Exchange['answer'],
  type = 'web',
): Exchange => ({
  method: 'POST',
  path: `/webmasters/v3/sites/${encodeURIComponent(site)}/searchAnalytics/query`,
  body: {
    startDate: day,
    endDate: day,
    dimensions: ['date', ...dimensions],
    type,
    dataState: 'final',
    rowLimit: 25_000,
    startRow: 0,
  },
  answer,
})
const settings = { accountIds: 'sc-domain:example.com', startDate: '2026-03-01', endDate: '2026-03-02' }
const none = { json: { responseAggregationType: 'byProperty' } }

await testReportSource({
  connector: googleSearchConsole,
  ...googleReportSignIn,
  now: '2026-03-09T12:00:00Z',
  origins: ['https://www.googleapis.com', googleTokens],
  common: [
    googleToken,
    {
      path: '/webmasters/v3/sites',
      answer: { json: { siteEntry: [{ siteUrl: 'sc-domain:example.com', permissionLevel: 'siteOwner' }] } },
    },
  ],
  reads: /searchAnalytics\/query$/,
  failures: [
    [
      { status: 400, json: { error: { code: 400, errors: [{ reason: 'invalidParameter' }] } } },
      'fail',
      'request_refused',
    ],
    [{ json: {} }, 'retry', 'malformed_response'],
    [
      {
        status: 403,
        headers: { 'retry-after': '900' },
        json: { error: { code: 403, errors: [{ reason: 'quotaExceeded' }] } },
      },
      'retry',
      'rate_limited',
      900_000,
    ],
  ],
  refused: {
    account: 'https://other.example/',
    exchanges: [
      query('https://other.example/', '2026-03-01', ['query'], {
        status: 403,
        json: { error: { code: 403, errors: [{ reason: 'forbidden' }] } },
      }),
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
      title: 'reads the queries of each day',
      settings,
      exchanges: [
        query('sc-domain:example.com', '2026-03-01', ['query'], {
          json: {
            rows: [
              { keys: ['2026-03-01', 'shoes'], clicks: 3, impressions: 120, ctr: 0.025, position: 4.2 },
              { keys: ['2026-03-01', 'red, shoes'], clicks: 0, impressions: 1, ctr: 0, position: 31 },
            ],
            responseAggregationType: 'byProperty',
          },
        }),
        query('sc-domain:example.com', '2026-03-02', ['query'], {
          json: { rows: [{ keys: ['2026-03-02', 'shoes'], clicks: 1, impressions: 2, ctr: 0.5, position: 1 }] },
        }),
      ],
      columns: ['date', 'site_url', 'query', 'clicks', 'impressions', 'ctr', 'position'],
      rows: [
        ['2026-03-01', 'sc-domain:example.com', 'shoes', 3, 120, '0.025', '4.2'],
        ['2026-03-01', 'sc-domain:example.com', 'red, shoes', 0, 1, '0', '31'],
        ['2026-03-02', 'sc-domain:example.com', 'shoes', 1, 2, '0.5', '1'],
      ],
    },
    {
      title: 'reads a day without figures, of another type, by the address of a site',
      settings: {
        ...settings,
        accountIds: 'https://example.com/a/',
        preset: 'Totals',
        endDate: '2026-03-01',
        searchType: 'image',
      },
      exchanges: [query('https://example.com/a/', '2026-03-01', [], none, 'image')],
      columns: ['date', 'site_url', 'clicks', 'impressions', 'ctr', 'position'],
      rows: [],
    },
    {
      title: 'reads search appearances of one day each, of rows that meet the filters',
      settings: {
        ...settings,
        endDate: '2026-03-01',
        preset: 'Search appearance',
        filters: 'page contains /shop\n country equals deu ',
      },
      exchanges: [
        {
          method: 'POST',
          path: '/webmasters/v3/sites/sc-domain%3Aexample.com/searchAnalytics/query',
          body: {
            startDate: '2026-03-01',
            endDate: '2026-03-01',
            dimensions: ['searchAppearance'],
            dimensionFilterGroups: [
              {
                groupType: 'and',
                filters: [
                  { dimension: 'page', operator: 'contains', expression: '/shop' },
                  { dimension: 'country', operator: 'equals', expression: 'deu' },
                ],
              },
            ],
            type: 'web',
            dataState: 'final',
            rowLimit: 25_000,
            startRow: 0,
          },
          answer: {
            json: { rows: [{ keys: ['AMP_BLUE_LINK'], clicks: 1, impressions: 4, ctr: 0.25, position: 2 }] },
          },
        },
      ],
      columns: ['date', 'site_url', 'search_appearance', 'clicks', 'impressions', 'ctr', 'position'],
      rows: [['2026-03-01', 'sc-domain:example.com', 'AMP_BLUE_LINK', 1, 4, '0.25', '2']],
    },
  ],
})

test('refuses filters and breakdowns that Google refuses', async () => {
  for (const [choice, message] of [
    [{ breakdowns: ['search_appearance', 'page'] }, /combines search_appearance with no other breakdown/],
    [{ filters: 'page contains /a\npage ~ b' }, /“page ~ b” is not a filter\. Write query, page/],
  ] as const) {
    const context = testContext({ secrets: googleReportSignIn.secrets, settings: { ...settings, ...choice } })
    await assert.rejects(async () => await googleSearchConsole.source?.open?.(context), {
      code: 'invalid_setting',
      message,
    })
  }
})
