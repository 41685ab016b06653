import { asConnectorError, type Chunk, ConnectorError } from '@penstock/connector'
import type { ColumnChange } from '@penstock/wire'
import type { Shape, TransferHost, TransferState } from '../protocol.ts'
import { addedNames, areAdditions, changesOf, refusedSentenceOf, sentenceOf, shapeOfNames } from './column-changes.ts'
import type { Sides } from './sides.ts'

/**
 * Compares the columns of a new transfer with those of the last successful one, before anything moves. Where changes stop the
 * transfer or are added, platforms are asked for the types of their columns; otherwise the names that the source reads are compared,
 * which costs nothing.
 */
export class ColumnWatch {
  readonly #state: TransferState
  readonly #host: TransferHost
  readonly #sides: Sides
  readonly #signal: AbortSignal
  #shape: Shape = { source: null, destination: null }
  #isSettled = false

  private constructor(state: TransferState, host: TransferHost, sides: Sides, signal: AbortSignal) {
    this.#state = state
    this.#host = host
    this.#sides = sides
    this.#signal = signal
  }

  /** `undefined` for a test, a replay, and a transfer that has begun: they are compared with nothing. */
  static of(state: TransferState, host: TransferHost, sides: Sides, signal: AbortSignal): ColumnWatch | undefined {
    if (state.replay || state.testRows !== null || state.columns !== null) return undefined
    return new ColumnWatch(state, host, sides, signal)
  }

  /** The columns of this transfer, as far as they are known. */
  get shape(): Shape {
    return this.#shape
  }

  /** Asks the platforms. Throws `columns_changed` where changes stop the transfer, and errors of the platforms that can be retried. */
  async ask(): Promise<void> {
    if (this.#state.drift === 'ignore') return
    this.#shape = {
      source: await this.#sides.shapeOf('Source', this.#signal),
      destination: await this.#sides.shapeOf('Destination', this.#signal),
    }
    await this.#stop()
  }

  /**
   * Takes the names of the first chunk. A column that it does not read cannot be mapped, so columns are added only now: first to the table, then
   * to the mapping, so that what crashes in between is repeated, and finds the columns there. Throws as `ask` does.
   */
  async read({ columns }: Pick<Chunk, 'columns'>): Promise<void> {
    if (this.#isSettled) return
    this.#isSettled = true
    if (!this.#shape.source) {
      this.#shape = { ...this.#shape, source: shapeOfNames(columns) }
      await this.#stop()
    }
    const added = this.#state.drift === 'add' ? await this.#add(columns) : []
    const changes = this.#changes()
    if (changes.length === 0) return
    const mapping = await this.#host.reportColumns({ shape: this.#shape, changes, added })
    if (mapping !== null) this.#sides.follow(mapping)
  }

  /** @returns the columns to add to the mapping */
  async #add(columns: readonly string[]): Promise<readonly string[]> {
    const before = this.#state.shape?.source
    const names = before ? addedNames(before, columns) : []
    if (names.length === 0) return []
    try {
      const added = await this.#sides.addColumns(names, this.#shape, this.#signal)
      if (this.#shape.destination) {
        this.#shape = { ...this.#shape, destination: await this.#sides.shapeOf('Destination', this.#signal) }
      }
      return added
    } catch (error) {
      const refusal = asConnectorError(error)
      if (!refusal || refusal.isTransient) throw error
      await this.#report(this.#changes())
      throw new ConnectorError('columns_changed', refusedSentenceOf(names, refusal.message), { side: 'Destination' })
    }
  }

  /** Stops the transfer at changes that it does not continue with. */
  async #stop(): Promise<void> {
    const { drift, shape: before } = this.#state
    const changes = this.#changes()
    const continues = drift === 'ignore' || (drift === 'add' && before !== null && areAdditions(before, this.#shape))
    if (continues || changes.length === 0) return
    await this.#report(changes)
    throw new ConnectorError('columns_changed', sentenceOf(changes))
  }

  #changes(): ColumnChange[] {
    const { shape: before } = this.#state
    return before ? changesOf(before, this.#shape) : []
  }

  async #report(changes: readonly ColumnChange[]): Promise<void> {
    await this.#host.reportColumns({ shape: this.#shape, changes, added: [] })
  }
}
