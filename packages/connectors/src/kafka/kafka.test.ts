import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32c } from './crc32c.ts'
import { murmur2 } from './partitioner.ts'
import { KafkaReader, KafkaWriter } from './wire-format.ts'

test('the checksum and the hash of keys are those of Kafka', () => {
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283)
  // From the tests of the Java client.
  for (const [text, hash] of [
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['abc', 479470107],
  ] as const) {
    assert.equal(murmur2(Buffer.from(text)), hash, text)
  }
})

test('numbers of variable length come back as they were', () => {
  const numbers = [0, -1, 1, 63, -64, 64, 2 ** 31, -(2 ** 31), 2 ** 51, -(2 ** 51)]
  const writer = new KafkaWriter()
  for (const number of numbers) writer.varint(number)
  const reader = new KafkaReader(writer.done())
  assert.deepEqual(
    numbers.map(() => reader.varint()),
    numbers,
  )
  assert.throws(() => new KafkaReader(Buffer.alloc(20, 0xff)).varint(), RangeError)
  assert.throws(() => new KafkaReader(Buffer.from([0x7f, 0xff, 0xff, 0xff])).array(() => 0), RangeError)
})
