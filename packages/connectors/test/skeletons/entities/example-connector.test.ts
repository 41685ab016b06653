import type { Received } from '../../platform-server.ts'
import { type Exchange, testReportSource } from '../../test-report-source.ts'
import { exampleConnector } from './example-connector.ts'

const account = (id: string): Exchange => ({
  path: `/accounts/${id}`,
  answer: { json: { currency: 'EUR', zone: 'Asia/Tokyo' } },
})
const denies = ({ headers }: Received) =>
  headers.authorization === 'Bearer good' ? undefined : { status: 401, json: {} }
const common: Exchange[] = [
  { path: '/accounts', answer: { json: { accounts: [{ id: '101' }, { id: '100' }] } } },
  account('100'),
  account('101'),
]
const pages = (level: string, ...items: object[][]): Exchange[] =>
  items.map((list, index) => ({
    path: `/accounts/100/${level}`,
    query: index === 0 ? {} : { cursor: String(index) },
    answer: { json: { items: list, ...(index < items.length - 1 && { next: String(index + 1) }) } },
  }))
const campaigns = pages(
  'campaigns',
  [{ campaign: 1, name: 'Spring', budget: 1_500_000 }],
  [{ campaign: '12345678901234567890', name: 'Autumn', budget: null }],
)
const rows = [
  ['100', 'EUR', 'Asia/Tokyo', '1', 'Spring', '1.5'],
  ['100', 'EUR', 'Asia/Tokyo', '12345678901234567890', 'Autumn', null],
]
const columns = ['account_id', 'currency', 'zone', 'campaign_id', 'name', 'daily_budget']

await testReportSource({
  connector: exampleConnector,
  now: '2026-03-06T05:00:00Z',
  origins: ['https://api.example.com'],
  secrets: { accessToken: 'good' },
  wrongSecrets: { accessToken: 'bad' },
  denies,
  common,
  revoked: { status: 401, json: {} },
  reads: /GET \/accounts\/100\/campaigns/,
  examples: [
    { title: 'reads the pages of a list', settings: { accountIds: '100' }, exchanges: campaigns, columns, rows },
    {
      title: 'reads another kind of entity, of all accounts that the platform lists',
      settings: { level: 'ad' },
      exchanges: [
        ...pages('ads', [{ id: '7', name: 'One', campaign: '1' }]),
        { path: '/accounts/101/ads', answer: { json: { items: [] } } },
      ],
      columns: ['account_id', 'currency', 'zone', 'ad_id', 'name', 'campaign_id'],
      rows: [['100', 'EUR', 'Asia/Tokyo', '7', 'One', '1']],
    },
  ],
  refused: { account: '200', exchanges: [{ path: '/accounts/200', answer: { status: 403, json: {} } }] },
  refusals: [],
  transient: [],
  nextPage: { at: 'next', rowsAt: 'items', is: 'token' },
})
