import { asConnectorError, type ConnectorError, type Rejection, type Values } from '@penstock/connector'
import { wait } from '../platform-api/client.ts'
import type { Cluster } from './cluster.ts'
import { errorOfCode, kafkaErrors } from './errors.ts'
import { partitionOf } from './partitioner.ts'
import { encodeBatch, type KafkaRecord, type Producing } from './record-batch.ts'
import { initProducer, produceBatch } from './requests.ts'

/** Sends messages to the partitions of a topic, each partition in order, as an idempotent producer if the cluster allows it. */

/** About how many bytes of records are sent as one batch. By default, brokers accept a megabyte. */
const recordBytesMax = 900_000
const retryMs = 300

/** A message, and its place among the messages of its sender. */
export type Placed = { readonly record: KafkaRecord; readonly index: number }

export type WrittenCodec = 'none' | 'gzip' | 'zstd'

/** The compression in the settings. */
export const codecIn = ({ compression }: Values): WrittenCodec =>
  compression === 'none' || compression === 'zstd' ? compression : 'gzip'

/** How long errors that pass are retried, which the same sequence numbers keep from repeating a message. */
export type Patience = {
  /** Tries of one batch. */
  readonly triesMax: number
  /** How long a broker can take to confirm a batch, in milliseconds. */
  readonly requestMs: number
  /** No try begins later than this after the first one, in milliseconds. */
  readonly totalMs: number
}

/**
 * Sends messages to a partition, in their order. One call at a time for a partition. A rejection is added for each message that the
 * broker refuses. Resolves with the bytes sent. Rejects if it is not known whether the messages were written: then the sender must not
 * be used any more, because the next messages would have the sequence numbers of these.
 */
export type Send = (partition: number, placed: readonly Placed[], rejected: Rejection[]) => Promise<number>

export function makeSender(
  { cluster, topic, codec, signal }: { cluster: Cluster; topic: string; codec: WrittenCodec; signal: AbortSignal },
  { triesMax, requestMs, totalMs }: Patience,
): Send {
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

  /** Sends one batch until the broker has answered. Resolves with its bytes, or with the reason if the broker refuses it. */
  const sendBatch = async (partition: number, records: readonly KafkaRecord[]): Promise<number | ConnectorError> => {
    const begunMs = performance.now()
    let producer = await producing(partition)
    for (let tries = 1; ; tries += 1) {
      try {
        const broker = await cluster.leader(topic, partition)
        if (codec === 'zstd' && (broker.version('produce') ?? 0) < 7) throw errorOfCode(76, `zstd for ${topic}`)
        const bytes = encodeBatch(records, codec, Date.now(), producer)
        const error = await produceBatch(broker, { topic, partition, timeoutMs: requestMs }, bytes)
        if (error === 0 || error === kafkaErrors.duplicateSequence) {
          if (producer) {
            sequences.set(`${producer.id} ${partition}`, (producer.sequence + records.length) % 2 ** 31)
          }
          return bytes.length
        }
        const refusal = errorOfCode(error, `writing to the topic ${topic} (WRITE)`)
        if (refusal.action === 'split') return refusal
        // The broker does not know any more what was sent before. Other partitions keep the old identity for their tries.
        if (isIdentityLost(error)) {
          if ((await identity)?.id === producer?.id) identity = undefined
          producer = await producing(partition)
        }
        throw refusal
      } catch (error) {
        const isOver = tries >= triesMax || performance.now() - begunMs > totalMs
        if (isOver || asConnectorError(error)?.action !== 'retry') throw error
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
  return async (partition, placed, rejected) => {
    let bytes = 0
    for (const part of sized(placed)) bytes += await send(partition, part, rejected)
    return bytes
  }
}

/**
 * Messages by partition, each with its place among all of them: by their keys, and all messages without a key together.
 * @param without the partition of messages without a key
 */
export function byPartition(
  records: readonly KafkaRecord[],
  partitions: number,
  without: number,
): Map<number, Placed[]> {
  const found = new Map<number, Placed[]>()
  for (const [index, record] of records.entries()) {
    const partition = record.key === null ? without : partitionOf(record.key, partitions)
    const placed = found.get(partition)
    if (placed) placed.push({ record, index })
    else found.set(partition, [{ record, index }])
  }
  return found
}

/**
 * Sends messages to their partitions. Resolves or rejects when every request has ended, so that no message arrives after later
 * ones.
 */
export async function sendAll(
  send: Send,
  placedBy: ReadonlyMap<number, readonly Placed[]>,
): Promise<{ readonly bytes: number; readonly rejected: Rejection[] }> {
  const rejected: Rejection[] = []
  const sent = await Promise.allSettled([...placedBy].map(([partition, placed]) => send(partition, placed, rejected)))
  let bytes = 0
  for (const one of sent) {
    if (one.status === 'rejected') throw one.reason
    bytes += one.value
  }
  return { bytes, rejected: rejected.sort((a, b) => (a.index ?? 0) - (b.index ?? 0)) }
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

const isIdentityLost = (error: number): boolean =>
  [kafkaErrors.outOfOrderSequence, kafkaErrors.invalidProducerEpoch, kafkaErrors.unknownProducerId].some(
    (code) => code === error,
  )

/** Becomes an idempotent producer. `undefined` if the cluster does not allow or support that. */
async function identify(cluster: Cluster): Promise<Pick<Producing, 'id' | 'epoch'> | undefined> {
  const broker = await cluster.any()
  if (broker.version('initProducerId') === undefined) return undefined
  const { error, id, epoch } = await initProducer(broker)
  if (error === 0) return { id, epoch }
  // Before Kafka 2.8, this was a permission of the cluster.
  if (error === kafkaErrors.clusterAuthorizationFailed || error === kafkaErrors.unsupportedVersion) return undefined
  throw errorOfCode(error, 'an idempotent producer (IDEMPOTENT_WRITE)')
}
