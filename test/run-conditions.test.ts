import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { createLogger } from '../packages/server/src/log.ts'
import { startDependents } from '../packages/server/src/transfers/supervisor/dependents.ts'
import { addAccountWithConnection, addConnection } from './harness/connections.ts'
import { engineOf } from './harness/engine-of.ts'
import { callerOf } from './harness/fixtures.ts'
import type { Reply } from './harness/service.ts'
import { startTestsWithInbox } from './harness/started.ts'

/** Connections that run after others, groups and triggers. No worker runs: transfers end in the database. */

const { service, inbox } = await startTestsWithInbox()
const caller = callerOf(service, await service.addOrganization())
const accountId = (await addAccountWithConnection(caller, inbox.folder)).accountId

const add = async (name: string) => (await addConnection(caller, accountId, name)).id
const set = (id: string, runAfter: string[], group: string | null = null) =>
  caller.call('setRunConditions', { accountId, id, body: { runAfter, group } })
const statesOf = async (id: string) =>
  (await caller.expect(caller.call('getRunConditions', { accountId, id }))).runAfter.map(({ state }) => state)
const sql = (text: string, ...values: unknown[]) => service.database.pool.query(text, values)
/** A transfer of a connection that runs and ends. */
async function run(id: string, status = 'succeeded'): Promise<void> {
  await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
  await end(id, status)
}
async function end(id: string, status = 'succeeded'): Promise<void> {
  const active = `connection_id = $1 and status in ('queued', 'running')`
  await sql(`update transfers set status = 'running', started_time = now() where ${active}`, id)
  await sql(`update transfers set status = $2, finished_time = now() where ${active}`, id, status)
}
const tick = () => startDependents(engineOf(service), createLogger('silent'))
const transfersOf = async (id: string) =>
  (await caller.expect(caller.call('listTransfers', { accountId, id }))).map(({ trigger, status }) => [trigger, status])
const refusedBy = (reply: Pick<Reply<unknown>, 'status' | 'details'>) => [
  reply.status,
  ...reply.details.map(({ field }) => field),
]

describe('a connection that runs after others', () => {
  test('starts once when all of them have ended well, however many workers look, and says after which', async () => {
    const [first, second, dependent] = [await add('First'), await add('Second'), await add('Dependent')]
    await caller.expect(set(dependent, [first, second]))
    await run(first)
    await tick()
    assert.deepEqual(await transfersOf(dependent), [])
    assert.deepEqual((await statesOf(dependent)).toSorted(), ['done', 'waiting'])
    await run(second, 'partial')
    await Promise.all(Array.from({ length: 6 }, tick))
    assert.deepEqual(await transfersOf(dependent), [['dependency', 'queued']])
    const [{ startedBy } = assert.fail()] = await caller.expect(
      caller.call('listTransfers', { accountId, id: dependent }),
    )
    assert.deepEqual(startedBy, { kind: 'schedule', id: second, name: 'Second' })
    await end(dependent)
    await run(first)
    await tick()
    assert.equal((await transfersOf(dependent)).length, 1, 'the second has not ended since')
  })

  test('runs again for what ended while it ran, and not for what ended while it waited', async () => {
    const [upstream, dependent] = [await add('Upstream'), await add('Late')]
    await caller.expect(set(dependent, [upstream]))
    await caller.expect(caller.call('startTransfer', { accountId, id: dependent, body: {} }))
    await run(upstream)
    await end(dependent)
    await tick()
    assert.equal((await transfersOf(dependent)).length, 1)
    await caller.expect(caller.call('startTransfer', { accountId, id: dependent, body: {} }))
    await sql(
      `update transfers set status = 'running', started_time = now() where connection_id = $1 and status = 'queued'`,
      dependent,
    )
    await run(upstream)
    await tick()
    await sql(
      `update transfers set status = 'succeeded', finished_time = now() where connection_id = $1 and status = 'running'`,
      dependent,
    )
    await tick()
    assert.deepEqual((await transfersOf(dependent))[0], ['dependency', 'queued'])
  })

  test('does not start after a failure, and its history and the list of attention say why', async () => {
    const [upstream, dependent] = [await add('Broken one'), await add('Waits')]
    await caller.expect(set(dependent, [upstream]))
    await run(upstream, 'failed')
    await tick()
    assert.deepEqual(await transfersOf(dependent), [])
    assert.deepEqual(await statesOf(dependent), ['failed'])
    const [newest] = await caller.expect(caller.call('listConnectionEvents', { accountId, id: dependent }))
    assert.deepEqual([newest?.kind, newest?.from, newest?.to], ['dependency_failed', 'failed', 'Broken one'])
    const attention = await caller.expect(
      caller.call('listAttention', { accountId, query: { reason: 'dependency_failed' } }),
    )
    assert(attention.some(({ id }) => id === dependent))
    await run(upstream)
    await tick()
    assert.equal((await transfersOf(dependent)).length, 1)
  })

  test('waits for one that was disabled or deleted, and says so', async () => {
    const [upstream, dependent] = [await add('Leaves'), await add('Stays')]
    await caller.expect(set(dependent, [upstream]))
    await caller.expect(caller.call('updateConnectionStatus', { accountId, id: upstream, body: { action: 'disable' } }))
    await tick()
    assert.deepEqual(await statesOf(dependent), ['inactive'])
    await caller.expect(caller.call('deleteConnection', { accountId, id: upstream }))
    await tick()
    assert.deepEqual(await statesOf(dependent), ['deleted'])
    const events = await caller.expect(caller.call('listConnectionEvents', { accountId, id: dependent }))
    assert.deepEqual(
      events.slice(0, 2).map(({ kind, from }) => [kind, from]),
      [
        ['dependency_failed', 'deleted'],
        ['dependency_failed', 'disabled'],
      ],
    )
    assert.equal((await set(dependent, [upstream])).status, 200, 'it may stay named')
    assert.equal((await set(upstream, [])).status, 409)
  })

  test('makes no loop, not even with two changes at the same time', async () => {
    const [a, b, c] = [await add('A'), await add('B'), await add('C')]
    assert.deepEqual(refusedBy(await set(a, [a])), [400, 'body.runAfter.0'])
    await caller.expect(set(b, [a]))
    await caller.expect(set(c, [b]))
    assert.deepEqual(refusedBy(await set(a, [c])), [400, 'body.runAfter.0'])
    assert.deepEqual(refusedBy(await set(a, ['0123456789abcdef'])), [400, 'body.runAfter.0'])
    const [d, e] = [await add('D'), await add('E')]
    const both = await Promise.all([set(d, [e]), set(e, [d])])
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 400])
  })
})

