import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { spotifyAds } from './spotify-ads.ts'

const uuid = (digit: number) => `${String(digit).repeat(8)}-f04d-48b9-9ddf-fb3c85fbd57a`
const own = uuid(1)
const account = (id: string, answer: Exchange['answer']): Exchange => ({ path: `/ads/v3/ad_accounts/${id}`, answer })
const campaigns = (id: string, offset: number, list: number[]): Exchange => ({
  path: `/ads/v3/ad_accounts/${id}/campaigns`,
  query: { limit: '50', offset: String(offset), sort_field: 'ID', sort_direction: 'ASC' },
  answer: { json: { campaigns: list.map((n) => ({ id: `c${n}` })), paging: { offset } } },
})
const report = (
  id: string,
  // Of parameters that come several times, the last value.
  query: Record<string, string>,
  rows: unknown,
  token: string | null = null,
): Exchange => ({
  path: `/ads/v3/ad_accounts/${id}/aggregate_reports`,
  query,
  answer: { json: { granularity: 'DAY', rows, continuation_token: token, warnings: [] } },
})
const asked = (type: string, last: string, days: [string, string]) => ({
  entity_type: type,
  entity_ids: last,
  entity_ids_type: 'CAMPAIGN',
  fields: 'PURCHASES',
  granularity: 'DAY',
  report_start: `${days[0]}T00:00:00Z`,
  report_end: `${days[1]}T00:00:00Z`,
  limit: '50',
})
const entity = (id: string, date: string, stats: Record<string, unknown>) => ({
  entity_type: 'CAMPAIGN',
  entity_id: id,
  entity_name: `Name of ${id}`,
  entity_status: 'ACTIVE',
  start_time: `${date}T00:00:00Z`,
  end_time: `${date}T23:59:59Z`,
  stats: Object.entries(stats).map(([field_type, field_value]) => ({ field_type, field_value })),
})
const settings = {
  accountIds: own,
  startDate: '2026-03-01',
  endDate: '2026-03-31',
  metrics: ['impressions', 'spend'],
  otherMetrics: 'PURCHASES',
}
const { accountIds: _, ...ofAll } = settings
const month: [string, string] = ['2026-03-01', '2026-03-31']
const columns = ['date', 'ad_account_id', 'ad_account_name', 'currency']

await testReportSource({
  connector: spotifyAds,
  now: '2026-04-20T12:00:00Z',
  origins: ['https://api-partner.spotify.com', 'https://accounts.spotify.com'],
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/api/token') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      const isApp = headers.authorization === `Basic ${Buffer.from('app:secret').toString('base64')}`
      return isGood && isApp ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: {} }
  },
  common: [
    {
      method: 'POST',
      path: '/api/token',
      answer: { json: { access_token: 'access', token_type: 'Bearer', expires_in: 3600 } },
    },
    { path: '/ads/v3/businesses', answer: { json: { businesses: [{ id: uuid(8) }, { id: uuid(9) }] } } },
    { path: `/ads/v3/businesses/${uuid(8)}/ad_accounts`, answer: { json: { paging: {}, ad_accounts: [] } } },
    {
      path: `/ads/v3/businesses/${uuid(9)}/ad_accounts`,
      answer: { json: { paging: {}, ad_accounts: [{ id: own, name: 'Shop' }] } },
    },
    account(own, { json: { id: own, name: 'Shop', currency_code: 'MXN' } }),
  ],
  reads: /\/aggregate_reports$/,
  revoked: { status: 401, json: {} },
  failures: [
    [{ status: 400, json: {} }, 'fail', 'request_refused'],
    [{ json: { warnings: [] } }, 'retry', 'malformed_response'],
  ],
  refused: { account: uuid(2), exchanges: [account(uuid(2), { status: 403, json: {} })] },
  refusals: [],
  transient: [],
  nextPage: { at: 'continuation_token', rowsAt: 'rows', is: 'token' },
  examples: [
    {
      title: 'reads 50 campaigns at once, and the next page by its token alone',
      settings,
      exchanges: [
        campaigns(
          own,
          0,
          Array.from({ length: 50 }, (_, n) => n + 10),
        ),
        campaigns(own, 50, [99]),
        report(
          own,
          asked('CAMPAIGN', 'c59', month),
          [
            entity('c10', '2026-03-01', { IMPRESSIONS: '15234', SPEND: 983.084134, PURCHASES: -5 }),
            entity('c10', '2026-03-02', { IMPRESSIONS: 0, SPEND: 0 }),
          ],
          'to+ken%3D',
        ),
        report(own, { continuation_token: 'to+ken%3D' }, [entity('c11', '2026-03-01', { PURCHASES: 7 })]),
        report(own, asked('CAMPAIGN', 'c99', month), []),
      ],
      columns: [...columns, 'campaign_id', 'name', 'status', 'impressions', 'spend', 'PURCHASES'],
      rows: [
        ['2026-03-01', own, 'Shop', 'MXN', 'c10', 'Name of c10', 'ACTIVE', 15234, '983.084134', null],
        ['2026-03-02', own, 'Shop', 'MXN', 'c10', 'Name of c10', 'ACTIVE', 0, '0', null],
        ['2026-03-01', own, 'Shop', 'MXN', 'c11', 'Name of c11', 'ACTIVE', null, null, '7'],
      ],
    },
    {
      title: 'reads ads campaign by campaign, of the accounts of all businesses',
      settings: { ...ofAll, level: 'ad', endDate: '2026-03-01' },
      exchanges: [
        campaigns(own, 0, [1, 2]),
        report(own, asked('AD', 'c1', ['2026-03-01', '2026-03-01']), [entity('a1', '2026-03-01', { SPEND: '1.5' })]),
        report(own, asked('AD', 'c2', ['2026-03-01', '2026-03-01']), [entity('a2', '2026-03-01', { SPEND: '2' })]),
      ],
      columns: [...columns, 'ad_id', 'name', 'status', 'campaign_id', 'impressions', 'spend', 'PURCHASES'],
      rows: [
        ['2026-03-01', own, 'Shop', 'MXN', 'a1', 'Name of a1', 'ACTIVE', 'c1', null, '1.5', null],
        ['2026-03-01', own, 'Shop', 'MXN', 'a2', 'Name of a2', 'ACTIVE', 'c2', null, '2', null],
      ],
    },
  ],
})
