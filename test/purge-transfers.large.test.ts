import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { limits } from '@penstock/wire'
import { purge } from '../packages/server/src/worker/purge.ts'
import {
  addAccountWithConnection,
  addConnection,
  addEndedTransfer,
  type Connection,
  type Inbox,
  makeInbox,
} from './harness/connections.ts'
import { type Caller, callerOf } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { startTestService, type TestService } from './harness/service.ts'

/**
 * Transfers that ended long ago are removed with their logs and parts. Nothing that is still needed is removed, and no sum
 * changes.
 */

const days = 90
const newest = limits.transfersKeptMin

describe('the purge of transfers', () => {
  let inbox: Inbox
  let service: TestService
  let caller: Caller
  before(async () => {
    inbox = await makeInbox()
    service = await startTestService(inbox.env)
    caller = callerOf(service, await service.addOrganization())
  })
  after(async () => {
    await assertInvariants(service.database.pool)
    await service.close()
    await inbox.remove()
  })
  const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
  const purgeAll = (transferDays = days) =>
    purge(service.database, { rejectDays: 30, transferDays, ledgerDays: 400, auditDays: 0 })
  const idsOf = async ({ id }: Connection) =>
    (await sql('select id from transfers where connection_id = $1 order by created_time', id)).map((row) => row.id)

  /**
   * Ended transfers, the oldest first, one a day up to today, each with a log, a part and an entry of the ledger, as workers
   * leave them.
   * @param status of all except the newest
   */
  async function addMany(connection: Connection, many: number, { status = 'succeeded', accepted = 1 } = {}) {
    const prefix = randomBytes(5).toString('hex')
    await sql(
      `with made as (
        insert into transfers (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger,
          read, sent, accepted, bytes, attempt, latest, parts, created_time, started_time, finished_time)
        select $2 || lpad(n::text, 6, '0'), organization_id, account_id, id, src_connector_id, dest_connector_id, $4, 'schedule',
          $5, $5, $5, $5, 1, n = $3, 2, now() - ($3 - n) * interval '1 day', now() - ($3 - n) * interval '1 day',
          now() - ($3 - n) * interval '1 day'
        from connections, generate_series(1, $3::int) n where id = $1 returning *
      ), log as (
        insert into transfer_logs (transfer_id, attempt, lines) select id, 1, '[]' from made
      ), part as (
        insert into transfer_parts (transfer_id, number, share, status, attempt, finished_time)
        select id, 2, 0, 'succeeded', 1, finished_time from made
      ), book as (
        insert into ledger (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes)
        select id, 1000001, organization_id, account_id, connection_id, (finished_time at time zone 'UTC')::date, read, accepted, 0, 0, bytes
        from made where accepted > 0
      ), volume as (
        update accounts set volume = volume + $3 * $5 where id = (select account_id from made limit 1)
      )
      update connections set total_volume = total_volume + $3 * $5, used_volume = used_volume + $3 * $5 where id = $1`,
      ...[connection.id, prefix, many, status, accepted],
    )
    for (const [table, column, id] of [
      ['connections', 'connection_id', connection.id],
      ['accounts', 'account_id', connection.accountId],
    ] as const) {
      await sql(
        `update ${table} set volume_month = to_char(now() at time zone 'UTC', 'YYYY-MM'), monthly_volume = (
           select coalesce(sum(accepted), 0) from ledger
           where ${column} = $1 and to_char(day, 'YYYY-MM') = to_char(now() at time zone 'UTC', 'YYYY-MM')
         ) where id = $1`,
        id,
      )
    }
    return idsOf(connection)
  }
  const reports = async ({ accountId }: Connection) => {
    const at = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    const query = { from: at(390), to: at(0) }
    return [
      await caller.expect(caller.call('reportAccounts', { query: { ...query, by: 'day' } })),
      await caller.expect(caller.call('reportConnections', { accountId, query: { ...query, by: 'month' } })),
    ]
  }

  test('keeps the newest of each connection and younger ones, and removes the others with logs and parts; reports stay', async () => {
    const connection = await addAccountWithConnection(caller, inbox.folder)
    const few = await addConnection(caller, connection.accountId)
    const all = await addMany(connection, 700)
    const ofFew = await addMany(few, newest)
    const before = await reports(connection)
    assert.equal((await purgeAll(0)).transfers, 0, 'as long as the connection')
    const concurrent = await Promise.all([purgeAll(), purgeAll(), reports(connection)])
    assert.equal(concurrent[0].transfers + concurrent[1].transfers, 700 - newest)
    assert.deepEqual(concurrent[2], before)
    assert.deepEqual(await idsOf(connection), all.slice(-newest))
    assert.deepEqual(await idsOf(few), ofFew)
    for (const table of ['transfer_logs', 'transfer_parts']) {
      const rows = await sql(
        `select count(distinct transfer_id)::int as count from ${table} where transfer_id = any($1)`,
        all,
      )
      assert.deepEqual(rows, [{ count: newest }], table)
    }
    assert.deepEqual(await reports(connection), before)
    assert.equal((await purgeAll()).transfers, 0)
    await assertInvariants(service.database.pool)
  })

  test('keeps what anything still needs', async () => {
    const connection = await addAccountWithConnection(caller, inbox.folder)
    const rejecting = await addEndedTransfer(service, caller, connection)
    const replayed = await addEndedTransfer(service, caller, connection)
    const lastRejecting = await addEndedTransfer(service, caller, connection)
    await sql(
      `update transfers set created_time = now() - interval '400 days', latest = false where connection_id = $1`,
      connection.id,
    )
    // One whose records are purged, and which no one reads.
    await sql(`update transfers set data_key_id = null where id = any($1)`, [rejecting, lastRejecting])
    await sql(`delete from rejects where transfer_id = any($1)`, [rejecting, lastRejecting])
    await sql(`update transfers set finished_time = now() - interval '20 days' where id = $1`, replayed)
    await sql(`update transfers set finished_time = now() - interval '395 days' where id = any($1)`, [
      rejecting,
      lastRejecting,
    ])
    const all = await addMany(connection, 300)
    const old = all.slice(3)
    const [digested, replay, alerted, plain] = old
    assert(digested && replay && alerted && plain)
    await sql(`insert into connection_states (connection_id) values ($1) on conflict do nothing`, connection.id)
    await sql(
      `insert into connection_digests (connection_id, generation, number, kept, transfer_id, digests) values ($1, 'g', 1, 0, $2, '')`,
      connection.id,
      digested,
    )
    await sql(`update transfers set trigger = 'replay', replay_of = $2 where id = $1`, replay, replayed)
    await sql(`update ledger set replayed = accepted where transfer_id = $1`, replay)
    await sql(
      `insert into alert_rules (id, organization_id, name, transfer_failed, connection_broken, emails, email_roles)
       select 'rule', organization_id, 'Rule', true, true, '{}', '{}' from connections where id = $1`,
      connection.id,
    )
    await sql(
      `insert into alert_incidents (id, rule_id, organization_id, account_id, connection_id, reasons, transfer_id, opened_time)
       select 'incident', 'rule', organization_id, account_id, id, '{}', $2, now() from connections where id = $1`,
      connection.id,
      alerted,
    )
    await purgeAll()
    const kept = await idsOf(connection)
    assert.deepEqual(
      kept,
      [replayed, lastRejecting, digested, replay, alerted, ...all.slice(-newest)].sort(
        (a, b) => all.indexOf(a) - all.indexOf(b),
      ),
    )
    assert(!kept.includes(rejecting) && !kept.includes(plain))
    // The next position of a transfer that rejects follows from the last one.
    const next = await addEndedTransfer(service, caller, connection)
    const positions = await sql(`select position from rejecting_transfers where transfer_id = $1`, next)
    assert.deepEqual(positions, [{ position: 4 }])
    await sql(`delete from alert_rules`)
    await sql(`delete from connection_digests`)
  })

  test('keeps a transfer whose rejected records another connection has yet to pass', async () => {
    const connection = await addAccountWithConnection(caller, inbox.folder)
    const reader = await addConnection(caller, connection.accountId)
    const [one, two, three] = [
      await addEndedTransfer(service, caller, connection),
      await addEndedTransfer(service, caller, connection),
      await addEndedTransfer(service, caller, connection),
    ]
    await sql(`delete from rejects where transfer_id = any($1)`, [one, two, three])
    await sql(
      `update transfers set data_key_id = null, latest = false, created_time = now() - interval '399 days',
         finished_time = now() - interval '399 days' where connection_id = $1`,
      connection.id,
    )
    await sql(
      `insert into connection_states (connection_id, rejects_of, rejects_read) values ($1, $2, 1)
       on conflict (connection_id) do update set rejects_of = $2, rejects_read = 1`,
      reader.id,
      connection.id,
    )
    await addMany(connection, 200)
    await purgeAll()
    const left = (await idsOf(connection)).slice(0, 2)
    assert.deepEqual(left.sort(), [two, three].sort())
    await sql('update connection_states set rejects_read = 3 where connection_id = $1', reader.id)
    await purgeAll()
    assert.deepEqual((await idsOf(connection))[0], three)
  })

  test('keeps the successes that rules and alerts compare with, though a hundred failures are newer', async () => {
    const connection = await addAccountWithConnection(caller, inbox.folder)
    const successes = await addMany(connection, 250)
    await sql(
      `update transfers set created_time = created_time - interval '300 days', finished_time = finished_time - interval '300 days',
      started_time = started_time - interval '300 days', latest = false where connection_id = $1`,
      connection.id,
    )
    await addMany(connection, newest + 20, { status: 'failed', accepted: 0 })
    const before = await sql('select last_success_time($1) as time', connection.id)
    await purgeAll()
    const kept = await idsOf(connection)
    assert.deepEqual(
      kept.filter((id) => successes.includes(id)),
      successes.slice(-limits.ruleTransfers),
    )
    assert.deepEqual(await sql('select last_success_time($1) as time', connection.id), before)
  })

  test('removes nothing of what is active, and does not wait for what is locked', async () => {
    const connection = await addAccountWithConnection(caller, inbox.folder)
    const all = await addMany(connection, 300)
    const [locked, ...others] = all
    const started = await caller.expect(caller.call('startTransfer', { ...connection, body: {} }))
    await sql(`update transfers set created_time = now() - interval '500 days' where id = $1`, started.id)
    const client = await service.database.pool.connect()
    try {
      await client.query('begin')
      await client.query('select from transfers where id = $1 for update', [locked])
      await purgeAll()
      assert.deepEqual((await idsOf(connection)).slice(0, 2), [started.id, locked])
      await client.query('rollback')
    } finally {
      client.release()
    }
    await purgeAll()
    assert.equal((await idsOf(connection))[1], others[others.length - newest])
    await caller.expect(caller.call('cancelTransfer', { ...connection, transferId: started.id }))
  })
})
