import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Chunk, Json, Values } from '@penstock/connector'
import { skipWithout } from '../../../../../test/harness/programs.ts'
import { seed } from '../../../../../test/harness/seed.ts'
import { seeded } from '../../../../../test/simulation/random.ts'
import { loggingOptions, startMariadb } from '../../../test/mariadb.ts'
import { connectorErrorOf, readAll, rowsOf } from '../../../test/tables.ts'
import { mysql } from '../mysql.ts'

/** A value is the same whether it comes from the log or with a copy of the table; PENSTOCK_TEST_SEED tries other values. */

const random = seeded(seed)
const one = <T>(values: readonly T[]): T => values[random.int(values.length)] as T
const digits = (count: number) => Array.from({ length: count }, () => random.int(10)).join('')
const number = (whole: number, places: number) =>
  `${one(['', '-'])}${digits(1 + random.int(whole))}${places === 0 ? '' : `.${digits(places)}`}`
const between = (low: bigint, high: bigint) =>
  String(one([low, high, 0n, low / 3n, high / 7n, BigInt(random.int(100))]))
const clock = (decimals: number) =>
  `${one(['00', '09', '23'])}:${one(['00', '59'])}:${one(['00', '07'])}.${digits(decimals) || '0'}`
const day = () => one(['0000-00-00', '1000-01-01', '1969-12-31', '2024-02-29', '9999-12-31'])
const second = (decimals: number) => `${one(['1970-01-02', '2000-06-15', '2038-01-18'])} ${clock(decimals)}`
const text = () => one(['', 'a', 'Ünïcode', '🙂 x', 'a b  ', 'x'.repeat(300), '\'"\\\0\n'])
const latin = () => one(['', 'é', 'Größe', '€', 'plain'])
const hex = (max: number) =>
  Buffer.from(Array.from({ length: random.int(max + 1) }, () => one([0, 1, 255, 65]))).toString('hex')

