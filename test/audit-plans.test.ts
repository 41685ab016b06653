import { test } from 'node:test'
import { type AuditFilter, auditList } from '../packages/server/src/audit/queries.ts'
import { createTestDatabase } from './harness/database.ts'
import { assertPlansOf, type Case, judgePageOf } from './harness/plans.ts'
import { withSession } from './harness/session.ts'

/** A page of the audit log is read from an index, whatever the filter, however long the log is. */

const size = 50
const total = 60_000

test('each filter has its index', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.after(drop)
  await withSession(url, async (client) => {
    await client.query('alter table audit_events disable trigger user')
    // Of everything much and little: one actor, action, target and sub-account of 1,000 is seldom.
    const seldom = (name: string) => `'${name} ' || case when n % 1000 = 0 then 'seldom' else (n % 7)::text end`
    await client.query(
      `insert into audit_events (organization_id, number, time, actor_kind, actor_id, action, account_id, target_id, outcome, hash)
       select 'organization', n, to_timestamp(n), 'client', ${seldom('actor')}, ${seldom('action')}, ${seldom('account')},
         'target ' || n / 10, 'done', '' from generate_series(1, ${total}) as n`,
    )
    await client.query('analyze audit_events')
    const everything: AuditFilter = {
      organizationId: 'organization',
      accountIds: null,
      actorId: null,
      action: null,
      targetId: null,
      firstNumber: 1,
      lastNumber: total,
    }
    const filters: Record<string, Partial<AuditFilter>> = {
      'without a filter': {},
      'of a time': { firstNumber: 20_000, lastNumber: 20_100 },
      'of an actor': { actorId: 'actor 3' },
      'of an actor that is seldom': { actorId: 'actor seldom' },
      'of an action that is seldom': { action: 'action seldom' },
      'of a target': { targetId: 'target 17' },
      'of no target': { targetId: 'target unknown' },
      'of a sub-account': { accountIds: ['account 3'] },
      'of a sub-account that is seldom': { accountIds: ['account seldom'] },
    }
    const cases = Object.entries(filters).map(([title, given]): Case => {
      const filter = { ...everything, ...given }
      return { title, statement: auditList(filter).list, parameters: { ...filter, size, offset: 0 } }
    })
    // Rows of an actor that is one of seven are met on the way along the numbers.
    await assertPlansOf(client, cases, (plan) => judgePageOf(4 * size, plan))
  })
})
