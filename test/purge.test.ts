import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { limits } from '@penstock/wire'
import { purgeEvents } from '../packages/server/src/events/queries.ts'
import { purge } from '../packages/server/src/worker/purge.ts'
import {
  addAccountWithConnection,
  addConnection,
  addEndedTransfer,
  type Inbox,
  makeInbox,
} from './harness/connections.ts'
import { type Caller, callerOf, connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { assertPlansOf, type Case } from './harness/plans.ts'
import { type Organization, startTestService, type TestService } from './harness/service.ts'
import { withSession } from './harness/session.ts'
import { addPerson, invite } from './harness/users.ts'

const rejectDays = 7

/** Data that is removed permanently, and data that stays (invariant 5). */

describe('the purge', () => {
  let inbox: Inbox
  let service: TestService
  let caller: Caller
  let clientId: string
  let organizationId: string
  let organization: Organization
  before(async () => {
    inbox = await makeInbox()
    service = await startTestService(inbox.env)
    organization = await service.addOrganization()
    caller = callerOf(service, organization)
    ;({ clientId, organizationId } = organization)
  })
  const purgeAll = () => purge(service.database, { rejectDays, ledgerDays: 400, auditDays: 0 })
  beforeEach(async () => void (await purgeAll()))
  after(async () => {
    await service.close()
    await inbox.remove()
  })

  const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
  const nothing = {
    rejects: 0,
    transfers: 0,
    dataKeys: 0,
    connections: 0,
    ledgerEntries: 0,
    summedEntries: 0,
    accounts: 0,
    tokens: 0,
    clients: 0,
    authorizations: 0,
    connectLinks: 0,
    userSessions: 0,
    userLinks: 0,
    usedChallenges: 0,
    events: 0,
    idempotencyKeys: 0,
    alertIncidents: 0,
    alertDeliveries: 0,
    auditEvents: 0,
  }
  /** Of the identifiers, those whose rows are there. */
  const kept = async (table: string, ids: string[]) => {
    const rows = await sql(`select id from ${table} where id = any($1)`, ids)
    return ids.filter((id) => rows.some((row) => row.id === id))
  }
  const ageConnection = (id: string, age: string) =>
    sql(`update connections set deleted_time = now() - $2::interval where id = $1`, id, age)
  const ageAccount = (id: string, age: string) =>
    sql(
      `with gone as (update accounts set deleted_time = now() - $2::interval where id = $1)
      update connections set deleted_time = now() - $2::interval where account_id = $1`,
      id,
      age,
    )

  test('removes connections that were deleted 30 days ago, and none that was not deleted or not so long ago', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    const [beyond, within, fresh, live] = await Promise.all(
      ['beyond', 'within', 'fresh', 'live'].map(async (name) => (await caller.createConnection(accountId, name)).id),
    )
    assert(beyond && within && fresh && live)
    for (const id of [beyond, within, fresh]) await caller.expect(caller.call('deleteConnection', { accountId, id }))
    await ageConnection(beyond, '30 days 1 second')
    await ageConnection(within, '29 days 23 hours 59 minutes')
    await sql(`update connections set created_time = now() - interval '9 years' where id = $1`, live)

    assert.deepEqual(await purgeAll(), { ...nothing, connections: 1 })
    assert.deepEqual(await kept('connections', [beyond, within, fresh, live]), [within, fresh, live])
    const { headers } = await caller.call('listConnections', { accountId, query: { status: 'deleted' } })
    assert.equal(headers['x-total-count'], '2')
    assert.equal((await caller.expect(caller.call('getAccount', { id: accountId }))).connections, '1')
    const restored = await caller.expect(caller.call('restoreConnection', { accountId, id: within }))
    assert.equal(restored.status, 'disabled')
    assert.deepEqual(await purgeAll(), nothing)
    await assertInvariants(service.database.pool)
  })

  test('removes accounts that were deleted 30 days ago, with all they held and nothing of others', async () => {
    const [beyond, within, live] = await Promise.all(
      ['beyond', 'within', 'live'].map(async (name) => {
        const { id } = await caller.addAccountWithSides(name)
        await caller.configureSides(id)
        await caller.createConnection(id)
        return id
      }),
    )
    assert(beyond && within && live)
    for (const id of [beyond, within]) await caller.expect(caller.call('deleteAccount', { id }))
    await ageAccount(beyond, '30 days 1 second')
    await ageAccount(within, '29 days 23 hours 59 minutes')
    await sql(`update accounts set created_time = now() - interval '9 years' where id = $1`, live)
    const held = (id: string) =>
      Promise.all(
        ['connections', 'added_connectors', 'configurations', 'secrets', 'connection_counts'].map(
          async (table) => (await sql(`select count(*)::int from ${table} where account_id = $1`, id))[0]?.count,
        ),
      )
    const whole = [1, 2, 2, 2, 1]
    for (const id of [beyond, within, live]) assert.deepEqual(await held(id), whole)

    assert.deepEqual(await purgeAll(), { ...nothing, connections: 1, accounts: 1 })
    assert.deepEqual(await kept('accounts', [beyond, within, live]), [within, live])
    assert.deepEqual(await held(beyond), [0, 0, 0, 0, 0])
    for (const id of [within, live]) assert.deepEqual(await held(id), whole)
    await assertInvariants(service.database.pool)
  })

  test('of an account that can be restored, removes the connections whose own days are over', async () => {
    const { id } = await caller.addAccountWithSides()
    const own = await caller.createConnection(id, 'deleted before')
    const along = await caller.createConnection(id, 'deleted along')
    await caller.expect(caller.call('deleteConnection', { accountId: id, id: own.id }))
    await caller.expect(caller.call('deleteAccount', { id }))
    await ageAccount(id, '29 days')
    await ageConnection(own.id, '31 days')
    assert.deepEqual(await purgeAll(), { ...nothing, connections: 1 })
    assert.deepEqual(await kept('connections', [own.id, along.id]), [along.id])
  })

  test('removes tokens that expired and Idempotency-Keys of more than 24 hours, and no others', async () => {
    const digests = { expired: randomBytes(32), lasting: randomBytes(32) }
    const addToken = (digest: Buffer, left: string) =>
      sql(
        `insert into tokens (digest, client_id, expires_time) values ($1, $2, now() + $3::interval)`,
        digest,
        clientId,
        left,
      )
    await addToken(digests.expired, '-1 second')
    await addToken(digests.lasting, '1 minute')
    const ages = { spent: '24 hours 1 second', recent: '23 hours 59 minutes' }
    for (const [key, age] of Object.entries(ages)) {
      await caller.expect(caller.call('addAccount', { body: { name: key }, headers: { 'idempotency-key': key } }))
      await sql(`update idempotency_keys set created_time = now() - $2::interval where key = $1`, key, age)
    }

    assert.deepEqual(await purgeAll(), { ...nothing, tokens: 1, idempotencyKeys: 1 })
    const left = await sql('select digest from tokens where digest = any($1)', Object.values(digests))
    assert.deepEqual(left, [{ digest: digests.lasting }])
    assert.deepEqual(await sql('select key from idempotency_keys'), [{ key: 'recent' }])
    assert.equal((await caller.call('listAccounts')).status, 200, 'the token in use lasts')
  })

  test('removes client credentials that were revoked long ago, and what they created gains nothing', async () => {
    const ages = { old: '90 days 1 second', recent: '89 days' }
    const ids: Record<string, string> = {}
    const { id: accountId } = await caller.expect(caller.call('addAccount', { body: { name: 'Of links' } }))
    for (const [name, age] of Object.entries(ages)) {
      const made = await caller.expect(caller.call('createClient', { body: { name } }))
      ids[name] = made.id
      const credentials = { clientId: made.id, clientSecret: made.clientSecret }
      const { accessToken } = await caller.expect(service.call('createToken', { body: credentials }))
      const own = callerOf(service, { ...organization, token: accessToken })
      await own.expect(
        own.call('createConnectLink', { body: { accountId, connectorIds: [connectorBySlug('webhook').id] } }),
      )
      await caller.expect(caller.call('revokeClient', { id: made.id }))
      await sql(`update clients set revoked_time = now() - $2::interval where id = $1`, made.id, age)
    }
    const creators = async () =>
      (
        await service.database.pool.query(
          `select client_id, (select count(*) from clients c where c.id = l.client_id)::int as there from connect_links l`,
        )
      ).rows
    const links = (await caller.expect(caller.call('listConnectLinks', {}))) as readonly { status: string }[]
    assert.deepEqual(await purgeAll(), { ...nothing, clients: 1 })
    assert.deepEqual(await kept('clients', Object.values(ids)), [ids.recent])
    assert.deepEqual(
      (await creators()).filter(({ client_id }) => client_id === ids.old),
      [{ client_id: ids.old, there: 0 }],
    )
    assert.deepEqual(await caller.expect(caller.call('listConnectLinks', {})), links, 'a link stays without effect')
  })

  test('removes sessions and links of people that have expired, and no others', async () => {
    const person = await addPerson(service, organization)
    const invited = await invite(service, organization)
    for (const [address, left, idle] of [
      ['over', '-1 second', '0'],
      ['idle', '1 hour', '14 days 1 second'],
      ['used', '1 hour', '13 days 23 hours'],
    ]) {
      await sql(
        `insert into user_sessions (id, digest, user_id, method, address, expires_time, last_used_time)
         values ($1, $2, $3, 'password', $4, now() + $5::interval, now() - $6::interval)`,
        ...[randomBytes(8).toString('hex'), randomBytes(32), person.id, address, left, idle],
      )
    }
    await sql(
      `insert into user_links (digest, user_id, purpose, expires_time)
       values ($1, $2, 'invitation', now() - interval '1 second')`,
      ...[randomBytes(32), invited.id],
    )
    assert.deepEqual(await purgeAll(), { ...nothing, userSessions: 2, userLinks: 1 })
    const left = await sql('select address from user_sessions where user_id = $1 order by address', person.id)
    assert.deepEqual(left, [{ address: '127.0.0.1' }, { address: 'used' }])
    assert.equal((await sql('select from user_links where user_id = $1', invited.id)).length, 1)
  })

  test('removes counts of mails whose hour is over, and no others', async () => {
    await sql(
      `insert into mail_counts (key, since, mails) values ('old', now() - interval '1 hour', 9), ('new', now(), 9)`,
    )
    await purgeAll()
    assert.deepEqual(await sql('select key from mail_counts'), [{ key: 'new' }])
  })

  test('removes more than one statement takes, all of it', async () => {
    const [tokens, keys, accounts] = [1_500, 1_000, 25]
    await sql(
      `insert into tokens (digest, client_id, expires_time)
      select sha256(n::text::bytea), $1, now() - interval '1 day' from generate_series(1, $2) n`,
      clientId,
      tokens,
    )
    await sql(
      `insert into idempotency_keys (organization_id, key, request_digest, created_time)
      select $1, 'many ' || n, sha256(''), now() - interval '2 days' from generate_series(1, $2) n`,
      organizationId,
      keys,
    )
    await sql(
      `insert into accounts (id, organization_id, name, enabled, env, deleted_time)
      select lpad(to_hex(n), 16, '0'), $1, 'Many', true, 'production', now() - interval '31 days' from generate_series(1, $2) n`,
      organizationId,
      accounts,
    )
    // Any number of workers can purge concurrently. Each row is removed, and counted, by one.
    const purged = await Promise.all([purgeAll(), purgeAll()])
    const sum = (of: keyof typeof nothing) => purged.reduce((total, counts) => total + counts[of], 0)
    assert.deepEqual([sum('tokens'), sum('idempotencyKeys'), sum('accounts')], [tokens, keys, accounts])
    assert.deepEqual(await purgeAll(), nothing)
  })

  test('removes events of more than 30 days ago with their deliveries, in batches, found in the index', async () => {
    const [old, young] = [250, 10_000]
    const insert = (count: number, prefix: string, age: string) =>
      sql(
        `with made as (
          insert into events (id, organization_id, type, payload, created_time)
          select $2 || n, $1, 'transfer.failed', '{}', now() - $3::interval from generate_series(1, $4::integer) n returning *
        ), sent as (
          insert into webhook_deliveries (id, webhook_id, event_id, ordering_key, attempts, created_time)
          select 'd' || id, 'of the purge', id, '', 2, created_time from made returning id
        ) insert into webhook_attempts (delivery_id, number, time, duration_ms)
          select id, n, now(), 1 from sent, generate_series(1, 2) n`,
        ...[organizationId, prefix, age, count],
      )
    await sql(
      `insert into webhooks (id, organization_id, url, description, enabled, data_key_id, secret_sealed)
      values ('of the purge', $1, 'https://example.com/', '', false, 'none', '')`,
      organizationId,
    )
    await insert(young, 'young', '29 days 23 hours')
    await insert(old, 'old', '30 days 1 second')
    const statement = purgeEvents as Case['statement']
    await withSession(service.databaseUrl, async (session) => {
      await session.query('analyze events, webhook_deliveries, webhook_attempts')
      await session.query('begin')
      const parameters = { days: limits.eventDays, limit: 40 }
      await assertPlansOf(session, [{ title: 'old events', statement, parameters }], (plan) => {
        const isFound = plan.nodes.some(({ index }) => index === 'events_created')
        return (!isFound || plan.rowsReadFrom('events') > 80) && `${plan.rowsReadFrom('events')} events read`
      })
      await session.query('rollback')
    })
    const largest = async () => {
      const sizes: number[] = []
      await sql('create table purged_at_once (events bigint)')
      await sql(`create function count_purged() returns trigger language plpgsql as $$
        begin insert into purged_at_once select count(*) from gone; return null; end $$`)
      await sql(`create trigger count_purged after delete on events referencing old table as gone
        for each statement execute function count_purged()`)
      assert.equal((await purgeAll()).events, old)
      for (const { events } of await sql('select events::integer from purged_at_once')) sizes.push(events)
      await sql('drop trigger count_purged on events')
      await sql('drop table purged_at_once')
      return Math.max(...sizes)
    }
    assert.equal(await largest(), 100)
    const left = await sql(
      `select (select count(*) from events)::integer as events, (select count(*) from webhook_deliveries)::integer as deliveries,
        (select count(*) from webhook_attempts)::integer as attempts`,
    )
    assert.deepEqual(left, [{ events: young, deliveries: young, attempts: young * 2 }])
    assert.deepEqual(await purgeAll(), nothing)
  })

  test('leaves what someone is working on, and takes it the next time', async () => {
    const { id } = await caller.addAccountWithSides()
    await caller.expect(caller.call('deleteAccount', { id }))
    await ageAccount(id, '31 days')
    await withSession(service.databaseUrl, async (session) => {
      await session.query('begin')
      await session.query('select from accounts where id = $1 for no key update', [id])
      assert.deepEqual(await purgeAll(), nothing)
      await session.query('rollback')
    })
    assert.deepEqual(await purgeAll(), { ...nothing, accounts: 1 })
  })

  /** Transfers that ended this long ago, each of a separate connection in one account. */
  const addTransfers = async (...ages: string[]) => {
    const first = await addAccountWithConnection(caller, inbox.folder)
    const { accountId } = first
    const ended: { id: string; connectionId: string }[] = []
    for (const age of ages) {
      const connection = ended.length === 0 ? first : await addConnection(caller, accountId)
      const id = await addEndedTransfer(service, caller, connection)
      await sql(`update transfers set finished_time = now() - $2::interval where id = $1`, id, age)
      ended.push({ id, connectionId: connection.id })
    }
    return { accountId, ended, ids: ended.map(({ id }) => id) }
  }
  const rejectsOf = async (accountId: string, { id, connectionId }: { id: string; connectionId: string }) =>
    (await caller.expect(caller.call('listRejects', { accountId, id: connectionId, transferId: id }))).length
  const keysOf = async (ids: string[]) =>
    (await sql(`select 1 from data_keys k join transfers t on t.data_key_id = k.id where t.id = any($1)`, ids)).length
  const replay = (accountId: string, { id, connectionId }: { id: string; connectionId: string }) =>
    caller.call('replayTransfer', { accountId, id: connectionId, transferId: id })

  test('removes rejected records after their days, with the key that they were sealed under, and no younger ones', async () => {
    const { accountId, ended, ids } = await addTransfers('7 days 1 second', '6 days 23 hours 59 minutes')
    const [old, young] = ended
    assert(old && young)
    assert.equal(await keysOf(ids), 2)
    assert.deepEqual(await purgeAll(), { ...nothing, rejects: 1, dataKeys: 1 })
    assert.deepEqual([await rejectsOf(accountId, old), await rejectsOf(accountId, young)], [0, 1])
    assert.equal(await keysOf(ids), 1)
    const refused = await replay(accountId, old)
    assert.deepEqual([refused.status, refused.error], [409, 'nothing_to_replay'])
    assert.equal((await replay(accountId, young)).status, 202)
    const kept = await caller.expect(
      caller.call('getTransfer', { accountId, id: old.connectionId, transferId: old.id }),
    )
    assert.deepEqual(kept.records, { read: 2, sent: 2, accepted: 1, rejected: 1 }, 'the account of the rows stays')
    await assertInvariants(service.database.pool)
  })

  test('leaves rejected records that are being sent again, and those of a transfer that has not ended', async () => {
    const { accountId, ended } = await addTransfers('8 days', '8 days')
    const [again, other] = ended
    assert(again && other)
    const { id: replayId } = await caller.expect(replay(accountId, again))
    await sql(`update transfers set status = 'running', finished_time = null where id = $1`, other.id)
    assert.deepEqual(await purgeAll(), nothing)
    await sql(
      `update transfers set status = 'partial', finished_time = now() - interval '8 days' where id = $1`,
      other.id,
    )
    await caller.expect(caller.call('cancelTransfer', { accountId, id: again.connectionId, transferId: replayId }))
    assert.deepEqual(await purgeAll(), { ...nothing, rejects: 2, dataKeys: 2 })
  })

  test('removes with a connection its transfers, schedule and state; the ledger stays until the account goes', async () => {
    const { accountId, ended, ids } = await addTransfers('1 day', '1 day')
    const [gone, live] = ended
    assert(gone && live)
    for (const { connectionId: id } of ended) {
      await caller.expect(caller.call('setSchedule', { accountId, id, body: { cron: '0 6 * * *' } }))
      await sql(`insert into probes (connection_id, next_time) values ($1, now())`, id)
      await sql(`insert into connection_states (connection_id, pending) values ($1, 1)`, id)
    }
    await caller.expect(caller.call('deleteConnection', { accountId, id: gone.connectionId }))
    await ageConnection(gone.connectionId, '29 days 23 hours 59 minutes')
    assert.deepEqual(await purgeAll(), nothing)
    await ageConnection(gone.connectionId, '30 days 1 second')
    assert.deepEqual(await purgeAll(), { ...nothing, transfers: 1, connections: 1, dataKeys: 1 })
    assert.deepEqual(await kept('transfers', ids), [live.id])
    const ofConnections = ended.map(({ connectionId }) => connectionId)
    for (const table of ['schedules', 'probes', 'connection_states']) {
      const rows = await sql(`select connection_id as id from ${table} where connection_id = any($1)`, ofConnections)
      assert.deepEqual(rows, [{ id: live.connectionId }], table)
    }
    const ledger = () => sql(`select transfer_id from ledger where account_id = $1`, accountId)
    assert.equal((await ledger()).length, 2)
    assert.equal((await caller.expect(caller.call('getAccount', { id: accountId }))).volume, 2)
    await assertInvariants(service.database.pool)

    await caller.expect(caller.call('deleteAccount', { id: accountId }))
    await ageAccount(accountId, '29 days 23 hours 59 minutes')
    assert.deepEqual(await purgeAll(), nothing)
    await ageAccount(accountId, '30 days 1 second')
    const all = { transfers: 1, connections: 1, dataKeys: 1, ledgerEntries: 2, accounts: 1 }
    assert.deepEqual(await purgeAll(), { ...nothing, ...all })
    assert.deepEqual(await ledger(), [])
  })
})
