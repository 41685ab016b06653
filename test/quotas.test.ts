import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits, type OperationId } from '@penstock/wire'
import { restoreAccount } from '../packages/server/src/accounts/accounts.ts'
import { connectionsOfAccounts } from '../packages/server/src/connections/connections.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { addAccountWithConnection, type Connection, type Inbox, makeInbox } from './harness/connections.ts'
import { type Caller, callerOf, destination, source } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { type Reply, startServiceOn, startTestService, type TestService } from './harness/service.ts'

/** Limits of a tenant. Two services share the database, as two processes do. */

const quota = 3
let inbox: Inbox
let one: TestService
let two: TestService
before(async () => {
  inbox = await makeInbox()
  const env = {
    ...inbox.env,
    PENSTOCK_MASTER_KEY: generateMasterKey(),
    PENSTOCK_QUOTA_ACCOUNTS: String(quota),
    PENSTOCK_QUOTA_CONNECTIONS: String(quota),
    PENSTOCK_QUOTA_SCHEDULES: String(quota),
  }
  one = await startTestService(env)
  two = await startServiceOn(one.databaseUrl, env)
})
after(async () => {
  await assertInvariants(one.database.pool)
  await two.close()
  await one.close()
  await inbox.remove()
})

/** A separate organization, with callers of both services. */
async function newCallers(): Promise<readonly [Caller, Caller]> {
  const organization = await one.addOrganization()
  return [callerOf(one, organization), callerOf(two, organization)]
}

const times = Array.from({ length: 8 }, (_, index) => index)
const codes = (replies: readonly Reply<unknown>[]) => replies.map(({ status, error }) => error ?? status).sort()
/** Exactly as many as the quota succeeded, and the others were refused. */
const filled = (status: number) => [
  ...Array.from({ length: quota }, () => status),
  ...Array.from({ length: times.length - quota }, () => 'quota_exceeded'),
]

function assertRefused(reply: Reply<unknown>, setting: string, max = quota): void {
  assert.deepEqual([reply.status, reply.error], [409, 'quota_exceeded'], reply.text)
  assert.equal(reply.details.length, 1)
  assert.match(reply.details[0]?.message ?? '', new RegExp(`\\b${max} .*\\b${setting}\\b`))
}

describe('PENSTOCK_QUOTA_ACCOUNTS', () => {
  const add = (caller: Caller, headers = {}) => caller.call('addAccount', { body: { name: 'Account' }, headers })

  test('bounds the sub-accounts of an organization, and of no other one', async () => {
    const [caller] = await newCallers()
    const { response: first } = await add(caller, { 'idempotency-key': 'first' })
    for (let n = 1; n < quota; n++) assert.equal((await add(caller)).status, 201)
    assertRefused(await add(caller), 'PENSTOCK_QUOTA_ACCOUNTS')
    assert.equal((await caller.call('listAccounts')).headers['x-total-count'], String(quota))
    assert.deepEqual((await add(caller, { 'idempotency-key': 'first' })).response, first, 'a retry creates nothing')
    const [other] = await newCallers()
    assert.equal((await add(other)).status, 201)
  })

  test('holds for requests that come at once, to several processes', async () => {
    const callers = await newCallers()
    const replies = await Promise.all(times.map((n) => add(callers[n % 2 === 0 ? 0 : 1])))
    assert.deepEqual(codes(replies), filled(201))
  })

  test('allows another one after a deletion, and does not hinder the operator who restores', async () => {
    const [caller] = await newCallers()
    const { id } = (await add(caller)).response
    for (let n = 1; n < quota; n++) await add(caller)
    await caller.expect(caller.call('deleteAccount', { id }))
    assert.equal((await add(caller)).status, 201)
    await one.database.transaction((tx) => restoreAccount(tx, id, connectionsOfAccounts))
    assert.equal((await caller.call('listAccounts')).headers['x-total-count'], String(quota + 1))
    assertRefused(await add(caller), 'PENSTOCK_QUOTA_ACCOUNTS')
    assert.equal((await caller.call('editAccount', { id, body: { name: 'Renamed' } })).status, 200)
  })

  test('does not let deleted sub-accounts pile up without a bound', async () => {
    const [caller] = await newCallers()
    const max = quota * limits.quotaFactorWithDeleted
    for (let n = 0; n < max; n++) {
      const { id } = await caller.expect(add(caller))
      await caller.expect(caller.call('deleteAccount', { id }))
    }
    assertRefused(await add(caller), 'PENSTOCK_QUOTA_ACCOUNTS', max)
  })
})

