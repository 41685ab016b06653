import type { Json } from '@penstock/connector'
import { microsOf } from '../../platform-api/rows/money.ts'

/** By how much one budget rises in a transfer, in millionths. */
type Rise = { readonly from: bigint; readonly to: bigint }

const riseOf = ({ from, to }: Rise): bigint => (to > from ? to - from : 0n)

/**
 * The limit of the sum by which budgets rise in a transfer. A budget counts from its first value in the transfer to its last one, so
 * that a row that is sent again counts once. Later writers know it by the delivery states.
 */
export class BudgetLimits {
  readonly #max: bigint
  readonly #rises = new Map<string, Rise>()
  #changed = new Set<string>()

  constructor(increaseMax: unknown, deliveryStates: readonly Json[]) {
    this.#max = microsOf(String(increaseMax ?? '')) ?? 0n
    for (const state of deliveryStates) {
      for (const [key, from, to] of state as [string, string, string][]) {
        this.#rises.set(key, { from: BigInt(from), to: BigInt(to) })
      }
    }
  }

  get max(): bigint {
    return this.#max
  }

  /** Whether the sum is over the limit with this change. A lower budget is never over it. */
  isOver(key: string, from: bigint, to: bigint): boolean {
    const own = this.#rises.get(key)
    if (to <= (own?.to ?? from)) return false
    const others = [...this.#rises].reduce((all, [other, rise]) => (other === key ? all : all + riseOf(rise)), 0n)
    return others + riseOf({ from: own?.from ?? from, to }) > this.#max
  }

  /** Notes a change. Returns a function that removes the note. */
  note(key: string, from: bigint, to: bigint): () => void {
    const own = this.#rises.get(key)
    this.#rises.set(key, { from: own?.from ?? from, to })
    this.#changed.add(key)
    return () => {
      if (own) this.#rises.set(key, own)
      else this.#rises.delete(key)
    }
  }

  has(key: string): boolean {
    return this.#rises.has(key)
  }

  /** The changes since the last call, for a later writer. */
  deliveryState(): Json | undefined {
    const changed = [...this.#changed].flatMap((key): [string, string, string][] => {
      const rise = this.#rises.get(key)
      return rise ? [[key, String(rise.from), String(rise.to)]] : []
    })
    this.#changed = new Set()
    return changed.length === 0 ? undefined : changed
  }
}
