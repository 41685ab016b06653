// Node 20 has no Zstandard.
import zlib, { brotliDecompressSync, unzipSync } from 'node:zlib'

/**
 * Unpacks pages of Parquet. Each codec writes exactly the number of bytes that the header of the page declares, into a buffer of
 * that size, and fails if there would be more or fewer bytes: remains of another page must never be visible. No library does so
 * for Snappy and LZ4: `snappyUncompress` of hyparquet never ends at a literal of a negative length, and hyparquet-compressors
 * leaves the end of a page as zeros if its LZ4 is too short. These two formats are short.
 */

type Unpack = (packed: Buffer, size: number) => Buffer

const unpackers: Readonly<Record<string, Unpack>> = {
  UNCOMPRESSED: (packed) => packed,
  SNAPPY: unpackSnappy,
  GZIP: (packed, size) => unzipSync(packed, { maxOutputLength: size }),
  BROTLI: (packed, size) => brotliDecompressSync(packed, { maxOutputLength: size }),
  ZSTD: (packed, size) => zlib.zstdDecompressSync(packed, { maxOutputLength: size }),
  LZ4: unpackHadoopLz4,
  LZ4_RAW: unpackLz4,
}

/** Whether pages that are packed in this way can be unpacked. */
export const isKnownCodec = (codec: string): boolean => Object.hasOwn(unpackers, codec)

/**
 * Unpacks a page.
 * @param size number of unpacked bytes, which the caller limits
 * @throws an error of any kind if the size differs
 */
export function unpackPage(packed: Buffer, size: number, codec: string): Buffer {
  const unpack = Object.hasOwn(unpackers, codec) ? unpackers[codec] : undefined
  if (!unpack) throw new Error(`unknown codec ${codec}`)
  // The libraries of Node do not accept a limit of 0.
  if (size === 0) return Buffer.alloc(0)
  const page = unpack(packed, size)
  if (page.length !== size) throw new Error(`a page of ${page.length} bytes and not ${size}`)
  return page
}

/** Copies bytes from before the place they are written to. Where both overlap, the bytes repeat. */
function repeat(into: Buffer, at: number, offset: number, length: number): number {
  if (offset === 0 || offset > at || at + length > into.length) throw new Error('a copy out of bounds')
  if (offset >= length) into.copyWithin(at, at - offset, at - offset + length)
  else if (offset === 1) into.fill(into[at - 1] as number, at, at + length)
  else for (let index = at; index < at + length; index += 1) into[index] = into[index - offset] as number
  return at + length
}

/** Copies bytes unchanged. */
function copy(from: Buffer, start: number, length: number, into: Buffer, at: number): number {
  if (start + length > from.length || at + length > into.length) throw new Error('bytes out of bounds')
  from.copy(into, at, start, start + length)
  return at + length
}

function unpackSnappy(packed: Buffer, size: number): Buffer {
  const page = Buffer.alloc(size)
  let at = 0
  let declared = 0
  for (let shift = 0; ; shift += 7) {
    const byte = packed[at]
    if (byte === undefined || shift > 28) throw new Error('no length')
    at += 1
    declared += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) break
  }
  if (declared !== size) throw new Error('another length than declared')
  let written = 0
  while (at < packed.length) {
    const tag = packed[at] as number
    at += 1
    const kind = tag & 3
    if (kind === 0) {
      let length = (tag >>> 2) + 1
      if (length > 60) {
        const bytes = length - 60
        length = packed.readUIntLE(at, bytes) + 1
        at += bytes
      }
      written = copy(packed, at, length, page, written)
      at += length
    } else if (kind === 1) {
      written = repeat(page, written, ((tag >>> 5) << 8) | packed.readUInt8(at), ((tag >>> 2) & 7) + 4)
      at += 1
    } else {
      const bytes = kind === 2 ? 2 : 4
      written = repeat(page, written, packed.readUIntLE(at, bytes), (tag >>> 2) + 1)
      at += bytes
    }
  }
  if (written !== size) throw new Error('fewer bytes than declared')
  return page
}

function unpackLz4(packed: Buffer, size: number): Buffer {
  const page = Buffer.alloc(size)
  if (unpackLz4Block(packed, page) !== size) throw new Error('fewer bytes than declared')
  return page
}

/** The older form, which Hadoop frames: sizes, big-endian, before each block. Other writers leave the frames away. */
function unpackHadoopLz4(packed: Buffer, size: number): Buffer {
  const page = Buffer.alloc(size)
  let written = 0
  for (let at = 0; at < packed.length; ) {
    if (at + 8 > packed.length) return unpackLz4(packed, size)
    const unpackedBytes = packed.readUInt32BE(at)
    const packedBytes = packed.readUInt32BE(at + 4)
    at += 8
    if (at + packedBytes > packed.length || written + unpackedBytes > size) return unpackLz4(packed, size)
    const block = page.subarray(written, written + unpackedBytes)
    try {
      if (unpackLz4Block(packed.subarray(at, at + packedBytes), block) !== unpackedBytes) return unpackLz4(packed, size)
    } catch {
      return unpackLz4(packed, size)
    }
    at += packedBytes
    written += unpackedBytes
  }
  return written === size ? page : unpackLz4(packed, size)
}

/**
 * Unpacks one block of LZ4 into a buffer.
 * @returns how many bytes were written
 * @throws an error of any kind if the block is invalid or larger
 */
export function unpackLz4Block(packed: Buffer, page: Buffer): number {
  let at = 0
  let written = 0
  /** A length of 15 continues in the following bytes. */
  const lengthOf = (start: number): number => {
    let length = start
    if (start < 15) return length
    for (;;) {
      const byte = packed.readUInt8(at)
      at += 1
      length += byte
      if (byte < 255) return length
    }
  }
  while (at < packed.length) {
    const token = packed[at] as number
    at += 1
    const literals = lengthOf(token >>> 4)
    written = copy(packed, at, literals, page, written)
    at += literals
    if (at >= packed.length) break
    const offset = packed.readUInt16LE(at)
    at += 2
    written = repeat(page, written, offset, lengthOf(token & 15) + 4)
  }
  return written
}
