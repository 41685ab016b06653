import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import { claimAlone } from '../packages/server/src/transfers/supervisor/claim.ts'
import { claimAnywhere, claimOldest } from '../packages/server/src/transfers/supervisor/claim-queries.ts'
import { someQueued } from '../packages/server/src/transfers/supervisor/upkeep-queries.ts'
import { thisProgram } from '../packages/server/src/transfers/supervisor/versions.ts'
import { createTestDatabase } from './harness/database.ts'
import { accountId, loadAccounts, prepareToLoad } from './harness/many-connections.ts'
import { explain, planModes } from './harness/plans.ts'

const own = await createTestDatabase()
const client = await openSession(own.url, 'test')
const database = openDatabase({ url: own.url, poolSize: 1 })
after(async () => {
  await database.close()
  await client.end()
  await own.drop()
})

const accounts = 20
const connectionsEach = 30
await prepareToLoad(client)
await loadAccounts(client, { first: 0, last: accounts - 1, connectionsEach })

beforeEach(() => client.query('truncate transfers cascade'))

/** Queues transfers of an account, one after the other, each of another connection. */
async function queue(account: number, many: number, platform = 'a'): Promise<void> {
  await client.query(
    `insert into transfers
       (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger, created_time)
     select $1 || '-' || lpad(n::text, 2, '0'), organization_id, account_id, id, 'from-' || $4, 'to', 'queued', 'manual',
       timestamptz '2026-01-01' + n * interval '1 second'
     from (select *, row_number() over (order by id) as n from connections where account_id = $2) c where n <= $3`,
    [String(account), accountId(account), many, platform],
  )
}

const noLimits = {
  perAccount: 1000,
  perPlatform: 1,
  perTransfer: 2,
  platformConnectors: '[]',
  fullOrganizations: [] as string[],
  fullAccounts: [] as string[],
  perOrganization: 0,
  worker: 'test',
}
async function claim(times: number, limits: Partial<typeof noLimits> = {}): Promise<(string | undefined)[]> {
  const program = await thisProgram()
  const claimed: (string | undefined)[] = []
  for (let i = 0; i < times; i++) {
    claimed.push((await claimAlone(database, { ...noLimits, ...program, ...limits }))?.id)
  }
  return claimed
}

