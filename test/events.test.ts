import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { emit } from '../packages/server/src/events/events.ts'
import { startTestService, type TestService } from './harness/service.ts'

/** What is written as an event, and for whom. The webhook is a row here: how one is made is tested elsewhere. */

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

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
