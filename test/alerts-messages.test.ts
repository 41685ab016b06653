import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { limits } from '@penstock/wire'
import { createMailer } from '../packages/server/src/mail.ts'
import { type AlertStage, failures, type Party, silent, startAlertStage } from './harness/alert-stage.ts'
import { addFolder } from './harness/connections.ts'
import { callerOf } from './harness/fixtures.ts'
import { withSession } from './harness/session.ts'
import { until } from './harness/until.ts'
import { addPerson } from './harness/users.ts'

/** Messages about incidents: muting, acknowledging, many incidents, and messages that are not accepted. */

const stage: AlertStage = await startAlertStage()
after(stage.close)
const { inbox, mail, slack, teams, service, sql, look, send, lookAndSend, pass, titles, assertNothingWaits } = stage
let party: Party
beforeEach(async () => {
  party = await stage.reset()
})

/** Only mails of alerts, because the invitation of a person in an earlier test can still be on its way. */
const alertMails = () => mail.mails.filter(({ text }) => text.startsWith('Auto-Submitted'))
const hour = 3_600
const mute = ({ id }: { id: string }, until: number | null) =>
  party.caller.expect(party.caller.call('muteAlertRule', { id, body: { until } }))
const unixNow = () => Math.floor(Date.now() / 1000)

describe('a rule that is muted', () => {
  test('says nothing, and afterwards what is still open', async () => {
    const { addRule, incidents, end, failing } = party
    const muted = await addRule()
    await mute(muted, unixNow() + hour)
    const [first, second] = [await failing('Still failing'), await failing('Works again soon')]
    await lookAndSend()
    await end(second, 'succeeded')
    await lookAndSend()
    assert.deepEqual(titles(), [])
    assert.deepEqual(
      (await incidents()).map(({ connectionId, resolution }) => [connectionId, resolution]),
      [
        [first.id, null],
        [second.id, 'recovered'],
      ],
    )
    await mute(muted, null)
    await lookAndSend()
    assert.equal(titles().length, 1)
    assert.match(titles()[0] ?? '', /A transfer failed: “Still failing”/)
    await lookAndSend()
    assert.equal(titles().length, 1)
    await assertNothingWaits()
  })

  test('speaks again once its time has passed, also of what is over', async () => {
    const { addRule, rule, end, failing } = party
    const muted = await addRule()
    const connection = await failing()
    await lookAndSend()
    await mute(muted, unixNow() + hour)
    await end(connection, 'succeeded')
    await lookAndSend()
    assert.equal(titles().length, 1)
    assert((await rule(muted)).mutedUntil !== null)
    await pass(hour + 1)
    assert.equal((await rule(muted)).mutedUntil, null)
    await lookAndSend()
    assert.match(titles()[1] ?? '', /^Resolved: “Orders”/)
  })

  test('is muted for some time that is to come, and 30 days at most', async () => {
    const { caller, addRule } = party
    const { id } = await addRule()
    for (const until of [unixNow() - 1, unixNow() + limits.alertMuteDaysMax * 86_400 + 60]) {
      const { status, details } = await caller.call('muteAlertRule', { id, body: { until } })
      assert.deepEqual([status, details[0]?.field], [400, 'body.until'])
    }
  })
})

test('an incident that is acknowledged stays open, and is of whom came first', async () => {
  const { caller, addRule, incidents, end, failing } = party
  await addRule()
  const connection = await failing()
  await lookAndSend()
  const [{ id } = { id: '' }] = await incidents()
  const acknowledged = await caller.expect(caller.call('acknowledgeAlertIncident', { id }))
  assert.equal(acknowledged.acknowledgedBy?.name, 'First client')
  assert.equal(acknowledged.resolvedTime, null)
  const { headers } = await addPerson({ call: caller.call } as never, {}, { role: 'owner' })
  const { response } = await service.call('acknowledgeAlertIncident', { id, headers })
  assert.deepEqual(
    [response.acknowledgedBy, response.acknowledgedTime],
    [acknowledged.acknowledgedBy, acknowledged.acknowledgedTime],
  )
  // It fails again: not another message. It works again: that is one.
  await end(connection, 'failed', 'timeout')
  await lookAndSend()
  assert.equal(titles().length, 1)
  await end(connection, 'succeeded')
  await lookAndSend()
  assert.equal(titles().length, 2)
  const [closed] = await incidents({ open: false })
  assert.deepEqual([closed?.id, closed?.acknowledgedBy?.name], [id, 'First client'])
})

