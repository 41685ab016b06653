import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { acceptSource, testContext } from '@penstock/connector/acceptance'
import { until } from '../../../../test/harness/until.ts'
import { failuresOf } from '../../test/database-proxy.ts'
import { discover, valuesOf } from '../../test/discover.ts'
import { startRedshiftServer, testServerName } from '../../test/redshift-server.ts'
import { connectorErrorOf, cursorOf, readAll, rowsOf } from '../../test/tables.ts'
import { amazonRedshiftSource } from './amazon-redshift-source.ts'

const redshift = await startRedshiftServer()
after(() => redshift.close())
const { proxy, secrets, query } = redshift
await query(`
  create table crm.people (id bigint, name varchar(100), member boolean, score double precision, paid numeric(12, 2), day date,
    changed timestamp, seen timestamptz, doc super, bytes varbyte, code character(3));
  insert into crm.people
  select i, case when i % 3 > 0 then 'Zoë ["' || i || '"]\\' || chr(10) end, i % 2 = 0, i / 4.0, i / 4.0, date '2026-01-31',
         timestamp '2026-01-31 12:00:00' + interval '1 microsecond' * i, timestamptz '2026-01-31 12:00:00+01', '{"a": [1.50, null]}',
         '\\xdeadbeef', 'ab'
    from generate_series(1, 12000) as i order by md5(i::text)`)

const rows = Array.from({ length: 12_000 }, (_, index): Row => {
  const id = index + 1
  const name = id % 3 === 0 ? null : `Zoë ["${id}"]\\\n`
  const changed = `2026-01-31T12:00:00.${String(id).padStart(6, '0').replace(/0+$/, '')}`
  const rest = ['2026-01-31T11:00:00Z', '{"a": [1.50, null]}', '\\xdeadbeef', 'ab ']
  return [String(id), name, id % 2 === 0, id / 4, (id / 4).toFixed(2), '2026-01-31', changed, ...rest]
})
const settings = { schema: 'crm', table: 'people', keyColumns: 'id', syncMode: 'Full' }

acceptSource({
  connector: amazonRedshiftSource,
  testServer: testServerName,
  secrets,
  wrongSecrets: { ...secrets, password: 'quite another secret' },
  settings,
  rows,
  missing: { ...settings, table: 'absent' },
  incremental: { ...settings, syncMode: 'Incremental', markerColumn: 'changed' },
  columns: ['id', 'name', 'member', 'score', 'paid', 'day', 'changed', 'seen', 'doc', 'bytes', 'code'],
  ...failuresOf(proxy, { breaksAfterBytes: 0 }),
})

