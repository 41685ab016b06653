import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type EventType, eventSchema, eventTypeNames } from '@penstock/wire'
import { Ajv } from 'ajv'
import { restoreAccount } from '../packages/server/src/accounts/accounts.ts'
import { connectionsOfAccounts, meet } from '../packages/server/src/connections/connections.ts'
import { emit } from '../packages/server/src/events/events.ts'
import { addAccountWithConnection, addEndedTransfer, localFolder } from './harness/connections.ts'
import { callerOf } from './harness/fixtures.ts'
import { startTestsWithInbox } from './harness/started.ts'

/**
 * Events, and the webhooks that receive them. Here the webhook is inserted as a row. Other tests create webhooks through the
 * API.
 */

const { service, inbox } = await startTestsWithInbox()

const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows

let made = 0
async function addWebhook(organizationId: string, accountId: string | null, types: string[] | null, enabled = true) {
  const id = `webhook${String(++made).padStart(9, '0')}`
  await sql(
    `insert into webhooks (id, organization_id, account_id, url, description, event_types, enabled, data_key_id, secret_sealed)
     values ($1, $2, $3, 'https://example.com/', '', $4, $5, 'none', '')`,
    ...[id, organizationId, accountId, types, enabled],
  )
  return id
}
const payloadsOf = async (webhookId: string) =>
  (
    await sql(
      `select e.payload from webhook_deliveries d join events e on e.id = d.event_id where webhook_id = $1 order by number`,
      webhookId,
    )
  ).map(({ payload }) => JSON.parse(payload))
const typesOf = async (webhookId: string) => (await payloadsOf(webhookId)).map(({ type }) => type)

describe('an event', () => {
  test('is not written where no webhook takes it', async () => {
    const { organizationId } = await service.addOrganization()
    await addWebhook(organizationId, null, ['alert.opened'], false)
    await addWebhook(organizationId, null, ['alert.resolved'])
    await emit(service.database, {
      type: 'alert.opened',
      organizationId,
      accountId: null,
      connectionId: null,
      data: {},
    })
    assert.deepEqual(await sql('select id from events where organization_id = $1', organizationId), [])
  })

  test('goes to the webhooks of its organization, and of its sub-account, that take its type', async () => {
    const { organizationId, token } = await service.addOrganization()
    const other = await service.addOrganization()
    const add = async (name: string) => (await service.call('addAccount', { token, body: { name } })).response.id
    const [accountId, sibling] = [await add('One'), await add('Two')]
    const all = await addWebhook(organizationId, null, null)
    const takes = await addWebhook(organizationId, null, ['alert.opened', 'alert.resolved'])
    const own = await addWebhook(organizationId, accountId, null)
    const none = [await addWebhook(organizationId, sibling, null), await addWebhook(other.organizationId, null, null)]
    const event = { type: 'alert.opened', organizationId, connectionId: null }
    await emit(service.database, { ...event, accountId, data: { a: 'ä' } })
    await emit(service.database, { ...event, accountId: null, type: 'alert.acknowledged', data: {} })
    assert.deepEqual(await typesOf(all), ['alert.opened', 'alert.acknowledged'])
    assert.deepEqual(await typesOf(takes), ['alert.opened'])
    assert.deepEqual(await typesOf(own), ['alert.opened'])
    for (const webhook of none) assert.deepEqual(await typesOf(webhook), [])
    const [{ timestamp, ...payload }] = await payloadsOf(own)
    assert.deepEqual(payload, { type: 'alert.opened', organizationId, accountId, connectionId: null, data: { a: 'ä' } })
    assert(Number.isInteger(timestamp))
  })

  test('is of the transaction: where that is rolled back, there is none', async () => {
    const { organizationId } = await service.addOrganization()
    const webhook = await addWebhook(organizationId, null, null)
    const event = { type: 'alert.opened', organizationId, accountId: null, connectionId: null, data: {} }
    await assert.rejects(
      service.database.transaction(async (tx) => {
        await emit(tx, event)
        throw new Error('rolled back')
      }),
    )
    assert.deepEqual(await typesOf(webhook), [])
  })
})

/** Types that a rule writes, and not a trigger. Other tests check when they occur. */
const ofRules = /^(?:alert|audience|connect_link|webhook)\./

