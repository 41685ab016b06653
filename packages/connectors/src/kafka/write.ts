import type { Batch, DestinationContext, DestinationWriter } from '@penstock/connector'
import { openCluster } from './cluster.ts'
import { crc32c } from './crc32c.ts'
import { messageMaker } from './messages.ts'
import { partitionOf } from './partitioner.ts'
import type { KafkaRecord } from './record-batch.ts'
import { codecIn, makeSender, type Patience, type Placed, sendAll } from './sender.ts'
import { topicIn } from './settings.ts'

/** Then the engine is left to deliver the whole batch again. */
const patience: Patience = { triesMax: 6, requestMs: 30_000, totalMs: Number.POSITIVE_INFINITY }

/** Writes rows as messages to the topic that the settings name. All in-sync replicas confirm each. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, signal } = context
  const topic = topicIn(settings)
  const messagesOf = messageMaker(context, context.columns)
  const cluster = await openCluster(context)
  try {
    const { leaders } = await cluster.topic(topic)
    const send = makeSender({ cluster, topic, codec: codecIn(settings), signal }, patience)
    return {
      async deliver(batch) {
        signal.throwIfAborted()
        const { bytes, rejected } = await sendAll(send, partitioned(messagesOf(batch), batch, leaders.length))
        return { bytes, ...(rejected.length > 0 ? { rejected } : {}) }
      },
      close: async () => cluster.close(),
    }
  } catch (error) {
    cluster.close()
    throw error
  }
}

/** Messages by partition: those with a key by that, all others of a batch together. */
function partitioned(records: readonly KafkaRecord[], batch: Batch, partitions: number): Map<number, Placed[]> {
  const without = crc32c(Buffer.from(batch.key)) % partitions
  const found = new Map<number, Placed[]>()
  for (const [index, record] of records.entries()) {
    const partition = record.key === null ? without : partitionOf(record.key, partitions)
    const placed = found.get(partition)
    if (placed) placed.push({ record, index })
    else found.set(partition, [{ record, index }])
  }
  return found
}
