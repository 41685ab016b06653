import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { BodyOf } from '@penstock/wire'
import { createLogger } from '../packages/server/src/log.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { holdRunnable } from '../packages/server/src/transfers/queries.ts'
import { pauseSchedules, resumeSchedules } from '../packages/server/src/transfers/restored.ts'
import { startDue } from '../packages/server/src/transfers/supervisor/due-schedules.ts'
import { nextRun } from '../packages/server/src/transfers/times.ts'
import { addAccountWithConnection, type Connection, type Inbox, makeInbox } from './harness/connections.ts'
import { engineOf } from './harness/engine-of.ts'
import { type Caller, callerOf } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { type Organization, type Reply, startServiceOn, startTestService, type TestService } from './harness/service.ts'

/** When transfers of a connection start without a call. The clock is moved in the database, and no worker runs. */

let inbox: Inbox
let env: Record<string, string>
let service: TestService
let organization: Organization
let caller: Caller
before(async () => {
  inbox = await makeInbox()
  env = { ...inbox.env, PENSTOCK_MASTER_KEY: generateMasterKey() }
  service = await startTestService(env)
  organization = await service.addOrganization()
  caller = callerOf(service, organization)
})
after(async () => {
  await assertInvariants(service.database.pool)
  await service.close()
  await inbox.remove()
})

const newConnection = () => addAccountWithConnection(caller, inbox.folder)
const newAccount = async () => ({ id: (await newConnection()).accountId })
const set = (connection: Connection, body: BodyOf<'setSchedule'>) => caller.call('setSchedule', { ...connection, body })
const get = (connection: Connection) => caller.call('getSchedule', connection)
const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
const transfersOf = (connection: Connection) => caller.expect(caller.call('listTransfers', connection))
const nowSeconds = () => Math.floor(Date.now() / 1000)

/** One round of the worker, which runs every few seconds. */
const tick = () => startDue(engineOf(service), createLogger('silent'))
const miss = ({ id }: Connection, ago: string) =>
  sql('update schedules set next_time = now() - $2::interval where connection_id = $1', id, ago)

function assertRefused(reply: Reply<unknown>, status: number, error: string, fields?: string[]): void {
  assert.deepEqual([reply.status, reply.error], [status, error], reply.text)
  if (!fields) return
  assert.deepEqual(
    reply.details.map(({ field }) => field),
    fields,
  )
}

describe('schedules', () => {
  test('are listed of the connections that are asked for, of none that cannot be seen', async () => {
    const [first, second] = [await newConnection(), await newConnection()]
    for (const connection of [first, second, await newConnection()]) await set(connection, { cron: '0 6 * * *' })
    const stranger = callerOf(service, await service.addOrganization())
    const foreign = await addAccountWithConnection(stranger, inbox.folder)
    await stranger.call('setSchedule', { ...foreign, body: { cron: '0 6 * * *' } })
    const ask = async (accountId: string | undefined, ...ids: string[]) => {
      const { response, headers } = await caller.call('listSchedules', {
        ...(accountId && { accountId }),
        query: { connectionIds: ids.join(',') },
      })
      return [response.map(({ connectionId }) => connectionId), headers['x-total-count']]
    }
    assert.deepEqual(await ask(undefined, second.id, first.id), [[second.id, first.id], '2'])
    assert.deepEqual(await ask(first.accountId, second.id, first.id), [[first.id], '1'])
    assert.deepEqual(await ask(undefined, foreign.id), [[], '0'])
    assertRefused(await caller.call('listSchedules', { query: { connectionIds: 'x' } }), 400, 'invalid_request', [
      'query.connectionIds',
    ])
  })
})

