import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Values } from '@penstock/connector'
import { acceptSource } from '@penstock/connector/acceptance'
import { startClickHouseServer, testServerName } from '../../test/clickhouse-server.ts'
import { discover, valuesOf } from '../../test/discover.ts'
import { hangOf, problemsOf } from '../../test/object-store-server.ts'
import { createPeople, readColumns, readPeople } from '../../test/people-tables.ts'
import { connectorErrorOf, cursorOf, readAll, rowsOf } from '../../test/tables.ts'
import { clickhouseSource } from './clickhouse-source.ts'

const clickhouse = await startClickHouseServer()
after(() => clickhouse.close())
const { proxy, routes, secrets, run } = clickhouse
await run(createPeople())

const settings = { database: 'crm', table: 'people', keyColumns: 'id', syncMode: 'Full' }
const refused = (status: number, code: number) => ({
  status,
  body: `Code: ${code}. DB::Exception: No. (version 26.3.1.1)`,
})
const ofInterface = ({ method }: { method: string }) => method === 'POST'

acceptSource({
  connector: clickhouseSource,
  testServer: testServerName,
  secrets,
  wrongSecrets: { ...secrets, password: 'quite another password' },
  settings,
  rows: readPeople('Z'),
  missing: { ...settings, table: 'absent' },
  incremental: { ...settings, syncMode: 'Incremental', markerColumn: 'changed' },
  columns: readColumns,
  errors: problemsOf(proxy, { slow: refused(500, 202), forbidden: refused(403, 497) }, ofInterface),
  hang: hangOf(proxy),
  context: { routes },
})

