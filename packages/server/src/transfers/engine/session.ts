import {
  asOutcome,
  type Chunk,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  type Json,
  Outcome,
  type SourceReader,
} from '@penstock/connector'
import type { RowMapping } from '../map-rows.ts'
import { batchOf, beginning, fillLoads, halve, type Load, type Position } from './batches.ts'
import { type Books, type Entry, entryOf, flushEntryOf } from './books.ts'
import { checked, isOfTheEnds, ofConnector } from './connector-calls.ts'
import { endingOf, goesOn } from './endings.ts'
import { pause, type Troubles } from './patience.ts'
import * as queries from './queries.ts'
import { readAhead } from './read-ahead.ts'
import type { EngineDeps } from './run.ts'
import { storable } from './storable.ts'

/** How long a destination may take to end what was begun there: to take it away, or to make a file of what it confirmed. */
const takeAwayMs = 60_000

/** What a writer must know of what was delivered before it. */
export type Begun = Pick<DestinationContext, 'columns' | 'receipts' | 'memory'>

/** How a session opens the ends of its connection, and what it must know of them. */
export type Ends = {
  openReader(): Promise<SourceReader>
  /** @param signal that of the run unless given */
  openWriter(begun: Begun, signal?: AbortSignal): Promise<DestinationWriter>
  planFor(columns: readonly string[]): RowMapping
  readonly bounds: { readonly rowsMax: number; readonly bytesMax: number }
  readonly replaces: boolean
  /** The destination’s own columns; none where it takes any. */
  readonly records: readonly string[]
}

/** About as much of the source as is read ahead: what can be mapped while a part is put on a disk. */
const aheadBytes = 1536 << 10
const loadsAheadMax = 4

