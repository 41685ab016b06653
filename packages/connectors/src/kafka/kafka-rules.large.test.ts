import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { type Chunk, ConnectorError, type Json, type Row, type Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import { startKafkaBroker } from '../../test/kafka-broker.ts'
import { collect } from '../../test/object-store-server.ts'
import { check } from './check.ts'
import { crc32c } from './crc32c.ts'
import { open as openSource } from './read.ts'
import { encodeBatch, type KafkaRecord, type Producing, readBatches } from './record-batch.ts'
import { KafkaWriter } from './wire-format.ts'
import { open as openDestination } from './write.ts'

const broker = await startKafkaBroker()
after(() => broker.close())
const secrets = { brokers: broker.address, tlsMode: 'disable', saslMechanism: 'none' }
const topic = 'events'
const atMs = Date.parse('2026-01-31T12:00:00Z')

beforeEach(() => {
  broker.create(topic, 2)
  broker.failure = undefined
  broker.messageBytesMax = 1_048_588
  broker.advertised = undefined
})

const record = (value: string | Buffer | null, key: string | Buffer | null = null): KafkaRecord => ({
  key: key === null ? null : Buffer.from(key),
  value: value === null ? null : Buffer.from(value),
  headers: [],
})

/** Stores a batch. With marks, it belongs to a transaction, or ends one. */
function store(
  partition: number,
  records: readonly KafkaRecord[],
  more: { timestampMs?: number; producing?: Producing; marks?: number } = {},
): void {
  const stored = broker.topics.get(topic)?.[partition]
  if (!stored) throw new Error('no partition')
  const { timestampMs = atMs, producing, marks = 0 } = more
  const encoded = encodeBatch(records, 'none', timestampMs, producing)
  encoded.writeInt16BE(marks, 21)
  const bytes = marks === 0 ? encoded : checksummed(encoded)
  bytes.writeBigInt64BE(BigInt(stored.next), 0)
  const next = stored.next + records.length
  stored.batches.push({ base: stored.next, next, maxTimestamp: timestampMs, bytes })
  stored.next = next
}

function checksummed(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(crc32c(bytes.subarray(21)), 17)
  return bytes
}

async function chunksOf(settings: Values = {}, options: TestContextOptions & { cursor?: Json } = {}): Promise<Chunk[]> {
  const context = testContext({ secrets, settings: { topic, startAt: 'earliest', ...settings }, ...options })
  const reader = await openSource(context)
  try {
    return await collect(reader.read())
  } finally {
    await reader.close()
  }
}
const rowsOf = (chunks: readonly Chunk[]): Row[] => chunks.flatMap(({ rows }) => [...rows])
const valuesOf = (chunks: readonly Chunk[]) => rowsOf(chunks).map(([, value]) => value)

const fails = async (work: Promise<unknown>): Promise<ConnectorError> => {
  const [result] = await Promise.allSettled([work])
  assert.equal(result?.status, 'rejected')
  assert.ok(result.reason instanceof ConnectorError, String(result.reason))
  return result.reason
}

async function deliver(rows: readonly Row[], settings: Values = {}, columns = ['id', 'note']) {
  const writer = await openDestination(testContext({ secrets, settings: { topic, ...settings }, columns }))
  try {
    return await writer.deliver({ key: 'a'.repeat(32), columns, rows, firstRow: 1 })
  } finally {
    await writer.close?.()
  }
}

const stored = () =>
  [...(broker.topics.get(topic) ?? [])].flatMap(({ batches }) =>
    batches.flatMap(({ bytes }) => [...readBatches(bytes, topic)].flatMap((batch) => batch.records())),
  )

describe('reading a topic, against a broker of Kafka’s protocol', () => {
  test('continues after the last transfer, and reads partitions that were added', async () => {
    store(0, [record('1'), record('2')])
    const first = await chunksOf()
    assert.deepEqual(valuesOf(first), ['1', '2'])
    const cursor = first.at(-1)?.cursor as Json
    store(0, [record('3')])
    broker.topics.get(topic)?.push({ first: 0, next: 0, batches: [], aborted: [] })
    store(2, [record('4')])
    assert.deepEqual(valuesOf(await chunksOf({}, { cursor })), ['3', '4'])
    const none = await chunksOf({ startAt: 'latest' }, {})
    assert.equal(none.at(-1)?.settles, true, 'the cursor of a transfer without messages is stored')
    assert.deepEqual(valuesOf(none), [])
    store(1, [record('5')])
    assert.deepEqual(valuesOf(await chunksOf({ startAt: 'latest' }, { cursor: none.at(-1)?.cursor as Json })), ['5'])
    // With another start, the cursor does not count.
    assert.deepEqual(valuesOf(await chunksOf({}, { cursor: none.at(-1)?.cursor as Json })), ['1', '2', '3', '5', '4'])
  })

  test('begins at a time', async () => {
    store(0, [record('1')], { timestampMs: atMs })
    store(0, [record('2')], { timestampMs: atMs + 60_000 })
    const at = (startTime: string) => chunksOf({ startAt: 'timestamp', startTime })
    assert.deepEqual(valuesOf(await at('2026-01-31T12:00:30Z')), ['2'])
    assert.deepEqual(valuesOf(await at('2026-02-01T00:00:00+01:00')), [])
    assert.equal((await fails(at('yesterday'))).code, 'invalid_setting')
  })

  test('stops if messages were deleted before they were read, and skips none', async () => {
    for (let n = 0; n < 10; n += 1) store(0, [record(`${n}`)])
    const cursor = { topic, start: 'earliest', at: [3, 0] }
    broker.retain(topic, 0, 5)
    const before = await fails(chunksOf({}, { cursor }))
    assert.deepEqual([before.action, before.code], ['fail', 'source_changed'])
    assert.match(before.message, /partition 0 of events from offset 3 on were deleted .* first one left is 5/)
    assert.equal((await fails(chunksOf({}, { cursor: { ...cursor, at: [11, 0] } }))).code, 'source_changed')
    // While it is read.
    const reader = await openSource(testContext({ secrets, settings: { topic, startAt: 'earliest' } }))
    broker.retain(topic, 0, 8)
    const during = await fails(collect(reader.read()))
    assert.match(during.message, /from offset 5 on were deleted before they were read.*Nothing was skipped/)
    await reader.close()
  })

  test('reads values, keys and headers as they are, and rejects values that are not JSON', async () => {
    const registered = (schema: number, content: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, 0, schema]), content])
    store(0, [
      record('{"id":12345678901234567890,"a":{"b":"c"},"key":"own"}', 'k'),
      record(null, Buffer.from([0xff, 1])),
      record('{"id":1'),
      record(registered(7, Buffer.from('{"id":2}'))),
      record(registered(7, Buffer.from([2, 8, 0x61, 0x62]))),
      record(Buffer.from([0xc3, 0x28])),
      record('[1]'),
      {
        ...record('{}'),
        headers: [
          ['h', Buffer.from('1')],
          ['h', null],
        ],
      },
    ])
    const [chunk] = await chunksOf({ valueFields: 'id, a.b, key' })
    assert.ok(chunk)
    assert.deepEqual(chunk.columns.slice(0, 5), ['key', 'value', 'id', 'a.b', 'value.key'])
    assert.deepEqual(
      chunk.rows.map((row) => row.slice(0, 5)),
      [
        ['k', '{"id":12345678901234567890,"a":{"b":"c"},"key":"own"}', '12345678901234567890', 'c', 'own'],
        ['\\xff01', null, null, null, null],
        [null, null, null, null, null],
        [null, '{"id":2}', 2, null, null],
        [null, null, null, null, null],
        [null, null, null, null, null],
        [null, '[1]', null, null, null],
        [null, '{}', null, null, null],
      ],
    )
    assert.equal(chunk.rows[7]?.at(-1), '[{"name":"h","value":"1"},{"name":"h","value":null}]')
    assert.deepEqual(chunk.rows[0]?.slice(5), [0, 0, '2026-01-31T12:00:00.000Z', null])
    assert.deepEqual(
      [...(chunk.errors ?? [])],
      [
        [2, 'The value is not JSON.'],
        [4, 'The value was encoded with a schema registry, and is not JSON: Avro and Protobuf are not supported.'],
        [5, 'The value is not text in UTF-8.'],
      ],
    )
    const [text] = await chunksOf({ valueFormat: 'Text' })
    assert.deepEqual([...(text?.errors ?? [])], [[5, 'The value is not text in UTF-8.']])
  })

  test('leaves out what was aborted, and the markers of transactions', async () => {
    const marker = (type: number) => [
      { key: new KafkaWriter().int16(0).int16(type).done(), value: Buffer.alloc(6), headers: [] },
    ]
    const of = (id: number) => ({ producing: { id, epoch: 0, sequence: 0 } })
    store(0, [record('1')], { ...of(7), marks: 0x10 })
    store(0, [record('2')], { ...of(8), marks: 0x10 })
    store(0, marker(0), { ...of(7), marks: 0x30 })
    store(0, marker(1), { ...of(8), marks: 0x30 })
    store(0, [record('3')], { ...of(7), marks: 0x10 })
    store(0, marker(1), { ...of(7), marks: 0x30 })
    broker.topics.get(topic)?.[0]?.aborted.push({ id: 7, first: 0 })
    assert.deepEqual(valuesOf(await chunksOf()), ['2', '3'])
  })

  test('reads on over offsets that compaction has removed', async () => {
    store(0, [record('1'), record('2'), record('3')])
    store(0, [record('4')])
    const partition = broker.topics.get(topic)?.[0]
    partition?.batches.shift()
    assert.deepEqual(valuesOf(await chunksOf()), ['4'])
  })

  test('refuses damaged messages, and an answer that is none', async () => {
    store(0, [record('1')])
    const bytes = broker.topics.get(topic)?.[0]?.batches[0]?.bytes
    if (bytes) bytes[bytes.length - 3] = 9
    assert.equal((await fails(chunksOf())).code, 'malformed_response')
  })
})