describe(`reading, against ${testServerName}`, () => {
  const optionsOf = (own: Values = {}) => ({ routes, secrets, settings: { ...settings, ...own } })
  const query = { dataSourceType: 'SQL Query', keyColumns: '' }
  const rogue = async (body: string) => {
    let asked = 0
    // The first statements ask for settings and columns.
    proxy.failure = { what: { status: 200, body }, of: ({ method }) => method === 'POST' && ++asked > 2 }
    try {
      return await connectorErrorOf(readAll(clickhouseSource, optionsOf()))
    } finally {
      proxy.failure = undefined
    }
  }

  test('declares the types of columns', async () => {
    const [chunk] = await readAll(clickhouseSource, optionsOf())
    assert.deepEqual(chunk?.types, [
      { kind: 'bigint' },
      null,
      { kind: 'boolean' },
      { kind: 'double' },
      { kind: 'decimal', precision: 12, scale: 2 },
      { kind: 'date' },
      { kind: 'instant', digits: 6 },
    ])
  })

  test('reads equal rows of a query without a key as often as there are, and resumes among them', async () => {
    const sqlQuery = `select case when number < 11000 then 'same' else toString(number) end as v from numbers(14000) -- all\n;`
    const options = optionsOf({ ...query, sqlQuery })
    const chunks = await readAll(clickhouseSource, options)
    const all = rowsOf(chunks)
    assert.deepEqual([all.length, all.filter(([v]) => v === 'same').length], [14_000, 11_000])
    for (const [at, { checkpoint }] of chunks.entries()) {
      const rest = rowsOf(await readAll(clickhouseSource, options, checkpoint))
      assert.deepEqual(rest, rowsOf(chunks.slice(at + 1)))
    }
  })

  test('finds rows again by texts of all kinds', async () => {
    const sqlQuery = `select '\\it''s "\u00a0' || toString(number) as k, number % 2 = 0 as b, cast(number / 7 as Decimal(12, 2)) as d from numbers(9000)`
    const options = optionsOf({ ...query, sqlQuery, keyColumns: 'b, d, k' })
    const chunks = await readAll(clickhouseSource, options)
    assert.equal(new Set(rowsOf(chunks).map(([k]) => k)).size, 9000)
    assert.deepEqual(rowsOf(await readAll(clickhouseSource, options, chunks[0]?.checkpoint)), rowsOf(chunks.slice(1)))
  })

  test('reads what a number as the cursor has passed since', async () => {
    await run('drop table if exists crm.news')
    await run('create table crm.news as select i as n from range(1, 4) as t(i)')
    const options = optionsOf({ table: 'news', keyColumns: '', syncMode: 'Incremental', markerColumn: 'n' })
    const first = await readAll(clickhouseSource, options)
    await run('insert into crm.news values (5), (null), (4)')
    const second = await readAll(clickhouseSource, { ...options, cursor: cursorOf(first) })
    assert.deepEqual(
      [rowsOf(first), rowsOf(second)],
      [
        [[1], [2], [3]],
        [[4], [5]],
      ],
    )
    await run('drop table crm.news')
  })

  test('reads fewer rows at once if they are too large together', async () => {
    const sqlQuery = `select number as i, repeat('x', 90000) as t from numbers(900)`
    clickhouse.executed.length = 0
    const chunks = await readAll(clickhouseSource, optionsOf({ ...query, sqlQuery, keyColumns: 'i' }))
    assert.deepEqual(
      rowsOf(chunks).map(([i]) => i),
      Array.from({ length: 900 }, (_, i) => i),
    )
    const limits = clickhouse.executed.flatMap((text) => / limit ([1-9]\d*)$/.exec(text)?.[1] ?? [])
    assert.deepEqual(limits.slice(0, 3), ['1000', '250', '93'])
  })

  test('refuses columns by which nothing can be ordered', async () => {
    const invalid = ['reconfigure', 'invalid_setting']
    assert.deepEqual(await connectorErrorOf(readAll(clickhouseSource, optionsOf({ keyColumns: 'score' }))), invalid)
    const byName = optionsOf({ syncMode: 'Incremental', markerColumn: 'name' })
    assert.deepEqual(await connectorErrorOf(readAll(clickhouseSource, byName)), invalid)
  })

  test('finds an exception behind rows, and an answer that is cut off', async () => {
    const head = '["id"]\n["Int64"]\n["1","a","1","1","1","2026-01-31","2026-01-31 12:00:00","1"]\n'
    const exception = 'Code: 241. DB::Exception: Memory limit exceeded'
    const unavailable = ['retry', 'platform_unavailable']
    assert.deepEqual(await rogue(`${head}${exception}\n`), unavailable)
    assert.deepEqual(
      await rogue(`${head}__exception__\r\nabcdefghijklmnop\r\n${exception}\n49 abcdefghijklmnop\r\n__exception__\r\n`),
      unavailable,
    )
    assert.deepEqual(await rogue(`${head}{"exception": "${exception}"}\n`), unavailable)
    assert.deepEqual(await rogue(head.slice(0, -1)), ['retry', 'malformed_response'])
    assert.deepEqual(await rogue(`${head}["2","b"`), ['retry', 'malformed_response'])
    assert.deepEqual(await rogue(`${head}["2","b"]\n`), ['retry', 'malformed_response'])
  })

  test('lists databases, tables, views and columns', async () => {
    await run('create or replace view crm.adults as select id from crm.people')
    const find = (field: string, own: Values = {}) =>
      discover(clickhouseSource, secrets, field, { role: 'source', routes, settings: { ...settings, ...own } })
    assert.deepEqual(valuesOf(await find('database')), clickhouse.databases)
    assert.deepEqual((await find('table')).items, [
      { value: 'adults', kind: 'view' },
      { value: 'people', kind: 'table', rows: 12_000 },
    ])
    assert.deepEqual((await find('columns')).items[0], { value: 'id', kind: 'column', type: 'Nullable(Int64)' })
    const ofQuery = await find('markerColumn', { dataSourceType: 'SQL Query', sqlQuery: 'select 1 as one' })
    assert.deepEqual(valuesOf(ofQuery), ['one'])
  })
})
