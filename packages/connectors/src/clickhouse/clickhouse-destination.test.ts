import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { acceptDestination, testContext } from '@penstock/connector/acceptance'
import { startClickHouseServer, testServerName } from '../../test/clickhouse-server.ts'
import { discover, valuesOf } from '../../test/discover.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { batchOf, connectorErrorOf, deliver as deliverTo, inspect } from '../../test/tables.ts'
import { clickhouseDestination } from './clickhouse-destination.ts'

const clickhouse = await startClickHouseServer()
after(() => clickhouse.close())
const { proxy, routes, secrets, run } = clickhouse
const settings = { database: 'crm', table: 'people', writeMode: 'Append' }
const columns = ['id', 'Name', 'member', 'paid', 'day', 'changed']
const rows = Array.from({ length: 40 }, (_, index): Row => {
  const time = `2026-01-31T12:00:00.${String(index).padStart(6, '0')}Z`
  return [index, index % 3 ? `Zoë '["${index}"]\\?;\n` : null, index % 2 === 0, `${index}.25`, '2026-01-31', time]
})
const reset = async () => {
  await run('drop table if exists crm.people')
  await run('drop table if exists crm.fresh')
  await run(
    'create table crm.people (changed timestamp, id bigint not null, name varchar, member boolean, paid decimal(12, 2), day date)',
  )
}
await reset()
const readBack = async (): Promise<Row[]> => {
  const found = await run(
    `select id, name, member, paid, day, strftime(changed, '%Y-%m-%dT%H:%M:%S.%fZ') from crm.people`,
  )
  return found.rows.map(([id, name, member, ...rest]) => [Number(id), name ?? null, member === 'true', ...rest])
}
const refused = (status: number, code: number) => ({
  status,
  body: `Code: ${code}. DB::Exception: No. (version 26.3.1.1)`,
})
const ofInterface = ({ method }: { method: string }) => method === 'POST'

acceptDestination({
  connector: clickhouseDestination,
  testServer: testServerName,
  secrets,
  wrongSecrets: { ...secrets, password: 'quite another password' },
  settings,
  columns,
  rows,
  readBack,
  reset,
  missing: { ...settings, database: 'absent' },
  badRows: [
    { row: ['many', 'a', true, '1', '2026-01-31', null], reason: /not a number/, field: 'id' },
    { row: [1, 'a', true, '1.005', '2026-01-31', null], reason: /more than 2 decimal places/, field: 'paid' },
    { row: [2, 'a', true, '1', 'some canary day', null], reason: /not a valid date/, field: 'day' },
    { row: [null, 'a', true, '1', '2026-01-31', null], reason: /column that needs one/, field: 'id' },
  ],
  deduplicates: true,
  visible: 'at once',
  errors: problemsOf(proxy, {
    slow: refused(500, 252),
    forbidden: refused(403, 497),
  }).map((problem) => ({
    ...problem,
    start: () => {
      problem.start()
      if (proxy.failure) proxy.failure = { ...proxy.failure, of: ofInterface }
    },
  })),
  hang: hangOf(proxy),
  context: { routes },
})

