import { readBatches } from '../../packages/connectors/src/kafka/record-batch.ts'
import {
  type KafkaBroker,
  type KafkaBrokerOptions,
  startKafkaBroker,
} from '../../packages/connectors/test/kafka-broker.ts'
import type { Caller } from './fixtures.ts'
import { addStreamWithKey } from './streams.ts'

/** A message on a topic. */
export type Message = {
  readonly partition: number
  readonly key: string | null
  readonly timestampMs: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  // biome-ignore lint/suspicious/noExplicitAny: events of tests
  readonly json: any
}

/** A topic of a separate broker, to which streams send their events. */
export type Topic = {
  readonly broker: KafkaBroker
  /** Settings of a stream that stores its events on the topic. */
  readonly settings: Readonly<Record<string, string>>
  /** The messages on it, partition by partition. */
  messages(): Message[]
  /** Adds a stream with a write key. @param more other settings */
  addStream(caller: Caller, accountId: string, more?: Record<string, string>): Promise<{ id: string; key: string }>
  close(): Promise<void>
}

export async function startTopic(topic: string, partitions: number, options?: KafkaBrokerOptions): Promise<Topic> {
  const broker = await startKafkaBroker(options)
  broker.create(topic, partitions)
  const settings = { store: 'kafka', brokers: broker.address, tlsMode: 'disable', topic }
  return {
    broker,
    settings,
    messages: () =>
      (broker.topics.get(topic) ?? []).flatMap(({ batches }, partition) =>
        batches
          .flatMap(({ bytes }) => [...readBatches(bytes, topic)].flatMap((batch) => batch.records()))
          .map(({ key, value, timestampMs, headers }) => ({
            partition,
            key: key === null ? null : String(key),
            timestampMs,
            headers: headers.map(([name, content]) => [name, String(content)] as const),
            json: JSON.parse(String(value)),
          })),
      ),
    addStream: (caller, accountId, more = {}) => addStreamWithKey(caller, accountId, { ...settings, ...more }),
    close: () => broker.close(),
  }
}
