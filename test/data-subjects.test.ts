import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addAccountWithConnection, addEndedTransfer, type Connection } from './harness/connections.ts'
import { anyFile, callerOf } from './harness/fixtures.ts'
import { startTestsWithInbox } from './harness/started.ts'
import { addStreamWithKey, basic } from './harness/streams.ts'

/** One person in the records that are kept: found with the transfer, and erased. */

const jane = 'jane.doe@example.com'
const { service, inbox } = await startTestsWithInbox({ invariants: true })
const organization = await service.addOrganization()
const caller = callerOf(service, organization)

const find = (accountId: string | undefined, cursor?: string, values = [jane]) =>
  caller.expect(
    caller.call('findDataSubject', {
      ...(accountId && { accountId }),
      body: { values, ...(cursor && { cursor }) },
    }),
  )
const erase = (accountId: string | undefined, cursor?: string) =>
  caller.expect(
    caller.call('eraseDataSubject', {
      ...(accountId && { accountId }),
      body: { values: [jane], ...(cursor && { cursor }) },
    }),
  )
const reject = (connection: Connection, emails: readonly string[]) =>
  addEndedTransfer(service, caller, connection, emails)
const succeeded = async (connection: Connection) => {
  const id = await reject(connection, [])
  await service.database.pool.query("update transfers set status = 'succeeded' where id = $1", [id])
  return id
}
const newConnection = () => addAccountWithConnection(caller, inbox.folder)

