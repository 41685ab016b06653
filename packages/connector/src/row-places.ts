import type { PlaceInFile, PlaceUnit } from '@penstock/wire/rules'

/** The places of the rows of a chunk in a file, for people who look for one of them there. */
export type RowPlaces = {
  /** Name of the file as the store lists it; the name of the sheet if the source has no files. */
  readonly file: string
  /** The sheet of a workbook. */
  readonly sheet?: string
  readonly unit: PlaceUnit
  /**
   * Pairs of an index in `rows` and the number of that row in the file, from 1, in the order of the indexes. The first index is 0.
   * Rows between two pairs count on, so that rows in consecutive lines need no pair.
   */
  readonly numbers: readonly number[]
}

/** The place of a row. The time grows with the logarithm of the number of pairs. @param index of the row in the chunk */
export function placeOfRow({ file, sheet, unit, numbers }: RowPlaces, index: number): PlaceInFile {
  let low = 0
  let high = numbers.length / 2 - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((numbers[2 * middle] ?? 0) <= index) low = middle
    else high = middle - 1
  }
  return { file, sheet: sheet ?? null, unit, number: (numbers[2 * low + 1] ?? 1) + index - (numbers[2 * low] ?? 0) }
}

/** Collects the numbers of rows, as pairs. Rows that count on cost one comparison, or nothing if they are not announced. */
export class RowNumbers {
  readonly pairs: number[] = []
  /** The number of a row less its index, for the latest rows. */
  #ahead: number

  /** @param first the number of the first row, unless `set` is called for it; absent if it is called */
  constructor(first?: number) {
    this.#ahead = first ?? Number.NaN
    if (first !== undefined) this.pairs.push(0, first)
  }

  /** The number of the row with this index, which is the next one. */
  next(index: number): number {
    return index + this.#ahead
  }

  /** The pairs if the first number is this many higher. */
  from(first: number): number[] {
    return this.pairs.map((value, at) => (at % 2 === 0 ? value : value + first))
  }

  /** Sets the number of the row with an index, which is not lower than earlier indexes. */
  set(index: number, number: number): void {
    if (number - index === this.#ahead) return
    this.#ahead = number - index
    if (this.pairs.at(-2) === index) this.pairs[this.pairs.length - 1] = number
    else this.pairs.push(index, number)
  }

  /** The row with this index begins some lines later than after the row before it. */
  skip(index: number, lines: number): void {
    this.set(index, this.next(index) + lines)
  }
}
