import { pipeline, Readable } from 'node:stream'
import zlib, { createGunzip } from 'node:zlib'
import { ConnectorError } from '../connector-error.ts'
import { bounds, mebibytes, outOfBounds } from './bounds.ts'
import { type ByteStream, pieceBytes, rest } from './bytes.ts'
import { isBzip2, unbzip2 } from './bzip2.ts'
import type { StoredFile } from './store.ts'
import { isZstd, zstdFrames } from './zstd-frames.ts'

/** Bytes of a file that identify its compression. */
export const magicBytes = 10

/** Unpacks the rest of a stream, piece by piece. */
export type Unpack = (raw: ByteStream) => AsyncIterable<Uint8Array>

/**
 * Detects the compression of a file from its beginning, regardless of its name.
 * @param start its first `magicBytes` bytes, or all of a smaller file
 * @returns the function that unpacks it; undefined if it is not compressed
 * @throws a `ConnectorError`, `invalid_file`, if the compression is not supported, or if it is an archive of files
 */
export function unpackerOf(file: StoredFile, start: Buffer): Unpack | undefined {
  if (start[0] === 0x1f && start[1] === 0x8b) return (raw) => unpacked(gunzipped(raw), file)
  if (isZstd(start)) return (raw) => unpacked(unzstd(raw, file), file)
  if (isBzip2(start)) return (raw) => unpacked(unbzip2(raw), file)
  const text = start.toString('latin1')
  const other = others.find(({ starts }) => text.startsWith(starts))
  if (other) throw invalid(`${file.name} is ${other.is}, which is not supported. ${other.advice}`)
  return undefined
}

const compressAgain = 'Compress it with gzip, zstd or bzip2, or store it without compression.'
const unpackFirst = 'Unpack it, and store the files in it.'
const others = [
  { starts: '\xfd7zXZ\0', is: 'compressed with xz', advice: compressAgain },
  { starts: '\x04"M\x18', is: 'compressed with LZ4', advice: compressAgain },
  { starts: '\x1f\x9d', is: 'compressed with compress (.Z)', advice: compressAgain },
  { starts: '\xff\x06\0\0sNaPpY', is: 'compressed with Snappy', advice: compressAgain },
  { starts: "7z\xbc\xaf'\x1c", is: 'a 7-Zip archive', advice: unpackFirst },
  { starts: 'Rar!\x1a\x07', is: 'a RAR archive', advice: unpackFirst },
] as const

function gunzipped(raw: ByteStream): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: pieceBytes })
  // Without the callback, an error would end the process. The reader of `gunzip` receives the error.
  pipeline(Readable.from(rest(raw), { objectMode: false, highWaterMark: pieceBytes }), gunzip, () => {})
  return gunzip
}

/** A small frame that unpacks to at most this number of bytes is unpacked immediately, in a tenth of the time of a stream. */
const smallFrameBytesMax = 1 << 20

/** The decompressor of Node.js ends after the first frame of a file, so each frame has its own. */
async function* unzstd(raw: ByteStream, file: StoredFile): AsyncGenerator<Uint8Array> {
  for await (const frame of zstdFrames(raw, file)) {
    const pieces = frame[Symbol.asyncIterator]()
    const first = await pieces.next()
    const second = await pieces.next()
    if (first.done) continue
    const small = second.done ? unpackedSmall(first.value) : undefined
    if (small) {
      yield small
      continue
    }
    const all = async function* () {
      yield first.value
      if (!second.done) yield second.value
      for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value
    }
    const decompress = zlib.createZstdDecompress({ chunkSize: pieceBytes })
    pipeline(Readable.from(all(), { objectMode: false, highWaterMark: pieceBytes }), decompress, () => {})
    yield* decompress
  }
}

/** @returns undefined for a frame that unpacks to more, or that must be read as a stream to find the damage */
function unpackedSmall(frame: Uint8Array): Buffer | undefined {
  try {
    return zlib.zstdDecompressSync(frame, { maxOutputLength: smallFrameBytesMax })
  } catch {
    return undefined
  }
}

async function* unpacked(source: AsyncIterable<Uint8Array>, file: StoredFile): AsyncGenerator<Uint8Array> {
  const { freeBytes, ratio } = bounds.compressed
  let left = Math.max(freeBytes, file.sizeBytes * ratio)
  try {
    for await (const bytes of source) {
      left -= bytes.length
      if (left < 0) throw expandsTooMuch(file)
      yield bytes
    }
  } catch (error) {
    throw asDamage(error, file)
  }
}

/** A file that decompresses to more than the limit. */
export const expandsTooMuch = ({ name }: StoredFile): ConnectorError => {
  const { freeBytes, ratio } = bounds.compressed
  const says = `unpacks to more than ${mebibytes(freeBytes)} and more than ${ratio} times its size`
  return outOfBounds('file_too_large', name, says, 'Store it without compression.')
}

/** Turns errors of the decompressors of Node.js into an error about a damaged file. Returns other errors unchanged. */
function asDamage(error: unknown, { name }: StoredFile): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') {
    return invalid(`${name} needs more than 128 MiB of memory to decompress. Compress it with a smaller window.`)
  }
  if (!/^Z_|^ZSTD_/.test(code)) return error
  const message = `${name} is damaged and cannot be decompressed. Write the file again.`
  return new ConnectorError('invalid_file', message, { cause: error })
}

const invalid = (message: string) => new ConnectorError('invalid_file', message)
