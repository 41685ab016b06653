import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '@penstock/wire'
import { restoreAccount } from '../packages/server/src/accounts/accounts.ts'
import { connectionsOfAccounts, meet } from '../packages/server/src/connections/connections.ts'
import { addAccountWithConnection, type Connection } from './harness/connections.ts'
import { callerOf, destinationSecrets, destinationSettings, sourceSecrets, sourceSettings } from './harness/fixtures.ts'
import { startTestsWithInbox } from './harness/started.ts'

/** The history of a connection: which changes are in it, and which are not. */

const { service, inbox } = await startTestsWithInbox({ invariants: true })
const caller = callerOf(service, await service.addOrganization())

const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
const eventsOf = async (connection: Connection, query = {}) =>
  caller.expect(caller.call('listConnectionEvents', { ...connection, query: { size: 500, ...query } }))
/** Events after a connection was created and activated, oldest first. */
const reportedOf = async (connection: Connection) =>
  (await eventsOf(connection))
    .toReversed()
    .slice(2)
    .map(({ kind, from, to }) => [kind, from, to])
const newConnection = () => addAccountWithConnection(caller, inbox.folder)
const act = (connection: Connection, action: 'activate' | 'enable' | 'disable') =>
  caller.expect(caller.call('updateConnectionStatus', { ...connection, body: { action } }))
const update = (connection: Connection, body: object) =>
  caller.expect(caller.call('updateConnection', { ...connection, body } as never))
const met = (connection: Connection, trigger: 'breakdown' | 'outage' | 'recovery') =>
  service.database.transaction((tx) => meet(tx, connection.id, trigger))
const schedule = (connection: Connection, body: object) =>
  caller.expect(caller.call('setSchedule', { ...connection, body } as never))

type Reported = [kind: string, from: string | null, to: string | null][]
/** Changes of an active connection named Orders, and their events in its history. */
const changes: Record<string, { does: (connection: Connection) => Promise<unknown>; events: Reported }> = {
  'a new name': {
    does: (connection) => update(connection, { name: ' Other ' }),
    events: [['renamed', 'Orders', 'Other']],
  },
  'the same name': { does: (connection) => update(connection, { name: 'Orders' }), events: [] },
  'the settings of one side': {
    does: (connection) => update(connection, { destConnectionConfig: { subfolder: 'canary-value' } }),
    events: [['settings', null, 'Destination']],
  },
  'a name and the settings of both sides at once': {
    does: (connection) =>
      update(connection, {
        name: 'Other',
        srcConnectionConfig: { files: 'canary-value.csv' },
        destConnectionConfig: { subfolder: 'canary-value' },
      }),
    events: [
      ['renamed', 'Orders', 'Other'],
      ['settings', null, 'Source'],
      ['settings', null, 'Destination'],
    ],
  },
  'the settings that it has': {
    does: (connection) => update(connection, { destConnectionConfig: { subfolder: 'out' } }),
    events: [],
  },
  'what callers ask of its status, once': {
    does: async (connection) => {
      for (const action of ['activate', 'disable', 'disable', 'enable'] as const) await act(connection, action)
    },
    events: [
      ['status', 'active', 'disabled'],
      ['status', 'disabled', 'active'],
    ],
  },
  'a platform that refuses, and an activation after the cause is fixed': {
    does: async (connection) => {
      await met(connection, 'breakdown')
      await act(connection, 'activate')
    },
    events: [
      ['status', 'active', 'broken'],
      ['status', 'broken', 'active'],
    ],
  },
  'an unreachable platform, and a probe that gets through': {
    does: async (connection) => {
      await met(connection, 'outage')
      await met(connection, 'recovery')
    },
    events: [
      ['status', 'active', 'offline'],
      ['status', 'offline', 'active'],
    ],
  },
  'deletion and restore': {
    does: async (connection) => {
      await caller.expect(caller.call('deleteConnection', connection))
      await caller.expect(caller.call('restoreConnection', connection))
    },
    events: [
      ['status', 'active', 'deleted'],
      ['status', 'deleted', 'disabled'],
    ],
  },
  'a schedule that is set, changed, switched off and removed': {
    does: async (connection) => {
      await schedule(connection, { cron: '0 6 * * *' })
      await schedule(connection, { cron: '0 6 * * *' })
      await schedule(connection, { cron: '0 7 * * *', timezone: 'Europe/Berlin' })
      await schedule(connection, { cron: '0 7 * * *', enabled: false })
      await caller.expect(caller.call('deleteSchedule', connection))
    },
    events: [
      ['schedule', null, '0 6 * * * UTC'],
      ['schedule', '0 6 * * * UTC', '0 7 * * * Europe/Berlin'],
      ['schedule', '0 7 * * * Europe/Berlin', '0 7 * * * Europe/Berlin off'],
      ['schedule', '0 7 * * * Europe/Berlin off', null],
    ],
  },
  'the volume of a transfer, and the time at which a schedule ran': {
    does: async (connection) => {
      await sql(`update connections set volume_month = '2026-01' where id = $1`, connection.id)
      await schedule(connection, { cron: '0 6 * * *' })
      await sql('update schedules set last_time = now(), next_time = now() where connection_id = $1', connection.id)
    },
    events: [['schedule', null, '0 6 * * * UTC']],
  },
  'a change that is refused': {
    does: async (connection) => {
      const body = { name: 'Other', destConnectionConfig: { subfolder: 7 } }
      assert.equal((await caller.call('updateConnection', { ...connection, body })).status, 400)
    },
    events: [],
  },
}

