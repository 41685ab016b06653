import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { type Account, type Operation, type OperationId, operations } from '@penstock/wire'
import { restoreAccount } from '../packages/server/src/accounts/accounts.ts'
import { connectionsOfAccounts } from '../packages/server/src/connections/connections.ts'
import { contentOf } from './harness/content.ts'
import { anyFile, callerOf, destination, source } from './harness/fixtures.ts'
import { badNames, filteredNames, filters, goodNames } from './harness/names.ts'
import type { CallOptions } from './harness/service.ts'
import { startTests } from './harness/started.ts'

/** The rules of sub-accounts (specification, sections 2.7 and 4.3). */

const service = await startTests({ invariants: true })
const caller = callerOf(service, await service.addOrganization())

const fieldsOf = ({ details }: { details: { field: string }[] }) => details.map(({ field }) => field).sort()
const get = (id: string) => caller.expect(caller.call('getAccount', { id }))
const sql = (text: string, ...values: unknown[]) => service.database.pool.query(text, values)

describe('an account', () => {
  test('is made as it was asked for, by the environment and for the owner', async () => {
    const { organizationId, token } = await service.addOrganization()
    const { rows } = await sql('select owner_id, owner_email from organizations where id = $1', organizationId)
    const before = Math.floor(Date.now() / 1000)
    const { response, json, headers } = await service.call('addAccount', {
      token,
      body: { name: 'Acme', enabled: false },
    })
    const { id, createdTime, updatedTime, env, ...rest } = response
    assert.match(id, /^[0-9a-f]{16}$/)
    assert(createdTime >= before - 5 && createdTime <= Date.now() / 1000 + 5, 'seconds, of about now')
    assert.equal(updatedTime, createdTime)
    assert.match(env.id, /^[0-9a-f]{16}$/)
    assert.deepEqual(env, { host: 'penstock.test', id: env.id, name: 'production' })
    assert.deepEqual(rest, {
      name: 'Acme',
      enabled: false,
      connections: '0',
      userId: rows[0].owner_id,
      userEmail: rows[0].owner_email,
      volume: 0,
    })
    assert.equal(json.statusCode, 201)
    const read = await service.call('getAccount', { token, id })
    assert.deepEqual([read.response, read.headers.etag], [response, headers.etag])
    const { userEmail: _, ...entry } = response
    assert.deepEqual((await service.call('listAccounts', { token })).response, [entry])
  })

  test('is enabled by default', async () => {
    assert.equal((await caller.addAccount()).enabled, true)
  })

  test('is edited in its name, whether it is enabled, or both', async () => {
    const { id } = await caller.addAccount('Before')
    for (const [body, expected] of [
      [{ name: 'After' }, ['After', true]],
      [{ enabled: false }, ['After', false]],
      [{ name: 'Last', enabled: true }, ['Last', true]],
    ] as const) {
      const { name, enabled } = await caller.expect(caller.call('editAccount', { id, body }))
      assert.deepEqual([name, enabled], expected)
      assert.deepEqual([(await get(id)).name, (await get(id)).enabled], expected)
    }
  })

  test('shows when it changed, and stays the same version while it does not', async () => {
    const { id } = await caller.addAccount('Same')
    await sql(
      `update accounts set created_time = now() - interval '1 hour', updated_time = now() - interval '1 hour' where id = $1`,
      id,
    )
    const was = await caller.call('getAccount', { id })
    const same = await caller.call('editAccount', { id, body: { name: ' Same ', enabled: true } })
    assert.deepEqual([same.response, same.headers.etag], [was.response, was.headers.etag])
    const other = await caller.call('editAccount', { id, body: { name: 'Other' } })
    assert.equal(other.response.createdTime, was.response.createdTime)
    assert(other.response.updatedTime > was.response.updatedTime)
    assert.notEqual(other.headers.etag, was.headers.etag)
  })

  test('takes names of 1 to 200 characters, trimmed, without control characters', async () => {
    const { id } = await caller.addAccount()
    for (const { sent, kept, why } of goodNames) {
      assert.equal((await caller.addAccount(sent)).name, kept, why)
      assert.equal((await caller.expect(caller.call('editAccount', { id, body: { name: sent } }))).name, kept, why)
    }
    const content = await contentOf(service)
    for (const { sent, why } of badNames) {
      const name = sent as string
      for (const reply of [
        await caller.call('addAccount', { body: { name } }),
        await caller.call('editAccount', { id, body: { name } }),
      ]) {
        assert.deepEqual([reply.status, reply.error, fieldsOf(reply)], [400, 'invalid_request', ['body.name']], why)
      }
    }
    assert.equal(await contentOf(service), content)
  })

  test('is refused with all errors at once', async () => {
    const { id } = await caller.addAccount()
    const body = { name: '', enabled: 'yes', id, volume: 1 } as never
    const all = ['body.enabled', 'body.id', 'body.name', 'body.volume']
    assert.deepEqual(fieldsOf(await caller.call('addAccount', { body })), all)
    assert.deepEqual(fieldsOf(await caller.call('editAccount', { id, body })), all)
    assert.deepEqual(fieldsOf(await caller.call('addAccount', { body: {} as never })), ['body.name'])
    assert.deepEqual(fieldsOf(await caller.call('editAccount', { id, body: {} })), ['body'])
  })

  test('counts its connections that are not deleted, as a text', async () => {
    const { id } = await caller.addAccountWithSides()
    const made = []
    for (const name of ['one', 'two', 'three']) made.push(await caller.createConnection(id, name))
    const counted = async () => {
      const entries = await caller.expect(caller.call('listAccounts', { query: { size: 1 } }))
      return [(await get(id)).connections, entries[0]?.connections]
    }
    assert.deepEqual(await counted(), ['3', '3'])
    const last = { accountId: id, id: made[2]?.id ?? '' }
    await caller.expect(caller.call('updateConnectionStatus', { ...last, body: { action: 'disable' } }))
    assert.deepEqual(await counted(), ['3', '3'])
    await caller.expect(caller.call('deleteConnection', last))
    assert.deepEqual(await counted(), ['2', '2'])
    await caller.expect(caller.call('restoreConnection', last))
    assert.deepEqual(await counted(), ['3', '3'])
  })
})

