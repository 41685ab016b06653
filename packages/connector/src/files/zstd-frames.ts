import { ConnectorError } from '../connector-error.ts'
import { bounds, outOfBounds } from './bounds.ts'
import type { ByteStream } from './bytes.ts'
import type { StoredFile } from './store.ts'

/** The frames of a zstd file, by RFC 8878: programs that compress in parallel write many, and files can be joined. */

const magic = 0xfd2fb528
/** Frames with notes of programs, which hold nothing of the file. */
const skippable = { from: 0x184d2a50, to: 0x184d2a5f }
/** The most bytes that a block may have, by section 3.1.1.2.3. */
const blockBytesMax = 128 << 10

/** Whether a file begins as one of zstd, with a frame or with notes before it. */
export function isZstd(start: Buffer): boolean {
  if (start.length < 4) return false
  const first = start.readUInt32LE()
  return first === magic || (first >= skippable.from && first <= skippable.to)
}

/**
 * The frames of a stream one after the other, each as its pieces, which have to be read to their end before the next. A
 * frame that breaks off ends early.
 * @throws a `ConnectorError`: `invalid_file` if the file continues with something else, `file_too_large` if it has too many frames
 */
export async function* zstdFrames(raw: ByteStream, file: StoredFile): AsyncGenerator<AsyncIterable<Uint8Array>> {
  for (let count = 0; ; count += 1) {
    const start = await raw.peek(8)
    if (start.length === 0) return
    if (!isZstd(start)) throw damaged(file)
    if (count === bounds.zstdFrames) {
      throw outOfBounds('file_too_large', file.name, `has more than ${count} frames of zstd`, 'Compress it as a whole.')
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

async function* frameOf(raw: ByteStream, file: StoredFile): AsyncGenerator<Uint8Array> {
  const taken = async (bytes: number) => {
    const found = Buffer.from(await raw.peek(bytes))
    raw.take(found.length)
    return found
  }
  const [descriptor = 0] = (await raw.peek(5)).subarray(4)
  yield await taken(headerBytes(descriptor))
  for (let last = false; !last; ) {
    const head = await raw.peek(3)
    if (head.length < 3) return
    const header = head.readUIntLE(0, 3)
    last = (header & 1) === 1
    const size = header >> 3
    if (size > blockBytesMax) throw damaged(file)
    // A block of one repeated byte has that byte alone.
    const stored = (header >> 1) % 4 === 1 ? 1 : size
    const block = await taken(3 + stored)
    yield block
    if (block.length < 3 + stored) return
  }
  if (descriptor & 4) yield await taken(4)
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
