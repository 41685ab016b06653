import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { until } from '../../../../test/harness/until.ts'
import { assertRejected } from '../../test/assert-rejected.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { batchOf, connectorErrorOf, deliver as deliverTo, readAll, rowsOf } from '../../test/tables.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server

beforeEach(() => query('drop schema crm cascade; create schema crm'))

const columns = ['id', 'name']
const deliver = (settings: Values, rows: readonly Row[], { names = columns, number = 1 } = {}) =>
  deliverTo(postgresql, { secrets, settings: { schema: 'crm', table: 't', ...settings } }, batchOf(names, rows, number))
const leftOut = (index: number) => ({ index, reason: 'A trigger or a rule of the table left the row out.' })
const upsert = { writeMode: 'Upsert', keyColumns: 'id' }
const kept = async () => (await query('select id, name from crm.t order by id, name')).map(({ id, name }) => [id, name])

describe(`writing to PostgreSQL ${server.version}`, () => {
  test('creates a table that is missing where it may, and else names what is missing', async () => {
    assert.deepEqual(await connectorErrorOf(deliver({}, [[1, 'a']])), ['reconfigure', 'table_not_found'])
    await deliver({ createTable: true, ...upsert }, [[1, 'a']])
    await deliver({ createTable: true, ...upsert }, [[1, 'b']], { number: 2 })
    assert.deepEqual(await kept(), [['1', 'b']])
    await assert.rejects(deliver({}, [[1, 2, 3, 4]], { names: ['id', 'city', 'name', 'zip'] }), {
      action: 'reconfigure',
      code: 'column_not_found',
      message: /no column city, zip;/,
    })
  })

  test('wants an upsert to have a key that the table keeps unique, and that is delivered', async () => {
    await query('create table crm.t (id int, name text)')
    assert.deepEqual(await connectorErrorOf(deliver(upsert, [[1, 'a']])), ['reconfigure', 'key_not_unique'])
    assert.deepEqual(await connectorErrorOf(deliver({ ...upsert, keyColumns: 'city' }, [[1, 'a']])), [
      'reconfigure',
      'column_not_found',
    ])
    await query('create unique index on crm.t (id) where id > 0')
    assert.deepEqual(await connectorErrorOf(deliver(upsert, [[1, 'a']])), ['reconfigure', 'key_not_unique'])
    await query('create unique index on crm.t (id) include (name)')
    await deliver(upsert, [[1, 'a']])
    assert.deepEqual(await kept(), [[1, 'a']])
  })

  test('lets the last of equal keys win, in the fast way and row by row, and leaves other columns alone', async () => {
    await query(
      `create table crm.t (id int primary key, name text, note text default 'kept'); insert into crm.t values (2, 'old')`,
    )
    const rows = [1, 2, 1, 3, 2].map((id, index): Row => [id, `name ${index}`])
    const last = [1, 2, 3].map((id) => [id, `name ${[2, 4, 3][id - 1]}`])
    assert.equal((await deliver(upsert, rows)).rejected, undefined)
    assert.deepEqual(await kept(), last)
    assert.equal((await deliver(upsert, [...rows, ['x', 'y']], { number: 2 })).rejected?.length, 1)
    assert.deepEqual(await kept(), last)
    assert.deepEqual(await query('select distinct note from crm.t'), [{ note: 'kept' }])
  })

  test('has the server end a transaction whose client is gone or sleeps', async () => {
    const limits = ['idle_in_transaction_session_timeout', 'tcp_keepalives_idle', 'tcp_user_timeout']
    const shown = limits.map((name) => `current_setting('${name}')`).join(` || ' ' || `)
    await query(`create table crm.t (id int, name text default ${shown})`)
    await deliver({}, [[1]], { names: ['id'] })
    assert.deepEqual(await kept(), [[1, '15s 10 20000']])
  })

  test('ends what an earlier attempt left open, and writes nothing for one that was taken for dead', async () => {
    await query('create table crm.t (id int, name text)')
    const options = (attempt: number) => ({ secrets, settings: { schema: 'crm', table: 't' }, attempt })
    const open = async (attempt: number) => {
      const writer = await postgresql.destination?.deliver?.open(testContext({ columns, ...options(attempt) }))
      assert(writer)
      return writer
    }
    const ninth = await open(9)
    const batch = batchOf(columns, [[1, 'a']])
    await query('begin; lock table crm.t in access exclusive mode')
    const stuck = connectorErrorOf(ninth.deliver(batch))
    const sessions = async () =>
      (await query(`select wait_event_type as wait from pg_stat_activity where application_name ~ ' 9$'`)).map(
        ({ wait }) => wait,
      )
    await until('it waits for the table', async () => (await sessions()).includes('Lock'))
    // The table is still locked; what the ninth holds of the batch is not.
    const tenth = await open(10)
    await query('commit')
    await tenth.deliver(batch)
    assert.deepEqual(await stuck, ['retry', 'platform_unavailable'])
    assert.deepEqual(await connectorErrorOf(ninth.deliver(batch)), ['retry', 'conflict'])
    assert.deepEqual(await connectorErrorOf(deliverTo(postgresql, options(8), batch)), ['retry', 'conflict'])
    await Promise.all([ninth.close?.(), tenth.close?.()])
    assert.deepEqual(await kept(), [[1, 'a']])
  })

  test('does without ending earlier attempts where the user may not', async () => {
    await query(`drop role if exists penstock_modest; create role penstock_modest login password 'modest'`)
    await query(`revoke execute on function pg_terminate_backend(int, bigint) from public`)
    await query('grant all on schema crm to penstock_modest')
    const modest = { ...secrets, user: 'penstock_modest', password: 'modest' }
    const settings = { schema: 'crm', table: 't', createTable: true }
    const write = (attempt: number, number: number) =>
      deliverTo(postgresql, { secrets: modest, settings, attempt }, batchOf(columns, [[number, 'a']], number))
    try {
      await write(1, 1)
      const waiting = await postgresql.destination?.deliver?.open(testContext({ columns, secrets: modest, settings }))
      await write(2, 2)
      await waiting?.close?.()
      assert.deepEqual((await kept()).length, 2)
    } finally {
      await query('drop schema crm cascade; create schema crm; drop role penstock_modest')
    }
  })

  test('answers for a batch that comes again as it did the first time, and writes nothing', async () => {
    await query('create table crm.t (id int unique, name text)')
    const rows = [...Array(100).keys()].map((index): Row => [index % 10 === 9 ? 'nine' : index, 'a'])
    const first = await deliver({}, rows)
    assertRejected(
      first.rejected,
      [9, 19, 29, 39, 49, 59, 69, 79, 89, 99].map((index) => [index, 'id']),
    )
    assert.ok(first.bytes > 0)
    assert.deepEqual(await deliver({}, rows), first)
    assert.equal((await kept()).length, 90)
    const [noted] = await query('select rows, delivered_time <= now() as now from crm.penstock_batches')
    assert.deepEqual(noted, { rows: '90', now: true })
  })

  test('copies a batch before it may commit', async () => {
    await query('create table crm.t (id int, name text)')
    const { promise: permit, resolve } = Promise.withResolvers<void>()
    const options = { secrets, settings: { schema: 'crm', table: 't' } }
    const writer = await postgresql.destination?.deliver?.open(testContext({ columns, ...options }))
    const delivered = writer?.deliver(batchOf(columns, [[1, 'a']]), permit)
    const copied = `select from pg_stat_activity where application_name ~ '^penstock ' and state = 'idle in transaction' and query ~ '^copy '`
    await until('it is copied', async () => (await query(copied)).length === 1)
    assert.deepEqual(await kept(), [])
    resolve()
    await delivered
    await writer?.close?.()
    assert.deepEqual(await kept(), [[1, 'a']])
  })

  test('writes a batch once that two writers deliver at the same time', async () => {
    await query('create table crm.t (id int, name text)')
    const rows = [...Array(5000).keys()].map((index): Row => [index, 'a'])
    await Promise.all([deliver({}, rows), deliver({}, rows), deliver({}, rows)])
    assert.equal((await kept()).length, 5000)
  })

  test('says of every row why it is not taken, whatever share of them it is', async () => {
    await query(`
      create table crm.parents (id int primary key); insert into crm.parents values (1);
      create domain crm.short as varchar(3) check (value <> 'bad') not null;
      create table crm.t (id int primary key, parent int references crm.parents deferrable initially deferred,
        small numeric(3, 1), word crm.short, mark char(2), json jsonb, positive int constraint above_zero check (positive > 0),
        list int[])`)
    const names = ['id', 'parent', 'small', 'word', 'mark', 'json', 'positive', 'list']
    const good = (id: number): Row => [id, 1, '1.5', 'abc', 'ab', '{"a":1}', 1, '[1,2]']
    const bad: [at: number, value: Row[number], reason: RegExp, field?: string][] = [
      [0, null, /no value for the column id/, 'id'],
      [1, 2, /refers to another row that does not exist/],
      [2, '100', /out of the range of the column small/, 'small'],
      [3, 'abcd', /too long for the column word/, 'word'],
      [3, 'bad', /violates the check/],
      [3, null, /there is no value|SQLSTATE 23502/i],
      [4, 'abc', /too long for the column mark/, 'mark'],
      [5, '{a}', /not of the type of the column json/, 'json'],
      [6, 0, /violates the check above_zero/],
      [7, '[1,"x"]', /^A value is not a number\.$|not a number/, 'list'],
    ]
    const rows = bad.flatMap(([at, value], index) => [
      good(index),
      good(index + 100).map((cell, column) => (column === at ? value : cell)),
    ])
    rows.push(good(0))
    const { rejected = [] } = await deliver({}, rows, { names })
    assertRejected(rejected, [...bad.keys()].map((index) => index * 2 + 1).concat(bad.length * 2))
    for (const [index, [, , reason, field]] of bad.entries()) {
      assert.match(rejected[index]?.reason ?? '', reason)
      if (field) assert.equal(rejected[index]?.field, field)
    }
    assert.match(rejected.at(-1)?.reason ?? '', /same values already exists, by the unique key t_pkey/)
    assert.equal((await query('select * from crm.t')).length, bad.length)
  })

  test('counts rows that a trigger leaves out as rejected', async () => {
    await query(`
      create table crm.t (id int primary key, name text);
      create function crm.skip() returns trigger language plpgsql as 'begin return case when new.id % 2 = 0 then new end; end';
      create trigger skip before insert on crm.t for each row execute function crm.skip()`)
    for (const [number, settings] of [{}, upsert].entries()) {
      await query('truncate crm.t')
      const { rejected } = await deliver(
        settings,
        [
          [1, 'a'],
          [2, 'b'],
          [3, 'c'],
        ],
        { number: number + 1 },
      )
      assert.deepEqual(rejected, [0, 2].map(leftOut))
      assert.deepEqual(await kept(), [[2, 'b']])
    }
  })

  test('rejects rows that a trigger leaves out, also beside rows that the table refuses', async () => {
    await query(`
      create table crm.t (id int primary key, name text);
      create function crm.skip() returns trigger language plpgsql as 'begin return case when new.id % 2 = 0 then new end; end';
      create trigger skip before insert on crm.t for each row execute function crm.skip()`)
    const rows = [...Array(100).keys()].map((index): Row => [index === 50 ? 'fifty' : index, 'a'])
    for (const [number, settings] of [{}, upsert].entries()) {
      await query('truncate crm.t')
      const { rejected = [] } = await deliver(settings, rows, { number: number + 1 })
      const odd = rows.flatMap((_, index) => (index % 2 === 1 ? [leftOut(index)] : []))
      const refused = { index: 50, field: 'id', reason: 'A value is not a number.' }
      assert.deepEqual(rejected, [...odd.slice(0, 25), refused, ...odd.slice(25)])
      assert.equal((await kept()).length, 49)
      assert.deepEqual(await query('select rows from crm.penstock_batches where batch_key ~ $1', [`${number + 1}$`]), [
        { rows: '49' },
      ])
    }
  })

  test('rejects rows that a rule leaves out, and writes to a view what it takes', async () => {
    await query(`
      create table crm.kept (id int primary key, name text);
      create table crm.t (id int, name text);
      create rule less as on insert to crm.t where new.id % 2 = 1 do instead nothing;
      create view crm.v as select * from crm.kept where id < 5 with check option`)
    const rows = [0, 1, 2, 3].map((id): Row => [id, 'a'])
    for (const [number, dirty] of [[], [['x', 'y']]].entries()) {
      const { rejected = [] } = await deliver({}, [...rows, ...(dirty as Row[])], { number: number + 1 })
      assert.deepEqual(rejected.slice(0, 2), [leftOut(1), leftOut(3)])
      assert.equal(rejected.length, 2 + dirty.length)
    }
    assert.equal((await kept()).length, 4)
    const { rejected } = await deliver({ table: 'v' }, [...rows, [7, 'b']], { number: 3 })
    assert.deepEqual(rejected, [
      { index: 4, reason: 'The row would not be visible in the view that it is written to.' },
    ])
  })

  test('takes rows of nothing but a key that are there already, and rejects those that a trigger leaves out', async () => {
    await query(`
      create table crm.t (id int primary key); insert into crm.t values (2), (4);
      create function crm.skip() returns trigger language plpgsql as 'begin return case when new.id % 2 = 0 then new end; end';
      create trigger skip before insert on crm.t for each row execute function crm.skip()`)
    const rows = [1, 2, 2, 3, 4, 6].map((id): Row => [id])
    for (const [number, dirty] of [[], [['x']]].entries()) {
      const given = [...rows, ...(dirty as Row[])]
      const { rejected = [] } = await deliver(upsert, given, { names: ['id'], number: number + 1 })
      assert.deepEqual(rejected.slice(0, 2), [leftOut(0), leftOut(3)])
      assert.equal(rejected.length, 2 + dirty.length)
    }
    assert.deepEqual(await query('select id from crm.t order by id'), [{ id: 2 }, { id: 4 }, { id: 6 }])
  })

  test('reads bytes as PostgreSQL shows them or as plain text, or as Base64 where that is set', async () => {
    await query('create table crm.t (id int, name bytea, list bytea[])')
    const texts = ['', 'test', 'abcd', 'Zoë', '\\xdeadBEEF', '\\x0', 'C:\\101', null]
    const rows = texts.map((text, id): Row => [id, text, JSON.stringify(['test'])])
    const names = ['id', 'name', 'list']
    const stored = async () =>
      (await query(`select name::text, list::text from crm.t order by id`)).map(({ name, list }) => [name, list])
    const { rejected } = await deliver({}, rows, { names })
    const reason =
      'A text for bytes has a backslash but is not \\x and pairs of hexadecimal digits; write all of it so.'
    assert.deepEqual(
      rejected,
      [5, 6].map((index) => ({ index, field: 'name', reason })),
    )
    assert.deepEqual(
      (await stored()).map(([name]) => name),
      ['\\x', '\\x74657374', '\\x61626364', '\\x5a6fc3ab', '\\xdeadbeef', null],
    )
    assert.equal((await stored())[0]?.[1], '{"\\\\x74657374"}')
    const halved = await deliver({}, [[9, 'half \ud83d', null]], { names, number: 3 })
    assert.match(halved.rejected?.[0]?.reason ?? '', /half of a character/)
    await query('delete from crm.t')
    const base64 = await deliver({ bytesFormat: 'Base64' }, rows, { names, number: 2 })
    assertRejected(base64.rejected, [3, 5, 6])
    assert.deepEqual(
      (await stored()).map(([name]) => name),
      ['\\x', '\\xb5eb2d', '\\x69b71d', '\\xdeadbeef', null],
    )
  })

  test('rejects what the database would change without a word', async () => {
    await query(
      'create table crm.t (id int, at timestamp, short name, one "char", text text, times timestamp[], numbers numeric[])',
    )
    const names = ['id', 'at', 'short', 'one', 'text', 'times', 'numbers']
    const good = (id: number): Row => [
      id,
      '2026-01-31T12:00:00.5+0230',
      'n',
      'c',
      't',
      '["2026-01-31T12:00+02"]',
      '[1.10]',
    ]
    const bad: [at: number, value: Row[number], reason: RegExp][] = [
      [1, '2026-01-31 12:00:00 Europe/Paris', /has its zone in a form/],
      [1, '2026-01-31 12:00:00 EST', /has its zone in a form/],
      [1, '2026-02-30T12:00:00+02:00', /has its zone in a form/],
      [1, '2026-02-30T12:00:00', /not a valid date/],
      [2, 'n'.repeat(64), /too long/],
      [3, 'cc', /too long/],
      [4, '\ud800', /half of a character/],
      [5, '["2026-01-31 12:00:00 EST"]', /has its zone in a form/],
      [6, '["1.10", "x"]', /not a number/],
    ]
    const rows = bad.map(([at, value], id) => good(id).map((cell, column) => (column === at ? value : cell)))
    const { rejected = [] } = await deliver({}, [...rows, good(100)], { names })
    assert.equal(rejected.length, bad.length)
    for (const [index, [at, , reason]] of bad.entries()) {
      assert.match(rejected[index]?.reason ?? '', reason)
      assert.equal(rejected[index]?.field, names[at])
    }
    assert.deepEqual(await query('select at::text, times::text, numbers::text from crm.t'), [
      { at: '2026-01-31 09:30:00.5', times: '{"2026-01-31 10:00:00"}', numbers: '{1.10}' },
    ])
  })

  test('takes back what it gave, in every type', async () => {
    await query(`
      create table crm.source (a int8, b numeric, c float8, d boolean, e timestamptz, f timestamp, g date, h jsonb,
        i text[], j bytea, k interval, l text, m uuid, n varchar(20), o time);
      insert into crm.source values
        (9007199254740993, 1.10, 0.1, true, now(), now(), now(), '{"a": [1, null]}', array['a"b', null, 'c,d\\e', ''],
         '\\xdeadbeef', '1 day 2 hours', '', gen_random_uuid(), e'\\t\\\\\\n', '12:00:00.5'),
        (null, null, 'NaN', null, 'infinity', null, null, null, '{}', '', null, null, null, null, null);
      create table crm.t (like crm.source)`)
    const chunks = await readAll(postgresql, { secrets, settings: { schema: 'crm', table: 'source' } })
    const delivery = await deliver({}, rowsOf(chunks), { names: [...(chunks[0]?.columns ?? [])] })
    assert.equal(delivery.rejected, undefined)
    const difference = await query(`
      select s::text, t::text from crm.source s full join crm.t t on s::text = t::text where s is null or t is null`)
    assert.deepEqual(difference, [])
    assert.equal((await query('select * from crm.t')).length, 2)
  })

  test('brings timestamps into columns without a time zone in UTC, and nothing where a cell is empty', async () => {
    await query('create table crm.t (id timestamp, name int)')
    await deliver({}, [
      ['2026-01-31T12:00:00.000001+02:00', ''],
      ['2026-01-31T12:00:00Z', '7'],
    ])
    assert.deepEqual(await query(`select id::text, name from crm.t order by id`), [
      { id: '2026-01-31 10:00:00.000001', name: null },
      { id: '2026-01-31 12:00:00', name: 7 },
    ])
  })

  test('refuses what the user may not do, and columns that the database generates', async () => {
    await query(`create table crm.t (id int, name text generated always as (id::text) stored)`)
    assert.deepEqual(await connectorErrorOf(deliver({}, [[1, 'a']])), ['reconfigure', 'columns_do_not_fit'])
    await query(`drop table crm.t; create table crm.t (id int, name text)`)
    const user = `reader_${secrets.database}`
    await query(`create role ${user} login password 'canary-of-reader'; grant usage on schema crm to ${user}`)
    try {
      const reader = { ...secrets, user, password: 'canary-of-reader' }
      const settings = { schema: 'crm', table: 't', writeMode: 'Insert' }
      const attempt = deliverTo(postgresql, { secrets: reader, settings }, batchOf(columns, [[1, 'a']]))
      assert.deepEqual(await connectorErrorOf(attempt), ['reconfigure', 'permission_denied'])
      const check = async (given: Values) =>
        (await postgresql.check?.(testContext({ secrets: reader, settings: given })))?.map(({ ok }) => ok)
      assert.deepEqual(await check(settings), [true, true, false])
      assert.deepEqual(await check({ schema: 'crm' }), [true, true, true])
      assert.deepEqual(await check({ schema: 'absent' }), [true, true, false])
    } finally {
      await query(`drop owned by ${user}; drop role ${user}`)
    }
  })

  test('waits no longer than it should for a lock, and forgets batches of long ago', async () => {
    await query('create table crm.t (id int, name text)')
    await deliver({}, [[1, 'a']])
    await query(`update crm.penstock_batches set delivered_time = now() - interval '31 days'`)
    const context = testContext({ secrets, settings: { schema: 'crm', table: 't' }, columns })
    const writer = await postgresql.destination?.deliver?.open(context)
    await writer?.deliver(batchOf(columns, [[2, 'b']], 2))
    await writer?.finish?.()
    await writer?.close?.()
    assert.deepEqual(await query('select batch_key from crm.penstock_batches'), [{ batch_key: '2'.padStart(32, '0') }])
  })
})
