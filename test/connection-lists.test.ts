import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { callerOf, connectorBySlug, destination, source } from './harness/fixtures.ts'
import { filteredNames, filters } from './harness/names.ts'
import { startTests } from './harness/started.ts'

/** Filters of List Connections (specification, section 4.4). `paging.test.ts` tests its pages. */

const service = await startTests({ invariants: true })
const caller = callerOf(service, await service.addOrganization())

describe('the list of connections', () => {
  test('is filtered by a part of the name, in any letter case, of plain characters', async () => {
    const { id } = await caller.addAccountWithSides()
    for (const name of filteredNames) await caller.createConnection(id, name)
    for (const { q, finds } of filters) {
      const own = filteredNames
        .filter(
          (name) =>
            finds.includes(name) || `${source.name} ${destination.name}`.toLowerCase().includes(q.toLowerCase()),
        )
        .sort()
      const { response, headers } = await caller.call('listConnections', { accountId: id, query: { q } })
      assert.deepEqual(response.map(({ name }) => name).sort(), own, q)
      assert.equal(headers['x-total-count'], String(own.length), q)
    }
  })

  test('is filtered by the names of its source and destination too, and by name, sides and status together', async () => {
    const { id } = await caller.addAccountWithSides()
    const crm = connectorBySlug('salesforce-crm')
    await caller.addConnectors(id, crm)
    await caller.createConnection(id, 'plain')
    await caller.expect(create(id, 'Amazon in name', crm.id, destination.id))
    const itself = await caller.expect(create(id, 'itself', crm.id, crm.id))
    await caller.expect(caller.call('deleteConnection', { accountId: id, id: itself.id }))
    for (const everywhere of [false, true]) {
      for (const [query, names] of [
        [{ q: 'aMaZoN' }, ['Amazon in name', 'plain']],
        [{ q: 'salesforce' }, ['Amazon in name', 'itself']],
        [{ q: 'salesforce', status: 'deleted' }, ['itself']],
        [{ q: 'plain', status: 'deleted' }, []],
        [{ q: 'plain', status: 'in-PROGRESS' }, ['plain']],
        [{ status: 'deleted' }, ['itself']],
      ] as const) {
        const reply = await caller.call('listConnections', {
          query: { ...query, size: 500 },
          ...(everywhere ? {} : { accountId: id }),
        })
        const here = reply.response.filter((connection) => connection.accountId === id).map(({ name }) => name)
        assert.deepEqual(here.sort(), names, JSON.stringify(query))
        assert.equal(reply.headers['x-total-count'], String(reply.response.length))
      }
    }
  })

  test('of all sub-accounts is filtered by the names of sub-accounts too, with status and order', async () => {
    const other = callerOf(service, await service.addOrganization())
    const { id: urban } = await other.addAccountWithSides('Urban Bikes')
    const { id: acme } = await other.addAccountWithSides('Acme')
    for (const name of ['Newsletter', 'Feed']) await other.createConnection(urban, name)
    await other.createConnection(acme, 'Urban legends')
    await other.createConnection(acme, 'Orders')
    const named = async (query: Record<string, string>, accountId?: string) => {
      const { response, headers } = await other.call('listConnections', { query, ...(accountId ? { accountId } : {}) })
      assert.equal(headers['x-total-count'], String(response.length))
      return response.map(({ name }) => name)
    }
    assert.deepEqual(await named({ q: 'uRBan' }), ['Urban legends', 'Feed', 'Newsletter'])
    assert.deepEqual(await named({ q: 'urban b', sort: 'name' }), ['Feed', 'Newsletter'])
    assert.deepEqual(await named({ q: 'urban', status: 'active' }), [])
    assert.deepEqual(await named({ q: 'urban' }, urban), [], 'its own list names it already')
    assert.deepEqual(await named({ q: 'urban' }, acme), ['Urban legends'])
    const limited = callerOf(service, await service.addOrganization())
    assert.deepEqual((await limited.call('listConnections', { query: { q: 'urban' } })).response, [])
  })

  test('that is searched counts 10,000 at most, and says that there are more by having no last page', async () => {
    const other = callerOf(service, await service.addOrganization())
    const { id: accountId } = await other.addAccountWithSides()
    const { id } = await other.createConnection(accountId, 'one of many')
    await service.database.pool.query(
      `insert into connections (id, organization_id, account_id, name, status, src_connector_id, dest_connector_id,
         src_configuration_id, dest_configuration_id, env)
       select substr(md5(n::text), 1, 16), organization_id, account_id, name || ' ' || n, status, src_connector_id,
         dest_connector_id, src_configuration_id, dest_configuration_id, env
       from connections, generate_series(1, 10000) n where id = $1`,
      [id],
    )
    const read = async (query: { q?: string; size: number; offset: number }) => {
      const { response, headers } = await other.call('listConnections', { query })
      const relations = [...String(headers.link).matchAll(/rel="(\w+)"/g)].map(([, rel]) => rel)
      return { read: response.length, total: headers['x-total-count'], relations }
    }
    const walked = ['first', 'prev', 'next']
    const q = 'of many'
    assert.deepEqual(await read({ q, size: 2, offset: 0 }), { read: 2, total: '10000', relations: ['first', 'next'] })
    assert.deepEqual(await read({ q, size: 2, offset: 9_998 }), { read: 2, total: '10001', relations: walked })
    assert.deepEqual(await read({ q, size: 2, offset: 10_000 }), {
      read: 1,
      total: '10001',
      relations: walked.slice(0, 2),
    })
    const all = { read: 1, total: '10001', relations: ['first', 'prev', 'last'] }
    assert.deepEqual(await read({ size: 2, offset: 10_000 }), all)
    assert.deepEqual(await read({ q: 'of many 77', size: 500, offset: 0 }), {
      read: 111,
      total: '111',
      relations: ['first', 'last'],
    })
  })

  test('is filtered by status, in any letter case; empty or all keeps every one', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    await caller.configureSides(accountId)
    const statuses = ['In-progress', 'active', 'disabled', 'deleted', 'broken', 'offline']
    for (const name of statuses) {
      const { id } = await caller.createConnection(accountId, name)
      const act = (action: 'activate' | 'disable') =>
        caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action } }))
      if (name === 'active') await act('activate')
      if (name === 'disabled') await act('disable')
      if (name === 'deleted') await caller.expect(caller.call('deleteConnection', { accountId, id }))
      const sql = 'update connections set status = $2 where id = $1'
      if (name === 'broken' || name === 'offline') await service.database.pool.query(sql, [id, name])
    }
    const kept = async (status: string) => {
      const { response, headers } = await caller.call('listConnections', { accountId, query: { status } })
      assert.equal(headers['x-total-count'], String(response.length))
      return response.map(({ name }) => name)
    }
    for (const status of statuses) {
      for (const written of [status, status.toUpperCase(), status.toLowerCase()]) {
        assert.deepEqual(await kept(written), [status])
      }
    }
    for (const status of ['', 'all', 'ALL', 'All']) assert.deepEqual(await kept(status), statuses.toReversed(), status)
    for (const status of ['In progress', 'activ', 'active,broken', 'active ', '*', 'null', 'İn-progress']) {
      const { status: code, error, details } = await caller.call('listConnections', { accountId, query: { status } })
      assert.deepEqual([code, error, details.map(({ field }) => field)], [400, 'invalid_request', ['query.status']])
    }
  })

  test('holds deleted connections for 30 days, and counts no others, whether they are purged yet or not', async () => {
    const own = callerOf(service, await service.addOrganization())
    const { id: accountId } = await own.addAccountWithSides()
    await own.createConnection(accountId, 'kept')
    for (const [name, ago] of [
      ['late', '29 days 23 hours'],
      ['gone', '30 days 1 second'],
      ['long gone', '40 days'],
    ]) {
      const { id } = await own.createConnection(accountId, name)
      await own.expect(own.call('deleteConnection', { accountId, id }))
      const sql = 'update connections set deleted_time = now() - $2::interval where id = $1'
      await service.database.pool.query(sql, [id, ago])
    }
    for (const where of [{ accountId }, {}]) {
      for (const [query, names] of [
        [{}, ['late', 'kept']],
        [{ status: 'deleted' }, ['late']],
        [{ q: 'gone' }, []],
        [{ q: 'amazon' }, ['late', 'kept']],
        [{ q: 'amazon', status: 'deleted' }, ['late']],
        [{ q: 'at', status: 'deleted' }, ['late']],
        [{ status: 'in-progress' }, ['kept']],
      ] as const) {
        const { response, headers } = await own.call('listConnections', { ...where, query })
        assert.deepEqual(
          [response.map(({ name }) => name), headers['x-total-count']],
          [names, String(names.length)],
          JSON.stringify({ ...where, ...query }),
        )
      }
    }
  })

  test('holds every sub-account of the organization, newest first, or the one that is named', async () => {
    const own = callerOf(service, await service.addOrganization())
    const [one, two] = [await own.addAccountWithSides(), await own.addAccountWithSides()]
    const made: string[] = []
    for (const [name, account] of Object.entries({ a: one, b: two, c: one, d: two })) {
      made.unshift((await own.createConnection(account.id, name)).name)
    }
    const names = async (accountId?: string) =>
      (await own.expect(own.call('listConnections', accountId === undefined ? {} : { accountId }))).map(
        ({ name }) => name,
      )
    assert.deepEqual(await names(), made)
    assert.deepEqual(await names(''), made)
    assert.deepEqual(
      [await names(one.id), await names(two.id)],
      [
        ['c', 'a'],
        ['d', 'b'],
      ],
    )
    const foreign = await caller.call('listConnections', { accountId: one.id })
    assert.deepEqual([foreign.status, foreign.error], [404, 'not_found'])
  })
})

const create = (accountId: string, name: string, srcConnectorId: string, destConnectorId: string) =>
  caller.call('createConnection', { accountId, body: { name, srcConnectorId, destConnectorId } })
