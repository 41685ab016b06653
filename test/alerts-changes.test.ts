import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { endRestoredTransfers, pauseSchedules, resumeSchedules } from '../packages/server/src/transfers/restored.ts'
import { type AlertStage, failures, type Party, startAlertStage } from './harness/alert-stage.ts'
import { addConnection, addFolder } from './harness/connections.ts'
import { startTestService, type TestService } from './harness/service.ts'

/** Incidents after changes of rules and sub-accounts, over time, and after a restore. */

const stage: AlertStage = await startAlertStage()
after(stage.close)
const { inbox, slack, service, sql, send, lookAndSend, pass, titles, assertNothingWaits } = stage
let party: Party
beforeEach(async () => {
  party = await stage.reset()
})

const hour = 3_600

test('as many incidents as rules and connections call for are opened, some in each transaction', async () => {
  const { failing, addRule } = party
  const { id } = await addRule()
  await sql(
    `insert into alert_rules (id, organization_id, name, transfer_failed, connection_broken, emails, email_roles)
     select 'many' || n, organization_id, 'Many', true, true, '{}', '{}' from alert_rules, generate_series(1, 999) as n where id = $1`,
    id,
  )
  for (const name of ['First', 'Second', 'Third']) await failing(name)
  // Only noted connections are evaluated.
  await sql(`update alert_sweeps set next_time = now() + interval '1 day'`)
  await stage.look()
  const opened = await sql('select connection_id, count(*)::int as n from alert_incidents group by 1')
  assert.deepEqual(
    opened.map(({ n }) => n),
    [1_000, 1_000, 1_000],
  )
})

describe('while an incident is open', () => {
  test('its rule is deleted: nothing is left, and nothing is said', async () => {
    const { caller, addRule, incidents, end, failing } = party
    const { id } = await addRule()
    slack.answer = 500
    const connection = await failing()
    await lookAndSend()
    await caller.expect(caller.call('deleteAlertRule', { id }))
    slack.answer = undefined
    await end(connection, 'succeeded')
    await pass(hour)
    await lookAndSend()
    assert.deepEqual([titles(), await incidents()], [[], []])
    await assertNothingWaits()
  })

  for (const [what, body] of [
    ['is turned off', { enabled: false }],
    ['no longer checks its reason', { conditions: { rejectedPercent: 5 } }],
    ['covers another connection', 'other'],
  ] as const) {
    test(`its rule ${what}: it is over, and nothing is said`, async () => {
      const { caller, accountId, addRule, incidents, connect, failing } = party
      const changed = await addRule({ accountId })
      const connection = await failing()
      await lookAndSend()
      const other = await connect('Other')
      const change = body === 'other' ? { connectionIds: [other.id] } : body
      await caller.expect(caller.call('updateAlertRule', { id: changed.id, body: change }))
      await lookAndSend()
      assert.deepEqual(
        (await incidents()).map(({ connectionId, resolution }) => [connectionId, resolution]),
        [[connection.id, 'rule_changed']],
      )
      assert.equal(titles().length, 1)
      await assertNothingWaits()
    })
  }

  test('its rule changes so that it covers more: what already fails is found', async () => {
    const { caller, accountId, addRule, connect, failing } = party
    const widened = await addRule({ accountId, conditions: { rejectedPercent: 50 } })
    await failing('Failed before')
    const broken = await connect('Broken before')
    await sql(`update connections set status = 'broken' where id = $1`, broken.id)
    await lookAndSend()
    assert.deepEqual(titles(), [])
    await caller.expect(caller.call('updateAlertRule', { id: widened.id, body: { conditions: failures } }))
    await lookAndSend()
    assert.deepEqual(titles(), ['2 connections need attention'])
  })

  test('its address is removed: the message that waits is given up', async () => {
    const { caller, addRule, rule, failing } = party
    const { id } = await addRule({ emails: ['data@example.com'] })
    slack.answer = 503
    await failing()
    await lookAndSend()
    await caller.expect(caller.call('updateAlertRule', { id, body: { slackUrl: null } }))
    await pass(hour)
    await send()
    assert.match((await rule({ id })).deliveryError?.message ?? '', /The address was removed/)
    await assertNothingWaits()
  })

  test('its sub-account is deleted: it is over, and no one sees it or its rule', async () => {
    const { caller, accountId, addRule, incidents, failing } = party
    const { id: organizationRule } = await addRule()
    const { id: ofAccount } = await addRule({ name: 'Of the sub-account', accountId })
    await failing()
    await lookAndSend()
    assert.equal(titles().length, 2)
    const [{ id } = { id: '' }] = await incidents()
    await caller.expect(caller.call('deleteAccount', { id: accountId }))
    await pass(60)
    await lookAndSend()
    assert.deepEqual(await sql('select distinct resolution from alert_incidents'), [{ resolution: 'stopped' }])
    assert.equal(titles().filter((title) => title.startsWith('Resolved')).length, 2)
    assert.deepEqual(await incidents(), [])
    assert.equal((await caller.call('getAlertIncident', { id })).status, 404)
    for (const operation of ['getAlertRule', 'deleteAlertRule'] as const) {
      assert.equal((await caller.call(operation, { id: ofAccount })).status, 404)
    }
    const listed = await caller.call('listAlertRules', {})
    assert.deepEqual([listed.response.map((one) => one.id), listed.headers['x-total-count']], [[organizationRule], '1'])
    await sql('delete from accounts where id = $1', accountId)
    assert.deepEqual(await sql('select id from alert_rules where id = $1', ofAccount), [])
    await assertNothingWaits()
  })
})

