import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { openCluster } from './cluster.ts'
import { crc32c } from './crc32c.ts'
import { messageMaker } from './messages.ts'
import { byPartition, codecIn, makeSender, type Patience, sendAll } from './sender.ts'
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
        const without = crc32c(Buffer.from(batch.key)) % leaders.length
        const { bytes, rejected } = await sendAll(send, byPartition(messagesOf(batch), leaders.length, without))
        return { bytes, ...(rejected.length > 0 ? { rejected } : {}) }
      },
      close: async () => cluster.close(),
    }
  } catch (error) {
    cluster.close()
    throw error
  }
}
