import type { SealedPlace } from '../secrets/seal.ts'

/**
 * How a file is stored: in pieces of one size, except the last one, which is smaller. Each piece is sealed under the key of the
 * file for its position. A piece cannot be opened in another file or at another position. The last piece is sealed as the end,
 * so a truncated file cannot be opened either.
 */

/** Bytes of a piece: one message to a runner, and one row. */
export const chunkBytes: number = 256 * 1024

/** The place that a piece is sealed for. Pieces are counted from 0. */
export const chunkPlace = (uploadId: string, number: number, isLast: boolean): SealedPlace => [
  'upload',
  uploadId,
  String(number),
  isLast ? 'end' : 'more',
]

/**
 * Cuts a stream into pieces of `size` bytes, except the last one, which can be smaller. Holds at most two pieces in memory. An
 * empty stream has no pieces.
 */
export async function* cut(
  stream: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ readonly bytes: Buffer; readonly isLast: boolean }> {
  let piece = Buffer.allocUnsafe(size)
  let length = 0
  for await (const part of stream) {
    for (let at = 0; at < part.length; ) {
      if (length === size) {
        yield { bytes: piece, isLast: false }
        piece = Buffer.allocUnsafe(size)
        length = 0
      }
      const taken = part.subarray(at, at + size - length)
      piece.set(taken, length)
      length += taken.length
      at += taken.length
    }
  }
  if (length > 0) yield { bytes: piece.subarray(0, length), isLast: true }
}