describe('writing to a topic, against a broker of Kafka’s protocol', () => {
  const people = Array.from({ length: 40 }, (_, n): Row => [`${n}`, 'x'.repeat(100)])

  test('rejects the row that is too large, and no other', async () => {
    broker.messageBytesMax = 2_000
    const rows = people.with(17, ['17', 'Zoë'.repeat(2_000)])
    const { rejected } = await deliver(rows, { compression: 'none' })
    assertRejected(rejected, [17])
    assert.match(rejected?.[0]?.reason ?? '', /MESSAGE_TOO_LARGE\. Raise max\.message\.bytes/)
    assert.deepEqual(
      stored().map(({ value }) => JSON.parse(String(value)).id),
      rows.flatMap(([id]) => (id === '17' ? [] : [id])),
    )
  })

  test('does not write twice if the answer was lost, or the leader changed', async () => {
    broker.failure = { what: 'loses the answer', api: 'produce', times: 1 }
    await deliver(people, { keyColumns: 'id' })
    broker.failure = { what: 6, api: 'produce', times: 2 }
    await deliver([['41', 'y']], { keyColumns: 'id' })
    assert.equal(stored().length, 41)
  })

  test('is no idempotent producer if the cluster does not allow that', async () => {
    broker.failure = { what: 31, api: 'initProducerId' }
    await deliver(people)
    assert.equal(stored().length, 40)
  })

  test('has keys of columns, a header of the transfer, and one partition for each key', async () => {
    await deliver(people, { keyColumns: 'id,note', transferHeader: true })
    const [first] = stored()
    assert.match(String(first?.key), /^\["\d+","x+"\]$/)
    assert.deepEqual(
      first?.headers.map(([name]) => name),
      ['penstock-transfer'],
    )
    broker.create(topic, 2)
    await deliver([...people, ...people], { keyColumns: 'note' })
    const used = broker.topics.get(topic)?.filter(({ batches }) => batches.length > 0)
    assert.equal(used?.length, 1)
    assert.equal((await fails(deliver(people, { keyColumns: 'nothing' }))).code, 'column_not_found')
  })

  test('names the permission that is missing', async () => {
    broker.operations = 1 << 8
    const settings = { topic, compression: 'gzip' }
    const steps = await check(testContext({ secrets, settings }))
    broker.operations = 0xfff8
    assert.match(steps[2]?.message ?? '', /lacks WRITE on the topic events/)
  })
})

