import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../../test/harness/property.ts'
import { BrokenMessage, readMessage } from './pgoutput.ts'
import { hasSeen, lsnIn, lsnText, snapshotIn } from './snapshot.ts'

const text = (value: string) => Buffer.concat([Buffer.from('t'), uint32(Buffer.byteLength(value)), Buffer.from(value)])
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const uint16 = (value: number) => uint32(value).subarray(2)
const int64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}
const update = Buffer.concat([
  Buffer.from('U'),
  uint32(7),
  Buffer.from('K'),
  uint16(2),
  text('1'),
  Buffer.from('n'),
  Buffer.from('N'),
  uint16(2),
  text('é'),
  Buffer.from('u'),
])

test('messages are read as PostgreSQL sends them', () => {
  assert.deepEqual(readMessage(update), {
    kind: 'update',
    relationId: 7,
    old: { of: 'key', row: ['1', null] },
    row: ['é', undefined],
  })
  const begin = Buffer.concat([Buffer.from('B'), int64(0x16b374d848n), int64(1_000_000n), uint32(4_000_000_000)])
  assert.deepEqual(readMessage(begin), {
    kind: 'begin',
    commitLsn: 0x16b374d848n,
    committedMs: Date.UTC(2000, 0, 1, 0, 0, 1),
    xid: 4_000_000_000,
  })
  assert.deepEqual(readMessage(Buffer.from('M whatever there is')), { kind: 'other' })
})

test('whatever a server sends is a message or refused as broken', () =>
  fc.assert(
    fc.property(fc.constantFrom(...'BCRIUDTYOM'), fc.uint8Array({ maxLength: 60 }), fc.nat(), (kind, bytes, cut) => {
      const ways = [
        Buffer.concat([Buffer.from(kind), bytes]),
        update.subarray(0, cut % update.length),
        Buffer.concat([update, bytes.subarray(0, 1), Buffer.from('x')]),
      ]
      for (const way of ways) {
        try {
          readMessage(way)
        } catch (error) {
          assert(error instanceof BrokenMessage)
          assert.doesNotMatch(error.message, /é/)
        }
      }
    }),
  ))

test('a snapshot has seen what was committed before it, also if transaction numbers begin again', () =>
  fc.assert(
    fc.property(
      fc.bigInt({ min: 3n, max: 1n << 40n }),
      fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 8 }),
      fc.integer({ min: -60, max: 60 }),
      (xmax, back, offset) => {
        const running = [...new Set(back.map((by) => xmax - BigInt(by) - 1n).filter((xid) => xid > 2n))]
        const xmin = running.reduce((least, xid) => (xid < least ? xid : least), xmax)
        const snapshot = snapshotIn(`${xmin}:${xmax}:${running.join(',')}`)
        assert(snapshot)
        const xid = xmax + BigInt(offset)
        if (xid < 3n) return
        const expected = xid < xmax && !running.includes(xid)
        assert.equal(hasSeen(snapshot, Number(xid & 0xffffffffn)), expected)
      },
    ),
  ))

test('a place in the log is its text', () => {
  assert.equal(lsnText(0x16b374d848n), '16/B374D848')
  assert.equal(lsnIn('16/B374D848'), 0x16b374d848n)
  for (const text of ['', '16', '16/', 'x/y', '1/123456789', 5]) assert.equal(lsnIn(text), undefined)
})
