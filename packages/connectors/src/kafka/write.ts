import {
  asConnectorError,
  type Batch,
  type ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
} from '@penstock/connector'
import { wait } from '../platform-api/client.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { crc32c } from './crc32c.ts'
import { errorOfCode, kafkaErrors } from './errors.ts'
import { messageMaker } from './messages.ts'
import { partitionOf } from './partitioner.ts'
import { encodeBatch, type KafkaRecord, type Producing } from './record-batch.ts'
import { initProducer, produceBatch } from './requests.ts'
import { topicIn } from './settings.ts'

/** About how many bytes of records are sent as one batch; brokers take a megabyte by default. */
const recordBytesMax = 900_000
/** Tries after an error that passes, before the engine is left to deliver the whole batch again. */
const triesMax = 6
const retryMs = 300

/** A message, and the place of its row in the batch of the engine. */
type Placed = { readonly record: KafkaRecord; readonly index: number }

/** Writes rows as messages to the topic that the settings name. All in-sync replicas confirm each. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const topic = topicIn(context.settings)
  const messagesOf = messageMaker(context, context.columns)
  const cluster = await openCluster(context)
  try {
    const { leaders } = await cluster.topic(topic)
    const sender = makeSender(context, cluster, topic)
    return {
      async deliver(batch) {
        context.signal.throwIfAborted()
        const records = messagesOf(batch)
        const rejected: Rejection[] = []
        let bytes = 0
        // Requests on their way are waited for, so that no message of this batch comes after those of a later delivery.
        const sent = await Promise.allSettled(
          partitioned(records, batch, leaders.length).map(async ([partition, placed]) => {
            for (const part of sized(placed)) bytes += await sender(partition, part, rejected)
          }),
        )
        const failed = sent.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
        if (failed) throw failed.reason
        rejected.sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
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
function partitioned(records: readonly KafkaRecord[], batch: Batch, partitions: number): [number, Placed[]][] {
  const without = crc32c(Buffer.from(batch.key)) % partitions
  const found = new Map<number, Placed[]>()
  for (const [index, record] of records.entries()) {
    const partition = record.key === null ? without : partitionOf(record.key, partitions)
    const placed = found.get(partition)
    if (placed) placed.push({ record, index })
    else found.set(partition, [{ record, index }])
  }
  return [...found]
}

function* sized(placed: readonly Placed[]): Generator<Placed[]> {
  let part: Placed[] = []
  let bytes = 0
  for (const each of placed) {
    const size = 40 + (each.record.key?.length ?? 0) + (each.record.value?.length ?? 0)
    if (part.length > 0 && bytes + size > recordBytesMax) {
      yield part
      part = []
      bytes = 0
    }
    part.push(each)
    bytes += size
  }
  if (part.length > 0) yield part
}

type Send = (partition: number, placed: readonly Placed[], rejected: Rejection[]) => Promise<number>

/** Makes what sends messages to a partition and resolves with the bytes sent. One call at a time for a partition. */
function makeSender(context: DestinationContext, cluster: Cluster, topic: string): Send {
  const { settings, signal } = context
  const codec = settings.compression === 'none' || settings.compression === 'zstd' ? settings.compression : 'gzip'
  const sequences = new Map<string, number>()
  let identity: Promise<Pick<Producing, 'id' | 'epoch'> | undefined> | undefined

  const producing = async (partition: number): Promise<Producing | undefined> => {
    identity ??= identify(cluster)
    const known = await identity.catch((error: unknown) => {
      identity = undefined
      throw error
    })
    return known && { ...known, sequence: sequences.get(`${known.id} ${partition}`) ?? 0 }
  }

  /** Sends one batch until the broker has answered; resolves with its bytes, or with why it refuses it. */
  const sendBatch = async (partition: number, records: readonly KafkaRecord[]): Promise<number | ConnectorError> => {
    for (let tries = 1; ; tries += 1) {
      const producer = await producing(partition)
      try {
        const broker = await cluster.leader(topic, partition)
        if (codec === 'zstd' && (broker.version('produce') ?? 0) < 7) throw errorOfCode(76, `zstd for ${topic}`)
        const bytes = encodeBatch(records, codec, Date.now(), producer)
        const error = await produceBatch(broker, topic, partition, bytes)
        if (error === 0 || error === kafkaErrors.duplicateSequence) {
          if (producer) {
            sequences.set(`${producer.id} ${partition}`, (producer.sequence + records.length) % 2 ** 31)
          }
          return bytes.length
        }
        const refusal = errorOfCode(error, `writing to the topic ${topic} (WRITE)`)
        if (refusal.action === 'split') return refusal
        // The broker does not know any more what was sent before; a new identity begins again.
        if (isIdentityLost(error)) identity = undefined
        throw refusal
      } catch (error) {
        if (tries === triesMax || asConnectorError(error)?.action !== 'retry') throw error
        cluster.forget()
        await wait(retryMs * tries, signal)
      }
    }
  }

  const send: Send = async (partition, placed, rejected) => {
    const result = await sendBatch(
      partition,
      placed.map(({ record }) => record),
    )
    if (typeof result === 'number') return result
    const [first] = placed
    if (placed.length === 1 && first) {
      rejected.push({ index: first.index, reason: result.message })
      return 0
    }
    const half = Math.ceil(placed.length / 2)
    return (
      (await send(partition, placed.slice(0, half), rejected)) + (await send(partition, placed.slice(half), rejected))
    )
  }
  return send
}

const isIdentityLost = (error: number): boolean =>
  [kafkaErrors.outOfOrderSequence, kafkaErrors.invalidProducerEpoch, kafkaErrors.unknownProducerId].some(
    (code) => code === error,
  )

/** Becomes an idempotent producer; `undefined` if the cluster does not allow or know that. */
async function identify(cluster: Cluster): Promise<Pick<Producing, 'id' | 'epoch'> | undefined> {
  const broker = await cluster.any()
  if (broker.version('initProducerId') === undefined) return undefined
  const { error, id, epoch } = await initProducer(broker)
  if (error === 0) return { id, epoch }
  // Before Kafka 2.8, this was a permission of the cluster.
  if (error === kafkaErrors.clusterAuthorizationFailed || error === kafkaErrors.unsupportedVersion) return undefined
  throw errorOfCode(error, 'an idempotent producer (IDEMPOTENT_WRITE)')
}
