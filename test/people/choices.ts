/** Choices that follow from a seed, the same on every machine. */
export class Choices {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to below 1: the generator mulberry32, which is in the public domain. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 to below a bound. */
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }

  /** True as often as a share from 0 to 1 says. */
  is(share: number): boolean {
    return this.next() < share
  }

  /** One of some. */
  of<Value>(values: readonly Value[]): Value {
    const value = values[this.below(values.length)]
    if (value === undefined) throw new Error('Nothing to choose from')
    return value
  }
}
