import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { acceptDestination } from '@penstock/connector/acceptance'
import { startClickHouseServer, testServerName } from '../../test/clickhouse-server.ts'
import { discover, valuesOf } from '../../test/discover.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { badPeople, peopleColumns, peopleRows, peopleTable, testPeopleTable } from '../../test/people-tables.ts'
import { connectorErrorOf, inspect } from '../../test/tables.ts'
import { clickhouseDestination } from './clickhouse-destination.ts'

const clickhouse = await startClickHouseServer()
after(() => clickhouse.close())
const { proxy, routes, secrets, run } = clickhouse
const settings = { database: 'crm', table: 'people', writeMode: 'Append' }
const warehouse = { connector: clickhouseDestination, run, routes, secrets, settings }
const people = peopleTable(warehouse)
await people.reset()
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
  columns: peopleColumns,
  rows: peopleRows(40),
  readBack: people.readBack,
  reset: people.reset,
  missing: { ...settings, database: 'absent' },
  badRows: badPeople,
  deduplicates: true,
  visible: 'at once',
  errors: problemsOf(
    proxy,
    {
      slow: refused(500, 252),
      forbidden: refused(403, 497),
    },
    ofInterface,
  ),
  hang: hangOf(proxy),
  context: { routes },
})

describe(`writing to a table, against ${testServerName}`, () => {
  beforeEach(() => {
    clickhouse.executed.length = 0
  })
  testPeopleTable(warehouse, people, 'ClickHouse cannot write a value of the row (code 117).')
  const { optionsOf, deliver, inTable, codeOf } = people

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

  test('finds columns that the table lacks and values that it does not take', async () => {
    assert.equal(await codeOf(['id', 'city']), 'column_not_found')
    assert.equal(await codeOf(['id', 'ID']), 'columns_do_not_fit')
    const found = await inspect(clickhouseDestination, { ...optionsOf(), columns: ['paid'], rows: [['1,5']] })
    assert.deepEqual(
      found.map(({ code, column }) => [code, column]),
      [['type_mismatch', 'paid']],
    )
  })

  test('lists databases, tables and columns', async () => {
    const find = (field: string) =>
      discover(clickhouseDestination, secrets, field, { role: 'destination', routes, settings })
    await run('insert into crm.people (id) values (1), (2), (3)')
    assert.deepEqual(valuesOf(await find('database')), clickhouse.databases)
    assert.deepEqual((await find('table')).items, [{ value: 'people', kind: 'table', rows: 3 }])
    const [, id] = (await find('columns')).items
    assert.deepEqual(id, { value: 'id', kind: 'column', type: 'Int64', required: true })
  })
})
