import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, zstdCompressSync } from 'node:zlib'
import { BrokenEvent, ByteReader } from './bytes.ts'
import { EventReader, type LogEvent } from './events.ts'
import { readValue, unread } from './row-values.ts'
import { columnTypes, type LoggedColumn, tableMapIn } from './table-map.ts'

/** Events that MariaDB 10.11 and MySQL 9.7 have written for the same table and rows. */
const mariadb = {
  format: `687e086b0f07000000fc000000000100000000040031302e31312e31392d4d6172696144422d302b646562313275312d6c6f67${'00'.repeat(20)}687e086b13380d000800120004040404120000e400041a08000000080808020000000a0a0a0000000000000a0a0a${'00'.repeat(119)}041304000d0808080a0a0a0139648104`,
  table:
    '687e086b1307000000610000005d070000000012000000000001000870656e73746f636b000174000603f60ffe12fe0905025000f70106fe043e01018003022d3f040d026964016e01730165016401620a010806050201610162080100dc29e078',
  insert:
    '687e086b17070000003d0000009a07000000001200000000000100063fc000286bee7ffecd02c3a90299b2bac8b80000010200fffe01000000da7dda8b',
  update: '687e086b18070000002f000000ac08000000001200000000000100063f3ffe01000000fc010000008002196c6416b0',
  commit: '687e086b10070000001f000000b907000000000a0000000000000075093de5',
}
const mysql = {
  format: `7e7e086b0f070000007b0000007f00000000000400392e372e342d32${'00'.repeat(43)}7e7e086b13000d0008000000000400040000006300041a08000000000000020000000a0a0a2a2a001234000a280000017ccae002`,
  payload:
    '7f7e086b2807000000f90000005909000000000201000303fc0d010101d60028b52ffd600d00650600724b2a32604d920ead76845a00613390f81690075470f0d3b22e2d51d5e2064222240c0406359c0b12da23875713d106b1a411b2650aff7f0042c1df4b3cfb2023211f1ce9219224575522593eba73838604ab02f7655ad17cdcd16250a651359dba69749103cde16835b6d15edae57af2443e0057e52230616eaaef627c74203d4e251101817958b2c8a0a68d46e358819001c205f71cefdc6911353187e9d8d215fe0dfda6f829293d4e150e00a004c49557c1833e30f667b0bba972e03a48212b5861b107da03380fc00b9f925281',
}
const bytesOf = (hex: string) => Buffer.from(hex, 'hex')
const kindsIn = (reader: EventReader, ...events: string[]): LogEvent[] => events.map((hex) => reader.read(bytesOf(hex)))

test('events are read as the servers have written them', () => {
  const reader = new EventReader()
  const [format, table, rows, update, commit] = kindsIn(
    reader,
    mariadb.format,
    mariadb.table,
    mariadb.insert,
    mariadb.update,
    mariadb.commit,
  )
  assert.deepEqual(
    [format, table, rows, update, commit].map((event) => event?.kind),
    ['format', 'table', 'rows', 'rows', 'commit'],
  )
  assert.deepEqual([rows?.end, rows?.serverId, format?.end], [0x79a, 7, 256])
  assert.ok(table?.kind === 'table')
  const { columns, ...name } = tableMapIn(table.body, true)
  assert.deepEqual(name, { id: 18, database: 'penstock', table: 't' })
  assert.deepEqual(
    columns?.map((column) => [column.name, column.type, column.isUnsigned, column.collation]),
    [
      ['id', columnTypes.long, true, undefined],
      ['n', columnTypes.newDecimal, false, undefined],
      ['s', columnTypes.varchar, false, 45],
      ['e', columnTypes.enum, false, 8],
      ['d', columnTypes.datetime, false, undefined],
      ['b', columnTypes.string, false, 63],
    ],
  )
  assert.ok(rows?.kind === 'rows')
  // The number of columns, the columns that are there, the columns that are null.
  const values = new ByteReader(rows.body().subarray(3))
  const row = columns?.map((column) => readValue(values, column, (text) => text.toString()))
  assert.deepEqual(row, ['4000000000', '-1.50', 'é', 'b', '2024-02-29 12:34:56.000001', '\\x00ff0000'])
  assert.equal(values.left, 5, 'the second row has a key alone')

  const [described, payload] = kindsIn(new EventReader(), mysql.format, mysql.payload)
  assert.ok(described?.kind === 'format' && payload?.kind === 'payload')
  const inner = payload.events.map((bytes) => reader.inner(bytes))
  assert.deepEqual(
    inner.map(({ kind }) => kind),
    ['statement', 'table', 'rows', 'commit'],
  )
  assert.ok(inner[1]?.kind === 'table')
  assert.deepEqual(
    tableMapIn(inner[1].body, false).columns?.map((column) => [column.name, column.isUnsigned, column.collation]),
    columns?.map((column) => [
      column.name,
      column.isUnsigned,
      column.collation === 45 || column.collation === 8 ? 255 : column.collation,
    ]),
  )
})