describe('many incidents', () => {
  test('that are found at the same time are one message, which names the first ten', async () => {
    const { addRule, failing } = party
    await addRule({ teamsUrl: teams.url, emails: ['data@example.com'] })
    for (let n = 0; n < 12; n++) await failing(`Orders ${n}`)
    await lookAndSend()
    assert.deepEqual(titles(), ['12 connections need attention'])
    const texts = [slack.textOf(slack.messages[0]), teams.textOf(teams.messages[0]), alertMails()[0]?.text ?? '']
    for (const text of texts) {
      assert.match(text, /12 (?:×|=C3=97) A transfer failed/)
      assert.match(text, /Orders 9/)
      assert.doesNotMatch(text, /Orders 1[01]/)
      assert.match(text, /and 2 more/)
    }
    assert.deepEqual([slack.messages.length, teams.messages.length, alertMails().length], [1, 1, 1])
  })

  test('that come one after another are six messages, and then one every ten minutes', async () => {
    const { addRule, rule, failing } = party
    const flooded = await addRule()
    for (let n = 0; n < 9; n++) {
      await failing(`Orders ${n}`)
      await lookAndSend()
    }
    assert.equal(titles().length, limits.alertMessagesAtOnce)
    // The clock of the test goes on while the test runs.
    await pass(limits.alertMessageMinutes * 60 - 300)
    await lookAndSend()
    assert.equal(titles().length, limits.alertMessagesAtOnce)
    await pass(300)
    await lookAndSend()
    assert.equal(titles().at(-1), '3 connections need attention')
    assert.equal((await rule(flooded)).openIncidents, 9)
    await assertNothingWaits()
  })

  test('are said to each person as far as they may see them', async () => {
    const { caller, addRule, failing } = party
    const people = { call: caller.call } as never
    const { id: elsewhere } = await caller.addAccount('Elsewhere')
    await addFolder(caller, elsewhere, inbox.folder)
    const all = await addPerson(people, {}, { role: 'admin' })
    const limited = await addPerson(people, {}, { role: 'admin', accountIds: [elsewhere] })
    const none = await addPerson(people, {}, { role: 'admin', accountIds: [(await caller.addAccount('Empty')).id] })
    await addPerson(people, {}, { role: 'viewer' })
    await addRule({ slackUrl: null, emailRoles: ['admin'], emails: [all.email.toUpperCase()] })
    await failing('Here')
    await failing('There', elsewhere)
    await lookAndSend()
    const alerts = alertMails()
    assert.deepEqual(alerts.map(({ to }) => to[0]?.toLowerCase()).toSorted(), [all.email, limited.email].toSorted())
    const ofLimited = alerts.find(({ to }) => to[0] === limited.email)?.text ?? ''
    assert.match(ofLimited, /There/)
    assert.doesNotMatch(ofLimited, /Here/)
    assert(!alerts.some(({ to }) => to[0] === none.email))
  })
})

