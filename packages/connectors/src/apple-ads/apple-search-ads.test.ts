import { generateKeyPairSync, verify } from 'node:crypto'
import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { appleSearchAds } from './apple-search-ads.ts'

const keys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const [own, other] = [keys(), keys()]
const secretsWith = ({ privateKey }: ReturnType<typeof keys>) => ({
  clientId: 'SEARCHADS.client',
  teamId: 'SEARCHADS.team',
  keyId: 'key-1',
  privateKey: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
})

/** Whether a form has a client secret that the known key signed, for this client. */
function isSigned(form: URLSearchParams): boolean {
  const [header = '', payload = '', signature = ''] = (form.get('client_secret') ?? '').split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  const { iss, sub, aud, iat, exp } = read(payload)
  const { alg, kid } = read(header)
  const isFor = [iss, sub, aud].join() === 'SEARCHADS.team,SEARCHADS.client,https://appleid.apple.com'
  const key = { key: own.publicKey, dsaEncoding: 'ieee-p1363' } as const
  return (
    isFor &&
    alg === 'ES256' &&
    kid === 'key-1' &&
    exp - iat <= 180 * 86_400 &&
    form.get('scope') === 'searchadsorg' &&
    verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))
  )
}

const inAccount = { headers: { 'x-ap-context': 'adAccountId=123' } }
const account = (id: string, answer: Exchange['answer']): Exchange => ({
  path: `/v1/ad-accounts/${id}`,
  headers: { 'x-ap-context': `adAccountId=${id}` },
  answer,
})
const report = (level: string, body: object, rows: unknown, offset = 0): Exchange => ({
  method: 'POST',
  path: `/v1/reports/apps/${level}/query`,
  ...inAccount,
  body: { ...body, pagination: { offset, pageSize: 1_000 } },
  answer: { json: { result: { rows }, pagination: { offset, pageSize: 1_000 } } },
})
const range = (start: string, end: string, isByDay = true) => ({
  timeRange: { start, end, timeZone: 'ORTZ', ...(isByDay && { granularity: 'DAILY' }) },
})
const usd = (amount: string) => ({ amount, currency: 'USD' })
const campaign = (id: number, granularMetrics: unknown[]) => ({
  metadata: { id, name: `Campaign ${id}`, status: 'ENABLED', promotedObjectId: '999', adAccountId: 123 },
  totalMetrics: { impressions: 1 },
  granularMetrics,
})
const many = Array.from({ length: 999 }, (_, index) => campaign(index + 10, []))
const settings = {
  accountIds: '123',
  startDate: '2026-03-01',
  endDate: '2026-04-01',
  metrics: ['spend', 'impressions', 'ttr'],
}
const columns = ['date', 'ad_account_id', 'ad_account_name', 'currency']

