import { createHash, randomBytes } from 'node:crypto'
import { limits } from '@penstock/wire/rules'

/**
 * The values of columns that must be unique, as keyed hashes of 64 bits, only in the memory of the runner. Two of 250,000 values
 * have the same hash once in 600 million transfers. A value belongs to the number of its first record, so counting a record again
 * changes nothing.
 */
export class UniqueValues {
  readonly #key = randomBytes(16)
  #rowsMax: number
  readonly #firsts = new Map<number, Map<bigint, number>>()
  /** The highest number of a record that was counted. */
  #until = 0

  constructor(rowsMax: number = limits.ruleUniqueRowsMax) {
    this.#rowsMax = rowsMax
  }

  /** The most records that are compared. */
  get rowsMax(): number {
    return this.#rowsMax
  }

  /** The rules share the memory. */
  share(rules: number): void {
    this.#rowsMax = Math.floor(limits.ruleUniqueRowsMax / Math.max(1, rules))
  }

  /** Whether an earlier record has the value. Records come in their order, or again. @param place of the rule */
  isSeen(place: number, value: string, number: number): boolean {
    this.count(number)
    if (this.isFull) return false
    const firsts = this.#firsts.get(place) ?? new Map<bigint, number>()
    this.#firsts.set(place, firsts)
    const hash = createHash('sha256').update(this.#key).update(value).digest().readBigUInt64LE()
    const first = firsts.get(hash)
    if (first === undefined) firsts.set(hash, number)
    return first !== undefined && first < number
  }

  /** Notes that records up to this number were counted. */
  count(number: number): void {
    this.#until = Math.max(this.#until, number)
    if (this.isFull) this.#firsts.clear()
  }

  /** Whether there were more records than are compared. */
  get isFull(): boolean {
    return this.#until > this.#rowsMax
  }

  /** Whether records up to this number must be read again, because another runner counted them. */
  lacks(number: number): boolean {
    return this.#until < number && number <= this.#rowsMax
  }
}
