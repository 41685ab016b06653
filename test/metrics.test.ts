import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionStatuses } from '@penstock/wire'
import { countsOfAll } from '../packages/server/src/connections/list-queries.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import * as totalsQueries from '../packages/server/src/transfers/totals/queries.ts'
import { addAccountWithConnection, makeInbox } from './harness/connections.ts'
import { createTestDatabase } from './harness/database.ts'
import { callerOf } from './harness/fixtures.ts'
import { accountId, loadAccounts, prepareToLoad, settle } from './harness/many-connections.ts'
import { loadTransfers } from './harness/many-transfers.ts'
import { assertPlansOf } from './harness/plans.ts'
import { startServiceOn, startTestService, type TestService } from './harness/service.ts'
import { withSession } from './harness/session.ts'
import { claimed } from './harness/standings.ts'
import { large } from './harness/tiers.ts'

/** Metrics of the database: the same in every process, and cheap for any amount of data. */

/** The samples of one metric, by their labels. */
async function samples(service: TestService, name: string): Promise<Record<string, number>> {
  const { text } = await service.send({ method: 'GET', path: '/metrics' })
  const lines = text.matchAll(new RegExp(`^${name}(\\{.*\\})? (\\S+)$`, 'gm'))
  return Object.fromEntries([...lines].map(([, labels = '', value]) => [labels, Number(value)]))
}

test('transfers by their end, records by class and connections by status are the same in every process, and outlive a restart', async (t) => {
  const inbox = await makeInbox()
  t.after(inbox.remove)
  const env = { ...inbox.env, PENSTOCK_MASTER_KEY: generateMasterKey() }
  const service = await startTestService(env)
  t.after(service.close)
  const caller = callerOf(service, await service.addOrganization())
  const { pool } = service.database
  const run = async (change: string) => {
    const connection = await addAccountWithConnection(caller, inbox.folder)
    const { id } = await caller.expect(caller.call('startTransfer', { ...connection, body: {} }))
    const counts = 'read = 10, sent = 9, accepted = 7, rejected = 3'
    await pool.query(claimed(), [id])
    await pool.query(`update transfers set ${counts} where id = $1`, [id])
    await pool.query(`update transfers set ${change} where id = $1`, [id])
    return connection
  }
  assert.deepEqual(await samples(service, 'penstock_transfers_ended_total'), {})
  await run(`status = 'partial'`)
  await run(`status = 'partial'`)
  await run(`status = 'failed', error_code = 'invalid_credentials'`)
  await run(`status = 'failed', error_code = 'Not "our" code'`)
  await run(`status = 'queued', error_code = 'busy'`)
  const running = await run('cancelling = false')
  const ended = {
    '{status="partial",error=""}': 2,
    '{status="failed",error="invalid_credentials"}': 1,
    '{status="failed",error="other"}': 1,
  }
  const records = { '{class="read"}': 60, '{class="sent"}': 54, '{class="accepted"}': 42, '{class="rejected"}': 18 }

  const other = await startServiceOn(service.databaseUrl, env)
  t.after(other.close)
  for (const one of [service, other]) {
    assert.deepEqual(await samples(one, 'penstock_transfers_ended_total'), ended)
    assert.deepEqual(await samples(one, 'penstock_records_total'), records)
    const byStatus = await samples(one, 'penstock_connections')
    assert.deepEqual(Object.keys(byStatus).sort(), connectionStatuses.map((status) => `{status="${status}"}`).sort())
    assert.equal(byStatus['{status="active"}'], 6)
  }
  // When a transfer ends, its counts move from the running transfers to the others. A purged transfer stays counted.
  await pool.query(`update transfers set status = 'succeeded' where connection_id = $1`, [running.id])
  await pool.query(`delete from transfers where status in ('partial', 'succeeded')`)
  assert.deepEqual(await samples(service, 'penstock_records_total'), records)
  assert.deepEqual(await samples(service, 'penstock_transfers_ended_total'), {
    ...ended,
    '{status="succeeded",error=""}': 1,
  })
  await caller.expect(caller.call('deleteConnection', running))
  assert.equal((await samples(service, 'penstock_connections'))['{status="deleted"}'], 1)
})

