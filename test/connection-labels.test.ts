import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { callerOf } from './harness/fixtures.ts'
import { startTests } from './harness/started.ts'
import { addPerson } from './harness/users.ts'

/** Tags and owners of connections, and the orders of their list. */

const service = await startTests({ invariants: true })
const organization = await service.addOrganization()
const caller = callerOf(service, organization)

const connect = async (accountId: string, name: string) => ({
  accountId,
  id: (await caller.createConnection(accountId, name)).id,
})
const namesOf = async (accountId: string | undefined, query: Record<string, string>) => {
  const { response, headers } = await caller.call('listConnections', { ...(accountId && { accountId }), query })
  assert.equal(headers['x-total-count'], String(response.length), JSON.stringify(query))
  return response.map(({ name }) => name)
}

type Answered = { status: number; error?: string | undefined; details?: readonly { field: string }[] | undefined }
function assertRefused({ status, error, details = [] }: Answered, wanted: number, code: string, fields: string[] = []) {
  assert.deepEqual([status, error, details.map(({ field }) => field)], [wanted, code, fields])
}

describe('labels of connections', () => {
  test('are set apart from each other, and keep the version of the connection', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    const connection = await connect(accountId, 'Orders')
    const { email, id } = await addPerson(service, organization)
    const version = async () => (await caller.call('getConnection', connection)).headers.etag
    const before = await version()
    const set = (body: object) => caller.expect(caller.call('setConnectionLabels', { ...connection, body }))
    assert.deepEqual(await caller.expect(caller.call('getConnectionLabels', connection)), {
      connectionId: connection.id,
      accountId,
      tags: [],
      owner: null,
    })
    assert.deepEqual((await set({ tags: [' Production ', 'q4'] })).tags, ['Production', 'q4'])
    assert.equal((await set({ ownerEmail: email.toUpperCase() })).owner?.id, id)
    const { tags, owner } = await set({ tags: ['night'] })
    assert.deepEqual([tags, owner?.email], [['night'], email])
    assert.equal(await version(), before)
    const [entry] = await caller.expect(caller.call('listConnectionDetails', { accountId }))
    assert.deepEqual([entry?.tags, entry?.owner?.id], [['night'], id])
    assert.equal((await set({ ownerEmail: null })).owner, null)
  })

  test('are refused if a tag repeats, is malformed, or the owner cannot see the sub-account', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    const { id: other } = await caller.addAccount()
    const connection = await connect(accountId, 'Refused')
    const set = (body: object) => caller.call('setConnectionLabels', { ...connection, body })
    const limited = await addPerson(service, organization, { role: 'viewer', accountIds: [other] })
    const stranger = await addPerson(service, await service.addOrganization())
    for (const [body, field] of [
      [{ tags: ['Q4', 'q4'] }, 'body.tags.1'],
      [{ tags: ['a,b'] }, 'body.tags.0'],
      [{ tags: ['a'.repeat(51)] }, 'body.tags.0'],
      [{ tags: Array.from({ length: 21 }, (_, n) => `t${n}`) }, 'body.tags'],
      [{ ownerEmail: limited.email }, 'body.ownerEmail'],
      [{ ownerEmail: stranger.email }, 'body.ownerEmail'],
    ] as const)
      assertRefused(await set(body), 400, 'invalid_request', [field])
    await caller.expect(caller.call('deleteConnection', connection))
    assertRefused(await set({ tags: [] }), 409, 'connection_deleted')
  })

  test('filter the list, with its total, and a removed owner leaves none', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    const { email, id: owner } = await addPerson(service, organization)
    const [a, b] = [await connect(accountId, 'A'), await connect(accountId, 'B')]
    await connect(accountId, 'C')
    await caller.expect(
      caller.call('setConnectionLabels', { ...a, body: { tags: ['Filtered', 'Q4'], ownerEmail: email } }),
    )
    await caller.expect(caller.call('setConnectionLabels', { ...b, body: { tags: ['filtered'] } }))
    for (const scope of [accountId, undefined]) {
      assert.deepEqual(await namesOf(scope, { tags: 'FILTERED' }), ['B', 'A'])
      assert.deepEqual(await namesOf(scope, { tags: 'filtered,q4' }), ['A'])
      assert.deepEqual(await namesOf(scope, { tags: 'filtered', sort: 'name', q: 'a' }), ['A', 'B'])
      assert.deepEqual(await namesOf(scope, { tags: 'filtered', status: 'active' }), [])
      assert.deepEqual(await namesOf(scope, { owner }), ['A'])
    }
    assert.deepEqual(await namesOf(accountId, { owner: 'none' }), ['C', 'B'])
    const tags = await caller.call('listConnectionTags', { accountId, query: { q: 'FILT' } })
    assert.deepEqual(tags.response, [{ tag: 'filtered', connections: 2 }])
    const labels = await caller.call('listConnectionLabels', { query: { connectionIds: a.id } })
    assert.deepEqual(
      labels.response.map(({ owner }) => owner?.email),
      [email],
    )
    await caller.expect(caller.call('removeUser', { id: owner }))
    assert.equal((await caller.expect(caller.call('getConnectionLabels', a))).owner, null)
    assert.deepEqual(await namesOf(accountId, { owner }), [])
    const many = Array.from({ length: 21 }, (_, n) => `t${n}`).join(',')
    assertRefused(await caller.call('listConnections', { query: { tags: many } }), 400, 'invalid_request', [
      'query.tags',
    ])
  })
})