test('an event that is cut, changed or invented is broken, and nothing else', () => {
  const sources = [...Object.values(mariadb), mysql.payload].map(bytesOf)
  /** Reads an event with all that is in it. */
  const readWhole = (bytes: Buffer) => {
    const reader = new EventReader()
    reader.read(bytesOf(mariadb.format))
    const event = reader.read(bytes)
    if (event.kind === 'rows') event.body()
    if (event.kind === 'table') tableMapIn(event.body, true)
    if (event.kind === 'payload') for (const each of event.events) reader.inner(each)
  }
  const signed = (bytes: Buffer): Buffer => {
    const whole = Buffer.concat([bytes, Buffer.alloc(4)])
    whole.writeUInt32LE(whole.length, 9)
    whole.writeUInt32LE(crc32(whole.subarray(0, -4)), whole.length - 4)
    return whole
  }
  for (const source of sources) {
    for (let length = 0; length < source.length; length += 3) {
      assert.throws(() => readWhole(source.subarray(0, length)), BrokenEvent)
    }
    for (let at = 0; at < source.length; at += 7) {
      const changed = Buffer.from(source)
      changed[at] = (changed[at] ?? 0) ^ 0x41
      if (source !== sources[0]) assert.throws(() => readWhole(changed), BrokenEvent)
      // The same with a checksum that is right: read or broken.
      try {
        readWhole(signed(changed.subarray(0, -4)))
      } catch (error) {
        assert.ok(error instanceof BrokenEvent, String(error))
      }
    }
  }
})

test('a compressed transaction says how long it is, and is no longer', () => {
  const head = bytesOf(mysql.payload).subarray(0, 19)
  const payload = (content: Buffer, length: number) => {
    const compressed = zstdCompressSync(content)
    const size = Buffer.from([1, 3, 252, compressed.length & 255, compressed.length >> 8])
    const claim = Buffer.alloc(7)
    claim.writeUInt8(3)
    claim.writeUInt8(5, 1)
    claim.writeUInt8(254, 2)
    claim.writeUInt32LE(length, 3)
    return Buffer.concat([head, size, Buffer.from([3, 4, 253]), claim.subarray(3, 6), Buffer.from([0]), compressed])
  }
  const reader = new EventReader()
  for (const [content, claimed] of [
    [1_000, 999],
    [1_000, 1_001],
    [1_000_000, 10],
    [10, 0xffffff],
  ] as const) {
    const bytes = payload(Buffer.alloc(content, 0x41), claimed)
    assert.throws(() => reader.inner(bytes), BrokenEvent, `${content} bytes that claim to be ${claimed}`)
  }
})

test('values at the edges of their types are those of the server', () => {
  const column = (type: number, meta = 0, isUnsigned = false): LoggedColumn => ({ name: 'c', type, meta, isUnsigned })
  const cases: [LoggedColumn, string, string | typeof unread][] = [
    [column(columnTypes.tiny), '80', '-128'],
    [column(columnTypes.tiny, 0, true), '80', '128'],
    [column(columnTypes.int24), '000080', '-8388608'],
    [column(columnTypes.longLong), 'ffffffffffffffff', '-1'],
    [column(columnTypes.longLong, 0, true), 'ffffffffffffffff', '18446744073709551615'],
    [column(columnTypes.double), '0000000000000080', '-0'],
    [column(columnTypes.newDecimal, 0x0e04), '810dfb38d204d2', '1234567890.1234'],
    [column(columnTypes.newDecimal, 0x0e04), '7ef204c72dfb2d', '-1234567890.1234'],
    [column(columnTypes.newDecimal, 0x0101), '85', '0.5'],
    [column(columnTypes.year), '00', '0000'],
    [column(columnTypes.date), '000000', '0000-00-00'],
    [column(columnTypes.datetime, 0), '8000000000', '0000-00-00 00:00:00'],
    [column(columnTypes.timestamp, 2), '0000000000', '0000-00-00 00:00:00.00'],
    [column(columnTypes.timestamp, 6), 'ffffffff0f423f', '2106-02-07 06:28:15.999999'],
    [column(columnTypes.time, 0), '7fffff', '-00:00:01'],
    [column(columnTypes.time, 2), '7fffffff', '-00:00:00.01'],
    [column(columnTypes.bit, 64), 'ffffffffffffffff', '18446744073709551615'],
    [column(columnTypes.set, 1), '03', unread],
    [column(columnTypes.enum, 1), '00', ''],
    [column(columnTypes.json, 4), '01000000ff', unread],
  ]
  for (const [of, hex, text] of cases) {
    const reader = new ByteReader(bytesOf(hex))
    assert.equal(readValue(reader, of, undefined), text, hex)
    assert.equal(reader.left, 0, hex)
  }
})