describe('a schedule', () => {
  test('says while the operator has paused them all, and starts nothing', async () => {
    const connection = await newConnection()
    assert.equal((await set(connection, { cron: '0 6 * * *' })).response.paused, false)
    await pauseSchedules(service.database, 'operator')
    try {
      assert.equal((await get(connection)).response.paused, true)
      const { response } = await set(connection, { cron: '0 7 * * *' })
      assert.deepEqual([response.paused, response.enabled, response.nextTime !== null], [true, true, true])
      await miss(connection, '1 minute')
      await tick()
      assert.deepEqual(await transfersOf(connection), [])
    } finally {
      await resumeSchedules(service.database)
    }
    assert.equal((await get(connection)).response.paused, false)
    await tick()
    assert.equal((await transfersOf(connection)).length, 1)
  })

  test('is set, read, changed in part and deleted', async () => {
    const connection = await newConnection()
    assertRefused(await get(connection), 404, 'not_found')
    const { response: made } = await set(connection, { cron: ' 30 6 * * * ' })
    assert.deepEqual(
      [made.connectionId, made.cron, made.timezone, made.enabled, made.lastTime],
      [connection.id, '30 6 * * *', 'UTC', true, null],
    )
    assert(made.nextTime !== null && made.nextTime > nowSeconds() && made.nextTime <= nowSeconds() + 86_400)
    assert.match(new Date(made.nextTime * 1000).toISOString(), /T06:30:00/)
    assert.deepEqual((await get(connection)).response, made)

    await set(connection, { cron: '0 0 * * *', timezone: 'Asia/Kathmandu', enabled: false })
    const { response: changed } = await set(connection, { cron: '15 0 * * *' })
    assert.deepEqual(
      [changed.timezone, changed.enabled, changed.nextTime],
      ['Asia/Kathmandu', false, null],
      'what is left out stays, and what is off has no next time',
    )
    const { response: on } = await set(connection, { cron: '15 0 * * *', enabled: true })
    assert.match(new Date((on.nextTime ?? 0) * 1000).toISOString(), /T18:30:00/)

    const { status, response: was } = await caller.call('deleteSchedule', connection)
    assert.deepEqual([status, was], [200, on])
    assertRefused(await get(connection), 404, 'not_found')
    assertRefused(await caller.call('deleteSchedule', connection), 404, 'not_found')
  })

  test('that cannot be read is refused with what is wrong, and the one before stays', async () => {
    const connection = await newConnection()
    const { response: before } = await set(connection, { cron: '0 6 * * *' })
    const crons = ['', 'daily', '* * * *', '* * * * * *', '60 * * * *', '0 25 * * *', '@reboot', '0 0 * * 8-9']
    for (const cron of crons) assertRefused(await set(connection, { cron }), 400, 'invalid_request', ['body.cron'])
    for (const timezone of ['', 'Mars/Olympus', 'Europe/Berlin; drop table', 'x'.repeat(101)]) {
      assertRefused(await set(connection, { cron: '0 6 * * *', timezone }), 400, 'invalid_request', ['body.timezone'])
    }
    const both = await set(connection, { cron: 'never', timezone: 'Nowhere' })
    assert.deepEqual(both.details.map(({ field }) => field).sort(), ['body.cron', 'body.timezone'])
    assertRefused(await set(connection, { cron: '0 0 31 2 *' }), 400, 'invalid_request', ['body.cron'])
    assert.deepEqual((await get(connection)).response, before)
  })

  test('is changed only where its connection was made', async () => {
    const connection = await newConnection()
    const { response: before } = await set(connection, { cron: '0 6 * * *' })
    const staging = await startServiceOn(service.databaseUrl, { ...env, PENSTOCK_ENVIRONMENT: 'staging' })
    try {
      const there = callerOf(staging, organization)
      const changed = await there.call('setSchedule', { ...connection, body: { cron: '0 7 * * *' } })
      assertRefused(changed, 409, 'not_editable')
      assertRefused(await there.call('deleteSchedule', connection), 409, 'not_editable')
      assert.deepEqual((await there.call('getSchedule', connection)).response, before)
    } finally {
      await staging.close()
    }
    assert.deepEqual((await get(connection)).response, before)
  })

  test('is not set on a deleted connection, and comes back with a restored one', async () => {
    const connection = await newConnection()
    await set(connection, { cron: '0 6 * * *' })
    await caller.expect(caller.call('deleteConnection', connection))
    assertRefused(await set(connection, { cron: '0 7 * * *' }), 409, 'connection_deleted')
    await caller.expect(caller.call('restoreConnection', connection))
    assert.equal((await get(connection)).response.cron, '0 6 * * *')
  })

  test('can be set before its connection is active', async () => {
    const connection = await newConnection()
    await caller.expect(caller.call('updateConnectionStatus', { ...connection, body: { action: 'disable' } }))
    assert.equal((await set(connection, { cron: '0 6 * * *' })).status, 200)
  })
})

