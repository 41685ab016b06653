import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { unpackLz4Block, unpackPage } from '@penstock/connector/files'

/** Compression of batches of records. */

/** Names of the codecs, by their number in the attributes of a batch. */
export const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
export type Codec = (typeof codecs)[number]

/** Compresses records. */
export function pack(bytes: Buffer, codec: 'none' | 'gzip' | 'zstd'): Buffer {
  if (codec === 'none') return bytes
  return codec === 'gzip' ? gzipSync(bytes) : zstdCompressSync(bytes)
}

/**
 * Decompresses records, of which any number of bytes up to a bound can come out.
 * @throws an error of any kind if the bytes are invalid, or there would be more
 */
export function unpack(bytes: Buffer, codec: Codec, bytesMax: number): Buffer {
  switch (codec) {
    case 'none':
      return bytes
    case 'gzip':
      return gunzipSync(bytes, { maxOutputLength: bytesMax })
    case 'zstd':
      return zstdDecompressSync(bytes, { maxOutputLength: bytesMax })
    case 'snappy':
      return unpackSnappy(bytes, bytesMax)
    case 'lz4':
      return unpackLz4Frame(bytes, bytesMax)
  }
}

const xerial = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0])

/** Snappy: in blocks, as the Java client frames it, or raw. */
function unpackSnappy(bytes: Buffer, bytesMax: number): Buffer {
  if (!bytes.subarray(0, xerial.length).equals(xerial)) return unpackSnappyBlock(bytes, bytesMax)
  const blocks: Buffer[] = []
  let size = 0
  // Behind the magic are two versions of four bytes.
  for (let at = xerial.length + 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    if (at + 4 + length > bytes.length) throw new RangeError('a block beyond the end')
    const block = unpackSnappyBlock(bytes.subarray(at + 4, at + 4 + length), bytesMax - size)
    blocks.push(block)
    size += block.length
    at += 4 + length
  }
  return Buffer.concat(blocks)
}

function unpackSnappyBlock(bytes: Buffer, bytesMax: number): Buffer {
  let size = 0
  for (let at = 0, scale = 1; ; at += 1, scale *= 128) {
    const byte = bytes.readUInt8(at)
    size += (byte & 0x7f) * scale
    if (byte < 0x80) break
    if (at === 4) throw new RangeError('a size of too many bytes')
  }
  if (size > bytesMax) throw new RangeError('more bytes than are allowed')
  return unpackPage(bytes, size, 'SNAPPY')
}

/** The frame format of LZ4 with independent blocks, as clients of Kafka write it. Its checksums are not looked at: the batch has one. */
function unpackLz4Frame(bytes: Buffer, bytesMax: number): Buffer {
  if (bytes.readUInt32LE(0) !== 0x184d2204) throw new Error('no frame of LZ4')
  const flags = bytes.readUInt8(4)
  const blockMax = 1 << (8 + 2 * ((bytes.readUInt8(5) >> 4) & 7))
  if (blockMax > 4 << 20) throw new RangeError('a block size that does not exist')
  if ((flags & 0x20) === 0) throw new Error('blocks that depend on each other')
  // The content size and the dictionary ID are optional. The byte of the header checksum is always present.
  let at = 6 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0) + 1
  const blocks: Buffer[] = []
  let size = 0
  for (;;) {
    const header = bytes.readUInt32LE(at)
    at += 4
    if (header === 0) return Buffer.concat(blocks)
    const length = header & 0x7fffffff
    if (at + length > bytes.length) throw new RangeError('a block beyond the end')
    const block = bytes.subarray(at, at + length)
    at += length + (flags & 0x10 ? 4 : 0)
    const isPlain = header >>> 31 === 1
    const into = isPlain ? block : Buffer.alloc(blockMax)
    const unpacked = isPlain ? block : into.subarray(0, unpackLz4Block(block, into))
    size += unpacked.length
    if (size > bytesMax) throw new RangeError('more bytes than are allowed')
    blocks.push(unpacked)
  }
}
