import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { acceptDestination, testContext } from '@penstock/connector/acceptance'
import { startDatabricksServer, testServerName } from '../../test/databricks-server.ts'
import { discover, valuesOf } from '../../test/discover.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import {
  badPeople,
  peopleColumns,
  peopleRows,
  peopleTable,
  testPeopleByKey,
  testPeopleTable,
} from '../../test/people-tables.ts'
import { batchOf, connectorErrorOf, inspect } from '../../test/tables.ts'
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
const warehouse = { connector: databricksDestination, run, routes, secrets, settings }
const people = peopleTable(warehouse)
await people.reset()
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
  columns: peopleColumns,
  rows: peopleRows(40),
  readBack: people.readBack,
  reset: people.reset,
  missing: { ...settings, schema: 'absent' },
  badRows: badPeople,
  deduplicates: true,
  visible: 'at once',
  errors: problemsOf(
    proxy,
    {
      slow: refused(429, 'REQUEST_LIMIT_EXCEEDED'),
      forbidden: refused(403, 'PERMISSION_DENIED'),
    },
    ofApi,
  ),
  hang: hangOf(proxy),
  context: { routes },
})

describe(`writing to a table, against ${testServerName}`, () => {
  beforeEach(() => {
    databricks.polls = 0
    databricks.executed.length = 0
  })
  testPeopleTable(warehouse, people, 'Databricks cannot write a value of the row (DELTA_NOT_NULL_CONSTRAINT_VIOLATED).')
  testPeopleByKey(warehouse, people)
  const { optionsOf, deliver, inTable, codeOf } = people
  const upsert = { writeMode: 'Upsert', keyColumns: 'ID' }

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

  test('finds columns that the table lacks, a warehouse that is none, and values that it does not take', async () => {
    assert.equal(await codeOf(['id', 'city']), 'column_not_found')
    assert.equal(await codeOf(['name'], upsert), 'column_not_found')
    assert.equal(await codeOf(['id'], { warehouse: 'wh2' }), 'object_not_found')
    assert.equal(await codeOf(['id'], { volume: '../secrets' }), 'invalid_setting')
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