describe('a schedule that is due', () => {
  test('starts a transfer, and moves to its next time', async () => {
    const connection = await newConnection()
    await set(connection, { cron: '0 * * * *' })
    await tick()
    assert.deepEqual(await transfersOf(connection), [], 'nothing is due yet')
    await miss(connection, '1 second')
    await tick()
    const [transfer] = await transfersOf(connection)
    assert.deepEqual([transfer?.status, transfer?.trigger], ['queued', 'schedule'])
    const { response } = await get(connection)
    assert(response.lastTime !== null && response.lastTime >= nowSeconds() - 60)
    assert(response.nextTime !== null && response.nextTime > nowSeconds())
  })

  test('starts once, however many were missed and however many workers look', async () => {
    const connection = await newConnection()
    await set(connection, { cron: '* * * * *' })
    await miss(connection, '30 days')
    await Promise.all(Array.from({ length: 8 }, tick))
    const [transfer, ...more] = await transfersOf(connection)
    assert(transfer)
    assert.deepEqual(more, [])
    await caller.expect(caller.call('cancelTransfer', { ...connection, transferId: transfer.id }))
    await tick()
    assert.equal((await transfersOf(connection)).length, 1, 'what was missed is made up for by one')
  })

  test('is left out while a transfer is active', async () => {
    const connection = await newConnection()
    await set(connection, { cron: '0 * * * *' })
    const { id } = await caller.expect(caller.call('startTransfer', { ...connection, body: {} }))
    await miss(connection, '1 minute')
    await tick()
    assert.deepEqual(
      (await transfersOf(connection)).map((transfer) => transfer.id),
      [id],
    )
    assert(((await get(connection)).response.nextTime ?? 0) > nowSeconds())
  })

  test('is left out while the connection may not run, and comes when it may again', async () => {
    const connection = await newConnection()
    await set(connection, { cron: '0 * * * *' })
    const status = (action: 'enable' | 'disable') =>
      caller.expect(caller.call('updateConnectionStatus', { ...connection, body: { action } }))
    const account = (enabled: boolean) =>
      caller.expect(caller.call('editAccount', { id: connection.accountId, body: { enabled } }))
    const missAndTick = async () => {
      await miss(connection, '1 minute')
      await tick()
      return (await transfersOf(connection)).length
    }
    await status('disable')
    assert.equal(await missAndTick(), 0)
    assert(((await get(connection)).response.nextTime ?? 0) > nowSeconds(), 'it does not wait for the enabling')
    await status('enable')
    await account(false)
    assert.equal(await missAndTick(), 0)
    await account(true)
    await caller.expect(caller.call('deleteConnection', connection))
    await miss(connection, '1 minute')
    await tick()
    await caller.expect(caller.call('restoreConnection', connection))
    await status('enable')
    await tick()
    assert.deepEqual(await transfersOf(connection), [])
    assert.equal(await missAndTick(), 1)
  })

  test('does not come while the schedule is off or gone', async () => {
    const [off, gone] = [await newConnection(), await newConnection()]
    for (const connection of [off, gone]) await set(connection, { cron: '0 * * * *', enabled: connection === gone })
    await miss(off, '1 minute')
    await miss(gone, '1 minute')
    await caller.expect(caller.call('deleteSchedule', gone))
    await tick()
    assert.deepEqual([await transfersOf(off), await transfersOf(gone)], [[], []])
  })

  test('and is one of many in the same minute starts with all of them, at once, by several workers', async () => {
    const { id: accountId } = await newAccount()
    const many = 450
    await sql(
      `insert into connections
         (id, organization_id, account_id, name, status, src_connector_id, dest_connector_id, src_configuration_id,
          dest_configuration_id, src_config, dest_config, env)
       select substr(md5($1 || n), 1, 16), c.organization_id, $1, 'Many ' || n, 'active', c.src_connector_id,
         c.dest_connector_id, c.src_configuration_id, c.dest_configuration_id, c.src_config, c.dest_config, c.env
       from connections c, generate_series(1, $2::int) n where c.account_id = $1`,
      accountId,
      many - 1,
    )
    await sql(
      `insert into schedules (connection_id, cron, timezone, enabled, next_time)
       select id, '0 6 * * *', 'Europe/Berlin', true, now() from connections where account_id = $1`,
      accountId,
    )
    await Promise.all([tick(), tick()])
    const counts = `select count(*)::int as transfers, count(distinct t.connection_id)::int as connections,
        count(e.*)::int as events, count(*) filter (where s.next_time > now() and s.last_time <= now())::int as moved
      from transfers t join schedules s on s.connection_id = t.connection_id
      left join audit_events e on e.target_id = t.connection_id and e.after->>'id' = t.id and e.actor_kind = 'schedule'
      where t.account_id = $1 and t.status = 'queued' and t.trigger = 'schedule' and t.src_settings <> '{}'`
    await service.service.settleAudit()
    assert.deepEqual(await sql(counts, accountId), [{ transfers: many, connections: many, events: many, moved: many }])
  })

  test('waits for no one who holds its connection, and starts later', async () => {
    const [held, free] = [await newConnection(), await newConnection()]
    for (const connection of [held, free]) {
      await set(connection, { cron: '0 * * * *' })
      await miss(connection, connection === held ? '2 minutes' : '1 minute')
    }
    await service.database.transaction(async (tx) => {
      await holdRunnable.first(tx, held)
      await tick()
      assert.deepEqual([(await transfersOf(held)).length, (await transfersOf(free)).length], [0, 1])
    })
    await tick()
    assert.deepEqual([(await transfersOf(held)).length, (await transfersOf(free)).length], [1, 1])
  })

  test('but cannot be read is reported in the log, and keeps no other waiting', async () => {
    const [unreadable, other] = [await newConnection(), await newConnection()]
    for (const connection of [unreadable, other]) await set(connection, { cron: '0 * * * *' })
    await sql(`update schedules set timezone = 'Mars/Olympus' where connection_id = $1`, unreadable.id)
    await miss(unreadable, '2 minutes')
    await miss(other, '1 minute')
    await tick()
    assert.equal((await transfersOf(other)).length, 1)
    await sql(`delete from schedules where connection_id = $1`, unreadable.id)
  })

  test('that meets one connection which may not run starts the others all the same', async () => {
    const connections = [await newConnection(), await newConnection(), await newConnection()]
    for (const [at, connection] of connections.entries()) {
      await set(connection, { cron: '0 * * * *' })
      await miss(connection, `${at + 1} minutes`)
    }
    const [, , first] = connections
    assert(first)
    await caller.expect(caller.call('deleteAccount', { id: first.accountId }))
    await tick()
    const started = await Promise.all(
      connections.slice(0, 2).map(async (connection) => (await transfersOf(connection)).length),
    )
    assert.deepEqual(started, [1, 1])
  })
})

describe('the time after', () => {
  const next = (cron: string, timezone: string, after: string) =>
    nextRun(cron, timezone, new Date(after))?.toISOString()

  test('is computed in the time zone of the schedule, over the change of its clocks', () => {
    assert.equal(next('0 6 * * *', 'UTC', '2026-03-01T06:00:00Z'), '2026-03-02T06:00:00.000Z')
    assert.equal(next('0 6 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z'), '2026-03-29T04:00:00.000Z')
    assert.equal(next('0 6 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z'), '2026-10-25T05:00:00.000Z')
    assert.equal(next('0 0 29 2 *', 'UTC', '2026-03-01T00:00:00Z'), '2028-02-29T00:00:00.000Z')
  })

  test('comes once where clocks go back, and is not lost where they go forward', () => {
    const back = next('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z')
    assert(back === '2026-10-25T00:30:00.000Z' || back === '2026-10-25T01:30:00.000Z')
    assert.equal(next('30 2 * * *', 'Europe/Berlin', back), '2026-10-26T01:30:00.000Z')
    const forward = next('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z') ?? ''
    assert(forward.startsWith('2026-03-29T'), forward)
  })
})
