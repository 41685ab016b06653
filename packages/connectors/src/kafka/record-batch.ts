import { ConnectorError } from '@penstock/connector'
import { codecs, pack, unpack } from './compression.ts'
import { crc32c } from './crc32c.ts'
import { KafkaReader, KafkaWriter } from './wire-format.ts'

/** Batches of records, version 2, which all brokers since Kafka 0.11 have. */

/** A message. Its key and value can be missing. */
export type KafkaRecord = {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly (readonly [name: string, value: Buffer | null])[]
  /** Milliseconds since 1970. By default the time of its batch. */
  readonly timestampMs?: number
}

/** A message as it was read. */
export type ReadRecord = KafkaRecord & {
  readonly offset: number
  /** Milliseconds since 1970. -1 if it is unknown. */
  readonly timestampMs: number
}

/** The identity of an idempotent producer, and how many records it has sent to the partition. */
export type Producing = { readonly id: number; readonly epoch: number; readonly sequence: number }

/** Bytes that the records of one batch can decompress to. */
const unpackedBytesMax = 128 << 20
const recordsMax = 5_000_000
/** Bytes of a batch before its length ends, and before what the checksum covers. */
const lengthEnd = 12
const checkedFrom = 21

/** Writes records as one batch. */
export function encodeBatch(
  records: readonly KafkaRecord[],
  codec: 'none' | 'gzip' | 'zstd',
  timestampMs: number,
  producing?: Producing,
): Buffer {
  const body = new KafkaWriter()
  let newestMs = records.length === 0 ? timestampMs : Number.NEGATIVE_INFINITY
  for (const [index, { key, value, headers, timestampMs: ownMs = timestampMs }] of records.entries()) {
    newestMs = Math.max(newestMs, ownMs)
    const record = new KafkaWriter()
      .int8(0)
      .varint(ownMs - timestampMs)
      .varint(index)
      .varBytes(key)
      .varBytes(value)
    record.varint(headers.length)
    for (const [name, content] of headers) record.varBytes(Buffer.from(name)).varBytes(content)
    body.varBytes(record.done())
  }
  const checked = new KafkaWriter()
    .int16(codecs.indexOf(codec))
    .int32(records.length - 1)
    .int64(timestampMs)
    .int64(newestMs)
    .int64(producing?.id ?? -1)
    .int16(producing?.epoch ?? -1)
    .int32(producing?.sequence ?? -1)
    .int32(records.length)
    .raw(pack(body.done(), codec))
    .done()
  return new KafkaWriter()
    .int64(0)
    .int32(checkedFrom - lengthEnd + checked.length)
    .int32(-1)
    .int8(2)
    .uint32(crc32c(checked))
    .raw(checked)
    .done()
}

/** A batch as it was read: its records, or what it does to a transaction. */
export type ReadBatch = {
  readonly baseOffset: number
  /** The offset behind the batch. */
  readonly nextOffset: number
  readonly producerId: number
  readonly isTransactional: boolean
  /** A marker that ends a transaction. It contains no records. */
  readonly isControl: boolean
  readonly isAbort: boolean
  records(): ReadRecord[]
}

/**
 * Reads the batches of a partition. The last batch can be cut off, and is then skipped.
 * @param name of the partition, for messages
 */
export function* readBatches(bytes: Buffer, name: string): Generator<ReadBatch> {
  const reader = new KafkaReader(bytes)
  while (reader.left >= lengthEnd) {
    const baseOffset = reader.int64()
    const length = reader.int32()
    if (length < checkedFrom - lengthEnd || length > reader.left) return
    const batch = new KafkaReader(reader.take(length))
    batch.int32()
    const magic = batch.int8()
    if (magic !== 2) {
      throw new ConnectorError(
        'not_supported',
        `${name} has messages of the format that Kafka had before 0.11, which are not supported.`,
      )
    }
    const crc = batch.uint32()
    if (crc32c(batch.bytes.subarray(batch.at)) !== crc) throw damaged(name)
    yield batchOf(batch, baseOffset, name)
  }
}

function batchOf(batch: KafkaReader, baseOffset: number, name: string): ReadBatch {
  const attributes = batch.int16()
  const lastOffsetDelta = batch.int32()
  const baseTimestamp = batch.int64()
  const maxTimestamp = batch.int64()
  const producerId = batch.int64()
  batch.int16()
  batch.int32()
  const count = batch.int32()
  const content = batch.take(batch.left)
  const isControl = (attributes & 0x20) !== 0
  // The key of a marker is its version and its type, of which 0 is an abort.
  const markerType = (): number => recordsOf()[0]?.key?.readInt16BE(2) ?? -1
  const recordsOf = (): ReadRecord[] => {
    try {
      const codec = codecs[attributes & 7]
      if (codec === undefined || count < 0 || count > recordsMax || lastOffsetDelta < 0) throw new Error('no batch')
      const reader = new KafkaReader(unpack(content, codec, unpackedBytesMax))
      const records: ReadRecord[] = []
      for (let index = 0; index < count; index += 1) {
        const record = new KafkaReader(reader.take(reader.varint()))
        record.int8()
        const timestampDelta = record.varint()
        const offset = baseOffset + record.varint()
        const key = record.varBytes()
        const value = record.varBytes()
        const headers = Array.from({ length: Math.min(record.varint(), record.left) }, () => {
          const header = record.varBytes()
          return [header?.toString() ?? '', record.varBytes()] as const
        })
        const isAppendTime = (attributes & 0x08) !== 0
        const timestampMs = isAppendTime ? maxTimestamp : baseTimestamp === -1 ? -1 : baseTimestamp + timestampDelta
        records.push({ key, value, headers, offset, timestampMs })
      }
      return records
    } catch (error) {
      throw damaged(name, error)
    }
  }
  return {
    baseOffset,
    nextOffset: baseOffset + lastOffsetDelta + 1,
    producerId,
    isTransactional: (attributes & 0x10) !== 0,
    isControl,
    get isAbort() {
      return isControl && markerType() === 0
    },
    records: recordsOf,
  }
}

const damaged = (name: string, cause?: unknown): ConnectorError =>
  new ConnectorError('malformed_response', `Messages of ${name} arrived damaged, or are larger than 128 MiB.`, {
    cause,
  })