test('the list is filtered by a part of the name, in any letter case, of plain characters', async () => {
  const other = callerOf(service, await service.addOrganization())
  for (const name of filteredNames) await other.addAccount(name)
  for (const { q, finds } of filters) {
    const { response, headers } = await other.call('listAccounts', { query: { q } })
    assert.deepEqual(response.map(({ name }) => name).sort(), finds, q)
    assert.equal(headers['x-total-count'], String(finds.length), q)
  }
  const long = await other.call('listAccounts', { query: { q: 'q'.repeat(201) } })
  assert.deepEqual([long.status, fieldsOf(long)], [400, ['query.q']])
})

describe('a deleted account', () => {
  let account: Account
  let live: { id: string; name: string }
  let deletedBefore: { id: string; name: string }
  before(async () => {
    account = await caller.addAccountWithSides('Gone soon')
    await caller.configureSides(account.id)
    live = await caller.createConnection(account.id, 'live')
    deletedBefore = await caller.createConnection(account.id, 'deleted before')
    await caller.expect(act(live.id, 'activate'))
    await caller.expect(caller.call('deleteConnection', { accountId: account.id, id: deletedBefore.id }))
    // The result is cached, and must be dropped from the cache immediately.
    await caller.expect(caller.call('listConnections', { accountId: account.id }))
    const { response } = await caller.call('deleteAccount', { id: account.id })
    assert.deepEqual([response.id, response.name, response.connections], [account.id, 'Gone soon', '0'])
  })
  const act = (id: string, action: 'activate' | 'enable') =>
    caller.call('updateConnectionStatus', { accountId: account.id, id, body: { action } })

  test('is gone at once with all it holds', async () => {
    const content = await contentOf(service)
    const bodies: Partial<Record<OperationId, object>> = {
      addConnectors: { connectorIds: [source.id] },
      configureConnector: { secretConfig: {} },
      createConnectorConfiguration: { name: 'Second' },
      editAccount: { name: 'Back' },
      createConnection: { name: 'New', srcConnectorId: source.id, destConnectorId: destination.id },
      updateConnection: { name: 'New' },
      updateConnectionStatus: { action: 'disable' },
      discoverValues: { field: 'files' },
      askSource: {},
      tryDestination: { rows: [{ a: 'b' }] },
      eraseAtDestination: { identifiers: [{ kind: 'email', value: 'a@example.com' }] },
      previewConnection: {},
      startTransfer: {},
      editRejects: { edits: [{ number: 1, record: {} }] },
      setSchedule: { cron: '0 6 * * *' },
      setConnectionRules: { rules: [] },
      setRunConditions: { runAfter: [] },
      setPurposes: { purposes: [] },
      setTransferGroups: { groups: [] },
      createTrigger: { name: 'Job' },
      setDrift: { drift: 'stop' },
      resetConnectionState: { rows: true },
      setConnectionTables: { tables: ['shop.t001'], paused: true },
      setConnectionLabels: { tags: ['production'] },
      createUpload: anyFile,
      createSample: { uploadId: '0123456789abcdef' },
    }
    for (const [name, operation] of Object.entries(operations) as [OperationId, Operation][]) {
      const inAccount = operation.actsIn === 'account' || name === 'listConnections'
      if (!inAccount && !operation.path.startsWith('/accounts/{id}')) continue
      const id = !inAccount ? account.id : operation.tag === 'Connectors' ? source.id : live.id
      const queries: Partial<Record<OperationId, Record<string, string>>> = {
        listSupportedConnectors: { srcConnectorId: source.id },
        deleteConnectorConfiguration: { configurationId: source.id },
      }
      const query = queries[name] ?? {}
      const call = { id, query, body: bodies[name], ...(inAccount ? { accountId: account.id } : {}) }
      const { status, error } = await caller.call(name, call as CallOptions<never>)
      assert.deepEqual([status, error], [404, 'not_found'], name)
    }
    assert.equal(await contentOf(service), content)
    const accounts = await caller.expect(caller.call('listAccounts', { query: { q: 'Gone soon' } }))
    assert.deepEqual(accounts, [])
    for (const status of ['', 'deleted', 'active']) {
      const { response, headers } = await caller.call('listConnections', { query: { status, size: 500 } })
      assert(response.every(({ accountId }) => accountId !== account.id))
      assert.equal(headers['x-total-count'], String(response.length))
    }
  })

  test('is not restored after 30 days', async () => {
    const restore = () => service.database.transaction((tx) => restoreAccount(tx, account.id, connectionsOfAccounts))
    const deletedAgo = (interval: string) =>
      sql(
        `with gone as (update accounts set deleted_time = deleted_time - interval '${interval}' where id = $1)
        update connections set deleted_time = deleted_time - interval '${interval}' where account_id = $1`,
        account.id,
      )
    await deletedAgo('30 days 1 second')
    await assert.rejects(restore, /No account .* was deleted within the last 30 days/)
    assert.equal((await caller.call('getAccount', { id: account.id })).status, 404)
    await deletedAgo('-1 day')
  })

  test('is restored by the operator, with the connections that went with it', async () => {
    await service.database.transaction((tx) => restoreAccount(tx, account.id, connectionsOfAccounts))
    const { name, connections, createdTime } = await get(account.id)
    assert.deepEqual([name, connections, createdTime], ['Gone soon', '1', account.createdTime])
    const listed = await caller.expect(caller.call('listConnections', { accountId: account.id }))
    assert.deepEqual(Object.fromEntries(listed.map((connection) => [connection.name, connection.status])), {
      live: 'disabled',
      'deleted before': 'deleted',
    })
    assert.equal((await caller.expect(act(live.id, 'enable'))).status, 'active')
    const { configured } = await caller.expect(
      caller.call('getConnectorConfiguration', { accountId: account.id, id: source.id }),
    )
    assert.equal(configured, true)
    const again = { accountId: account.id, id: deletedBefore.id }
    assert.equal((await caller.expect(caller.call('restoreConnection', again))).status, 'disabled')
    await assert.rejects(
      () => service.database.transaction((tx) => restoreAccount(tx, account.id, connectionsOfAccounts)),
      /No account/,
    )
  })
})