/** By the type of the column: a literal, or nothing if it has none. */
const everyType: readonly (readonly [type: string, literal: () => string | undefined])[] = [
  ['tinyint', () => between(-128n, 127n)],
  ['tinyint unsigned', () => between(0n, 255n)],
  ['year', () => one(['0', '1901', '2155', '2026'])],
  ['smallint', () => between(-32_768n, 32_767n)],
  ['smallint unsigned', () => between(0n, 65_535n)],
  ['mediumint', () => between(-8_388_608n, 8_388_607n)],
  ['mediumint unsigned', () => between(0n, 16_777_215n)],
  ['int', () => between(-(2n ** 31n), 2n ** 31n - 1n)],
  ['int unsigned', () => between(0n, 2n ** 32n - 1n)],
  ['int(6) zerofill', () => between(0n, 99n)],
  ['bigint', () => between(-(2n ** 63n), 2n ** 63n - 1n)],
  ['bigint unsigned', () => between(0n, 2n ** 64n - 1n)],
  ['bigint zerofill', () => between(0n, 99n)],
  ['boolean', () => one(['true', 'false'])],
  ['float', () => one(['0', '-1.5', '0.1', '3.4e38', '1e-40', '16777217'])],
  ['double', () => one(['0', '-0e0', '0.1', '1.7976931348623157e308', '5e-324', '1e20', '123456789.125'])],
  ['decimal(5,0)', () => number(5, 0)],
  ['decimal(10,2)', () => number(8, 2)],
  ['decimal(65,30)', () => number(35, 30)],
  ['decimal(9,9)', () => `${one(['', '-'])}0.${digits(9)}`],
  ['decimal(20,1) zerofill', () => `${digits(3)}.5`],
  ['bit(1)', () => one(["b'0'", "b'1'"])],
  ['bit(13)', () => String(random.int(8192))],
  ['bit(64)', () => between(0n, 2n ** 64n - 1n)],
  ['date', () => `'${day()}'`],
  [
    'datetime',
    () =>
      `'${day().startsWith('0000') ? '0000-00-00 00:00:00' : `${day() === '0000-00-00' ? '2024-02-29' : '1999-12-31'} ${clock(0)}`}'`,
  ],
  ['datetime(3)', () => `'2024-02-29 ${clock(3)}'`],
  ['datetime(6)', () => `'1000-01-01 ${clock(6)}'`],
  ['timestamp null', () => `'${second(0)}'`],
  ['timestamp(1) null', () => `'${second(1)}'`],
  ['timestamp(6) null', () => one([`'${second(6)}'`, "'0000-00-00'"])],
  ['time', () => one(["'838:59:59'", "'-838:59:59'", "'00:00:00'", "'-00:00:01'", "'12:34:56'"])],
  ['time(2)', () => one(["'-00:00:00.01'", "'-12:34:56.99'", "'12:34:56.5'"])],
  ['time(5)', () => one(["'-00:00:00.00001'", "'-838:59:58.99999'", "'1:2:3.45'"])],
  ['time(6)', () => one(["'-00:00:00.000001'", "'100:00:00.5'"])],
  ["enum('a','b''c','ü')", () => one(["'a'", "'b''c'", "'ü'"])],
  ["set('x','y','zß')", () => one(["''", "'x'", "'x,zß'", "'y,zß'"])],
  ['char(10)', () => one(["''", "'ab '", "'🙂'"])],
  ['char(255)', () => one(["''", "'x'", "'🙂🙂'"])],
  ['char(10) character set latin1', () => `'${latin()}'`],
  ['varchar(20) character set latin2', () => one(["'Łódź'", "'ž'", "''"])],
  ['varchar(400)', () => escaped(text())],
  ['varchar(20) character set ucs2', () => `'${latin()}'`],
  ['varchar(20) character set utf16', () => one(["'🙂'", "'a'", "''"])],
  ['varchar(20) character set utf16le', () => one(["'🙂'", "'a'"])],
  ['varchar(20) character set utf32', () => one(["'🙂'", "'a'"])],
  ['varchar(20) character set gbk', () => one(["'中文'", "'a'"])],
  ['varchar(20) character set ascii', () => one(["'plain'", "''"])],
  ['text character set koi8r', () => one(["'привет'", "''"])],
  ['tinytext', () => escaped(text().slice(0, 60))],
  ['mediumtext', () => escaped(text())],
  ['longtext', () => escaped(text())],
  ['binary(6)', () => `x'${hex(6)}'`],
  ['varbinary(300)', () => `x'${hex(200)}'`],
  ['blob', () => `x'${hex(20)}'`],
  ['tinyblob', () => `x'${hex(20)}'`],
  ['json', () => one([`'{"a": [1, 2.50, "ü"]}'`, `'null'`, `'[]'`])],
  ['point', () => one(['point(1, 2.5)', 'point(-1e10, 0)'])],
  ['geometry', () => one([`st_geomfromtext('LINESTRING(0 0, 1 1)')`])],
  ['inet6', () => one(["'::1'", "'2001:db8::ff00:42:8329'"])],
  ['uuid', () => one(["'123e4567-e89b-12d3-a456-426655440000'"])],
  ['varchar(50) compressed', () => escaped(text().slice(0, 40))],
  ['blob compressed', () => `x'${hex(30)}'`],
  ['int as (id + 1) virtual', () => undefined],
  ['int as (id * 2) stored', () => undefined],
]
/** Types that MySQL does not have. */
const ofMariadb = /inet6|uuid|compressed/
const escaped = (value: string) => `x'${Buffer.from(value).toString('hex')}'`

const rowsEach = 40
const plain: Values = { table: 'everything', syncMode: 'Changes', deletes: 'Skip' }