describe('groups', () => {
  test('have a limit, and say what runs and waits; one in use is not removed', async () => {
    const of = { accountId }
    const put = (groups: { name: string; transfersMax: number }[]) =>
      caller.call('setTransferGroups', { ...of, body: { groups } })
    const [one, other] = [await add('One'), await add('Other')]
    assert.deepEqual(refusedBy(await set(one, [], 'warehouse')), [400, 'body.group'])
    await caller.expect(put([{ name: 'warehouse', transfersMax: 1 }]))
    for (const id of [one, other]) await caller.expect(set(id, [], 'warehouse'))
    for (const id of [one, other]) await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
    await sql(`update transfers set status = 'running' where connection_id = $1`, one)
    const groups = await caller.expect(caller.call('listTransferGroups', of))
    assert.deepEqual(groups, [
      { accountId, name: 'warehouse', transfersMax: 1, connections: 2, running: 1, waiting: 1 },
    ])
    const [waits] = await caller.expect(caller.call('listTransfers', { accountId, id: other }))
    assert.equal(waits?.waitsForGroup, 'warehouse')
    assert.deepEqual(refusedBy(await put([])), [400, 'body.groups'])
    assert.deepEqual(refusedBy(await put([1, 2].map((transfersMax) => ({ name: 'warehouse', transfersMax })))), [
      400,
      'body.groups.1.name',
    ])
    for (const id of [one, other]) await caller.expect(set(id, []))
    await caller.expect(put([]))
  })
})

describe('triggers', () => {
  const post = async (url: string, body = '', headers: Record<string, string> = {}) => {
    const { status, text } = await service.send({ method: 'POST', path: new URL(url).pathname, headers, body })
    return { status, response: JSON.parse(text).response as Record<string, unknown> }
  }

  test('start one transfer, are named in it, and start none once they are deleted', async () => {
    const id = await add('Triggered')
    const made = await caller.expect(caller.call('createTrigger', { accountId, id, body: { name: 'Job' } }))
    const started = await post(made.url, 'anything', { 'content-type': 'text/weird' })
    assert.deepEqual([started.status, started.response.started], [202, true])
    assert.equal((await post(made.url)).response.transferId, started.response.transferId)
    const [transfer] = await caller.expect(caller.call('listTransfers', { accountId, id }))
    assert.deepEqual([transfer?.trigger, transfer?.startedBy?.name], ['url', 'Job'])
    await end(id)
    const key = { 'idempotency-key': 'run 7' }
    const again = await post(made.url, '', key)
    await end(id)
    assert.equal((await post(made.url, '', key)).response.transferId, again.response.transferId)
    assert.equal((await post(`${made.url}x`)).status, 404)
    const [listed] = await caller.expect(caller.call('listTriggers', { accountId, id }))
    assert.equal(typeof listed?.lastUsedTime, 'number')
    await caller.expect(caller.call('deleteTrigger', { accountId, id: made.id }))
    assert.equal((await post(made.url)).status, 404)
  })

  test('of dbt Cloud take its signature, and its successful runs alone', async () => {
    const id = await add('After dbt')
    const secret = 'dbtc_secret'
    const body = { name: 'dbt', dbtCloudSecret: secret }
    const { url } = await caller.expect(caller.call('createTrigger', { accountId, id, body }))
    const send = (event: object, key = secret) => {
      const text = JSON.stringify(event)
      const authorization = createHmac('sha256', key).update(text).digest('hex')
      return post(url, text, { authorization, 'content-type': 'application/json' })
    }
    const succeeded = {
      eventId: 'wev_1',
      eventType: 'job.run.completed',
      data: { runStatus: 'Success', runStatusCode: 10 },
    }
    assert.equal((await send(succeeded, 'another')).status, 401)
    assert.equal((await post(url, '{}')).status, 401)
    const failed = { ...succeeded, data: { runStatus: 'Errored', runStatusCode: 20 } }
    for (const event of [failed, { eventType: 'job.run.started' }, {}, 7]) {
      const { status, response } = await send(event as object)
      assert.deepEqual([status, response.started], [200, false])
    }
    const first = await send(succeeded)
    assert.equal(first.status, 202)
    await end(id)
    assert.equal((await send(succeeded)).response.transferId, first.response.transferId, 'dbt repeats events')
    assert.equal((await transfersOf(id)).length, 1)
    const { rows } = await sql('select signing_secret_sealed from triggers where connection_id = $1', id)
    assert(!String(rows[0].signing_secret_sealed).includes(secret))
  })
})
