import { eachColumn, kindOfValue } from '@penstock/connector'
import { eventBounds } from './bounds.ts'

/** The columns of one stream that are stored already, with the kinds of their values. */
export class SeenColumns {
  readonly #kinds: Map<string, number>

  constructor(kinds: ReadonlyMap<string, number>) {
    this.#kinds = new Map(kinds)
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0
  }

  /** Adds columns of an event to `fresh` that are not stored yet, or that have a value of another kind now. */
  look(event: object, fresh: Map<string, number>): void {
    eachColumn(event, (name, value) => {
      const known = this.#kinds.get(name)
      const kind = kindOfValue(value)
      if (known !== undefined && (known & kind) !== 0) return
      if (known === undefined && (!isStorable(name) || this.#kinds.size + fresh.size >= eventBounds.columns)) return
      fresh.set(name, (fresh.get(name) ?? 0) | kind)
    })
  }

  /** Notes columns that were stored. */
  add(stored: ReadonlyMap<string, number>): void {
    for (const [name, kinds] of stored) this.#kinds.set(name, (this.#kinds.get(name) ?? 0) | kinds)
  }
}

/** Texts of PostgreSQL have no zero byte, and are UTF-8. */
const isStorable = (name: string): boolean => !name.includes('\0') && name.isWellFormed()
