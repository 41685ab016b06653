import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits, type Scope } from '@penstock/wire'
import { contentOf } from './harness/content.ts'
import { dumpDatabase } from './harness/dump.ts'
import { type Caller, callerOf } from './harness/fixtures.ts'
import { withSession } from './harness/session.ts'
import { startTests } from './harness/started.ts'
import { until } from './harness/until.ts'

/** Webhooks and the log of their deliveries, as callers meet them. */

const service = await startTests()
const organization = await service.addOrganization()
const caller = callerOf(service, organization)

const url = 'https://example.com/penstock'
const create = (body: object = {}, by = caller) => by.expect(by.call('createWebhook', { body: { url, ...body } }))
/** Credentials with these scopes, in these sub-accounts. */
const limited = (accountIds: string[], scopes: Scope[] = ['webhooks:read', 'webhooks:write']) =>
  limitedTo(scopes, { accountIds })
async function limitedTo(scopes: Scope[], more: { accountIds?: string[] } = {}): Promise<Caller> {
  const client = await caller.expect(caller.call('createClient', { body: { name: 'Limited', scopes, ...more } }))
  const body = { clientId: client.id, clientSecret: client.clientSecret }
  const { accessToken } = (await service.call('createToken', { body })).response
  return callerOf(service, { ...organization, token: accessToken })
}

