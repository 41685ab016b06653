import { asConnectorError, type Chunk, ConnectorError } from '@penstock/connector'
import { type ColumnChange, limits } from '@penstock/wire'
import { followChanges, passesAll } from '../mapping/add-columns.ts'
import type { Shape, TransferHost, TransferState } from '../protocol.ts'
import {
  addedNames,
  areAdditions,
  changesOf,
  refusedSentenceOf,
  sentenceOf,
  shapeOfNames,
  typeIn,
} from './column-changes.ts'
import type { Sides } from './sides.ts'

/**
 * Compares the columns of a new transfer with the columns of the last successful one, before data moves. If changes stop the
 * transfer or are added, it asks the platforms for the types of their columns. Otherwise it compares the names that the source
 * reads, which needs no request.
 */
export class ColumnWatch {
  readonly #state: TransferState
  readonly #host: TransferHost
  readonly #sides: Sides
  readonly #signal: AbortSignal
  #shape: Shape = { source: null, destination: null }
  #isSettled = false
  /** Whether the destination cannot have columns that a person accepted. */
  #isRefused = false
  /** The columns that the table got. */
  #gained: readonly ColumnChange[] = []

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
   * Receives the names of the first chunk. A column that the source does not read cannot be mapped, so columns are added only
   * now: first to the table, then to the mapping. If the process crashes in between, the addition is repeated and finds the
   * columns in the table. The mapping follows changes that were accepted or do not stop transfers. Throws like `ask`.
   */
  async read({ columns }: Pick<Chunk, 'columns'>): Promise<void> {
    if (this.#isSettled) return
    this.#isSettled = true
    if (!this.#shape.source) {
      this.#shape = { ...this.#shape, source: shapeOfNames(columns) }
      await this.#stop()
    }
    const before = this.#sides.mapping
    const changes = this.#changes()
    const followed = this.#followed(changes)
    this.#sides.follow(followChanges(before, followed, columns))
    const added = await this.#add(columns, changes)
    if (followed.length > 0 && (this.#isRefused || this.#state.drift === 'ignore')) await this.#leaveOut(columns)
    const mapping = this.#sides.mapping === before ? {} : { mapping: this.#sides.mapping }
    if (changes.length === 0 && added.length === 0 && this.#gained.length === 0 && mapping.mapping === undefined) return
    // Columns that were added are changes of the destination.
    const report = { shape: this.#shape, changes: this.#withGained(this.#changes()), added, ...mapping }
    const reported = await this.#host.reportColumns(report)
    if (reported !== null) this.#sides.follow(reported)
  }

  /** The changes that the mapping follows: accepted changes, and all changes with `drift: ignore`. */
  #followed(changes: readonly ColumnChange[]): readonly ColumnChange[] {
    const { drift, shape } = this.#state
    return [...(shape?.accepted ?? []), ...(drift === 'ignore' ? changes : [])]
  }

  /** The columns of the source that the destination should get. */
  #wanted(columns: readonly string[], changes: readonly ColumnChange[]): readonly string[] {
    const { drift, shape: before } = this.#state
    // A person who chose no columns expects all of them, so every lost column is reported.
    if (drift === 'ignore') return passesAll(this.#sides.mapping) ? gainedBy(changes, columns) : []
    const accepted = before?.accepted ?? []
    const isAccepted = accepted.length > 0
    // Without a mapping, all columns go to the destination, whether they are new or were renamed there.
    if (isAccepted && passesAll(this.#sides.mapping)) return columns
    // A new column that nobody accepted is not added, and neither is a renamed column that the mapping did not include.
    if (drift !== 'add') return columns.filter((name) => before?.adds?.includes(name))
    const gained = gainedBy(accepted, columns)
    const names = new Set([...gained, ...(before?.source ? addedNames(before.source, columns) : [])])
    return columns.filter((name) => names.has(name))
  }

  /** @returns the columns to add to the mapping */
  async #add(columns: readonly string[], changes: readonly ColumnChange[]): Promise<readonly string[]> {
    const names = this.#wanted(columns, changes)
    if (names.length === 0) return []
    try {
      const typed = await this.#typed()
      const { mapping: added, table } = await this.#sides.addColumns(names, typed, this.#signal)
      this.#gained = table.map((column) => ({ ...gain, column, to: typeIn(typed.source, column) }))
      if (this.#shape.destination) {
        this.#shape = { ...this.#shape, destination: await this.#sides.shapeOf('Destination', this.#signal) }
      }
      return added
    } catch (error) {
      const refusal = asConnectorError(error)
      if (!refusal || refusal.isTransient) throw error
      if (this.#state.drift === 'ignore' || this.#state.shape?.accepted?.length) {
        this.#isRefused = true
        return []
      }
      await this.#report(this.#changes())
      throw new ConnectorError('columns_changed', refusedSentenceOf(names, refusal.message), { side: 'Destination' })
    }
  }

  /** The shape with the types of both sides, which are requested only if columns are added. */
  async #typed(): Promise<Shape> {
    if (this.#state.drift !== 'ignore') return this.#shape
    const [source, destination] = [
      await this.#sides.shapeOf('Source', this.#signal),
      await this.#sides.shapeOf('Destination', this.#signal),
    ]
    return { source: source ?? this.#shape.source, destination }
  }

  /** Removes the columns that the destination does not have: from now on, the mapping names the others. */
  async #leaveOut(columns: readonly string[]): Promise<void> {
    if (!passesAll(this.#sides.mapping)) return
    const destination = this.#shape.destination ?? (await this.#sides.shapeOf('Destination', this.#signal))
    if (!destination || destination.count > destination.columns.length) return
    const has = new Set(destination.columns.map(({ name }) => name.toLowerCase()))
    const kept = columns.filter((name) => has.has(name.toLowerCase()))
    if (kept.length === 0 || kept.length === columns.length) return
    this.#sides.follow(JSON.stringify(Object.fromEntries(kept.map((name) => [name, name]))))
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

  /** The changes with the columns that the table got, which nothing else reports if its columns are not compared. */
  #withGained(changes: readonly ColumnChange[]): readonly ColumnChange[] {
    const isIn = ({ column }: ColumnChange) =>
      changes.some((one) => one.side === 'destination' && one.change === 'added' && same(one.column, column))
    return [...changes, ...this.#gained.filter((one) => !isIn(one))].slice(0, limits.columnChangesMax)
  }

  async #report(changes: readonly ColumnChange[]): Promise<void> {
    await this.#host.reportColumns({ shape: this.#shape, changes, added: [] })
  }
}

const gain = { side: 'destination', change: 'added', from: null } as const
const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** The names that a source gained, by being added or renamed. */
const gainedBy = (changes: readonly ColumnChange[], columns: readonly string[]): readonly string[] =>
  changes
    .flatMap(({ side, change, column, to }) =>
      side === 'source' ? (change === 'added' ? [column] : change === 'renamed' && to !== null ? [to] : []) : [],
    )
    .filter((name) => columns.includes(name))
