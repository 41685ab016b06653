/** The longest code of bzip2, in bits. */
const codeBitsMax = 20

/**
 * A Huffman code in which codes of the same length are consecutive numbers.
 * @property shortest the length of the shortest code, in bits
 * @property limits the highest code of each length; -1 if no code has this length
 * @property bases what to subtract from a code of each length to get its place in `symbols`
 * @property symbols in the order of their codes
 */
export type HuffmanTable = {
  readonly shortest: number
  readonly limits: Int32Array
  readonly bases: Int32Array
  readonly symbols: Uint16Array
}

/** Creates the code from the length of each symbol, from 1 to 20 bits. */
export function huffmanTable(lengths: readonly number[]): HuffmanTable {
  const limits = new Int32Array(codeBitsMax + 1).fill(-1)
  const bases = new Int32Array(codeBitsMax + 1)
  const symbols: number[] = []
  let code = 0
  for (let length = 1; length <= codeBitsMax; length++) {
    bases[length] = code - symbols.length
    const first = symbols.length
    for (const [symbol, one] of lengths.entries()) if (one === length) symbols.push(symbol)
    code += symbols.length - first
    if (symbols.length > first) limits[length] = code - 1
    code <<= 1
  }
  return { shortest: Math.min(...lengths), limits, bases, symbols: Uint16Array.from(symbols) }
}

/** Bits of packed bytes, the highest bit of a byte first. After the end they are zero, and `isOverrun` is set. */
export class PackedBits {
  readonly #bytes: Buffer
  /** The bits that were read so far, and the bits before the first one. */
  position: number

  constructor(bytes: Buffer, position: number) {
    this.#bytes = bytes
    this.position = position
  }

  /** Whether more bits were read than there are. */
  get isOverrun(): boolean {
    return this.position > this.#bytes.length * 8
  }

  /** The next bits as a number. @param count at most 24 */
  read(count: number): number {
    const bits = this.#peek(count)
    this.position += count
    return bits
  }

  /** The next symbol of a code; `undefined` if the bits are invalid. */
  symbol({ shortest, limits, bases, symbols }: HuffmanTable): number | undefined {
    const bits = this.#peek(codeBitsMax)
    for (let length = shortest; length <= codeBitsMax; length++) {
      const code = bits >>> (codeBitsMax - length)
      if (code <= (limits[length] ?? -1)) {
        this.position += length
        return symbols[code - (bases[length] ?? 0)]
      }
    }
    return undefined
  }

  #peek(count: number): number {
    const at = this.position >>> 3
    const bytes = this.#bytes
    const four =
      ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)
    return (four << (this.position & 7)) >>> (32 - count)
  }
}
