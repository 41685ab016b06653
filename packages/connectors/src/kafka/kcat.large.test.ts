import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Cell, Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { startKafkaBroker } from '../../test/kafka-broker.ts'
import { type Kcat, kcatAt, startKcatCluster } from '../../test/kcat.ts'
import { collect } from '../../test/object-store-server.ts'
import { numbersFrom } from '../../test/random.ts'
import { check } from './check.ts'
import { codecs } from './compression.ts'
import { discoverFields, discoverTopics } from './discover.ts'
import { openStore } from './put-events.ts'
import { open as openSource } from './read.ts'
import { open as openDestination } from './write.ts'

const topic = 'people'
const user = 'loader'
const password = 'canary-of-kafka'

/** Our own broker, to which kcat signs in over TLS. */
async function startBroker(saslMechanism: string) {
  const broker = await startKafkaBroker({ tls: true, users: { [user]: password } })
  broker.create(topic, 4)
  const ca = fileURLToPath(new URL('../../test/certificates/ca.pem', import.meta.url))
  const signing = [`sasl.mechanism=${saslMechanism}`, `sasl.username=${user}`, `sasl.password=${password}`]
  return {
    ...kcatAt(broker.address, ['security.protocol=sasl_ssl', `ssl.ca.location=${ca}`, ...signing]),
    secrets: { brokers: broker.address, caCertificate: broker.ca, saslMechanism, user, password },
    stop: () => broker.close(),
  }
}