describe('a person in the kept records', () => {
  test('is found with the transfers, and erased; the other records and the counts stay', async () => {
    const [one, other] = [await newConnection(), await newConnection()]
    const first = await reject(one, ['john@example.com', jane, `Jane <${jane}>`])
    const second = await reject(other, [jane])
    const found = await find(undefined)
    assert.deepEqual(
      found.records.map(({ transferId, row, record }) => [transferId, row, record.email]),
      [
        [second, 2, jane],
        [first, 3, jane],
        [first, 4, `Jane <${jane}>`],
      ],
    )
    assert.deepEqual([found.searched, found.notKept, found.next], [4, 0, null])
    assert.equal((await find(one.accountId)).records.length, 2)
    const { name } = await caller.expect(caller.call('getAccount', { id: other.accountId }))
    assert.deepEqual([found.records[0]?.accountName, found.records[0]?.deliveredTime], [name, null])
    const replay = await succeeded(other)
    await service.database.pool.query('update rejects set replayed_by = $1 where transfer_id = $2', [replay, second])
    assert.notEqual((await find(undefined)).records[0]?.deliveredTime, null)
    await service.database.pool.query('update rejects set replayed_by = null where transfer_id = $1', [second])

    const erased = await erase(undefined)
    assert.deepEqual([erased.erased, erased.next, erased.activeTransfers], [3, null, 0])
    assert.deepEqual((await find(undefined)).records, [])
    const rejects = await caller.expect(caller.call('listRejects', { ...one, transferId: first }))
    assert.deepEqual(
      rejects.map(({ row, count, field, reason, record }) => ({ row, count, field, reason, record })),
      [
        {
          row: 2,
          count: 1,
          field: 'email',
          reason: 'email is taken',
          record: { email: 'john@example.com', city: 'New York' },
        },
        ...[3, 4].map((row) => ({
          row,
          count: 1,
          field: null,
          reason: 'The record was erased at the request of the person.',
          record: {},
        })),
      ],
    )
    const replayable = await caller.expect(caller.call('getReplayable', { ...one, transferId: first }))
    assert.deepEqual(replayable, { replayable: 1, replayed: 0, notKept: 2 })
    const { rows } = await service.database.pool.query('select * from rejects')
    assert(!JSON.stringify(rows).includes('jane'))
    assert.equal((await erase(undefined)).erased, 0)
  })

  test('is said to be elsewhere: files that are not searched, and people who sign in', async () => {
    const organization = await service.addOrganization()
    const own = callerOf(service, organization)
    const { id: accountId } = await own.addAccount()
    const { user } = await own.expect(
      own.call('inviteUser', { body: { email: 'Sam.Orell@Example.com', role: 'viewer' } }),
    )
    const file = await own.expect(own.call('createUpload', { accountId, body: anyFile }))
    const body = { values: [' sam.orell@example.com'] }
    const { elsewhere } = await own.expect(own.call('findDataSubject', { body }))
    assert.deepEqual(
      elsewhere?.users?.map(({ id }) => id),
      [user.id],
    )
    assert.deepEqual([elsewhere?.files, elsewhere?.filesUntil, elsewhere?.rejectDays], [1, file.expiresTime, 30])
    const { id: empty } = await own.addAccount()
    const there = await own.expect(own.call('findDataSubject', { accountId: empty, body }))
    assert.deepEqual([there.elsewhere?.files, there.elsewhere?.filesUntil], [0, null])
  })

  test('leaves an event in the audit log that names no one', async () => {
    const connection = await newConnection()
    await reject(connection, [jane])
    await find(connection.accountId)
    await erase(connection.accountId)
    const [event, read] = await caller.expect(caller.call('listAudit', { query: { size: 2 } }))
    assert.deepEqual([event?.action, event?.accountId], ['eraseDataSubject', connection.accountId])
    assert.deepEqual(event?.after, { erased: 1, searched: 1, notKept: 0, next: null, activeTransfers: 0 })
    assert.deepEqual([read?.action, read?.details], ['findDataSubject', { records: 1 }])
    await service.service.settleAudit()
    const { rows } = await service.database.pool.query('select * from audit_events')
    assert(!JSON.stringify(rows).toLowerCase().includes('jane'))
  })

  test('is searched part by part, from the newest transfer to the oldest', async () => {
    const connection = await newConnection()
    const many = Array.from({ length: 6_000 }, (_, i) => (i % 1_000 === 0 ? jane : `p${i}@example.com`))
    await reject(connection, many)
    await reject(connection, [jane])
    const { accountId } = connection
    const first = await find(accountId)
    assert(first.searched >= 5_000 && first.next)
    const second = await find(accountId, first.next)
    assert.equal(second.next, null)
    assert.equal(first.searched + second.searched, 6_001)
    assert.equal(first.records.length + second.records.length, 7)
    const begun = await erase(accountId)
    const rest = await erase(accountId, begun.next ?? undefined)
    assert.deepEqual([begun.erased + rest.erased, rest.next], [7, null])
  })

  test('of another organization, or of a sub-account that a key cannot see, is neither found nor erased', async () => {
    const connection = await newConnection()
    await reject(connection, [jane])
    const stranger = callerOf(service, await service.addOrganization())
    for (const operation of ['findDataSubject', 'eraseDataSubject'] as const) {
      const asked = await stranger.call(operation, { body: { values: [jane] } })
      assert.equal((asked.response as { searched: number }).searched, 0)
      assert.equal(
        (await stranger.call(operation, { accountId: connection.accountId, body: { values: [jane] } })).status,
        404,
      )
    }
    const other = await caller.addAccount()
    const limited = await caller.expect(
      caller.call('createClient', {
        body: { name: 'Limited', scopes: ['records:read', 'records:erase'], accountIds: [other.id] },
      }),
    )
    const { clientId, clientSecret } = { ...limited, clientId: limited.id }
    const { accessToken: token } = await caller.expect(
      service.call('createToken', { body: { clientId, clientSecret } }),
    )
    const erased = await service.call('eraseDataSubject', { token, body: { values: [jane] } })
    assert.deepEqual([erased.status, erased.response.erased], [200, 0])
    assert.equal((await find(connection.accountId)).records.length, 1)
  })

  test('is refused by values that others have too, and by a cursor that is none', async () => {
    const bodies: [object, string][] = [
      [{ values: [] }, 'body.values'],
      [{ values: ['a   '] }, 'body.values.0'],
      [{ values: ['     '] }, 'body.values.0'],
      [{ values: [jane], cursor: 'x' }, 'body.cursor'],
      [{ values: Array(21).fill(jane) }, 'body.values'],
    ]
    for (const [body, field] of bodies) {
      const { status, details } = await caller.call('eraseDataSubject', { body: body as never })
      assert.deepEqual([status, details[0]?.field], [400, field])
    }
    const far = await caller.call('findDataSubject', {
      body: { values: [jane], cursor: 'ffffffffffffffff-9999999999' },
    })
    assert.equal(far.status, 200)
  })

  test('is found in the events of streams, and erased there; numbers, the other events and readers stay', async () => {
    const { accountId } = await newConnection()
    const { id, key } = await addStreamWithKey(caller, accountId)
    const send = async (...events: object[]) => {
      const { status } = await service.send({
        method: 'POST',
        path: `/events/${id}`,
        headers: { authorization: basic(key), 'content-type': 'application/json' },
        body: JSON.stringify(events),
      })
      assert.equal(status, 200)
    }
    const other = (n: number) => ({ n, userId: 'john@example.com' })
    await send(other(1), { n: 2, traits: { email: jane } }, other(3))
    await send(other(4), { n: 5, list: [{ to: `Jane <${jane}>` }], price: 12.5 })
    const found = await find(accountId)
    assert.deepEqual(
      found.events.map(({ number, streamId, event }) => [number, streamId, JSON.parse(event).n]),
      [
        [2, id, 2],
        [5, id, 5],
      ],
    )
    assert.deepEqual([found.records, found.searched, found.next], [[], 5, null])
    const stranger = await newConnection()
    assert.deepEqual((await find(stranger.accountId)).events, [], 'not in another sub-account')
    const before = await caller.expect(caller.call('getStream', { accountId, id }))
    const { erased, next } = await erase(accountId)
    assert.deepEqual([erased, next], [2, null])
    assert.deepEqual((await find(accountId)).events, [])
    assert.equal((await find(accountId, undefined, ['john@example.com'])).events.length, 3)
    const after = await caller.expect(caller.call('getStream', { accountId, id }))
    assert.deepEqual([after.accepted, after.keptEvents], [before.accepted, before.keptEvents])
    const { rows } = await service.database.pool.query(
      `select s.kept_bytes::int as kept, (select sum(bytes)::int from stream_batches b where b.stream = s.number) as bytes
       from streams s where s.id = $1`,
      [id],
    )
    assert.equal(rows[0].kept, rows[0].bytes)
    assert.equal((await erase(accountId)).erased, 0, 'erased events stay erased')
  })

  test('is found part by part in a stream of many events', async () => {
    const { accountId } = await newConnection()
    const { id, key } = await addStreamWithKey(caller, accountId)
    for (let sent = 0; sent < 4; sent++) {
      const events = Array.from({ length: 2_000 }, (_, n) => ({
        n: sent * 2_000 + n,
        email: n === 7 ? jane : 'x@example.com',
      }))
      const { status } = await service.send({
        method: 'POST',
        path: `/events/${id}`,
        headers: { authorization: basic(key), 'content-type': 'application/json' },
        body: JSON.stringify(events),
      })
      assert.equal(status, 200)
    }
    const numbers: number[] = []
    let parts = 0
    for (let cursor: string | null | undefined; cursor !== null; parts++) {
      const part = await find(accountId, cursor)
      numbers.push(...part.events.map(({ number }) => number))
      cursor = part.next
    }
    assert.deepEqual([numbers, parts], [[8, 2_008, 4_008, 6_008], 2])
  })
})