test('work that waits is measured: the sweep that no worker begins, and audit events that are not linked', async (t) => {
  const service = await startTestService({ PENSTOCK_WORKER: '0' })
  t.after(service.close)
  const { pool } = service.database
  const value = async (name: string) => (await samples(service, name))[''] ?? Number.NaN
  await pool.query(`update alert_sweeps set next_time = now() - interval '10 minutes' where name = 'open and idle'`)
  assert.equal(await value('penstock_database_up'), 1)
  assert((await value('penstock_workers_overdue_seconds')) >= 600)
  await pool.query(`update alert_sweeps set next_time = now() + interval '1 minute' where name = 'open and idle'`)
  assert.equal(await value('penstock_workers_overdue_seconds'), 0)

  assert.equal(await value('penstock_audit_events_waiting'), 0)
  assert.equal(await value('penstock_audit_events_oldest_seconds'), 0)
  // As long as another transaction links, no process links more.
  const holder = await pool.connect()
  try {
    await holder.query(`begin; select pg_advisory_xact_lock(hashtext('penstock audit log'), 0)`)
    await pool.query(`insert into audit_queue (organization_id, time, actor_kind, action, outcome)
      values ('none', now() - interval '5 minutes', 'service', 'purgeAccount', 'done')`)
    assert.equal(await value('penstock_audit_events_waiting'), 1)
    assert((await value('penstock_audit_events_oldest_seconds')) >= 300)
  } finally {
    await holder.query('rollback')
    holder.release()
  }
})

/** Errors that `promtool check metrics` reports for a metric, by the rules of promlint. */
function complaintsAbout(name: string, type: string, help: string, labels: ReadonlySet<string>): string[] {
  const parts = name.split('_')
  const isTotal = name.endsWith('_total')
  const prefix = '(?:pico|nano|micro|milli|centi|deci|deca|hecto|kilo|kibi|mega|mibi|giga|gibi|tera|tebi|peta|pebi)'
  const base = '(?:amperes|bytes|celsius|grams|joules|kelvins|meters|metres|moles|seconds|volts)'
  const other = '(?:minutes|hours|days|weeks|fahrenheit|rankine|inches|yards|miles|bits|calories|pounds|ounces)'
  const rules: Readonly<Record<string, boolean>> = {
    'has no help': help === '',
    'has no type': !/^(?:counter|gauge|histogram|summary)$/.test(type),
    'is a counter without "_total"': type === 'counter' && !isTotal,
    'is no counter and ends in "_total"': type !== 'counter' && isTotal,
    'ends in a suffix of histograms': /_(?:bucket|count|sum)$/.test(name),
    'has a label of another type':
      (type !== 'histogram' && labels.has('le')) || (type !== 'summary' && labels.has('quantile')),
    'has its type in its name': parts.includes(type),
    'has a colon': name.includes(':'),
    'is not in lower case with underscores': [name, ...labels].some((one) => /[a-z][A-Z]/.test(one)),
    'has a unit that is not a base unit': parts.some((part) =>
      new RegExp(`^(?:${prefix}(?:${base}|${other})|${other})$`).test(part),
    ),
    'has an abbreviated unit': parts.some((part) => /^(?:s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d)$/.test(part)),
  }
  return Object.entries(rules).flatMap(([rule, broken]) => (broken ? [`${name} ${rule}`] : []))
}

test('every metric follows the rules of `promtool check metrics`', async (t) => {
  const service = await startTestService()
  t.after(service.close)
  await service.send({ method: 'GET', path: '/metrics' })
  const { text } = await service.send({ method: 'GET', path: '/metrics' })
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({ name, type }))
  assert(families.length > 30, `${families.length} metrics`)
  const complaints = families.flatMap(({ name, type }) => {
    const help = new RegExp(`^# HELP ${name} (.+)$`, 'm').exec(text)?.[1] ?? ''
    const samples = text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'))
    const labels = [...samples].flatMap(([, all = '']) => [...all.matchAll(/(\w+)="/g)].map(([, label = '']) => label))
    return complaintsAbout(name, type, help, new Set(labels))
  })
  assert.deepEqual(complaints, [])
  assert(families.some(({ name, type }) => name === 'penstock_runner_deaths_total' && type === 'counter'))
})

test('a scrape reads none of 100,000 transfers that have ended, no ledger and no connection', large, async (t) => {
  const { url, drop } = await createTestDatabase()
  t.after(drop)
  await withSession(url, async (session) => {
    await prepareToLoad(session)
    await loadAccounts(session, { first: 0, last: 99, connectionsEach: 10 })
    const { rows } = await session.query<{ id: string }>(
      'select min(id) as id from connections where account_id = $1',
      [accountId(0)],
    )
    const connectionId = rows[0]?.id ?? ''
    await loadTransfers(session, { accountId: accountId(0), connectionId, transfers: 100_000, rejects: 0 })
    await settle(session)
    await assertPlansOf(
      session,
      [
        { title: 'transfers', statement: totalsQueries.countTransfers, parameters: {} },
        { title: 'connections', statement: countsOfAll, parameters: {} },
      ],
      (plan) => {
        const read = ['transfers', 'ledger', 'connections'].map((table) => plan.rowsReadFrom(table))
        return (read.some((rows) => rows > 0) || plan.pagesRead > 20) && `${read} rows, ${plan.pagesRead} pages read`
      },
    )
  })
})
