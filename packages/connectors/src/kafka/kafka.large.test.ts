import { after } from 'node:test'
import type { Row } from '@penstock/connector'
import { acceptDestination, acceptSource } from '@penstock/connector/acceptance'
import { startKafkaBroker } from '../../test/kafka-broker.ts'
import type { KafkaApi } from './broker.ts'
import { kafka } from './kafka.ts'
import { encodeBatch, readBatches } from './record-batch.ts'

const password = 'canary-of-kafka'
const broker = await startKafkaBroker({ tls: true, users: { loader: password } })
after(() => broker.close())
const secrets = {
  brokers: broker.address,
  caCertificate: broker.ca,
  saslMechanism: 'SCRAM-SHA-512',
  user: 'loader',
  password,
}
const problem = (name: string, what: NonNullable<typeof broker.failure>['what'], api: KafkaApi) => ({
  name,
  start: () => {
    broker.failure = { what, api }
  },
  stop: () => {
    broker.failure = undefined
  },
})
const hang = (api: KafkaApi) => ({
  start: problem('', 'hangs', api).start,
  reached: () => broker.hangs(),
  stop: problem('', 'hangs', api).stop,
})
const both = {
  connector: kafka,
  testServer: 'a broker of Kafka’s protocol with TLS and SCRAM',
  secrets,
  wrongSecrets: { ...secrets, password: 'wrong-password' },
}

broker.create('people', 3)
const atMs = Date.parse('2026-01-31T12:00:00.000Z')
const rows: Row[] = []
for (let partition = 0; partition < 3; partition += 1) {
  const stored = broker.topics.get('people')?.[partition]
  for (let batch = 0; batch < 40; batch += 1) {
    const base = stored?.next ?? 0
    const values = Array.from({ length: 250 }, (_, index) => ({
      id: `${partition}-${base + index}`,
      city: { name: 'Zürich' },
      note: 'x'.repeat(60),
    }))
    const bytes = encodeBatch(
      values.map((value) => ({
        key: Buffer.from(value.id),
        value: Buffer.from(JSON.stringify(value)),
        headers: [['source', Buffer.from('test')]],
      })),
      batch % 2 === 0 ? 'gzip' : 'none',
      atMs,
    )
    bytes.writeBigInt64BE(BigInt(base), 0)
    stored?.batches.push({ base, next: base + values.length, maxTimestamp: atMs, bytes })
    if (stored) stored.next += values.length
    for (const [index, value] of values.entries()) {
      rows.push([
        value.id,
        JSON.stringify(value),
        value.id,
        value.city.name,
        partition,
        base + index,
        '2026-01-31T12:00:00.000Z',
        JSON.stringify([{ name: 'source', value: 'test' }]),
      ])
    }
  }
}

acceptSource({
  ...both,
  columns: ['key', 'value', 'id', 'city.name', '_partition', '_offset', '_timestamp', '_headers'],
  rows,
  settings: { topic: 'people', startAt: 'earliest', valueFields: 'id, city.name' },
  missing: { topic: 'nothing', startAt: 'earliest' },
  errors: [
    { ...problem('has a new leader', 6, 'fetch'), action: 'retry', code: 'platform_unavailable' },
    { ...problem('resets connections', 'resets', 'fetch'), action: 'retry', code: 'connection_lost' },
    { ...problem('denies reading', 29, 'fetch'), action: 'reconfigure', code: 'permission_denied' },
  ],
  hang: hang('fetch'),
})

const sent = Array.from({ length: 2_000 }, (_, index): Row => [`${index}`, `Zoë "${index}"`, 'x'.repeat(100)])
broker.create('out', 4)
acceptDestination({
  ...both,
  columns: ['id', 'name', 'note'],
  rows: sent,
  settings: { topic: 'out', keyColumns: 'id', compression: 'gzip' },
  missing: { topic: 'nothing', keyColumns: 'id' },
  errors: [
    { ...problem('has too few replicas', 19, 'produce'), action: 'retry', code: 'platform_unavailable' },
    { ...problem('resets connections', 'resets', 'produce'), action: 'retry', code: 'connection_lost' },
    { ...problem('denies writing', 29, 'produce'), action: 'reconfigure', code: 'permission_denied' },
  ],
  hang: hang('produce'),
  async readBack() {
    const found: Row[] = []
    for (const { batches } of broker.topics.get('out') ?? []) {
      for (const { bytes } of batches) {
        for (const batch of readBatches(bytes, 'out')) {
          for (const { value } of batch.records()) found.push(Object.values(JSON.parse(String(value))))
        }
      }
    }
    return found
  },
  reset: () => broker.create('out', 4),
  deduplicates: false,
  visible: 'at once',
})