const mock = await startKcatCluster(topic)
const owns = await Promise.all(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'].map(startBroker))
after(() => Promise.all([mock, ...owns].map((cluster) => cluster?.stop())))
const [plain, scram256, scram512] = owns
const clusters = { 'the mock cluster of librdkafka': mock, 'our own broker with TLS and SCRAM': scram512 } as const

const range = <T>(length: number, make: (n: number) => T): T[] => Array.from({ length }, (_, n) => make(n))

for (const [name, cluster] of Object.entries(clusters)) {
  const secrets: Values = cluster?.secrets ?? {}
  const kcat = cluster as Kcat
  const found = async (prefix: string) =>
    (await kcat.consume(topic)).filter(({ key, value }) => `${key}${value}`.includes(`${prefix}-`))

  const readAll = async (settings: Values): Promise<Row[]> => {
    const reader = await openSource(testContext({ secrets, settings: { topic, startAt: 'earliest', ...settings } }))
    try {
      return (await collect(reader.read())).flatMap(({ rows }) => [...rows])
    } finally {
      await reader.close()
    }
  }

  const write = async (settings: Values, columns: readonly string[], rows: readonly Row[]): Promise<void> => {
    const writer = await openDestination(testContext({ secrets, settings: { topic, ...settings }, columns }))
    try {
      const types = columns.map((column) => (column === 'nested' ? ({ kind: 'json' } as const) : null))
      const { rejected } = await writer.deliver({ key: 'b'.repeat(32), columns, types, rows, firstRow: 1 })
      assert.equal(rejected, undefined)
    } finally {
      await writer.close?.()
    }
  }

  describe(`Kafka and the client kcat, at ${name}`, { skip: skipWithout('kcat') }, () => {
    test('reads what kcat has produced, with every codec and headers', async () => {
      for (const codec of codecs) {
        const lines = range(50, (n) => `${codec}-${n}:{"codec":"${codec}","n":${n},"more":"${'a'.repeat(20)}"}`)
        await kcat.produce(topic, lines, codec, ['-H', `sent-by=${codec}`, '-H', 'again=1', '-H', 'again=2'])
      }
      const rows = await readAll({ valueFields: 'codec,n' })
      const read = rows.map((row) => [row[0], row[2], row[3], row.at(-1)].join(' ')).sort()
      const expected = codecs.flatMap((codec) => {
        const headers = { 'sent-by': codec, again: '1' }
        const listed = [...Object.entries(headers), ['again', '2']].map(([key, value]) => ({ name: key, value }))
        return range(50, (n) => `${codec}-${n} ${codec} ${n} ${JSON.stringify(listed)}`)
      })
      assert.deepEqual(read, expected.sort())
      const times = rows.map((row) => Date.parse(String(row.at(-2))))
      assert.ok(times.every((time) => Math.abs(time - Date.now()) < 600_000))
    })

    test('kcat reads what the destination wrote, with every compression', async () => {
      for (const compression of ['none', 'gzip', 'zstd']) {
        const rows = range(3_000, (n): Row => [`w-${compression}-${n}`, `Zoë${'x'.repeat(n % 400)}`, '{"a":[1,2]}'])
        await write({ keyColumns: 'id', compression, transferHeader: true }, ['id', 'name', 'nested'], rows)
        const messages = await found(`w-${compression}`)
        assert.deepEqual(
          new Map(messages.map(({ key, value }) => [key, value])),
          new Map(rows.map(([id, text]) => [id, `{"id":"${id}","name":"${text}","nested":{"a":[1,2]}}`])),
        )
        assert.equal(messages.length, rows.length)
        for (const { headers } of messages)
          assert.deepEqual(
            headers.map(([header]) => header),
            ['penstock-transfer'],
          )
      }
    })

    test('kcat reads what a stream stored, with every compression', async () => {
      const startMs = Date.parse('2026-01-31T12:00:00.000Z')
      for (const compression of ['none', 'gzip', 'zstd']) {
        const store = await openStore(testContext({ secrets: { ...secrets, topic, compression } }))
        const events = range(500, (n) => ({
          json: Buffer.from(`{"messageId":"s-${compression}-${n}","name":"Zoë"}`),
          receivedMs: startMs + n,
          key: n % 5 === 0 ? undefined : `user ${n % 7}`,
          messageId: n % 5 === 0 ? undefined : `s-${compression}-${n}`,
        }))
        for (let at = 0; at < events.length; at += 100) {
          assert.deepEqual(await store.put(events.slice(at, at + 100)), [])
        }
        await store.close()
        const messages = await found(`s-${compression}`)
        const expected = events.map(({ json, receivedMs, key, messageId }) => ({
          key: key ?? null,
          value: String(json),
          timestampMs: receivedMs,
          headers: messageId === undefined ? [] : [['penstock-message-id', messageId]],
        }))
        const stored = messages.map(({ partition, ...message }) => message)
        assert.deepEqual(
          stored.sort((a, b) => a.timestampMs - b.timestampMs),
          expected,
        )
        const partitionsOf = Map.groupBy(
          messages.filter(({ key }) => key !== null),
          ({ key }) => key,
        )
        for (const sent of partitionsOf.values()) assert.equal(new Set(sent.map(({ partition }) => partition)).size, 1)
      }
    })

    test('messages with a key are on the partition on which kcat puts them with the hash of the Java client', async () => {
      const keys = range(300, (n) => `p-${n}${'ü'.repeat(n % 5)}`)
      await write(
        { keyColumns: 'id' },
        ['id'],
        keys.map((key) => [key]),
      )
      const own = new Map((await found('p')).map(({ key, partition }) => [key, partition]))
      const lines = keys.map((key) => `${key}:{"by":"kcat"}`)
      await kcat.produce(topic, lines, 'none', ['-X', 'topic.partitioner=murmur2_random'])
      const theirs = (await found('p')).filter(({ value }) => value?.includes('kcat'))
      assert.equal(theirs.length, keys.length)
      for (const { key, partition } of theirs) assert.equal(partition, own.get(key), `${key}`)
      assert.equal(new Set(own.values()).size, 4)
    })

    test('gives back the values of rows that it wrote, of any kind', async () => {
      const below = numbersFrom(47)
      const texts = ['', 'plain', 'ü😀"\\\n\u0000', '{"a":1}', '\ud800', '1.50', '9007199254740993', 'x'.repeat(3_000)]
      const cell = (): Cell => {
        const cells = [texts[below(texts.length)] ?? '', below(1_000_000) - 500_000, below(2) === 1, null]
        return [...cells, below(1000) / 7][below(5)] ?? null
      }
      const nested = ['{"a":[1,{"b":null}]}', '[]', '[9007199254740993]', null]
      const rows = range(500, (n): Row => [`r-${n}`, cell(), cell(), nested[below(nested.length)] ?? null])
      await write({ keyColumns: 'id' }, ['id', 'a', 'b', 'nested'], rows)
      const read = (await readAll({ valueFields: 'id,a,b,nested' })).filter(([key]) => String(key).startsWith('r-'))
      const byId = new Map(read.map(([, , ...cells]) => [cells[0], cells.slice(0, 4)]))
      assert.deepEqual(
        rows.map(([id]) => byId.get(id ?? null)),
        rows,
      )
    })

    test('checks the cluster, and lists topics and the fields of values', async () => {
      const steps = await check(testContext({ secrets, settings: { topic, startAt: 'earliest' } }))
      assert.ok(
        steps.every(({ ok }) => ok),
        JSON.stringify(steps),
      )
      const asking = { search: '', cursor: undefined, size: 10, withSamples: false }
      assert.deepEqual((await discoverTopics({ ...testContext({ secrets }), ...asking })).items, [
        { value: topic, kind: 'object' },
      ])
      const fields = await discoverFields({ ...testContext({ secrets, settings: { topic } }), ...asking })
      assert.ok(fields.items.some(({ value }) => value === 'nested'))
    })
  })
}

describe('our own broker of Kafka’s protocol', { skip: skipWithout('kcat') }, () => {
  test('signs kcat in with each mechanism, and not with a wrong password', async () => {
    for (const broker of [plain, scram256]) {
      await broker?.produce(topic, ['a:1'], 'none')
      assert.deepEqual(
        (await broker?.consume(topic))?.map(({ key, value }) => [key, value]),
        [['a', '1']],
      )
      await assert.rejects(broker?.produce(topic, ['b:2'], 'none', ['-X', 'sasl.password=wrong']) ?? Promise.resolve())
      assert.equal((await broker?.consume(topic))?.length, 1)
    }
  })
})
