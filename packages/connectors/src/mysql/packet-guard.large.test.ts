import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConnectorError } from '@penstock/connector'
import { bounds } from './bounds.ts'
import { guardPackets } from './packet-guard.ts'

/** A packet of one frame. */
function packet(number: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUIntLE(payload.length, 0, 3)
  head.writeUInt8(number % 256, 3)
  return Buffer.concat([head, payload])
}
const event = (size: number, fill = 7) => Buffer.concat([Buffer.from([0]), Buffer.alloc(size, fill)])
const end = Buffer.from([0xfe, 0, 0, 2, 0])
const error = Buffer.from([0xff, 0xd4, 0x04, 0x23, ...Buffer.from('HY000no log')])

/** The reaction of a guard to bytes that answer the request for a log, in pieces of some size. */
function received(bytes: Buffer, pieces = bytes.length): { seen: string[]; refused: string | undefined } {
  const seen: string[] = []
  let refused: ConnectorError | undefined
  const guard = guardPackets({
    host: 'db',
    pass: () => seen.push('driver'),
    sequence: () => 0,
    refuse: (problem) => {
      refused ??= problem
    },
  })
  guard.expect({
    infile: false,
    lookup: false,
    log: {
      event: (content) => seen.push(`event of ${content.length}`),
      end: () => seen.push('end'),
      error: (payload) => seen.push(`error ${payload.readUInt16LE(1)}`),
    },
  })
  for (let at = 0; at < bytes.length; at += pieces) guard.receive(bytes.subarray(at, at + pieces))
  return { seen, refused: refused?.code }
}

test('the packets of a log go to its reader, whole, and none to the driver', () => {
  const bytes = Buffer.concat([packet(1, event(20)), packet(2, event(3_000)), packet(3, end)])
  for (const pieces of [1, 3, 100, bytes.length]) {
    assert.deepEqual(received(bytes, pieces), { seen: ['event of 20', 'event of 3000', 'end'], refused: undefined })
  }
  const frame = 0xff_ffff
  const large = event(frame + 99)
  const frames = Buffer.concat([
    packet(1, large.subarray(0, frame)),
    packet(2, large.subarray(frame)),
    packet(3, error),
  ])
  assert.deepEqual(received(frames, 60_000), { seen: [`event of ${frame + 99}`, 'error 1236'], refused: undefined })
})

test('a log that breaks the protocol or a bound is refused', () => {
  const cases: [string, Buffer, string][] = [
    ['out of order', packet(2, event(5)), 'unexpected_response'],
    ['an event without content', packet(1, Buffer.from([0])), 'unexpected_response'],
    ['a packet of another kind', packet(1, Buffer.alloc(30, 3)), 'unexpected_response'],
    ['an error that is cut off', packet(1, Buffer.from([0xff, 1])), 'unexpected_response'],
    ['more after the end', Buffer.concat([packet(1, end), packet(2, event(5))]), 'unexpected_response'],
  ]
  for (const [name, bytes, code] of cases) assert.equal(received(bytes).refused, code, name)
  const frame = 0xff_ffff
  const frames = Array.from({ length: Math.ceil(bounds.eventBytes / frame) + 1 }, (_, at) =>
    packet(at + 1, at === 0 ? event(frame - 1) : Buffer.alloc(frame)),
  )
  assert.equal(received(Buffer.concat(frames), 1024 * 1024).refused, 'row_too_large')
})
