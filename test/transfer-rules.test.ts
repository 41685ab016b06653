import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OperationId } from '@penstock/wire'
import {
  addAccountWithConnection,
  addConnection,
  addEndedTransfer,
  addFolder,
  type Connection,
  localFolder,
} from './harness/connections.ts'
import { callerOf, connectorBySlug, source, sourceSettings } from './harness/fixtures.ts'
import { type CallOptions, type Reply, startTestService } from './harness/service.ts'
import { claimed } from './harness/standings.ts'
import { startTestsWithInbox } from './harness/started.ts'
import { addsWithdrawn } from './harness/withdrawn.ts'

/** Operations on transfers, and the states that allow them. No worker runs, so a transfer that is started waits. */

const { service, inbox } = await startTestsWithInbox({ invariants: true })
const caller = callerOf(service, await service.addOrganization())

const newConnection = () => addAccountWithConnection(caller, inbox.folder)
const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
const start = (connection: Connection, body: CallOptions<'startTransfer'>['body'] = {}) =>
  caller.call('startTransfer', { ...connection, body })
const started = async (connection: Connection) => (await caller.expect(start(connection))).id
const transfersOf = async (connection: Connection) => caller.expect(caller.call('listTransfers', connection))
const setStatus = (connection: Connection, action: 'activate' | 'enable' | 'disable') =>
  caller.expect(caller.call('updateConnectionStatus', { ...connection, body: { action } }))

function assertRefused(reply: Reply<unknown>, status: number, error: string, fields?: string[]): void {
  assert.deepEqual([reply.status, reply.error], [status, error], reply.text)
  if (!fields) return
  assert.deepEqual(
    reply.details.map(({ field }) => field),
    fields,
  )
}

/** A destination that data cannot move to: it is withdrawn, and kept by accounts that added it before. */
const unmoved = connectorBySlug('adikteev-custom-audience')

