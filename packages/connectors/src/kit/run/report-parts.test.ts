import assert from 'node:assert/strict'
import { after, before, describe, mock, test } from 'node:test'
import { cursorOfParts, type Json, type Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { exampleReport } from '../../../test/example-report.ts'
import type { ReadFacts, ReportSource } from '../report-facts.ts'
import { reportSource } from '../report-source.ts'
import { throughOf } from './report-parts.ts'

const facts: ReportSource = { ...exampleReport, days: { backMax: 500, lookBack: 20, chunk: 2 }, readers: 3 }
const source = (own: Partial<ReportSource> = {}) => reportSource({ ...facts, ...own }).source

const egress = {
  async request(url: string | URL): Promise<Response> {
    const { pathname, searchParams } = new URL(url)
    if (pathname.includes('/9')) return Response.json({}, { status: 403 })
    const zone = pathname === '/accounts/101' ? 'Asia/Tokyo' : 'America/Los_Angeles'
    if (pathname !== '/report') return Response.json({ zone })
    return Response.json({ rows: [{ day: searchParams.get('from'), campaign: 'c', clicks: 1 }] })
  },
  connect: () => Promise.reject(new Error('connects')),
}
const contextOf = (settings: Values, cursor?: Json) =>
  testContext({ secrets: { token: 't' }, settings, egress, ...(cursor !== undefined && { cursor }) })

async function divide(settings: Values, { own, cursor }: { own?: Partial<ReportSource>; cursor?: Json } = {}) {
  const reader = await source(own)?.open?.(contextOf(settings, cursor))
  return reader?.divide?.({ bytesMin: 0, partsMax: 1_000 })
}

describe('reports in parts', () => {
  // In Tokyo it is the sixth already.
  before(() => mock.timers.enable({ apis: ['Date'], now: new Date('2026-03-05T20:00:00Z') }))
  after(() => mock.timers.reset())

  test('are those of some accounts, or of some days of one', async () => {
    const named = (ids: readonly number[]) => ({ accountIds: ids.join(',') })
    const names = async (settings: Values, cursor?: Json) =>
      (await divide(settings, { ...(cursor !== undefined && { cursor }) }))?.parts.map(({ name }) => name)
    assert.deepEqual(await names(named([1, 2, 3, 4, 5, 6, 7])), ['1 to 2', '3 to 4', '5 to 7'])
    assert.deepEqual(await names(named([100])), ['100, 2026-02-13 to 2026-02-22', '100, 2026-02-23 to 2026-03-05'])
    const few = ['100, 2026-02-13 to 2026-02-26', '100 to 101', '101, 2026-02-20 to 2026-03-06']
    assert.deepEqual(await names(named([100, 101])), few)
    // An account that was read needs only its last days.
    assert.equal(await names({ ...named([100]), lookBackDays: 5 }, { through: { 100: '2026-03-04' } }), undefined)
    assert.deepEqual((await divide(named([100])))?.apart, ['account', 'day'])
  })

  test('are read by one worker unless the platform bears more', async () => {
    const settings = { accountIds: '1,2,3,4,5,6,7' }
    assert.equal(await divide(settings, { own: { readers: 1 } }), undefined)
    assert.equal((await divide(settings, { own: { readers: 2 } }))?.parts.length, 2)
  })

  test('give the rows, the windows and the cursor of one reader, all together', async () => {
    const settings = { accountIds: '100,101,900' }
    const readAll = async (part?: { key: Json; columns: readonly string[] }) => {
      const reader = await source()?.open?.({ ...contextOf(settings), ...(part && { part }) })
      const chunks = []
      for await (const chunk of reader?.read() ?? []) chunks.push(chunk)
      return chunks
    }
    const whole = await readAll()
    const division = await divide(settings)
    assert.equal(division?.parts.length, 3)
    const columns = await division.columns()
    const parts = []
    for (const { key } of division.parts) parts.push(await readAll({ key, columns }))
    const seen = (chunks: typeof whole) => chunks.map(({ rows, errors, window }) => ({ rows, errors, window }))
    assert.deepEqual(seen(parts.flat()), seen(whole))
    const cursors = parts.map((chunks) => chunks.at(-1)?.cursor ?? null)
    assert.deepEqual(
      throughOf(facts as ReadFacts, cursorOfParts(cursors) ?? undefined),
      throughOf(facts as ReadFacts, whole.findLast(({ cursor }) => cursor !== undefined)?.cursor),
    )
  })

  test('are not made if all accounts are refused: the transfer fails with the reason', async () => {
    for (const accountIds of ['900,901', '900,901,902,903,904,905,906']) {
      await assert.rejects(divide({ accountIds }), { code: 'permission_denied' }, accountIds)
    }
    const some = await divide({ accountIds: '100,900,901,902,903,904,905' })
    assert.equal(some?.parts.length, 3)
  })

  test('of a backfill are those of its days, with their windows', async () => {
    // The days that the connection names apply to all of its transfers.
    const settings = { accountIds: '100', startDate: '2026-02-01', endDate: '2026-02-10' }
    const range = { from: '2025-12-30', to: '2026-01-18' }
    const reader = await source()?.open?.({ ...contextOf(settings), range })
    const names = (await reader?.divide?.({ bytesMin: 0, partsMax: 1_000 }))?.parts.map(({ name }) => name)
    assert.deepEqual(names, ['100, 2025-12-30 to 2026-01-08', '100, 2026-01-09 to 2026-01-18'])
    const days = []
    for await (const { rows, window } of reader?.read() ?? []) days.push([rows[0]?.[0], window?.scope.day?.length])
    assert.deepEqual([days.length, days[0], days.at(-1)], [10, ['2025-12-30', 2], ['2026-01-17', 2]])
    const early = { ...contextOf(settings), range: { from: '2020-01-01', to: '2020-01-02' } }
    await assert.rejects(async () => source()?.open?.(early), { code: 'invalid_setting' })
  })

  test('leave an account at the earliest day behind which some are missing', () => {
    const parts = [
      { through: { 1: '2026-03-01', 2: '2026-03-01', 3: '2026-02-01' }, refused: ['1', '4'] },
      { through: { 1: '2026-03-05', 2: '2026-03-05', 4: '2026-03-05' } },
      { through: { 1: '2026-03-03', 3: '2026-02-01' }, refused: ['1', '3'] },
    ]
    assert.deepEqual(throughOf(facts as ReadFacts, { parts }), { 1: '2026-03-01', 2: '2026-03-05', 3: '2026-02-01' })
    assert.deepEqual(throughOf(facts as ReadFacts, { through: { 1: '2026-03-01' } }), { 1: '2026-03-01' })
    assert.deepEqual(throughOf(facts as ReadFacts, undefined), {})
  })
})
