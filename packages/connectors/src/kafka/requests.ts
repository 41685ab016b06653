import type { Broker } from './broker.ts'
import type { Producing } from './record-batch.ts'

/** Requests about partitions: to the broker that leads them. */

/** Only messages of transactions that were committed. */
const readCommitted = 1

export const earliest = -2
export const latest = -1

/** The offset of a partition at a time, or its first or last offset. -1 if no message has this time or a later one. */
export const listOffset = (
  broker: Broker,
  topic: string,
  partition: number,
  timestampMs: number,
): Promise<{ error: number; offset: number }> =>
  broker.request(
    'listOffsets',
    (writer) =>
      writer
        .int32(-1)
        .int8(readCommitted)
        .array([topic], (name) =>
          writer.string(name).array([partition], (index) => writer.int32(index).int64(timestampMs)),
        ),
    (reader) => {
      reader.int32()
      const [found] = reader.array(() => {
        reader.string()
        return reader.array(() => {
          reader.int32()
          const error = reader.int16()
          reader.int64()
          return { error, offset: reader.int64() }
        })
      })
      return only(found)
    },
  )

/** Messages of a partition in the form in which they are stored. */
export type Fetched = {
  readonly error: number
  /** Producers of transactions that were aborted, and where their messages begin. */
  readonly aborted: readonly { readonly producerId: number; readonly firstOffset: number }[]
  readonly records: Buffer
}

/**
 * Reads messages from an offset on.
 * @param waitMs how long the broker waits for a message if there are none
 */
export const fetchRecords = (
  broker: Broker,
  topic: string,
  partition: number,
  offset: number,
  { bytesMax, waitMs }: { readonly bytesMax: number; readonly waitMs: number },
): Promise<Fetched> =>
  broker.request(
    'fetch',
    (writer, version) => {
      writer.int32(-1).int32(waitMs).int32(1).int32(bytesMax).int8(readCommitted)
      // No session: each request says all that it asks for.
      if (version >= 7) writer.int32(0).int32(-1)
      writer.array([topic], (name) =>
        writer.string(name).array([partition], (index) => {
          writer.int32(index)
          if (version >= 9) writer.int32(-1)
          writer.int64(offset)
          if (version >= 5) writer.int64(-1)
          writer.int32(bytesMax)
        }),
      )
      if (version >= 7) writer.int32(0)
    },
    (reader, version) => {
      reader.int32()
      const refused = version >= 7 ? reader.int16() : 0
      if (version >= 7) reader.int32()
      if (refused !== 0) return { error: refused, aborted: [], records: Buffer.alloc(0) }
      const [found] = reader.array(() => {
        reader.string()
        return reader.array((): Fetched => {
          reader.int32()
          const error = reader.int16()
          reader.int64()
          reader.int64()
          if (version >= 5) reader.int64()
          const count = reader.int32()
          const aborted = Array.from({ length: Math.min(Math.max(count, 0), reader.left) }, () => ({
            producerId: reader.int64(),
            firstOffset: reader.int64(),
          }))
          return { error, aborted, records: reader.nullableBytes() ?? Buffer.alloc(0) }
        })
      })
      return only(found)
    },
  )

/** If the broker's own time limit ends a request, its answer arrives before the connection is given up. */
const answerMs = 10_000

/**
 * Writes one batch to a partition, and resolves with an error code when all in-sync replicas have it.
 * @param timeoutMs time limit of the replicas
 */
export const produceBatch = (
  broker: Broker,
  { topic, partition, timeoutMs }: { readonly topic: string; readonly partition: number; readonly timeoutMs: number },
  batch: Buffer,
): Promise<number> =>
  broker.request(
    'produce',
    (writer) =>
      writer
        .string(null)
        .int16(-1)
        .int32(timeoutMs)
        .array([topic], (name) => writer.string(name).array([partition], (index) => writer.int32(index).bytes(batch))),
    (reader, version) => {
      const [found] = reader.array(() => {
        reader.string()
        return reader.array(() => {
          reader.int32()
          const error = reader.int16()
          reader.int64()
          reader.int64()
          if (version >= 5) reader.int64()
          return { error }
        })
      })
      return only(found).error
    },
    Math.min(timeoutMs + answerMs, timeoutMs * 2),
  )

/** Asks for the identity of an idempotent producer. */
export const initProducer = (broker: Broker): Promise<{ readonly error: number } & Pick<Producing, 'id' | 'epoch'>> =>
  broker.request(
    'initProducerId',
    (writer) => writer.string(null).int32(60_000),
    (reader) => {
      reader.int32()
      return { error: reader.int16(), id: reader.int64(), epoch: reader.int16() }
    },
  )

function only<T>(found: readonly T[] | undefined): T {
  const [one] = found ?? []
  if (one === undefined) throw new RangeError('a response about no partition')
  return one
}
