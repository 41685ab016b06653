import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSlack } from './harness/chat-servers.ts'
import { addConnection, addFolder, type Connection } from './harness/connections.ts'
import { startMailServer } from './harness/mail-server.ts'
import { withSession } from './harness/session.ts'
import { until } from './harness/until.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/** Worker processes that are killed while they open incidents and send messages, and two that work at once. */

const together = 8

test('processes that are killed lose no incident, and send again only what was not recorded as sent', async (t) => {
  const mail = await startMailServer()
  t.after(mail.close)
  const slack = await startSlack(t)
  const { caller, service, folder, accountId, spawnWorker } = await startProcessFixture(t, {
    PENSTOCK_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    PENSTOCK_MAIL_FROM: 'penstock@example.com',
  })
  const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
  await addFolder(caller, accountId, folder)
  // The rule that each organization begins with would open incidents of its own.
  await sql('delete from alert_rules')
  const body = {
    name: 'Broken',
    accountId,
    conditions: { connectionBroken: true },
    slackUrl: slack.url,
    emails: ['data@example.com'],
  }
  await caller.expect(caller.call('createAlertRule', { body }))
  const breakOne = async (name: string): Promise<Connection> => {
    const connection = await addConnection(caller, accountId, name)
    await sql(`update connections set status = 'broken' where id = $1`, connection.id)
    return connection
  }
  /** Does work while a table is locked, until a worker waits for it; then kills the worker, as if its statement had never come. */
  const killAtLock = async (table: string, spawn: typeof spawnWorker) =>
    withSession(service.databaseUrl, async (session) => {
      await session.query(`begin; lock table ${table} in exclusive mode`)
      const killed = spawn()
      // Not by pg_stat_activity, of which a transaction sees one state.
      const waiting = `from pg_locks where not granted and relation = '${table}'::regclass
        and database = (select oid from pg_database where datname = current_database())`
      await until(`a worker waits for ${table}`, async () => (await session.query(`select ${waiting}`)).rowCount)
      killed.signal('SIGKILL')
      await killed.ended
      await session.query(`select pg_terminate_backend(pid) ${waiting}`)
      await session.query('rollback')
    })
  /** As if the time that a killed process had for sending had passed. */
  const endLeases = () => sql('update alert_deliveries set next_time = now() where outcome is null')
  const count = async (what: string) => Number((await sql(`select count(*) from ${what}`))[0]?.count)
  const named = (name: string) => [
    slack.messages.filter((message) => slack.textOf(message).includes(`“${name}”`)).length,
    mail.mails.filter(({ text }) => text.includes(`=E2=80=9C${name}=E2=80=9D`) || text.includes(`“${name}”`)).length,
  ]

  // Killed before the incident is opened: what was noted is still there.
  await breakOne('First')
  await killAtLock('alert_incidents', spawnWorker)
  assert.equal(await count('alert_incidents'), 0)
  assert((await count('alert_checks')) > 0)

  // Killed before the message is written: neither is the incident.
  await killAtLock('alert_deliveries', spawnWorker)
  assert.equal(await count('alert_incidents'), 0)

  // Killed once the message has come to Slack, which has not answered.
  slack.answer = 'nothing'
  const sending = spawnWorker()
  await until('the message comes', () => slack.unanswered.length === 1 && mail.mails.length === 1)
  sending.signal('SIGKILL')
  await sending.ended
  slack.answer = undefined
  assert.deepEqual([await count('alert_incidents'), await count('alert_deliveries')], [1, 2])

  // Killed once Slack and the mail server have taken it, which is not recorded.
  await endLeases()
  await sql(`update alert_deliveries set outcome = null, finished_time = null`)
  await breakOne('Second')
  await killAtLock('alert_delivery_totals', spawnWorker)
  await until('it was sent', () => named('First').every((times) => times >= 1))
  assert.equal(await count(`alert_deliveries where outcome = 'delivered'`), 0)

  // Two at once: what was not recorded comes once more, everything else once.
  const before = new Map(['First', 'Second'].map((name) => [name, named(name)]))
  await endLeases()
  spawnWorker()
  spawnWorker()
  const names = Array.from({ length: together }, (_, n) => `Later ${n}`)
  for (const name of names) {
    await sql(`update alert_rules set message_budget = 6`)
    await breakOne(name)
  }
  await until('every message is sent', async () => {
    await sql(`update alert_rules set message_budget = 6`)
    const left = 'alert_incidents where pending is not null'
    const unsent = 'alert_deliveries where outcome is null'
    return (await count('alert_checks')) + (await count(left)) + (await count(unsent)) === 0
  })
  assert.equal(await count('alert_incidents'), 2 + together)
  for (const name of names) assert.deepEqual(named(name), [1, 1], name)
  for (const name of ['First', 'Second']) {
    const [slacked = 0, mailed = 0] = before.get(name) ?? []
    assert.deepEqual(named(name), [slacked + 1, mailed + 1], name)
  }
  // A mail that comes again is known by its identifier: each has one recipient and two at most are of one incident.
  const identifiers = mail.mails.map(({ text }) => /Message-ID: <(alert-\w+)@/i.exec(text)?.[1])
  const sent = await sql(`select 'alert-' || id as id from alert_deliveries where channel = 'email'`)
  assert.deepEqual(new Set(identifiers), new Set(sent.map(({ id }) => id)))
})
