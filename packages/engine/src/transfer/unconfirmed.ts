import type { Json, SourceReader } from '@penstock/connector'
import type { Confirmation, TransferState } from '../protocol.ts'
import { nothingSkipped } from '../skipped.ts'
import { confirmationOf, type Entry } from './confirmation.ts'
import type { Checkpoint, FilledBatch } from './filled-batch.ts'
import type { Stages } from './stages/stages.ts'

/** Deliveries and rejections since the last confirmation, and the totals of the confirmations so far. */
export class Unconfirmed {
  #entries: Entry[] = []
  #lastHeld: FilledBatch | undefined
  /** Rows of the source that are confirmed. */
  #read: number
  #rejectsLeft: number
  readonly #deliveryStates: Json[]
  readonly #stages: Stages
  #connectionState: Json | undefined
  /** The last checkpoint, with a cursor that is stored only at the end. */
  #held: Entry['end']
  #checkpoint: Checkpoint | null

  /** @param stages are informed of each entry */
  constructor({ read, rejectsLeft, deliveryStates, state, checkpoint }: TransferState, stages: Stages) {
    this.#stages = stages
    this.#read = read
    this.#rejectsLeft = rejectsLeft
    this.#deliveryStates = [...deliveryStates]
    this.#connectionState = state ?? undefined
    this.#held = heldIn(checkpoint)
    this.#checkpoint = checkpoint as Checkpoint | null
  }

  /** Adds an entry. @param held the batch, if the destination holds its rows */
  add({ batch, isDelivered = false, answers, ...entry }: Entry, held?: FilledBatch): void {
    if (held) this.#lastHeld = held
    // A flush is about the batch that was held last.
    const rejectedFrom = batch ?? this.#lastHeld
    const { rejects, sent } = entry
    const stored = this.#stages.added({ batch, rejectedFrom, rejects, answers, isDelivered, sent })
    this.#entries.push({ ...entry, end: entry.end && this.#endOf(entry.end, stored) })
  }

  /** @param stored by the stages, with the checkpoint */
  #endOf({ checkpoint, cursor }: NonNullable<Entry['end']>, stored: Readonly<Record<string, Json>>): Entry['end'] {
    const known = { ...checkpoint, ...stored }
    if (!this.#stages.holdsCursor) return { checkpoint: known, cursor }
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

  /** The last batch whose rows the destination received without confirming them, if there is one. */
  get lastHeld(): FilledBatch | undefined {
    return this.#lastHeld
  }

  /** The delivery states and the state of the connection that the database has. */
  get stored(): { readonly deliveryStates: readonly Json[]; readonly state: Json | undefined } {
    return { deliveryStates: [...this.#deliveryStates], state: this.#connectionState }
  }

  /** The confirmed records of the source, and the checkpoint after them; only while nothing is unconfirmed. */
  get confirmed(): { readonly read: number; readonly checkpoint: Checkpoint | null } {
    return { read: this.#read, checkpoint: this.#checkpoint }
  }

  /**
   * Creates one confirmation of all entries, and removes them.
   * @param columns of the source
   * @param total size of the source, if it is known
   */
  async take(columns: readonly string[], total: SourceReader['total']): Promise<Confirmation> {
    const entries = this.#entries
    this.#entries = []
    this.#lastHeld = undefined
    const progress = this.#progressAfter(entries, total)
    const confirmation = confirmationOf(entries, progress, columns, this.#rejectsLeft)
    return this.#stages.confirming(
      confirmation,
      entries.flatMap(({ rejects }) => rejects),
    )
  }

  /** A confirmation is stored. */
  confirm({ rejects, deliveryState, state, checkpoint }: Confirmation): void {
    this.#checkpoint = (checkpoint as Checkpoint | null) ?? this.#checkpoint
    this.#rejectsLeft -= rejects.length
    if (deliveryState !== null) this.#deliveryStates.push(deliveryState)
    this.#connectionState = state ?? this.#connectionState
  }

  /** Progress in the source, from 0 to 1, if it is known. */
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
