import type { ConnectorContext, EventStore, EventToPut } from '@penstock/connector'
import { openCluster } from './cluster.ts'
import type { KafkaRecord } from './record-batch.ts'
import { byPartition, codecIn, makeSender, type Patience, sendAll } from './sender.ts'
import { topicIn } from './settings.ts'

/** Senders of events wait for ten seconds: after a lost answer, a second try must be over by then. */
const patience: Patience = { triesMax: 20, requestMs: 2_000, totalMs: 5_000 }
/** How long the partitions of the topic are known, as in the Java client. */
const describedMs = 300_000

/** The header with the message ID of an event. */
export const messageIdHeader = 'penstock-message-id'

/** Puts events on the topic of the configuration. All in-sync replicas confirm each. */
export async function openStore(context: ConnectorContext): Promise<EventStore> {
  const { secrets, signal } = context
  const topic = topicIn(secrets)
  const cluster = await openCluster(context)
  try {
    let { leaders } = await cluster.topic(topic)
    let describedAtMs = performance.now()
    const send = makeSender({ cluster, topic, codec: codecIn(secrets), signal }, patience)
    let turn = Math.floor(Math.random() * leaders.length)
    return {
      async put(events) {
        signal.throwIfAborted()
        if (performance.now() - describedAtMs > describedMs) {
          leaders = (await cluster.topic(topic)).leaders
          describedAtMs = performance.now()
        }
        turn = (turn + 1) % leaders.length
        const { rejected } = await sendAll(send, byPartition(events.map(recordOf), leaders.length, turn))
        return rejected
      },
      close: async () => cluster.close(),
    }
  } catch (error) {
    cluster.close()
    throw error
  }
}

const recordOf = ({ json, key, messageId, receivedMs }: EventToPut): KafkaRecord => ({
  key: key === undefined ? null : Buffer.from(key),
  value: Buffer.from(json.buffer, json.byteOffset, json.byteLength),
  headers: messageId === undefined ? [] : [[messageIdHeader, Buffer.from(messageId)]],
  timestampMs: receivedMs,
})
