import zlib, { crc32, inflateRawSync } from 'node:zlib'
import { unpackPage } from '@penstock/parquet/values'
import { ConnectorError } from '../connector-error.ts'
import type { Row } from '../rows.ts'
import { AvroDecoder, readLong } from './avro/decode.ts'
import { AvroDamage, type AvroRecord, avroTypeName, columnTypeOf, readAvroSchema } from './avro/schema.ts'
import { boundColumns, bounds, mebibytes, outOfBounds } from './bounds.ts'
import { type ByteStream, openBytesAt, pieceBytes } from './bytes.ts'
import { distinctNames } from './column-names.ts'
import type { OpenedFile } from './opened-file.ts'
import type { FileStore, StoredFile } from './store.ts'
import { expandsTooMuch } from './unpack.ts'

/** A place in a file: the offset of a block in the unpacked file, and the number of its rows that were read. */
type Place = { readonly offset: number; readonly row: number; readonly storedBytes: number }

type Header = { readonly record: AvroRecord; readonly codec: string; readonly sync: Buffer; readonly end: number }

const syncBytes = 16
const codecs = ['null', 'deflate', 'snappy', 'zstandard']

/**
 * Opens an Avro object container file, by version 1.12 of its specification. Its columns are the fields of its records.
 * @param opened the bytes of the file, from its beginning
 * @throws a `ConnectorError` if the file is damaged or exceeds a limit, and the errors of the store; so does `read`
 */
export async function openAvro(
  opened: ByteStream,
  store: FileStore,
  file: StoredFile,
  { chunkBytes = 4 * pieceBytes }: { chunkBytes?: number },
  signal: AbortSignal,
): Promise<OpenedFile> {
  let stream = opened
  const header = await named(file, () => readHeader(file, stream))
  stream.take(header.end)
  return {
    columns: distinctNames(
      boundColumns(
        file.name,
        header.record.fields.map(({ name }) => name),
      ),
    ),
    types: header.record.fields.map(({ type }) => columnTypeOf(type)),
    typeNames: header.record.fields.map(({ type }) => avroTypeName(type)),
    async *read(after) {
      const from = (after as Place | undefined) ?? { offset: header.end, row: 0, storedBytes: 0 }
      if (from.offset > header.end) {
        if (stream.packed) await stream.skip(from.offset - header.end)
        else {
          await stream.close()
          stream = openBytesAt(store, file, from.offset, signal)
        }
      }
      const { freeBytes, ratio } = bounds.compressed
      let unpackedLeft = Math.max(freeBytes, file.sizeBytes * ratio)
      let { offset } = from
      for (let skipped = from.row; ; skipped = 0) {
        signal.throwIfAborted()
        const block = await named(file, () => readBlock(file, stream, header))
        if (!block) return
        unpackedLeft -= block.bytes.length + block.rows
        if (unpackedLeft < 0) throw expandsTooMuch(file)
        const end = offset + block.storedBytes
        const before = stream.storedBytes
        stream.take(block.storedBytes)
        const storedBytes = Math.max(stream.storedBytes, before, from.storedBytes)
        const decoder = new AvroDecoder(block.bytes)
        for (let row = 0; row < block.rows; ) {
          const piece = await named(file, () => readPiece(decoder, header, block.rows - row, chunkBytes))
          row += piece.rows.length
          const place = row < block.rows ? { offset, row, storedBytes } : { offset: end, row: 0, storedBytes }
          if (row <= skipped) continue
          const drop = Math.max(0, skipped - (row - piece.rows.length))
          const errors = new Map([...piece.errors].flatMap(([at, why]) => (at < drop ? [] : [[at - drop, why]])))
          yield { rows: piece.rows.slice(drop), errors, place, storedBytes }
        }
        if (!decoder.ended) throw damaged(file, new AvroDamage('bytes after the rows of a block'))
        offset = end
      }
    },
    close: () => stream.close(),
  }
}

async function readHeader(file: StoredFile, stream: ByteStream): Promise<Header> {
  for (let wanted = 64 << 10; ; wanted *= 2) {
    const bytes = await stream.peek(wanted)
    try {
      return headerOf(file, bytes)
    } catch (error) {
      // The header may be longer than the bytes that were read.
      if (!(error instanceof AvroDamage) || stream.ended || wanted >= bounds.avro.headerBytes) throw error
    }
  }
}

