import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Cell, Row } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { seed } from '../../../../test/harness/seed.ts'
import { assertRejected } from '../../test/assert-rejected.ts'
import { type Mariadb, startMariadb } from '../../test/mariadb.ts'
import { batchOf, deliver, readAll, rowsOf } from '../../test/tables.ts'
import { mysql } from './mysql.ts'

/** Every value comes back as it was given, or is rejected; PENSTOCK_TEST_SEED tries other values. */
const rowsEach = 100

type Kind = {
  readonly type: string
  /** Values that the column holds exactly. */
  readonly good: fc.Arbitrary<Cell>
  /** Values that it might change. */
  readonly odd: fc.Arbitrary<Cell>
  /** Whether a value that came back is the one that was given. */
  readonly same: (given: Cell, found: Cell) => boolean
}

/** A number by its digits, whatever its form. */
function plain(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  assert.notEqual(whole + fraction, '', `${text} is not a number`)
  const digits = (whole + fraction).replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  const power = Number(exponent) - fraction.length + digits.length - short.length
  return `${sign === '-' ? '-' : ''}${short}${short === '' ? '' : `e${power}`}`
}
const asNumber = (given: Cell, found: Cell): boolean => {
  const text = Object.is(given, -0) ? '-0' : String(typeof given === 'boolean' ? Number(given) : given).trim()
  // Of a whole number, zero has no sign.
  return plain(text).replace(/^-$/, '') === plain(String(found)).replace(/^-$/, '')
}
/** Bytes come as \x and hexadecimal digits; they are also taken as Base64. */
function asBytes(given: Cell, found: Cell): boolean {
  const text = String(given)
  const isHexadecimal = text.startsWith('\\x')
  const bytes = Buffer.from(isHexadecimal ? text.slice(2) : text, isHexadecimal ? 'hex' : 'base64')
  return found === `\\x${bytes.toString('hex')}`
}
const asIs = (given: Cell, found: Cell): boolean => given === found
/** A time in UTC with six digits behind the seconds. */
function timestamp(text: string): string {
  const [, day = '', time = '00:00:00', fraction = '', zone = ''] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? []
  assert.notEqual(day, '', `${text} is not a timestamp`)
  const shifted =
    zone === '' || zone === 'Z' || day.startsWith('0000')
      ? `${day} ${time}`
      : new Date(Date.parse(`${day}T${time}${zone}`)).toISOString().slice(0, 19).replace('T', ' ')
  return `${shifted}.${fraction.padEnd(9, '0')}`
}
const asTimestamp = (given: Cell, found: Cell): boolean => timestamp(String(given)) === timestamp(String(found))

const whole = (min: bigint, max: bigint) =>
  fc
    .bigInt({ min, max })
    .map((value): Cell => (value > -(2n ** 53n) && value < 2n ** 53n ? Number(value) : String(value)))
const numbers = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom<Cell>(
    '1.60',
    '1.0',
    '1e2',
    '1e-3',
    ' 7',
    '7 ',
    '0x1A',
    '1_000',
    '12abc',
    '-0',
    '+5',
    '.5',
    '5.',
    -0,
    true,
  ),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.nat(9_999_999)).map(([a, b]) => `${a}.${b}`),
)
const decimals = (scale: number, max: number) =>
  fc
    .tuple(fc.integer({ min: -max, max }), fc.stringMatching(new RegExp(`^\\d{${scale}}$`)))
    .map(([a, b]) => (scale === 0 ? String(a) : `${a}.${b}`))
const days = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-30'), noInvalidDate: true })
const recent = fc.date({ min: new Date('1970-01-02'), max: new Date('2038-01-18'), noInvalidDate: true })
const zones = fc.constantFrom('', 'Z', '+00:00', '+05:30', '-11:00')
const fractions = fc.stringMatching(/^(\.\d{1,9})?$/)
const timestamps = (dates: fc.Arbitrary<Date>) =>
  fc
    .tuple(dates, fractions, zones)
    .map(([date, fraction, zone]) => `${date.toISOString().slice(0, 19)}${fraction}${zone}`)
