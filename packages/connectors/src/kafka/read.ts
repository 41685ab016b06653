import {
  asConnectorError,
  type Chunk,
  ConnectorError,
  type Json,
  type Row,
  type SourceContext,
  type SourceReader,
} from '@penstock/connector'
import { wait } from '../platform-api/client.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { errorOfCode, kafkaErrors } from './errors.ts'
import { type Bounds, boundsOf, cursorIn, type KafkaCursor, messagesGone, startOf } from './partitions.ts'
import { type ReadBatch, readBatches } from './record-batch.ts'
import { fetchRecords } from './requests.ts'
import { topicIn } from './settings.ts'
import { messageReading } from './values.ts'

/** About how many bytes of a partition one request reads, which become a chunk. */
const fetchBytes = 1 << 20
const chunkRows = 2_000
const chunkBytes = 1 << 20
const fetchWaitMs = 500
/** Answers without a message, one after the other, although there should be some. */
const emptyMax = 20
/** Tries after an error that passes, such as a new leader, before the engine is left to try again. */
const triesMax = 4
const retryMs = 400

/** Reads the messages of the topic that the settings name, partition by partition, up to the present end of each. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const { settings, signal } = context
  const topic = topicIn(settings)
  const reading = messageReading(settings)
  const cluster = await openCluster(context)
  let bounds: Bounds
  try {
    bounds = await boundsOf(cluster, topic, settings, cursorIn(context.cursor, topic, settings))
  } catch (error) {
    cluster.close()
    throw error
  }
  const cursorOf = (at: readonly number[]): Json =>
    ({ topic, start: startOf(settings), at }) satisfies KafkaCursor as unknown as Json

  async function* read(after?: Json): AsyncGenerator<Chunk> {
    const { at: from, ends } = after === undefined ? bounds : (after as unknown as Bounds)
    const at = [...from]
    let rows: Row[] = []
    let errors = new Map<number, string>()
    let bytes = 0
    const chunk = (settles = false): Chunk => {
      const filled = {
        columns: reading.columns,
        types: reading.types,
        rows,
        ...(errors.size > 0 ? { errors } : {}),
        bytes,
        checkpoint: { at: [...at], ends: [...ends] },
        cursor: cursorOf([...at]),
        ...(settles && { settles }),
      }
      rows = []
      errors = new Map()
      bytes = 0
      return filled
    }
    for (const [partition, end] of ends.entries()) {
      let empty = 0
      while ((at[partition] ?? end) < end) {
        const start = at[partition] ?? end
        const batches = await fetchBatches(cluster, topic, partition, start, signal)
        for (const batch of batches) {
          for (const record of batch.isControl || batch.isAborted ? [] : batch.records()) {
            if (record.offset < start || record.offset >= end) continue
            const { row, error } = reading.row(record, partition)
            if (error !== undefined) errors.set(rows.length, error)
            rows.push(row)
            bytes += 20 + (record.key?.length ?? 0) + (record.value?.length ?? 0)
            at[partition] = record.offset + 1
            if (rows.length >= chunkRows || bytes >= chunkBytes) yield chunk()
          }
          at[partition] = Math.max(at[partition] ?? 0, Math.min(batch.nextOffset, end))
        }
        empty = (at[partition] ?? end) === start ? empty + 1 : 0
        if (empty > emptyMax) {
          throw new ConnectorError(
            'platform_unavailable',
            `The broker gives no message of partition ${partition} of ${topic} from offset ${start} on, which ends at ${end}.`,
          )
        }
      }
    }
    // Without rows, its cursor must be stored: the next transfer begins there.
    yield chunk(rows.length === 0)
  }

  return {
    total: { rows: bounds.ends.reduce((sum, end, partition) => sum + end - (bounds.at[partition] ?? end), 0) },
    read,
    close: async () => cluster.close(),
  }
}

type CommittedBatch = ReadBatch & { readonly isAborted: boolean }

/** The batches from an offset on. Transient errors are retried a few times. */
async function fetchBatches(
  cluster: Cluster,
  topic: string,
  partition: number,
  offset: number,
  signal: AbortSignal,
): Promise<Iterable<CommittedBatch>> {
  for (let tries = 1; ; tries += 1) {
    try {
      const broker = await cluster.leader(topic, partition)
      const how = { bytesMax: fetchBytes, waitMs: fetchWaitMs }
      const { error, aborted, records } = await fetchRecords(broker, topic, partition, offset, how)
      if (error === kafkaErrors.offsetOutOfRange) throw messagesGone(topic, partition, offset)
      if (error !== 0) throw errorOfCode(error, `reading the topic ${topic} (READ)`)
      return committed(readBatches(records, `partition ${partition} of ${topic}`), aborted)
    } catch (error) {
      if (tries === triesMax || asConnectorError(error)?.action !== 'retry') throw error
      cluster.forget()
      await wait(retryMs * tries, signal)
    }
  }
}

/**
 * Marks the batches of aborted transactions: a producer's batches from its first one to the marker that ends the transaction.
 */
function* committed(
  batches: Iterable<ReadBatch>,
  aborted: readonly { producerId: number; firstOffset: number }[],
): Generator<CommittedBatch> {
  const waiting = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset)
  const aborting = new Set<number>()
  for (const batch of batches) {
    while (waiting[0] && waiting[0].firstOffset < batch.nextOffset) aborting.add(waiting.shift()?.producerId ?? -1)
    const isAborted = batch.isTransactional && !batch.isControl && aborting.has(batch.producerId)
    if (batch.isControl && batch.isAbort) aborting.delete(batch.producerId)
    yield Object.assign(batch, { isAborted })
  }
}
