import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Batch, Row } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { stagingBucket, startRedshiftServer } from '../../test/redshift-server.ts'
import { testRemovals } from '../../test/removals.ts'
import { batchOf } from '../../test/tables.ts'
import { startWarehouses, type Warehouse } from '../../test/warehouses.ts'
import { clickhouseDestination } from '../clickhouse/clickhouse-destination.ts'
import { googleBigqueryDestination } from '../google-bigquery/google-bigquery-destination.ts'
import { amazonRedshiftDestination } from '../redshift/amazon-redshift-destination.ts'

/** Rows that are removed by their key, in each warehouse. */

const { warehouses, close } = await startWarehouses()
after(close)
const redshift = await startRedshiftServer()
after(() => redshift.close())

type Removing = Omit<Warehouse, 'run' | 'proxy' | 'left'> & {
  readonly run: (statement: string) => Promise<{ readonly rows: readonly (readonly unknown[])[] }>
}
const removing: readonly Removing[] = [
  ...warehouses,
  {
    connector: amazonRedshiftDestination,
    options: { secrets: redshift.secrets, routes: redshift.routes },
    settings: { schema: 'crm', table: 't', stagingPath: `s3://${stagingBucket}` },
    table: 'crm.t',
    run: async (statement) => ({ rows: (await redshift.query(statement)).map((row) => Object.values(row)) }),
  },
]

const upsertBy = (keyColumns: string) => ({ writeMode: 'Upsert', keyColumns })
const removalOf = (batch: Batch, ...removed: number[]): Batch => ({ ...batch, removed: new Set(removed) })
const indexesOf = (delivery: { rejected?: readonly { index?: number; field?: string }[] } | undefined) =>
  delivery?.rejected?.map(({ index, field }) => [index, field])

for (const { connector, options, settings, table, run } of removing) {
  const primary = (keys: string) => (connector === clickhouseDestination ? `, primary key (${keys})` : '')
  const create = async (columns: string, keys: string) => {
    await run(`drop table if exists ${table}`)
    await run(`create table ${table} (${columns}${primary(keys)})`)
  }

  describe(`removing from ${connector.name}`, () => {
    testRemovals({
      connector,
      secrets: options.secrets,
      routes: options.routes,
      settings: { ...settings, ...upsertBy('id') },
      async reset(rows) {
        await create('id bigint not null, name varchar', 'id')
        for (const [id, name] of rows) await run(`insert into ${table} values (${id}, '${name}')`)
      },
      rows: async () =>
        (await run(`select id, name from ${table} order by id`)).rows.map(([id, name]) => [Number(id), String(name)]),
    })

    test('finds rows by keys of any type, in any notation, and leaves keys that differ in case', async () => {
      await create(
        'code varchar not null, day date not null, paid decimal(12, 2) not null, changed timestamp not null, note varchar, number int not null',
        'code, day, paid, changed',
      )
      const quoted = `it's "x"\\`
      for (const code of ['A', 'a', `it''s "x"\\`]) {
        await run(`insert into ${table} values ('${code}', '2026-01-31', 7.5, '2026-01-31 12:00:00', 'old', 1)`)
      }
      const columns = ['number', 'paid', 'code', 'day', 'changed', 'note']
      const rowOf = (code: string | null, number: string | number, paid = '7.5', at = '2026-01-31T12:00:00Z'): Row => [
        number,
        paid,
        code,
        '2026-01-31',
        at,
        'new',
      ]
      const rows: Row[] = [
        // Only the key of a row that is removed is looked at.
        rowOf('A', 'no number', '7.50', '2026-01-31T13:00:00+01:00'),
        rowOf(quoted, 2, '07.5'),
        rowOf('b', 3),
        rowOf('b', 'no number', '7.50'),
        rowOf('c', 'no number'),
        rowOf('c', 4, '7.50'),
        rowOf(null, 5),
        rowOf('d', 6, 'no decimal'),
        rowOf('e', 'no number'),
      ]
      const context = testContext({
        ...options,
        settings: { ...settings, ...upsertBy('code, day, paid, changed') },
        columns,
      })
      const writer = await connector.destination?.deliver?.open(context)
      for (let time = 0; time < 2; time++) {
        const delivery = await writer?.deliver(removalOf(batchOf(columns, rows, 51), 0, 1, 3, 4, 6, 7))
        assert.deepEqual(indexesOf(delivery), [
          [6, 'code'],
          [7, 'paid'],
          [8, 'number'],
        ])
        assert.deepEqual(
          (await run(`select code, note, number from ${table} order by code`)).rows.map((cells) => cells.join(' ')),
          ['a old 1', 'c new 4'],
        )
      }
      await writer?.close?.()
    })

    test('names keys by the values of their columns, in any notation', async () => {
      await create(
        'code varchar not null, day date not null, paid decimal(12, 2) not null, changed timestamp not null, big bigint not null',
        'code, day, paid, changed, big',
      )
      const columns = ['big', 'paid', 'code', 'day', 'changed']
      const own = { ...settings, ...upsertBy('code, day, paid, changed, big'), sendRows: 'Mirror' }
      const writer = await connector.destination?.deliver?.open(testContext({ ...options, settings: own, columns }))
      const keyOf = (code: string, paid: string, at: string, big: string): Row => [code, '2026-01-31', paid, at, big]
      const noon = '2026-01-31T12:00:00Z'
      const names = await writer?.nameKeys?.([
        keyOf('A', '7.5', noon, '9007199254740993'),
        keyOf('A', '+07.50', '2026-01-31 13:00:00.000+01:00', '09007199254740993'),
        keyOf('a', '7.5', noon, '9007199254740993'),
        keyOf('A', '7.51', noon, '9007199254740993'),
        keyOf('A', '7.5', noon, '9007199254740992'),
        keyOf('A', 'no number', noon, '1'),
        keyOf('', '7.5', noon, '1'),
      ])
      await writer?.close?.()
      assert(names)
      const [first, same, ...others] = names
      assert.ok(typeof first === 'string' && same === first)
      assert.equal(others[3], null)
      assert.equal(new Set([first, ...others]).size, names.length - 1)
    })

    test('removes all rows of a key, and removes with a batch of keys alone', {
      skip: connector === clickhouseDestination,
    }, async () => {
      await create('id bigint not null, name varchar', 'id')
      await run(`insert into ${table} values (1, 'a'), (1, 'again'), (1, 'and again'), (2, 'b')`)
      const context = testContext({ ...options, settings: { ...settings, ...upsertBy('id') }, columns: ['id'] })
      const writer = await connector.destination?.deliver?.open(context)
      const delivery = await writer?.deliver(removalOf(batchOf(['id'], [[1], [3], [4]], 61), 0, 1))
      assert.equal(delivery?.rejected, undefined)
      await writer?.close?.()
      assert.deepEqual(
        (await run(`select id from ${table} order by id`)).rows.map(([id]) => Number(id)),
        [2, 4],
      )
    })

    // The others report a row that the table refuses as an error, for the engine to find it.
    test('leaves what the last row of each key says if the table refuses a row between them', {
      skip: connector === googleBigqueryDestination || connector === amazonRedshiftDestination,
    }, async () => {
      await create('id bigint not null, name varchar', 'id')
      await run(`insert into ${table} values (1, 'old'), (3, 'old')`)
      const context = testContext({ ...options, settings: { ...settings, ...upsertBy('id') }, columns: ['id', 'name'] })
      const writer = await connector.destination?.deliver?.open(context)
      // After the writer has looked at the table.
      await run(`alter table ${table} alter column name set not null`)
      const rows: Row[] = [
        [1, null],
        [2, null],
        [3, 'once more'],
        [3, null],
        [4, null],
        [1, 'back'],
      ]
      for (let time = 0; time < 2; time++) {
        const delivery = await writer?.deliver(removalOf(batchOf(['id', 'name'], rows, 71), 0, 3, 4))
        assert.deepEqual(indexesOf(delivery), [[1, undefined]])
        assert.deepEqual((await run(`select id, name from ${table} order by id`)).rows, [['1', 'back']])
      }
      await writer?.close?.()
    })
  })
}