describe('connecting to Kafka', () => {
  test('goes only to addresses that are allowed, also to those that a broker advertises', async () => {
    store(0, [record('1')])
    broker.advertised = { host: '169.254.169.254', port: 80 }
    const { action, code } = await fails(chunksOf())
    assert.deepEqual([action, code], ['reconfigure', 'address_not_allowed'])
    broker.advertised = undefined
    assert.equal((await fails(chunksOf({}, { networkPolicy: 'public' }))).code, 'address_not_allowed')
  })

  test('signs in with each mechanism, and sends no password without encryption', async () => {
    const user = 'a=b,c'
    const password = 'canary-of-kafka'
    const signing = await startKafkaBroker({ tls: true, users: { [user]: password } })
    try {
      signing.create(topic, 1)
      const own = { brokers: signing.address, caCertificate: signing.ca, user, password }
      for (const saslMechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']) {
        await chunksOf({}, { secrets: { ...own, saslMechanism } })
        const wrong = await fails(chunksOf({}, { secrets: { ...own, saslMechanism, password: 'wrong' } }))
        assert.equal(wrong.code, 'invalid_credentials')
      }
      const plain = { ...own, saslMechanism: 'PLAIN', tlsMode: 'disable' }
      assert.equal((await fails(chunksOf({}, { secrets: plain }))).code, 'invalid_setting')
      const untrusted = await fails(chunksOf({}, { secrets: { ...own, saslMechanism: 'PLAIN', caCertificate: '' } }))
      assert.equal(untrusted.code, 'certificate_not_trusted')
    } finally {
      await signing.close()
    }
    const other = await startKafkaBroker({ users: {}, mechanisms: ['SCRAM-SHA-256'] })
    try {
      const own = { brokers: other.address, tlsMode: 'disable', saslMechanism: 'SCRAM-SHA-512', user, password }
      const { code, message } = await fails(chunksOf({}, { secrets: own }))
      assert.equal(code, 'not_supported')
      assert.match(message, /The broker has SCRAM-SHA-256\./)
    } finally {
      await other.close()
    }
  })

  test('takes another broker if the first does not answer', async () => {
    store(0, [record('1')])
    const brokers = `127.0.0.1:1, ${broker.address}`
    assert.deepEqual(valuesOf(await chunksOf({}, { secrets: { ...secrets, brokers } })), ['1'])
    assert.equal((await fails(chunksOf({}, { secrets: { ...secrets, brokers: '127.0.0.1:1' } }))).code, 'unreachable')
  })
})
