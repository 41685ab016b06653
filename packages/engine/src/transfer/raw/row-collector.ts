import { RawRows, type Row, rawOf } from '@penstock/connector'

/** Collects rows of chunks. They stay raw rows if all of them are. */
export class RowCollector {
  #raw: RawRows[] = []
  readonly #values: Row[] = []

  /** Adds some rows of a list. @param indexes of these rows, which ascend */
  add(rows: readonly Row[], indexes: readonly number[]): void {
    const [first, last] = [indexes[0], indexes.at(-1)]
    if (first === undefined || last === undefined) return
    const raw = rawOf(rows)
    if (raw && this.#values.length === 0) {
      this.#raw.push(last - first === indexes.length - 1 ? raw.slice(first, last + 1) : raw.pick(indexes))
      return
    }
    for (const some of this.#raw) for (const row of some.rows) this.#values.push(row)
    this.#raw = []
    for (const index of indexes) this.#values.push(rows[index] as Row)
  }

  /** All rows, in their order. */
  all(): readonly Row[] {
    return this.#raw.length > 0 ? RawRows.join(this.#raw).rows : this.#values
  }
}