describe(`writing to a table, against ${testServerName}`, () => {
  beforeEach(async () => {
    await reset()
    clickhouse.executed.length = 0
  })

  const optionsOf = (own: Values = {}, transferId = 'transfer-1') => ({
    secrets,
    routes,
    settings: { ...settings, ...own },
    transferId,
  })
  const deliver = (names: readonly string[], some: readonly Row[], own: Values = {}, number = 1) =>
    deliverTo(clickhouseDestination, optionsOf(own), batchOf(names, some, number))
  const inTable = async (table = 'people') => (await run(`select id, name from crm.${table} order by id`)).rows

  test('creates a table that is missing, if it may, with columns of text', async () => {
    const missing = await connectorErrorOf(deliver(['id'], [[1]], { table: 'fresh' }))
    assert.deepEqual(missing, ['reconfigure', 'table_not_found'])
    await deliver(['id', 'name'], [['x', '']], { table: 'fresh', createTable: true }, 11)
    assert.deepEqual(await inTable('fresh'), [['x', '']])
  })

  test('inserts once what comes twice, or whose answer is lost', async () => {
    let lost = 0
    proxy.failure = { what: 'loses the answer', of: ({ url }) => url.includes('insert') && lost++ === 0 }
    try {
      const [, code] = await connectorErrorOf(deliver(['id', 'name'], [[1, 'a']], {}, 12))
      assert.equal(code, 'connection_lost')
    } finally {
      proxy.failure = undefined
    }
    for (let time = 0; time < 2; time++) await deliver(['id', 'name'], [[1, 'a']], {}, 12)
    assert.deepEqual([lost, await inTable()], [1, [['1', 'a']]])
  })

  test('finds an exception behind a status that says success', async () => {
    proxy.failure = {
      what: { status: 200, body: 'Code: 241. DB::Exception: Memory limit exceeded' },
      of: ({ url }) => url.includes('insert'),
    }
    const error = connectorErrorOf(deliver(['id'], [[1]], {}, 18)).finally(() => {
      proxy.failure = undefined
    })
    assert.deepEqual(await error, ['retry', 'platform_unavailable'])
  })

  test('finds the rows that the table refuses by halves, once', async () => {
    const context = testContext({ ...optionsOf(), columns: ['id', 'name'] })
    const writer = await clickhouseDestination.destination?.deliver?.open(context)
    // The table changes after the writer has opened it.
    await run('alter table crm.people alter column name set not null')
    const some: Row[] = [
      [1, 'a'],
      [2, null],
      [3, 'c'],
    ]
    for (let time = 0; time < 2; time++) {
      const { rejected } = (await writer?.deliver(batchOf(['id', 'name'], some, 13))) ?? {}
      const reason = 'ClickHouse cannot write a value of the row (code 349).'
      assert.deepEqual(rejected, [{ index: 1, reason }])
    }
    assert.deepEqual(await inTable(), [
      ['1', 'a'],
      ['3', 'c'],
    ])
  })

  test('replaces what was there once in a transfer, in a crash before the first confirmation too', async () => {
    await run('insert into crm.people (id) values (7)')
    const { open } = clickhouseDestination.destination?.deliver ?? {}
    const options = { ...optionsOf({ writeMode: 'Replace' }, 'transfer-2'), columns: ['id'] }
    const [first, second] = [batchOf(['id'], [[1]], 14), batchOf(['id'], [[2]], 15)]
    await (await open?.(testContext(options)))?.deliver(first)
    const again = await open?.(testContext({ ...options, attempt: 2 }))
    const { deliveryState } = (await again?.deliver(first)) ?? {}
    await again?.deliver(second)
    const last = await open?.(testContext({ ...options, attempt: 3, deliveryStates: [deliveryState ?? null] }))
    await last?.deliver(second)
    await last?.finish?.()
    assert.deepEqual(await inTable(), [
      ['1', null],
      ['2', null],
    ])
    await (await open?.(testContext({ ...options, transferId: 'transfer-3' })))?.finish?.()
    assert.deepEqual(await inTable(), [])
  })

  test('finds columns that the table lacks and values that it does not take', async () => {
    const code = async (names: string[], own: Values = {}) =>
      (await connectorErrorOf(deliver(names, [names.map(() => 1)], own, 17)))[1]
    assert.equal(await code(['id', 'city']), 'column_not_found')
    assert.equal(await code(['id', 'ID']), 'columns_do_not_fit')
    const found = await inspect(clickhouseDestination, { ...optionsOf(), columns: ['paid'], rows: [['1,5']] })
    assert.deepEqual(
      found.map(({ code, column }) => [code, column]),
      [['type_mismatch', 'paid']],
    )
  })

  test('lists databases, tables and columns', async () => {
    const find = (field: string) =>
      discover(clickhouseDestination, secrets, field, { role: 'destination', routes, settings })
    assert.deepEqual(valuesOf(await find('database')), ['crm'])
    assert.deepEqual((await find('table')).items, [{ value: 'people', kind: 'table', rows: 3 }])
    const [, id] = (await find('columns')).items
    assert.deepEqual(id, { value: 'id', kind: 'column', type: 'Int64', required: true })
  })
})
