import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Cell, Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { startKcatCluster } from '../../test/kcat.ts'
import { collect } from '../../test/object-store-server.ts'
import { numbersFrom } from '../../test/random.ts'
import { check } from './check.ts'
import { codecs } from './compression.ts'
import { discoverFields, discoverTopics } from './discover.ts'
import { open as openSource } from './read.ts'
import { open as openDestination } from './write.ts'

const topic = 'people'
const kcat = await startKcatCluster(topic)
after(() => kcat?.stop())
const secrets = kcat?.secrets ?? {}

async function readAll(settings: Values): Promise<Row[]> {
  const reader = await openSource(testContext({ secrets, settings: { topic, startAt: 'earliest', ...settings } }))
  try {
    return (await collect(reader.read())).flatMap(({ rows }) => [...rows])
  } finally {
    await reader.close()
  }
}

async function write(settings: Values, columns: readonly string[], rows: readonly Row[]): Promise<void> {
  const writer = await openDestination(testContext({ secrets, settings: { topic, ...settings }, columns }))
  try {
    const types = columns.map((name) => (name === 'nested' ? ({ kind: 'json' } as const) : null))
    const { rejected } = await writer.deliver({ key: 'b'.repeat(32), columns, types, rows, firstRow: 1 })
    assert.equal(rejected, undefined)
  } finally {
    await writer.close?.()
  }
}

describe('Kafka, against the mock cluster of librdkafka', { skip: skipWithout('kcat') }, () => {
  test('reads what another client has produced, with every codec', async () => {
    for (const codec of codecs) {
      const lines = Array.from(
        { length: 50 },
        (_, n) => `${codec}-${n}:{"codec":"${codec}","n":${n},"more":"aaaaaaaaaaaaaaaaaaaa"}`,
      )
      await kcat?.produce(topic, lines, codec)
    }
    const rows = await readAll({ valueFields: 'codec,n' })
    const found = rows.map(([key, , codec, n]) => `${key} ${codec} ${n}`).sort()
    const expected = codecs.flatMap((codec) => Array.from({ length: 50 }, (_, n) => `${codec}-${n} ${codec} ${n}`))
    assert.deepEqual(found, expected.sort())
  })

  test('another client reads what was written, with every compression', async () => {
    for (const compression of ['none', 'gzip', 'zstd']) {
      const rows = Array.from({ length: 100 }, (_, n): Row => [`w-${compression}-${n}`, 'Zoë', '{"a":[1,2]}'])
      await write({ keyColumns: 'id', compression }, ['id', 'name', 'nested'], rows)
      const found = (await kcat?.consume(topic))?.filter(([key]) => key.startsWith(`w-${compression}-`)) ?? []
      assert.equal(found.length, 100)
      for (const [key, value] of found) assert.equal(value, `{"id":"${key}","name":"Zoë","nested":{"a":[1,2]}}`)
    }
  })

  test('gives back the values of rows that it wrote, whatever they are', async () => {
    const below = numbersFrom(47)
    const texts = ['', 'plain', 'ü😀"\\\n\u0000', '{"a":1}', '\ud800', '1.50', '9007199254740993', 'x'.repeat(3_000)]
    const cell = (): Cell =>
      [texts[below(texts.length)] ?? '', below(1_000_000) - 500_000, below(2) === 1, null, below(1000) / 7][below(5)] ??
      null
    const nested = ['{"a":[1,{"b":null}]}', '[]', '[9007199254740993]', null]
    const rows = Array.from(
      { length: 500 },
      (_, n): Row => [`r-${n}`, cell(), cell(), nested[below(nested.length)] ?? null],
    )
    await write({ keyColumns: 'id' }, ['id', 'a', 'b', 'nested'], rows)
    const found = (await readAll({ valueFields: 'id,a,b,nested' })).filter(([key]) => String(key).startsWith('r-'))
    const byId = new Map(found.map(([, , ...cells]) => [cells[0], cells.slice(0, 4)]))
    assert.deepEqual(
      rows.map(([id]) => byId.get(id ?? null)),
      rows,
    )
  })

  test('checks the cluster, and lists topics and the fields of values', async () => {
    const steps = await check(testContext({ secrets, settings: { topic, startAt: 'earliest' } }))
    assert.deepEqual(
      steps.map(({ ok }) => ok),
      [true, true, true],
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