describe(`reading, against ${testServerName}`, () => {
  const optionsOf = (own: Values = {}) => ({ secrets, settings: { ...settings, ...own } })
  const sql = (sqlQuery: string, own: Values = {}) =>
    optionsOf({ dataSourceType: 'SQL Query', keyColumns: '', sqlQuery, ...own })

  test('resumes behind any row, also among equal ones without a key, and reads texts with backslashes as keys', async () => {
    const equal = sql(
      `select case when i < 7000 then 'same' else cast(i as varchar(9)) end as v from generate_series(1, 9000) as t(i) -- all\n;`,
    )
    const chunks = await readAll(amazonRedshiftSource, equal)
    assert.equal(rowsOf(chunks).filter(([v]) => v === 'same').length, 6999)
    assert.deepEqual(rowsOf(await readAll(amazonRedshiftSource, equal, chunks[0]?.checkpoint)), rowsOf(chunks.slice(1)))
    const text = optionsOf({
      keyColumns: 'Name, id',
      dataSourceType: 'SQL Query',
      sqlQuery: 'select name, id from crm.people where name is not null',
    })
    const named = await readAll(amazonRedshiftSource, text)
    assert.equal(rowsOf(named).length, 8000)
    assert.deepEqual(rowsOf(await readAll(amazonRedshiftSource, text, named[0]?.checkpoint)), rowsOf(named.slice(1)))
  })

  test('continues behind the last time, decimal or day, up to the lag, and counts rows without one', async () => {
    await query(`create table crm.log (id int, at timestamptz, amount numeric(20, 4), day date);
      insert into crm.log select i, now() - interval '1 hour' * i, i + 0.0001, current_date - i from generate_series(0, 9) as i;
      insert into crm.log values (10, null, null, null)`)
    const read = (markerColumn: string, cursor?: ReturnType<typeof cursorOf>) =>
      readAll(amazonRedshiftSource, {
        ...optionsOf({ table: 'log', syncMode: 'Incremental', markerColumn }),
        ...(cursor !== undefined && { cursor }),
      })
    for (const [column, count] of [
      ['at', 9],
      ['amount', 10],
      ['day', 9],
    ] as const) {
      const first = await read(column)
      assert.equal(rowsOf(first).length, count, column)
      assert.equal(rowsOf(await read(column, cursorOf(first))).length, 0, column)
    }
    const before = cursorOf(await read('amount'))
    await query('insert into crm.log values (11, null, 9.0002, null)')
    assert.deepEqual(
      rowsOf(await read('amount', before)).map(([id]) => id),
      [11],
    )
    const log = optionsOf({ table: 'log', syncMode: 'Incremental', markerColumn: 'at' })
    const reader = await amazonRedshiftSource.source?.open?.(testContext(log))
    const findings = await reader?.findings?.(10_000)
    assert.match(findings?.[0]?.message ?? '', /^2 rows have no value in at/)
    await reader?.close()
  })

  test('declares types, and refuses columns by which nothing can be ordered', async () => {
    const [chunk] = await readAll(amazonRedshiftSource, optionsOf())
    assert.deepEqual(
      chunk?.types?.map((type) => type?.kind),
      ['bigint', undefined, 'boolean', 'double', 'decimal', 'date', 'timestamp', 'instant', 'json', 'bytes', undefined],
    )
    const invalid = ['reconfigure', 'invalid_setting']
    for (const keyColumns of ['score', 'doc', 'member', 'bytes']) {
      assert.deepEqual(await connectorErrorOf(readAll(amazonRedshiftSource, optionsOf({ keyColumns }))), invalid)
    }
    const marked = optionsOf({ syncMode: 'Incremental', markerColumn: 'name' })
    assert.deepEqual(await connectorErrorOf(readAll(amazonRedshiftSource, marked)), invalid)
    assert.deepEqual(await connectorErrorOf(readAll(amazonRedshiftSource, optionsOf({ keyColumns: 'code' }))), [
      'fail',
      'invalid_key',
    ])
  })

  test('runs one statement, and nothing that writes', async () => {
    assert.equal(
      (await connectorErrorOf(readAll(amazonRedshiftSource, sql('select 1; drop table crm.people'))))[0],
      'reconfigure',
    )
    assert.equal(
      (await connectorErrorOf(readAll(amazonRedshiftSource, sql('delete from crm.people'))))[0],
      'reconfigure',
    )
    assert.equal((await query('select 1 from crm.people limit 1')).length, 1)
  })

  test('has the server wait while nothing is read, and stops when it is closed', async () => {
    const sqlQuery = `select i, repeat('x', 1000) as pad from generate_series(1, 200000) as t(i)`
    const reader = await amazonRedshiftSource.source?.open?.(testContext(sql(sqlQuery, { keyColumns: 'i' })))
    assert.ok(reader)
    const before = redshift.sent.bytes
    for await (const chunk of reader.read()) {
      assert.ok(chunk.rows.length > 0)
      await until('the server waits', async () => redshift.sent.waits)
      break
    }
    assert.ok(redshift.sent.bytes - before < 100_000_000, 'half of the rows at most are on the way')
    await reader.close()
  })

  test('lists schemas, tables, views and columns', async () => {
    await query('create view crm.seen as select id from crm.people')
    const find = (field: string, own: Values = {}) =>
      discover(amazonRedshiftSource, secrets, field, { role: 'source', settings: { ...settings, ...own } })
    assert.deepEqual(valuesOf(await find('schema')), ['crm', 'public'])
    assert.deepEqual(
      (await find('table')).items.map(({ value, kind }) => `${kind} ${value}`),
      ['table log', 'table people', 'view seen'],
    )
    assert.equal(valuesOf(await find('markerColumn')).length, 11)
    assert.deepEqual((await find('columns', { dataSourceType: 'SQL Query', sqlQuery: 'select 1 as one' })).items, [
      { value: 'one', kind: 'column', type: 'integer' },
    ])
  })
})
