import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { BatchWindow, Connector, Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'

/** A database in which windows of rows are replaced, with its words for the same things. */
export type WindowStore = {
  readonly connector: Connector
  readonly secrets: Values
  readonly settings: Values
  /** Its table, with the schema. */
  readonly table: string
  readonly textType: string
  /** The column `day` as a text. */
  readonly dayText: string
  query(sql: string): Promise<readonly Record<string, unknown>[]>
  /** Removes all tables. */
  clear(): Promise<void>
}

const columns = ['account', 'day', 'campaign', 'clicks']
const scope = { account: ['100'], day: ['2026-03-01', '2026-03-02'] }
/** A window of one batch. */
export const whole: BatchWindow = { scope, begins: true, ends: true, spoiled: false }
const [first, middle, last] = [
  { ...whole, ends: false },
  { ...whole, begins: false, ends: false },
  { ...whole, begins: false },
]
/** Rows outside of the scope: another account, and a day before. */
export const others: readonly [string, string] = ['100 2026-02-28 a 1', '200 2026-03-01 a 1']

export const row = (campaign: string, clicks = 2, day = '2026-03-01', account = '100'): Row => [
  account,
  day,
  campaign,
  clicks,
]

/** Opens a writer that upserts into the table of a store, and numbers its batches. */
export async function openWriter({ connector, secrets, settings: own }: WindowStore, transferId?: string) {
  const settings = { ...own, table: 't', writeMode: 'Upsert', keyColumns: 'account,day,campaign' }
  const of = transferId === undefined ? {} : { transferId }
  const writer = await connector.destination?.deliver?.open(testContext({ secrets, settings, columns, ...of }))
  assert(writer)
  let number = 0
  return {
    close: () => writer.close?.(),
    deliver: (window: BatchWindow, rows: readonly Row[], key = String(++number)) =>
      writer.deliver({ key: key.padStart(32, '0'), columns, rows, firstRow: 1, window }),
  }
}

/** The rows of the table, as texts. */
export async function keptIn({ query, table, dayText }: WindowStore): Promise<string[]> {
  const rows = await query(`select account, ${dayText} as day, campaign, clicks from ${table} order by 1, 2, 3`)
  return rows.map((one) => Object.values(one).join(' '))
}

/** Makes the table, with rows inside and outside of the scope. */
export async function prepareTable({ query, clear, table, textType }: WindowStore): Promise<void> {
  await clear()
  await query(
    `create table ${table} (account bigint, day date, campaign ${textType}, clicks int check (clicks < 1000), primary key (account, day, campaign))`,
  )
  await query(
    `insert into ${table} values (100, '2026-02-28', 'a', 1), (100, '2026-03-01', 'a', 1), (100, '2026-03-01', 'b', 1), (100, '2026-03-02', 'a', 1), (200, '2026-03-01', 'a', 1)`,
  )
}

/** Tests that a window of rows replaces the rows of its scope at a database, and only these. */
export function testWindows(title: string, store: WindowStore): void {
  const { query, table, textType } = store
  const kept = () => keptIn(store)
  const gone = [others[0], '100 2026-03-01 a 2', '100 2026-03-02 c 2', others[1]]

  describe(title, () => {
    beforeEach(() => prepareTable(store))

    test('deletes the rows of a window that are not in it, and none outside', async () => {
      const writer = await openWriter(store)
      const { rejected } = await writer.deliver(whole, [row('a'), row('c', 2, '2026-03-02')])
      assert.equal(rejected, undefined)
      assert.deepEqual(await kept(), gone)
      await writer.deliver(whole, [])
      assert.deepEqual(await kept(), others)
      await writer.close()
    })

    test('deletes at the end of a window of several batches, and before it none', async () => {
      const writer = await openWriter(store)
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
      const writer = await openWriter(store)
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
      const successor = await openWriter(store)
      await successor.deliver(last, [row('b')], '99')
      await all(5)
      await successor.close()
    })

    test('deletes once, in the transaction of the last batch, if that is repeated', async () => {
      const writer = await openWriter(store)
      await writer.deliver(whole, [row('a')], '7')
      await query(`insert into ${table} values (100, '2026-03-01', 'later', 1)`)
      await writer.deliver(whole, [row('a')], '7')
      assert.deepEqual(await kept(), [others[0], '100 2026-03-01 a 2', '100 2026-03-01 later 1', others[1]])
      await writer.close()
    })

    test('keeps rows that the database does not delete, and takes the others', async () => {
      await query(
        `create table ${table.replace(/t$/, 'notes')} (account bigint, day date, campaign ${textType}, foreign key (account, day, campaign) references ${table} (account, day, campaign))`,
      )
      await query(`insert into ${table.replace(/t$/, 'notes')} values (100, '2026-03-01', 'b')`)
      const writer = await openWriter(store)
      assert.equal((await writer.deliver(whole, [row('a', 7)])).rejected, undefined)
      assert.ok((await kept()).includes('100 2026-03-01 a 7'))
      assert.equal((await kept()).length, 5)
      // No row can have such an account.
      await writer.deliver({ ...whole, scope: { ...scope, account: ['act_1'] } }, [])
      assert.equal((await kept()).length, 5)
      await writer.close()
    })
  })
}
