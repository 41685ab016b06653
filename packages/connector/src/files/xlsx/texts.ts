import { bounds } from '../bounds.ts'

/** Texts that cells share, in a few large blocks of bytes: as single texts they would need several times the memory. */
export class SharedTexts {
  readonly #blocks: Buffer[] = []
  #block: Buffer = Buffer.alloc(0)
  #filled = 0
  /** The place of each text: block, start and end. */
  #places = new Uint32Array(3 << 10)
  #bytes = 0
  count = 0

  /** Adds a text. @returns whether the bounds allow it */
  add(text: string): boolean {
    const bytes = Buffer.byteLength(text)
    this.#bytes += bytes
    if (this.#bytes > bounds.workbook.textBytes || this.count === bounds.workbook.texts) return false
    if (this.#filled + bytes > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(Math.max(bytes, 1 << 20))
      this.#blocks.push(this.#block)
      this.#filled = 0
    }
    this.#block.write(text, this.#filled)
    if (this.count * 3 === this.#places.length) {
      const larger = new Uint32Array(this.#places.length * 2)
      larger.set(this.#places)
      this.#places = larger
    }
    this.#places.set([this.#blocks.length - 1, this.#filled, this.#filled + bytes], this.count * 3)
    this.#filled += bytes
    this.count += 1
    return true
  }

  /** Bytes of a text by its number. */
  bytesOf(index: number): number {
    return (this.#places[index * 3 + 2] ?? 0) - (this.#places[index * 3 + 1] ?? 0)
  }

  /** A text by its number, from 0 on. */
  get(index: number): string {
    const [block = 0, start, end] = this.#places.subarray(index * 3, index * 3 + 3)
    return this.#blocks[block]?.toString('utf8', start, end) ?? ''
  }
}

const escaped = /_x([0-9a-f]{4})_/gi

/** A text of a workbook with characters instead of their codes: `_x000D_` is the end of a line. */
export const unescaped = (text: string): string =>
  text.includes('_x')
    ? text.replace(escaped, (_code, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))).toWellFormed()
    : text.toWellFormed()