function headerOf(file: StoredFile, bytes: Buffer): Header {
  const meta = new Map<string, Buffer>()
  let at = 4
  const long = () => {
    const { value, end } = readLong(bytes, at)
    at = end
    return value
  }
  const take = () => {
    const size = long()
    if (size < 0n || size > BigInt(bytes.length - at)) throw new AvroDamage('an incomplete header')
    at += Number(size)
    return bytes.subarray(at - Number(size), at)
  }
  for (let count = long(); count !== 0n; count = long()) {
    if (count < 0n) long()
    for (let left = count < 0n ? -count : count; left > 0n; left -= 1n) meta.set(take().toString(), Buffer.from(take()))
  }
  if (at + syncBytes > bytes.length) throw new AvroDamage('an incomplete header')
  const sync = Buffer.from(bytes.subarray(at, at + syncBytes))
  const codec = meta.get('avro.codec')?.toString() || 'null'
  if (!codecs.includes(codec)) {
    const message = `${file.name} is compressed with ${codec.replace(/[^\w-]/g, '?').slice(0, 20)}, which is not supported. Write it with deflate, snappy or zstandard.`
    throw new ConnectorError('invalid_file', message)
  }
  const schema = readAvroSchema(meta.get('avro.schema')?.toString() ?? '')
  if (schema.kind === 'record') return { record: schema, codec, sync, end: at + syncBytes }
  throw new ConnectorError(
    'invalid_file',
    `${file.name} contains values that are not records. Write one record for each row.`,
  )
}

type Block = { readonly rows: number; readonly bytes: Buffer; readonly storedBytes: number }

/** Peeks at the next block of the stream; undefined at the end of the file. */
async function readBlock(file: StoredFile, stream: ByteStream, { codec, sync }: Header): Promise<Block | undefined> {
  const start = await stream.peek(20)
  if (start.length === 0) return undefined
  const count = readLong(start, 0)
  const size = readLong(start, count.end)
  if (count.value < 0n || size.value < 0n) throw new AvroDamage('a block without a size')
  if (size.value > BigInt(bounds.avro.blockBytes)) throw blockTooLarge(file)
  if (count.value > BigInt(Number.MAX_SAFE_INTEGER)) throw expandsTooMuch(file)
  const end = size.end + Number(size.value)
  const block = await stream.peek(end + syncBytes)
  if (block.length < end + syncBytes || !block.subarray(end).equals(sync)) throw new AvroDamage('an incomplete block')
  const bytes = unpackedBlock(file, Buffer.from(block.subarray(size.end, end)), codec)
  return { rows: Number(count.value), bytes, storedBytes: end + syncBytes }
}

function unpackedBlock(file: StoredFile, packed: Buffer, codec: string): Buffer {
  const limit = { maxOutputLength: bounds.avro.blockBytes }
  try {
    switch (codec) {
      case 'deflate':
        return inflateRawSync(packed, limit)
      case 'zstandard':
        return zlib.zstdDecompressSync(packed, limit)
      case 'snappy':
        return unsnapped(file, packed)
      default:
        return packed
    }
  } catch (error) {
    if (error instanceof ConnectorError || error instanceof AvroDamage) throw error
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw blockTooLarge(file)
    throw new AvroDamage('a block that cannot be unpacked')
  }
}

/** Unpacks Snappy, which is followed by a checksum of the bytes. */
function unsnapped(file: StoredFile, packed: Buffer): Buffer {
  let size = 0
  for (let at = 0, factor = 1; ; at += 1, factor *= 128) {
    const byte = packed[at]
    if (byte === undefined || at > 4) throw new AvroDamage('a block without a size')
    size += (byte & 0x7f) * factor
    if (byte < 0x80) break
  }
  if (size > bounds.avro.blockBytes) throw blockTooLarge(file)
  const bytes = unpackPage(packed.subarray(0, -4), size, 'SNAPPY')
  if (crc32(bytes) !== packed.readUInt32BE(packed.length - 4)) throw new AvroDamage('bytes that changed')
  return bytes
}

/** Reads some rows of a block. */
async function readPiece(decoder: AvroDecoder, { record }: Header, rowsLeft: number, chunkBytes: number) {
  const rowsMax = Math.min(rowsLeft, Math.max(1, Math.floor(bounds.pieceCells / Math.max(1, record.fields.length))))
  const rows: Row[] = []
  const errors = new Map<number, string>()
  for (let chars = 0; rows.length < rowsMax && chars < Math.min(chunkBytes, bounds.pieceChars); ) {
    const { row, chars: rowChars, error } = decoder.row(record)
    if (error !== undefined) errors.set(rows.length, error)
    rows.push(row)
    chars += rowChars + 8 * row.length
  }
  return { rows, errors }
}

async function named<Result>(file: StoredFile, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof AvroDamage ? damaged(file, error) : error
  }
}

const damaged = ({ name }: StoredFile, cause: unknown) =>
  new ConnectorError('invalid_file', `${name} is a damaged Avro file. Write it again.`, { cause })

const blockTooLarge = ({ name }: StoredFile) => {
  const says = `has a block of more than ${mebibytes(bounds.avro.blockBytes)}`
  return outOfBounds('file_too_large', name, says, 'Write it with smaller blocks.')
}
