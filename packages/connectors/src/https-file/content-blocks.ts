import { createHash } from 'node:crypto'

/**
 * The content of a file without a version on its server, identified by the digests of its blocks. Everything that is read
 * later, from any position, is compared with them before it is used.
 */
export type ContentBlocks = {
  readonly sizeBytes: number
  /** Identifies the whole content. */
  readonly version: string
  readonly digests: readonly string[]
}

const blockBytes = 1 << 20

/** The start of the block that contains a byte. */
export const blockStart = (atByte: number): number => atByte - (atByte % blockBytes)

/** Reads a file to its end and keeps the digests. */
export async function readBlocks(bytes: AsyncIterable<Uint8Array>): Promise<ContentBlocks> {
  const digests: string[] = []
  let sizeBytes = 0
  for await (const block of blocksOf(bytes)) {
    digests.push(digestOf(block))
    sizeBytes += block.length
  }
  return { sizeBytes, digests, version: createHash('sha256').update(digests.join()).digest('hex').slice(0, 32) }
}

/**
 * The bytes of the same content, block by block.
 * @param fromByte the beginning of a block
 * @param changed creates the error that is thrown if a block has changed, or if there are more or fewer blocks
 */
export async function* sameBlocks(
  bytes: AsyncIterable<Uint8Array>,
  { digests }: ContentBlocks,
  fromByte: number,
  changed: () => Error,
): AsyncGenerator<Uint8Array> {
  let number = fromByte / blockBytes
  for await (const block of blocksOf(bytes)) {
    if (digestOf(block) !== digests[number]) throw changed()
    number += 1
    yield block
  }
  if (number !== digests.length) throw changed()
}

async function* blocksOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block = Buffer.allocUnsafe(blockBytes)
  let filled = 0
  for await (const piece of bytes) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + blockBytes - filled)
      block.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < blockBytes) continue
      yield block
      // The receiver of the block can keep it.
      block = Buffer.allocUnsafe(blockBytes)
      filled = 0
    }
  }
  if (filled > 0) yield block.subarray(0, filled)
}

const digestOf = (block: Uint8Array): string => createHash('sha256').update(block).digest('base64').slice(0, 24)