for (const [name, options] of [
  ['as they are', []],
  [
    'compressed',
    [
      '--loose-log-bin-compress=ON',
      '--loose-log-bin-compress-min-len=10',
      '--loose-binlog-transaction-compression=ON',
      '--binlog-checksum=NONE',
    ],
  ],
] as const) {
  const server = await startMariadb([...loggingOptions, ...options, '--sql-mode=', '--character-set-server=utf8mb4'])
  after(() => server?.stop())
  if (!server) {
    test('values in the log of MariaDB', { skip: skipWithout('mariadbd') }, () => {})
    continue
  }
  const { query, administer, secrets, isMariadb } = server
  const types = everyType.filter(([type]) => isMariadb || !ofMariadb.test(type))
  const read = (cursor?: Json, more: Values = {}): Promise<Chunk[]> =>
    readAll(mysql, { secrets, settings: { ...plain, ...more }, ...(cursor === undefined ? {} : { cursor }) })

  describe(`values in the log of ${isMariadb ? 'MariaDB' : 'MySQL'} ${server.version}, ${name} (PENSTOCK_TEST_SEED=${seed})`, () => {
    test('are those of a copy, of every type', async () => {
      await administer(`grant replication slave, replication client on *.* to penstock@'127.0.0.1'`)
      const columns = types.map(([type], at) => `c${at} ${type}`)
      await query(`create table everything (id int primary key, ${columns.join(', ')}) engine = InnoDB`)
      const cursor = (await read()).at(-1)?.cursor
      const given = types.flatMap(([, literal], at) => (literal() === undefined ? [] : [at]))
      for (let id = 1; id <= rowsEach; id++) {
        const values = given.map((at) => (id === 1 || random.int(8) === 0 ? 'null' : types[at]?.[1]()))
        await query(
          `insert into everything (id, ${given.map((at) => `c${at}`).join(', ')}) values (${[id, ...values].join(', ')})`,
        )
      }
      await query('update everything set c0 = 5 where id > 30')
      const logged = await read(cursor)
      const copied = await read()
      assert.deepEqual(logged[0]?.columns, copied[0]?.columns)
      assert.deepEqual(logged[0]?.types, copied[0]?.types)
      const expected = rowsOf(copied)
      const last = new Map(rowsOf(logged).map((row) => [row[0], row]))
      assert.equal(expected.length, rowsEach)
      for (const row of expected) {
        const found = last.get(row[0] ?? null) ?? []
        for (const [at, cell] of row.entries()) {
          assert.deepEqual(found[at], cell, `${at === 0 ? 'id' : types[at - 1]?.[0]} of row ${row[0]}`)
        }
      }
      assert.equal(rowsOf(logged).length, rowsEach + 10)
    })

    test('of keys find their rows, of each type that can be read from the log', async () => {
      const keys = [
        ['bigint unsigned', '18446744073709551615'],
        ['decimal(30,10)', '-12345678901234567890.0123456789'],
        ['varchar(50) collate utf8mb4_bin', "'Ärger'"],
        ['varchar(50) character set latin1', "'Größe'"],
        ['binary(16)', "x'00ff0000000000000000000000000000'"],
        ['datetime(6)', "'2024-02-29 12:34:56.000001'"],
        ['timestamp(3)', "'2024-02-29 12:34:56.001'"],
        ['date', "'2024-02-29'"],
        ["enum('a','b')", "'b'"],
      ] as const
      for (const [type, literal] of keys) {
        await query('drop table everything')
        await query(`create table everything (k ${type} primary key, n int, j point) engine = InnoDB`)
        const cursor = (await read()).at(-1)?.cursor
        await query(`insert into everything values (${literal}, 1, point(1, 2))`)
        const [inserted] = rowsOf(await read(cursor))
        assert.deepEqual([inserted], rowsOf(await read()), type)
        await query('delete from everything')
        const removal = (await read(cursor, { deletes: 'Remove' })).find(({ removed }) => removed)
        assert.equal(removal?.rows.at(-1)?.[0], inserted?.[0], type)
      }
      if (!isMariadb) return
      await query(`create or replace table everything (k uuid primary key, n int) engine = InnoDB`)
      const cursor = (await read()).at(-1)?.cursor
      await query('insert into everything values (uuid(), 1)')
      assert.deepEqual(await connectorErrorOf(read(cursor)), ['fail', 'invalid_key'])
    })

    test('of rows that are not whole are looked up, and rows that are gone are left out', async () => {
      await administer(`grant ${isMariadb ? 'binlog admin' : 'super'} on *.* to penstock@'127.0.0.1'`)
      await query('drop table everything')
      await query('create table everything (id int primary key, a int default 7, b text, p point) engine = InnoDB')
      const cursor = (await read()).at(-1)?.cursor
      const session = await server.connect()
      await session.query(`set session binlog_row_image = 'MINIMAL'`)
      await session.query(`insert into everything (id, b) values (1, 'x'), (2, 'y')`)
      await session.query(`update everything set b = 'z' where id = 1`)
      await session.query('delete from everything where id = 2')
      await session.end()
      const rows = rowsOf(await read(cursor, { deletes: 'Add' })).map((row) => [row[4], ...row.slice(0, 4)])
      assert.deepEqual(rows, [
        ['insert', 1, 7, 'x', null],
        ['update', 1, 7, 'z', null],
        ['delete', 2, null, null, null],
      ])
    })
  })
}
