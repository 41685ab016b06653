import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { outcomesConnectorId } from '@penstock/wire'
import { startMetaCampaigns } from '../packages/connectors/test/meta-campaigns-server.ts'
import { metaSecrets } from '../packages/connectors/test/meta-server.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { spawnHandoverWorker } from './harness/handover.ts'
import { assertInvariants } from './harness/invariants.ts'
import { startMoving } from './harness/moving.ts'
import { queuedAgain } from './harness/standings.ts'
import { postgresql } from './harness/transfers.ts'
import { bounded } from './harness/until.ts'

/** Campaigns and ad sets from a table: each is there once, whatever fails on the way, and outcomes have its ID. */

const meta = await startMetaCampaigns()
after(() => meta.close())
const posting = connectorBySlug('meta-campaign-posting')
const { clientId, clientSecret, accessToken } = metaSecrets
const secrets = { clientId, clientSecret, accessToken }
const moving = await startMoving(
  { 'https://graph.facebook.com': meta.url },
  [posting, secrets],
  [connectorBySlug('outcomes'), {}],
)
const { fixture, caller, accountId, service, work, move } = moving
const { target } = fixture

const campaigns = 70
const adSets = 60
/** The 10th and the 20th ad set have budgets above the greatest one. */
const greedy = [10, 20]
const created = campaigns + adSets - greedy.length

const connect = (settings: Record<string, string | number>) =>
  fixture.connect(postgresql, { table: 'plan' }, posting, {
    advertiserId: '900',
    specialAdCategory: 'NONE',
    outcomes: 'Default',
    outcomeColumns: 'name',
    ...settings,
  })
const posts = () => meta.received.filter(({ method }) => method === 'POST').length

async function answersOf(transferId: string, table: string) {
  const id = await fixture.connect({ id: outcomesConnectorId }, { startAt: 'oldest' }, postgresql, {
    table,
    createTable: true,
  })
  const { status, error } = await move(id)
  assert.equal(status, 'succeeded', JSON.stringify(error))
  const { rows } = await target.query(
    `select key ->> 'name' as name, outcome, answer ->> 'id' as id, answer ->> 'result' as result, reason
     from ${table} where transfer_id = $1 order by row`,
    [transferId],
  )
  return rows
}

test('campaigns and ad sets are created once, although requests fail, connections break and workers are killed', async () => {
  await target.query(
    `create table plan (place int primary key, level text, name text, campaign_name text, daily_budget numeric, objective text,
       optimization_goal text, billing_event text, countries text)`,
  )
  await target.query(
    `insert into plan select n, 'campaign', 'Campaign ' || n, null, null, 'OUTCOME_TRAFFIC', null, null, null
     from generate_series(1, $1::int) n`,
    [campaigns],
  )
  await target.query(
    `insert into plan select 1000 + n, 'ad_set', 'Ad set ' || n, 'Campaign ' || n, case when n = any($2::int[]) then 500.01 else n + 0.5 end,
       null, 'LINK_CLICKS', 'IMPRESSIONS', 'DE'
     from generate_series(1, $1::int) n`,
    [adSets, greedy],
  )
  const id = await connect({ budgetMax: 500, increaseMax: 5_000 })
  const { id: transferId } = await fixture.start(id)
  const creates = /POST .*\/(campaigns|adsets)$/
  for (const failure of [{ status: 500, text: '' }, 'reset', 'reset after', { status: 429, text: '' }] as const) {
    meta.failure(creates, failure)
  }
  // A worker is killed while it waits: once among campaigns, and once among ad sets that it has created before.
  for (const [at, there] of [
    [/POST .*\/campaigns$/, () => meta.campaigns.length >= 30],
    [/POST .*\/adsets$/, () => meta.adSets.length >= 15],
  ] as const) {
    const child = spawnHandoverWorker(moving.worker)
    await bounded(
      'the worker has created some',
      (async () => {
        while (!there()) await new Promise((resolve) => setTimeout(resolve, 2))
      })(),
      60_000,
    )
    meta.failure(at, 'reset after')
    child.kill('SIGKILL')
    await bounded('it is gone', child.ended, 60_000)
    meta.calm()
    await service.database.pool.query(queuedAgain(`id = $1 and status = 'running'`), [transferId])
  }
  await work()
  const transfer = await fixture.get(id, transferId)
  assert.equal(transfer.status, 'partial', JSON.stringify(transfer.error))
  assert.deepEqual(transfer.records, {
    read: campaigns + adSets,
    sent: campaigns + adSets,
    accepted: created,
    rejected: greedy.length,
  })
  const namesOf = (objects: readonly Record<string, unknown>[]) => objects.map(({ name }) => String(name)).sort()
  const names = (word: string, count: number, without: readonly number[] = []) =>
    Array.from({ length: count }, (_, n) => n + 1)
      .filter((n) => !without.includes(n))
      .map((n) => `${word} ${n}`)
      .sort()
  assert.deepEqual(namesOf(meta.campaigns), names('Campaign', campaigns))
  assert.deepEqual(namesOf(meta.adSets), names('Ad set', adSets, greedy))
  for (const { name, status, parent, daily_budget: cents } of meta.adSets) {
    const n = Number(String(name).split(' ')[2])
    const campaign = meta.campaigns.find(({ id }) => id === parent)
    assert.deepEqual([status, cents, campaign?.name], ['PAUSED', n * 100 + 50, `Campaign ${n}`])
  }

  const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId }))
  assert.deepEqual(
    rejects.map(({ field }) => field),
    greedy.map(() => 'daily_budget'),
  )
  for (const { reason } of rejects) {
    assert.equal(reason, '"500.01" is above the greatest budget of the connection, 500.')
  }

  const ids = new Map([...meta.campaigns, ...meta.adSets].map((one) => [String(one.name), one.id]))
  const first = await answersOf(transferId, 'first_outcomes')
  assert.equal(first.length, campaigns + adSets)
  for (const { name, outcome, id: answered, result } of first) {
    assert.equal(answered ?? undefined, ids.get(name), name)
    assert.equal(outcome, answered === null ? 'rejected' : 'accepted')
    if (answered !== null) assert.match(result, /^(created|unchanged)$/)
  }

  const before = posts()
  const again = await move(id)
  assert.deepEqual([again.status, again.records.accepted, posts() - before], ['partial', created, 0])
  const second = await answersOf(again.id, 'second_outcomes')
  assert.deepEqual(new Set(second.map(({ result }) => result)), new Set(['unchanged', null]))
  await assertInvariants(service.database.pool)
})

test('budgets rise by no more than the greatest increase of a transfer', async () => {
  await target.query(`delete from plan where name not in ('Ad set 1', 'Ad set 2', 'Ad set 3')`)
  await target.query('update plan set daily_budget = daily_budget + 40')
  const id = await connect({ budgetMax: 500, increaseMax: 100 })
  const first = await move(id)
  assert.deepEqual([first.records.accepted, first.records.rejected], [2, 1])
  const [rejected] = await caller.expect(caller.call('listRejects', { accountId, id, transferId: first.id }))
  assert.deepEqual(rejected?.field, 'daily_budget')
  assert.match(rejected.reason, /increase/)
  const budgets = () => ['1', '2', '3'].map((n) => meta.adSets.find(({ name }) => name === `Ad set ${n}`)?.daily_budget)
  assert.deepEqual(budgets(), [4150, 4250, 350])
  assert.equal((await move(id)).records.accepted, 3)
  assert.deepEqual(budgets(), [4150, 4250, 4350])
  await assertInvariants(service.database.pool)
})
