import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { acceptDestination, testContext } from '@penstock/connector/acceptance'
import { startBigQueryServer, testServerName } from '../../test/bigquery-server.ts'
import { discover } from '../../test/discover.ts'
import type { Judged } from '../../test/failing-proxy.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import {
  badPeople,
  peopleColumns,
  peopleRows,
  peopleTable,
  testPeopleByKey,
  testPeopleTable,
} from '../../test/people-tables.ts'
import { batchOf, connectorErrorOf, deliver as deliverTo, inspect } from '../../test/tables.ts'
import { googleBigqueryDestination } from './google-bigquery-destination.ts'

const bigQuery = await startBigQueryServer()
after(() => bigQuery.close())
const { proxy, routes, jsonKey, deletedKey, run } = bigQuery
const settings = { projectId: 'example-project', dataset: 'crm', table: 'people', writeMode: 'Append' }
const secrets = { jsonKey }
const warehouse = { connector: googleBigqueryDestination, run, routes, secrets, settings }
const people = peopleTable(warehouse)
await people.reset()
const refused = (code: number, reason: string) => ({
  status: code,
  body: JSON.stringify({ error: { code, message: 'No.', errors: [{ domain: 'global', reason, message: 'No.' }] } }),
})
const ofBigQuery = ({ headers }: Judged) => headers.host === 'bigquery.googleapis.com'

acceptDestination({
  connector: googleBigqueryDestination,
  testServer: testServerName,
  secrets,
  wrongSecrets: { jsonKey: deletedKey },
  settings,
  columns: peopleColumns,
  rows: peopleRows(40),
  readBack: people.readBack,
  reset: people.reset,
  missing: { ...settings, dataset: 'absent' },
  badRows: badPeople,
  deduplicates: true,
  visible: 'at once',
  errors: problemsOf(
    proxy,
    { slow: refused(403, 'rateLimitExceeded'), forbidden: refused(403, 'accessDenied') },
    ofBigQuery,
  ),
  hang: hangOf(proxy),
  context: { routes },
})

describe(`writing to a table, against ${testServerName}`, () => {
  beforeEach(() => {
    bigQuery.polls = 0
    bigQuery.executed.length = 0
    bigQuery.loaded.length = 0
  })
  testPeopleTable(warehouse, people, 'BigQuery cannot read a value of the row (invalid).')
  testPeopleByKey(warehouse, people)
  const { optionsOf, deliver, inTable, codeOf } = people
  const upsert = { writeMode: 'Upsert', keyColumns: 'ID' }

  test('loads once what is delivered twice, or if the answer is lost, and waits for jobs that take their time', async () => {
    bigQuery.polls = 2
    let lost = 0
    proxy.failure = { what: 'loses the answer', of: ({ url }) => url.startsWith('/upload') && lost++ === 0 }
    try {
      await deliver(['id', 'name'], [[1, 'a']])
    } finally {
      proxy.failure = undefined
    }
    await deliver(['id', 'name'], [[1, 'a']])
    assert.deepEqual([lost, bigQuery.loaded.length, await inTable()], [2, 1, [['1', 'a']]])
  })

  test('repeats a job that failed under another ID, in the next attempt', async () => {
    bigQuery.failures.push('backendError', 'rateLimitExceeded')
    const codes = []
    for (let time = 0; time < 2; time++) codes.push((await connectorErrorOf(deliver(['id'], [[1]])))[1])
    await deliver(['id'], [[1]])
    await deliver(['id'], [[1]])
    assert.deepEqual([codes, await inTable()], [['platform_error', 'rate_limited'], [['1', null]]])
    bigQuery.failures.push('accessDenied')
    assert.deepEqual(await connectorErrorOf(deliver(['id'], [[2]], {}, 2)), ['reconfigure', 'permission_denied'])
  })

  test('does not load a second time what the report of a load refused', async () => {
    const context = testContext({ ...optionsOf(), columns: ['id', 'name'] })
    const writer = await googleBigqueryDestination.destination?.deliver?.open(context)
    await run('alter table crm.people alter column name set not null')
    const rows = ['a', null, 'c'].map((name, at) => [at + 1, name])
    const batch = batchOf(['id', 'name'], rows)
    for (let time = 0; time < 2; time++) await writer?.deliver(batch)
    assert.equal(bigQuery.loaded.length, 2)
  })

  test('replaces what was there once in a transfer, also without a row, and never in a test', async () => {
    await run('insert into crm.people (id) values (7)')
    const replace = { writeMode: 'Replace' }
    await deliver(['id'], [[1]], replace)
    await deliver(['id'], [[2]], replace, 2)
    await deliver(['id'], [[2]], replace, 2)
    assert.deepEqual(await inTable(), [
      ['1', null],
      ['2', null],
    ])
    const { open } = googleBigqueryDestination.destination?.deliver ?? {}
    const options = { ...optionsOf(replace, 'transfer-9'), columns: ['id'] }
    await (await open?.({ ...testContext(options), test: true }))?.finish?.()
    assert.equal((await inTable()).length, 2)
    await (await open?.(testContext(options)))?.finish?.()
    assert.deepEqual(await inTable(), [])
  })

  test('loads rows again in another transfer, such as one that starts over', async () => {
    const batch = batchOf(['id'], [[1]])
    for (const transferId of ['transfer-1', 'transfer-2', 'transfer-2']) {
      await deliverTo(googleBigqueryDestination, optionsOf({}, transferId), batch)
    }
    assert.equal((await inTable()).length, 2)
  })

  test('merges a batch once, and leaves no table behind', async () => {
    for (let time = 0; time < 2; time++) await deliver(['id', 'name'], [[1, 'a']], upsert)
    assert.equal(bigQuery.executed.filter((text) => text.startsWith('merge')).length, 1)
    const { rows: names } = (await run(
      `select table_name from information_schema.tables where table_schema = 'crm'`,
    )) as { rows: unknown[][] }
    assert.deepEqual(names, [['people']])
  })

  test('finds columns that the table lacks, keys that are not delivered, and values that it does not take', async () => {
    assert.equal(await codeOf(['id', 'city']), 'column_not_found')
    assert.equal(await codeOf(['id', 'ID']), 'columns_do_not_fit')
    assert.equal(await codeOf(['name'], upsert), 'column_not_found')
    const found = await inspect(googleBigqueryDestination, { ...optionsOf(), columns: ['paid'], rows: [['1,5']] })
    assert.deepEqual(
      found.map(({ code, column }) => [code, column]),
      [['type_mismatch', 'paid']],
    )
  })

  test('lists the columns of the table with their types', async () => {
    const page = await discover(googleBigqueryDestination, { jsonKey }, 'keyColumns', {
      role: 'destination',
      routes,
      settings,
    })
    assert.deepEqual(page.items.slice(0, 2), [
      { value: 'changed', kind: 'column', type: 'DATETIME', required: false },
      { value: 'id', kind: 'column', type: 'INTEGER', required: true },
    ])
  })
})
