import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addConnection, addFolder, type Connection, type Inbox, makeInbox } from './harness/connections.ts'
import { type Caller, callerOf } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { startTestService, type TestService } from './harness/service.ts'
import { ended } from './harness/standings.ts'

/** The transfers of all connections, and the newest of each. Their pages are tested in paging.test.ts. No worker runs. */

let inbox: Inbox
let service: TestService
let caller: Caller
let strangersConnection: Connection
/** Two accounts, the first with connections a and b, the other with c, and their transfers in order. */
const connections: Record<string, Connection> = {}
const runs = [
  ['a', 'failed'],
  ['b', 'cancelled'],
  ['c', 'failed'],
  ['a', 'succeeded'],
  ['b', 'failed'],
  ['c', 'cancelled'],
  ['b', 'cancelled'],
  ['a', 'queued'],
] as const
before(async () => {
  inbox = await makeInbox()
  service = await startTestService(inbox.env)
  caller = callerOf(service, await service.addOrganization())
  for (const names of [['a', 'b'], ['c']]) Object.assign(connections, await addConnections(caller, names))
  for (const [name, status] of runs) await run(caller, connectionOf(name), status)
  const stranger = callerOf(service, await service.addOrganization())
  strangersConnection = (await addConnections(stranger, ['d'])).d ?? assert.fail()
  await run(stranger, strangersConnection, 'failed')
})
after(async () => {
  await assertInvariants(service.database.pool)
  await service.close()
  await inbox.remove()
})

const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
const connectionOf = (name: string): Connection => connections[name] ?? assert.fail(name)

/** Connections of a separate account, by name. */
async function addConnections(caller: Caller, names: readonly string[]): Promise<Record<string, Connection>> {
  const { id: accountId } = await caller.addAccount()
  await addFolder(caller, accountId, inbox.folder)
  const made: Record<string, Connection> = {}
  for (const name of names) made[name] = await addConnection(caller, accountId, name)
  return made
}

/** Starts a transfer, and leaves it as a worker would. */
async function run(caller: Caller, connection: Connection, status: string): Promise<string> {
  const { id } = await caller.expect(caller.call('startTransfer', { ...connection, body: {} }))
  if (status !== 'queued') await sql(ended(status), id)
  return id
}

const list = (query: Record<string, string | number | boolean>, accountId?: string, by = caller) =>
  by.call('listAllTransfers', { query, ...(accountId === undefined ? {} : { accountId }) })

/** Entries of a list, each as its connection and its status: `a queued`. */
async function listed(...asked: Parameters<typeof list>): Promise<string[]> {
  const { status, text, response, headers } = await list(...asked)
  assert.equal(status, 200, text)
  assert.equal(headers['x-total-count'], String(response.length))
  const nameOf = (id: string) => Object.keys(connections).find((name) => connections[name]?.id === id)
  return response.map(({ connectionId, status }) => `${nameOf(connectionId)} ${status}`)
}

/** Filters, with the connections whose identifiers they name, and what they keep: of all accounts, and of the first. */
const cases: { query: Record<string, string | boolean>; of?: string; all: string[]; first: string[] }[] = [
  {
    query: {},
    all: runs.map((run) => run.join(' ')).toReversed(),
    first: ['a queued', 'b cancelled', 'b failed', 'a succeeded', 'b cancelled', 'a failed'],
  },
  {
    query: { latest: false, status: 'failed' },
    all: ['b failed', 'c failed', 'a failed'],
    first: ['b failed', 'a failed'],
  },
  {
    query: { latest: true },
    all: ['a queued', 'b cancelled', 'c cancelled'],
    first: ['a queued', 'b cancelled'],
  },
  { query: { latest: true, status: 'cancelled' }, all: ['b cancelled', 'c cancelled'], first: ['b cancelled'] },
  { query: { latest: true, status: 'failed' }, all: [], first: [] },
  {
    query: {},
    of: 'bc',
    all: ['b cancelled', 'c cancelled', 'b failed', 'c failed', 'b cancelled'],
    first: ['b cancelled', 'b failed', 'b cancelled'],
  },
  { query: { status: 'failed' }, of: 'ac', all: ['c failed', 'a failed'], first: ['a failed'] },
  { query: { latest: true }, of: 'ca', all: ['a queued', 'c cancelled'], first: ['a queued'] },
  {
    query: { latest: true, status: 'cancelled' },
    of: 'abc',
    all: ['b cancelled', 'c cancelled'],
    first: ['b cancelled'],
  },
  { query: { latest: true }, of: 'bbb', all: ['b cancelled'], first: ['b cancelled'] },
]

