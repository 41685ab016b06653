import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type EventType, eventSchema } from '@penstock/wire'
import { Ajv } from 'ajv'
import { type ChatServer, startSlack, startTeams } from './harness/chat-servers.ts'
import { addWebhook, type Endpoint, startEndpoint, webhook } from './harness/endpoint.ts'
import { type MailServer, startMailServer } from './harness/mail-server.ts'
import { startReceiver } from './harness/receiver.ts'
import { type Fixture, localFolder, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { addPerson } from './harness/users.ts'

/** An incident from its cause to the messages about it, with real transfers, a real mail server, and workers. */

type Stage = {
  readonly fixture: Fixture
  readonly mail: MailServer
  readonly endpoint: Endpoint
  readonly slack: ChatServer
  readonly teams: ChatServer
  readonly connectionId: string
}

async function prepare(t: TestContext, env: Record<string, string> = {}): Promise<Stage> {
  const mail = await startMailServer()
  const fixture = await startFixture({
    PENSTOCK_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    PENSTOCK_MAIL_FROM: 'Penstock <penstock@example.com>',
    ...env,
  })
  t.after(async () => {
    await fixture.close()
    await mail.close()
  })
  const [endpoint, slack, teams] = [await startEndpoint(t), await startSlack(t), await startTeams(t)]
  await addWebhook(fixture, endpoint)
  await writeFile(join(fixture.folder, 'orders.csv'), 'id,city\n1,London\n2,Paris\n')
  const connectionId = await fixture.connect(localFolder, { files: 'orders.csv' }, webhook, {})
  return { fixture, mail, endpoint, slack, teams, connectionId }
}

const sql = async ({ service }: Fixture, text: string, values: unknown[] = []) =>
  (await service.database.pool.query(text, values)).rows

/** Runs a transfer to its end. */
async function transfer({ fixture, connectionId }: Stage) {
  return fixture.ended(connectionId, (await fixture.start(connectionId)).id)
}
const activate = ({ fixture: { caller, accountId }, connectionId: id }: Stage) =>
  caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
/** Waits until workers have looked at everything that has happened. */
const settled = ({ fixture }: Stage) =>
  until('everything is looked at and sent', async () => {
    const [{ left } = { left: 1 }] = await sql(
      fixture,
      `select (select count(*)::int from alert_checks) + (select count(*)::int from alert_deliveries where outcome is null)
       as left`,
    )
    return left === 0
  })

test('credentials are refused: one message each; it works again: one message each; nothing in between', async (t) => {
  const stage = await prepare(t)
  const { fixture, mail, endpoint, slack, teams } = stage
  const { caller, service, accountId } = fixture
  const owner = await addPerson({ call: caller.call } as never, {}, { role: 'owner' })
  const body = {
    name: 'Orders',
    accountId,
    conditions: { transferFailed: true, connectionBroken: true },
    slackUrl: slack.url,
    teamsUrl: teams.url,
    emailRoles: ['owner' as const],
  }
  const [{ id: defaultId } = { id: '' }] = await sql(fixture, `select id from alert_rules where name = 'Failures'`)
  await caller.expect(caller.call('deleteAlertRule', { id: defaultId }))
  await caller.expect(caller.call('createAlertRule', { body }))
  const receiver = await startReceiver(t)
  const eventTypes = ['alert.opened' as const, 'alert.resolved' as const]
  await caller.expect(caller.call('createWebhook', { body: { url: receiver.url, eventTypes } }))
  const workers = [await fixture.startWorker(), await fixture.startWorker()]
  assert.equal(workers.length, 2)
  endpoint.answer = () => 401
  const refused = await transfer(stage)
  assert.deepEqual([refused.status, refused.error?.code], ['failed', 'invalid_credentials'])
  await until('the incident is announced', () => slack.messages.length > 0 && teams.messages.length > 0)
  await until('the event is delivered', () => receiver.requests.length > 0)
  await until('it is mailed', () => mail.mails.some(({ text }) => /Message-ID: <alert-/i.test(text)))
  // It fails again and again.
  for (let i = 0; i < 3; i++) {
    await activate(stage)
    assert.equal((await transfer(stage)).status, 'failed')
  }
  await settled(stage)
  const counts = async () => [
    mail.mails.filter(({ text }) => /Message-ID: <alert-/i.test(text)).length,
    slack.messages.length,
    teams.messages.length,
    receiver.requests.length,
  ]
  assert.deepEqual(await counts(), [1, 1, 1, 1])
  const figures = (await service.send({ method: 'GET', path: '/metrics' })).text
  assert.match(figures, /^penstock_alert_incidents_open 1$/m)
  assert.match(figures, /^penstock_alert_messages_total\{channel="slack",outcome="delivered"\} 1$/m)
  const [incident, ...others] = await caller.expect(caller.call('listAlertIncidents', {}))
  assert(incident && others.length === 0)
  assert.deepEqual(
    [incident.reasons, incident.transferId, incident.errorCode, incident.errorSide, incident.resolvedTime],
    [['connection_broken', 'transfer_failed'], refused.id, 'invalid_credentials', 'destination', null],
  )
  const link = `http://penstock.test/accounts/${accountId}/connections/${stage.connectionId}/transfers/${refused.id}`
  const mailed = mail.mails.findLast(({ text }) => /Message-ID: <alert-/i.test(text))?.text ?? ''
  for (const text of [mailed, slack.textOf(slack.messages[0]), teams.textOf(teams.messages[0])]) {
    assert(text.includes(link), text)
    for (const part of ['does not accept the credentials', 'What to do:', 'Orders']) assert(text.includes(part), text)
  }
  assert.match(mailed, new RegExp(`^To: ${owner.email}\\r$`, 'm'))
  assert.match(mailed, /Message-ID: <alert-[0-9a-f]{16}@penstock\.test>\r$/im)

  // Activating does not end the incident: a transfer must succeed.
  await activate(stage)
  await settled(stage)
  assert.deepEqual(await counts(), [1, 1, 1, 1])
  endpoint.answer = () => undefined
  assert.equal((await transfer(stage)).status, 'succeeded')
  await until('that it is over is announced', async () => (await counts()).every((count) => count === 2))
  for (let i = 0; i < 2; i++) assert.equal((await transfer(stage)).status, 'succeeded')
  await settled(stage)
  assert.deepEqual(await counts(), [2, 2, 2, 2])
  assert.match(mail.mails.at(-1)?.text ?? '', /^It works again/m)
  assert.match(slack.textOf(slack.messages[1]), /Resolved: /)
  const [opened, resolved] = receiver.requests.map(({ event }) => event)
  assert(opened && resolved)
  const ajv = new Ajv({ strict: false })
  for (const event of [opened, resolved]) {
    const isValid = ajv.compile(eventSchema(event.type as EventType))
    assert(isValid(event), ajv.errorsText(isValid.errors))
    assert.deepEqual([event.accountId, event.connectionId], [accountId, stage.connectionId])
    assert.equal(event.data.incidentId, incident.id)
  }
  assert.deepEqual(
    [opened.type, resolved.type, resolved.data.resolution],
    ['alert.opened', 'alert.resolved', 'recovered'],
  )
  assert.deepEqual(await caller.expect(caller.call('listAlertIncidents', { query: { open: true } })), [])

  const metrics = (await service.send({ method: 'GET', path: '/metrics' })).text
  assert.match(metrics, /^penstock_alert_incidents_open 0$/m)
  for (const channel of ['email', 'slack', 'teams']) {
    assert.match(
      metrics,
      new RegExp(`^penstock_alert_messages_total\\{channel="${channel}",outcome="delivered"\\} 2$`, 'm'),
    )
  }
  // The addresses of the chats are secrets.
  const dump = JSON.stringify(await sql(fixture, 'select r::text from alert_rules r'))
  await fixture.service.service.settleAudit()
  const audited = JSON.stringify(await sql(fixture, 'select a::text from audit_events a'))
  for (const secret of ['secret-of-slack', 'secret-of-teams']) {
    for (const place of [dump, audited, service.logLines.join('\n')]) assert(!place.includes(secret))
  }
})

test('the rule that each organization begins with mails its owners, and no one else', async (t) => {
  const stage = await prepare(t)
  const { fixture, mail, endpoint } = stage
  const people = { call: fixture.caller.call } as never
  const [owner, admin] = [
    await addPerson(people, {}, { role: 'owner' }),
    await addPerson(people, {}, { role: 'admin' }),
  ]
  const count = () => mail.mails.filter(({ text }) => /Message-ID: <alert-/i.test(text)).length
  await fixture.startWorker()
  endpoint.answer = () => 401
  await transfer(stage)
  await until('the owner has a mail', () => count() === 1)
  await settled(stage)
  assert.deepEqual(
    mail.mails.filter(({ text }) => /Message-ID: <alert-/i.test(text)).map(({ to }) => to),
    [[owner.email]],
  )
  assert(admin.email !== owner.email)
  // The connection is disabled: it is over, for another reason.
  const { caller, accountId } = fixture
  await caller.expect(
    caller.call('updateConnectionStatus', { accountId, id: stage.connectionId, body: { action: 'disable' } }),
  )
  await until('that it is over is mailed', () => count() === 2)
  assert.match(mail.mails.at(-1)?.text ?? '', /The connection was disabled or deleted/)
})
