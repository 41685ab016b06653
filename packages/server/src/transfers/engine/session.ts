import {
  asOutcome,
  type Chunk,
  type DestinationWriter,
  type Json,
  Outcome,
  type SourceReader,
} from '@penstock/connector'
import type { RowMapping } from '../map-rows.ts'
import { batchOf, beginning, fillLoads, halve, type Load, type Position } from './batches.ts'
import { type Books, type Entry, entryOf, flushed } from './books.ts'
import { isOfTheEnds, ofConnector } from './connector-calls.ts'
import { endingOf, Stopped } from './endings.ts'
import type { Troubles } from './patience.ts'
import * as queries from './queries.ts'
import type { EngineDeps } from './run.ts'

/** How a session opens the ends of its connection, and what it must know of them. */
export type Ends = {
  openReader(): Promise<SourceReader>
  openWriter(
    columns: readonly string[],
    receipts: readonly Json[],
    memory: Json | undefined,
  ): Promise<DestinationWriter>
  planFor(columns: readonly string[]): RowMapping
  readonly bounds: { readonly rowsMax: number; readonly bytesMax: number }
  readonly replaces: boolean
  /** The destination’s own columns; none where it takes any. */
  readonly records: readonly string[]
}

/** One reader and one writer at work, until the end or the first trouble. */
export class Session {
  readonly #deps: EngineDeps
  readonly #work: queries.WorkRow
  readonly #signal: AbortSignal
  readonly #books: Books
  readonly #troubles: Troubles
  readonly #ends: Ends
  #reader: SourceReader | undefined
  #writer: DestinationWriter | undefined
  #receipts: Json[] = []
  #memory: Json | undefined
  #plan: RowMapping | undefined
  #sourceColumns: readonly string[] = []
  #held: Entry[] = []

  constructor(
    deps: EngineDeps,
    work: queries.WorkRow,
    signal: AbortSignal,
    books: Books,
    troubles: Troubles,
    ends: Ends,
  ) {
    this.#deps = deps
    this.#work = work
    this.#signal = signal
    this.#books = books
    this.#troubles = troubles
    this.#ends = ends
    this.#memory = work.memory ?? undefined
  }

