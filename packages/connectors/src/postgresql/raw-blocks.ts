import type { RawBlock } from '../databases/raw-chunks.ts'
import type { CopyRows } from './message-check.ts'

/** About how many bytes a block has: few enough that a batch ends where its bounds say, many enough that a block costs nothing. */
const blockBytes = 512 * 1024
/** Bytes that one read of a socket can return. */
const readBytes = 64 * 1024
const boundsMin = 4_096

/** Bytes that belong to no row: before the first row, in the same message, and the last message. */
export type Ends = { readonly head: Buffer; readonly end: Buffer }

/** Collects rows of COPY, which come in pieces of any length, in blocks of whole rows. */
export class RawBlocks implements CopyRows {
  readonly #onBlock: (block: RawBlock) => void
  #bytes = Buffer.allocUnsafeSlow(blockBytes + readBytes)
  #used = 0
  #bounds = new Uint32Array(boundsMin)
  #count = 0
  /** Bytes before the first row that are still to come. */
  #skipped: number
  readonly #end: Buffer | undefined
  #begun = 0

  /** @param onBlock gets each block, whose memory is its own */
  constructor(onBlock: (block: RawBlock) => void, ends?: Ends) {
    this.#onBlock = onBlock
    this.#skipped = ends?.head.length ?? 0
    this.#end = ends?.end
  }

  /** How many rows came, after the last message. */
  get rows(): number {
    return this.#begun - (this.#end ? 1 : 0)
  }

  begin(): void {
    if (this.#count === this.#bounds.length) {
      const longer = new Uint32Array(2 * this.#count)
      longer.set(this.#bounds)
      this.#bounds = longer
    }
    this.#bounds[this.#count++] = this.#used
    this.#begun += 1
  }

  add(bytes: Buffer, begin: number, to: number): void {
    const from = begin + Math.min(this.#skipped, to - begin)
    this.#skipped -= from - begin
    const end = this.#used + to - from
    if (end > this.#bytes.length) {
      // One row is longer than a block.
      const longer = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#bytes.length))
      this.#bytes.copy(longer, 0, 0, this.#used)
      this.#bytes = longer
    }
    bytes.copy(this.#bytes, this.#used, from, to)
    this.#used = end
    // The last row may not be whole.
    if (end >= blockBytes && this.#count > 1) this.#cut(this.#bounds[--this.#count] as number)
  }

  /** All rows are whole. @returns whether the last message is what must be there */
  flush(): boolean {
    if (this.#end) {
      const from = this.#count > 0 ? (this.#bounds[--this.#count] as number) : this.#used
      if (!this.#bytes.subarray(from, this.#used).equals(this.#end)) return false
      this.#used = from
    }
    if (this.#count > 0) this.#cut(this.#used)
    return true
  }

  /** Makes a block of the rows up to an offset. Behind it is the beginning of a row. */
  #cut(end: number): void {
    const bounds = this.#bounds.slice(0, this.#count + 1)
    bounds[this.#count] = end
    const rest = this.#used - end
    const next = Buffer.allocUnsafeSlow(Math.max(blockBytes, rest) + readBytes)
    this.#bytes.copy(next, 0, end, this.#used)
    this.#onBlock({ bytes: this.#bytes.subarray(0, end), bounds })
    this.#bytes = next
    this.#used = rest
    this.#bounds[0] = 0
    this.#count = rest > 0 ? 1 : 0
  }
}