describe('the history of a connection', () => {
  for (const [what, { does, events }] of Object.entries(changes)) {
    test(`of ${what} has ${events.length === 0 ? 'no events' : events.length}`, async () => {
      const connection = await newConnection()
      await does(connection)
      assert.deepEqual(await reportedOf(connection), events)
    })
  }

  test('begins with its creation, and gives each event an identifier and a time of its own', async () => {
    const beforeSeconds = Math.floor(Date.now() / 1000)
    const connection = await newConnection()
    const events = await eventsOf(connection)
    const [{ actor = null } = {}] = events
    assert.equal(actor?.kind, 'client')
    const rest = { connectionId: connection.id, changes: null, actor }
    assert.deepEqual(
      events.map(({ id: _, time: __, ...event }) => event),
      [
        { ...rest, kind: 'status', from: 'In-progress', to: 'active' },
        { ...rest, kind: 'created', from: null, to: 'Orders' },
      ],
    )
    assert.equal(new Set(events.map(({ id }) => id)).size, 2)
    for (const { time } of events) assert(time >= beforeSeconds - 5 && time <= Date.now() / 1000 + 5)
    assert.deepEqual(await eventsOf(connection), events, 'identifiers last')
  })

  test('says which settings changed, from what to what, in their first 200 characters', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    await caller.configureSides(accountId)
    const { id } = await caller.createConnection(accountId)
    const bucketUri = `s3://other-bucket/${'x'.repeat(300)}`
    const { table: _, ...without } = destinationSettings
    const destConnectionConfig = { ...without, writeMode: 'Append', schema: 'T' }
    await update({ accountId, id }, { srcConnectionConfig: { bucketUri }, destConnectionConfig })
    const events = await eventsOf({ accountId, id })
    const changesOf = (side: string) => events.find(({ kind, to }) => kind === 'settings' && to === side)?.changes
    assert.deepEqual(changesOf('Source'), [
      { key: 'bucketUri', from: sourceSettings.bucketUri, to: bucketUri.slice(0, 200) },
    ])
    assert.deepEqual(changesOf('Destination'), [
      { key: 'schema', from: 'S', to: 'T' },
      { key: 'table', from: 'T', to: null },
    ])
    const { text } = await caller.call('listConnectionEvents', { accountId, id })
    for (const secret of [sourceSecrets.secretAccessKey, destinationSecrets.password]) assert(!text.includes(secret))
  })

  test('is its own alone, and can be read while the connection can be restored, and no longer', async () => {
    const [connection, other] = [await newConnection(), await newConnection()]
    await caller.expect(caller.call('deleteConnection', connection))
    assert.deepEqual(
      (await eventsOf(connection)).map(({ to }) => to),
      ['deleted', 'active', 'Orders'],
    )
    assert.equal((await eventsOf(other)).length, 2)
    await sql(`update connections set deleted_time = now() - interval '30 days 1 second' where id = $1`, connection.id)
    const reply = await caller.call('listConnectionEvents', connection)
    assert.deepEqual([reply.status, reply.error], [404, 'not_found'])
    await schedule(other, { cron: '0 6 * * *' })
    await sql('delete from connections where id = any($1)', [connection.id, other.id])
    assert.deepEqual(
      await sql('select from connection_events where connection_id = any($1)', [connection.id, other.id]),
      [],
    )
  })

  test('has what the deletion and the restore of its sub-account did to it', async () => {
    const connection = await newConnection()
    await caller.expect(caller.call('deleteAccount', { id: connection.accountId }))
    assert.equal((await caller.call('listConnectionEvents', connection)).status, 404)
    await service.database.transaction((tx) => restoreAccount(tx, connection.accountId, connectionsOfAccounts))
    assert.deepEqual(await reportedOf(connection), [
      ['status', 'active', 'deleted'],
      ['status', 'deleted', 'disabled'],
    ])
  })

  test(`keeps the newest ${limits.connectionEventsMax}`, async () => {
    const connection = await newConnection()
    const max = limits.connectionEventsMax
    await sql(
      `do $$ begin
        for n in 1..${max + 20} loop update connections set name = 'Name ' || n where id = '${connection.id}'; end loop;
      end $$`,
    )
    const page = await caller.call('listConnectionEvents', { ...connection, query: { size: 2, offset: max - 2 } })
    assert.equal(page.headers['x-total-count'], String(max))
    assert.deepEqual(
      page.response.map(({ to }) => to),
      ['Name 22', 'Name 21'],
    )
    assert.deepEqual(
      await sql('select count(*)::int as n from connection_events where connection_id = $1', connection.id),
      [{ n: max }],
    )
  })

  test('numbers what many do at once without a gap', async () => {
    const connection = await newConnection()
    await Promise.all(
      Array.from({ length: 24 }, (_, n) => {
        if (n % 3 === 0) return update(connection, { name: `Name ${n}` })
        if (n % 3 === 1) return schedule(connection, { cron: `${n} 6 * * *` })
        return caller.call('deleteSchedule', connection).then(({ status }) => assert(status === 200 || status === 404))
      }),
    )
    const rows = await sql('select number from connection_events where connection_id = $1 order by 1', connection.id)
    assert.deepEqual(
      rows.map(({ number }) => number),
      Array.from(rows, (_, n) => n + 1),
    )
    assert(rows.length >= 2 + 16)
  })
})
