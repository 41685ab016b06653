import type { Json } from '@penstock/connector'
import type { BatchStart, TransferHost, TransferState } from '../protocol.ts'
import type { Announcement } from './batch-keys.ts'
import type { Retries } from './retries.ts'
import type { Stages } from './stages/stages.ts'
import { Unconfirmed } from './unconfirmed.ts'

/**
 * Stores the batches of a session in the database: the records of each batch before it can be committed, and its result
 * afterwards. At most one confirmation is being stored, and nothing is stored before it.
 */
export class SessionLedger {
  readonly unconfirmed: Unconfirmed
  /** Columns that are not stored yet: they go with the first batch. */
  newColumns: BatchStart['columns']
  /** The route of the rows, as a sentence, if there is more than one route. */
  route: string | undefined
  readonly #host: Pick<TransferHost, 'beginBatch' | 'confirm'>
  readonly #retries: Pick<Retries, 'reset'>
  readonly #stages: Stages
  /** Whether the next batch was announced together with the last confirmation. */
  #isBegun = false
  #storing = Promise.resolve()

  readonly #planned: () => Json | undefined

  /**
   * @param stages are informed of confirmations, and add to them
   * @param planned returns the plan of the source, unless the plan is stored
   */
  constructor(
    host: Pick<TransferHost, 'beginBatch' | 'confirm'>,
    retries: Pick<Retries, 'reset'>,
    state: TransferState,
    stages: Stages,
    planned: () => Json | undefined,
  ) {
    this.#planned = planned
    this.#host = host
    this.#retries = retries
    this.#stages = stages
    this.unconfirmed = new Unconfirmed(state, stages)
  }

  /** Adds sentences to the log of the transfer, which are stored with the columns. */
  say(sentences: readonly string[]): void {
    if (sentences.length > 0) this.route = [this.route ?? [], sentences].flat().join(' ')
  }

  /** Resolves after the last confirmation is stored. Rejects with the reason why the transfer ends if it could not be stored. */
  settled(): Promise<void> {
    return this.#storing
  }

  /** Announces a batch after the previous one is stored, unless it was announced with it. */
  async begin(announcement: Announcement): Promise<void> {
    await this.#storing
    const isBegun = this.#isBegun
    this.#isBegun = false
    if (!isBegun) await this.#host.beginBatch(this.startOf(announcement))
    this.newColumns = undefined
  }

  /** The announcement of a batch, together with everything else that is not stored yet. */
  startOf(own: Announcement): BatchStart {
    return this.#withColumns(this.#stages.announcing(own) ?? own)
  }

  #withColumns(announcement: Announcement): BatchStart {
    if (!this.newColumns) return announcement
    const plan = this.#planned()
    return {
      ...announcement,
      columns: this.newColumns,
      ...(this.route !== undefined && { route: this.route }),
      ...(plan !== undefined && { plan }),
    }
  }

  /**
   * Begins to store everything that is unconfirmed, after the previous confirmation is stored. `settled` reports when it is
   * stored.
   * @param next the next batch; it is announced in the same statement
   */
  async confirm(
    columns: readonly string[],
    total: Parameters<Unconfirmed['take']>[1],
    next: Announcement | undefined,
  ): Promise<void> {
    if (this.unconfirmed.isEmpty) return
    await this.#storing
    const confirmation = await this.unconfirmed.take(columns, total)
    const announcement = this.#stages.announcing(next)
    const start = announcement && this.#withColumns(announcement)
    const store = async () => {
      const isBegun = await this.#host.confirm(confirmation, start)
      this.#isBegun = isBegun && next !== undefined
      this.unconfirmed.confirm(confirmation)
      this.#retries.reset()
    }
    this.#storing = store()
    // The next call that waits for it receives the error.
    this.#storing.catch(() => {})
  }
}
