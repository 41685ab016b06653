import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ConnectionStatus, type ErrorCode, lifecycle, type PreviousStatus } from '@penstock/wire'
import { contentOf } from './harness/content.ts'
import { callerOf, connectorBySlug, destination, source } from './harness/fixtures.ts'
import { startTests } from './harness/started.ts'

/**
 * The lifecycle of a connection through the interface. The expected results are literal, not derived from the contract.
 */

const service = await startTests()
const caller = callerOf(service, await service.addOrganization())
const accountId = (await caller.addAccountWithSides()).id
await caller.configureSides(accountId)

const actions = ['activate', 'enable', 'disable', 'delete', 'restore'] as const
type Action = (typeof actions)[number]

/** Resulting status of an action, `same` if it changes nothing, or the code of the refusal. */
type Outcome = ConnectionStatus | 'same' | Extract<ErrorCode, `connection_${string}`>

/** The initial status. A disabled or deleted connection stores its previous status. */
type Start = Exclude<ConnectionStatus, 'disabled' | 'deleted'> | `${'disabled' | 'deleted'} from ${PreviousStatus}`

const isGone = 'connection_deleted'
const isHere = 'connection_not_deleted'
const expected: Record<Start, readonly [Outcome, Outcome, Outcome, Outcome, Outcome]> = {
  // In the order of the actions.
  'In-progress': ['active', 'same', 'disabled', 'deleted', isHere],
  active: ['same', 'same', 'disabled', 'deleted', isHere],
  broken: ['active', 'same', 'disabled', 'deleted', isHere],
  offline: ['active', 'same', 'disabled', 'deleted', isHere],
  'disabled from In-progress': ['active', 'In-progress', 'same', 'deleted', isHere],
  'disabled from active': ['active', 'active', 'same', 'deleted', isHere],
  'disabled from broken': ['active', 'broken', 'same', 'deleted', isHere],
  'disabled from offline': ['active', 'offline', 'same', 'deleted', isHere],
  'deleted from In-progress': [isGone, isGone, isGone, isGone, 'disabled'],
  'deleted from active': [isGone, isGone, isGone, isGone, 'disabled'],
  'deleted from broken': [isGone, isGone, isGone, isGone, 'disabled'],
  'deleted from offline': [isGone, isGone, isGone, isGone, 'disabled'],
}
const table = (Object.keys(expected) as Start[]).map((start) => ({
  start,
  outcomes: actions.map((action, i): [Action, Outcome] => [action, expected[start][i] as Outcome]),
}))

/** `enabled` and `deleted` by status (specification, section 2.8). */
const flags: Record<ConnectionStatus, { enabled: boolean; deleted: boolean }> = {
  'In-progress': { enabled: true, deleted: false },
  active: { enabled: true, deleted: false },
  disabled: { enabled: false, deleted: false },
  deleted: { enabled: false, deleted: true },
  broken: { enabled: true, deleted: false },
  offline: { enabled: true, deleted: false },
}

function act(id: string, action: Action, inAccount = accountId) {
  const where = { accountId: inAccount, id }
  if (action === 'delete') return caller.call('deleteConnection', where)
  if (action === 'restore') return caller.call('restoreConnection', where)
  return caller.call('updateConnectionStatus', { ...where, body: { action } })
}
const succeed = (id: string, action: Action) => caller.expect(act(id, action))
const read = (id: string) => caller.call('getConnection', { accountId, id })
const sql = (text: string, id: string) => service.database.pool.query(text, [id])

