import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { acceptDestination, testContext } from '@penstock/connector/acceptance'
import { startBigQueryServer, testServerName } from '../../test/bigquery-server.ts'
import { discover } from '../../test/discover.ts'
import type { Judged } from '../../test/failing-proxy.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { batchOf, connectorErrorOf, deliver as deliverTo, inspect } from '../../test/tables.ts'
import { googleBigqueryDestination } from './google-bigquery-destination.ts'

const bigQuery = await startBigQueryServer()
after(() => bigQuery.close())
const { proxy, routes, jsonKey, deletedKey, run } = bigQuery
const settings = { projectId: 'example-project', dataset: 'crm', table: 'people', writeMode: 'Append' }
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
  const found = (await run(
    `select id, name, member, paid, day, strftime(changed, '%Y-%m-%dT%H:%M:%S.%fZ') from crm.people`,
  )) as { rows: (string | null)[][] }
  return found.rows.map(([id, name, member, ...rest]) => [Number(id), name ?? null, member === 'true', ...rest])
}
const refused = (code: number, reason: string) => ({
  status: code,
  body: JSON.stringify({ error: { code, message: 'No.', errors: [{ domain: 'global', reason, message: 'No.' }] } }),
})
const ofBigQuery = ({ headers }: Judged) => headers.host === 'bigquery.googleapis.com'
const errors = problemsOf(proxy, { slow: refused(403, 'rateLimitExceeded'), forbidden: refused(403, 'accessDenied') })

acceptDestination({
  connector: googleBigqueryDestination,
  testServer: testServerName,
  secrets: { jsonKey },
  wrongSecrets: { jsonKey: deletedKey },
  settings,
  columns,
  rows,
  readBack,
  reset,
  missing: { ...settings, dataset: 'absent' },
  badRows: [
    { row: ['many', 'a', true, '1', '2026-01-31', null], reason: /not a number/, field: 'id' },
    { row: [1, 'a', true, '1.005', '2026-01-31', null], reason: /more than 2 decimal places/, field: 'paid' },
    { row: [2, 'a', true, '1', 'some canary day', null], reason: /not a valid date/, field: 'day' },
    { row: [null, 'a', true, '1', '2026-01-31', null], reason: /column that needs one/, field: 'id' },
  ],
  deduplicates: true,
  visible: 'at once',
  errors: errors.map((problem) => ({
    ...problem,
    start: () => {
      problem.start()
      if (proxy.failure) proxy.failure = { ...proxy.failure, of: ofBigQuery }
    },
  })),
  hang: hangOf(proxy),
  context: { routes },
})

describe(`writing to a table, against ${testServerName}`, () => {
  beforeEach(async () => {
    await reset()
    bigQuery.polls = 0
    bigQuery.executed.length = 0
    bigQuery.loaded.length = 0
  })

  const optionsOf = (own: Values = {}, transferId = 'transfer-1') => ({
    secrets: { jsonKey },
    routes,
    settings: { ...settings, ...own },
    transferId,
  })
  const deliver = (names: readonly string[], some: readonly Row[], own: Values = {}, number = 1) =>
    deliverTo(googleBigqueryDestination, optionsOf(own), batchOf(names, some, number))
  const inTable = async (table = 'people') =>
    ((await run(`select id, name from crm.${table} order by id`)) as { rows: unknown[][] }).rows
  const upsert = { writeMode: 'Upsert', keyColumns: 'ID' }

  test('creates a table that is missing, if it may, with columns of text', async () => {
    assert.deepEqual(await connectorErrorOf(deliver(['id'], [[1]], { table: 'fresh' })), [
      'reconfigure',
      'table_not_found',
    ])
    await deliver(['id', 'name'], [[1, 'a']], { table: 'fresh', createTable: true })
    await deliver(['ID', 'Name'], [['x', '']], { table: 'fresh', createTable: true }, 2)
    assert.deepEqual(await inTable('fresh'), [
      ['1', 'a'],
      ['x', ''],
    ])
  })

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

  test('rejects the rows that the report of a load names, and finds others by halves, once', async () => {
    // The table changes after the writer has opened it, so that BigQuery refuses what was judged good.
    const context = testContext({ ...optionsOf(), columns: ['id', 'name'] })
    const writer = await googleBigqueryDestination.destination?.deliver?.open(context)
    await run('alter table crm.people alter column name set not null')
    const some: Row[] = [
      [1, 'a'],
      [2, null],
      [3, 'c'],
    ]
    for (let time = 0; time < 2; time++) {
      const delivery = await writer?.deliver(batchOf(['id', 'name'], some))
      assert.deepEqual(delivery?.rejected, [{ index: 1, reason: 'BigQuery cannot read a value of the row (invalid).' }])
    }
    assert.deepEqual(await inTable(), [
      ['1', 'a'],
      ['3', 'c'],
    ])
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
    const options = { ...optionsOf(replace, 'transfer-2'), columns: ['id'] }
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

  test('updates rows by their key, the last of a batch, once, and leaves no table behind', async () => {
    await run(`insert into crm.people (id, name, paid) values (1, 'old', 5)`)
    const some: Row[] = [
      [2, 'b'],
      [1, 'first'],
      [1, 'last'],
      [null, 'keyless'],
    ]
    for (let time = 0; time < 2; time++) {
      const { rejected } = await deliver(['id', 'name'], some, upsert)
      assert.deepEqual(
        rejected?.map(({ index, field }) => [index, field]),
        [[3, 'id']],
      )
    }
    assert.deepEqual(await inTable(), [
      ['1', 'last'],
      ['2', 'b'],
    ])
    assert.equal(bigQuery.executed.filter((text) => text.startsWith('merge')).length, 1)
    const { rows: names } = (await run(
      `select table_name from information_schema.tables where table_schema = 'crm'`,
    )) as {
      rows: unknown[][]
    }
    assert.deepEqual(names, [['people']])
  })

  test('finds columns that the table lacks, keys that are not delivered, and values that it does not take', async () => {
    const code = async (names: string[], own: Values = {}) =>
      (await connectorErrorOf(deliver(names, [names.map(() => 1)], own)))[1]
    assert.equal(await code(['id', 'city']), 'column_not_found')
    assert.equal(await code(['id', 'ID']), 'columns_do_not_fit')
    assert.equal(await code(['name'], upsert), 'column_not_found')
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
