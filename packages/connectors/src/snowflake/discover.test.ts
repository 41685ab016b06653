import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Connector, Values } from '@penstock/connector'
import { type Asked, discover, valuesOf } from '../../test/discover.ts'
import { connectorErrorOf } from '../../test/platform-server.ts'
import { startSnowflakeServer, testServerName } from '../../test/snowflake-server.ts'
import { snowflakeDestination } from './snowflake-destination.ts'
import { snowflakeSource } from './snowflake-source.ts'

const snowflake = await startSnowflakeServer()
after(() => snowflake.close())
const { keyPair, routes, run } = snowflake

await run('create table "SALES"."PUBLIC"."CUSTOMERS" ("ID" integer, "Name" varchar)')
await run('create table "SALES"."PUBLIC"."it\'s 100%" ("ID" integer)')
await run('create table "SALES"."PUBLIC"."PENSTOCK_BATCHES" ("ID" integer)')
await run('create view "SALES"."PUBLIC"."RECENT" as select * from "SALES"."PUBLIC"."CUSTOMERS"')

const settings = { warehouse: 'load_wh', database: 'sales', schema: 'public', dataSourceType: 'Table Reference' }
const find = (connector: Connector, field: string, asked: Asked = {}, secrets: Values = keyPair) =>
  discover(connector, secrets, field, { role: connector.source ? 'source' : 'destination', routes, settings, ...asked })

test(`warehouses, databases and schemas, against ${testServerName}`, async () => {
  for (const connector of [snowflakeSource, snowflakeDestination]) {
    const empty = { settings: {} }
    assert.deepEqual(await find(connector, 'warehouse', empty), {
      items: [{ value: 'LOAD_WH', kind: 'object' }],
      next: undefined,
    })
    assert.deepEqual(valuesOf(await find(connector, 'database', empty)), ['SALES'])
    assert.ok(valuesOf(await find(connector, 'schema')).includes('PUBLIC'))
    for (const field of ['schema', 'table']) {
      assert.equal(
        (await connectorErrorOf(find(connector, field, empty), { secrets: keyPair })).code,
        'invalid_setting',
      )
    }
  }
})

test('tables and views with their rows, in the form of the setting', async () => {
  const { items } = await find(snowflakeSource, 'table')
  assert.deepEqual(items, [
    { value: 'CUSTOMERS', kind: 'table', rows: 12 },
    { value: 'RECENT', kind: 'view', rows: 12 },
    { value: `"it's 100%"`, kind: 'table', rows: 12 },
  ])
  assert.deepEqual(valuesOf(await find(snowflakeDestination, 'table')), ['CUSTOMERS', `"it's 100%"`])
  for (const [search, found] of [
    ['cUst', ['CUSTOMERS']],
    ["'s 100%", [`"it's 100%"`]],
    ["' or '1", []],
    ['\\', []],
    ['C_STOM', []],
  ] as const) {
    assert.deepEqual(valuesOf(await find(snowflakeSource, 'table', { search })), found, search)
  }
  const first = await find(snowflakeSource, 'table', { size: 2 })
  assert.deepEqual([valuesOf(first), first.next], [['CUSTOMERS', 'RECENT'], '2'])
  assert.deepEqual(valuesOf(await find(snowflakeSource, 'table', { size: 2, cursor: '2' })), [`"it's 100%"`])
})

test('columns with their types, of a table or of a query', async () => {
  const columns = [
    { value: 'ID', kind: 'column', type: 'FIXED' },
    { value: '"Name"', kind: 'column', type: 'TEXT' },
  ]
  const named = { settings: { ...settings, table: 'customers' } }
  for (const connector of [snowflakeSource, snowflakeDestination]) {
    assert.deepEqual((await find(connector, 'columns', named)).items, columns)
  }
  const sqlQuery = 'select "ID" from "SALES"."PUBLIC"."CUSTOMERS"'
  const asked = { settings: { ...settings, dataSourceType: 'SQL Query', sqlQuery } }
  assert.deepEqual((await find(snowflakeSource, 'columns', asked)).items, columns.slice(0, 1))
})

test('refusals: no such schema or table, no table yet, other credentials, a cursor that is none', async () => {
  const codeOf = async (...asked: Parameters<typeof find>) =>
    (await connectorErrorOf(find(...asked), { secrets: { privateKey: keyPair.privateKey ?? '' } })).code
  assert.equal(
    await codeOf(snowflakeSource, 'table', { settings: { ...settings, schema: 'x" . "y' } }),
    'table_not_found',
  )
  assert.equal(
    await codeOf(snowflakeSource, 'columns', { settings: { ...settings, table: 'none' } }),
    'table_not_found',
  )
  assert.equal(await codeOf(snowflakeDestination, 'columns'), 'invalid_setting')
  assert.equal(await codeOf(snowflakeSource, 'table', { cursor: 'x' }), 'invalid_setting')
  const stranger = { ...keyPair, privateKey: snowflake.strangeKey }
  assert.equal(await codeOf(snowflakeSource, 'warehouse', {}, stranger), 'invalid_credentials')
})
