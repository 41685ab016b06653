import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { BatchWindow, Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import { batchOf, connectorErrorOf } from '../../test/tables.ts'
import { startWarehouses } from '../../test/warehouses.ts'
import { clickhouseDestination } from '../clickhouse/clickhouse-destination.ts'
import { databricksDestination } from '../databricks/databricks-destination.ts'

/** Windows of reports in the warehouses, as `postgresql/window.test.ts` has them. */

const { warehouses, close } = await startWarehouses()
after(close)

const columns = ['account', 'day', 'campaign', 'clicks']
const upsert = { writeMode: 'Upsert', keyColumns: 'account,day,campaign' }
const scope = { account: ['100'], day: ['2026-03-01', '2026-03-02'] }
const whole: BatchWindow = { scope, begins: true, ends: true, spoiled: false }
const [first, middle, last] = [
  { ...whole, ends: false },
  { ...whole, begins: false, ends: false },
  { ...whole, begins: false },
]
const row = (campaign: string, clicks: number | null = 2, day = '2026-03-01', account = '100'): Row => [
  account,
  day,
  campaign,
  clicks,
]

for (const { connector, options, settings, table, run, proxy, left } of warehouses) {
  describe(`windows of rows in ${connector.name}`, () => {
    let number = 0
    let transfers = 0
    async function openWriter(transferId = `transfer-${++transfers}`, attempt = 1) {
      const context = testContext({ ...options, settings: { ...settings, ...upsert }, columns, transferId, attempt })
      const writer = await connector.destination?.deliver?.open(context)
      assert(writer)
      return {
        close: () => writer.close?.(),
        deliver: (window: BatchWindow, rows: readonly Row[], key = ++number) =>
          writer.deliver({ ...batchOf(columns, rows, key), window }),
      }
    }
    const kept = async () => {
      const text = `select account, day, campaign, clicks from ${table} order by 1, 2, 3`
      return (await run(text)).rows.map((cells) => cells.join(' '))
    }
    /** Rows outside of the scope: another account, and a day before. */
    const others = ['100 2026-02-28 a 1', '200 2026-03-01 a 1']
    const gone = [others[0], '100 2026-03-01 a 2', '100 2026-03-02 c 2', others[1]]

    beforeEach(async () => {
      await run(`drop table if exists ${table}`)
      const key = connector === clickhouseDestination ? ', primary key (account, day, campaign)' : ''
      await run(
        `create table ${table} (account bigint not null, day date not null, campaign varchar not null, clicks int${key})`,
      )
      await run(
        `insert into ${table} values (100, '2026-02-28', 'a', 1), (100, '2026-03-01', 'a', 1), (100, '2026-03-01', 'b', 1), (100, '2026-03-02', 'a', 1), (200, '2026-03-01', 'a', 1)`,
      )
    })

    test('deletes the rows of a window that are not in it, and none outside', async () => {
      const writer = await openWriter()
      const { rejected } = await writer.deliver(whole, [row('a'), row('c', 2, '2026-03-02')])
      assert.equal(rejected, undefined)
      assert.deepEqual(await kept(), gone)
      await writer.deliver(whole, [])
      assert.deepEqual(await kept(), others)
      await writer.close()
      assert.equal(await left(), 0)
    })

    test('deletes at the end of a window of several batches, and before it none', async () => {
      const writer = await openWriter()
      await writer.deliver(first, [row('a', 7), row('a')])
      await writer.deliver(middle, [row('c', 2, '2026-03-02')])
      assert.equal((await kept()).length, 6)
      await writer.deliver(last, [])
      assert.deepEqual(await kept(), gone)
      await writer.deliver(first, [row('a')])
      await writer.deliver(last, [row(`it's "b"\\`)])
      assert.deepEqual(await kept(), [others[0], '100 2026-03-01 a 2', `100 2026-03-01 it's "b"\\ 2`, others[1]])
      await writer.close()
      assert.equal(await left(), 0)
    })

    test('deletes nothing if it is not known which rows are missing', async () => {
      const all = async (count: number) => assert.equal((await kept()).length, count)
      const writer = await openWriter()
      await writer.deliver({ ...whole, spoiled: true }, [row('a')])
      await all(5)
      const { rejected } = await writer.deliver(whole, [row('a'), ['100', '2026-03-01', null, 1]])
      assertRejected(rejected, [[1, 'campaign']])
      await all(5)
      await writer.deliver(first, [row('a'), ['100', '2026-03-01', 'x', 'many']])
      await writer.deliver(last, [row('b')])
      await all(5)
      // Another window in between, and one whose beginning another process wrote.
      await writer.deliver(first, [row('a')])
      await writer.deliver({ ...middle, scope: { account: ['200'], day: ['2026-03-01'] } }, [])
      await writer.deliver(last, [row('b')])
      await all(5)
      // No row can have such an account.
      await writer.deliver({ ...whole, scope: { ...scope, account: ['act_1'] } }, [])
      await all(5)
      await writer.close()
      const successor = await openWriter('transfer-1', 2)
      await successor.deliver(last, [row('b')])
      await all(5)
      await successor.close()
      assert.equal(await left(), 0)
    })

    test('is right after the next transfer if a process ends at any request of a window', async () => {
      const batches: readonly (readonly [BatchWindow, readonly Row[]])[] = [
        [first, [row('a'), row('c', 3)]],
        [middle, [row('d', 4, '2026-03-02')]],
        [last, [row('e', 5)]],
      ]
      const right = [
        others[0],
        '100 2026-03-01 a 2',
        '100 2026-03-01 c 3',
        '100 2026-03-01 e 5',
        '100 2026-03-02 d 4',
        others[1],
      ]
      let requests = 0
      for (let at = 0; at <= requests; at++) {
        const transferId = `transfer-${++transfers}`
        const key = ++number * 10
        await run(`delete from ${table} where account = 100 and day > '2026-02-28'`)
        await run(`insert into ${table} values (100, '2026-03-01', 'vanished', 9)`)
        let seen = 0
        // This request is the last one that reaches the warehouse, as after a kill.
        proxy.failure = {
          what: 'loses the answer',
          of: () => {
            if (++seen < at || at === 0) return false
            proxy.failure = { what: 'resets' }
            return true
          },
        }
        let done = 0
        const [result] = await Promise.allSettled([
          (async () => {
            const killed = await openWriter(transferId)
            for (const [index, [window, rows]] of batches.entries()) {
              await killed.deliver(window, rows, key + index)
              done = index + 1
            }
          })(),
        ])
        proxy.failure = undefined
        if (at === 0) requests = seen
        // Stages that cannot be removed stop nothing.
        assert.equal(result?.status, at === 0 || done === 3 ? 'fulfilled' : 'rejected', String(at))
        // The next attempt repeats the batch that was not confirmed, and the next transfer reads the days again.
        const resumed = await openWriter(transferId, 2)
        for (const [index, [window, rows]] of batches.entries()) {
          if (index >= done) await resumed.deliver(window, rows, key + index)
        }
        await resumed.close()
        const next = await openWriter()
        for (const [window, rows] of batches) await next.deliver(window, rows)
        await next.close()
        assert.deepEqual(await kept(), right, `killed at request ${at} of ${requests}`)
      }
      assert.ok(requests > 3)
    })

    // Databricks has no note of merged files.
    test('changes nothing by a batch that comes again after a later one', {
      skip: connector === databricksDestination,
    }, async () => {
      const writer = await openWriter()
      await writer.deliver(first, [row('a', 6)], 901)
      await writer.deliver(middle, [row('a', 7)], 902)
      await writer.deliver(first, [row('a', 6)], 901)
      await writer.close()
      assert.ok((await kept()).includes('100 2026-03-01 a 7'))
    })

    test('names a key that it cannot use', async () => {
      const open = async (own: Values, names = columns) =>
        connector.destination?.deliver?.open(
          testContext({ ...options, settings: { ...settings, ...upsert, ...own }, columns: names }),
        )
      const codeOf = async (...given: Parameters<typeof open>) => (await connectorErrorOf(open(...given)))[1]
      assert.equal(await codeOf({}, ['account', 'day', 'clicks']), 'column_not_found')
      assert.equal(await codeOf({ keyColumns: ' , ' }), 'invalid_setting')
      if (connector === clickhouseDestination) {
        assert.equal(await codeOf({ keyColumns: 'account,day' }), 'key_not_unique')
        await run(`drop table ${table}`)
        assert.equal(await codeOf({}), 'table_not_found')
        await (await open({ createTable: true }))?.deliver(batchOf(columns, [row('a', 1), row('a', 2)], 903))
        assert.deepEqual(await kept(), ['100 2026-03-01 a 2'])
      }
      assert.deepEqual(connector.destination?.deliver?.windowKeys?.(upsert), ['account', 'day', 'campaign'])
      assert.equal(connector.destination?.deliver?.windowKeys?.({ writeMode: 'Append' }), undefined)
    })
  })
}