/** Of small batches several are read ahead, of large ones one, so that memory stays flat. */
const loadsAhead = ({ bytesMax }: Ends['bounds']): number =>
  Math.max(1, Math.min(loadsAheadMax, Math.floor(aheadBytes / bytesMax)))

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
  #lastHeld: Load | undefined
  /** Records of the source that are confirmed. */
  #read: number

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
    this.#read = work.read
  }

  /** @returns how long to wait until another try, in milliseconds; nothing once all is done */
  async run(receipts: readonly Json[]): Promise<number | undefined> {
    this.#receipts = [...receipts]
    try {
      await this.#assertMayGoOn()
      await this.#deliverAll()
      await this.#finish()
      return undefined
    } catch (error) {
      try {
        return await this.#tryAgain(error)
      } catch (end) {
        if (!goesOn(end)) await this.#takeAway()
        throw end
      }
    } finally {
      await Promise.all([this.#reader?.close(), this.#writer?.close()])
    }
  }

  /** It may have been stopped while nobody worked on it. */
  async #assertMayGoOn(): Promise<void> {
    const { id, attempt } = this.#work
    const ending = endingOf(await queries.beat.first(this.#deps.database, { id, attempt }))
    if (ending) throw ending
  }

  /**
   * Says what the run met, for whoever looks while it goes on trying, and how long to wait until then, in milliseconds.
   * Throws where the transfer ends with it.
   */
  async #tryAgain(error: unknown): Promise<number> {
    if (!isOfTheEnds(error)) throw error
    const waitMs = this.#troubles.meet(error)
    const { id, attempt } = this.#work
    const outcome = asOutcome(error)
    const message = `${storable(outcome?.message ?? 'The connector met a defect of its own.')} Trying again.`
    await queries.tellTrouble.run(this.#deps.database, { id, attempt, code: outcome?.code ?? 'internal', message })
    return waitMs
  }

  /** The transfer ended without success: what was confirmed stays, the rest is taken away, as far as that can be done. */
  async #takeAway(): Promise<void> {
    // Columns are kept before anything is begun; what was begun may be another worker's doing.
    if (!this.#writer && this.#work.columns === null) return
    try {
      // A writer that was stopped reaches nothing any more, and one that met a defect may know of more than is stored.
      await this.#writer?.close()
      const writer = await this.#ends.openWriter(this.#begun(), AbortSignal.timeout(takeAwayMs))
      await writer.abort()
      await writer.close()
    } catch {
      // Its destination does not answer, or does not let us in.
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
    // The next loads are read and mapped while this one is delivered.
    for await (const load of readAhead(loads, loadsAhead(this.#ends.bounds))) await this.#deliver(load)
    if (this.#receipts.length > 0 || this.#writer) await this.#flush()
  }

  /** The mapping follows from the columns, which the first chunk tells. */
  async #mapperFor(chunk: Chunk) {
    if (!this.#plan) {
      const { id, attempt } = this.#work
      this.#plan = this.#ends.planFor(chunk.columns)
      this.#sourceColumns = chunk.columns
      await queries.keepColumns.run(this.#deps.database, {
        ...{ id, attempt },
        sourceColumns: JSON.stringify(chunk.columns.map(storable)),
        columns: JSON.stringify(this.#plan.columns.map(storable)),
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
    if (load.rows.length === 0) return this.#addToHeld(entryOf(load, undefined))
    const sent = await this.#send(load)
    if (!(sent instanceof Outcome)) {
      this.#held.push(sent.entry)
      this.#lastHeld = load
      if (!sent.delivery.held) await this.#confirmHeld()
    } else if (load.rows.length > 1) {
      for (const half of halve(load)) await this.#deliver(half)
    } else {
      const rejected = [{ index: 0, reason: sent.message }]
      await this.#addToHeld(entryOf(load, { bytes: 0, rejected }))
    }
  }

  /** Sends the batch of a load, again and again while trouble passes; answers the outcome where it must be split. */
  async #send(load: Load): Promise<{ entry: Entry; delivery: Delivery } | Outcome> {
    const batch = batchOf(load, this.#work.id, this.#columns())
    for (;;) {
      try {
        return await this.#ask(async (writer) => {
          const delivery = checked(await writer.deliver(batch), batch)
          return { entry: entryOf(load, delivery), delivery }
        })
      } catch (error) {
        const outcome = asOutcome(error)
        if (outcome?.instruction === 'split') return outcome
        // What is held must be read again; else the same batch goes to a new writer once the trouble has passed.
        if (this.#held.length > 0) throw error
        const waitMs = await this.#tryAgain(error)
        await this.#writer?.close()
        this.#writer = undefined
        await pause(waitMs, this.#signal)
      }
    }
  }

  async #ask<T>(call: (writer: DestinationWriter) => Promise<T>): Promise<T> {
    this.#writer ??= await this.#ends.openWriter(this.#begun())
    const writer = this.#writer
    return ofConnector(this.#signal, () => call(writer))
  }

  #begun(): Begun {
    return { columns: this.#columns(), receipts: [...this.#receipts], memory: this.#memory }
  }

  #columns(): readonly string[] {
    return this.#plan?.columns ?? this.#work.columns ?? this.#ends.records
  }

  /** What did not go to the destination is confirmed with what it holds, so that positions keep their order. */
  async #addToHeld(entry: Entry): Promise<void> {
    this.#held.push(entry)
    if (this.#held.length === 1) await this.#confirmHeld()
  }

  /** Asked for even where nothing is held: what is written at the end must be known after a crash. */
  async #flush(): Promise<void> {
    const flushed = await this.#ask(async (writer) => {
      const delivery = await writer.flush()
      return delivery && flushEntryOf(delivery, this.#lastHeld)
    })
    if (flushed) this.#held.push(flushed)
    await this.#confirmHeld()
  }

  async #confirmHeld(): Promise<void> {
    const entries = this.#held
    if (entries.length === 0) return
    this.#held = []
    this.#lastHeld = undefined
    const receipt = await this.#books.confirm(entries, this.#progressAfter(entries), this.#sourceColumns)
    if (receipt !== undefined) this.#receipts.push(receipt)
    this.#memory = entries.findLast(({ memory }) => memory !== undefined)?.memory ?? this.#memory
    this.#troubles.forget()
  }

  /** How much of the source is done with, from 0 to 1, where that is known. */
  #progressAfter(entries: readonly Entry[]): number | null {
    const { bytes, rows } = this.#reader?.total ?? {}
    this.#read += entries.reduce((sum, { read }) => sum + read, 0)
    const readBytes = entries.findLast(({ end }) => end)?.end?.position.bytes
    const part = bytes ? (readBytes ?? Number.NaN) / bytes : rows ? this.#read / rows : Number.NaN
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
    let plan: RowMapping | undefined
    let fit = 0
    try {
      for await (const chunk of reader.read()) {
        plan ??= this.#ends.planFor(chunk.columns)
        const unfit = new Set([...(chunk.faults?.keys() ?? []), ...plan.map(chunk).faults.keys()])
        fit += chunk.rows.length - unfit.size
      }
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