describe('start', () => {
  test('begins a transfer once; a call meanwhile is answered with the same one', async () => {
    const connection = await newConnection()
    const first = await start(connection)
    assert.deepEqual([first.status, first.response.status, first.response.trigger], [202, 'queued', 'manual'])
    const again = await start(connection)
    assert.deepEqual([again.status, again.response], [200, first.response])
    assert.equal((await transfersOf(connection)).length, 1)
  })

  test('of twenty at once begins one, and all answer it', async () => {
    for (let round = 0; round < 5; round++) {
      const connection = await newConnection()
      const replies = await Promise.all(Array.from({ length: 20 }, () => start(connection)))
      assert.equal(new Set(replies.map(({ response }) => response.id)).size, 1)
      const statuses = replies.map(({ status }) => status).sort()
      assert.deepEqual(statuses, [...Array(19).fill(200), 202])
      assert.equal((await transfersOf(connection)).length, 1)
    }
  })

  test('begins another one once the one before has ended', async () => {
    const connection = await newConnection()
    const first = await started(connection)
    await caller.expect(caller.call('cancelTransfer', { ...connection, transferId: first }))
    const second = await start(connection)
    assert.equal(second.status, 202)
    assert.deepEqual(
      (await transfersOf(connection)).map(({ id, status }) => [id, status]),
      [
        [second.response.id, 'queued'],
        [first, 'cancelled'],
      ],
      'newest first',
    )
  })

  test('is refused by a connection that is not active, whatever else it is', async () => {
    const { accountId } = await newConnection()
    const body = {
      name: 'New',
      srcConnectorId: localFolder.id,
      destConnectorId: localFolder.id,
      srcConnectionConfig: { files: 'people.csv' },
    }
    const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
    const connection = { accountId, id }
    assertRefused(await start(connection), 409, 'connection_not_active')
    await setStatus(connection, 'activate')
    for (const status of ['broken', 'offline']) {
      await sql('update connections set status = $2 where id = $1', id, status)
      assertRefused(await start(connection), 409, 'connection_not_active')
    }
    await setStatus(connection, 'disable')
    assertRefused(await start(connection), 409, 'connection_not_active')
    await caller.expect(caller.call('deleteConnection', connection))
    assertRefused(await start(connection), 409, 'connection_not_active')
    assert.deepEqual(await transfersOf(connection), [])
    await sql(`update connections set deleted_time = now() - interval '30 days 1 second' where id = $1`, id)
    const operations = ['startTransfer', 'listTransfers', 'previewConnection', 'getSchedule'] as const
    for (const operation of operations) {
      const call = { ...connection, ...(operation.startsWith('s') || operation.startsWith('p') ? { body: {} } : {}) }
      assertRefused(await caller.call(operation as 'startTransfer', call), 404, 'not_found')
    }
  })

  test('is refused in a disabled account, and by a replay there too', async () => {
    const connection = await newConnection()
    const transferId = await addEndedTransfer(service, caller, connection)
    const { accountId } = connection
    await caller.expect(caller.call('editAccount', { id: accountId, body: { enabled: false } }))
    assertRefused(await start(connection), 409, 'account_disabled')
    assertRefused(await caller.call('replayTransfer', { ...connection, transferId }), 409, 'account_disabled')
    await caller.expect(caller.call('editAccount', { id: accountId, body: { enabled: true } }))
    assert.equal((await start(connection)).status, 202)
  })

  test('is refused where data cannot move, with the end that is to blame; so are a preview, a schedule and a check', async () => {
    const { id: accountId } = await caller.addAccount()
    await addFolder(caller, accountId, inbox.folder)
    await service.database.pool.query(addsWithdrawn(accountId, unmoved))
    const body = { name: 'Not yet', srcConnectorId: localFolder.id, destConnectorId: unmoved.id }
    const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
    await sql(`update connections set status = 'active' where id = $1`, id)
    const connection = { accountId, id }
    const asked: [OperationId, object][] = [
      ['startTransfer', {}],
      ['previewConnection', {}],
      ['setSchedule', { cron: '0 6 * * *' }],
    ]
    for (const [operation, body] of asked) {
      const reply = await caller.call(operation as 'startTransfer', { ...connection, body })
      assertRefused(reply, 422, 'transfer_not_supported', ['destConnector'])
    }
    assertRefused(await caller.call('checkConnector', { accountId, id: unmoved.id }), 422, 'check_not_supported')
  })

  test('reads settings for one time as those of the connection are read, and keeps the connection’s own', async () => {
    const connection = await newConnection()
    const before = await caller.expect(caller.call('getConnection', connection))
    const wrong = {
      srcConnectionConfig: { files: ['people.csv'], folder: '/etc' },
      destConnectionConfig: { unknown: 1, prefix: 7 },
    }
    const fields = [
      'body.srcConnectionConfig.files',
      'body.srcConnectionConfig.folder',
      'body.destConnectionConfig.unknown',
      'body.destConnectionConfig.prefix',
    ]
    assertRefused(await start(connection, wrong as never), 400, 'invalid_request', fields)
    const { confirm: _, ...preview } = { confirm: true, ...wrong }
    const previewed = await caller.call('previewConnection', { ...connection, body: preview as never })
    assertRefused(previewed, 400, 'invalid_request', fields)
    const mapping = { destConnectionConfig: { mapping: '{"name": {"hash": "sha256"}}' } }
    const place = 'body.destConnectionConfig.mapping.name'
    assertRefused(await start(connection, mapping), 400, 'invalid_request', [place])
    assertRefused(await start(connection, { confirm: 'yes' } as never), 400, 'invalid_request', ['body.confirm'])
    assert.deepEqual(await transfersOf(connection), [])
    assert.equal((await start(connection, { srcConnectionConfig: { files: 'other.csv' } })).status, 202)
    assert.deepEqual(await caller.expect(caller.call('getConnection', connection)), before)
  })
})