describe('time that passes', () => {
  test('without a success opens an incident, and a success ends it', async () => {
    const { addRule, connect, end } = party
    await addRule({ conditions: { noSuccessHours: 2 } })
    const [idle, busy] = [await connect('Idle'), await connect('Busy')]
    await lookAndSend()
    await pass(2 * hour)
    await end(busy, 'succeeded')
    await pass(60)
    await lookAndSend()
    assert.deepEqual(titles(), ['No transfer has succeeded for longer than the rule allows: “Idle” in “Acme”'])
    await end(idle, 'succeeded')
    await lookAndSend()
    assert.equal(titles()[1], 'Resolved: “Idle” in “Acme”')
    await assertNothingWaits()
  })

  test('is counted by the rule that covers the connection, be it of the organization, its sub-account or its own', async () => {
    const { caller, accountId, addRule, incidents, connect } = party
    const { id: elsewhere } = await caller.addAccount('Elsewhere')
    await addFolder(caller, elsewhere, inbox.folder)
    const [own, other] = [await connect('Own'), await connect('Other')]
    const far = await addConnection(caller, elsewhere, 'Far')
    await addRule({ name: '8 hours', conditions: { noSuccessHours: 8 } })
    await addRule({ name: '4 hours', accountId, conditions: { noSuccessHours: 4 } })
    await addRule({ name: '2 hours', accountId, conditions: { noSuccessHours: 2 }, connectionIds: [own.id] })
    const found = async () => {
      await lookAndSend()
      return (await incidents()).map(({ ruleName, connectionName }) => `${ruleName}: ${connectionName}`).toSorted()
    }
    assert.deepEqual(await found(), [])
    await pass(2 * hour + 60)
    assert.deepEqual(await found(), ['2 hours: Own'])
    await pass(2 * hour)
    assert.deepEqual(await found(), ['2 hours: Own', '4 hours: Other', '4 hours: Own'])
    await pass(4 * hour)
    assert.equal((await found()).length, 6)
    assert(far.id !== other.id)
  })

  test('has the volume of the day before compared, once a day', async () => {
    const { addRule, connect } = party
    await addRule({ conditions: { volumePercent: 50 } })
    const [usual, less] = [await connect('Usual'), await connect('Less')]
    await sql(
      `insert into ledger (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes)
       select 'of ' || c.id, week, c.organization_id, c.account_id, c.id, (now() at time zone 'utc')::date - 1 - 7 * week, 1000,
         case when week = 0 and c.id = $2 then 100 else 1000 end, 0, 0, 1
       from connections c cross join generate_series(0, 6) as week where c.id in ($1, $2)`,
      ...[usual.id, less.id],
    )
    await sql(`update alert_sweeps set next_time = now() where name = 'volume'`)
    await lookAndSend()
    assert.deepEqual(titles(), ['The records of the last day are far from usual: “Less” in “Acme”'])
    const [{ next } = { next: '' }] = await sql(
      `select to_char(next_time at time zone 'utc', 'HH24:MI') as next from alert_sweeps where name = 'volume'`,
    )
    assert.equal(next, '00:30')
  })
})

test('after a restore nothing is looked at until schedules are resumed, and what it ended opens no incident', async () => {
  const { caller, accountId, addRule, incidents, connect, failing } = party
  await addRule()
  const [ended, failedBefore] = [await connect('Ended'), await failing('Failed before')]
  for (const { id } of [ended, failedBefore]) {
    await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
  }
  assert.equal(await endRestoredTransfers(service.database), 2)
  await pauseSchedules(service.database, 'restore')
  await pass(hour)
  await lookAndSend()
  assert.deepEqual([titles(), await incidents()], [[], []])
  await resumeSchedules(service.database)
  await lookAndSend()
  assert.deepEqual(titles(), ['A transfer failed: “Failed before” in “Acme”'])
  const [incident] = await incidents()
  assert.equal(incident?.errorCode, 'unreachable')
  await assertNothingWaits()
})

test('the first rule of an organization is on, and says that it reaches no one if mail is not set up', async () => {
  const rules = async (of: TestService) =>
    (await of.call('listAlertRules', { token: (await of.addOrganization()).token })).response
  const withoutMail = await startTestService(inbox.env)
  try {
    for (const [of, error] of [
      [service, undefined],
      [withoutMail, /mail/],
    ] as const) {
      const [first, ...more] = await rules(of)
      assert.deepEqual(
        [first?.name, first?.enabled, first?.emailRoles, first?.conditions.transferFailed, more],
        ['Failures', true, ['owner'], true, []],
      )
      if (error) assert.match(first?.deliveryError?.message ?? '', error)
      else assert.equal(first?.deliveryError, null)
    }
  } finally {
    await withoutMail.close()
  }
})