describe('a webhook', () => {
  test('is made with its secret, which no later answer has', async () => {
    const { secret, ...made } = await create({ description: 'On call', eventTypes: ['transfer.failed'] })
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.deepEqual(
      [made.url, made.description, made.eventTypes, made.enabled, made.accountId],
      [url, 'On call', ['transfer.failed'], true, null],
    )
    const got = await caller.call('getWebhook', { id: made.id })
    assert.deepEqual(got.response, made)
    const rotated = await caller.expect(caller.call('rotateWebhookSecret', { id: made.id, body: {} }))
    assert.notEqual(rotated.secret, secret)
    assert(rotated.previousSecretExpiresTime)
    const updated = await caller.call('updateWebhook', { id: made.id, body: { enabled: false } })
    const listed = await caller.call('listWebhooks', { query: { size: 500 } })
    const everywhere = [got.text, updated.text, listed.text, ...service.logLines]
    everywhere.push(await dumpDatabase(service.database.pool))
    for (const one of [secret, rotated.secret]) {
      const [, value = ''] = one.split('_')
      assert(everywhere.every((text) => !text.includes(value)))
    }
  })

  test('changes only in what is sent, and has an event where something did', async () => {
    const { id } = await create({ description: 'Before' })
    const updates = async (body: object) => (await caller.call('updateWebhook', { id, body })).response
    assert.equal((await updates({ description: 'After' })).description, 'After')
    assert.equal((await updates({ description: 'After' })).description, 'After')
    assert.deepEqual((await updates({ eventTypes: ['account.created'] })).eventTypes, ['account.created'])
    const all = await updates({ eventTypes: null, enabled: false })
    assert.deepEqual([all.eventTypes, all.enabled, all.description], [null, false, 'After'])
    const events = await caller.expect(caller.call('listAudit', { query: { targetId: id, action: 'updateWebhook' } }))
    assert.equal(events.length, 3)
    await caller.expect(caller.call('deleteWebhook', { id }))
    assert.equal((await caller.call('getWebhook', { id })).status, 404)
  })

  test('that is deleted at the same time does not fail the write that its event is about', async () => {
    const { id } = await create({ eventTypes: ['account.created'] })
    const { id: kept } = await create({ eventTypes: ['account.created'] })
    const accountId = await withSession(service.databaseUrl, async (session) => {
      await session.query('begin')
      await session.query('delete from webhooks where id = $1', [id])
      const adding = caller.addAccount()
      await until('the write waits', async () => {
        const waiting = `select from pg_stat_activity
          where datname = current_database() and application_name = 'penstock' and wait_event_type = 'Lock'`
        return (await service.database.pool.query(waiting)).rows.length > 0
      })
      await session.query('commit')
      return (await adding).id
    })
    const deliveries = await caller.expect(caller.call('listWebhookDeliveries', { id: kept, query: {} }))
    const details = await caller.expect(caller.call('getWebhookDelivery', { id: deliveries[0]?.id ?? '' }))
    assert.equal(JSON.parse(details.payload).accountId, accountId)
  })

  test('has an address that begins with https, and known types', async () => {
    for (const wrong of [
      '',
      'example.com',
      'http://example.com/',
      'ftp://example.com/',
      'https://user:secret@example.com/',
      'https://example.com/#part',
      `https://example.com/${'x'.repeat(limits.webhookUrlLengthMax)}`,
    ]) {
      const reply = await caller.call('createWebhook', { body: { url: wrong } })
      assert.deepEqual([reply.status, reply.details[0]?.field], [400, 'body.url'], wrong)
    }
    const body = { url, eventTypes: ['transfer.unknown' as never] }
    assert.equal((await caller.call('createWebhook', { body })).status, 400)
  })

  test('is one of so many of a sub-account, and of an organization', async () => {
    const own = await service.addOrganization()
    const by = callerOf(service, own)
    const { id: accountId } = await by.addAccount()
    for (let n = 0; n < limits.webhooksOfSameMax; n++) await create({ accountId }, by)
    const more = await by.call('createWebhook', { body: { url, accountId } })
    assert.deepEqual([more.status, more.error], [409, 'quota_exceeded'])
    const { id } = await create({}, by)
    await service.database.pool.query(
      `insert into webhooks (id, organization_id, url, description, enabled, data_key_id, secret_sealed)
       select 'w' || n, organization_id, url, '', false, data_key_id, '' from webhooks, generate_series(1, $2) as n
       where id = $1`,
      [id, limits.webhooksMax - limits.webhooksOfSameMax - 1],
    )
    const other = await by.addAccount()
    assert.equal((await by.call('createWebhook', { body: { url, accountId: other.id } })).error, 'quota_exceeded')
  })

  test('is found, changed, tested and replayed by those alone who may act in its sub-account', async () => {
    const [one, other] = [await caller.addAccount(), await caller.addAccount()]
    const ofAll = await create()
    const ofOne = await create({ accountId: one.id })
    const delivery = await caller.expect(caller.call('testWebhook', { id: ofOne.id }))
    const [inside, outside] = [await limited([one.id]), await limited([other.id])]
    const foreign = callerOf(service, await service.addOrganization())
    const listed = await inside.expect(inside.call('listWebhooks', { query: {} }))
    assert.deepEqual(
      listed.map(({ id }) => id),
      [ofOne.id],
    )
    assert.deepEqual(await outside.expect(outside.call('listWebhooks', { query: {} })), [])
    const statuses = async (by: Caller, id: string, deliveryId: string) => {
      const replies = [
        await by.call('getWebhook', { id }),
        await by.call('updateWebhook', { id, body: { description: 'x' } }),
        await by.call('listWebhookDeliveries', { id, query: {} }),
        await by.call('getWebhookDelivery', { id: deliveryId }),
        await by.call('replayWebhookDelivery', { id: deliveryId }),
        await by.call('replayWebhook', { id, body: { since: 1 } }),
        await by.call('testWebhook', { id }),
        await by.call('rotateWebhookSecret', { id, body: {} }),
        await by.call('deleteWebhook', { id }),
      ]
      return replies.map(({ status }) => status)
    }
    for (const by of [outside, foreign]) assert.deepEqual(await statuses(by, ofOne.id, delivery.id), Array(9).fill(404))
    const ofOther = await caller.expect(caller.call('testWebhook', { id: ofAll.id }))
    assert.deepEqual(await statuses(inside, ofAll.id, ofOther.id), Array(9).fill(404))
    const refused = await inside.call('createWebhook', { body: { url } })
    assert.deepEqual([refused.status, refused.error], [403, 'forbidden'])
    const reader = await limited([one.id], ['webhooks:read'])
    assert.equal((await reader.call('replayWebhookDelivery', { id: delivery.id })).status, 403)
    assert.equal((await reader.call('getWebhookDelivery', { id: delivery.id })).status, 200)
    assert.deepEqual(await statuses(inside, ofOne.id, delivery.id), [200, 200, 200, 200, 202, 202, 202, 200, 200])
  })

  test('is sent only what who made or changed it may read, and the refusal names what is missing', async () => {
    const missing = (reply: { details: readonly { field: string; message: string }[]; status: number }) => [
      reply.status,
      ...reply.details.map(({ message }) => message.replace(/ is missing.*/, '')),
    ]
    const by = await limitedTo(['webhooks:read', 'webhooks:write', 'transfers:read'])
    const eventTypes = ['transfer.failed' as const, 'client.created' as const, 'account.created' as const]
    const refused = await by.call('createWebhook', { body: { url, eventTypes } })
    assert.deepEqual(missing(refused), [403, 'clients:read', 'accounts:read'])
    assert.match(refused.details[0]?.message ?? '', /events need it of the type client\.created$/)
    const all = ['connections:read', 'connectors:read', 'alerts:read', 'accounts:read', 'connect:read', 'clients:read']
    assert.deepEqual(missing(await by.call('createWebhook', { body: { url } })), [403, ...all])
    const { id } = await create({ eventTypes: ['transfer.failed'] }, by)
    const updates = async (body: object, of = id) => missing(await by.call('updateWebhook', { id: of, body }))
    assert.deepEqual(await updates({ eventTypes }), [403, 'clients:read', 'accounts:read'])
    assert.deepEqual(await updates({ eventTypes: null }), [403, ...all])
    assert.deepEqual(await updates({ eventTypes: ['transfer.partial'], url: `${url}/2` }), [200])

    // For a webhook that others created, they cannot redirect it, but they can stop it.
    const { id: ofOthers } = await create({ eventTypes: ['client.created'] })
    await caller.expect(caller.call('createClient', { body: { name: 'canary', scopes: ['accounts:read'] } }))
    const [delivery] = await caller.expect(caller.call('listWebhookDeliveries', { id: ofOthers, query: {} }))
    const read = await by.call('getWebhookDelivery', { id: delivery?.id ?? '' })
    assert.deepEqual(missing(read), [403, 'clients:read'])
    assert(!read.text.includes('canary'))
    assert.deepEqual(await updates({ url: `${url}/elsewhere` }, ofOthers), [403, 'clients:read'])
    assert.deepEqual(await updates({ enabled: false, description: 'Stopped' }, ofOthers), [200])
    assert.deepEqual(await updates({ enabled: true }, ofOthers), [403, 'clients:read'])
    assert.deepEqual(await updates({ eventTypes: ['transfer.failed'] }, ofOthers), [200])
  })

  test('is moved, and has events sent again, by those alone who may read all that it ever took', async () => {
    const missing = ({ status, details }: { status: number; details: readonly { message: string }[] }) => [
      status,
      ...details.map(({ message }) => message.replace(/ is missing.*/, '')),
    ]
    const by = await limitedTo(['webhooks:read', 'webhooks:write', 'accounts:read'])
    const { id } = await create()
    await caller.expect(caller.call('createClient', { body: { name: 'canary', scopes: ['accounts:read'] } }))
    await caller.addAccount()
    const deliveries = await caller.expect(caller.call('listWebhookDeliveries', { id, query: {} }))
    assert.deepEqual(deliveries.map(({ eventType }) => eventType).sort(), ['account.created', 'client.created'])
    const ofClient = deliveries.find(({ eventType }) => eventType === 'client.created')?.id ?? ''
    const ofAccount = deliveries.find(({ eventType }) => eventType === 'account.created')?.id ?? ''
    const end = () =>
      service.database.pool.query(`update webhook_deliveries set status = 'failed' where webhook_id = $1`, [id])
    await end()
    const moved = { url: 'https://elsewhere.example.com/', eventTypes: ['account.created'] }
    const move = (body: object, actor = by) => actor.call('updateWebhook', { id, body })
    // Nor in two steps: first the types, then the address.
    assert.deepEqual(missing(await move({ eventTypes: ['account.created'] })), [200])
    const before = await contentOf(service)
    for (const body of [moved, { url: moved.url }, { ...moved, enabled: false }]) {
      const refused = await move(body)
      assert.equal(refused.status, 403, refused.text)
      assert(missing(refused).includes('clients:read'), refused.text)
    }
    assert.deepEqual(missing(await by.call('replayWebhookDelivery', { id: ofClient })), [403, 'clients:read'])
    assert.deepEqual(missing(await by.call('replayWebhook', { id, body: { since: 1 } })), [403, 'clients:read'])
    assert.equal(await contentOf(service), before)
    await caller.expect(caller.call('updateWebhook', { id, body: { enabled: false } }))
    assert.equal((await move({ enabled: true })).status, 403)
    assert.equal((await move({ enabled: true, url: moved.url })).status, 403)
    await caller.expect(caller.call('updateWebhook', { id, body: { enabled: true } }))
    assert.equal((await by.call('replayWebhookDelivery', { id: ofAccount })).status, 202)
    await end()
    const since = Math.floor(Date.now() / 1000) + 60
    assert.equal((await by.call('replayWebhook', { id, body: { since } })).response.replayed, 0)

    // Deliveries that are pending for the old address are not sent to the new one, unless a person with the read scope
    // requests it.
    await caller.expect(caller.call('replayWebhook', { id, body: { since: 1 } }))
    await caller.expect(caller.call('updateWebhook', { id, body: { description: 'waits on' } }))
    const states = async () =>
      (await caller.expect(caller.call('listWebhookDeliveries', { id, query: {} }))).map(
        ({ status, errorCode, nextTime }) => [status, errorCode, nextTime !== null],
      )
    assert.deepEqual(await states(), Array(2).fill(['pending', null, true]))
    await caller.expect(move({ url: moved.url }, caller))
    assert.deepEqual(await states(), Array(2).fill(['failed', 'address_changed', false]))
    assert.equal(
      (await caller.call('replayWebhook', { id, body: { since: 1, status: 'failed' } })).response.replayed,
      2,
    )
  })
})