describe('cancel', () => {
  test('ends a transfer that waits at once; again it changes nothing', async () => {
    const connection = await newConnection()
    const transferId = await started(connection)
    const cancelled = await caller.expect(caller.call('cancelTransfer', { ...connection, transferId }))
    assert.deepEqual([cancelled.status, cancelled.error, cancelled.startedTime], ['cancelled', null, null])
    assert.notEqual(cancelled.finishedTime, null)
    assert.deepEqual(await caller.expect(caller.call('cancelTransfer', { ...connection, transferId })), cancelled)
  })

  test('has the worker that runs it end it, and leaves its status to that worker', async () => {
    const connection = await newConnection()
    const transferId = await started(connection)
    await sql(claimed(), transferId)
    const reported = await caller.expect(caller.call('cancelTransfer', { ...connection, transferId }))
    assert.deepEqual([reported.status, reported.finishedTime], ['running', null])
    assert.deepEqual(await sql('select cancelling from transfers where id = $1', transferId), [{ cancelling: true }])
    assert.equal((await start(connection)).response.id, transferId, 'it is active until it has ended')
  })

  test('is refused by a transfer that has ended', async () => {
    const connection = await newConnection()
    const transferId = await addEndedTransfer(service, caller, connection)
    for (const status of ['partial', 'failed']) {
      await sql('update transfers set status = $2 where id = $1', transferId, status)
      assertRefused(await caller.call('cancelTransfer', { ...connection, transferId }), 409, 'transfer_ended')
    }
  })

  test('of several at once, and a start beside them, leaves one truth', async () => {
    for (let round = 0; round < 10; round++) {
      const connection = await newConnection()
      const transferId = await started(connection)
      const cancel = () => caller.call('cancelTransfer', { ...connection, transferId })
      const [one, other, begun] = await Promise.all([cancel(), cancel(), start(connection)])
      assert.deepEqual([one.response.status, other.response.status], ['cancelled', 'cancelled'])
      const isNew = begun.response.id !== transferId
      assert.equal(begun.status, isNew ? 202 : 200)
      assert.equal((await transfersOf(connection)).length, isNew ? 2 : 1)
    }
  })
})

describe('replay', () => {
  test('begins a transfer of its own, and never a second one beside another', async () => {
    const connection = await newConnection()
    const transferId = await addEndedTransfer(service, caller, connection)
    const replay = () => caller.call('replayTransfer', { ...connection, transferId })
    const replies = await Promise.all(Array.from({ length: 10 }, replay))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [...Array(9).fill(200), 202])
    const { response } = await start(connection)
    assert.equal(response.trigger, 'replay')
    assert.deepEqual([...new Set(replies.map((reply) => reply.response.id))], [response.id])
  })

  test('is refused where there is nothing that could be sent again', async () => {
    const connection = await newConnection()
    const replay = (transferId: string) => caller.call('replayTransfer', { ...connection, transferId })
    const transferId = await started(connection)
    assertRefused(await replay(transferId), 409, 'nothing_to_replay')
    await caller.expect(caller.call('cancelTransfer', { ...connection, transferId }))
    assertRefused(await replay(transferId), 409, 'nothing_to_replay')
    const ended = await addEndedTransfer(service, caller, connection)
    await sql('update rejects set row = null, sealed = null where transfer_id = $1', ended)
    assertRefused(await replay(ended), 409, 'nothing_to_replay')
    await setStatus(connection, 'disable')
    await sql(`update rejects set sealed = '\\x00' where transfer_id = $1`, ended)
    assertRefused(await replay(ended), 409, 'connection_not_active')
  })
})

describe('the list of transfers', () => {
  test('is paged, newest first, and kept to a status', async () => {
    const connection = await newConnection()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      const id = await started(connection)
      await caller.expect(caller.call('cancelTransfer', { ...connection, transferId: id }))
      ids.unshift(id)
    }
    const ended = await addEndedTransfer(service, caller, connection)
    const waiting = await started(connection)
    const list = (query: Record<string, string | number>) => caller.call('listTransfers', { ...connection, query })
    const first = await list({ size: 2 })
    assert.deepEqual([first.headers['x-total-count'], first.response.map(({ id }) => id)], ['7', [waiting, ended]])
    assert.match(
      first.headers.link ?? '',
      new RegExp(`/connections/${connection.id}/transfers\\?[^>]*offset=2[^>]*>; rel="next"`),
    )
    const second = await list({ size: 3, offset: 2 })
    assert.deepEqual(
      second.response.map(({ id }) => id),
      ids.slice(0, 3),
    )
    for (const [status, expected] of Object.entries({
      cancelled: ids,
      partial: [ended],
      queued: [waiting],
      failed: [],
    })) {
      const { response, headers } = await list({ status })
      assert.deepEqual(
        response.map(({ id }) => id),
        expected,
      )
      assert.equal(headers['x-total-count'], String(expected.length))
    }
    assertRefused(await list({ status: 'done' }), 400, 'invalid_request', ['query.status'])
  })
})