/** A connection that reached a status through the API. Transfers set broken and offline, so the test sets these directly. */
async function connectionAt(start: Start): Promise<string> {
  const { id } = await caller.createConnection(accountId)
  const [status, from = status] = start.split(' from ')
  if (from !== 'In-progress') await succeed(id, 'activate')
  if (from === 'broken') await sql(`update connections set status = 'broken' where id = $1`, id)
  if (from === 'offline') await sql(`update connections set status = 'offline' where id = $1`, id)
  if (status === 'disabled') await succeed(id, 'disable')
  if (status === 'deleted') await succeed(id, 'delete')
  // Long ago, so that a change shows in updatedTime.
  await sql(`update connections set updated_time = now() - interval '1 hour' where id = $1`, id)
  assert.equal((await read(id)).response.status, status)
  return id
}

for (const { start, outcomes } of table) {
  describe(start, () => {
    for (const [action, outcome] of outcomes) {
      test(`${action}: ${outcome}`, async () => {
        const id = await connectionAt(start)
        const [was, content] = [await read(id), await contentOf(service)]
        const reply = await act(id, action)
        const now = await read(id)
        if (outcome.startsWith('connection_')) {
          assert.deepEqual([reply.status, reply.error, reply.details], [409, outcome, []])
          assert.equal(await contentOf(service), content)
        } else if (outcome === 'same') {
          assert.equal(reply.status, 200)
          assert.deepEqual([now.text, now.headers.etag], [was.text, was.headers.etag])
          assert.equal(reply.response.updatedTime, was.response.updatedTime)
          assert.equal(await contentOf(service), content)
        } else {
          assert.equal(reply.status, 200, reply.text)
          const { status, enabled, deleted } = reply.response
          assert.deepEqual({ status, enabled, deleted }, { status: outcome, ...flags[outcome as ConnectionStatus] })
          assert(reply.response.updatedTime > was.response.updatedTime)
          assert.notEqual(now.headers.etag, was.headers.etag)
          const { srcConfigurationId, destConfigurationId, srcConnectionConfig, destConnectionConfig, ...entry } =
            now.response
          assert.deepEqual(entry, reply.response)
        }
      })
    }
  })
}

test('the contract’s table says the same', () => {
  for (const { start, outcomes } of table) {
    const [status, from] = start.split(' from ') as [ConnectionStatus, PreviousStatus?]
    for (const [action, outcome] of outcomes) {
      const transition = lifecycle[status][action]
      const to = 'refused' in transition ? transition.refused : transition.to === 'previous' ? from : transition.to
      assert.equal(to === status ? 'same' : to, outcome, `${start}, ${action}`)
    }
  }
})

describe('the previous status', () => {
  for (const from of ['In-progress', 'active', 'broken', 'offline'] as const) {
    test(`leads from deletion and restoration back to ${from}`, async () => {
      const id = await connectionAt(`deleted from ${from}`)
      assert.equal((await succeed(id, 'restore')).status, 'disabled')
      assert.equal((await succeed(id, 'enable')).status, from)
    })
    test(`leads through disabling, deletion and restoration back to ${from}`, async () => {
      const id = await connectionAt(`disabled from ${from}`)
      assert.equal((await succeed(id, 'delete')).status, 'deleted')
      assert.equal((await succeed(id, 'restore')).status, 'disabled')
      assert.equal((await succeed(id, 'disable')).status, 'disabled')
      assert.equal((await succeed(id, 'enable')).status, from)
    })
  }
})

