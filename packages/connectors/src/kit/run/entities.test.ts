import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chunk } from '@penstock/connector'
import { definePlatform, secret } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import type { Received } from '../../../test/platform-server.ts'
import { type Exchange, startRecorded, testReportSource } from '../../../test/test-report-source.ts'
import { objectIn, textIn } from '../../platform-api/json.ts'
import { bearer, restApi } from '../api.ts'
import { entitySource } from '../entity-source.ts'
import { dimension, metric, ofAccount } from '../report-columns.ts'
import { rowsIn } from '../report-rows.ts'

/* A made-up platform that lists its campaigns and ads in pages. */
const origin = 'https://api.example.com'
const connector = entitySource({
  slug: 'example-entities',
  name: 'Example entities',
  platform: definePlatform({ slug: 'example-ads', name: 'Example Ads', type: 'Demand-Side Platform (DSP)' }),
  dataType: 'ads management',
  dataTypeCategory: 'campaign management',
  description: 'Reads the campaigns of a made-up platform.',
  secrets: { token: secret({ label: 'Token', description: 'Token of the platform', required: true }) },
  platformApi: restApi({ name: 'Example', baseUrl: origin }),
  auth: bearer('token'),
  accounts: {
    label: 'Account IDs',
    id: /^\d{1,10}$/,
    example: '100',
    all: true,
    get: (account) => ({ path: `/accounts/${account}` }),
    about: ({ json }) => ({ currency: textIn(objectIn(json).currency), zone: textIn(objectIn(json).zone) }),
  },
  listed: {
    accountIds: {
      kind: 'account',
      page: () => ({ path: '/accounts' }),
      found: ({ json }) => (rowsIn(objectIn(json).accounts) ?? []).map(({ id }) => ({ id })),
    },
  },
  always: ['account_id', 'currency', 'zone'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['name', 'daily_budget'] },
    ad: { key: ['ad_id'], columns: ['name', 'campaign_id'] },
  },
  columns: {
    account_id: ofAccount('account', 'ID of the account'),
    currency: ofAccount('currency', 'Currency of the account'),
    zone: ofAccount('zone', 'Time zone of the account'),
    campaign_id: dimension('ID of the campaign', { at: 'campaign' }),
    ad_id: dimension('ID of the ad', { at: 'id' }),
    name: dimension('Name'),
    daily_budget: metric('micros', 'Budget of a day', { at: 'budget' }),
  },
  report: {
    form: 'pages',
    page: ({ account, level }, cursor) => ({ path: `/accounts/${account}/${level}s`, query: { cursor } }),
    rows: ({ json }) => rowsIn(objectIn(json).items),
    next: ({ json }) => objectIn(json).next,
  },
  check: { authentication: () => ({ path: '/accounts' }) },
})

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
  connector,
  now: '2026-03-06T05:00:00Z',
  origins: [origin],
  secrets: { token: 'good' },
  wrongSecrets: { token: 'bad' },
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

test('what a list does not have any more vanishes of its account alone, unless the list was interrupted', async (t) => {
  const server = await startRecorded(denies, () => [...campaigns, ...common])
  t.after(() => server.close())
  const read = async (settings: Record<string, string>, after?: Chunk['checkpoint'], cursor?: Chunk['cursor']) => {
    const context = testContext({
      secrets: { token: 'good' },
      settings,
      routes: { [origin]: server.url },
      ...(cursor !== undefined && { cursor }),
    })
    const reader = await connector.source?.open?.(context)
    const chunks: Chunk[] = []
    for await (const chunk of reader?.read(after) ?? []) chunks.push(chunk)
    return chunks
  }
  const whole = await read({ accountIds: '100' })
  const window = { scope: { account_id: ['100'] }, key: ['account_id', 'campaign_id'] }
  assert.deepEqual(
    whole.map((chunk) => chunk.window),
    [
      { ...window, begins: true, ends: false },
      { ...window, begins: false, ends: true },
    ],
  )
  const [first, last] = whole
  const rest = await read({ accountIds: '100' }, first?.checkpoint)
  assert.deepEqual(
    rest.map((chunk) => chunk.window),
    [{ ...window, begins: false, ends: false }],
  )
  const kept = await read({ accountIds: '100', vanishedRows: 'Keep' })
  assert.equal(kept[0]?.window, undefined)
  const next = await read({ accountIds: '100' }, undefined, last?.cursor)
  assert.deepEqual(
    next.flatMap((chunk) => chunk.rows),
    rows,
    'the next transfer reads all of it again',
  )
})