describe('PENSTOCK_QUOTA_CONNECTIONS', () => {
  const create = (caller: Caller, accountId: string) =>
    caller.call('createConnection', {
      accountId,
      body: { name: 'Connection', srcConnectorId: source.id, destConnectorId: destination.id },
    })
  const move = (
    caller: Caller,
    operation: OperationId & ('deleteConnection' | 'restoreConnection'),
    connection: Connection,
  ) => caller.expect(caller.call(operation, connection))

  test('bounds the connections of a sub-account, and of no other one', async () => {
    const [caller] = await newCallers()
    const [{ id: accountId }, other] = [await caller.addAccountWithSides(), await caller.addAccountWithSides()]
    for (let n = 0; n < quota; n++) assert.equal((await create(caller, accountId)).status, 201)
    assertRefused(await create(caller, accountId), 'PENSTOCK_QUOTA_CONNECTIONS')
    const { headers } = await caller.call('listConnections', { accountId })
    assert.equal(headers['x-total-count'], String(quota))
    assert.equal((await create(caller, other.id)).status, 201)
  })

  test('holds for requests that come at once, to several processes', async () => {
    const callers = await newCallers()
    const { id: accountId } = await callers[0].addAccountWithSides()
    const replies = await Promise.all(times.map((n) => create(callers[n % 2 === 0 ? 0 : 1], accountId)))
    assert.deepEqual(codes(replies), filled(201))
  })

  test('never prevents a restore, and bounds what is deleted too', async () => {
    const [caller] = await newCallers()
    const { id: accountId } = await caller.addAccountWithSides()
    const max = quota * limits.quotaFactorWithDeleted
    const ids: string[] = []
    for (let n = 0; n < max; n++) {
      const { id } = await caller.expect(create(caller, accountId))
      await move(caller, 'deleteConnection', { accountId, id })
      ids.push(id)
    }
    assertRefused(await create(caller, accountId), 'PENSTOCK_QUOTA_CONNECTIONS', max)
    for (const id of ids.slice(0, quota + 1)) await move(caller, 'restoreConnection', { accountId, id })
    assertRefused(await create(caller, accountId), 'PENSTOCK_QUOTA_CONNECTIONS')
  })
})

describe('PENSTOCK_QUOTA_SCHEDULES', () => {
  const set = (caller: Caller, connection: Connection, enabled = true, cron = '0 6 * * *') =>
    caller.call('setSchedule', { ...connection, body: { cron, enabled } })
  const oneConnectionEach = async (caller: Caller, count: number) => {
    const connections: Connection[] = []
    const { accountId, id } = await addAccountWithConnection(caller, inbox.folder)
    connections.push({ accountId, id })
    const { src, dest, ...details } = await caller.expect(caller.call('getConnection', { accountId, id }))
    const body = {
      name: 'Another',
      srcConnectorId: src.connectorId,
      destConnectorId: dest.connectorId,
      srcConnectionConfig: details.srcConnectionConfig,
      destConnectionConfig: details.destConnectionConfig,
    }
    // A sub-account accepts no more connections than the quota.
    for (let n = 1; n < count; n++) {
      if (n % quota === 0) connections.push(await addAccountWithConnection(caller, inbox.folder))
      else
        connections.push({
          accountId: connections.at(-1)?.accountId ?? '',
          id: (
            await caller.expect(
              caller.call('createConnection', { accountId: connections.at(-1)?.accountId ?? '', body }),
            )
          ).id,
        })
    }
    return connections
  }

  test('bounds the enabled schedules of an organization', async () => {
    const [caller] = await newCallers()
    const connections = await oneConnectionEach(caller, quota + 1)
    const [first, ...others] = connections
    const last = others.pop()
    assert(first && last)
    for (const connection of [first, ...others]) assert.equal((await set(caller, connection)).status, 200)
    assertRefused(await set(caller, last), 'PENSTOCK_QUOTA_SCHEDULES')
    assert.equal((await caller.call('getSchedule', last)).status, 404)
    assert.equal((await set(caller, last, false)).status, 200, 'one that is off')
    assertRefused(await set(caller, last), 'PENSTOCK_QUOTA_SCHEDULES')
    assert.equal((await set(caller, first, true, '0 7 * * *')).status, 200, 'a change of one that is on')

    await caller.expect(caller.call('deleteConnection', first))
    assert.equal((await set(caller, last)).status, 200, 'the schedule of a deleted connection does not count')
    await caller.expect(caller.call('restoreConnection', first))
    assert.equal((await caller.call('getSchedule', first)).response.enabled, true)
    await caller.expect(caller.call('deleteSchedule', last))
    assertRefused(await set(caller, last), 'PENSTOCK_QUOTA_SCHEDULES')
  })

  test('holds for requests that come at once, to several processes', async () => {
    const callers = await newCallers()
    const connections = await oneConnectionEach(callers[0], times.length)
    const replies = await Promise.all(connections.map((connection, n) => set(callers[n % 2 === 0 ? 0 : 1], connection)))
    assert.deepEqual(codes(replies), filled(200))
  })
})
