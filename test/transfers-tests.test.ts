import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ConnectorError, type Json } from '@penstock/connector'
import { factsOf } from '../packages/server/src/alerts/check-queries.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { startDue } from '../packages/server/src/transfers/supervisor/due-schedules.ts'
import { assertAccounted } from './harness/accounting.ts'
import { lookAtAlerts } from './harness/alerts.ts'
import {
  addAccountWithConnection,
  addEndedTransfer,
  type Connection,
  type Inbox,
  makeInbox,
} from './harness/connections.ts'
import { addWebhook, startEndpoint, webhook } from './harness/endpoint.ts'
import { type Engine, numbersIn, people, startEngine, type TestSource, taken } from './harness/engine.ts'
import { engineOf } from './harness/engine-of.ts'
import { type Caller, callerOf, connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { startTestService, type TestService } from './harness/service.ts'
import { ended } from './harness/standings.ts'
import { impatient } from './harness/supervision.ts'
import { large } from './harness/tiers.ts'
import { postgresql } from './harness/transfers.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/** Test transfers: a few records that are really sent, and change nothing for the transfers that follow. */

const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, i) => from + i)
const testOf = (rows: number) => ({ test: { rows } })

describe('a test transfer', () => {
  let engine: Engine
  /** The numbers of the rows of each batch that the destination took, and the key of the batch. */
  const sent: { numbers: number[]; key: string }[] = []
  const numbersSent = () => sent.flatMap(({ numbers }) => numbers)
  before(async () => {
    engine = await startEngine({ retry: impatient })
  })
  after(async () => {
    await assertInvariants(engine.service.database.pool)
    await engine.close()
  })
  beforeEach(() => {
    sent.length = 0
    delete engine.sides.source
    engine.sides.destination = { open: () => ({ deliver: async (batch) => take(batch) }) }
  })
  const take = (batch: Parameters<typeof taken>[0], more: Parameters<typeof taken>[1] = {}) => {
    sent.push({ numbers: numbersIn(batch), key: batch.key })
    return taken(batch, more)
  }

  test('really sends its first records and no more, and the next transfer sends all', async () => {
    engine.sides.source = people(25)
    const id = await engine.connectSides()
    for (const [rows, read] of [
      [1, 1],
      [10, 10],
      [17, 17],
      [1_000, 25],
    ] as const) {
      sent.length = 0
      const transfer = await engine.move(id, testOf(rows))
      assert.deepEqual([transfer.status, transfer.test, transfer.progress], ['succeeded', true, 1])
      assert.deepEqual(transfer.records, { read, sent: read, accepted: read, rejected: 0 })
      assert.deepEqual(numbersSent(), upTo(read))
      await assertAccounted(engine, transfer)
    }
    sent.length = 0
    const whole = await engine.move(id)
    assert.deepEqual([whole.test, whole.records.read], [false, 25])
    assert.deepEqual(numbersSent(), upTo(25))
    await assertAccounted(engine, whole)
  })

  test('accounts for its records, and keeps rejected ones with their reasons', async () => {
    engine.sides.source = people(25)
    engine.sides.destination = {
      open: () => ({
        deliver: async (batch) => take(batch, { rejected: [{ index: 1, reason: 'no such name', field: 'name' }] }),
      }),
    }
    const { caller, accountId } = engine
    const id = await engine.connectSides()
    const transfer = await engine.move(id, testOf(12))
    assert.deepEqual(
      [transfer.status, transfer.records],
      ['partial', { read: 12, sent: 12, accepted: 10, rejected: 2 }],
    )
    await assertAccounted(engine, transfer)
    const of = { accountId, id, transferId: transfer.id }
    const rejects = await caller.expect(caller.call('listRejects', of))
    assert.deepEqual(
      rejects.map(({ row, reason }) => [row, reason]),
      [
        [2, 'no such name'],
        [12, 'no such name'],
      ],
    )
    // The next transfer reads them again.
    assert.deepEqual(await caller.expect(caller.call('getReplayable', of)), { replayable: 0, replayed: 0, notKept: 2 })
    const replay = await caller.call('replayTransfer', of)
    assert.deepEqual([replay.status, replay.error, replay.details[0]?.field], [409, 'nothing_to_replay', 'transferId'])
    assert.match(replay.text, /is a test/)
  })

  test('is in no volume and no report', async () => {
    engine.sides.source = people(25)
    const { caller, accountId } = engine
    const volumes = async (id: string) => {
      const { totalVolume, usedVolume, monthlyVolume } = await engine.connection(id)
      const query = { connectionIds: id }
      const [report] = await caller.expect(caller.call('reportConnections', { accountId, query }))
      return { totalVolume, usedVolume, monthlyVolume, reported: report?.total.accepted }
    }
    const ofAccount = async () => (await caller.expect(caller.call('getAccount', { id: accountId }))).volume
    const id = await engine.connectSides()
    const before = await ofAccount()
    await engine.move(id, testOf(10))
    assert.deepEqual(await volumes(id), { totalVolume: 0, usedVolume: 0, monthlyVolume: 0, reported: 0 })
    assert.equal(await ofAccount(), before)
    await engine.move(id)
    assert.deepEqual(await volumes(id), { totalVolume: 25, usedVolume: 25, monthlyVolume: 25, reported: 25 })
    assert.equal(await ofAccount(), before + 25)
  })

  /** Rows behind a cursor, seven to a chunk, each with the cursor after it. */
  const incremental = (count: number): TestSource =>
    function* ({ cursor }, after) {
      for (let done = Number(after ?? cursor ?? 0); done < count; ) {
        const begun = done
        const rows = upTo(Math.min(7, count - done), done + 1).map((number) => [number, 'someone'])
        done += rows.length
        const cursorAfter = (n: number) => begun + n
        yield { columns: ['number', 'name'], rows, bytes: rows.length, checkpoint: done, cursorAfter }
      }
    }

  test('reads behind the cursor of its connection, and moves neither the cursor nor the batch in doubt', async () => {
    engine.sides.source = incremental(40)
    const id = await engine.connectSides()
    const stateOf = () =>
      engine.sql('select cursor_sealed, pending, data_key_id from connection_states where connection_id = $1', id)
    // The second batch is taken, and its confirmation is lost.
    engine.sides.destination = {
      open: () => ({
        deliver: async (batch) => {
          const delivery = take(batch)
          if (batch.firstRow > 1) throw new ConnectorError('request_refused', 'Lost.')
          return delivery
        },
      }),
    }
    const failed = await engine.move(id)
    assert.deepEqual([failed.status, failed.records.accepted], ['failed', 10])
    const doubtful = sent.at(-1)
    const state = await stateOf()

    sent.length = 0
    engine.sides.destination = { open: () => ({ deliver: async (batch) => take(batch) }) }
    const transfer = await engine.move(id, testOf(10))
    assert.equal(transfer.status, 'succeeded')
    assert.deepEqual(numbersSent(), upTo(10, 11))
    assert.notEqual(
      sent[0]?.key,
      doubtful?.key,
      'a destination does not take the rows of a test for those of a transfer',
    )
    assert.deepEqual(await stateOf(), state)

    sent.length = 0
    const next = await engine.move(id)
    assert.deepEqual([next.status, next.records.read], ['succeeded', 30])
    assert.deepEqual(sent[0], doubtful, 'the batch in doubt comes again under its key')
    assert.deepEqual(numbersSent(), upTo(30, 11))

    sent.length = 0
    const nothing = await engine.move(id, testOf(10))
    assert.deepEqual([nothing.status, nothing.records.read, sent], ['succeeded', 0, []])
  })

  test('keeps what its destination made for the connection, which the next transfer uses', async () => {
    const seen: (Json | undefined)[] = []
    engine.sides.destination = {
      open: ({ state }) => ({
        deliver: async (batch) => {
          seen.push(state)
          return taken(batch, { state: { audience: 'A' } })
        },
      }),
    }
    const id = await engine.connectSides()
    await engine.move(id, testOf(3))
    await engine.move(id)
    assert.deepEqual(seen.slice(0, 2), [undefined, { audience: 'A' }])
  })

  test('is known to its destination, and is no other transfer', async () => {
    const seen: unknown[] = []
    engine.sides.destination = {
      open: (context) => {
        seen.push(context.test)
        return { deliver: async (batch) => taken(batch) }
      },
    }
    const id = await engine.connectSides()
    await engine.move(id, testOf(3))
    await engine.move(id)
    assert.deepEqual(seen, [true, false])
  })

  test('that fails leaves the connection active, and is no reason for attention', async () => {
    const { caller, accountId } = engine
    for (const code of ['invalid_credentials', 'unreachable', 'invalid_setting'] as const) {
      engine.sides.destination = {
        open: () => {
          throw new ConnectorError(code, 'No.')
        },
      }
      const id = await engine.connectSides()
      const transfer = await engine.move(id, testOf(3))
      assert.deepEqual([transfer.status, transfer.error?.code], ['failed', code])
      assert.equal((await engine.connection(id)).status, 'active')
      const attention = await caller.expect(caller.call('listAttention', { accountId, query: {} }))
      assert(!attention.some((entry) => entry.id === id))
      assert.equal((await engine.move(id)).error?.code, code)
      assert.notEqual((await engine.connection(id)).status, 'active', 'and a transfer does not')
    }
  })

  test('that is given to other workers again and again continues, and never sends another record', async () => {
    engine.sides.source = people(60)
    for (const holds of [false, true]) {
      sent.length = 0
      const id = await engine.connectSides()
      const { id: transferId } = await engine.start(id, testOf(33))
      for (let round = 0; round < 12; round++) {
        const stopping = new AbortController()
        const held: number[] = []
        engine.sides.destination = {
          open: () => ({
            deliver: async (batch) => {
              held.push(...numbersIn(batch))
              const delivery = take(
                batch,
                holds && held.length < 12 ? { held: true } : { deliveryState: batch.firstRow },
              )
              if (sent.length % 3 === 0) stopping.abort()
              return delivery
            },
          }),
        }
        await engine.work(stopping.signal)
      }
      const transfer = await engine.get(id, transferId)
      assert.deepEqual([transfer.status, transfer.records.read], ['succeeded', 33])
      assert(transfer.attempt > 1)
      assert.deepEqual(
        [...new Set(numbersSent())].sort((a, b) => a - b),
        upTo(33),
      )
      await assertAccounted(engine, transfer)
    }
  })
})

