import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addAccountWithConnection, addConnection, addEndedTransfer } from './harness/connections.ts'
import { callerOf } from './harness/fixtures.ts'
import { startTestsWithInbox } from './harness/started.ts'

/** Volume by day and month, from the ledger. */

const { service, inbox } = await startTestsWithInbox()
const caller = callerOf(service, await service.addOrganization())

describe('reports', () => {
  test('sum the ledger by day and month, of the days that are asked for, by account and by connection', async () => {
    const connection = await addAccountWithConnection(caller, inbox.folder)
    const { accountId, id } = connection
    const { id: silent } = await addConnection(caller, accountId, 'Silent')
    await addEndedTransfer(service, caller, connection)
    const today = new Date().toISOString().slice(0, 10)
    const record = (day: string, number: number, read: number, rejected: number) =>
      service.database.pool.query(
        `insert into ledger (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes)
         select 'of the past', $3, organization_id, account_id, id, $2, $4, $4::int - $5::int, $5, 0, 10 from connections where id = $1`,
        [id, day, number, read, rejected],
      )
    await record('2026-01-31', 1, 5, 1)
    await record('2026-01-31', 2, 7, 0)
    await record('2026-02-01', 3, 11, 11)
    await record('2025-12-31', 4, 13, 0)
    try {
      const ask = async (query: object) =>
        (await caller.expect(caller.call('reportConnections', { accountId, query: { size: 500, ...query } }))).find(
          ({ connectionId }) => connectionId === id,
        )
      const past = await ask({ startDate: '2026-01-01', endDate: '2026-02-28' })
      assert.deepEqual(past?.days, [
        { day: '2026-01-31', read: 12, accepted: 11, rejected: 1, replayed: 0, bytes: 20 },
        { day: '2026-02-01', read: 11, accepted: 0, rejected: 11, replayed: 0, bytes: 10 },
      ])
      assert.deepEqual(
        past?.months.map(({ month, read }) => [month, read]),
        [
          ['2026-01', 12],
          ['2026-02', 11],
        ],
      )
      assert.deepEqual(past?.total, { read: 23, accepted: 11, rejected: 12, replayed: 0, bytes: 30 })
      assert.equal((await ask({ startDate: '2025-12-31', endDate: '2025-12-31' }))?.total.read, 13)
      const now = await ask({})
      assert.deepEqual(
        now?.days.map(({ day, read, accepted }) => [day, read, accepted]),
        [[today, 2, 1]],
      )
      const all = await caller.expect(caller.call('reportConnections', { accountId, query: { size: 500 } }))
      assert.deepEqual(all.find(({ connectionId }) => connectionId === silent)?.days, [])

      const ofAccount = async (query: object) =>
        (await caller.expect(caller.call('reportAccounts', { query: { size: 500, ...query } }))).find(
          (report) => report.accountId === accountId,
        )
      const january = { startDate: '2026-01-01', endDate: '2026-01-31' }
      assert.equal((await ofAccount(january))?.total.read, 12)
      const sum = all.reduce((total, { total: { accepted } }) => total + accepted, 0)
      assert.equal((await ofAccount({}))?.total.accepted, sum)
    } finally {
      await service.database.pool.query(`delete from ledger where transfer_id = 'of the past'`)
    }
  })

  test('are by name, paged and filtered; deleted connections are among them, deleted accounts are not', async () => {
    const accounts = [
      await caller.addAccount('Zeta report'),
      await caller.addAccount('alpha Report'),
      await caller.addAccount('Mid report'),
    ]
    const ask = (query: object) => caller.call('reportAccounts', { query: { q: ' report'.trim(), ...query } })
    const { response, headers } = await ask({ size: 2 })
    assert.deepEqual(
      [headers['x-total-count'], response.map(({ accountName }) => accountName)],
      ['3', ['alpha Report', 'Mid report']],
    )
    assert.deepEqual(
      (await ask({ size: 2, offset: 2 })).response.map(({ accountName }) => accountName),
      ['Zeta report'],
    )
    await caller.expect(caller.call('deleteAccount', { id: accounts[1]?.id ?? '' }))
    assert.equal((await ask({})).headers['x-total-count'], '2')

    const { id: accountId } = await caller.addAccountWithSides()
    const ids = [
      (await caller.createConnection(accountId, 'b one')).id,
      (await caller.createConnection(accountId, 'A two')).id,
    ]
    const [gone = ''] = ids
    await caller.expect(caller.call('deleteConnection', { accountId, id: gone }))
    const list = (query: object) => caller.call('reportConnections', { accountId, query: { ...query } })
    const all = await list({})
    assert.deepEqual(
      [all.headers['x-total-count'], all.response.map(({ connectionName }) => connectionName)],
      ['2', ['A two', 'b one']],
    )
    assert.deepEqual(
      (await list({ q: 'B O' })).response.map(({ connectionId }) => connectionId),
      [gone],
    )
    await service.database.pool.query(
      `update connections set deleted_time = now() - interval '30 days 1 second' where id = $1`,
      [gone],
    )
    const later = await list({})
    assert.deepEqual([later.headers['x-total-count'], later.response.length], ['1', 1])
  })

  test('are of the accounts or connections that are named; unknown ones and those of others keep nothing', async () => {
    const [one, two] = [await caller.addAccountWithSides('Named one'), await caller.addAccountWithSides('named two')]
    const stranger = callerOf(service, await service.addOrganization())
    const foreign = await stranger.addAccountWithSides()
    const unknown = '0123456789abcdef'
    const accounts = async (accountIds: string, query: object = {}) => {
      const { headers, response } = await caller.call('reportAccounts', { query: { accountIds, ...query } })
      return [headers['x-total-count'], ...response.map(({ accountId }) => accountId)]
    }
    assert.deepEqual(await accounts(one.id), ['1', one.id])
    assert.deepEqual(await accounts(`${two.id},${unknown},${one.id},${two.id}`), ['2', one.id, two.id])
    assert.deepEqual(await accounts(`${two.id},${one.id}`, { size: 1, offset: 1 }), ['2', two.id])
    assert.deepEqual(await accounts(`${two.id},${one.id}`, { q: 'TWO' }), ['1', two.id])
    assert.deepEqual(await accounts(`${foreign.id},${unknown}`), ['0'])

    const a = await caller.createConnection(one.id, 'a')
    const b = await caller.createConnection(one.id, 'b')
    const elsewhere = await caller.createConnection(two.id, 'c')
    const theirs = await stranger.createConnection(foreign.id, 'd')
    const connections = async (connectionIds: string, query: object = {}) => {
      const asked = { accountId: one.id, query: { connectionIds, ...query } }
      const { headers, response } = await caller.call('reportConnections', asked)
      return [headers['x-total-count'], ...response.map(({ connectionId }) => connectionId)]
    }
    assert.deepEqual(await connections(b.id), ['1', b.id])
    assert.deepEqual(await connections(`${b.id},${a.id},${elsewhere.id},${theirs.id},${unknown}`), ['2', a.id, b.id])
    assert.deepEqual(await connections(`${b.id},${a.id}`, { q: 'B' }), ['1', b.id])
    assert.deepEqual(await connections(`${theirs.id},${unknown}`), ['0'])

    const ids = (count: number) => Array(count).fill(unknown).join(',')
    assert.deepEqual([await accounts(ids(100)), await connections(ids(100))], [['0'], ['0']])
    for (const bad of [ids(101), '', ',', 'x', `${one.id};${two.id}`]) {
      const replies = [
        await caller.call('reportAccounts', { query: { accountIds: bad } }),
        await caller.call('reportConnections', { accountId: one.id, query: { connectionIds: bad } }),
      ]
      const refusals = replies.map(({ status, details }) => [status, details.map(({ field }) => field).join()])
      assert.deepEqual(refusals, [
        [400, 'query.accountIds'],
        [400, 'query.connectionIds'],
      ])
    }
  })

  test('refuse days that are none, that end before they begin, or are too many', async () => {
    const { id: accountId } = await caller.addAccount()
    const refusals: [object, string][] = [
      [{ startDate: '2026-02-30' }, 'query.startDate'],
      [{ endDate: '2026-13-01' }, 'query.endDate'],
      [{ startDate: '2026-02-29', endDate: '2026-04-31' }, 'query.startDate,query.endDate'],
      [{ startDate: '01.02.2026' }, 'query.startDate'],
      [{ startDate: '2026-03-02', endDate: '2026-03-01' }, 'query.endDate'],
      [{ startDate: '2024-01-01', endDate: '2026-01-01' }, 'query.startDate'],
    ]
    for (const [query, field] of refusals) {
      for (const reply of [
        await caller.call('reportAccounts', { query: { ...query } }),
        await caller.call('reportConnections', { accountId, query: { ...query } }),
      ]) {
        assert.deepEqual([reply.status, reply.details.map((error) => error.field).join()], [400, field], reply.text)
      }
    }
    const most = { startDate: '2025-01-01', endDate: '2026-02-04' }
    assert.equal((await caller.call('reportAccounts', { query: most })).status, 200)
    assert.equal((await caller.call('reportAccounts', { query: { ...most, endDate: '2026-02-05' } })).status, 400)
  })
})