test('every change has its event, whose form is that of the contract', async () => {
  const organization = await service.addOrganization()
  const { organizationId } = organization
  const caller = callerOf(service, organization)
  const { expect, call } = caller
  const webhook = await addWebhook(organizationId, null, null)
  const connection = await addAccountWithConnection(caller, inbox.folder)
  const { accountId } = connection
  const broken = { check: 'rows', action: 'stop', column: null, outcome: 'broken', message: '0 records read.' }
  const ruleResults = [broken, { ...broken, action: 'record' }, { ...broken, outcome: 'kept' }]
  const endings = { partial: [1, 1], succeeded: [2, 0], failed: [0, 0], cancelled: [0, 0] }
  await addEndedTransfer(service, caller, connection)
  for (const [status, [accepted, rejected]] of Object.entries(endings).slice(1)) {
    const { id } = await expect(call('startTransfer', { ...connection, body: {} }))
    await sql(
      `update transfers set status = $2, read = 2, sent = 2, accepted = $3, rejected = $4, finished_time = now(),
         error_code = case $2 when 'failed' then 'unreachable' end, error_side = case $2 when 'failed' then 'Source' end,
         rule_results = case $2 when 'failed' then $5::jsonb end
       where id = $1`,
      ...[id, status, accepted, rejected, JSON.stringify(ruleResults)],
    )
  }
  const moves = (trigger: 'breakdown' | 'outage' | 'recovery') =>
    service.database.transaction((tx) => meet(tx, connection.id, trigger))
  await moves('outage')
  await moves('recovery')
  // Neither the volume nor the name is an event.
  await sql('update connections set used_volume = used_volume + 1 where id = $1', connection.id)
  await expect(call('updateConnection', { ...connection, body: { name: 'Other' } }))
  await expect(call('editAccount', { id: accountId, body: { name: 'Other' } }))
  const { id: clientId } = await expect(call('createClient', { body: { name: 'Key' } }))
  await expect(call('renameClient', { id: clientId, body: { name: 'Other' } }))
  await expect(call('rotateClient', { id: clientId, body: {} }))
  await expect(call('revokeClient', { id: clientId }))
  await sql('update configurations set oauth_client_id = $2 where account_id = $1', accountId, 'app')
  await sql('update configurations set oauth_client_id = null where account_id = $1', accountId)
  await expect(call('deleteAccount', { id: accountId }))
  await service.database.transaction((tx) => restoreAccount(tx, accountId, connectionsOfAccounts))
  const payloads = await payloadsOf(webhook)
  assert.deepEqual(
    payloads.map(({ type, data }) => [type, data.to ?? data.name ?? data.status ?? data.connectorId]),
    [
      ['account.created', 'Account'],
      ['connector.configured', payloads[1].data.name],
      ['connection.status_changed', 'active'],
      ...Object.keys(endings).flatMap((status) => [
        [`transfer.${status}`, status],
        ...(status === 'failed' ? [['transfer.rules_broken', status]] : []),
      ]),
      ['connection.status_changed', 'offline'],
      ['connection.status_changed', 'active'],
      ['account.updated', 'Other'],
      ['client.created', 'Key'],
      ['client.renamed', 'Other'],
      ['client.rotated', 'Other'],
      ['client.revoked', 'Other'],
      ['authorization.revoked', localFolder.id],
      ['connection.deleted', 'Other'],
      ['account.deleted', 'Other'],
      ['connection.status_changed', 'disabled'],
      ['account.restored', 'Other'],
    ],
  )
  const ajv = new Ajv({ strict: false })
  for (const payload of payloads) {
    const isValid = ajv.compile(eventSchema(payload.type as EventType))
    assert(isValid(payload), `${payload.type}: ${ajv.errorsText(isValid.errors)}`)
    assert.equal(payload.accountId, /^client/.test(payload.type) ? null : accountId)
    assert.equal(payload.connectionId, /^(transfer|connection)\./.test(payload.type) ? connection.id : null)
  }
  const happened = new Set(payloads.map(({ type }) => type))
  assert.deepEqual(
    eventTypeNames.filter((type) => !happened.has(type) && !ofRules.test(type)),
    [],
  )
})