describe('the start of a test', () => {
  let inbox: Inbox
  let service: TestService
  let caller: Caller
  let organizationId: string
  before(async () => {
    inbox = await makeInbox()
    service = await startTestService(inbox.env)
    const organization = await service.addOrganization()
    organizationId = organization.organizationId
    caller = callerOf(service, organization)
  })
  after(async () => {
    await assertInvariants(service.database.pool)
    await service.close()
    await inbox.remove()
  })
  const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
  const newConnection = () => addAccountWithConnection(caller, inbox.folder)
  const start = (connection: Connection, body: object = {}) => caller.call('startTransfer', { ...connection, body })
  const started = async (connection: Connection, body: object = {}) => caller.expect(start(connection, body))
  const end = async (id: string, status: string, code: string | null = null) => {
    await sql('update transfers set error_code = $2, error_message = $2 where id = $1', id, code)
    await sql(ended(status), id)
  }
  const transfersOf = (connection: Connection) => caller.expect(caller.call('listTransfers', connection))
  const latestOf = ({ accountId, id }: Connection) =>
    caller.expect(caller.call('listAllTransfers', { accountId, query: { latest: true, connectionIds: id } }))

  test('takes 1 to 1,000 rows', async () => {
    const connection = await newConnection()
    for (const body of [
      testOf(0),
      testOf(1_001),
      testOf(1.5),
      { test: {} },
      { test: true },
      { test: { rows: 1, n: 1 } },
    ]) {
      const refused = await start(connection, body)
      assert.deepEqual([refused.status, refused.error], [400, 'invalid_request'], JSON.stringify(body))
    }
    assert.deepEqual(await transfersOf(connection), [])
    const reply = await start(connection, testOf(1_000))
    assert.deepEqual([reply.status, reply.response.test, reply.response.trigger], [202, true, 'manual'])
  })

  test('is refused by a connection that is not active: data moves only then', async () => {
    const connection = await newConnection()
    for (const status of ['In-progress', 'broken', 'offline']) {
      await sql('update connections set status = $2 where id = $1', connection.id, status)
      const refused = await start(connection, testOf(10))
      assert.deepEqual([refused.status, refused.error], [409, 'connection_not_active'])
    }
    await sql(`update connections set status = 'active' where id = $1`, connection.id)
  })

  test('is refused by a destination that replaces everything, by a setting of the connection or of the transfer', async () => {
    const audiences = connectorBySlug('meta-custom-audiences')
    const { accountId, id: folder } = await newConnection()
    assert(folder)
    await caller.addConnectors(accountId, audiences)
    const secretConfig = { authType: 'api-token', accessToken: 'canary' }
    await caller.expect(caller.call('configureConnector', { accountId, id: audiences.id, body: { secretConfig } }))
    for (const replaces of [true, false]) {
      const audience = { advertiserId: '1', replaceExistingAudience: replaces }
      const body = {
        name: 'Audience',
        srcConnectorId: connectorBySlug('local-folder').id,
        destConnectorId: audiences.id,
        srcConnectionConfig: { files: 'people.csv' },
        destConnectionConfig: audience,
      }
      const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
      const connection = { accountId, id }
      await caller.expect(caller.call('updateConnectionStatus', { ...connection, body: { action: 'activate' } }))
      const forOne = { ...testOf(10), destConnectionConfig: { replaceExistingAudience: true } }
      for (const given of replaces ? [testOf(10), forOne] : [forOne]) {
        const refused = await start(connection, given)
        assert.deepEqual([refused.status, refused.error], [422, 'test_not_supported'], refused.text)
        assert.match(refused.text, /replaces everything/)
      }
      assert.deepEqual(await transfersOf(connection), [])
      if (!replaces) assert.equal((await start(connection, testOf(10))).status, 202)
    }
  })

  test('is answered with the test that is active, and neither a test nor a transfer with the other', async () => {
    const connection = await newConnection()
    const rejected = await addEndedTransfer(service, caller, connection)
    const first = await started(connection, testOf(10))
    const again = await start(connection, testOf(20))
    assert.deepEqual([again.status, again.response], [200, first])
    const replay = () => caller.call('replayTransfer', { ...connection, transferId: rejected })
    for (const refused of [await start(connection), await replay()]) {
      assert.deepEqual([refused.status, refused.error], [409, 'transfer_active'])
    }
    await caller.expect(caller.call('cancelTransfer', { ...connection, transferId: first.id }))
    const real = await started(connection)
    const refused = await start(connection, testOf(10))
    assert.deepEqual([refused.status, refused.error], [409, 'transfer_active'])
    assert.deepEqual(await start(connection).then(({ response }) => response), real)
  })

  test('leaves the newest transfer of the connection as it is', async () => {
    const connection = await newConnection()
    await end((await started(connection, testOf(10))).id, 'succeeded')
    assert.deepEqual(await latestOf(connection), [])
    const real = await started(connection)
    await end(real.id, 'failed', 'unreachable')
    await end((await started(connection, testOf(10))).id, 'succeeded')
    assert.deepEqual(
      (await latestOf(connection)).map(({ id }) => id),
      [real.id],
    )
    assert.deepEqual(
      (await transfersOf(connection)).map((transfer) => transfer.test),
      [true, false, true],
    )
  })

  test('keeps out no scheduled transfer, which starts when the test has ended', async () => {
    const connection = await newConnection()
    const schedule = { cron: '0 6 * * *', timezone: 'UTC' }
    await caller.expect(caller.call('setSchedule', { ...connection, body: schedule }))
    const { id } = await started(connection, testOf(10))
    await sql(`update schedules set next_time = now() - interval '1 second' where connection_id = $1`, connection.id)
    const tick = () => startDue(engineOf(service), createLogger('silent'))
    await tick()
    assert.equal((await transfersOf(connection)).length, 1)
    await end(id, 'succeeded')
    await tick()
    assert.deepEqual(
      (await transfersOf(connection)).map(({ trigger, test }) => [trigger, test]),
      [
        ['schedule', false],
        ['manual', true],
      ],
    )
  })

  test('opens and resolves no incident', async () => {
    const connection = await newConnection()
    // The first rule would open its own incidents.
    const [first] = await caller.expect(caller.call('listAlertRules', { query: { q: 'Failures' } }))
    if (first) await caller.expect(caller.call('deleteAlertRule', { id: first.id }))
    const { accountId } = connection
    const rule = {
      name: 'All',
      accountId,
      conditions: { transferFailed: true, rejectedPercent: 1, noSuccessHours: 1 },
      emails: ['data@example.com'],
    }
    await caller.expect(caller.call('createAlertRule', { body: rule }))
    const incidents = async (open: boolean) => {
      await sql('insert into alert_checks (connection_id) values ($1)', connection.id)
      await lookAtAlerts(service)
      return (await caller.expect(caller.call('listAlertIncidents', { accountId, query: { open } }))).length
    }
    await end((await started(connection, testOf(10))).id, 'failed', 'unreachable')
    assert.equal(await incidents(true), 0)
    await end((await started(connection)).id, 'failed', 'unreachable')
    assert.equal(await incidents(true), 1)
    await end((await started(connection, testOf(10))).id, 'succeeded')
    assert.equal(await incidents(true), 1)
    await end((await started(connection)).id, 'succeeded')
    assert.equal(await incidents(true), 0)
    // Rules do not treat the success of a test as a success.
    await sql(`update connections set created_time = now() - interval '3 hours' where id = $1`, connection.id)
    await sql(
      `update connection_events set created_time = now() - interval '3 hours' where connection_id = $1`,
      connection.id,
    )
    await sql(
      `update transfers set created_time = now() - interval '2 hours', finished_time = now() - interval '2 hours'
       where connection_id = $1`,
      connection.id,
    )
    await end((await started(connection, testOf(10))).id, 'succeeded')
    assert.equal(await incidents(true), 1)
  })

  test('is marked in the events of its end', async () => {
    const connection = await newConnection()
    const { accountId } = connection
    const body = { url: 'https://example.com/', accountId, eventTypes: ['transfer.succeeded' as const] }
    await caller.expect(caller.call('createWebhook', { body }))
    await end((await started(connection, testOf(10))).id, 'succeeded')
    await end((await started(connection)).id, 'succeeded')
    const events = await sql(
      `select payload::json -> 'data' -> 'test' as test from events where organization_id = $1
       and payload::json ->> 'connectionId' = $2 and type = 'transfer.succeeded' order by created_time, id`,
      ...[organizationId, connection.id],
    )
    assert.deepEqual(events.map(({ test }) => test).sort(), [false, true])
  })

  test('is no volume that an alert compares', async () => {
    const connection = await newConnection()
    const { accountId, id } = connection
    const rule = { name: 'Volume', accountId, conditions: { volumePercent: 50 }, emails: ['data@example.com'] }
    await caller.expect(caller.call('createAlertRule', { body: rule }))
    const add = (number: number, accepted: number, test: boolean) =>
      sql(
        `insert into ledger (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected,
           replayed, test, bytes)
         select 'of a test of alerts', $2, organization_id, account_id, id, (now() at time zone 'utc')::date - 1, $3, $3, 0, 0, $4, 0
         from connections where id = $1`,
        ...[id, number, accepted, test],
      )
    const volumes = async () =>
      (await factsOf.first(service.database, { connectionIds: [id], weeks: 4 }))?.volumes ?? null
    await add(1, 10, true)
    assert.equal(await volumes(), null)
    await add(2, 700, false)
    assert.deepEqual(await volumes(), [700])
    await sql(`delete from ledger where transfer_id = 'of a test of alerts'`)
  })
})

