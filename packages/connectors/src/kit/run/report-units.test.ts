import assert from 'node:assert/strict'
import { after, afterEach, before, describe, mock, test } from 'node:test'
import { type Chunk, definePlatform, type Json, secret, type Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import {
  connectorErrorOf,
  type PlatformServer,
  type Received,
  type Reply,
  startPlatform,
} from '../../../test/platform-server.ts'
import { objectIn } from '../../platform-api/json.ts'
import { bearer, restApi } from '../api.ts'
import { day, dimension, metric, ofAccount } from '../report-columns.ts'
import { daysFrom, eachDay } from '../report-days.ts'
import { rowsIn } from '../report-rows.ts'
import { reportSource } from '../report-source.ts'

const origin = 'https://api.example.com'
const connector = reportSource({
  slug: 'example-units',
  name: 'Example units',
  platform: definePlatform({ slug: 'example-ads', name: 'Example Ads', type: 'Demand-Side Platform (DSP)' }),
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the figures of a made-up platform.',
  secrets: { token: secret({ label: 'Token', description: 'Token of the platform', required: true }) },
  platformApi: restApi({ name: 'Example', baseUrl: origin }),
  auth: bearer('token'),
  accounts: { label: 'Account IDs', id: /^\d+$/, example: '100', all: true },
  listed: {
    accountIds: {
      kind: 'account',
      page: (cursor) => ({ path: '/accounts', query: { cursor } }),
      found: ({ json }) => (rowsIn(objectIn(json).accounts) ?? []).map(({ id }) => ({ id })),
      next: ({ json }) => objectIn(json).next,
    },
  },
  levels: { campaign: { key: ['campaign'] } },
  always: ['day', 'account'],
  breakdowns: [],
  presets: { usual: { metrics: ['clicks'] } },
  free: {
    breakdowns: {
      label: 'Other breakdowns',
      pattern: /^custom:\w+$/,
      example: 'custom:shelf',
      at: (name) => name.slice(7),
    },
    metrics: { label: 'Other metrics', pattern: /^custom:\w+$/, example: 'custom:margin' },
  },
  columns: {
    day: day('Day of the row'),
    account: ofAccount('account', 'ID of the account'),
    campaign: dimension('ID of the campaign'),
    clicks: metric('whole', 'Clicks'),
    cost: metric('money', 'Cost'),
  },
  days: { backMax: 30, lookBack: 5, chunk: 8, zone: { setting: 'timeZone' } },
  parts: {
    atOnce: 2,
    async list(client, { account }) {
      const { json } = await client.askObject({ path: `/accounts/${account}/campaigns` })
      return (rowsIn(json.campaigns) ?? []).map(({ id }) => String(id))
    },
  },
  refuses: ({ metrics }) => (metrics.includes('cost') ? 'Example has no cost today.' : undefined),
  report: {
    form: 'pages',
    page: ({ from, to, ids, asks }, offset = '0') => ({
      path: '/report',
      query: { from, to, ids: ids.join(), offset, names: [...asks.breakdowns, ...asks.metrics].join() },
    }),
    rows: ({ json }) => rowsIn(objectIn(json).rows),
    next: ({ json }, { cursor = '0', rows }) =>
      Number(cursor) + rows < Number(objectIn(json).total) ? String(Number(cursor) + rows) : undefined,
  },
  check: { authentication: () => ({ path: '/accounts' }) },
})

/** The platform refuses reports of more than this number of days, and returns pages of three rows. */
let daysMax = 3
function answer({ path, query }: Received): Reply {
  if (path === '/accounts') {
    return query.get('cursor') === '2'
      ? { json: { accounts: [{ id: '100' }] } }
      : { json: { accounts: [{ id: '30' }, { id: 'strange' }], next: '2' } }
  }
  if (path.endsWith('/campaigns')) {
    const ids = path.includes('/30/') ? [] : ['c3', 'c1', 'c2']
    return { json: { campaigns: ids.map((id) => ({ id })) } }
  }
  const [from = '', to = '', offset] = [query.get('from') ?? '', query.get('to') ?? '', Number(query.get('offset'))]
  if (daysFrom(from, to) > daysMax) return { status: 413, json: {} }
  const ids = (query.get('ids') ?? '').split(',')
  const all = eachDay(from, to).flatMap((one) => ids.map((campaign) => ({ day: one, campaign, clicks: 1, shelf: 's' })))
  return { json: { rows: all.slice(offset, offset + 3), total: all.length } }
}

describe('reports of some days', () => {
  let server: PlatformServer
  before(async () => {
    mock.timers.enable({ apis: ['Date'], now: new Date('2026-03-09T05:00:00Z') })
    server = await startPlatform(answer)
  })
  after(async () => {
    mock.timers.reset()
    await server.close()
  })
  afterEach(() => {
    daysMax = 3
  })
  const contextOf = (settings: Values, cursor?: Json) =>
    testContext({
      secrets: { token: 'good' },
      settings,
      routes: { [origin]: server.url },
      ...(cursor === undefined ? {} : { cursor }),
    })
  async function read(settings: Values, from?: Json, cursor?: Json): Promise<Chunk[]> {
    const reader = await connector.source?.open?.(contextOf(settings, cursor))
    const chunks: Chunk[] = []
    for await (const chunk of reader?.read(from) ?? []) chunks.push(chunk)
    return chunks
  }
  const rowsOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ rows }) => rows)
  const errorOf = (settings: Values) => connectorErrorOf(read(settings), contextOf(settings))
  const daysRead = (chunks: readonly Chunk[]) => [...new Set(rowsOf(chunks).map(([one]) => one))]

  test('halves the days of a report that is too large, and fails if one day is', async () => {
    const chunks = await read({ accountIds: '100', startDate: '2026-03-01', endDate: '2026-03-08' })
    assert.deepEqual(daysRead(chunks), eachDay('2026-03-01', '2026-03-08'))
    assert.equal(rowsOf(chunks).length, 8 * 3)
    for (const [at, { checkpoint }] of chunks.entries()) {
      const rest = await read({ accountIds: '100', startDate: '2026-03-01', endDate: '2026-03-08' }, checkpoint)
      assert.deepEqual(rowsOf(rest), rowsOf(chunks.slice(at + 1)), `behind chunk ${at}`)
    }
    daysMax = 0
    const { code, message } = await errorOf({ accountIds: '100', startDate: '2026-03-08' })
    assert.equal(code, 'response_too_large')
    assert.match(message, /^The report of the account 100 of Example for 2026-03-08 is too large\. Choose fewer/)
  })

  test('asks for the parts of an account in their order, some at once', async () => {
    const begun = server.received.length
    await read({ accountIds: '100', startDate: '2026-03-09' })
    const asked = server.received.slice(begun).filter(({ path }) => path === '/report')
    assert.deepEqual(
      asked.map(({ query }) => query.get('ids')),
      ['c1,c2', 'c3'],
    )
  })

  test('reads all accounts that the platform lists if none is named', async () => {
    const chunks = await read({ startDate: '2026-03-09' })
    assert.deepEqual([...new Set(rowsOf(chunks).map(([, account]) => account))], ['100'])
    assert.deepEqual(chunks.at(-1)?.cursor, { through: { 30: '2026-03-09', 100: '2026-03-09' } })
  })

  test('takes names that the platform alone knows, if they have its form', async () => {
    const [chunk] = await read({
      accountIds: '100',
      startDate: '2026-03-09',
      otherBreakdowns: 'custom:shelf',
      metrics: ['clicks'],
      otherMetrics: 'custom:margin',
    })
    assert.deepEqual(chunk?.columns, ['day', 'account', 'campaign', 'custom:shelf', 'clicks', 'custom:margin'])
    assert.deepEqual(chunk?.rows[0], ['2026-03-09', '100', 'c1', 's', 1, null])
    assert.equal((await errorOf({ accountIds: '100', otherMetrics: 'margin' })).code, 'invalid_setting')
  })

  test('refuses what the platform would refuse, before it is asked', async () => {
    const begun = server.received.length
    const { code, message } = await errorOf({ accountIds: '100', metrics: ['cost'] })
    assert.deepEqual([code, message], ['invalid_setting', 'Example has no cost today.'])
    assert.equal((await errorOf({ accountIds: '100', timeZone: 'Mars/Olympus' })).code, 'invalid_setting')
    assert.equal(server.received.length, begun)
  })

  test('reads the restated days again, no older ones than the platform has, until today in the zone of the setting', async () => {
    const settings = { accountIds: '100', lookBackDays: 4, timeZone: 'America/Los_Angeles' }
    const since = (day: string) => read(settings, undefined, { through: { 100: day } })
    assert.deepEqual(daysRead(await since('2026-03-07')), eachDay('2026-03-04', '2026-03-08'))
    assert.equal(daysRead(await since('2025-12-31'))[0], '2026-02-06')
    // A transfer that ends in days that are read again does not take the next one back.
    const [first] = await since('2026-03-07')
    assert.deepEqual(first?.cursor, { through: { 100: '2026-03-07' } })
  })
})
