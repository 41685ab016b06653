import type { Json, SourceReader } from '@penstock/connector'
import type { Confirmation, TransferState } from '../protocol.ts'
import type { RuleWatch } from '../rules/rule-watch.ts'
import type { FilledBatch } from './batches.ts'
import { confirmationOf, type Entry } from './confirmation.ts'

/** Deliveries and rejections since the last confirmation, and the totals of the confirmations so far. */
export class Unconfirmed {
  #entries: Entry[] = []
  #lastHeld: FilledBatch | undefined
  /** Rows of the source that are confirmed. */
  #read: number
  #rejectsLeft: number
  readonly #deliveryStates: Json[]
  readonly #rules: RuleWatch | undefined
  #connectionState: Json | undefined

  /** @param rules count what is added */
  constructor({ read, rejectsLeft, deliveryStates, state }: TransferState, rules?: RuleWatch) {
    this.#rules = rules
    this.#read = read
    this.#rejectsLeft = rejectsLeft
    this.#deliveryStates = [...deliveryStates]
    this.#connectionState = state ?? undefined
  }

  /** Adds an entry. @param held the batch, where the destination took its rows in */
  add({ batch, ...entry }: Entry, held?: FilledBatch): void {
    const rejected = entry.rejects.reduce((sum, { count }) => sum + count, 0)
    const rules = this.#rules?.add(batch, rejected)
    const end = rules && entry.end ? { ...entry.end, checkpoint: { ...entry.end.checkpoint, rules } } : entry.end
    this.#entries.push({ ...entry, end })
    if (held) this.#lastHeld = held
  }

  /** Whether there is nothing to confirm. */
  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** The last batch whose rows the destination took in without confirming them, if there is one. */
  get lastHeld(): FilledBatch | undefined {
    return this.#lastHeld
  }

  /** The delivery states and the state of the connection that the database has. */
  get stored(): { readonly deliveryStates: readonly Json[]; readonly state: Json | undefined } {
    return { deliveryStates: [...this.#deliveryStates], state: this.#connectionState }
  }

  /**
   * Makes one confirmation of all of it, after which nothing is left. Nothing if there is nothing to confirm.
   * @param columns of the source
   * @param total how much the source has, if that is known
   */
  take(columns: readonly string[], total: SourceReader['total']): Confirmation | undefined {
    const entries = this.#entries
    if (entries.length === 0) return undefined
    this.#entries = []
    this.#lastHeld = undefined
    return confirmationOf(entries, this.#progressAfter(entries, total), columns, this.#rejectsLeft)
  }

  /** A confirmation is stored. */
  confirm({ rejects, deliveryState, state }: Confirmation): void {
    this.#rejectsLeft -= rejects.length
    if (deliveryState !== null) this.#deliveryStates.push(deliveryState)
    this.#connectionState = state ?? this.#connectionState
  }

  /** How much of the source is done, from 0 to 1, if that is known. */
  #progressAfter(entries: readonly Entry[], { bytes, rows }: SourceReader['total'] = {}): number | null {
    this.#read += entries.reduce((sum, { read }) => sum + read, 0)
    const readBytes = entries.findLast(({ end }) => end)?.end?.checkpoint.bytes
    const part = bytes ? (readBytes ?? Number.NaN) / bytes : rows ? this.#read / rows : Number.NaN
    return Number.isFinite(part) ? Math.min(1, Math.max(0, part)) : null
  }
}
