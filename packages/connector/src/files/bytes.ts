import type { FileStore, StoredFile } from './store.ts'

/** Bytes of one read. Larger pieces use much more memory before it is collected. */
export const pieceBytes = 256 << 10

/**
 * Text of one chunk. The garbage collector does not copy texts of more than 128 KiB: if such a text is in use, it is kept as
 * long as old objects, and many of them are the largest part of a growing heap.
 */
export const textChunkBytes = 120 << 10

/** The unpacked bytes of a file from an offset on. A reader can peek at the next bytes before it consumes them. */
export type ByteStream = {
  /** Whether the file is compressed. Places in the file are then offsets in the unpacked file. */
  readonly packed: boolean
  /** The next bytes, fewer at the end of the file. Valid until bytes are consumed. */
  peek(bytes: number): Promise<Buffer>
  /** Consumes bytes that were peeked at. */
  take(bytes: number): void
  /** Skips bytes, also bytes that were not peeked at. */
  skip(bytes: number): Promise<void>
  /** Whether the file ends after the bytes that were peeked at last. */
  readonly ended: boolean
  /** Bytes of the stored file that were used so far. */
  readonly storedBytes: number
  /** Releases the file. Never throws. */
  close(): Promise<void>
}

/** Opens an uncompressed file at an offset. */
export function openBytesAt(store: FileStore, file: StoredFile, at: number, signal: AbortSignal): ByteStream {
  return makeStream(at < file.sizeBytes ? store.read(file, at) : none(), signal, undefined, at)
}

/**
 * The same stream with the same number of other bytes. Consumes the rest of the stream, and closes it.
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

/** The remaining bytes of a stream, piece by piece. */
export async function* rest(raw: ByteStream): AsyncGenerator<Buffer> {
  for (;;) {
    const bytes = await raw.peek(pieceBytes)
    if (bytes.length === 0) return
    raw.take(bytes.length)
    yield bytes
  }
}

/**
 * Creates a stream of pieces.
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
        // An error during the release no longer matters.
      }
      await packedIn?.close()
    },
  }
  return stream
}
