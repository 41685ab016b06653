import assert from 'node:assert/strict'
import { after, before, describe, mock, test } from 'node:test'
import type { Chunk, Json } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { exampleReport } from '../../../test/example-report.ts'
import { objectIn } from '../../platform-api/json.ts'
import { beginOfDay, isoIn, todayIn } from '../report-days.ts'
import { rowsIn } from '../report-rows.ts'
import { reportSource } from '../report-source.ts'

const zones = ['America/Los_Angeles', 'Europe/Berlin', 'Asia/Tokyo', 'America/Santiago', 'Pacific/Auckland']
const connector = reportSource({
  ...exampleReport,
  report: {
    form: 'pages',
    page: ({ account, from, zone }) => ({
      path: '/report',
      query: { account, from, begins: isoIn(zone, beginOfDay(from, zone)) },
    }),
    rows: ({ json }) => rowsIn(objectIn(json).rows),
  },
})

const days = 400
const accounts = Array.from({ length: 100 }, (_, index) => String(1_000 + index))
const zoneOf = (account: string) => zones[Number(account) % zones.length] ?? 'UTC'
const refused = '1042'
/** The times at which days begin, as the platform received them, by zone. */
const begins = new Map<string, Set<string>>()

const egress = {
  async request(url: string | URL): Promise<Response> {
    const { pathname, searchParams } = new URL(url)
    const account = searchParams.get('account') ?? pathname.split('/').at(-1) ?? ''
    if (account === refused) return Response.json({}, { status: 403 })
    const zone = zoneOf(account)
    if (pathname !== '/report') return Response.json({ zone })
    const from = searchParams.get('from') ?? ''
    const known = begins.get(zone) ?? new Set()
    begins.set(zone, known.add(searchParams.get('begins') ?? ''))
    return Response.json({ rows: [{ campaign: `c${Number(account) % 3}`, clicks: Number(from.slice(-2)) }] })
  },
  connect: () => Promise.reject(new Error('connects')),
}

describe(`${days} days of ${accounts.length} accounts`, () => {
  before(() => mock.timers.enable({ apis: ['Date'], now: new Date('2026-11-20T05:00:00Z') }))
  after(() => mock.timers.reset())
  async function* chunksFrom(from?: Json): AsyncGenerator<Chunk> {
    const settings = { accountIds: accounts.join(','), startDate: '2025-10-17', endDate: '2026-11-20' }
    const reader = await connector.source?.open?.(testContext({ secrets: { token: 't' }, settings, egress }))
    yield* reader?.read(from) ?? []
  }

  test('are read once each, also if the process ends behind any of them', { timeout: 500_000 }, async () => {
    const seen = new Set<string>()
    let last: Chunk | undefined
    const reasons: string[] = []
    let count = 0
    for await (const chunk of chunksFrom()) {
      // Every seventh chunk: of all accounts together, behind every day.
      if (last && ++count % 7 === 0) {
        // Of the rest, the next chunk is enough: it has a checkpoint that is tried in its turn.
        const { value } = await chunksFrom(JSON.parse(JSON.stringify(last.checkpoint))).next()
        assert.deepEqual(value, chunk)
      }
      last = chunk
      reasons.push(...(chunk.errors?.values() ?? []))
      for (const [index, [date, account]] of chunk.rows.entries()) {
        if (chunk.errors?.has(index)) continue
        const key = `${account} ${date}`
        assert.ok(!seen.has(key), key)
        seen.add(key)
      }
    }
    assert.equal(reasons.length, 1)
    assert.match(reasons[0] ?? '', new RegExp(`^The account ${refused} of Example was not read\\.`))
    // In zones in which it is not yet the twentieth, that day is not read.
    const there = accounts.filter((account) => account !== refused)
    const expected = there.reduce(
      (sum, account) => sum + (todayIn(zoneOf(account)) === '2026-11-20' ? days : days - 1),
      0,
    )
    assert.equal(seen.size, expected)
    const rest: Chunk[] = []
    for await (const chunk of chunksFrom(last?.checkpoint)) rest.push(chunk)
    assert.deepEqual(rest, [])
  })

  test('begin at midnight by the clocks of each zone, or when these first show the day', () => {
    const [berlin, santiago] = ['Europe/Berlin', 'America/Santiago'].map((zone) => [...(begins.get(zone) ?? [])])
    assert.ok(berlin?.every((time) => time.includes('T00:00:00.000+0')))
    for (const time of ['2026-03-29T00:00:00.000+01:00', '2026-03-30T00:00:00.000+02:00']) {
      assert.ok(berlin?.includes(time), time)
    }
    // The clocks of Santiago skip midnight once a year.
    assert.equal(santiago?.filter((time) => time.includes('T01:00')).length, 1)
  })
})