await testReportSource({
  connector: appleSearchAds,
  now: '2026-04-20T12:00:00Z',
  origins: ['https://api.ads.apple.com', 'https://appleid.apple.com'],
  secrets: secretsWith(own),
  wrongSecrets: secretsWith(other),
  denies: ({ path, headers, text }: Received) => {
    if (path === '/auth/oauth2/token') {
      return isSigned(new URLSearchParams(text)) ? undefined : { status: 400, json: { error: 'invalid_client' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: {} }
  },
  common: [
    {
      method: 'POST',
      path: '/auth/oauth2/token',
      answer: { json: { access_token: 'access', token_type: 'Bearer', expires_in: 3600, scope: 'searchadsorg' } },
    },
    { path: '/v1/acls', answer: { json: { result: { acls: [{ adAccount: { id: 123, name: 'App' } }] } } } },
    account('123', { json: { result: { id: 123, name: 'App', currency: 'EUR', timezone: 'Europe/Lisbon' } } }),
  ],
  reads: /\/campaigns\/query$/,
  revoked: { status: 401, json: { error: { code: 'UNAUTHORIZED' } } },
  failures: [
    [{ status: 400, json: { error: { code: 'VALIDATION_ERROR' } } }, 'fail', 'request_refused'],
    [{ json: { result: {} } }, 'retry', 'malformed_response'],
    [{ status: 429, headers: { 'ratelimit-reset-after': '61' }, text: '' }, 'retry', 'rate_limited', 61_000],
  ],
  refused: { account: '456', exchanges: [account('456', { status: 403, json: {} })] },
  refusals: [{ status: 403, json: { error: { code: 'FORBIDDEN' } } }],
  transient: [],
  nextPage: 'none',
  examples: [
    {
      title: 'reads pages of campaigns by day, and a single day without days',
      settings,
      exchanges: [
        report('campaigns', range('2026-03-01', '2026-03-31'), [
          campaign(1, [
            { date: '2026-03-01', localSpend: usd('2.40'), impressions: 160, ttr: 0.05 },
            { date: '2026-03-02', impressions: 0 },
          ]),
          ...many,
        ]),
        report(
          'campaigns',
          range('2026-03-01', '2026-03-31'),
          [campaign(2, [{ date: '2026-03-31', localSpend: usd('1'), impressions: 1 }])],
          1_000,
        ),
        report('campaigns', range('2026-04-01', '2026-04-01', false), [
          {
            metadata: { id: 2, name: 'Campaign 2', status: 'PAUSED', promotedObjectId: '999' },
            totalMetrics: { localSpend: usd('0.10'), impressions: 3 },
          },
        ]),
      ],
      columns: [...columns, 'campaign_id', 'name', 'status', 'app_id', 'spend', 'impressions', 'ttr'],
      rows: [
        ['2026-03-01', '123', 'App', 'USD', '1', 'Campaign 1', 'ENABLED', '999', '2.40', 160, '0.05'],
        ['2026-03-02', '123', 'App', 'EUR', '1', 'Campaign 1', 'ENABLED', '999', null, 0, null],
        ['2026-03-31', '123', 'App', 'USD', '2', 'Campaign 2', 'ENABLED', '999', '1', 1, null],
        ['2026-04-01', '123', 'App', 'USD', '2', 'Campaign 2', 'PAUSED', '999', '0.10', 3, null],
      ],
    },
    {
      title: 'reads search terms of the campaigns that had figures, those of low volume, too',
      settings: {
        ...settings,
        endDate: '2026-03-02',
        level: 'search_term',
        breakdowns: ['country_or_region'],
        metrics: ['taps'],
      },
      exchanges: [
        report('campaigns', range('2026-03-01', '2026-03-02', false), [campaign(1, []), campaign(2, [])]),
        ...[1, 2].map(
          (id): Exchange => ({
            ...report(
              'searchterms',
              {
                ...range('2026-03-01', '2026-03-02'),
                filters: [{ field: 'campaignId', operator: 'EQUALS', value: [String(id)] }],
                groupBy: ['countryOrRegion'],
              },
              [
                {
                  metadata: {
                    campaignId: 1,
                    searchTermText: 'shoes',
                    searchTermSource: 'TARGETED',
                    keyword: { id: 7, text: 'shoe', matchType: 'BROAD' },
                    adGroupId: 3,
                    adGroup: { name: 'Broad' },
                    countryOrRegion: 'US',
                  },
                  granularMetrics: [{ date: '2026-03-01', taps: 4 }],
                },
                {
                  metadata: { campaignId: 1, searchTermSource: 'AUTO', adGroupId: 3, countryOrRegion: 'US' },
                  granularMetrics: [{ date: '2026-03-01', taps: 1 }],
                },
              ],
            ),
            ...(id === 2 && {
              answer: { status: 400, json: { error: { message: 'CAMPAIGN DOES NOT CONTAIN KEYWORD' } } },
            }),
          }),
        ),
      ],
      columns: [
        ...[...columns, 'search_term', 'keyword_id', 'ad_group_id', 'search_term_source', 'keyword', 'match_type'],
        ...['ad_group_name', 'campaign_id', 'country_or_region', 'taps'],
      ],
      rows: [
        [...['2026-03-01', '123', 'App', 'EUR', 'shoes', '7', '3', 'TARGETED', 'shoe', 'BROAD', 'Broad', '1', 'US'], 4],
        [
          ...['2026-03-01', '123', 'App', 'EUR', '(low volume terms)', '0', '3', 'AUTO', null, null, null, '1', 'US'],
          1,
        ],
      ],
    },
  ],
})
