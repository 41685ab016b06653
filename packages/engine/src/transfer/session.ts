import {
  asConnectorError,
  type Chunk,
  type Connector,
  type ConnectorError,
  type Delivery,
  type Destination,
  type DestinationContext,
  type DestinationWriter,
  type Json,
  type Row,
  type SourceReader,
  valueRedactor,
} from '@penstock/connector'
import { type Decision, decide } from '@penstock/wire/rules'
import { type RowMapping, requireMapping } from '../map-rows.ts'
import { type BatchStart, Ended, type TransferHost, type TransferJob, type TransferState } from '../protocol.ts'
import { type JobRuntime, openContext } from '../runtime.ts'
import { sideSettings } from '../settings.ts'
import type { SideSecrets } from '../side-secrets.ts'
import { storable } from '../storable.ts'
import { batchOf, beginning, type Checkpoint, type FilledBatch, fillBatches, halve } from './batches.ts'
import { confirmationOf, type Entry, entryOf, flushEntryOf } from './confirmation.ts'
import {
  checked,
  codeOf,
  guarded,
  isOfTheSides,
  ofConnector,
  sideOf,
  withoutSecretsInReasons,
} from './connector-calls.ts'
import { readAhead } from './read-ahead.ts'
import { guardReplace } from './replace-guard.ts'
import { readReplay } from './replay.ts'
import { finalError, pause, type Retries } from './retries.ts'
import { SplitBudget } from './split-budget.ts'

/** How long a destination may take after a failure to remove incomplete data, or to make a file of what it confirmed. */
const cleanUpMs = 30_000

/** Shorter values are not redacted: they may be words of our own messages. */
const valueLengthMin = 6

/** About as much of the source as is read ahead: what can be mapped while a part is put on a disk. */
const aheadBytes = 1536 << 10
const batchesAheadMax = 4

type Bounds = ReturnType<Destination['batch']>

/** Of small batches several are read ahead, of large ones one, so that memory stays flat. */
const batchesAhead = ({ bytesMax }: Bounds): number =>
  Math.max(1, Math.min(batchesAheadMax, Math.floor(aheadBytes / bytesMax)))

/** What a session works with. */
export type SessionDeps = {
  readonly job: TransferJob
  readonly runtime: JobRuntime
  readonly host: TransferHost
  readonly retries: Retries
  /** Aborted with `Ended` when the transfer must end. */
  readonly signal: AbortSignal
  /** Called whenever something moved: a chunk was read, a batch was delivered. */
  readonly onProgress: () => void
}

/** One reader and one writer at work, from the last confirmed checkpoint to the end or the first transient error. */
export class Session {
  readonly #deps: SessionDeps
  readonly #state: TransferState
  readonly #source: Connector | undefined
  readonly #destination: Connector
  readonly #deliver: Destination
  readonly #bounds: Bounds
  readonly #replaces: boolean
  #reader: SourceReader | undefined
  #writer: { readonly writer: DestinationWriter; readonly redact: SideSecrets['redact'] } | undefined
  readonly #deliveryStates: Json[]
  #connectionState: Json | undefined
  #plan: RowMapping | undefined
  #sourceColumns: readonly string[] = []
  /** Columns that are not stored yet: they go with the first batch. */
  #newColumns: BatchStart['columns']
  /** Whether the next batch was announced with what was confirmed last. */
  #isBegun = false
  #held: Entry[] = []
  #lastHeld: FilledBatch | undefined
  /** Rows of the source that are confirmed. */
  #read: number
  #rejectsLeft: number

  private constructor(
    deps: SessionDeps,
    state: TransferState,
    sides: { source: Connector | undefined; destination: Connector; deliver: Destination },
  ) {
    this.#deps = deps
    this.#state = state
    this.#source = sides.source
    this.#destination = sides.destination
    this.#deliver = sides.deliver
    this.#bounds = sides.deliver.batch(this.#destinationSettings)
    this.#replaces = sides.deliver.replaces?.(this.#destinationSettings) ?? false
    this.#deliveryStates = [...state.deliveryStates]
    this.#connectionState = state.state ?? undefined
    this.#read = state.read
    this.#rejectsLeft = state.rejectsLeft
  }

