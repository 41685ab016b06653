import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import {
  ConnectorError,
  type Division,
  type DivisionBounds,
  type Json,
  type Row,
  type Values,
} from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import pg from 'pg'
import { until } from '../../../../test/harness/until.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { connectorErrorOf, cursorOf, readAll, rowsOf } from '../../test/tables.ts'
import { postgresql } from './postgresql.ts'

const { escapeLiteral } = pg

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server

beforeEach(() => query('drop schema crm cascade; create schema crm'))

const read = (settings: Values, { after, cursor }: { after?: Json; cursor?: Json } = {}) =>
  readAll(postgresql, { secrets, settings: { schema: 'crm', ...settings }, ...(cursor ? { cursor } : {}) }, after)

async function divide(options: TestContextOptions, bounds: DivisionBounds): Promise<Division | undefined> {
  const reader = await postgresql.source?.open?.(testContext(options))
  const division = await reader?.divide?.(bounds)
  await reader?.close()
  return division
}

const sql = (sqlQuery: string, settings: Values = {}) => read({ dataSourceType: 'SQL Query', sqlQuery, ...settings })

const ids = (rows: Row[]) => rows.map(([id]) => id)

describe(`reading from PostgreSQL ${server.version}`, () => {
  test('gives every type in a form that loses nothing', async () => {
    const chunks = await sql(`
      select 9007199254740993::int8 as bigint, 7::int2 as small, 1.10::numeric as decimal, 0.1::float8 as float,
             'NaN'::float8 as nan, true as yes, null::int as nothing, '' as empty, e'a\\tb\\\\n\\nc\\r' as text,
             '2026-01-31 13:00:00.000001+01'::timestamptz as instant, '2026-01-31 13:00:00'::timestamp as local,
             'infinity'::timestamptz as ever, '0044-03-15 BC'::date as ides, '2026-01-31'::date as day,
             '{"a": 1}'::jsonb as json, array[1, null, 3] as list, row(1, 'x') as pair, '\\xdeadbeef'::bytea as bytes,
             interval '1 day 2 hours' as span -- a comment at the end`)
    assert.deepEqual(rowsOf(chunks), [
      [
        '9007199254740993',
        7,
        '1.10',
        0.1,
        'NaN',
        true,
        null,
        '',
        'a\tb\\n\nc\r',
        '2026-01-31T12:00:00.000001Z',
        '2026-01-31T13:00:00',
        'infinity',
        '0044-03-15 BC',
        '2026-01-31',
        '{"a": 1}',
        '[1,null,3]',
        '{"f1":1,"f2":"x"}',
        '\\xdeadbeef',
        'P1DT2H',
      ],
    ])
  })

  test('reads rows without a key, equal ones too, and resumes after any checkpoint', async () => {
    await query(
      `create table crm.plain as select i % 7000 as n, repeat('x', 20) as text from generate_series(1, 14000) i`,
    )
    await query(`create view crm.seen as select * from crm.plain`)
    for (const settings of [{ table: 'plain' }, { table: 'seen' }]) {
      const chunks = await read(settings)
      assert.ok(chunks.length > 2)
      const rows = rowsOf(chunks)
      assert.equal(rows.length, 14_000)
      assert.equal(new Set(rows.map(([n]) => n)).size, 7000)
      for (const [at, { checkpoint }] of chunks.entries()) {
        assert.deepEqual(rowsOf(await read(settings, { after: checkpoint })), rowsOf(chunks.slice(at + 1)))
      }
    }
  })

  test('divides a table by ranges of its key, and resumes within any of them', async () => {
    await query(`create table crm.orders (id bigint, line int, note text, primary key (id, line))`)
    await query(
      `insert into crm.orders select power(i, 3)::bigint - 100, 1, repeat('x', 50) from generate_series(1, 3000) i`,
    )
    await query(`insert into crm.orders select id, 2, 'second' from crm.orders where id % 7 = 0`)
    await query('analyze crm.orders')
    const options = { secrets, settings: { schema: 'crm', table: 'orders' } }
    const division = await divide(options, { bytesMin: 20_000, partsMax: 1_000 })
    const { parts = [], apart, columns } = division ?? {}
    assert.deepEqual([apart, await columns?.()], [['id'], ['id', 'line', 'note']])
    const all = rowsOf(await readAll(postgresql, options))
    // Rows of keys that come after the division are in one part, too.
    await query(`insert into crm.orders values (-100000, 1, 'first'), (100000000000, 1, 'last')`)
    const found: Row[][] = []
    for (const { key } of parts) {
      const part = { key, columns: ['id', 'line', 'note'] }
      const chunks = await readAll(postgresql, { ...options, part })
      found.push(rowsOf(chunks))
      const [first] = chunks
      assert.ok(first)
      const rest = await readAll(postgresql, { ...options, part }, first.checkpoint)
      assert.deepEqual(rowsOf(rest), rowsOf(chunks.slice(1)))
    }
    assert.deepEqual(found.flat().slice(1, -1), all)
    // The histogram makes them alike, though keys are far apart at the end.
    const sizes = found.map((rows) => rows.length)
    assert.ok(sizes.length > 5 && Math.max(...sizes) < 2 * Math.min(...sizes), sizes.join(', '))
  })

  test('does not divide a table that is read by a cursor, by named keys, or by a key that is no whole number', async () => {
    await query(`create table crm.texts as select i::text as id, i as number from generate_series(1, 1000) i`)
    await query('alter table crm.texts add primary key (id)')
    const bounds = { bytesMin: 0, partsMax: 1_000 }
    for (const settings of [{}, { keyColumns: 'number' }, { syncMode: 'Incremental', markerColumn: 'number' }]) {
      const options = { secrets, settings: { schema: 'crm', table: 'texts', lagSeconds: 0, ...settings } }
      assert.equal(await divide(options, bounds), undefined)
    }
  })

  test('reads by the primary key, and by key columns of a query', async () => {
    await query(`create table crm.keyed (b text, a int, primary key (a, b))`)
    await query(`insert into crm.keyed select (i % 3)::text, i from generate_series(1, 6000) i order by random()`)
    for (const settings of [
      { table: 'keyed' },
      { dataSourceType: 'SQL Query', sqlQuery: 'select * from crm.keyed;', keyColumns: 'a, b' },
    ]) {
      const chunks = await read(settings)
      assert.deepEqual(
        rowsOf(chunks).map(([, a]) => a),
        Array.from({ length: 6000 }, (_, index) => index + 1),
      )
      assert.deepEqual(rowsOf(await read(settings, { after: chunks[0]?.checkpoint ?? null })), rowsOf(chunks.slice(1)))
    }
  })

  test('gives an incremental run what grew since the last one, up to the lag', async () => {
    await query('create table crm.news (id int primary key, changed timestamptz)')
    await query(`insert into crm.news values (1, now() - interval '2 hours'), (2, now() - interval '1 hour'),
                 (3, null), (4, now() - interval '5 minutes')`)
    const settings = { table: 'news', syncMode: 'Incremental', markerColumn: 'changed', lagSeconds: 600 }
    const first = await read(settings)
    assert.deepEqual(ids(rowsOf(first)), [1, 2])
    const cursor = cursorOf(first)
    assert.deepEqual(rowsOf(await read(settings, { cursor })), [])
    await query(`update crm.news set changed = now() - interval '30 minutes' where id = 1`)
    assert.deepEqual(ids(rowsOf(await read(settings, { cursor }))), [1])
    assert.deepEqual(ids(rowsOf(await read({ ...settings, lagSeconds: 0 }, { cursor }))), [1, 4])
    const other = { ...settings, markerColumn: 'id' }
    assert.deepEqual(ids(rowsOf(await read(other, { cursor }))), [1, 2, 3, 4], 'another cursor column starts over')
  })

  test('begins behind any row, also of rows that are equal in the cursor or in everything', async () => {
    await query('create table crm.twins (at int, text text)')
    await query(`insert into crm.twins select i / 5, 'row ' || i / 2 from generate_series(1, 20) i`)
    const settings = { table: 'twins', syncMode: 'Incremental', markerColumn: 'at' }
    const [chunk] = await read(settings)
    const rows = chunk?.rows ?? []
    assert.equal(rows.length, 20)
    for (let count = 0; count <= 20; count++) {
      const cursor = chunk?.cursorAfter?.(count)
      assert.ok(cursor)
      const [rest] = await read(settings, { cursor })
      assert.deepEqual(rest?.rows ?? [], rows.slice(count))
      if (rest) assert.deepEqual(rest.cursorAfter?.(0), cursor)
    }
  })

  test('keeps the end of a transfer where it was when the transfer resumes later', async () => {
    await query('create table crm.log (id int, text text)')
    await query(`insert into crm.log select i, 'x' from generate_series(1, 12000) i`)
    const settings = { table: 'log', syncMode: 'Incremental', markerColumn: 'id' }
    const chunks = await read(settings)
    await query(`insert into crm.log values (12001, 'late')`)
    const rest = await read(settings, { after: chunks[0]?.checkpoint ?? null })
    assert.deepEqual(rowsOf(rest), rowsOf(chunks.slice(1)))
    const cursor = cursorOf(rest)
    assert.deepEqual(rowsOf(await read(settings, { cursor })), [[12001, 'late']])
  })

  test('reads a day only when it is over, and nothing where there is no cursor', async () => {
    await query(`create table crm.days (day date); insert into crm.days
                 values ((now() at time zone 'UTC')::date), ((now() at time zone 'UTC')::date - 2)`)
    const settings = { table: 'days', syncMode: 'Incremental', markerColumn: 'day' }
    assert.equal(rowsOf(await read(settings)).length, 1)
    await query('create table crm.none (id int)')
    assert.deepEqual(await read({ table: 'none', syncMode: 'Incremental', markerColumn: 'id' }), [])
  })

  test('fails on a key that is empty or not unique, instead of losing rows', async () => {
    await query('create table crm.keys (a int, b int); insert into crm.keys values (1, 1), (1, 2), (2, null)')
    assert.deepEqual(await connectorErrorOf(read({ table: 'keys', keyColumns: 'a' })), ['fail', 'invalid_key'])
    assert.deepEqual(await connectorErrorOf(read({ table: 'keys', keyColumns: 'a, b' })), ['fail', 'invalid_key'])
    assert.deepEqual(await connectorErrorOf(read({ table: 'keys', keyColumns: 'c' })), [
      'reconfigure',
      'column_not_found',
    ])
  })

  test('runs one SELECT and nothing else', async () => {
    await query('create table crm.target (id int); insert into crm.target values (1)')
    const code = async (text: string) => (await connectorErrorOf(sql(text)))[1]
    assert.equal(await code('select 1) as x; drop table crm.target; select (1'), 'invalid_query')
    assert.equal(await code('with gone as (delete from crm.target returning id) select * from gone'), 'invalid_query')
    assert.equal(await code('selct 1'), 'invalid_query')
    assert.equal(await code('select 1 as a, 2 as a'), 'invalid_query')
    assert.equal(await code('select * from crm.absent'), 'table_not_found')
    assert.equal(await code('select 1 / (id - 1) from crm.target'), 'statement_failed')
    await query(`create function crm.erase() returns int language sql as 'delete from crm.target; select 1'`)
    assert.equal(await code('select crm.erase() as gone'), 'permission_denied')
    assert.equal((await query('select * from crm.target')).length, 1)
  })

  test('gives a statement up that takes too long, also on the server', { timeout: 30_000 }, async () => {
    const settings = { statementTimeoutSeconds: 1 }
    const slow = `select pg_sleep(60)::text as slept, 'penstock sleeps' as name`
    assert.deepEqual(await connectorErrorOf(sql(slow, settings)), ['retry', 'statement_timeout'])
    const sleeping = `select 1 from pg_stat_activity where query like 'copy%penstock sleeps%' and datname = current_database() and state = 'active'`
    while ((await query(sleeping)).length > 0);
  })

  test('waits for transactions that write, before it reads by a number of a sequence', async () => {
    await query(`
      create table crm.orders (id bigserial, day date default '2026-01-31', text text) partition by list (day);
      create table crm.orders_31 partition of crm.orders for values in ('2026-01-31');
      create view crm.seen as select * from crm.orders`)
    const writer = new pg.Client({ ...secrets, ssl: false } as pg.ClientConfig)
    await writer.connect()
    const incremental = { syncMode: 'Incremental', markerColumn: 'id', keyColumns: 'id' }
    const sources: Values[] = [
      { table: 'orders' },
      { table: 'seen' },
      { dataSourceType: 'SQL Query', sqlQuery: 'select id, text from crm.orders' },
    ]
    const waiting = `select 1 from pg_stat_activity where application_name = 'penstock' and query like '%pg_locks%' and datname = current_database()`
    try {
      for (const [round, source] of sources.entries()) {
        const first = round * 2 + 1
        await writer.query(`begin; insert into crm.orders (text) values ('late')`)
        await query(`insert into crm.orders (text) values ('early')`)
        const settings = { ...source, ...incremental }
        const connectorError = await connectorErrorOf(read({ ...settings, lagSeconds: 1 }))
        assert.deepEqual(connectorError, ['retry', 'writers_running'])
        assert.ok(!ids(rowsOf(await read({ ...settings, lagSeconds: 0 }))).includes(first), 'as if no one were writing')
        const reading = read(settings)
        while ((await query(waiting)).length === 0);
        await query(`insert into crm.orders (text) values ('next')`)
        await writer.query('commit')
        assert.deepEqual(ids(rowsOf(await reading)).slice(-2), [String(first), String(first + 1)])
        await query('delete from crm.orders where id > $1', [first + 1])
        await query(`select setval('crm.orders_id_seq', $1)`, [first + 1])
      }
    } finally {
      await writer.end()
    }
  })

  test('waits for transactions that write and began before the time up to which it reads', async () => {
    await query(`create table crm.seen (id int primary key, at timestamptz default now() - interval '1 hour')`)
    await query('insert into crm.seen values (1)')
    const writer = new pg.Client({ ...secrets, ssl: false } as pg.ClientConfig)
    await writer.connect()
    const settings = { table: 'seen', syncMode: 'Incremental', markerColumn: 'at', lagSeconds: 1 }
    try {
      await writer.query('begin; insert into crm.seen values (2)')
      const isOld = `select 1 from pg_stat_activity where state = 'idle in transaction' and xact_start < now() - interval '2 seconds' and datname = current_database()`
      assert.deepEqual(ids(rowsOf(await read({ ...settings, lagSeconds: 1800 }))), [1], 'it began later than that')
      await until('the transaction is older than the lag', async () => (await query(isOld)).length > 0)
      assert.deepEqual(await connectorErrorOf(read(settings)), ['retry', 'writers_running'])
      assert.deepEqual(ids(rowsOf(await read({ ...settings, lagSeconds: 0 }))), [1])
      await writer.query('commit')
      assert.deepEqual(ids(rowsOf(await read(settings))), [1, 2])
    } finally {
      await writer.end()
    }
  })

  test('does not stop for ever at a number that is greater than all others', async () => {
    for (const type of ['numeric', 'real', 'double precision']) {
      await query(`create table crm.numbers (id int primary key, n ${type})`)
      await query(`insert into crm.numbers values (1, 1), (2, 'NaN'), (3, 3), (4, null)`)
      if (type !== 'numeric' || Number.parseInt(server.version, 10) >= 14) {
        await query(`insert into crm.numbers values (5, 'Infinity')`)
      }
      const settings = { table: 'numbers', syncMode: 'Incremental', markerColumn: 'n' }
      const first = await read(settings)
      assert.deepEqual(ids(rowsOf(first)), [1, 3], type)
      await query('insert into crm.numbers values (6, 6)')
      assert.deepEqual(ids(rowsOf(await read(settings, { cursor: cursorOf(first) }))), [6])
      const stuck = { order: ['n', 'id'], after: ['NaN', '2'], skip: 1 }
      assert.deepEqual(ids(rowsOf(await read(settings, { cursor: stuck }))), [1, 3, 6], 'starts over')
      const context = testContext({ secrets, settings: { schema: 'crm', ...settings } })
      const reader = await postgresql.source?.open?.(context)
      const [finding] = (await reader?.findings?.(10_000)) ?? []
      await reader?.close()
      assert.equal(finding?.code, 'rows_without_cursor')
      const unread = await query(`select 1 from crm.numbers where n is null or n::text in ('NaN', 'Infinity')`)
      assert.match(finding?.message ?? '', new RegExp(`^${unread.length} rows have no value`))
      await query('drop table crm.numbers')
    }
  })

  test('keeps the secret out of errors that repeat what was typed, in any form', async () => {
    const user = `typist_${secrets.database}`
    const password = "canary's+of/the typist, which is longer than any name of PostgreSQL may be"
    await query(`create role ${user} login password ${escapeLiteral(password)}; grant usage on schema crm to ${user}`)
    try {
      const typed = [
        `select * from "${password}"`,
        `select "${password}" from (select 1) as one`,
        `select '${password.replaceAll("'", "''")}`,
        `select * from "${encodeURIComponent(password)}"`,
        `select * from "${Buffer.from(`u:${password}`).toString('base64')}"`,
        `select * from "${Buffer.from(password).toString('hex')}"`,
        `select * from "${password.replaceAll("'", "''").toUpperCase()}"`,
      ]
      for (const sqlQuery of typed) {
        const settings = { dataSourceType: 'SQL Query', sqlQuery, keyColumns: password }
        const attempt = readAll(postgresql, { secrets: { ...secrets, user, password }, settings })
        const [result] = await Promise.allSettled([attempt])
        assert.ok(result?.status === 'rejected' && result.reason instanceof ConnectorError)
        const { message } = result.reason
        assert.ok(message.includes('[redacted]'), message)
        for (const form of ['canary', 'typist, w', 'longer than', Buffer.from('typist').toString('hex')]) {
          assert.ok(!message.replaceAll(user, '').toLowerCase().includes(form), message)
        }
        assert.ok(message.length < 500)
      }
    } finally {
      await query(`drop owned by ${user}; drop role ${user}`)
    }
  })

  test('says how many rows there are about', async () => {
    await query(
      'create table crm.counted (id int primary key); insert into crm.counted select generate_series(1, 5000)',
    )
    await query('analyze crm.counted')
    const reader = await postgresql.source?.open?.(
      testContext({ secrets, settings: { schema: 'crm', table: 'counted' } }),
    )
    assert.equal(reader?.total?.rows, 5000)
    await reader?.close()
  })
})