describe('claiming a transfer', () => {
  test('takes that of the account that runs least, and of it the oldest', async () => {
    await queue(1, 4)
    await queue(2, 2)
    await queue(3, 1)
    assert.deepEqual(await claim(8), ['1-01', '2-01', '3-01', '1-02', '2-02', '1-03', '1-04', undefined])
    const { rows } = await client.query(
      `select distinct t.status, p.status as of_part, t.attempt, p.attempt as attempt_of_part, heartbeat_time is not null as heartbeats
       from transfers t join transfer_parts p on p.transfer_id = t.id`,
    )
    assert.deepEqual(rows, [
      { status: 'running', of_part: 'running', attempt: 1, attempt_of_part: 1, heartbeats: true },
    ])
  })

  test('takes no more of one account than may run at once', async () => {
    await queue(1, 3)
    await queue(2, 1)
    assert.deepEqual(await claim(4, { perAccount: 1 }), ['1-01', '2-01', undefined, undefined])
    await client.query(`update transfers set status = 'succeeded' where id = '1-01'`)
    assert.deepEqual(await claim(2, { perAccount: 1 }), ['1-02', undefined])
  })

  test('leaves those of a platform that is busy, and claims those behind them', async () => {
    await queue(1, 2, 'a')
    await queue(2, 2, 'b')
    const platformConnectors = JSON.stringify([
      { connector: 'from-a', platform: 'A' },
      { connector: 'also-a', platform: 'A' },
      { connector: 'from-b', platform: 'B' },
    ])
    await client.query(`update active_transfers set src_connector_id = 'from-b' where transfer_id = '1-02'`)
    const limits = { perPlatform: 1, platformConnectors }
    assert.deepEqual(await claim(3, limits), ['1-01', '2-01', undefined])
    await client.query(`update transfers set status = 'succeeded' where id = '2-01'`)
    assert.deepEqual(await claim(2, limits), ['2-02', undefined])
    await client.query(`update transfers set status = 'succeeded' where id = '2-02'`)
    assert.deepEqual(await claim(2, limits), ['1-02', undefined])
  })

  test('runs no more of a group than its limit, lets others pass, and takes the oldest of it next', async () => {
    await client.query(`insert into transfer_groups values ($1, 'w', 1)`, [accountId(1)])
    await client.query(
      `insert into connection_groups select id, account_id, 'w' from connections where account_id = $1`,
      [accountId(1)],
    )
    await queue(1, 3)
    await queue(2, 1)
    await client.query(`update active_transfers set group_name = null where transfer_id = '1-03'`)
    assert.deepEqual(await claim(4), ['1-01', '2-01', '1-03', undefined])
    await client.query(`update transfers set status = 'succeeded' where id = '1-01'`)
    assert.deepEqual(await claim(2), ['1-02', undefined])
    await client.query(`update transfer_groups set transfers_max = 2`)
    await client.query(`update transfers set status = 'succeeded' where id = '1-02'`)
    await client.query('delete from transfer_groups')
  })

  /** Divides a transfer into parts, as a worker does. */
  const divide = async (id: string, parts: number) => {
    await client.query(`update transfers set status = 'running', attempt = 1, parts = $2 where id = $1`, [id, parts])
    await client.query(
      `insert into transfer_parts (transfer_id, number, share) select $1, n, 1 from generate_series(2, $2) as n`,
      [id, parts],
    )
  }
  const claimParts = async (times: number, limits: Partial<typeof noLimits> = {}) => {
    const program = await thisProgram()
    const claimed: string[] = []
    for (let i = 0; i < times; i++) {
      const work = await claimAlone(database, { ...noLimits, ...program, ...limits })
      claimed.push(work ? `${work.id}/${work.part}` : '')
    }
    return claimed
  }

  test('counts a part as a transfer, and claims that of the transfer that runs least', async () => {
    await queue(1, 3)
    await queue(2, 1)
    await divide('1-01', 9)
    assert.deepEqual(await claimParts(5, { perTransfer: 3, perAccount: 4 }), [
      '1-01/1',
      '2-01/1',
      '1-02/1',
      '1-03/1',
      '1-01/2',
    ])
    assert.deepEqual(await claimParts(1, { perTransfer: 3, perAccount: 4 }), [''], 'four of the account run')
    assert.deepEqual(await claimParts(2, { perTransfer: 3 }), ['1-01/3', ''], 'three of the transfer run')
    await client.query(`update transfer_parts set status = 'succeeded' where number < 3`)
    assert.deepEqual(await claimParts(3, { perTransfer: 3 }), ['1-01/4', '1-01/5', ''])
    const limits = { perTransfer: 9, perPlatform: 1, platformConnectors: '[{"connector":"from-a","platform":"A"}]' }
    assert.deepEqual(await claimParts(1, limits), [''], 'its platform is busy')
  })

  test('reads no more of those that wait than it looks at, however many wait', async () => {
    for (let account = 0; account < accounts; account++) await queue(account, connectionsEach)
    await client.query('analyze transfers, active_transfers, transfer_parts')
    const most = [
      [claimOldest, 2],
      [claimAnywhere, 3 * accounts],
    ] as const
    for (const [statement, rows] of most) {
      for (const mode of planModes(statement)) {
        await client.query('begin')
        const plan = await explain(client, statement, { ...noLimits, ...(await thisProgram()) }, mode)
        await client.query('rollback')
        const read = plan.rowsReadFrom('active_transfers')
        for (const table of ['transfers', 'transfer_parts']) assert.equal(plan.rowsReadFrom(table), 1, plan.text)
        assert.ok(read <= rows, `${mode} reads ${read} rows of ${accounts * connectionsEach}:\n${plan.text}`)
      }
    }
    for (const mode of planModes(someQueued)) {
      const plan = await explain(client, someQueued, {}, mode)
      assert.equal(plan.rowsRead, 1, plan.text)
    }
  })

  test('finds among the oldest what it finds wherever it is', async () => {
    for (let account = 0; account < accounts; account++) await queue(account, 1 + (account % 7))
    // Organizations of one to eight accounts. Every account has waited since a different time.
    await client.query(`update active_transfers set organization_id = 'o' || length(ltrim(md5(account_id), '0123456789')) % 5,
      created_time = created_time + interval '1 second' * (ascii(md5(account_id)) % 9)`)
    for (const id of ['1-01', '5-02', '12-03']) await divide(id, 5)
    const program = await thisProgram()
    const first = async (statement: typeof claimOldest, parameters: typeof noLimits) => {
      await client.query('begin')
      const { rows } = await client.query<{ id: string; part: number }>(statement.sends({ ...parameters, ...program }))
      await client.query('rollback')
      return rows[0] && `${rows[0].id}/${rows[0].part}`
    }
    let [claims, among] = [0, 0]
    for (let n = 0; ; n++) {
      const fullAccounts = n % 3 === 0 ? [accountId(n % accounts)] : []
      const fullOrganizations = n % 4 === 0 ? [`o${n % 5}`] : []
      const limits = { ...noLimits, perAccount: 3, fullAccounts, fullOrganizations }
      const anywhere = await first(claimAnywhere, limits)
      const oldest = await first(claimOldest, limits)
      if (oldest !== undefined) assert.equal(oldest, anywhere)
      if (oldest !== undefined) among++
      if (n % 5 === 4)
        await client.query(
          `update transfers set status = 'succeeded' where id = (select min(id) from transfers where status = 'running')`,
        )
      if (anywhere === undefined && fullAccounts.length + fullOrganizations.length === 0) break
      if ((await claim(1, limits))[0] !== undefined) claims++
    }
    assert.ok(claims >= 40 && among >= claims / 4, `${claims} were claimed, ${among} of them among the oldest`)
  })
})
