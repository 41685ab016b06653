const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const bitsPerCharacter = 6

/** Reads the bits of a text in Base64URL, from any place. Throws a `RangeError` after the end, and for other characters. */
export class Bits {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The bit at a place, counted from 0. */
  at(place: number): boolean {
    const value = alphabet.indexOf(this.#text.charAt(Math.floor(place / bitsPerCharacter)) || '=')
    if (value < 0) throw new RangeError(`There is no bit ${place}`)
    return ((value >> (bitsPerCharacter - 1 - (place % bitsPerCharacter))) & 1) === 1
  }

  /** The next bit. */
  flag(): boolean {
    return this.at(this.#at++)
  }

  /** The next bits as a number. @param length at most 30 */
  number(length: number): number {
    let value = 0
    for (let n = 0; n < length; n++) value = value * 2 + Number(this.flag())
    return value
  }

  /** The next number in Fibonacci coding: a bit for each number of the sequence, up to two bits that are set. */
  fibonacci(): number {
    let [value, number, next, isLast] = [0, 1, 2, false]
    for (;;) {
      const isSet = this.flag()
      if (isSet && isLast) return value
      if (isSet) value += number
      ;[number, next, isLast] = [next, number + next, isSet]
    }
  }

  skip(length: number): this {
    this.#at += length
    return this
  }
}