for (const { connector, options, settings, table, run, proxy, left } of warehouses) {
  describe(`removing from ${connector.name} over an unstable connection`, () => {
    beforeEach(async () => {
      await run(`drop table if exists ${table}`)
      const key = connector === clickhouseDestination ? ', primary key (id)' : ''
      await run(`create table ${table} (id bigint not null, name varchar${key})`)
    })

    test('is right after the next attempt if a process ends at any request', async () => {
      const columns = ['id', 'name']
      const rows: readonly Row[][] = [
        [
          [1, 'new'],
          [2, null],
          [3, 'new'],
          [3, null],
        ],
        [
          [2, 'back'],
          [1, null],
          [4, null],
          [4, 'new'],
        ],
      ]
      const removed = [
        [1, 3],
        [1, 2],
      ]
      const open = async (transferId: string, attempt: number) => {
        const own = { ...settings, ...upsertBy('id') }
        const context = testContext({ ...options, settings: own, columns, transferId, attempt })
        const writer = await connector.destination?.deliver?.open(context)
        assert(writer)
        return writer
      }
      let requests = 0
      for (let at = 0; at <= requests; at++) {
        const transferId = `transfer-${at + 1}`
        const batches = rows.map((some, index) =>
          removalOf(batchOf(columns, some, index + 1), ...(removed[index] ?? [])),
        )
        await run(`delete from ${table}`)
        await run(`insert into ${table} values (1, 'old'), (2, 'old'), (5, 'old')`)
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
        await (async () => {
          const killed = await open(transferId, 1)
          for (const batch of batches) {
            await killed.deliver(batch)
            done++
          }
        })().catch(() => {})
        proxy.failure = undefined
        if (at === 0) requests = seen
        const resumed = await open(transferId, 2)
        for (const batch of batches.slice(done)) await resumed.deliver(batch)
        await resumed.close?.()
        assert.deepEqual(
          (await run(`select id, name from ${table} order by id`)).rows,
          [
            ['2', 'back'],
            ['4', 'new'],
            ['5', 'old'],
          ],
          `killed at request ${at} of ${requests}`,
        )
        if (at === 0) assert.equal(await left(), 0)
      }
      assert.ok(requests > 2)
    })
  })
}

describe(`removing from ${clickhouseDestination.name} by keys that only it can judge`, () => {
  test('rejects a key that is none', async () => {
    const clickhouse = warehouses.find(({ connector }) => connector === clickhouseDestination)
    assert(clickhouse)
    const { connector, options, settings, run } = clickhouse
    await run('drop table if exists crm.t')
    await run('create table crm.t (id uuid not null, name varchar, primary key (id))')
    const [first, second] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']
    await run(`insert into crm.t values ('${first}', 'a'), ('${second}', 'b')`)
    const columns = ['id', 'name']
    const context = testContext({ ...options, settings: { ...settings, ...upsertBy('id') }, columns })
    const writer = await connector.destination?.deliver?.open(context)
    const rows: Row[] = [
      [first, null],
      ['none', null],
      [second, null],
    ]
    const delivery = await writer?.deliver(removalOf(batchOf(columns, rows, 81), 0, 1, 2))
    assert.deepEqual(indexesOf(delivery), [[1, undefined]])
    assert.deepEqual((await run('select * from crm.t')).rows, [])
  })
})