describe('the list of all transfers', () => {
  for (const { query, of, all, first } of cases) {
    test(`keeps what ${JSON.stringify(query)} ${of ? `and the connections ${[...of]} ` : ''}ask for`, async () => {
      const connectionIds = of && [...of].map((name) => connectionOf(name).id).join(',')
      const asked = { ...query, ...(connectionIds ? { connectionIds } : {}) }
      assert.deepEqual(await listed(asked), all)
      assert.deepEqual(await listed(asked, connectionOf('a').accountId), first)
    })
  }

  test('answers each as List Transfers does', async () => {
    const own = await caller.expect(caller.call('listTransfers', connectionOf('a')))
    assert.deepEqual((await list({ connectionIds: connectionOf('a').id })).response, own)
  })

  test('knows nothing of another organization’s connections', async () => {
    assert.deepEqual(
      await listed({ connectionIds: `${strangersConnection.id},${connectionOf('c').id}`, latest: true }),
      ['c cancelled'],
    )
    assert.deepEqual(await listed({ connectionIds: strangersConnection.id }), [])
  })

  test('takes up to 100 connections, and refuses invalid identifiers', async () => {
    const unknown = (many: number) => Array(many).fill('0123456789abcdef').join(',')
    assert.deepEqual(await listed({ connectionIds: unknown(100) }), [])
    const { id } = connectionOf('a')
    for (const connectionIds of [unknown(101), '', ',', `${id},`, ` ${id}`, `${id};${id}`, id.toUpperCase(), 'x']) {
      const reply = await list({ connectionIds })
      assert.deepEqual([reply.status, reply.details.map(({ field }) => field)], [400, ['query.connectionIds']])
    }
    for (const query of [{ latest: 'yes' }, { status: 'broken' }]) {
      assert.equal((await list(query)).status, 400, JSON.stringify(query))
    }
  })

  test('leaves out connections that are gone and accounts that are deleted, and counts them no more', async () => {
    const own = callerOf(service, await service.addOrganization())
    const made = await addConnections(own, ['kept', 'deleted', 'gone'])
    Object.assign(connections, made, await addConnections(own, ['elsewhere']))
    const names = ['kept', 'deleted', 'gone', 'elsewhere']
    for (const name of names) await run(own, connectionOf(name), 'failed')
    for (const name of names) await run(own, connectionOf(name), 'cancelled')
    for (const name of ['deleted', 'gone']) await own.expect(own.call('deleteConnection', connectionOf(name)))
    const age = `update connections set deleted_time = now() - interval '30 days 1 second' where id = $1`
    await sql(age, connectionOf('gone').id)
    await own.expect(own.call('deleteAccount', { id: connectionOf('elsewhere').accountId }))
    const connectionIds = names.map((name) => connectionOf(name).id).join(',')
    for (const accountId of [undefined, connectionOf('kept').accountId]) {
      for (const named of [{}, { connectionIds }]) {
        assert.deepEqual(await listed({ latest: true, ...named }, accountId, own), [
          'deleted cancelled',
          'kept cancelled',
        ])
        assert.deepEqual(await listed({ status: 'failed', ...named }, accountId, own), [
          'deleted failed',
          'kept failed',
        ])
        assert.equal((await listed(named, accountId, own)).length, 4)
      }
    }
  })
})

describe('the transfers of a connection', () => {
  test('are sorted by time, duration and records, both ways, in the same order on every page', async () => {
    const own = callerOf(service, await service.addOrganization())
    const { one = assert.fail() } = await addConnections(own, ['one'])
    const ids: string[] = []
    // Seconds of duration, records read and rejected. The third transfer has not started, and the fifth equals the first.
    for (const [seconds, read, rejected] of [
      [60, 10, 0],
      [5, 300, 2],
      [null, 0, 0],
      [3_600, 20, 20],
      [60, 10, 0],
    ]) {
      const id = await run(own, one, 'partial')
      ids.push(id)
      await sql(
        `update transfers set started_time = finished_time - $2::int * interval '1 second', read = $3::int, accepted = $3::int - $4::int,
           rejected = $4::int where id = $1`,
        ...[id, seconds, read, rejected],
      )
    }
    ids.push(await run(own, one, 'queued'))
    const order = async (query: Record<string, string | number>, operation: 'listTransfers' | 'listAllTransfers') => {
      const asked = operation === 'listTransfers' ? { ...one, query } : { query }
      const reply = await own.call(operation, asked as never)
      assert.equal(reply.status, 200, reply.text)
      return (reply.response as { id: string }[]).map(({ id }) => ids.indexOf(id) + 1)
    }
    for (const [sort, wanted] of [
      ['-created', [6, 5, 4, 3, 2, 1]],
      ['created', [1, 2, 3, 4, 5, 6]],
      ['-duration', [4, 5, 1, 2, 6, 3]],
      ['duration', [3, 6, 2, 1, 5, 4]],
      ['-read', [2, 4, 5, 1, 3, 6]],
      ['read', [6, 3, 1, 5, 4, 2]],
      ['-rejected', [4, 2, 5, 3, 1, 6]],
      ['rejected', [6, 1, 3, 5, 2, 4]],
    ] as const) {
      assert.deepEqual(await order({ sort }, 'listTransfers'), wanted, sort)
      const pages = [0, 2, 4].map((offset) => order({ sort, size: 2, offset }, 'listTransfers'))
      assert.deepEqual((await Promise.all(pages)).flat(), wanted, sort)
      const ended = wanted.filter((one) => one !== 6)
      assert.deepEqual(await order({ sort, status: 'partial' }, 'listTransfers'), ended, sort)
    }
    for (const query of [{}, { status: 'partial' }, { connectionIds: one.id }]) {
      const newest = await order(query, 'listAllTransfers')
      assert.deepEqual(await order({ ...query, sort: 'created' }, 'listAllTransfers'), newest.toReversed())
    }
    for (const [operation, sort] of [
      ['listTransfers', 'bytes'],
      ['listAllTransfers', 'read'],
    ] as const) {
      const reply = await own.call(operation, { ...one, query: { sort } } as never)
      assert.deepEqual([reply.status, reply.details.map(({ field }) => field)], [400, ['query.sort']])
      assert.match(reply.details[0]?.message ?? '', /-created/)
    }
    // The ledger does not have these numbers.
    await sql('delete from transfers where connection_id = $1', one.id)
  })
})