const oddDays = fc.oneof(
  timestamps(days),
  fc.constantFrom<Cell>(
    '26-01-05',
    '10/11/12',
    '2026-1-5',
    '20260105',
    '2026-02-30',
    '2026-00-00',
    '0000-00-00',
    20260105,
  ),
)
const texts = fc.string({ unit: 'binary', maxLength: 12 })
const bytes = fc.uint8Array({ maxLength: 12 }).map((value) => `\\x${Buffer.from(value).toString('hex')}`)

const kinds: readonly Kind[] = [
  { type: 'tinyint', good: whole(-128n, 127n), odd: numbers, same: asNumber },
  { type: 'smallint unsigned', good: whole(0n, 65_535n), odd: numbers, same: asNumber },
  { type: 'mediumint zerofill', good: whole(0n, 2n ** 24n - 1n), odd: numbers, same: asNumber },
  { type: 'int', good: whole(-(2n ** 31n), 2n ** 31n - 1n), odd: numbers, same: asNumber },
  { type: 'bigint', good: whole(-(2n ** 63n), 2n ** 63n - 1n), odd: numbers, same: asNumber },
  { type: 'bigint unsigned', good: whole(0n, 2n ** 64n - 1n), odd: numbers, same: asNumber },
  { type: 'decimal(12,0)', good: decimals(0, 2 ** 30), odd: numbers, same: asNumber },
  { type: 'decimal(12,2)', good: decimals(2, 2 ** 30), odd: numbers, same: asNumber },
  { type: 'decimal(40,20)', good: decimals(20, 2 ** 30), odd: numbers, same: asNumber },
  {
    type: 'float',
    good: fc
      .float({ noNaN: true, noDefaultInfinity: true, min: Math.fround(-1e30), max: Math.fround(1e30) })
      .map((value) => {
        // As short as a FLOAT is written.
        for (let digits = 1; digits < 10; digits += 1) {
          const short = Number(value.toPrecision(digits))
          if (Math.fround(short) === value) return short
        }
        return value
      }),
    odd: numbers,
    same: asNumber,
  },
  {
    type: 'double',
    good: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 }),
    odd: numbers,
    same: asNumber,
  },
  { type: 'double(10,2)', good: decimals(2, 9_999), odd: numbers, same: asNumber },
  { type: 'bit(1)', good: fc.constantFrom(0, 1), odd: numbers, same: asNumber },
  { type: 'bit(64)', good: whole(0n, 2n ** 64n - 1n), odd: numbers, same: asNumber },
  {
    type: 'year',
    good: fc.oneof(fc.integer({ min: 1901, max: 2155 }), fc.constantFrom(0, '0000')),
    odd: fc.oneof(numbers, fc.integer({ min: 0, max: 99 }), fc.constantFrom('26', '00', '0')),
    same: asNumber,
  },
  {
    type: 'date',
    good: fc.oneof(
      days.map((day) => day.toISOString().slice(0, 10)),
      fc.constant('0000-00-00'),
    ),
    odd: oddDays,
    same: asTimestamp,
  },
  {
    type: 'datetime',
    good: days.map((day) => day.toISOString().slice(0, 19)),
    odd: fc.oneof(oddDays, timestamps(days)),
    same: asTimestamp,
  },
  {
    type: 'datetime(6)',
    good: fc
      .tuple(days, fc.stringMatching(/^\d{6}$/))
      .map(([day, part]) => `${day.toISOString().slice(0, 19)}.${part}`),
    odd: fc.oneof(oddDays, timestamps(days)),
    same: asTimestamp,
  },
  {
    type: 'timestamp(3) not null',
    good: recent.map((day) => day.toISOString()),
    odd: fc.oneof(oddDays, timestamps(recent), fc.constant(null)),
    same: asTimestamp,
  },
  {
    type: 'time(3)',
    good: fc
      .tuple(fc.integer({ min: 0, max: 838 }), fc.integer({ min: 0, max: 59 }), fc.stringMatching(/^\d{3}$/))
      .map(
        ([hours, minutes, part]) => `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}:07.${part}`,
      ),
    odd: fc.constantFrom<Cell>(123, '12', '2026-01-31T12:00:00', '12:00:00.0004', '900:00:00', '12:61:00', true),
    same: asIs,
  },
  {
    type: 'char(6)',
    good: fc.string({ unit: 'grapheme-ascii', maxLength: 6 }).filter((text) => !text.endsWith(' ')),
    odd: texts,
    same: asIs,
  },
  { type: 'varchar(6)', good: fc.string({ unit: 'grapheme-ascii', maxLength: 6 }), odd: texts, same: asIs },
  {
    type: 'longtext',
    good: texts.filter((text) => text.isWellFormed()),
    odd: fc.string({ unit: 'binary' }),
    same: asIs,
  },
  {
    type: 'varchar(9) character set latin1',
    good: fc.string({ unit: 'grapheme-ascii', maxLength: 9 }),
    odd: texts,
    same: asIs,
  },
  {
    type: `enum('x','Yes','it''s','a\\\\b','1')`,
    good: fc.constantFrom('x', 'Yes', "it's", 'a\\b', '1'),
    odd: fc.constantFrom<Cell>('X', 'yes', '2', 2, '', 'x ', '0', 'y'),
    same: asNumberOrText,
  },
  {
    type: `set('a','b','c')`,
    good: fc.constantFrom('a', 'a,b', 'a,b,c', 'c', ''),
    odd: fc.constantFrom<Cell>('A', '3', 3, 'd', 'a,d', 'a, b', ','),
    same: asIs,
  },
  { type: 'varbinary(12)', good: bytes, odd: texts, same: asBytes },
  { type: 'longblob', good: bytes, odd: texts, same: asBytes },
  {
    type: 'binary(4)',
    good: fc.uint8Array({ minLength: 4, maxLength: 4 }).map((value) => `\\x${Buffer.from(value).toString('hex')}`),
    odd: bytes,
    same: asIs,
  },
  {
    type: 'json',
    good: fc.jsonValue().map((value) => JSON.stringify(value)),
    odd: fc.oneof(texts, fc.constantFrom<Cell>('{a}', '', '{"a":1,"a":2}', '1e400')),
    same: asIs,
  },
]

