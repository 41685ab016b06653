import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callerOf } from './harness/fixtures.ts'
import { startReplicatedPostgres } from './harness/replicated-postgres.ts'
import { startServiceOn } from './harness/service.ts'
import { withSession } from './harness/session.ts'
import { until } from './harness/until.ts'

/** A standby for lists and reports. It is used, every list shows earlier writes, and it can lag behind or be away. */

test('lists and reports come from a replica that has everything, and otherwise from the database', async (t) => {
  const postgres = await startReplicatedPostgres(t, { synchronous: false })
  const service = await startServiceOn(postgres.primaryUrl, { PENSTOCK_DATABASE_REPLICA_URL: postgres.standbyUrl })
  t.after(service.close)
  const caller = callerOf(service, await service.addOrganization())
  const onStandby = <T>(text: string) =>
    withSession(postgres.standbyUrl, async (session) => (await session.query(text)).rows[0] as T)
  /** The last statement of each session of the service on the standby. */
  const usesStandby = async (words: string) =>
    (
      await onStandby<{ found: boolean }>(
        `select count(*) > 0 as found from pg_stat_activity where application_name = 'penstock' and query like '%${words}%'`,
      )
    ).found
  let created = 0
  const addAndList = async () => {
    await caller.addAccount()
    created++
    const listed = await caller.call('listAccounts', { query: { size: 1 } })
    assert.deepEqual([listed.status, listed.headers['x-total-count']], [200, String(created)])
  }

  await until('the replica serves a list', async () => {
    await addAndList()
    return usesStandby('from accounts')
  })
  for (const id of ['listAllTransfers', 'reportAccounts'] as const) assert.equal((await caller.call(id)).status, 200)

  await onStandby('select pg_wal_replay_pause()')
  for (const _ of [1, 2, 3]) await addAndList()
  await onStandby('select pg_wal_replay_resume()')
  for (const _ of [1, 2, 3]) await addAndList()

  // A server that was promoted is no replica.
  await postgres.promote()
  for (const _ of [1, 2, 3]) await addAndList()
})

test('a replica that cannot be reached is left alone for a while, which is logged', async (t) => {
  const postgres = await startReplicatedPostgres(t)
  const unreachable = new URL(postgres.standbyUrl)
  unreachable.port = '1'
  const service = await startServiceOn(postgres.primaryUrl, { PENSTOCK_DATABASE_REPLICA_URL: unreachable.href })
  t.after(service.close)
  const caller = callerOf(service, await service.addOrganization())
  for (const _ of [1, 2, 3]) assert.equal((await caller.call('listAccounts')).status, 200)
  assert.equal(service.logLines.filter((line) => line.includes('the replica cannot be used')).length, 1)
})