describe('check', () => {
  test('is refused before the connector is added, and before it is configured', async () => {
    const { id: accountId } = await caller.addAccount()
    const check = () => caller.call('checkConnector', { accountId, id: localFolder.id })
    assertRefused(await check(), 409, 'connector_not_added')
    await caller.addConnectors(accountId, localFolder)
    assertRefused(await check(), 409, 'connector_not_configured')
    const unknown = await caller.call('checkConnector', { accountId, id: '0123456789abcdef' })
    assertRefused(unknown, 404, 'not_found')
  })

  test('names each step, and the one that fails', async () => {
    const { accountId } = await newConnection()
    const check = () => caller.expect(caller.call('checkConnector', { accountId, id: localFolder.id }))
    const good = await check()
    assert.deepEqual([good.ok, good.error], [true, null])
    assert.deepEqual(
      good.checks.map(({ name, ok }) => [name, ok]),
      [
        ['connectivity', true],
        ['permissions', true],
      ],
    )
    for (const folder of [`${inbox.folder}/nowhere`, '/etc']) {
      const body = { secretConfig: { folder } }
      await caller.expect(caller.call('configureConnector', { accountId, id: localFolder.id, body }))
      const bad = await check()
      assert.deepEqual([bad.ok, bad.checks[0]?.name, bad.checks[0]?.ok], [false, 'connectivity', false])
      assert.match(bad.message, /^connectivity: .*folder/i)
      assert.deepEqual([bad.error?.side, bad.error?.connectorId], ['source', localFolder.id])
    }
  })
})

test('a connection of which only one connector moves data is refused before its settings are read', async () => {
  const destination = connectorBySlug('adikteev-custom-audience')
  assert(!destination.destination?.deliver, 'choose another pair')
  const { id: accountId } = await caller.addAccountWithSides()
  await service.database.pool.query(addsWithdrawn(accountId, destination))
  const body = {
    name: 'Cloud',
    srcConnectorId: source.id,
    destConnectorId: destination.id,
    srcConnectionConfig: sourceSettings,
    destConnectionConfig: {},
  }
  const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
  const wrong = { srcConnectionConfig: { unknown: 1 } }
  const reply = await caller.call('startTransfer', { accountId, id, body: wrong })
  assertRefused(reply, 422, 'transfer_not_supported', ['destConnector'])
  assert.deepEqual(await caller.expect(caller.call('listTransfers', { accountId, id })), [])
})

test('the metrics report how many transfers wait and run, and how long the first has waited', async () => {
  const own = await startTestService(inbox.env)
  try {
    const ofOwn = callerOf(own, await own.addOrganization())
    const ids: string[] = []
    for (const _ of [1, 2, 3]) {
      const connection = await addAccountWithConnection(ofOwn, inbox.folder)
      ids.push((await ofOwn.expect(ofOwn.call('startTransfer', { ...connection, body: {} }))).id)
    }
    const { pool } = own.database
    await pool.query(`update transfers set created_time = now() - interval '90 seconds' where id = $1`, [ids[0]])
    await pool.query(claimed(), [ids[1]])
    const { text } = await own.send({ method: 'GET', path: '/metrics' })
    assert.match(text, /^penstock_transfers\{status="queued"\} 2$/m)
    assert.match(text, /^penstock_transfers\{status="running"\} 1$/m)
    const waited = Number(/^penstock_transfers_oldest_wait_seconds (\S+)$/m.exec(text)?.[1])
    assert(waited >= 90, `${waited}`)
  } finally {
    await own.close()
  }
})

test('a connection beside another one in the same account runs on its own', async () => {
  const one = await newConnection()
  const other = await addConnection(caller, one.accountId, 'Other')
  const ids = [await started(one), await started(other)]
  assert.notEqual(ids[0], ids[1])
  for (const [at, connection] of [one, other].entries()) {
    assert.deepEqual(
      (await transfersOf(connection)).map(({ id }) => id),
      [ids[at]],
    )
  }
})