function asNumberOrText(given: Cell, found: Cell): boolean {
  return String(given) === found
}

function testAgainst(server: Mariadb): void {
  const { secrets, query } = server
  after(() => server.stop())
  beforeEach(async () => {
    await server.administer('drop database penstock')
    await server.administer('create database penstock character set utf8mb4')
    await query('use penstock')
  })

  /** Delivers cells, each in a row of its own, and answers which came back as what. */
  async function passed(type: string, cells: readonly Cell[], writeMode: string) {
    await query(`create or replace table penstock.t (n int primary key, v ${type}) character set utf8mb4`)
    await query('drop table if exists penstock_batches')
    const rows = cells.map((cell, n): Row => [n, cell])
    const settings = { table: 't', writeMode, keyColumns: 'n' }
    const { rejected = [] } = await deliver(mysql, { secrets, settings }, batchOf(['n', 'v'], rows))
    const found = new Map(rowsOf(await readAll(mysql, { secrets, settings: { table: 't' } })).map(([n, v]) => [n, v]))
    const refused = new Set(rejected.map(({ index }) => index))
    assert.equal(found.size + refused.size, cells.length, 'every row is there or rejected')
    for (const { index, reason } of rejected) {
      assert.ok(!found.has(index ?? -1), 'what is rejected is not there')
      assert.ok(reason.length > 10)
    }
    return { found, refused }
  }

  /** Whether a cell is a possible form of a missing value in a column without text. */
  const isMissing = (cell: Cell): boolean => cell === null || cell === ''

  for (const [how, writeMode, infile] of [
    ['by LOAD DATA', 'Insert', 1],
    ['by statements', 'Insert', 0],
    ['by upserts', 'Upsert', 0],
  ] as const) {
    describe(`values written ${how} to MariaDB ${server.version}`, () => {
      for (const { type, good, odd, same } of kinds) {
        test(`${type}: come back exactly, or are rejected (PENSTOCK_TEST_SEED=${seed})`, async () => {
          await server.administer(`set global local_infile = ${infile}`)
          const fine = fc.sample(good, { seed, numRuns: rowsEach })
          const first = await passed(type, fine, writeMode)
          assert.deepEqual(
            [...first.refused].map((index) => fine[index ?? 0]),
            [],
            'what the column holds is taken',
          )
          for (const [at, cell] of fine.entries()) {
            const back = first.found.get(at) ?? null
            assert.ok(same(cell, back), `${JSON.stringify(cell)} came back as ${JSON.stringify(back)}`)
          }
          const strange = fc.sample(odd, { seed, numRuns: rowsEach })
          const second = await passed(type, strange, writeMode)
          for (const [at, cell] of strange.entries()) {
            if (second.refused.has(at)) continue
            const back = second.found.get(at) ?? null
            const held = (back === null && isMissing(cell)) || (back !== null && cell !== null && same(cell, back))
            assert.ok(held, `${JSON.stringify(cell)} came back as ${JSON.stringify(back)}`)
          }
        })
      }
    })
  }

  describe(`values of MariaDB ${server.version}`, () => {
    test('are read as exactly as the server has them', async () => {
      await query('create table t (n int primary key, f float, d double, y year, b blob, e blob, t timestamp null)')
      await query(`set sql_mode = ''`)
      await query(
        `insert into t values (1, 1.2345678, 0.1, 0, '', null, '0000-00-00'), (2, 16777216, 1e300, 2026, x'00', '', null)`,
      )
      assert.deepEqual(rowsOf(await readAll(mysql, { secrets, settings: { table: 't' } })), [
        [1, 1.2345678, 0.1, 0, '\\x', null, '0000-00-00 00:00:00'],
        [2, 16777216, 1e300, 2026, '\\x00', '\\x', null],
      ])
    })

    test('of a FLOAT serve as a key', async () => {
      await query('create table t (f float primary key)')
      await query('insert into t select seq / 7 from seq_1_to_12000')
      const settings = { table: 't' }
      const chunks = await readAll(mysql, { secrets, settings })
      assert.equal(rowsOf(chunks).length, 12_000)
      const rest = await readAll(mysql, { secrets, settings }, chunks[0]?.checkpoint)
      assert.deepEqual(rowsOf(rest), rowsOf(chunks.slice(1)))
    })

    test('that a server narrows are rejected although it is not strict itself', async () => {
      await server.administer(`set global sql_mode = ''`)
      try {
        await query('create table t (n int, price decimal(4, 1), day date)')
        const rows: Row[] = [
          ['1.60', 1, '2026-01-31'],
          [1, '1.25', '2026-01-31'],
          [1, 1, '2026-01-31T12:00:00Z'],
          [99_999_999_999, 1, null],
          [2, '1.50', '2026-01-31T00:00:00Z'],
        ]
        const settings = { table: 't', writeMode: 'Insert' }
        const { rejected = [] } = await deliver(mysql, { secrets, settings }, batchOf(['n', 'price', 'day'], rows))
        assertRejected(rejected, [
          [0, 'n'],
          [1, 'price'],
          [2, 'day'],
          [3, 'n'],
        ])
        assert.deepEqual(await query('select n, price, cast(day as char) as day from t'), [
          { n: 2, price: '1.5', day: '2026-01-31' },
        ])
      } finally {
        await server.administer(`set global sql_mode = default`)
      }
    })
  })
}

const server = await startMariadb()
if (server) testAgainst(server)
else test('mysql is NOT TESTED here: install Debian’s mariadb-server (/usr/sbin/mariadbd)', { skip: true }, () => {})
