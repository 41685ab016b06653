import type { Json, SourceReader } from '@penstock/connector'
import type { Confirmation, TransferState } from '../protocol.ts'
import type { RuleWatch } from '../rules/rule-watch.ts'
import { nothingSkipped } from '../skipped.ts'
import type { Checkpoint, FilledBatch } from './batches.ts'
import { confirmationOf, type Entry } from './confirmation.ts'
import type { Duplicates } from './duplicates.ts'

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
  /** Counts what is added, if duplicates are left out. */
  duplicates: Duplicates | undefined
  /** The last checkpoint, with a cursor that is stored only once all records were sent. */
  #held: Entry['end']
  #checkpoint: Checkpoint | null

  /** @param rules count what is added */
  constructor({ read, rejectsLeft, deliveryStates, state, checkpoint }: TransferState, rules?: RuleWatch) {
    this.#rules = rules
    this.#read = read
    this.#rejectsLeft = rejectsLeft
    this.#deliveryStates = [...deliveryStates]
    this.#connectionState = state ?? undefined
    this.#held = heldIn(checkpoint)
    this.#checkpoint = checkpoint as Checkpoint | null
  }

  /** Adds an entry. @param held the batch, where the destination took its rows in */
  add({ batch, ...entry }: Entry, held?: FilledBatch): void {
    const rejected = entry.rejects.reduce((sum, { count }) => sum + count, 0)
    // Rules and keys are about the records of the source.
    const ofSource = batch?.left ? undefined : batch
    const rules = this.#rules?.add(ofSource, ofSource ? rejected : 0)
    const sentKeys = ofSource && this.duplicates?.confirm(ofSource.first + ofSource.covered - 1)
    this.#entries.push({ ...entry, end: entry.end && this.#endOf(entry.end, rules, sentKeys) })
    if (held) this.#lastHeld = held
  }

  #endOf(
    { checkpoint, cursor }: NonNullable<Entry['end']>,
    rules: Json | undefined,
    sentKeys: Json | undefined,
  ): Entry['end'] {
    const known = { ...checkpoint, ...(rules && { rules }), ...(sentKeys && { sentKeys }) }
    if (!this.duplicates?.holdsCursor) return { checkpoint: known, cursor }
    const heldCursor = cursor ?? this.#held?.cursor
    const end = { checkpoint: { ...known, ...(heldCursor !== undefined && { heldCursor }) }, cursor: undefined }
    this.#held = { ...end, cursor: heldCursor }
    return end
  }

  /** Adds the cursor that was held until all records were sent, if there is one. */
  releaseCursor(): void {
    if (this.#held?.cursor === undefined) return
    const nothing = { read: 0, sent: 0, bytes: 0, removed: 0, skipped: nothingSkipped, rejects: [] }
    this.#entries.push({ ...nothing, end: this.#held, deliveryState: undefined, state: undefined })
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

  /** The records of the source that are confirmed, and the checkpoint after them; while nothing is unconfirmed. */
  get confirmed(): { readonly read: number; readonly checkpoint: Checkpoint | null } {
    return { read: this.#read, checkpoint: this.#checkpoint }
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
  confirm({ rejects, deliveryState, state, checkpoint }: Confirmation): void {
    this.#checkpoint = (checkpoint as Checkpoint | null) ?? this.#checkpoint
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

/** The end of a transfer that another session began, as far as its cursor is held. */
function heldIn(checkpoint: Json | null): Entry['end'] {
  const stored = checkpoint as (Checkpoint & { readonly heldCursor?: Json }) | null
  return stored?.heldCursor === undefined ? undefined : { checkpoint: stored, cursor: stored.heldCursor }
}