describe('saved filters', () => {
  test('are of one person or shared, bounded, and gone with their person', async () => {
    const [editor, viewer] = [
      await addPerson(service, organization, { role: 'editor' }),
      await addPerson(service, organization, { role: 'viewer' }),
    ]
    const by = (person: typeof editor) => ({ headers: { ...person.headers } })
    const save = (person: typeof editor, body: object) =>
      service.call('createSavedFilter', { ...by(person), body: { name: 'F', query: 'tags=a&sort=name', ...body } })
    const names = async (person: typeof editor) =>
      (await service.call('listSavedFilters', by(person))).response.map(({ name }) => name)
    const own = await save(editor, { name: 'Own' })
    const shared = await save(editor, { name: 'Shared', shared: true })
    assert.deepEqual([own.status, shared.status, (await save(viewer, { shared: true })).status], [201, 201, 403])
    assert.deepEqual([await names(editor), await names(viewer)], [['Own', 'Shared'], ['Shared']])
    const { id } = shared.response
    const rename = (person: typeof editor, of: string) =>
      service.call('updateSavedFilter', { ...by(person), id: of, body: { name: 'Renamed' } })
    assert.deepEqual(
      [await rename(viewer, id), await rename(viewer, own.response.id), await rename(editor, id)].map(
        (one) => one.status,
      ),
      [403, 404, 200],
    )
    const limitedTo = (await caller.addAccount()).id
    const limited = await addPerson(service, organization, { role: 'editor', accountIds: [limitedTo] })
    assert.deepEqual(await names(limited), [])
    assert.equal((await save(limited, { shared: true })).status, 400)
    assert.equal((await save(limited, { shared: true, accountId: (await caller.addAccount()).id })).status, 400)
    assert.equal((await save(limited, { name: 'Ours', shared: true, accountId: limitedTo })).status, 201)
    assert.deepEqual(await names(limited), ['Ours'])
    await service.database.pool.query(
      `insert into saved_filters (id, organization_id, user_id, name, query)
       select left(md5('f' || n), 16), organization_id, id, 'F', '' from users, generate_series(2, 100) n where id = $1`,
      [editor.id],
    )
    assert.deepEqual(
      [(await save(editor, {})).error, (await save(editor, { shared: true })).status],
      ['quota_exceeded', 201],
    )
    await caller.expect(caller.call('removeUser', { id: editor.id }))
    const { rows } = await service.database.pool.query('select from saved_filters where user_id = $1', [editor.id])
    assert.equal(rows.length, 0)
  })
})

describe('the list of connections', () => {
  test('is sorted by creation, name, last and next transfer, both ways', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    const [b, a] = [await connect(accountId, 'b'), await connect(accountId, 'A')]
    await connect(accountId, 'c')
    const transfer = (connectionId: string, time: number) =>
      service.database.pool.query(
        `insert into transfers (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id,
           status, trigger, created_time, finished_time)
         select left(md5(id || $2), 16), organization_id, account_id, id, src_connector_id, dest_connector_id,
           'cancelled', 'manual', to_timestamp($2::int), now() from connections where id = $1`,
        [connectionId, time],
      )
    await transfer(a.id, 1_700_000_000)
    await transfer(b.id, 1_700_000_100)
    await service.database.pool.query(
      `insert into schedules (connection_id, cron, timezone, enabled, next_time)
       values ($1, '0 6 * * *', 'UTC', true, to_timestamp(1800000000)), ($2, '0 6 * * *', 'UTC', true, to_timestamp(1900000000))`,
      [b.id, a.id],
    )
    for (const [sort, names] of [
      ['-created', 'cAb'],
      ['created', 'bAc'],
      ['name', 'Abc'],
      ['-name', 'cbA'],
      ['-lastTransfer', 'bAc'],
      ['lastTransfer', 'cAb'],
      ['nextTransfer', 'bAc'],
      ['-nextTransfer', 'cAb'],
    ] as const)
      assert.equal((await namesOf(accountId, { sort })).join(''), names, sort)
    await service.database.pool.query('update schedules set enabled = false where connection_id = $1', [b.id])
    assert.equal((await namesOf(accountId, { sort: 'nextTransfer', q: 'b' })).join(''), 'b')
    assert.equal((await namesOf(accountId, { sort: 'nextTransfer' }))[0], 'A')
    await service.database.pool.query('delete from schedules where connection_id = $1', [a.id])
    const { rows } = await service.database.pool.query(
      'select count(next_transfer_time)::int as n from connections where account_id = $1',
      [accountId],
    )
    assert.deepEqual(rows, [{ n: 0 }])
    assertRefused(
      await caller.call('listConnections', { query: { sort: 'volume' as never } }),
      400,
      'invalid_request',
      ['query.sort'],
    )
  })
})