describe('a connection that is not ready', () => {
  const missing = [
    'destConnectionConfig.database',
    'destConnectionConfig.schema',
    'destConnectionConfig.table',
    'destConnectionConfig.warehouse',
    'destConnectionConfig.writeMode',
    'destConnector',
    'srcConnectionConfig.bucketUri',
    'srcConnector',
  ]
  const fieldsOf = ({ details }: { details: { field: string }[] }) => details.map(({ field }) => field).sort()
  /** In an account if nothing is configured, without any settings. */
  async function unready(src = source, dest = destination) {
    const { id: account } = await caller.addAccount()
    await caller.addConnectors(account, src, dest)
    const body = { name: 'Unready', srcConnectorId: src.id, destConnectorId: dest.id }
    const { id } = await caller.expect(caller.call('createConnection', { accountId: account, body }))
    return { accountId: account, id }
  }

  test('is not activated, and the refusal lists everything that it lacks', async () => {
    const connection = await unready()
    const content = await contentOf(service)
    const reply = await act(connection.id, 'activate', connection.accountId)
    assert.deepEqual([reply.status, reply.error], [409, 'connection_not_ready'])
    assert.deepEqual(fieldsOf(reply), missing)
    for (const { message } of reply.details) assert.match(message, /\S/)
    assert.equal(await contentOf(service), content)
  })

  test('can be disabled, enabled back to In-progress and deleted all the same', async () => {
    const { accountId: account, id } = await unready()
    for (const [action, status] of [
      ['disable', 'disabled'],
      ['enable', 'In-progress'],
      ['delete', 'deleted'],
      ['restore', 'disabled'],
    ] as const) {
      assert.equal((await caller.expect(act(id, action, account))).status, status)
    }
    assert.deepEqual(fieldsOf(await act(id, 'activate', account)), missing)
  })

  test('is not enabled back to active once a setting is gone', async () => {
    const id = await connectionAt('disabled from active')
    const body = { srcConnectionConfig: {}, destConnectionConfig: { table: 'T', writeMode: 'Append' } }
    await caller.expect(caller.call('updateConnection', { accountId, id, body }))
    for (const action of ['enable', 'activate'] as const) {
      const reply = await act(id, action)
      assert.deepEqual([reply.status, reply.error], [409, 'connection_not_ready'])
      assert.deepEqual(fieldsOf(reply), [
        'destConnectionConfig.database',
        'destConnectionConfig.schema',
        'destConnectionConfig.warehouse',
        'srcConnectionConfig.bucketUri',
      ])
    }
    assert.equal((await read(id)).response.status, 'disabled')
  })

  test('lists what only its role needs of a configured connector', async () => {
    const events = connectorBySlug('mparticle-events')
    const { accountId: account, id } = await unready(events, events)
    await caller.expect(
      caller.call('configureConnector', { accountId: account, id: events.id, body: { secretConfig: {} } }),
    )
    assert.deepEqual(fieldsOf(await act(id, 'activate', account)), [
      'destConnector.key',
      'destConnector.secret',
      'srcConnectionConfig.bucketUri',
      'srcConnector.accessKeyId',
      'srcConnector.secretAccessKey',
    ])
    const bucket = { accessKeyId: 'A', secretAccessKey: 'canary-bucket' }
    const secretConfig = { key: 'canary-key', secret: 'canary-secret', ...bucket }
    await caller.expect(
      caller.call('configureConnector', { accountId: account, id: events.id, body: { secretConfig } }),
    )
    const body = { srcConnectionConfig: { bucketUri: 's3://bucket/events' } }
    await caller.expect(caller.call('updateConnection', { accountId: account, id, body }))
    assert.equal((await caller.expect(act(id, 'activate', account))).status, 'active')
  })
})

