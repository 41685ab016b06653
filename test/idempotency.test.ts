import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { limits } from '@penstock/wire'
import { restoreAccount } from '../packages/server/src/accounts/accounts.ts'
import { connectionsOfAccounts } from '../packages/server/src/connections/connections.ts'
import { callerOf, destination, source } from './harness/fixtures.ts'
import { startTests } from './harness/started.ts'

/** Retries under an Idempotency-Key: cases that the contract walk does not test. */

const service = await startTests()
const caller = callerOf(service, await service.addOrganization())

const newKey = () => randomBytes(12).toString('base64')
const add = (key: string, name = 'Added', by = caller) =>
  by.call('addAccount', { body: { name }, headers: { 'idempotency-key': key } })
const accountsNamed = async (name: string) =>
  Number((await caller.call('listAccounts', { query: { q: name } })).headers['x-total-count'])

describe('an Idempotency-Key', { concurrency: true }, () => {
  test('makes one thing of the same request, and answers it alike', async () => {
    const key = newKey()
    const [first, second] = [await add(key, 'Same'), await add(key, 'Same')]
    assert.equal(first.status, 201)
    assert.deepEqual([second.status, second.text, second.headers.etag], [201, first.text, first.headers.etag])
    assert.equal(await accountsNamed('Same'), 1)
  })

  test('answers as it did first, whatever became of the thing', async () => {
    const key = newKey()
    const first = await add(key, 'Forgotten')
    await caller.expect(caller.call('deleteAccount', { id: first.response.id }))
    assert.equal((await add(key, 'Forgotten')).text, first.text)
    assert.equal(await accountsNamed('Forgotten'), 0)
  })

  test('is answered again only while the account is there: its own organization’s, and not deleted', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    const headers = { 'idempotency-key': newKey() }
    const body = { name: 'Once', srcConnectorId: source.id, destConnectorId: destination.id }
    const create = (by = caller) => by.call('createConnection', { accountId, body, headers })
    const first = await create()
    assert.deepEqual([first.status, (await create()).text], [201, first.text])
    const other = callerOf(service, await service.addOrganization())
    assert.deepEqual([(await create(other)).status, (await create(other)).error], [404, 'not_found'])

    await caller.expect(caller.call('deleteAccount', { id: accountId }))
    const gone = await create()
    assert.deepEqual([gone.status, gone.error], [404, 'not_found'])
    await service.database.transaction((tx) => restoreAccount(tx, accountId, connectionsOfAccounts))
    assert.equal((await create()).text, first.text)
  })

  test('is refused for another body, operation, resource or accountId', async () => {
    const key = newKey()
    const headers = { 'idempotency-key': key }
    const [one, two] = [await caller.addAccountWithSides('Two'), await caller.addAccountWithSides('Two')]
    const body = { connectorIds: [source.id] }
    await caller.expect(caller.call('addConnectors', { accountId: one.id, body, headers }))
    const sides = { srcConnectorId: source.id, destConnectorId: destination.id }
    for (const other of [
      caller.call('addConnectors', { accountId: one.id, body: { connectorIds: [destination.id] }, headers }),
      caller.call('addConnectors', { accountId: two.id, body, headers }),
      caller.call('addAccount', { body: { name: 'Never' }, headers }),
      caller.call('createConnection', { accountId: one.id, body: { name: 'Never', ...sides }, headers }),
    ]) {
      const { status, error } = await other
      assert.deepEqual([status, error], [422, 'idempotency_key_reused'])
    }
    assert.equal(await accountsNamed('Never'), 0)

    const restored = { 'idempotency-key': newKey() }
    const deleted = await Promise.all(
      [1, 2].map(async () => {
        const { id } = await caller.createConnection(one.id)
        await caller.expect(caller.call('deleteConnection', { accountId: one.id, id }))
        return { accountId: one.id, id, headers: restored }
      }),
    )
    const replies = [
      await caller.call('restoreConnection', deleted[0]),
      await caller.call('restoreConnection', deleted[1]),
    ]
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 422],
    )
  })

  test('is free again after 24 hours, and not before', async () => {
    const key = newKey()
    const first = await add(key, 'Daily')
    const age = (interval: string) =>
      service.database.pool.query(
        `update idempotency_keys set created_time = now() - interval '${interval}' where key = $1`,
        [key],
      )
    await age('23 hours 59 minutes')
    assert.equal((await add(key, 'Daily')).response.id, first.response.id)
    await age('24 hours 1 second')
    const second = await add(key, 'Daily again')
    assert.equal(second.status, 201)
    assert.notEqual(second.response.id, first.response.id)
    assert.equal((await add(key, 'Daily again')).response.id, second.response.id)
    assert.equal(await accountsNamed('Daily'), 2)
  })

  test('makes one thing of many requests at once', async () => {
    const key = newKey()
    const replies = await Promise.all(Array.from({ length: 8 }, () => add(key, 'Crowded')))
    assert.deepEqual(new Set(replies.map(({ text }) => text)).size, 1)
    assert.equal(await accountsNamed('Crowded'), 1)
  })

  test('is not taken by a request that was refused', async () => {
    const key = newKey()
    const headers = { 'idempotency-key': key }
    const invalid = await add(key, '')
    assert.equal(invalid.status, 400)
    const { id: accountId } = await caller.addAccount()
    const body = { name: 'At last', srcConnectorId: source.id, destConnectorId: destination.id }
    const create = () => caller.call('createConnection', { accountId, body, headers })
    assert.equal((await create()).error, 'connector_not_added')
    await caller.addConnectors(accountId, source, destination)
    const [first, second] = [await create(), await create()]
    assert.deepEqual([first.status, second.text], [201, first.text])
  })

  test('of one organization is nothing to another', async () => {
    const key = newKey()
    const other = callerOf(service, await service.addOrganization())
    const [ours, theirs] = [await add(key, 'Shared'), await add(key, 'Other', other)]
    assert.deepEqual([ours.status, theirs.status, theirs.response.name], [201, 201, 'Other'])
  })

  test('is 1 to 255 visible ASCII characters', async () => {
    const tooLong = 'k'.repeat(limits.idempotencyKeyLengthMax + 1)
    for (const bad of ['', tooLong, 'tab\there', 'ümlaut']) {
      const { status, error, details } = await add(bad, 'Badly keyed')
      const fields = details.map(({ field }) => field)
      assert.deepEqual([status, error, fields], [400, 'invalid_request', ['header.idempotency-key']], bad)
    }
    for (const good of ['k', tooLong.slice(1), '~!"#$%&\'()*+,;']) {
      assert.equal((await add(good, 'Well keyed')).status, 201, good)
    }
    assert.equal(await accountsNamed('Badly keyed'), 0)
  })

  test('means nothing where nothing is made: reads and what is put or deleted', async () => {
    const headers = { 'idempotency-key': newKey() }
    const { id } = await caller.addAccount()
    for (const name of ['One', 'Two']) {
      assert.equal((await caller.call('editAccount', { id, body: { name }, headers })).response.name, name)
    }
    assert.equal((await caller.call('getAccount', { id, headers })).response.name, 'Two')
    assert.equal((await caller.call('deleteAccount', { id, headers })).status, 200)
    assert.equal((await caller.call('deleteAccount', { id, headers })).status, 404)
  })
})
