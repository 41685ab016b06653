import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSlack } from './harness/chat-servers.ts'
import { addConnection, addFolder, type Connection } from './harness/connections.ts'
import { startMailServer } from './harness/mail-server.ts'
import { withSession } from './harness/session.ts'
import { until } from './harness/until.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/** Worker processes that are killed while they open incidents and send messages, and two concurrent ones. */

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
  // The rule that each organization begins with would open its own incidents.
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
  /**
   * Does work while a table is locked, until a worker waits for it. Then kills the worker, as if its statement had not arrived.
   */
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

  // Killed before the incident is opened, so the note is still there.
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

  // Two concurrently: messages that were not recorded are sent once more, everything else once.
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
  // A repeated mail is recognised by its identifier: each has one recipient, and at most two are about one incident.
  const identifiers = mail.mails.map(({ text }) => /Message-ID: <(alert-\w+)@/i.exec(text)?.[1])
  const sent = await sql(`select 'alert-' || id as id from alert_deliveries where channel = 'email'`)
  assert.deepEqual(new Set(identifiers), new Set(sent.map(({ id }) => id)))
})

test('a worker that stops while Slack takes a message records it, and no other worker sends it again', async (t) => {
  const slack = await startSlack(t)
  const { caller, service, folder, accountId, spawnWorker } = await startProcessFixture(t)
  const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
  await addFolder(caller, accountId, folder)
  await sql('delete from alert_rules')
  const body = { name: 'Broken', accountId, conditions: { connectionBroken: true }, slackUrl: slack.url }
  await caller.expect(caller.call('createAlertRule', { body }))
  const { id } = await addConnection(caller, accountId, 'Orders')
  const left = () => sql('select from alert_deliveries where outcome is null')
  const becomes = (status: string) =>
    sql(
      `update connections set status = $2, previous_status = case when $2 = 'disabled' then 'active' end where id = $1`,
      id,
      status,
    )
  const first = spawnWorker()
  await becomes('broken')
  await until('it is announced', () => slack.messages.length === 1)

  // That it is over has come to Slack, which has not answered yet.
  slack.answer = 'nothing'
  await becomes('disabled')
  await until('the message comes', () => slack.unanswered.length === 1)
  spawnWorker()
  first.signal('SIGTERM')
  slack.answer = undefined
  slack.release()
  await first.ended
  // As if the time that the first worker had for sending had passed.
  await sql('update alert_deliveries set next_time = now() where outcome is null')
  await until('nothing is left', async () => (await left()).length === 0)
  assert.deepEqual([slack.messages.length, slack.unanswered.length], [1, 1], 'one of the beginning, one of the end')
})

test('two workers announce each beginning and each end of many incidents once', async (t) => {
  const slack = await startSlack(t)
  const { caller, service, folder, accountId, spawnWorker } = await startProcessFixture(t)
  const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
  await addFolder(caller, accountId, folder)
  await sql('delete from alert_rules')
  const body = { name: 'Broken', accountId, conditions: { connectionBroken: true }, slackUrl: slack.url }
  await caller.expect(caller.call('createAlertRule', { body }))
  for (let i = 0; i < 10; i++) await addConnection(caller, accountId, `Flapping ${i}`)
  spawnWorker()
  spawnWorker()
  const quiet = () => sql('update alert_rules set message_budget = 6')
  for (let round = 0; round < 30; round++) {
    await quiet()
    // Without waiting, so that incidents end while earlier ones are announced.
    await sql(`update connections set status = case when status = 'broken' then 'disabled' else 'broken' end,
        previous_status = case when status = 'broken' then 'active' end
      where random() < 0.7`)
    await until('notes are taken', async () => (await sql('select from alert_checks')).length === 0)
  }
  await sql(`update connections set status = 'disabled', previous_status = 'active' where status = 'broken'`)
  await until('everything is announced', async () => {
    await quiet()
    const left = `select (select count(*) from alert_checks) + (select count(*) from alert_incidents where pending is not null)
      + (select count(*) from alert_deliveries where outcome is null) as left`
    return Number((await sql(left))[0]?.left) === 0
  })
  const said = await sql(`select item ->> 'incidentId' as id, d.kind, count(*)::int as times
    from alert_deliveries d, jsonb_array_elements(d.content -> 'items') item group by 1, 2`)
  assert(said.length > 20)
  assert.deepEqual(
    said.filter(({ times }) => times !== 1),
    [],
  )
  // In the order in which they happened: the end of an earlier incident never follows the beginning of a later one.
  const order = await sql(`select c.id, array_agg(d.kind order by d.created_time, d.kind desc) as kinds
    from alert_deliveries d, jsonb_array_elements(d.content -> 'items') item join connections c on c.id = item ->> 'connectionId'
    group by c.id`)
  for (const { kinds } of order)
    for (const [at, kind] of kinds.entries()) assert.equal(kind, at % 2 === 0 ? 'opened' : 'resolved', kinds.join(' '))
})
