import { type Chunk, ConnectorError } from '@penstock/connector'
import type { Shape, TransferHost, TransferState } from '../protocol.ts'
import { changesOf, sentenceOf, shapeOfNames } from './column-changes.ts'
import type { Sides } from './sides.ts'

/**
 * Compares the columns of a new transfer with those of the last successful one, before anything moves. Where changes stop the
 * transfer, platforms are asked for the types of their columns; otherwise the names that the source reads are compared, which costs
 * nothing.
 */
export class ColumnWatch {
  readonly #state: TransferState
  readonly #host: TransferHost
  #shape: Shape = { source: null, destination: null }

  private constructor(state: TransferState, host: TransferHost) {
    this.#state = state
    this.#host = host
  }

  /** `undefined` for a test, a replay, and a transfer that has begun: they are compared with nothing. */
  static of(state: TransferState, host: TransferHost): ColumnWatch | undefined {
    if (state.replay || state.testRows !== null || state.columns !== null) return undefined
    return new ColumnWatch(state, host)
  }

  /** The columns of this transfer, as far as they are known. */
  get shape(): Shape {
    return this.#shape
  }

  /** Asks the platforms. Throws `columns_changed` where changes stop the transfer, and errors of the platforms that can be retried. */
  async ask(sides: Sides, signal: AbortSignal): Promise<void> {
    if (this.#state.drift === 'ignore') return
    this.#shape = {
      source: await sides.shapeOf('Source', signal),
      destination: await sides.shapeOf('Destination', signal),
    }
    await this.#compare()
  }

  /** Takes the names of the first chunk of a source that was not asked. Throws as `ask` does. */
  async read({ columns }: Chunk): Promise<void> {
    if (this.#shape.source) return
    this.#shape = { ...this.#shape, source: shapeOfNames(columns) }
    await this.#compare()
  }

  async #compare(): Promise<void> {
    const { shape: before, drift } = this.#state
    const changes = before ? changesOf(before, this.#shape) : []
    if (changes.length === 0) return
    await this.#host.reportColumns({ shape: this.#shape, changes })
    if (drift === 'stop') throw new ConnectorError('columns_changed', sentenceOf(changes))
  }
}
