import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Chunk, ErrorAction, Json, Row } from '@penstock/connector'
import { acceptSource, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { insightsSecrets, type MetaInsightsServer, startMetaInsights } from '../../test/meta-insights-server.ts'
import { connectorErrorOf, type Failure, hangOf, problemOf } from '../../test/platform-server.ts'
import { metaInsights } from './meta-insights.ts'

const origin = 'https://graph.facebook.com'
const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
const settings = {
  accountIds: '900',
  startDate: day(8),
  endDate: day(5),
  metrics: ['impressions', 'reach', 'spend', 'actions'],
}
const columns = [
  ...['date_start', 'date_stop', 'account_id', 'account_name', 'account_currency'],
  ...['campaign_id', 'campaign_name', 'objective', 'impressions', 'reach', 'spend', 'actions'],
]
const rowOf = (of: string, n: number, account = '900'): Row => [
  ...[of, of, account, `Account ${account}`, 'EUR', `${n}0000000000000000`, `Campaign ${n}`, 'OUTCOME_SALES'],
  ...[1000 + n, '12345678901234567890', '12.50', n === 0 ? '[{"action_type":"purchase","value":"3"}]' : null],
]
const rowsOf = (...days: string[]): Row[] => days.flatMap((of) => [0, 1, 2].map((n) => rowOf(of, n)))
const four = [day(8), day(7), day(6), day(5)]

describe('Meta Insights, against a server that keeps to what is known of Meta', () => {
  let meta: MetaInsightsServer
  beforeEach(async () => {
    meta = await startMetaInsights()
  })
  afterEach(() => meta.close())
  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets: insightsSecrets, settings, routes: { [origin]: meta.url }, ...options })
  async function read(options: TestContextOptions = {}, from?: Json): Promise<Chunk[]> {
    const { open } = metaInsights.source ?? {}
    assert.ok(open)
    const reader = await open(contextOf(options))
    const chunks: Chunk[] = []
    for await (const chunk of reader.read(from)) chunks.push(chunk)
    return chunks
  }
  const daysIn = (chunks: readonly Chunk[]) => [
    ...new Set(chunks.flatMap(({ rows }) => rows.map(([of]) => String(of)))),
  ]
  const starts = () => [...meta.jobs.values()].map(({ account, day: of }) => `${account} ${of}`)

  test('asks for the columns of the level and the breakdowns, and gives figures with all their digits', async () => {
    const chunks = await read({ settings: { ...settings, breakdowns: ['age'], level: 'account', endDate: day(8) } })
    const names = [
      'date_start',
      'date_stop',
      'account_id',
      'account_name',
      'account_currency',
      'age',
      ...settings.metrics,
    ]
    assert.deepEqual(chunks[0]?.columns, names)
    assert.equal(chunks.flatMap(({ rows }) => rows)[0]?.[5], '18-24')
    const { body } = [...meta.jobs.values()][0] ?? {}
    assert.deepEqual(body, {
      level: 'account',
      fields: names.filter((name) => name !== 'age').join(','),
      breakdowns: 'age',
      time_range: { since: day(8), until: day(8) },
      time_increment: 1,
    })
  })

  test('finds the job of a day again after a crash, at any chunk, and starts none twice', async () => {
    meta.behaviour.asksBeforeDone = 1
    const all = await read()
    assert.deepEqual(
      starts(),
      four.map((of) => `900 ${of}`),
    )
    for (const [at, { checkpoint }] of all.entries()) {
      const before = meta.jobs.size
      const rest = await read({}, checkpoint)
      assert.deepEqual(
        rest.flatMap(({ rows }) => rows),
        all.slice(at + 1).flatMap(({ rows }) => rows),
      )
      const { from: of, job } = checkpoint as { from: string; job?: string }
      const left = four.filter((one) => (job === undefined ? one >= of : one > of))
      assert.deepEqual(
        starts().slice(before),
        left.map((one) => `900 ${one}`),
      )
    }
  })

  test('starts a job again that Meta dropped or forgot', async () => {
    const [first] = await read({ settings: { ...settings, endDate: day(8) } })
    meta.jobs.clear()
    const again = await read({ settings: { ...settings, endDate: day(8) } }, first?.checkpoint)
    assert.deepEqual(
      again.flatMap(({ rows }) => rows),
      rowsOf(day(8)),
    )
    meta.failure(/^GET \/v26.0\/\d+$/, { json: { async_status: 'Job Skipped' } })
    assert.deepEqual(
      (await read({ settings: { ...settings, endDate: day(8) } })).flatMap(({ rows }) => rows),
      rowsOf(day(8)),
    )
  })

  test('starts a job again that failed, and gives up the third time', async () => {
    const one = { settings: { ...settings, endDate: day(8) } }
    const fail = (times: number) => {
      for (let n = 0; n < times; n++) meta.failure(/v26.0\/\d+$/, { json: { async_status: 'Job Failed' } })
    }
    fail(2)
    const chunks = await read(one)
    assert.deepEqual(
      chunks.flatMap(({ rows }) => rows),
      rowsOf(day(8)),
    )
    assert.equal(meta.jobs.size, 3)
    fail(3)
    const { action, code } = await connectorErrorOf(read(one), contextOf())
    assert.deepEqual([action, code], ['retry', 'platform_error'])
  })

  test('continues from a checkpoint of version 0.1.0', async () => {
    const [first] = await read()
    const { job = null } = (first?.checkpoint ?? {}) as { job?: string }
    const old = { account: '900', day: day(8), job, through: {} }
    const begun = meta.jobs.size
    assert.deepEqual(
      (await read({}, old)).flatMap(({ rows }) => rows),
      rowsOf(...four),
    )
    assert.equal(meta.jobs.size - begun, 3)
    const behind = { account: '900', day: day(6), through: { 900: day(7) } }
    assert.deepEqual(
      (await read({}, behind)).flatMap(({ rows }) => rows),
      rowsOf(day(6), day(5)),
    )
  })

  test('reads the restated days again in the next transfer, and days without a report once', async () => {
    const open = { accountIds: '900', metrics: settings.metrics, lookBackDays: 3, startDate: day(9) }
    meta.behaviour.noReportOf = (of) => of === day(6)
    const chunks = await read({ settings: open })
    const cursor = chunks.at(-1)?.cursor
    assert.ok(!daysIn(chunks).includes(day(6)) && daysIn(chunks).includes(day(7)))
    const today = String((cursor as { through: Record<string, string> }).through['900'])
    const days = daysIn(await read({ settings: open, cursor } as TestContextOptions))
    assert.equal(days.length, 3)
    assert.equal(days.at(-1), today)
  })

  test('computes today in the time zone of each account', async () => {
    const own = { accountIds: '900, act_901', metrics: ['spend'], startDate: day(1), level: 'account' }
    const chunks = await read({ settings: own })
    const last = (account: string) =>
      chunks
        .flatMap(({ rows }) => rows)
        .filter((row) => row[2] === account)
        .at(-1)?.[0]
    const todayIn = (timeZone: string) => new Intl.DateTimeFormat('en-CA', { timeZone }).format(new Date())
    assert.deepEqual([last('900'), last('901')], [todayIn('America/Los_Angeles'), todayIn('Pacific/Auckland')])
  })

  test('names an account that is refused, and reads the others', async () => {
    const chunks = await read({ settings: { ...settings, accountIds: '900,555,901' } })
    assert.deepEqual(chunks.flatMap(({ rows, errors }) => rows.filter((_, i) => !errors?.has(i))).length, 24)
    const [reason] = chunks.flatMap(({ errors }) => [...(errors?.values() ?? [])])
    assert.match(reason ?? '', /^The account 555 of Meta was not read\. Meta denies access/)
    const alone = await connectorErrorOf(read({ settings: { ...settings, accountIds: '555' } }), contextOf())
    assert.equal(alone.code, 'permission_denied')
  })

  test('reads yesterday alone for a preview', async () => {
    const { open } = metaInsights.source ?? {}
    const context = contextOf({ settings: { accountIds: '900' } })
    const reader = await open?.({ ...context, cursor: undefined, sample: { noAnswerMs: 5_000 } })
    const chunks: Chunk[] = []
    for await (const chunk of reader?.read() ?? []) chunks.push(chunk)
    assert.equal(daysIn(chunks).length, 1)
    assert.equal(meta.jobs.size, 1)
  })

  test('says what failures and settings mean', async () => {
    const cases: [RegExp, Failure, ErrorAction, string][] = [
      [/insights$/, { status: 400, json: { error: { code: 100 } } }, 'fail', 'request_refused'],
      [/insights$/, { status: 400, json: { error: { code: 17 } } }, 'retry', 'rate_limited'],
      [/insights$/, { status: 500, json: { error: { code: 2 } } }, 'retry', 'platform_error'],
      [/insights$/, { status: 400, json: { error: { code: 2635 } } }, 'fail', 'version_retired'],
      [/insights$/, { json: {} }, 'retry', 'malformed_response'],
      [/insights$/, { text: '<html>' }, 'retry', 'malformed_response'],
    ]
    for (const [match, failure, action, code] of cases) {
      meta.failure(match, failure)
      const error = await connectorErrorOf(read(), contextOf())
      assert.deepEqual([error.action, error.code], [action, code], JSON.stringify(failure))
    }
    for (const wrong of [
      { accountIds: '../me' },
      { accountIds: ' , ' },
      { accountIds: '900', startDate: day(1), endDate: day(2) },
    ]) {
      assert.equal((await connectorErrorOf(read({ settings: wrong }), contextOf())).code, 'invalid_setting')
    }
  })
})

const testServer = await startMetaInsights()
after(() => testServer.close())

acceptSource({
  connector: metaInsights,
  testServer: 'a server that keeps to what is known of Meta',
  secrets: insightsSecrets,
  wrongSecrets: { ...insightsSecrets, accessToken: 'expired-token' },
  settings,
  missing: { ...settings, accountIds: '555' },
  context: { routes: { [origin]: testServer.url } },
  columns,
  rows: rowsOf(...four),
  errors: [
    problemOf(
      testServer,
      /insights$/,
      { status: 400, json: { error: { code: 17 } } },
      { name: 'limits calls', action: 'retry', code: 'rate_limited' },
    ),
    problemOf(
      testServer,
      /insights$/,
      { status: 400, json: { error: { code: 190 } } },
      { name: 'finds the token revoked', action: 'reauthenticate' },
    ),
  ],
  hang: hangOf(testServer, /insights$/),
})