describe('a message that is not taken', () => {
  /** The clock continues meanwhile, so up to a third of the wait can be over. */
  const assertWaits = async (attempts: number, seconds: number) => {
    const [row] = await sql(
      `select attempts, extract(epoch from next_time - clock_timestamp())::float as wait from alert_deliveries where outcome is null`,
    )
    assert.equal(row?.attempts, attempts)
    const left = Number(row.wait)
    assert(left <= seconds && left > (seconds * 2) / 3, `${left} of ${seconds} seconds`)
  }

  test('is tried again with growing waits, as the rule shows, until it is taken', async () => {
    const { caller, addRule, rule, failing } = party
    const failed = await addRule({ teamsUrl: teams.url })
    slack.answer = 500
    await failing()
    await lookAndSend()
    assert.equal(teams.messages.length, 1)
    const shown = (await rule(failed)).deliveryError
    assert.deepEqual([shown?.channel, shown?.message], ['slack', 'Slack answered 500: it is tried again.'])
    for (const [attempts, wait] of [
      ...[1, 2, 3, 4, 5, 6, 7].map((n) => [n, 30 * 2 ** (n - 1)] as const),
      ...[8, 9].map((n) => [n, hour] as const),
    ]) {
      await assertWaits(attempts, wait)
      await pass(wait / 2)
      await send()
      assert.equal(slack.statuses.length, attempts)
      await pass(wait / 2)
      await send()
    }
    // A success on another channel does not clear the error of this one.
    await caller.expect(caller.call('testAlertRule', { id: failed.id }))
    await send()
    assert.equal(teams.messages.length, 2)
    assert.equal((await rule(failed)).deliveryError?.channel, 'slack')
    slack.answer = undefined
    await pass(hour)
    await send()
    assert.deepEqual(titles().toSorted(), [
      'A transfer failed: “Orders” in “Acme”',
      'Test of the alert rule “Failures”',
    ])
    assert.equal((await rule(failed)).deliveryError, null)
    await assertNothingWaits()
  })

  test('waits for as long as the platform asks, and an hour at most', async () => {
    const { addRule, failing } = party
    await addRule()
    slack.answer = { status: 429, headers: { 'retry-after': '100' } }
    await failing()
    await lookAndSend()
    await assertWaits(1, 100)
    slack.answer = { status: 429, headers: { 'retry-after': '86400' } }
    await pass(100)
    await send()
    await assertWaits(2, hour)
  })

  test('is not tried again where the address is gone', async () => {
    const { caller, addRule, rule } = party
    const gone = await addRule()
    for (const status of [404, 410, 400, 302]) {
      slack.answer = status
      await caller.expect(caller.call('testAlertRule', { id: gone.id }))
      await send()
      assert.match((await rule(gone)).deliveryError?.message ?? '', new RegExp(`^Slack answered ${status}: check the`))
      await assertNothingWaits()
    }
    // A new address, because the error was about the old one.
    await caller.expect(caller.call('updateAlertRule', { id: gone.id, body: { slackUrl: slack.url } }))
    assert.equal((await rule(gone)).deliveryError, null)
  })

  test('is kept for a day while the mail server is down, and keeps no other channel waiting', async () => {
    const { addRule, rule, connect, end, failing } = party
    const down = await addRule({ emails: ['data@example.com'] })
    const closed = createMailer({ mail: { url: 'smtp://127.0.0.1:1', from: 'penstock@example.com' } }, silent)
    await failing()
    await look()
    await send(closed)
    assert.equal(titles().length, 1)
    const shown = async () => (await rule(down)).deliveryError?.message
    assert.equal(await shown(), 'The mail server did not take the message: it is tried again.')
    // Down for hours, and up again.
    for (let hours = 0; hours < 6; hours++) {
      await pass(hour)
      await send(closed)
    }
    assert.equal(alertMails().length, 0)
    await pass(hour)
    await send()
    assert.equal(alertMails().length, 1)
    assert.equal(await shown(), undefined)
    // Down for longer than a day: exactly this number of tries.
    await end(await connect('Visitors'), 'failed', 'timeout')
    await look()
    let tries = 0
    for (
      ;
      (await sql(`select from alert_deliveries where outcome is null and channel = 'email'`)).length > 0;
      tries++
    ) {
      assert(tries < 100)
      await send(closed)
      await pass(hour)
    }
    assert.equal(tries, limits.alertDeliveryHours + 1)
    assert.equal(await shown(), 'The mail server did not take the message: it was given up after 24 hours.')
    await send()
    assert.equal(alertMails().length, 1)
    assert.equal(titles().length, 2)
    await closed.close()
  })

  test('that one process is sending is sent by no other one', async () => {
    const { caller, addRule } = party
    await caller.expect(caller.call('testAlertRule', { id: (await addRule()).id }))
    const before = slack.unanswered.length
    slack.answer = 'nothing'
    const sending = stage.sendSome()
    await until('the message comes', () => slack.unanswered.length === before + 1)
    assert.equal(await stage.sendSome(), 0)
    slack.release()
    assert.equal(await sending, 1)
    await assertNothingWaits()
  })

  test('is taken by one of two processes that look at the same time', async () => {
    const { caller, addRule } = party
    const { id } = await addRule()
    await caller.expect(caller.call('testAlertRule', { id }))
    await withSession(service.databaseUrl, async (session) => {
      // Another process has taken it, and has not yet stored that.
      await session.query('begin')
      await session.query('select from alert_deliveries where rule_id = $1 for no key update', [id])
      assert.equal(await stage.sendSome(), 0)
      await session.query('rollback')
    })
    assert.equal(await stage.sendSome(), 1)
  })

  test('of one organization leaves space for those of others', async () => {
    const { caller, addRule } = party
    const stranger = callerOf(service, await service.addOrganization())
    for (let n = 0; n < 5; n++) await caller.expect(caller.call('testAlertRule', { id: (await addRule()).id }))
    const body = { name: 'Failures', conditions: failures, slackUrl: slack.url }
    const { id } = await stranger.expect(stranger.call('createAlertRule', { body }))
    await stranger.expect(stranger.call('testAlertRule', { id }))
    await sql(`update alert_deliveries set next_time = next_time - interval '1 minute' where rule_id <> $1`, id)
    // However many are due: more than any bound of one statement.
    await sql(
      `insert into alert_deliveries (id, rule_id, kind, channel, content, next_time)
       select 'many' || n, rule_id, kind, channel, content, next_time from generate_series(1, 2000) as n cross join (
         select * from alert_deliveries where rule_id <> $1 limit 1
       ) one`,
      id,
    )
    assert.equal(await stage.sendSome(), 4)
    const sent = await sql(
      `select rule_id = $1 as strange, count(*)::int as n from alert_deliveries where outcome = 'delivered' group by 1 order by 1`,
      id,
    )
    assert.deepEqual(sent, [
      { strange: false, n: 3 },
      { strange: true, n: 1 },
    ])
    await sql(`delete from alert_deliveries where id like 'many%'`)
    await send()
    await assertNothingWaits()
  })
})

