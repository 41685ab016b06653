import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { googleReportSignIn, googleToken, googleTokens } from '../../test/google-reports.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { googleAnalytics4 } from './google-analytics-4.ts'

const report = (id: string, body: object, answer: Exchange['answer']): Exchange => ({
  method: 'POST',
  path: `/v1beta/properties/${id}:runReport`,
  body,
  answer,
})
const about = {
  dateRanges: [{ startDate: 'yesterday', endDate: 'yesterday' }],
  metrics: [{ name: 'sessions' }],
  limit: '1',
}
const named = (names: readonly string[]) => names.map((name) => ({ name }))
const asks = (days: [string, string], dimensions: string[], metrics: string[], offset = '0') => ({
  dateRanges: [{ startDate: days[0], endDate: days[1] }],
  dimensions: named(dimensions),
  metrics: named(metrics),
  limit: '50000',
  offset,
})
const answer = (dimensions: string[], metrics: string[], rows: [string[], string[]][], rowCount = rows.length) => ({
  json: {
    dimensionHeaders: named(dimensions),
    metricHeaders: metrics.map((name) => ({ name, type: 'TYPE_INTEGER' })),
    ...(rows.length > 0 && {
      rows: rows.map(([keys, values]) => ({
        dimensionValues: keys.map((value) => ({ value })),
        metricValues: values.map((value) => ({ value })),
      })),
      rowCount,
    }),
    metadata: { currencyCode: 'EUR', timeZone: 'Europe/Berlin' },
    kind: 'analyticsData#runReport',
  },
})
const settings = {
  accountIds: 'properties/123',
  startDate: '2026-03-01',
  endDate: '2026-03-08',
  breakdowns: ['country'],
  metrics: ['sessions', 'totalRevenue'],
}
const dimensions = ['date', 'country']
const metrics = ['sessions', 'totalRevenue']
const german = { filter: { fieldName: 'country', stringFilter: { value: 'Germany' } } }
const busy = {
  filter: { fieldName: 'sessions', numericFilter: { operation: 'GREATER_THAN', value: { int64Value: '5' } } },
}
const eleven = [
  ...['sessions', 'engagedSessions', 'totalUsers', 'activeUsers', 'newUsers', 'screenPageViews'],
  ...['eventCount', 'keyEvents', 'bounceRate', 'totalRevenue'],
]