  /** Asks for the state of the transfer, and loads the connectors of both sides. */
  static async open(deps: SessionDeps): Promise<Session> {
    const state = await deps.host.open()
    const destination = await deps.runtime.loadConnector(state.destination.slug)
    const source = state.source ? await deps.runtime.loadConnector(state.source.slug) : undefined
    const deliver = destination.destination?.deliver
    if (!deliver || (source && !source.source?.open)) throw new Error('A side of this transfer moves no data')
    return new Session(deps, state, { source, destination, deliver })
  }

  get #destinationSettings() {
    return sideSettings(this.#destination, 'Destination', this.#state.destination.settings)
  }

  /** @returns how long to wait until another session, in milliseconds; nothing once all is done */
  async run(): Promise<number | undefined> {
    try {
      // It may have been stopped while no runner worked on it; then incomplete data is removed all the same.
      if (this.#state.columns !== null) await this.#deps.host.beginBatch({ pending: this.#state.pending })
      await this.#deliverAll()
      await this.#finish()
      return undefined
    } catch (error) {
      try {
        return await this.#reopenAfter(error)
      } catch (end) {
        if (!(end instanceof Ended && end.resumes)) await this.#cleanUp()
        throw end
      }
    } finally {
      await Promise.all([this.#reader?.close(), this.#writer?.writer.close()])
    }
  }

  /** Decides what to do about an error. Throws one that no side is to blame for. @param rows of the batch that it is about */
  #decide(error: unknown, rows: number): Decision {
    if (!isOfTheSides(error)) throw error
    const batch = rows > 1 ? 'rows' : rows === 1 ? 'row' : 'none'
    const retryAfterMs = this.#deps.retries.waitFor(error)
    return decide({ code: codeOf(error) }, { batch, holds: this.#writerHolds(), retryAfterMs })
  }

  /** How long to wait until another session, in milliseconds. Throws where the transfer ends with the error. */
  async #reopenAfter(error: unknown): Promise<number> {
    const decision = this.#decide(error, 0)
    if (decision.do !== 'reopen') throw finalError(error)
    await this.#reportRetry(error, decision.afterMs)
    return decision.afterMs
  }

  /** Counts a transient error, and shows it to people who look while the transfer retries. */
  async #reportRetry(error: unknown, waitMs: number): Promise<void> {
    this.#deps.retries.count(error)
    const message = `${storable(asConnectorError(error)?.message ?? 'The connector failed unexpectedly.')} Trying again.`
    await this.#deps.host.reportRetry({ code: codeOf(error), message, side: sideOf(error), waitMs })
  }

  /** After an end without success: what was confirmed stays at the destination, the rest is removed as far as possible. */
  async #cleanUp(): Promise<void> {
    // Columns are stored before anything is begun at the destination, possibly by another runner.
    if (!this.#writer && this.#state.columns === null) return
    try {
      // A writer that was stopped cannot connect any more, and one that met a defect may know of more than is stored.
      await this.#writer?.writer.close()
      const { writer } = await this.#openWriter(AbortSignal.timeout(cleanUpMs))
      await writer.abort()
      await writer.close()
    } catch {
      // Its destination does not answer, or does not let us in.
    }
  }

  async #deliverAll(): Promise<void> {
    const checkpoint = (this.#state.checkpoint ?? beginning) as Checkpoint
    if (this.#replaces && this.#state.checkpoint === null) await this.#guardReplace()
    this.#reader = await this.#openReader()
    const filledBatches = fillBatches(
      this.#reader,
      checkpoint,
      this.#state.read + 1,
      (chunk) => this.#mapperFor(chunk),
      () => this.#bounds,
      this.#state.pending,
      this.#state.unconfirmed,
    )
    // The next batches are read and mapped while this one is delivered.
    for await (const { item: filledBatch, following } of readAhead(filledBatches, batchesAhead(this.#bounds))) {
      await this.#deliverFilled(filledBatch, new SplitBudget(filledBatch.covered), following)
      if (!this.#writerHolds()) await this.#confirmHeld(following())
    }
    if (this.#deliveryStates.length > 0 || this.#writer) await this.#flush()
  }

  async #openReader(): Promise<SourceReader> {
    const { host, runtime, signal } = this.#deps
    const { source, replay, cursor } = this.#state
    if (replay) return readReplay(host, replay)
    const open = this.#source?.source?.open
    if (!source || !open || !this.#source) throw new Error('A transfer needs a source or rows to send again')
    const { context, redact } = openContext(runtime, this.#source, 'Source', source, signal)
    const reader = await ofConnector(signal, { side: 'Source', redact }, () =>
      open({ ...context, cursor: cursor ?? undefined }),
    )
    return guarded(reader, signal, redact)
  }

  /** @param signal that of the transfer unless given */
  async #openWriter(signal = this.#deps.signal): Promise<{ writer: DestinationWriter; redact: SideSecrets['redact'] }> {
    const { runtime, job } = this.#deps
    const opened = openContext(runtime, this.#destination, 'Destination', this.#state.destination, signal)
    const { redact } = opened
    const context: DestinationContext = {
      ...opened.context,
      transferId: job.id,
      startedTime: this.#state.startedTime,
      columns: this.#columns(),
      deliveryStates: [...this.#deliveryStates],
      state: this.#connectionState,
    }
    const writer = await ofConnector(signal, { side: 'Destination', redact }, () => this.#deliver.open(context))
    return { writer, redact }
  }

  #columns(): readonly string[] {
    return this.#plan?.columns ?? this.#state.columns ?? Object.keys(this.#destination.destination?.records ?? {})
  }

  #planFor(columns: readonly string[]): Promise<RowMapping> {
    return requireMapping(this.#destination, columns, this.#destinationSettings)
  }

  /** The mapping follows from the columns, which the first chunk has. */
  async #mapperFor(chunk: Chunk) {
    this.#deps.onProgress()
    if (!this.#plan) {
      this.#plan = await this.#planFor(chunk.columns)
      this.#sourceColumns = chunk.columns
      this.#newColumns = { source: chunk.columns.map(storable), destination: this.#plan.columns.map(storable) }
    }
    return this.#plan.map
  }

  /** Announces a batch, unless that was done with what was confirmed last. */
  async #begin(pending: number | null): Promise<void> {
    const isBegun = this.#isBegun
    this.#isBegun = false
    if (!isBegun) await this.#deps.host.beginBatch(this.#startOf(pending))
    this.#newColumns = undefined
  }

  #startOf(pending: number | null): BatchStart {
    return { pending, ...(this.#newColumns && { columns: this.#newColumns }) }
  }

  /**
   * @param budget of the batch that came from the source; halves of it share it
   * @param following answers the batch that comes next, where it is read already
   */
  async #deliverFilled(
    filledBatch: FilledBatch,
    budget: SplitBudget,
    following = (): FilledBatch | undefined => undefined,
  ): Promise<void> {
    // After a crash, held records are sent again in other batches, and the others in the same batch.
    await this.#begin(this.#writerHolds() ? null : (budget.covered ?? filledBatch.covered))
    if (filledBatch.rows.length === 0) return this.#addToHeld(entryOf(filledBatch, undefined), budget)
    const sent = await this.#send(filledBatch)
    this.#deps.onProgress()
    if (!('refused' in sent)) {
      budget.accept()
      this.#held.push(sent.entry)
      this.#lastHeld = filledBatch
      if (!sent.delivery.held) await this.#confirmHeld(following())
      return
    }
    budget.refuse(sent.refused, filledBatch.rows.length)
    if (sent.do === 'split') {
      for (const half of halve(filledBatch)) await this.#deliverFilled(half, budget)
    } else {
      await this.#addToHeld(
        entryOf(filledBatch, { bytes: 0, rejected: [{ index: 0, reason: sent.refused.message }] }),
        budget,
      )
    }
  }

  /** Whether the destination took rows in without confirming them. */
  #writerHolds(): boolean {
    return this.#lastHeld !== undefined
  }

  /** Sends a batch, and retries it while errors are transient. Returns the refusal where the batch is split or rejected. */
  async #send(
    filledBatch: FilledBatch,
  ): Promise<{ entry: Entry; delivery: Delivery } | { refused: ConnectorError; do: 'split' | 'reject' }> {
    const { id: transferId, connectionId } = this.#deps.job
    const settings = [this.#state.source?.settings ?? null, this.#state.destination.settings]
    const batch = batchOf(filledBatch, { transferId, connectionId, settings }, this.#columns())
    for (;;) {
      try {
        return await this.#ask(async (writer, redact) => {
          const delivery = checked(await writer.deliver(batch), batch, redact)
          return { entry: entryOf(filledBatch, delivery), delivery }
        }, batch.rows)
      } catch (error) {
        const decision = this.#decide(error, filledBatch.rows.length)
        const refused = asConnectorError(error)
        if (refused && (decision.do === 'split' || decision.do === 'reject')) return { refused, do: decision.do }
        if (decision.do !== 'resend') throw error
        await this.#reportRetry(error, decision.afterMs)
        await this.#writer?.writer.close()
        this.#writer = undefined
        await pause(decision.afterMs, this.#deps.signal)
      }
    }
  }

  /** @param rows that are sent; their values are removed from the error */
  async #ask<T>(
    call: (writer: DestinationWriter, redact: SideSecrets['redact']) => Promise<T>,
    rows: readonly Row[] = [],
  ): Promise<T> {
    // Columns are stored before anything is begun at the destination, so that it is found after a crash.
    if (this.#newColumns) await this.#begin(null)
    this.#writer ??= await this.#openWriter()
    const { writer, redact } = this.#writer
    const withoutValues = (text: string) => redact(valueRedactor(rows, valueLengthMin)(text))
    return ofConnector(this.#deps.signal, { side: 'Destination', redact: withoutValues }, () => call(writer, redact))
  }

  /**
   * What did not go to the destination is confirmed with what it holds, so that checkpoints keep their order; refused rows
   * only once the destination took another row of the same batch, since until then the rows may not be to blame.
   */
  async #addToHeld(entry: Entry, budget: SplitBudget): Promise<void> {
    this.#held.push(entry)
    if (!this.#writerHolds() && budget.isSettled) await this.#confirmHeld()
  }

  /** Flushes even where nothing is held: what is written at the end must be known after a crash. */
  async #flush(): Promise<void> {
    const flushed = await this.#ask(async (writer, redact) => {
      const delivery = await writer.flush()
      return delivery && flushEntryOf(withoutSecretsInReasons(delivery, redact), this.#lastHeld)
    })
    if (flushed) this.#held.push(flushed)
    await this.#confirmHeld()
  }

  /** @param next the batch that follows; it is announced in the same statement */
  async #confirmHeld(next?: FilledBatch): Promise<void> {
    const entries = this.#held
    if (entries.length === 0) return
    this.#held = []
    this.#lastHeld = undefined
    const progress = this.#progressAfter(entries)
    const confirmation = confirmationOf(entries, progress, this.#sourceColumns, this.#rejectsLeft)
    this.#isBegun = await this.#deps.host.confirm(confirmation, next && this.#startOf(next.covered))
    this.#rejectsLeft -= confirmation.rejects.length
    if (confirmation.deliveryState !== null) this.#deliveryStates.push(confirmation.deliveryState)
    this.#connectionState = confirmation.state ?? this.#connectionState
    this.#deps.retries.reset()
  }

  /** How much of the source is done, from 0 to 1, where that is known. */
  #progressAfter(entries: readonly Entry[]): number | null {
    const { bytes, rows } = this.#reader?.total ?? {}
    this.#read += entries.reduce((sum, { read }) => sum + read, 0)
    const readBytes = entries.findLast(({ end }) => end)?.end?.checkpoint.bytes
    const part = bytes ? (readBytes ?? Number.NaN) / bytes : rows ? this.#read / rows : Number.NaN
    return Number.isFinite(part) ? Math.min(1, Math.max(0, part)) : null
  }

  async #finish(): Promise<void> {
    // Where nothing was sent there is nothing to make visible, except in a replacement of everything by nothing.
    if (this.#deliveryStates.length > 0 || this.#writer || this.#replaces) await this.#ask((writer) => writer.finish())
  }

  /** Counts the rows of a replacement, before anything is removed. */
  async #guardReplace(): Promise<void> {
    const { confirmed, replay, replaced } = this.#state
    if (confirmed || replay) return
    const { onProgress, job } = this.#deps
    const planFor = (columns: readonly string[]) => this.#planFor(columns)
    await guardReplace(await this.#openReader(), { planFor, onProgress, replaced, shareMin: job.replaceShareMin })
  }
}