describe('e-mails beyond the limit', () => {
  test('are sent later, and the rule says so', async () => {
    const { addRule, rule, failing } = party
    const address = 'ops@example.org'
    const [{ id }] = [await addRule({ emails: [address] })]
    await failing()
    await look()
    await sql(
      `insert into mail_counts (key, since, mails) select 'organization ' || organization_id, now(), 150
      from alert_rules where id = $1 on conflict (key) do update set since = now(), mails = 150`,
      id,
    )
    await send()
    const mails = () => mail.mails.filter(({ to }) => to.includes(address)).length
    assert.equal(mails(), 0)
    const limited =
      'The limit of e-mails in an hour, of the organization or of a recipient, is reached: it is tried again.'
    assert.equal((await rule({ id })).deliveryError?.message, limited)
    await sql(`update mail_counts set since = since - interval '1 hour'`)
    await pass(hour)
    await send()
    assert.equal(mails(), 1)
    assert.equal((await rule({ id })).deliveryError, null)
    await assertNothingWaits()
  })

  test('do not count where the mail server took none', async () => {
    const { addRule, failing } = party
    const { id } = await addRule({ emails: ['ops@example.org'] })
    await failing()
    await look()
    const down = createMailer({ mail: { url: 'smtp://127.0.0.1:1', from: 'penstock@example.com' } }, silent)
    await send(down)
    await down.close()
    const [counted] = await sql(
      `select mails from mail_counts m join alert_rules r on m.key = 'organization ' || r.organization_id
      where r.id = $1`,
      id,
    )
    assert.equal(counted?.mails, 0)
  })
})

test('a rule whose e-mails no person gets says so once it has something to say', async () => {
  const { addRule, rule, failing } = party
  const { id } = await addRule({ emailRoles: ['viewer'], slackUrl: null })
  assert.equal((await rule({ id })).deliveryError, null)
  await failing()
  await look()
  assert.match(
    (await rule({ id })).deliveryError?.message ?? '',
    /^No e-mail was sent, because no person has the roles/,
  )
})
