import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AuditFilter, auditList } from '../packages/server/src/audit/queries.ts'
import { foundMax, sampleOf, searchList } from '../packages/server/src/audit/search-queries.ts'
import { createTestDatabase } from './harness/database.ts'
import { assertPlansOf, type Case, explain, judgePageOf } from './harness/plans.ts'
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
      `insert into audit_events (organization_id, number, time, actor_kind, actor_id, actor_name, action, account_id, target_id, outcome, hash)
       select 'organization', n, to_timestamp(n), 'client', ${seldom('actor')}, ${seldom('actor name')}, ${seldom('action')}, ${seldom('account')},
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
    // A search reads the newest events to learn how common its text is, then the index of words, or the log from its end.
    const searches: Record<string, { like: string; targetIds: string[]; accountIds?: string[] }> = {
      'for a text that is seldom': { like: '%actor name seldom%', targetIds: [] },
      'for a text that is common': { like: '%actor name%', targetIds: [] },
      'for no text': { like: '%nowhere%', targetIds: [] },
      'for a name': { like: '%nowhere%', targetIds: ['target 17', 'target 18'] },
      'for a text in a sub-account': { like: '%actor name seldom%', targetIds: [], accountIds: ['account 3'] },
    }
    for (const [title, given] of Object.entries(searches)) {
      const parameters = { ...everything, ...given }
      const sampled = await explain(client, sampleOf as never, parameters, 'force_custom_plan')
      // A bitmap counts each row twice: in the index and in the table.
      assert(sampled.rowsRead <= 20_000, `${title}: ${sampled.rowsRead} rows sampled`)
      const isInAll = title === 'for a text that is common'
      const { list, count } = searchList(isInAll ? 10_000 : 10)
      const found = isInAll ? foundMax + 1 : 100
      for (const statement of [list, count]) {
        const plan = await explain(client, statement as never, { ...parameters, size, offset: 0 }, 'force_custom_plan')
        assert(plan.rowsRead <= 4 * found, `${title}: ${plan.rowsRead} rows read\n${plan.text}`)
        assert.deepEqual(plan.scannedWhole, [], plan.text)
      }
    }
    // Rows of an actor that is one of seven are met on the way along the numbers.
    await assertPlansOf(client, cases, (plan) => judgePageOf(4 * size, plan))
  })
})
