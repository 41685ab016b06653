import { createHash } from 'node:crypto'

/**
 * The content of a file whose server gives it no mark of its version, known by the digests of its blocks: whatever is read
 * of it later, from whatever place on, is compared with them before any of it is used.
 */
export type ContentBlocks = {
  readonly sizeBytes: number
  /** Stands for the whole content. */
  readonly version: string
  readonly digests: readonly string[]
}

const blockBytes = 1 << 20

/** Where the block of a byte begins. */
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
 * @param fromByte where a block begins
 * @param changed makes what is thrown where a block is another one by now, or there are more or fewer of them
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
      // The receiver of the block may keep it.
      block = Buffer.allocUnsafe(blockBytes)
      filled = 0
    }
  }
  if (filled > 0) yield block.subarray(0, filled)
}

const digestOf = (block: Uint8Array): string => createHash('sha256').update(block).digest('base64').slice(0, 24)