  async run(receipts: readonly Json[]): Promise<void> {
    this.#receipts = [...receipts]
    try {
      await this.#deliverAll()
      await this.#finish()
    } catch (error) {
      if (error instanceof Stopped || isFinal(error) || this.#troubles.areOver) await this.#writer?.abort()
      throw error
    } finally {
      await Promise.all([this.#reader?.close(), this.#writer?.close()])
    }
  }

  async #deliverAll(): Promise<void> {
    const position = (this.#work.position ?? beginning) as Position
    if (this.#ends.replaces && this.#work.position === null) await this.#brake()
    this.#reader = await this.#ends.openReader()
    const loads = fillLoads(
      this.#reader,
      position,
      this.#work.read + 1,
      (chunk) => this.#mapperFor(chunk),
      () => this.#ends.bounds,
      this.#work.pending,
    )
    // The next load is read and mapped while this one is delivered.
    let next = this.#pull(loads)
    let last: Load | undefined
    for (;;) {
      const load = await next
      if (!load) break
      last = load
      next = this.#pull(loads)
      // Its failure is met when its turn comes.
      next.catch(() => {})
      await this.#deliver(load)
    }
    if (!last || this.#held.length === 0) return
    const said = await this.#ask((writer) => writer.flush())
    const entry = this.#held.pop() as Entry
    this.#held.push(said ? flushed(entry, said) : entry)
    await this.#confirmHeld(last)
  }

  async #pull(loads: AsyncGenerator<Load, void, undefined>): Promise<Load | undefined> {
    return ofConnector(this.#signal, async () => (await loads.next()).value ?? undefined)
  }

  /** The mapping follows from the columns, which the first chunk tells. */
  async #mapperFor(chunk: Chunk) {
    if (!this.#plan) {
      const { id, attempt } = this.#work
      this.#plan = this.#ends.planFor(chunk.columns)
      this.#sourceColumns = chunk.columns
      await queries.keepColumns.run(this.#deps.database, {
        ...{ id, attempt },
        sourceColumns: JSON.stringify(chunk.columns),
        columns: JSON.stringify(this.#plan.columns),
      })
    }
    return this.#plan.map
  }

  async #deliver(load: Load): Promise<void> {
    const { id, attempt } = this.#work
    // What is held comes again in other batches after a crash; what is not comes again as it is.
    const pending = this.#held.length > 0 ? null : load.covered
    const ending = endingOf(await queries.beginBatch.first(this.#deps.database, { id, attempt, pending }))
    if (ending) throw ending
    if (load.rows.length === 0) {
      await this.#note(load, entryOf(load))
      return
    }
    const batch = batchOf(load, id, this.#columns())
    for (;;) {
      try {
        const delivery = await this.#ask((writer) => writer.deliver(batch))
        this.#held.push(entryOf(load, delivery))
        if (!delivery.held) await this.#confirmHeld(load)
        return
      } catch (error) {
        const outcome = asOutcome(error)
        if (outcome?.instruction === 'split') {
          if (load.rows.length > 1) {
            for (const half of halve(load)) await this.#deliver(half)
          } else {
            await this.#reject(load, outcome)
          }
          return
        }
        // What is held must be read again; else the same batch goes to a new writer once the trouble has passed.
        if (this.#held.length > 0 || !isOfTheEnds(error)) throw error
        await queries.tellTrouble.run(this.#deps.database, {
          ...{ id, attempt, code: outcome?.code ?? 'internal' },
          message: `${outcome?.message ?? 'The connector met a defect of its own.'} Trying again.`,
        })
        await this.#troubles.wait(error, this.#signal)
        await this.#writer?.close()
        this.#writer = undefined
      }
    }
  }

  async #ask<T>(call: (writer: DestinationWriter) => Promise<T>): Promise<T> {
    this.#writer ??= await this.#ends.openWriter(this.#columns(), this.#receipts, this.#memory)
    const writer = this.#writer
    return ofConnector(this.#signal, () => call(writer))
  }

  #columns(): readonly string[] {
    return this.#plan?.columns ?? this.#work.columns ?? this.#ends.records
  }

  /** The destination refused the one record that is left of a batch. */
  async #reject(load: Load, { message }: Outcome): Promise<void> {
    await this.#note(load, entryOf(load, { bytes: 0, rejected: [{ index: 0, reason: message }] }))
  }

  /** Writes down what needs no confirmation; behind what is held, it waits with it. */
  async #note(load: Load, entry: Entry): Promise<void> {
    this.#held.push(entry)
    if (this.#held.length === 1) await this.#confirmHeld(load)
  }

  /** Stores what is held, and with it the position behind the load that came last. */
  async #confirmHeld(last: Load): Promise<void> {
    const entries = this.#held
    this.#held = []
    const receipt = await this.#books.confirm(entries, this.#progressAfter(last), this.#sourceColumns)
    if (receipt !== undefined) this.#receipts.push(receipt)
    this.#memory = entries.findLast(({ memory }) => memory !== undefined)?.memory ?? this.#memory
    this.#troubles.forget()
  }

  #progressAfter({ first, covered, segments }: Load): number | null {
    const total = this.#reader?.total
    const bytes = segments.at(-1)?.bytes ?? 0
    const part = total?.bytes ? bytes / total.bytes : total?.rows ? (first + covered - 1) / total.rows : Number.NaN
    return Number.isFinite(part) ? Math.min(1, Math.max(0, part)) : null
  }

  async #finish(): Promise<void> {
    const { id, attempt } = this.#work
    // Where nothing was sent there is nothing to make visible, unless nothing is what takes the place of everything.
    if (this.#receipts.length > 0 || this.#writer || this.#ends.replaces) await this.#ask((writer) => writer.finish())
    await this.#deps.database.transaction(async (tx) => {
      if (this.#ends.replaces) await queries.rememberReplaced.run(tx, { id })
      await queries.rememberMarker.run(tx, { id })
      const ended = await queries.endTransfer.run(tx, { id, attempt, status: 'succeeded', code: null, message: null })
      if (ended === 0) throw endingOf(undefined)
      await queries.dropReceipts.run(tx, { transferId: id })
    })
  }

  /** Counts what would take the place of everything, before anything is taken away. */
  async #brake(): Promise<void> {
    if (this.#work.confirmed || this.#work.replayOf) return
    const reader = await this.#ends.openReader()
    let fit = 0
    try {
      await ofConnector(this.#signal, async () => {
        let plan: RowMapping | undefined
        for await (const chunk of reader.read()) {
          plan ??= this.#ends.planFor(chunk.columns)
          const unfit = new Set([...(chunk.faults?.keys() ?? []), ...plan.map(chunk).faults.keys()])
          fit += chunk.rows.length - unfit.size
        }
      })
    } finally {
      await reader.close()
    }
    const last = this.#work.replaced ?? 0
    const least = Math.max(1, Math.ceil(last * this.#deps.settings.replaceShareMin))
    if (fit >= least) return
    throw new Outcome(
      'failed',
      'confirmation_needed',
      `This would replace everything that is there by ${fit} records${last > 0 ? `; the last time there were ${last}` : ''}. Nothing was changed: check the source, or start the transfer with "confirm": true.`,
    )
  }
}

/** Whether the transfer ends with it, so that what was begun at the destination can be taken away. */
function isFinal(error: unknown): boolean {
  const instruction = asOutcome(error)?.instruction
  return instruction === 'refused' || instruction === 'failed'
}
