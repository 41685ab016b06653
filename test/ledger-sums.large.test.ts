import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sumLedger } from '../packages/server/src/transfers/purge-queries.ts'
import { purge } from '../packages/server/src/worker/purge.ts'
import { addAccountWithConnection, addConnection, type Inbox, makeInbox } from './harness/connections.ts'
import { type Caller, callerOf } from './harness/fixtures.ts'
import fc from './harness/property.ts'
import { startTestService, type TestService } from './harness/service.ts'
import { withSession } from './harness/session.ts'
import { claimed, ended } from './harness/standings.ts'

/** Old entries of the ledger become sums: volumes and reports stay the same (docs/decisions/limits-and-retention.md). */

const ledgerDays = 40

describe('the sums of the ledger', () => {
  let inbox: Inbox
  let service: TestService
  let caller: Caller
  let accountId: string
  let ids: string[]
  before(async () => {
    inbox = await makeInbox()
    service = await startTestService(inbox.env)
    caller = callerOf(service, await service.addOrganization())
    const first = await addAccountWithConnection(caller, inbox.folder)
    accountId = first.accountId
    ids = [first.id, (await addConnection(caller, accountId, 'Second')).id]
  })
  after(async () => {
    await service.close()
    await inbox.remove()
  })

  const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
  const sumAll = () => purge(service.database, { rejectDays: 30, ledgerDays, auditDays: 0 })
  const summedBy = async () => (await sumAll()).summedEntries

  type Entry = { of: number; transfer: string; age: number; read: number; rejected: number; test: boolean }
  /** Entries of a number of days ago, by the database's clock. */
  const fill = async (entries: readonly Entry[]) => {
    await sql('delete from ledger')
    await sql('update purges set ledger_summed_until = null')
    await sql(
      `insert into ledger
         (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, test, bytes)
       select e.transfer, row_number() over (partition by e.transfer), c.organization_id, c.account_id, c.id,
         (now() at time zone 'UTC')::date - e.age, e.read, e.read - e.rejected, e.rejected, 0, e.test, e.read * 7::bigint
       from json_to_recordset($1) as e (of int, transfer text, age int, read int, rejected int, test boolean)
       join connections c on c.id = ($2::text[])[e.of + 1]`,
      JSON.stringify(entries),
      ids,
    )
  }
  /** Volumes and reports, of all days together. */
  const answers = async () => {
    const query = { startDate: (await sql(`select to_char(now() - interval '90 days', 'YYYY-MM-DD') as day`))[0]?.day }
    return {
      connections: await caller.expect(caller.call('reportConnections', { accountId, query })),
      accounts: await caller.expect(caller.call('reportAccounts', { query })),
      volume: await sql(
        `select connection_id, sum(read) as read, sum(accepted) as accepted from ledger where not test group by 1 order by 1`,
      ),
    }
  }
  const singles = async () =>
    (await sql(`select count(*)::int as n from ledger where transfer_id not like 'sum-%'`))[0]?.n

  test('answer as the entries did, whatever they are, by one process or two', async () => {
    const entry: fc.Arbitrary<Entry> = fc.record({
      of: fc.nat(1),
      transfer: fc.constantFrom('a', 'b', 'c'),
      age: fc.oneof(fc.integer({ min: 36, max: 46 }), fc.nat(80)),
      read: fc.integer({ min: 1_000, max: 1_000_000 }),
      rejected: fc.nat(1_000),
      test: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 40 }), fc.boolean(), async (entries, atOnce) => {
        await fill(entries)
        const expected = await answers()
        const old = entries.filter(({ age }) => age > ledgerDays).length
        const counts = await Promise.all(atOnce ? [summedBy(), summedBy()] : [summedBy()])
        assert.equal(
          counts.reduce((total, n) => total + n, 0),
          old,
        )
        assert.deepEqual(await answers(), expected)
        assert.equal(await singles(), entries.length - old)
        const rows = await sql('select * from ledger order by transfer_id, number')
        assert.equal(await summedBy(), 0)
        assert.deepEqual(await sql('select * from ledger order by transfer_id, number'), rows, 'nothing changes again')
      }),
      { numRuns: 15 },
    )
  })

  test('hold more than an integer does, and more entries than one statement takes', async () => {
    const huge = { of: 0, transfer: 'a', age: 50, read: 900_000_000, rejected: 0, test: false }
    const many = Array.from({ length: 10_500 }, () => ({ ...huge, of: 1, transfer: 'b', read: 1 }))
    await fill([...Array.from({ length: 5 }, () => huge), { ...huge, read: 2_000_000_000 }, ...many])
    const expected = await answers()
    assert.equal(await summedBy(), 10_505)
    assert.deepEqual(await answers(), expected)
    assert.equal(await singles(), 1, 'an entry too large for a sum stays')
  })

  const startOne = async (): Promise<string> => {
    const started = await caller.expect(caller.call('startTransfer', { accountId, id: ids[0] as string, body: {} }))
    await sql(claimed(), started.id)
    return started.id
  }

  test('leave the entries of a transfer that has not ended: its confirmation is still refused a second time', async () => {
    const id = await startOne()
    await fill([
      { of: 0, transfer: id, age: 50, read: 5, rejected: 0, test: false },
      { of: 0, transfer: 'ended', age: 50, read: 6, rejected: 0, test: false },
    ])
    assert.equal(await summedBy(), 1)
    assert.equal(await singles(), 1)
    const again = `insert into ledger
        (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes)
      select transfer_id, number, organization_id, account_id, connection_id, (now() at time zone 'UTC')::date, 5, 5, 0, 0, 0
      from ledger where transfer_id = $1`
    await assert.rejects(sql(again, id), { code: '23505' })
  })

  test('are made whole or not at all if the process or the database dies', async () => {
    const entry = { of: 0, transfer: 'a', age: 50, read: 5, rejected: 1, test: false }
    await fill([entry, entry, { ...entry, of: 1 }])
    const expected = await answers()
    const rows = await sql('select * from ledger order by number')
    const place = { after: '-infinity', until: '9999-01-01', account: '', limit: 10 }
    await withSession(service.databaseUrl, async (session) => {
      session.on('error', () => {})
      await session.query('begin')
      assert.equal((await session.query(sumLedger.sends(place))).rows[0]?.removed, 3)
      const [own] = (await session.query('select pg_backend_pid() as pid')).rows
      await sql('select pg_terminate_backend($1, 5000)', own?.pid)
    })
    assert.deepEqual(await sql('select * from ledger order by number'), rows)
    // Between the sums and the note of the day: the next run finds nothing left, and continues after it.
    await service.database.transaction((tx) => sumLedger.first(tx, place))
    assert.deepEqual(await answers(), expected)
    assert.equal(await summedBy(), 0)
    assert.deepEqual(await answers(), expected)
  })

  test('are made of more accounts than one statement looks at', async () => {
    await fill([{ of: 0, transfer: 'a', age: 50, read: 5, rejected: 0, test: false }])
    await sql(
      `insert into accounts (id, organization_id, name, enabled, env)
       select prefix || n, organization_id, 'Many', true, 'production'
       from accounts, generate_series(1, 1100) n, (values ('0'), ('z')) as p (prefix) where id = $1`,
      accountId,
    )
    assert.equal(await summedBy(), 1)
    await sql(`delete from accounts where name = 'Many'`)
  })

  test('go with their account', async () => {
    await sql(ended('cancelled', `status = 'running'`))
    await fill([{ of: 0, transfer: 'a', age: 50, read: 5, rejected: 0, test: false }])
    assert.equal(await summedBy(), 1)
    await caller.expect(caller.call('deleteAccount', { id: accountId }))
    await sql(
      `with gone as (update accounts set deleted_time = now() - interval '31 days' where id = $1)
       update connections set deleted_time = now() - interval '31 days' where account_id = $1`,
      accountId,
    )
    assert.equal((await sumAll()).ledgerEntries, 1)
    assert.deepEqual(await sql('select from ledger'), [])
  })
})