await testReportSource({
  connector: googleAnalytics4,
  ...googleReportSignIn,
  now: '2026-03-09T12:00:00Z',
  origins: ['https://analyticsdata.googleapis.com', 'https://analyticsadmin.googleapis.com', googleTokens],
  common: [
    googleToken,
    { path: '/v1beta/properties/0/metadata', answer: { json: { dimensions: [], metrics: [] } } },
    report('123', about, answer([], ['sessions'], [])),
  ],
  reads: /^POST .*:runReport$/,
  failures: [
    [{ status: 400, json: { error: { status: 'INVALID_ARGUMENT' } } }, 'fail', 'request_refused'],
    [
      {
        status: 400,
        json: { error: { status: 'INVALID_ARGUMENT', message: 'Field nope is not a valid dimension. For a list …' } },
      },
      'fail',
      'request_refused',
    ],
    [{ json: {} }, 'retry', 'malformed_response'],
  ],
  refused: {
    account: '124',
    exchanges: [report('124', about, { status: 403, json: { error: { status: 'PERMISSION_DENIED' } } })],
  },
  refusals: [{ status: 403, json: { error: { status: 'PERMISSION_DENIED' } } }],
  transient: [
    { status: 403, json: { error: { errors: [{ reason: 'quotaExceeded' }] } } },
    { status: 400, json: { error: { status: 'RESOURCE_EXHAUSTED' } } },
    { status: 409, json: { error: { status: 'ABORTED' } } },
  ],
  nextPage: { at: 'rowCount', rowsAt: 'rows', is: 'count' },
  examples: [
    {
      title: 'reads a week at a time in pages, by the names of the headers',
      settings,
      exchanges: [
        report(
          '123',
          asks(['2026-03-01', '2026-03-07'], dimensions, metrics),
          answer(
            dimensions,
            metrics,
            [
              [
                ['20260301', 'Germany'],
                ['12', '34.5'],
              ],
            ],
            2,
          ),
        ),
        report(
          '123',
          asks(['2026-03-01', '2026-03-07'], dimensions, metrics, '1'),
          answer(
            dimensions,
            metrics,
            [
              [
                ['20260302', '(not set)'],
                ['9007199254740993', '0'],
              ],
            ],
            2,
          ),
        ),
        report('123', asks(['2026-03-08', '2026-03-08'], dimensions, metrics), answer(dimensions, metrics, [])),
      ],
      columns: ['date', 'property_id', 'currency', 'country', 'sessions', 'totalRevenue'],
      rows: [
        ['2026-03-01', '123', 'EUR', 'Germany', 12, '34.5'],
        ['2026-03-02', '123', 'EUR', '(not set)', '9007199254740993', '0'],
      ],
    },
    {
      title: 'asks twice for more than ten metrics and joins the rows; takes names that an organization defined',
      settings: {
        ...settings,
        startDate: '2026-03-08',
        breakdowns: [],
        otherBreakdowns: 'customEvent:plan',
        metrics: eleven,
        otherMetrics: 'keyEvents:purchase',
      },
      exchanges: [
        report(
          '123',
          asks(['2026-03-08', '2026-03-08'], ['date', 'customEvent:plan'], eleven),
          answer(['date', 'customEvent:plan'], eleven, [
            [
              ['20260308', 'pro'],
              ['1', '1', '1', '1', '1', '1', '1', '1.5', '0.25', '9.99'],
            ],
          ]),
        ),
        report(
          '123',
          asks(['2026-03-08', '2026-03-08'], ['date', 'customEvent:plan'], ['keyEvents:purchase']),
          answer(['date', 'customEvent:plan'], ['keyEvents:purchase'], [[['20260308', 'pro'], ['2']]]),
        ),
      ],
      columns: ['date', 'property_id', 'currency', 'customEvent:plan', ...eleven, 'keyEvents:purchase'],
      rows: [['2026-03-08', '123', 'EUR', 'pro', 1, 1, 1, 1, 1, 1, 1, '1.5', '0.25', '9.99', '2']],
    },
    {
      title: 'filters dimensions and metrics',
      settings: {
        ...settings,
        startDate: '2026-03-08',
        metrics: ['sessions'],
        dimensionFilter: JSON.stringify(german),
        metricFilter: JSON.stringify(busy),
      },
      exchanges: [
        report(
          '123',
          {
            ...asks(['2026-03-08', '2026-03-08'], dimensions, ['sessions']),
            dimensionFilter: german,
            metricFilter: busy,
          },
          answer(dimensions, ['sessions'], [[['20260308', 'Germany'], ['7']]]),
        ),
      ],
      columns: ['date', 'property_id', 'currency', 'country', 'sessions'],
      rows: [['2026-03-08', '123', 'EUR', 'Germany', 7]],
    },
    {
      title: 'follows the people of each day as a cohort',
      settings: { accountIds: '123', startDate: '2026-03-07', endDate: '2026-03-08', cohortDays: 3 },
      exchanges: [
        report(
          '123',
          {
            cohortSpec: {
              cohorts: ['2026-03-07', '2026-03-08'].map((name) => ({
                name,
                dimension: 'firstSessionDate',
                dateRange: { startDate: name, endDate: name },
              })),
              cohortsRange: { granularity: 'DAILY', startOffset: 0, endOffset: 3 },
            },
            dimensions: named(['cohort', 'cohortNthDay']),
            metrics: named(['cohortActiveUsers', 'cohortTotalUsers']),
            limit: '50000',
            offset: '0',
          },
          answer(
            ['cohort', 'cohortNthDay'],
            ['cohortActiveUsers', 'cohortTotalUsers'],
            [
              [
                ['2026-03-07', '0000'],
                ['9', '9'],
              ],
              [
                ['2026-03-07', '0001'],
                ['4', '9'],
              ],
            ],
          ),
        ),
      ],
      columns: ['date', 'property_id', 'currency', 'cohort_day', 'cohortActiveUsers', 'cohortTotalUsers'],
      rows: [
        ['2026-03-07', '123', 'EUR', 0, 9, 9],
        ['2026-03-07', '123', 'EUR', 1, 4, 9],
      ],
    },
  ],
})

test('refuses what Google would refuse, and names the field that Google refuses', async () => {
  for (const [choice, message] of [
    [{ cohortDays: 30 }, /Set “Look-back window in days” to 30 or more/],
    [{ metrics: ['cohortActiveUsers'] }, /Set “Days to follow cohorts”/],
    [{ dimensionFilter: 'country = x' }, /Dimension filter must be a JSON object/],
    [{ metricFilter: '{"filter":{}}' }, /Metric filter: a filter must have a fieldName/],
  ] as const) {
    const context = testContext({ secrets: googleReportSignIn.secrets, settings: { ...settings, ...choice } as never })
    await assert.rejects(async () => await googleAnalytics4.source?.open?.(context), {
      code: 'invalid_setting',
      message,
    })
  }
})
