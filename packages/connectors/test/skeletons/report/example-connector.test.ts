import type { Received } from '../../platform-server.ts'
import { type Exchange, testReportSource } from '../../test-report-source.ts'
import { exampleConnector } from './example-connector.ts'

const pages = (days: [string, string], ...lists: object[][]): Exchange[] =>
  lists.map((rows, at) => ({
    path: '/v1/accounts/100/report',
    query: {
      level: 'ad',
      from: days[0],
      to: days[1],
      fields: 'ad_id,ad_name,impressions,spend',
      ...(at > 0 && { cursor: `page-${at}` }),
    },
    answer: { json: { rows, ...(at < lists.length - 1 && { next: `page-${at + 1}` }) } },
  }))
const row = (day: string, id: string, impressions: number, spend: string) => ({
  day,
  ad_id: id,
  ad_name: `Ad ${id}`,
  impressions,
  spend,
})

await testReportSource({
  connector: exampleConnector,
  now: '2026-03-06T12:00:00Z',
  origins: ['https://api.example.com'],
  secrets: { accessToken: 'good' },
  wrongSecrets: { accessToken: 'bad' },
  denies: ({ headers }: Received) => (headers.authorization === 'Bearer good' ? undefined : { status: 401, json: {} }),
  common: [
    { path: '/v1/me', answer: { json: { id: '1' } } },
    { path: '/v1/accounts/100', answer: { json: { name: 'Shop', currency: 'EUR', zone: 'Europe/Berlin' } } },
  ],
  reads: /GET \/v1\/accounts\/100\/report/,
  revoked: { status: 401, json: {} },
  failures: [
    [{ status: 400, json: {} }, 'fail', 'request_refused'],
    [{ json: {} }, 'retry', 'malformed_response'],
  ],
  refused: { account: '200', exchanges: [{ path: '/v1/accounts/200', answer: { status: 403, json: {} } }] },
  refusals: [],
  transient: [],
  nextPage: { at: 'next', rowsAt: 'rows', is: 'token' },
  examples: [
    {
      title: 'reads the pages of two days at a time',
      settings: { accountIds: '100', startDate: '2026-03-03', endDate: '2026-03-05' },
      exchanges: [
        ...pages(
          ['2026-03-03', '2026-03-04'],
          [row('2026-03-03', '1', 10, '1.25')],
          [row('2026-03-04', '12345678901234567890', 0, '0')],
        ),
        ...pages(['2026-03-05', '2026-03-05'], []),
      ],
      columns: ['date', 'account_id', 'currency', 'ad_id', 'ad_name', 'impressions', 'spend'],
      rows: [
        ['2026-03-03', '100', 'EUR', '1', 'Ad 1', 10, '1.25'],
        ['2026-03-04', '100', 'EUR', '12345678901234567890', 'Ad 12345678901234567890', 0, '0'],
      ],
    },
  ],
})
