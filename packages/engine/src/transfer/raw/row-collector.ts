import { RawRows, type Row, rawOf } from '@penstock/connector'

/** Collects rows of chunks. They stay raw rows if all of them are. */
export class RowCollector {
  #raw: RawRows[] = []
  readonly #values: Row[] = []

  /** Adds some rows of a list. @param indexes of these rows, which ascend */
  add(rows: readonly Row[], indexes: readonly number[]): void {
    const raw = this.#rawOf(rows)
    if (raw && indexes.length > 0) this.#raw.push(raw.pick(indexes))
    else for (const index of indexes) this.#values.push(rows[index] as Row)
  }

  /** Adds the rows of a list from one index until before another. */
  addRange(rows: readonly Row[], from: number, until: number): void {
    const raw = this.#rawOf(rows)
    if (raw && from < until) this.#raw.push(raw.slice(from, until))
    else for (let at = from; at < until; at++) this.#values.push(rows[at] as Row)
  }

  /** The raw rows of a list, if all rows so far are raw rows. Otherwise all rows become values. */
  #rawOf(rows: readonly Row[]): RawRows | undefined {
    const raw = this.#values.length === 0 ? rawOf(rows) : undefined
    if (raw) return raw
    for (const some of this.#raw) for (const row of some.rows) this.#values.push(row)
    this.#raw = []
    return undefined
  }

  /** All rows, in their order. */
  all(): readonly Row[] {
    return this.#raw.length > 0 ? RawRows.join(this.#raw).rows : this.#values
  }
}
