import { ConnectorError } from '../connector-error.ts'
import { bounds, outOfBounds } from './bounds.ts'
import type { ByteStream } from './bytes.ts'
import type { StoredFile } from './store.ts'

/** The frames of a zstd file, by RFC 8878: programs that compress in parallel write many, and files can be joined. */

const magic = 0xfd2fb528
/** Frames with notes of programs, which contain no data of the file. */
const skippable = { from: 0x184d2a50, to: 0x184d2a5f }
/** Maximum bytes of a block, by section 3.1.1.2.3. */
const blockBytesMax = 128 << 10

/** Whether a file begins like zstd, with a frame or with notes before it. */
export function isZstd(start: Buffer): boolean {
  if (start.length < 4) return false
  const first = start.readUInt32LE()
  return first === magic || (first >= skippable.from && first <= skippable.to)
}

/**
 * The frames of a stream one after the other, each as its pieces. All pieces of a frame must be read before the next frame. A
 * small frame is one piece. An interrupted frame ends early.
 * @throws a `ConnectorError`: `invalid_file` if the file continues with something else, `file_too_large` if it has too many
 *   frames
 */
export async function* zstdFrames(raw: ByteStream, file: StoredFile): AsyncGenerator<AsyncIterable<Uint8Array>> {
  for (let count = 0; ; count += 1) {
    const start = await raw.peek(8)
    if (start.length === 0) return
    if (!isZstd(start)) throw damaged(file)
    if (count === bounds.zstdFrames) {
      throw outOfBounds(
        'file_too_large',
        file.name,
        `has more than ${count} frames of zstd`,
        'Compress it in one frame.',
      )
    }
    if (start.readUInt32LE() === magic) {
      yield frameOf(raw, file)
      continue
    }
    if (start.length < 8) throw damaged(file)
    raw.take(8)
    await raw.skip(start.readUInt32LE(4))
  }
}

/** More than a block, and the size of one read. */
const windowBytes = 256 << 10

/** Pieces contain whole blocks, as many as possible, because a file can have millions of empty blocks. */
async function* frameOf(raw: ByteStream, file: StoredFile): AsyncGenerator<Uint8Array> {
  let window = await raw.peek(windowBytes)
  const descriptor = window[4] ?? 0
  let at = headerBytes(descriptor)
  for (let last = false; ; ) {
    const need = last ? (descriptor & 4 ? 4 : 0) : blockBytes(window, at, file)
    if (at + need <= window.length) {
      if (!last) last = ((window[at] ?? 0) & 1) === 1
      else {
        yield taken(raw, window, at + need)
        return
      }
      at += need
    } else {
      const isEnd = window.length < windowBytes
      yield taken(raw, window, isEnd ? window.length : at)
      if (isEnd) return
      at = 0
      window = await raw.peek(windowBytes)
    }
  }
}

/** A copy, since the bytes of a stream are valid until they are taken. */
function taken(raw: ByteStream, window: Buffer, bytes: number): Buffer {
  const piece = Buffer.from(window.subarray(0, bytes))
  raw.take(bytes)
  return piece
}

/** Bytes of the block at an offset, by section 3.1.1.2; bytes of its header if the window ends too early. */
function blockBytes(window: Buffer, at: number, file: StoredFile): number {
  if (at + 3 > window.length) return 3
  const header = window.readUIntLE(at, 3)
  const size = header >> 3
  if (size > blockBytesMax) throw damaged(file)
  // A block of one repeated byte has only that byte.
  return 3 + ((header >> 1) % 4 === 1 ? 1 : size)
}

/** Bytes of the header of a frame, by section 3.1.1.1. */
function headerBytes(descriptor: number): number {
  const single = (descriptor >> 5) & 1
  const dictionary = [0, 1, 2, 4][descriptor & 3] as number
  const content = [single, 2, 4, 8][descriptor >> 6] as number
  return 4 + 1 + (1 - single) + dictionary + content
}

const damaged = ({ name }: StoredFile) =>
  new ConnectorError('invalid_file', `${name} is damaged and cannot be decompressed. Write the file again.`)
