import assert from 'node:assert/strict'
import { test } from 'node:test'
import { steadily } from './harness/bystander.ts'
import { holdLock } from './harness/database.ts'
import { startTestService } from './harness/service.ts'
import { until } from './harness/until.ts'

/** Requests of two organizations whose statements do not end, next to a third organization. */

const poolSize = 10
const requests = 40

test('organizations with slow statements leave connections for others, and get refusals that they can act on', async (t) => {
  const service = await startTestService({ PENSTOCK_DATABASE_POOL: String(poolSize), PENSTOCK_LOG_LEVEL: 'silent' })
  t.after(service.close)
  const [first, second, bystander] = [
    await service.addOrganization(),
    await service.addOrganization(),
    await service.addOrganization(),
  ]
  const waiting = async () => {
    const { rows } = await service.database.pool.query(
      `select count(*)::integer as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return (rows[0] as { count: number }).count
  }
  const most: number[] = []
  const look = async () => {
    const { status, text } = await service.call('listAccounts', { token: bystander.token })
    assert.equal(status, 200, text)
    most.push(await waiting())
  }
  await using _ = await holdLock(service.databaseUrl, 'lock table mapping_templates')
  let left = 2 * requests
  const send = async (token: string) => {
    const { status, error, headers } = await service.call('listMappingTemplates', { token })
    left--
    return { status, error, retries: headers['retry-after'] !== undefined }
  }
  const sent = [first, second].flatMap(({ token }) => Array.from({ length: requests }, () => send(token)))
  await until('statements wait', async () => (await waiting()) >= 6)
  await steadily(200, look, () => left === 0)
  const answers = await Promise.all(sent)
  assert(Math.max(...most) < poolSize, `${Math.max(...most)} of ${poolSize} connections were in use`)
  const kinds = Map.groupBy(answers, ({ status, error, retries }) => `${status} ${error} ${retries}`)
  assert.deepEqual([...kinds.keys()].sort(), ['422 too_slow false', '429 rate_limited true'])
})

test('an organization without others gets an answer to all of its requests', async (t) => {
  const service = await startTestService({ PENSTOCK_DATABASE_POOL: '3', PENSTOCK_LOG_LEVEL: 'silent' })
  t.after(service.close)
  const { token } = await service.addOrganization()
  const names = Array.from({ length: 100 }, (_, n) => `Account ${n}`)
  const added = await Promise.all(names.map((name) => service.call('addAccount', { token, body: { name } })))
  const read = await Promise.all(names.map(() => service.call('listAccounts', { token, query: { size: 500 } })))
  assert.deepEqual(new Set([...added, ...read].map(({ status }) => status)), new Set([201, 200]))
})
