import type { FileStore, StoredFile } from './store.ts'

/** How much is read at once. Of larger pieces, much more memory is in use before it is collected. */
export const pieceBytes = 256 << 10

/**
 * How much text makes a chunk. The collector does not copy a text of more than 128 KiB: one that it finds in use is kept
 * as long as old objects are, and many such texts are most of what the heap grows by.
 */
export const textChunkBytes = 120 << 10

/** The bytes of a file from some place on, unpacked, of which the next ones can be looked at before they are taken. */
export type ByteStream = {
  /** Whether the file is compressed; places in it are then counted in what it unpacks to. */
  readonly packed: boolean
  /** The next bytes, that many unless the file ends before. Valid until bytes are taken. */
  peek(bytes: number): Promise<Buffer>
  /** Takes bytes that were looked at. */
  take(bytes: number): void
  /** Skips bytes, those not yet looked at as well. */
  skip(bytes: number): Promise<void>
  /** Whether nothing follows the bytes that were looked at last. */
  readonly ended: boolean
  /** Bytes of the stored file that were used so far. */
  readonly storedBytes: number
  /** Lets go of the file. Never throws. */
  close(): Promise<void>
}

/** Opens an uncompressed file at an offset. */
export function openBytesAt(store: FileStore, file: StoredFile, at: number, signal: AbortSignal): ByteStream {
  return makeStream(at < file.sizeBytes ? store.read(file, at) : none(), signal, undefined, at)
}

/**
 * The same stream with other bytes in the place of its own, as many as there are. Takes what is left of the stream, and closes it.
 * @param at the place of the next byte
 */
export function changed(
  stream: ByteStream,
  at: number,
  signal: AbortSignal,
  change: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): ByteStream {
  const source = async function* () {
    try {
      yield* rest(stream)
    } finally {
      await stream.close()
    }
  }
  return makeStream(change(source()), signal, stream.packed ? stream : undefined, at)
}

async function* none(): AsyncGenerator<Uint8Array> {}

/** The bytes that are left of a stream, piece by piece. */
export async function* rest(raw: ByteStream): AsyncGenerator<Buffer> {
  for (;;) {
    const bytes = await raw.peek(pieceBytes)
    if (bytes.length === 0) return
    raw.take(bytes.length)
    yield bytes
  }
}

/**
 * Makes a stream of pieces.
 * @param packedIn the compressed file that the pieces are unpacked from, which is closed with the stream
 * @param from the place of the first byte
 */
export function makeStream(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  packedIn?: ByteStream,
  from = 0,
): ByteStream {
  const pieces = source[Symbol.asyncIterator]()
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  let done = false
  let taken = from
  let shown = 0

  const stream: ByteStream = {
    packed: packedIn !== undefined,
    async peek(bytes) {
      while (waitingBytes < bytes && !done) {
        signal.throwIfAborted()
        const next = await pieces.next()
        if (next.done) done = true
        else if (next.value.length > 0) {
          waiting.push(next.value)
          waitingBytes += next.value.length
        }
      }
      signal.throwIfAborted()
      const [first] = waiting
      const whole =
        waiting.length === 1 && first
          ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
          : Buffer.concat(waiting, waitingBytes)
      waiting = waitingBytes > 0 ? [whole] : []
      shown = Math.min(bytes, waitingBytes)
      return whole.subarray(0, shown)
    },
    take(bytes) {
      const [whole] = waiting
      taken += bytes
      waitingBytes -= bytes
      waiting = whole && waitingBytes > 0 ? [whole.subarray(bytes)] : []
      shown -= bytes
    },
    async skip(bytes) {
      for (let left = bytes; left > 0; ) {
        const piece = await stream.peek(Math.min(left, pieceBytes))
        if (piece.length === 0) return
        left -= piece.length
        stream.take(piece.length)
      }
    },
    get ended() {
      return done && shown === waitingBytes
    },
    get storedBytes() {
      return packedIn ? packedIn.storedBytes : taken
    },
    async close() {
      try {
        await pieces.return?.()
      } catch {
        // An error during the release does not matter any more.
      }
      await packedIn?.close()
    },
  }
  return stream
}