describe('an active connection', () => {
  const events = connectorBySlug('mparticle-events')
  const configure = (account: string, secretConfig: Record<string, string | null>) =>
    caller.call('configureConnector', { accountId: account, id: events.id, body: { secretConfig } })
  /** Active connections that deliver to a connector with both roles. It needs its key only as a destination. */
  async function delivering(count: number) {
    const { id: account } = await caller.addAccount()
    await caller.addConnectors(account, events)
    const bucket = { accessKeyId: 'A', secretAccessKey: 'canary-bucket' }
    await caller.expect(configure(account, { key: 'canary-key', secret: 'canary-secret', ...bucket }))
    const ids: string[] = []
    for (let number = 1; number <= count; number++) {
      const ends = { srcConnectorId: events.id, destConnectorId: events.id }
      const body = { name: `Events ${number}`, ...ends, srcConnectionConfig: { bucketUri: 's3://bucket/events' } }
      ids.push((await caller.expect(caller.call('createConnection', { accountId: account, body }))).id)
      await caller.expect(act(ids.at(-1) ?? '', 'activate', account))
    }
    return { account, ids }
  }

  test('keeps what only its role needs of a connector: clearing it is refused, and names the connection', async () => {
    const { account, ids } = await delivering(2)
    const content = await contentOf(service)
    const reply = await configure(account, { key: null, secret: 'canary-other' })
    assert.deepEqual([reply.status, reply.error], [409, 'connection_not_ready'])
    assert.deepEqual(
      reply.details.map(({ field }) => field),
      ['body.secretConfig.key', ...ids.toReversed().map((id) => `connection.${id}`)],
    )
    assert.match(reply.details[1]?.message ?? '', /^Events 2 /)
    assert.equal(await contentOf(service), content)
    await caller.expect(configure(account, { key: 'canary-next' }))
  })

  test('lets go of it once it is disabled, and must be made ready to come back', async () => {
    const { account, ids } = await delivering(1)
    const [id = ''] = ids
    await caller.expect(act(id, 'disable', account))
    await caller.expect(configure(account, { key: null }))
    const reply = await act(id, 'enable', account)
    assert.deepEqual(
      [reply.error, reply.details.map(({ field }) => field)],
      ['connection_not_ready', ['destConnector.key']],
    )
  })
})

describe('a deleted connection', () => {
  test('is read and listed, and refuses every change', async () => {
    const id = await connectionAt('deleted from active')
    assert.equal((await read(id)).response.deleted, true)
    const listed = await caller.expect(caller.call('listConnections', { accountId, query: { status: 'deleted' } }))
    assert(listed.some((connection) => connection.id === id))
    const content = await contentOf(service)
    for (const body of [{}, { name: 'New' }, { srcConnectionConfig: {} }, { srcConnectorId: destination.id }]) {
      const reply = await caller.call('updateConnection', { accountId, id, body })
      assert.deepEqual([reply.status, reply.error], [409, 'connection_deleted'])
    }
    assert.equal(await contentOf(service), content)
  })

  test('is restored on its last day, and not after 30 days', async () => {
    const id = await connectionAt('deleted from active')
    const deletedAgo = (age: string) =>
      sql(`update connections set deleted_time = now() - interval '${age}' where id = $1`, id)
    await deletedAgo('30 days 1 second')
    const content = await contentOf(service)
    const late = await act(id, 'restore')
    assert.deepEqual([late.status, late.error], [404, 'not_found'])
    assert.equal(await contentOf(service), content)
    await deletedAgo('29 days 23 hours')
    assert.equal((await succeed(id, 'restore')).status, 'disabled')
  })

  test('is not restored while a side is gone, and must be configured when it is back', async () => {
    for (const side of [source, destination]) {
      const { id: account } = await caller.addAccountWithSides()
      await caller.configureSides(account)
      const { id } = await caller.createConnection(account)
      for (const action of ['activate', 'delete'] as const) await caller.expect(act(id, action, account))
      await caller.expect(caller.call('removeConnector', { accountId: account, id: side.id }))
      const gone = await act(id, 'restore', account)
      const field = side === source ? 'srcConnector' : 'destConnector'
      assert.deepEqual(
        [gone.status, gone.error, gone.details.map((error) => error.field)],
        [409, 'connector_not_added', [field]],
      )
      assert.equal((await caller.call('getConnection', { accountId: account, id })).response.status, 'deleted')
      await caller.addConnectors(account, side)
      assert.equal((await caller.expect(act(id, 'restore', account))).status, 'disabled')
      const unready = await act(id, 'enable', account)
      assert.deepEqual([unready.error, unready.details.map((error) => error.field)], ['connection_not_ready', [field]])
      await caller.configureSides(account)
      assert.equal((await caller.expect(act(id, 'enable', account))).status, 'active')
    }
  })
})
