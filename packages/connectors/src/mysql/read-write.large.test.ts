import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Chunk, Json, Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { until } from '../../../../test/harness/until.ts'
import { assertRejected } from '../../test/assert-rejected.ts'
import { testAuthority } from '../../test/database-proxy.ts'
import { type Mariadb, startMariadb } from '../../test/mariadb.ts'
import { batchOf, connectorErrorOf, cursorOf, deliver as deliverTo, readAll, rowsOf } from '../../test/tables.ts'
import { mysql } from './mysql.ts'

const server = await startMariadb()
if (server) testAgainst(server)
else test('MySQL against MariaDB', { skip: skipWithout('mariadbd') }, () => {})

function testAgainst(server: Mariadb): void {
  const { secrets, query } = server
  after(() => server.stop())
  beforeEach(async () => {
    await server.administer('drop database penstock')
    await server.administer('create database penstock character set utf8mb4')
    await query('use penstock')
  })

  const read = (settings: Values, { after, cursor }: { after?: Json; cursor?: Json } = {}) =>
    readAll(mysql, { secrets, settings, ...(cursor ? { cursor } : {}) }, after)
  const sql = (sqlQuery: string, settings: Values = {}) => read({ dataSourceType: 'SQL Query', sqlQuery, ...settings })

  describe(`reading from MariaDB ${server.version}`, () => {
    test('gives every type in a form that loses nothing', async () => {
      await query(`create table types (a bigint unsigned, b decimal(10, 2), c double, d tinyint(1), e text, f varbinary(9),
        g timestamp(6) null, h datetime(6), i date, j time, k json, l bit(3), m enum('x', 'y'), n year, o point)`)
      await query(`insert into types values (18446744073709551615, 1.10, 0.1, true, 'a\\tb\\\\\\n', x'deadbeef',
        '2026-01-31 12:00:00.000001', '2026-01-31 13:00:00', '2026-01-31', '12:00:00', '{"a":1}', b'101', 'y', 2026, point(1, 2))`)
      await query('insert into types () values ()')
      const [first, second] = rowsOf(
        await read({ table: 'types', keyColumns: 'a, b' }).catch(() => read({ table: 'types' })),
      )
      const full = first?.[0] === null ? second : first
      assert.deepEqual(full, [
        '18446744073709551615',
        '1.10',
        0.1,
        1,
        'a\tb\\\n',
        '\\xdeadbeef',
        '2026-01-31T12:00:00.000001Z',
        '2026-01-31T13:00:00.000000',
        '2026-01-31',
        '12:00:00',
        '{"a":1}',
        5,
        'y',
        2026,
        'POINT(1 2)',
      ])
    })

    test('reads rows without a key, equal ones too, and resumes after any checkpoint', async () => {
      await query('create table plain (n int, text varchar(20), bytes binary(2))')
      await query(
        `insert into plain select seq % 7000, if(seq % 2, 'Ä', 'a'), if(seq % 7000 % 3, null, x'00ff') from seq_1_to_14000`,
      )
      await query('create view seen as select * from plain')
      for (const settings of [{ table: 'plain' }, { table: 'seen' }]) {
        const chunks = await read(settings)
        assert.ok(chunks.length > 2)
        assert.equal(rowsOf(chunks).length, 14_000)
        for (const [at, { checkpoint }] of chunks.entries()) {
          assert.deepEqual(rowsOf(await read(settings, { after: checkpoint })), rowsOf(chunks.slice(at + 1)))
        }
      }
    })

    test('reads by primary keys of any type, and by key columns of a query', async () => {
      for (const [type, value] of [
        ['bigint unsigned', '18446744073709540000 + seq'],
        ['binary(4)', `unhex(lpad(hex(seq * 7), 8, '0'))`],
        ['varchar(20) collate utf8mb4_general_ci', `concat(if(seq % 2, 'ä', 'A'), lpad(seq, 9, '0'))`],
        ['decimal(30, 9)', 'seq / 7'],
        ['datetime(6)', `timestamp('2026-01-31') + interval seq microsecond`],
        ['timestamp(6)', `timestamp('2026-01-31') + interval seq microsecond`],
      ]) {
        await query('drop table if exists keyed')
        await query(`create table keyed (b int, a ${type}, primary key (b, a))`)
        await query(`insert into keyed select seq % 2, ${value} from seq_1_to_6000`)
        for (const settings of [
          { table: 'keyed' },
          { dataSourceType: 'SQL Query', sqlQuery: 'select * from keyed -- all', keyColumns: 'b, a' },
        ]) {
          const chunks = await read(settings)
          assert.equal(rowsOf(chunks).length, 6000, type)
          assert.deepEqual(
            rowsOf(await read(settings, { after: chunks[0]?.checkpoint ?? null })),
            rowsOf(chunks.slice(1)),
          )
        }
      }
    })

    test('divides a table by ranges of its key, and resumes within any of them', async () => {
      await query('create table orders (id bigint unsigned, line int, note varchar(99), primary key (id, line))')
      await query(`insert into orders select 18446744073709500000 + seq * 3, 1, repeat('x', 60) from seq_1_to_6000`)
      await query(`insert into orders select id, 2, 'second' from orders where id % 7 = 0`)
      await query('analyze table orders')
      const options = { secrets, settings: { table: 'orders' } }
      const reader = await mysql.source?.open?.(testContext(options))
      const division = await reader?.divide?.({ bytesMin: 50_000, partsMax: 1_000 })
      await reader?.close()
      const { parts = [], apart, columns } = division ?? {}
      assert.ok(parts.length > 3, String(parts.length))
      assert.deepEqual([apart, await columns?.()], [['id'], ['id', 'line', 'note']])
      const all = rowsOf(await readAll(mysql, options))
      await query(`insert into orders values (1, 1, 'first'), (18446744073709551615, 1, 'last')`)
      const found: Row[] = []
      for (const { key } of parts) {
        const part = { key, columns: ['id', 'line', 'note'] }
        const chunks = await readAll(mysql, { ...options, part })
        found.push(...rowsOf(chunks))
        const rest = await readAll(mysql, { ...options, part }, chunks[0]?.checkpoint)
        assert.deepEqual(rowsOf(rest), rowsOf(chunks.slice(1)))
      }
      assert.deepEqual(found.slice(1, -1), all)
    })

    test('gives an incremental run what grew since the last one, up to the lag', async () => {
      for (const type of ['timestamp(6) null', 'datetime(6)']) {
        await query('drop table if exists news')
        await query(`create table news (id int primary key, changed ${type})`)
        await query(`insert into news values (1, now() - interval 2 hour), (2, now() - interval 1 hour), (3, null),
                     (4, now() - interval 5 minute)`)
        const settings = { table: 'news', syncMode: 'Incremental', markerColumn: 'changed', lagSeconds: 600 }
        const ids = (rows: Row[]) => rows.map(([id]) => id)
        const first = await read(settings)
        assert.deepEqual(ids(rowsOf(first)), [1, 2])
        const reader = await mysql.source?.open?.(testContext({ secrets, settings }))
        const [finding] = (await reader?.findings?.(10_000)) ?? []
        await reader?.close()
        assert.match(finding?.message ?? '', /^1 row has no value in changed/)
        const cursor = cursorOf(first)
        assert.deepEqual(rowsOf(await read(settings, { cursor })), [])
        await query('update news set changed = now() - interval 30 minute where id = 1')
        assert.deepEqual(ids(rowsOf(await read(settings, { cursor }))), [1])
        assert.deepEqual(ids(rowsOf(await read({ ...settings, lagSeconds: 0 }, { cursor }))), [1, 4])
        if (type === 'datetime(6)') {
          const east = { ...settings, timezone: 'Asia/Tokyo' }
          assert.deepEqual(ids(rowsOf(await read(east, { cursor }))), [1, 4], 'the clocks there are ahead')
        }
      }
    })

    test('waits for transactions that write, before it reads by a number or a time', async () => {
      const writer = await server.connect()
      const numbers = 'id int auto_increment primary key, text varchar(9)'
      const times = `id int auto_increment primary key, text varchar(9), changed datetime(6) default (now() - interval 1 day)`
      const cases: (readonly [table: string, columns: string, source: Values])[] = [
        ['by_number', numbers, { table: 'by_number', markerColumn: 'id' }],
        ['no_key', `n int auto_increment, text varchar(9), index (n)`, { table: 'no_key', markerColumn: 'n' }],
        ['by_time', times, { table: 'by_time', markerColumn: 'changed' }],
        [
          'of_query',
          numbers,
          { dataSourceType: 'SQL Query', sqlQuery: 'select id, text from of_query', markerColumn: 'id' },
        ],
      ]
      const texts = (chunks: Chunk[]) => rowsOf(chunks).map(([, text]) => text)
      const connections = async () => Number((await query(`show global status like 'Connections'`))[0]?.Value)
      try {
        for (const [name, columns, source] of cases) {
          const settings = { ...source, syncMode: 'Incremental' }
          await query(`create table ${name} (${columns})`)
          await query(`insert into ${name} (text) values ('first')`)
          const cursor = cursorOf(await read(settings))
          await writer.query('begin')
          await writer.query(`insert into ${name} (text) values ('late')`)
          await query(`insert into ${name} (text) values ('early')`)
          const refused = await connectorErrorOf(read({ ...settings, lagSeconds: 1 }, { cursor }))
          assert.deepEqual(refused, ['retry', 'writers_running'], name)
          assert.deepEqual(
            texts(await read({ ...settings, lagSeconds: 0 }, { cursor })),
            ['early'],
            'as if no one wrote',
          )
          const before = await connections()
          const reading = read(settings, { cursor })
          // One that plans, and two each time that it looks.
          await until('it waits', async () => (await connections()) >= before + 5)
          await writer.query('commit')
          assert.deepEqual(texts(await reading).sort(), ['early', 'late'], name)
        }
      } finally {
        await writer.end()
      }
    })

    test('refuses a number as the cursor of a replica, where writers cannot be seen', async () => {
      await query('create table plain (id int primary key, changed datetime)')
      const settings = { table: 'plain', syncMode: 'Incremental', markerColumn: 'id' }
      await server.administer('set global read_only = 1')
      try {
        assert.deepEqual(await connectorErrorOf(read(settings)), ['reconfigure', 'not_supported'])
        assert.deepEqual(await read({ ...settings, lagSeconds: 0 }), [])
        assert.deepEqual(await read({ ...settings, markerColumn: 'changed' }), [])
      } finally {
        await server.administer('set global read_only = 0')
      }
    })

    test('fails on a key that is empty or not unique, and runs one SELECT and nothing else', async () => {
      await query('create table `keys` (a int, b int)')
      await query('insert into `keys` values (1, 1), (1, 2), (2, null)')
      assert.deepEqual(await connectorErrorOf(read({ table: 'keys', keyColumns: 'a' })), ['fail', 'invalid_key'])
      assert.deepEqual(await connectorErrorOf(read({ table: 'keys', keyColumns: 'b' })), ['fail', 'invalid_key'])
      assert.deepEqual(await connectorErrorOf(read({ table: 'keys', keyColumns: 'c' })), [
        'reconfigure',
        'column_not_found',
      ])
      const code = async (text: string) => (await connectorErrorOf(sql(text)))[1]
      assert.equal(await code('select 1) as x; drop table `keys`; select (1'), 'invalid_query')
      assert.equal(await code('selct 1'), 'invalid_query')
      assert.equal(await code('select 1 as a, 2 as a'), 'invalid_query')
      assert.equal(await code('select * from absent'), 'table_not_found')
    })

    test('gives a statement up that takes too long', async () => {
      const slow = sql('select seq, sleep(0.02) as slept from seq_1_to_1000', { statementTimeoutSeconds: 1 })
      assert.deepEqual(await connectorErrorOf(slow), ['retry', 'statement_timeout'])
    })
  })

  const columns = ['id', 'name']
  const deliver = (settings: Values, rows: readonly Row[], { names = columns, number = 1 } = {}) =>
    deliverTo(mysql, { secrets, settings: { table: 't', ...settings } }, batchOf(names, rows, number))
  const upsert = { writeMode: 'Upsert', keyColumns: 'id' }
  const kept = async () => (await query('select id, name from t order by id, name')).map(({ id, name }) => [id, name])

  describe(`writing to MariaDB ${server.version}`, () => {
    test('has the server end a transaction whose client is gone or sleeps', async () => {
      await query('create table t (id int, name text)')
      await query(
        `create trigger bounds before insert on t for each row
         set new.name = concat(@@session.wait_timeout, ' ', @@session.net_read_timeout)`,
      )
      await deliver({}, [[1, 'a']])
      assert.deepEqual(await kept(), [[1, '20 20']])
    })

    test('creates a table that is missing where it may, and else names what is missing', async () => {
      assert.deepEqual(await connectorErrorOf(deliver({}, [[1, 'a']])), ['reconfigure', 'table_not_found'])
      await deliver({ createTable: true, ...upsert }, [[1, 'a']])
      await deliver({ createTable: true, ...upsert }, [[1, 'b']], { number: 2 })
      assert.deepEqual(await kept(), [['1', 'b']])
      const missing = { action: 'reconfigure', code: 'column_not_found', message: /no column city, zip;/ }
      await assert.rejects(deliver({}, [[1, 2, 3, 4]], { names: ['ID', 'city', 'name', 'zip'] }), missing)
    })

    test('wants transactions, and an upsert to have a unique key', async () => {
      await query('create table t (id int, name text) engine = MyISAM')
      assert.deepEqual(await connectorErrorOf(deliver({}, [[1, 'a']])), ['reconfigure', 'not_supported'])
      await query('alter table t engine = InnoDB')
      assert.deepEqual(await connectorErrorOf(deliver(upsert, [[1, 'a']])), ['reconfigure', 'key_not_unique'])
    })

    test('lets the last of equal keys win, and leaves other columns alone', async () => {
      await query(`create table t (id int primary key, name text, note varchar(9) default 'kept')`)
      await query(`insert into t values (2, 'old', 'kept')`)
      const rows = [1, 2, 1, 3, 2].map((id, index): Row => [id, `name ${index}`])
      const last = [1, 2, 3].map((id) => [id, `name ${[2, 4, 3][id - 1]}`])
      assert.equal((await deliver(upsert, rows)).rejected, undefined)
      assert.deepEqual(await kept(), last)
      assert.equal((await deliver(upsert, [...rows, ['x', 'y']], { number: 2 })).rejected?.length, 1)
      assert.deepEqual(await kept(), last)
      assert.deepEqual(await query('select distinct note from t'), [{ note: 'kept' }])
    })

    test('answers for a batch that comes again as it did the first time, and writes nothing', async () => {
      await query('create table t (id int unique, name text)')
      const rows = [...Array(5000).keys()].map((index): Row => [index % 10 === 9 ? 'nine' : index, 'a'])
      const first = await deliver({}, rows)
      assert.equal(first.rejected?.length, 500)
      assert.deepEqual(await deliver({}, rows), first)
      assert.equal((await kept()).length, 4500)
    })

    test('writes a batch once that two writers deliver at the same time', async () => {
      await query('create table t (id int, name text)')
      const rows = [...Array(3000).keys()].map((index): Row => [index, 'a'])
      await deliver({}, [[-1, 'a']], { number: 2 })
      await Promise.all([deliver({}, rows), deliver({}, rows), deliver({}, rows)])
      assert.equal((await kept()).length, 3001)
    })

    test('says of every row why it is not taken', async () => {
      await query('create table parents (id int primary key)')
      await query('insert into parents values (1)')
      await query(`create table t (id int primary key, parent int, small decimal(3, 1), word varchar(3), json json,
        positive int not null check (positive > 0), choice enum('x', 'y'), foreign key (parent) references parents (id))`)
      await query(`create trigger guard before insert on t for each row
        begin if new.id = 666 then signal sqlstate '45000' set message_text = 'no'; end if; end`)
      const names = ['id', 'parent', 'small', 'word', 'json', 'positive', 'choice']
      const good = (id: number): Row => [id, 1, '1.5', 'abc', '{"a":1}', 1, 'y']
      const bad: [at: number, value: Row[number], reason: RegExp, field?: string][] = [
        [0, null, /no value for the column id/, 'id'],
        [0, 666, /trigger/],
        [1, 2, /refers to another row that does not exist/],
        [2, '100', /out of the range of the column small/, 'small'],
        [2, '1.5x', /the column small/, 'small'],
        [3, 'abcd', /too long for the column word/, 'word'],
        [4, '{a}', /violates a check|not JSON/],
        [5, 0, /violates a check/],
        [5, '', /no value for the column positive/, 'positive'],
        [6, 'z', /not one that the column choice accepts/, 'choice'],
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
      assert.match(rejected.at(-1)?.reason ?? '', /same unique key already exists/)
      assert.equal((await query('select * from t')).length, bad.length)
    })

    test('takes back what it gave, in every type', async () => {
      const types = `a bigint unsigned, b decimal(10, 2), c double, d tinyint(1), e text, f varbinary(9), g timestamp(6) null,
        h datetime(6), i date, j time, k json, l bit(3), m enum('x', 'y'), n year, o varchar(9)`
      await query(`create table source (${types})`)
      await query(`create table t (${types})`)
      await query(`insert into source values (18446744073709551615, 1.10, 0.1, true, 'a\\tb\\\\\\n\\'"\\0', x'deadbeef00',
        '2026-01-31 12:00:00.000001', '2026-01-31 13:00:00', '2026-01-31', '12:00:00', '{"a":1}', b'101', 'y', 2026, '')`)
      const chunks = await read({ table: 'source' })
      assert.equal((await deliver({}, rowsOf(chunks), { names: [...(chunks[0]?.columns ?? [])] })).rejected, undefined)
      assert.deepEqual(await query('select * from t'), await query('select * from source'))
    })

    test('says what the user lacks', async () => {
      await query('create table t (id int, name text)')
      await server.administer(`create or replace user reader@'127.0.0.1' identified by 'canary-of-reader'`)
      await server.administer(`grant select on penstock.* to reader@'127.0.0.1'`)
      const reader = { ...secrets, user: 'reader', password: 'canary-of-reader' }
      const settings = { table: 't', writeMode: 'Insert' }
      const attempt = deliverTo(mysql, { secrets: reader, settings }, batchOf(columns, [[1, 'a']]))
      assert.deepEqual(await connectorErrorOf(attempt), ['reconfigure', 'permission_denied'])
      const check = async (given: Values, as = reader) =>
        (await mysql.check?.(testContext({ secrets: as, settings: given })))?.map(({ ok }) => ok)
      assert.deepEqual(await check(settings), [true, true, false])
      assert.deepEqual(await check({}), [true, true, true])
      assert.deepEqual(await check(settings, secrets as typeof reader), [true, true, true])
      assert.deepEqual(await check({}, { ...reader, password: 'wrong password' }), [true, false])
      const absent = readAll(mysql, { secrets: { ...secrets, database: 'absent' }, settings })
      assert.equal((await connectorErrorOf(absent))[0], 'reauthenticate')
    })
  })

  describe(`the way to MariaDB ${server.version}`, () => {
    const way = (given: Values) =>
      readAll(mysql, {
        secrets: { ...secrets, ...given },
        settings: { dataSourceType: 'SQL Query', sqlQuery: 'select 1 as one' },
      })

    test('is encrypted for any server, or only for one with a trusted certificate', async () => {
      const verified = { tlsMode: 'verify-full', host: 'localhost', caCertificate: testAuthority }
      for (const given of [{ tlsMode: 'require' }, { tlsMode: 'require', host: 'localhost' }, verified]) {
        assert.deepEqual(rowsOf(await way(given)), [[1]])
      }
    })

    test('is not taken where the certificate is another’s, of another host, or no certificate was given', async () => {
      const refused = ['reconfigure', 'certificate_not_trusted']
      assert.deepEqual(await connectorErrorOf(way({ tlsMode: 'verify-full', host: 'localhost' })), refused)
      const elsewhere = { tlsMode: 'verify-full', host: '127.0.0.1', caCertificate: testAuthority }
      assert.deepEqual(await connectorErrorOf(way(elsewhere)), ['reconfigure', 'invalid_address'])
      const nonsense = { tlsMode: 'verify-full', host: 'localhost', caCertificate: '-----BEGIN CERTIFICATE-----\nno' }
      assert.equal((await connectorErrorOf(way(nonsense)))[0], 'reconfigure')
    })
  })
}