test('a test whose worker is killed continues in another one, and never sends more than its rows', large, async (t) => {
  const fixture = await startProcessFixture(t)
  const endpoint = await startEndpoint(t)
  await addWebhook(fixture, endpoint)
  await fixture.target.query('create table people (id int primary key, name text)')
  await fixture.target.query(`insert into people select i, 'Person ' || i from generate_series(1, 1000) i`)
  const id = await fixture.connect(postgresql, { table: 'people' }, webhook, { rowsPerRequest: 10 })
  let worker = fixture.spawnWorker()
  endpoint.answer = async (_, count) => {
    if (count !== 2 && count !== 5) return undefined
    worker.signal('SIGKILL')
    await worker.ended
    worker = fixture.spawnWorker()
    return 'breaks off'
  }
  const transfer = await fixture.ended(id, (await fixture.start(id, testOf(45))).id)
  assert.deepEqual([transfer.status, transfer.test, transfer.records.read], ['succeeded', true, 45])
  assert(transfer.attempt > 1)
  const ids = new Set(endpoint.messages.flatMap(({ rows }) => rows.map((row) => Number(row.id))))
  assert.deepEqual(
    [...ids].sort((a, b) => a - b),
    upTo(45),
  )
  const keys = new Map(endpoint.messages.map(({ key, rows }) => [key, rows.length]))
  assert.equal(keys.size, 5, 'a batch that comes again has the same key')
  await assertAccounted(fixture, transfer)
  await assertInvariants(fixture.service.database.pool)
})
