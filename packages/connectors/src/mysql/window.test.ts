import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { asConnectorError, type BatchWindow, type Row } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { type Mariadb, startMariadb } from '../../test/mariadb.ts'
import { mysql } from './mysql.ts'

const server = await startMariadb()
if (server) testAgainst(server)
else test('windows of rows in MySQL against MariaDB', { skip: skipWithout('mariadbd') }, () => {})

const columns = ['account', 'day', 'campaign', 'clicks']
const settings = { table: 't', writeMode: 'Upsert', keyColumns: 'account,day,campaign' }
const scope = { account: ['100'], day: ['2026-03-01', '2026-03-02'] }
const whole: BatchWindow = { scope, begins: true, ends: true, spoiled: false }
const [first, middle, last] = [
  { ...whole, ends: false },
  { ...whole, begins: false, ends: false },
  { ...whole, begins: false },
]

function testAgainst(server: Mariadb): void {
  const { secrets, query } = server
  after(() => server.stop())
  async function openWriter(transferId?: string) {
    const of = transferId === undefined ? {} : { transferId }
    const writer = await mysql.destination?.deliver?.open(testContext({ secrets, settings, columns, ...of }))
    assert(writer)
    let number = 0
    return {
      close: () => writer.close?.(),
      deliver: (window: BatchWindow, rows: readonly Row[], key = String(++number)) =>
        writer.deliver({ key: key.padStart(32, '0'), columns, rows, firstRow: 1, window }),
    }
  }
  const row = (campaign: string, clicks = 2, day = '2026-03-01', account = '100'): Row => [
    account,
    day,
    campaign,
    clicks,
  ]
  const kept = async () =>
    (await query('select account, cast(day as char) as day, campaign, clicks from t order by 1, 2, 3')).map((one) =>
      Object.values(one).join(' '),
    )
  /** Rows outside of the scope: another account, and a day before. */
  const others = ['100 2026-02-28 a 1', '200 2026-03-01 a 1']

  describe(`windows of rows in MySQL against MariaDB ${server.version}`, () => {
    beforeEach(async () => {
      await server.administer('drop database penstock')
      await server.administer('create database penstock character set utf8mb4')
      await query('use penstock')
      await query(
        'create table t (account bigint, day date, campaign varchar(50), clicks int check (clicks < 1000), primary key (account, day, campaign))',
      )
      await query(
        `insert into t values (100, '2026-02-28', 'a', 1), (100, '2026-03-01', 'a', 1), (100, '2026-03-01', 'b', 1), (100, '2026-03-02', 'a', 1), (200, '2026-03-01', 'a', 1)`,
      )
    })
    const gone = [others[0], '100 2026-03-01 a 2', '100 2026-03-02 c 2', others[1]]

    test('deletes the rows of a window that are not in it, and none outside', async () => {
      const writer = await openWriter()
      const { rejected } = await writer.deliver(whole, [row('a'), row('c', 2, '2026-03-02')])
      assert.equal(rejected, undefined)
      assert.deepEqual(await kept(), gone)
      await writer.deliver(whole, [])
      assert.deepEqual(await kept(), others)
      await writer.close()
    })

    test('deletes at the end of a window of several batches, and before it none', async () => {
      const writer = await openWriter()
      await writer.deliver(first, [row('a'), row('a')])
      await writer.deliver(middle, [row('c', 2, '2026-03-02')])
      assert.equal((await kept()).length, 6)
      await writer.deliver(last, [])
      assert.deepEqual(await kept(), gone)
      await writer.deliver(first, [row('a')])
      await writer.deliver(last, [row('b')])
      assert.deepEqual(await kept(), [others[0], '100 2026-03-01 a 2', '100 2026-03-01 b 2', others[1]])
      await writer.close()
    })

    test('deletes nothing if it is not known which rows are missing', async () => {
      const all = async (count: number) => assert.equal((await kept()).length, count)
      const writer = await openWriter()
      await writer.deliver({ ...whole, spoiled: true }, [row('a')])
      await all(5)
      const { rejected } = await writer.deliver(whole, [row('a'), row('b', 5000)])
      assert.equal(rejected?.length, 1)
      await all(5)
      await writer.deliver(first, [row('a', 5000)])
      await writer.deliver(last, [row('b')])
      await all(5)
      // Another window in between, and one whose beginning another process wrote.
      await writer.deliver(first, [row('a')])
      await writer.deliver({ ...middle, scope: { account: ['200'], day: ['2026-03-01'] } }, [])
      await writer.deliver(last, [row('b')])
      await all(5)
      await writer.close()
      const successor = await openWriter()
      await successor.deliver(last, [row('b')], '99')
      await all(5)
      await successor.close()
    })

    test('deletes nothing if an upsert finds rows by another key, too', async () => {
      await query('alter table t add unique key (account, day, clicks, campaign)')
      const writer = await openWriter()
      await writer.deliver(whole, [row('new', 7)])
      assert.equal((await kept()).length, 6)
      await writer.close()
    })

    test('deletes once, in the transaction of the last batch, if that comes again', async () => {
      const writer = await openWriter()
      await writer.deliver(whole, [row('a')], '7')
      await query(`insert into t values (100, '2026-03-01', 'later', 1)`)
      await writer.deliver(whole, [row('a')], '7')
      assert.deepEqual(await kept(), [others[0], '100 2026-03-01 a 2', '100 2026-03-01 later 1', others[1]])
      await writer.close()
    })

    test('keeps rows that the database does not delete, and takes the others', async () => {
      await query(
        'create table notes (account bigint, day date, campaign varchar(50), foreign key (account, day, campaign) references t (account, day, campaign))',
      )
      await query(`insert into notes values (100, '2026-03-01', 'b')`)
      const writer = await openWriter()
      assert.equal((await writer.deliver(whole, [row('a', 7)])).rejected, undefined)
      assert.ok((await kept()).includes('100 2026-03-01 a 7'))
      assert.equal((await kept()).length, 5)
      // No row can have such an account.
      await writer.deliver({ ...whole, scope: { ...scope, account: ['act_1'] } }, [])
      assert.equal((await kept()).length, 5)
      await writer.close()
    })

    test('are written by several writers at once, each a part of a transfer', async (t) => {
      await query('delete from t')
      const days = Array.from({ length: 24 }, (_, at) => `2026-03-${String(at + 1).padStart(2, '0')}`)
      const campaigns = (from: number) => Array.from({ length: 40 }, (_, at) => `c${from + at}`)
      for (const day of days) {
        await query(`insert into t values ${campaigns(0).map((name) => `(100, '${day}', '${name}', 1)`)}`)
      }
      let again = 0
      const write = async (part: number) => {
        const writer = await openWriter(`0f1e2d3c4b5a6978-${part + 1}`)
        for (const [at, day] of days.slice(part * 6, part * 6 + 6).entries()) {
          const rows = campaigns(20).map((name) => row(name, 2, day))
          const window = { ...whole, scope: { account: ['100'], day: [day] } }
          for (let isWritten = false; !isWritten; ) {
            try {
              const { rejected } = await writer.deliver(window, rows, String(at))
              assert.equal(rejected?.length ?? 0, 0)
              isWritten = true
            } catch (error) {
              // As the engine does, which sends the batch again.
              assert.equal(asConnectorError(error)?.code, 'conflict')
              again++
            }
          }
        }
        await writer.close()
      }
      await Promise.all([0, 1, 2, 3].map(write))
      const expected = days.flatMap((day) => campaigns(20).map((name) => `100 ${day} ${name} 2`))
      assert.deepEqual((await kept()).sort(), expected.sort())
      t.diagnostic(`${again} batches were sent again`)
    })
  })
}
