import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { acceptDestination, testContext } from '@penstock/connector/acceptance'
import { startDatabricksServer, testServerName } from '../../test/databricks-server.ts'
import { discover, valuesOf } from '../../test/discover.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { batchOf, connectorErrorOf, deliver as deliverTo, inspect } from '../../test/tables.ts'
import { databricksDestination } from './databricks-destination.ts'

const databricks = await startDatabricksServer()
after(() => databricks.close())
const { proxy, routes, secrets, run } = databricks
const settings = {
  warehouse: 'wh1',
  catalog: 'main',
  schema: 'crm',
  table: 'people',
  volume: 'landing',
  writeMode: 'Append',
}
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
const refused = (status: number, code: string) => ({
  status,
  body: JSON.stringify({ error_code: code, message: 'No.' }),
})
const ofApi = ({ url }: { url: string }) => url.startsWith('/api/')

acceptDestination({
  connector: databricksDestination,
  testServer: testServerName,
  secrets,
  wrongSecrets: { ...secrets, clientSecret: 'quite another secret' },
  settings,
  columns,
  rows,
  readBack,
  reset,
  missing: { ...settings, schema: 'absent' },
  badRows: [
    { row: ['many', 'a', true, '1', '2026-01-31', null], reason: /not a number/, field: 'id' },
    { row: [1, 'a', true, '1.005', '2026-01-31', null], reason: /more than 2 decimal places/, field: 'paid' },
    { row: [2, 'a', true, '1', 'some canary day', null], reason: /not a valid date/, field: 'day' },
    { row: [null, 'a', true, '1', '2026-01-31', null], reason: /column that needs one/, field: 'id' },
  ],
  deduplicates: true,
  visible: 'at once',
  errors: problemsOf(proxy, {
    slow: refused(429, 'REQUEST_LIMIT_EXCEEDED'),
    forbidden: refused(403, 'PERMISSION_DENIED'),
  }).map((problem) => ({
    ...problem,
    start: () => {
      problem.start()
      if (proxy.failure) proxy.failure = { ...proxy.failure, of: ofApi }
    },
  })),
  hang: hangOf(proxy),
  context: { routes },
})

describe(`writing to a table, against ${testServerName}`, () => {
  beforeEach(async () => {
    await reset()
    databricks.polls = 0
    databricks.executed.length = 0
  })

  const optionsOf = (own: Values = {}, transferId = 'transfer-1') => ({
    secrets,
    routes,
    settings: { ...settings, ...own },
    transferId,
  })
  const deliver = (names: readonly string[], some: readonly Row[], own: Values = {}, number = 1) =>
    deliverTo(databricksDestination, optionsOf(own), batchOf(names, some, number))
  const inTable = async (table = 'people') => (await run(`select id, name from crm.${table} order by id`)).rows
  const upsert = { writeMode: 'Upsert', keyColumns: 'ID' }

  test('creates a table that is missing, if it may, with columns of text', async () => {
    const missing = await connectorErrorOf(deliver(['id'], [[1]], { table: 'fresh' }))
    assert.deepEqual(missing, ['reconfigure', 'table_not_found'])
    await deliver(['id', 'name'], [['x', '']], { table: 'fresh', createTable: true }, 11)
    assert.deepEqual(await inTable('fresh'), [['x', '']])
  })

  test('loads once what comes twice, or whose answer is lost; waits for a warehouse; renews a token', async () => {
    databricks.polls = 1
    let lost = 0
    proxy.failure = { what: 'loses the answer', of: ({ url }) => url.endsWith('/statements') && lost++ === 0 }
    try {
      const [, code] = await connectorErrorOf(deliver(['id', 'name'], [[1, 'a']], {}, 12))
      assert.equal(code, 'connection_lost')
      await deliver(['id', 'name'], [[1, 'a']], {}, 12)
    } finally {
      proxy.failure = undefined
    }
    databricks.polls = 0
    const { open } = databricksDestination.destination?.deliver ?? {}
    const writer = await open?.(testContext({ ...optionsOf(), columns: ['id', 'name'] }))
    databricks.expireTokens()
    await writer?.deliver(batchOf(['id', 'name'], [[1, 'a']], 12))
    assert.deepEqual([lost, await inTable(), databricks.files.size], [2, [['1', 'a']], 0])
  })

  test('finds the rows that the table refuses by halves, once', async () => {
    const context = testContext({ ...optionsOf(), columns: ['id', 'name'] })
    const writer = await databricksDestination.destination?.deliver?.open(context)
    // The table changes after the writer has opened it.
    await run('alter table crm.people alter column name set not null')
    const some: Row[] = [
      [1, 'a'],
      [2, null],
      [3, 'c'],
    ]
    for (let time = 0; time < 2; time++) {
      const { rejected } = (await writer?.deliver(batchOf(['id', 'name'], some, 13))) ?? {}
      const reason = 'Databricks cannot write a value of the row (DELTA_NOT_NULL_CONSTRAINT_VIOLATED).'
      assert.deepEqual(rejected, [{ index: 1, reason }])
    }
    assert.deepEqual(await inTable(), [
      ['1', 'a'],
      ['3', 'c'],
    ])
  })

  test('replaces what was there once in a transfer, in a crash before the first confirmation too', async () => {
    await run('insert into crm.people (id) values (7)')
    const { open } = databricksDestination.destination?.deliver ?? {}
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

  test('updates rows by their key, the last of a batch', async () => {
    await run(`insert into crm.people (id, name, paid) values (1, 'old', 5)`)
    const some: Row[] = [
      [2, 'b'],
      [1, 'first'],
      [1, 'last'],
      [null, 'keyless'],
    ]
    for (let time = 0; time < 2; time++) {
      const { rejected } = await deliver(['id', 'name'], some, upsert, 16)
      assert.deepEqual(
        rejected?.map(({ index, field }) => [index, field]),
        [[3, 'id']],
      )
    }
    assert.deepEqual(await inTable(), [
      ['1', 'last'],
      ['2', 'b'],
    ])
  })

  test('finds columns that the table lacks, a warehouse that is none, and values that it does not take', async () => {
    const code = async (names: string[], own: Values = {}) =>
      (await connectorErrorOf(deliver(names, [names.map(() => 1)], own, 17)))[1]
    assert.equal(await code(['id', 'city']), 'column_not_found')
    assert.equal(await code(['name'], upsert), 'column_not_found')
    assert.equal(await code(['id'], { warehouse: 'wh2' }), 'object_not_found')
    assert.equal(await code(['id'], { volume: '../secrets' }), 'invalid_setting')
    const found = await inspect(databricksDestination, { ...optionsOf(), columns: ['paid'], rows: [['1,5']] })
    assert.deepEqual(
      found.map(({ code, column }) => [code, column]),
      [['type_mismatch', 'paid']],
    )
  })

  test('lists warehouses, catalogs, schemas, volumes, tables and columns', async () => {
    const find = (field: string) =>
      discover(databricksDestination, secrets, field, { role: 'destination', routes, settings })
    assert.deepEqual((await find('warehouse')).items, [{ value: 'wh1', kind: 'object', label: 'Loader' }])
    const lists = ['catalog', 'schema', 'volume', 'table'].map(async (field) => valuesOf(await find(field)))
    assert.deepEqual(await Promise.all(lists), [['main'], ['crm'], ['landing'], ['people']])
    const [, id] = (await find('columns')).items
    assert.deepEqual(id, { value: 'id', kind: 'column', type: 'BIGINT', required: true })
  })
})
