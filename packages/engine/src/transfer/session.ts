import { asConnectorError, type Chunk, type Json, type SourceReader } from '@penstock/connector'
import type { RowMapping } from '../map-rows.ts'
import { Ended, type TransferState } from '../protocol.ts'
import { isUnloadable } from '../unloadable.ts'
import { halve, isSent } from './batch-ends.ts'
import { type Announcement, withoutOthers } from './batch-keys.ts'
import { fillBatches } from './batches.ts'
import type { CarriedBatch } from './carried-batch.ts'
import { ColumnWatch } from './column-watch.ts'
import { type Entry, entryOf, flushEntryOf } from './confirmation.ts'
import { withoutSecretsInReasons } from './connector-calls.ts'
import { assertSameColumns, divisionOf } from './division.ts'
import { beginning, type Checkpoint, type FilledBatch } from './filled-batch.ts'
import { type HandoverDeps, handOver, handOverExport, notContinued, standingIn, whyNotHandedOver } from './handover.ts'
import { batchesAhead, readAhead } from './read-ahead.ts'
import { guardReplacement } from './replace-guard.ts'
import { reportRetry } from './report-retry.ts'
import { finalError } from './retries.ts'
import { type Route, sentenceOfRoute } from './route.ts'
import { Sender } from './sender.ts'
import type { SessionDeps } from './session-deps.ts'
import { SessionLedger } from './session-ledger.ts'
import { Sides } from './sides.ts'
import { SplitBudget } from './split-budget.ts'
import type { RepeatTools, RestTools } from './stages/stage.ts'
import { Stages, settingErrorsOf } from './stages/stages.ts'
import { listTables } from './tables.ts'

/** Whether another session can continue, so that nothing at the destination is removed. */
const continuesElsewhere = (end: unknown): boolean =>
  end instanceof Ended ? end.resumes : isUnloadable(end) || asConnectorError(end)?.action === 'reassign'

/** No batch is pending. */
const unannounced: Announcement = { pending: null }

/** The batch that was announced before this session began. */
const announcedBefore = ({ pending, announced }: TransferState): Announcement => ({
  pending,
  ...(announced && { announced }),
})

/** One reader and one writer, from the last confirmed checkpoint to the end or the first transient error. */
export class Session {
  readonly #deps: SessionDeps
  readonly #state: TransferState
  readonly #sides: Sides
  readonly #ledger: SessionLedger
  readonly #watch: ColumnWatch | undefined
  readonly #stages: Stages
  #reader: SourceReader | undefined
  readonly #sender: Sender
  /** Whether the platforms have moved all rows themselves. */
  #isHandedOver = false

  private constructor(deps: SessionDeps, state: TransferState, sides: Sides) {
    this.#deps = deps
    this.#state = state
    this.#sides = sides
    const openReader = () => sides.openReader(deps.signal)
    this.#stages = new Stages({ ...deps, state, sides, openReader }, (chunk) => this.#mappingFor(chunk))
    this.#ledger = new SessionLedger(deps.host, deps.retries, state, this.#stages, () => sides.plan)
    this.#sender = new Sender(deps, state, sides, this.#ledger)
    this.#watch = ColumnWatch.of(state, deps.host, sides, deps.signal)
  }

  /** Asks for the state of the transfer, and loads the connectors of both sides. */
  static async open(deps: SessionDeps): Promise<Session> {
    const state = withoutOthers(await deps.host.open())
    return new Session(deps, state, await Sides.load(deps.runtime, deps.host, state, settingErrorsOf))
  }

  /** @returns the wait until another session, in milliseconds; nothing if everything is done */
  async run(): Promise<number | undefined> {
    try {
      // The transfer may have been stopped while no runner worked on it. Incomplete data is removed anyway.
      if (this.#state.columns !== null) await this.#deps.host.beginBatch(announcedBefore(this.#state))
      await this.#deliverAll()
      await this.#finish()
      return undefined
    } catch (thrown) {
      try {
        // If a confirmation could not be stored, that is the reason, and not a later failure.
        await this.#ledger.settled()
        return await this.#reopenAfter(thrown)
      } catch (end) {
        if (!continuesElsewhere(end)) await this.#cleanUp()
        throw end
      }
    } finally {
      await Promise.all([this.#reader?.close(), this.#sender.close()])
    }
  }

  /** The wait until another session, in milliseconds. Throws the error if the transfer ends with it. */
  async #reopenAfter(error: unknown): Promise<number> {
    const decision = this.#sender.decide(error, 0)
    if (decision.do !== 'reopen') throw finalError(error)
    await reportRetry(this.#deps, error, decision.afterMs)
    return decision.afterMs
  }

  /** After an end without success: confirmed data stays at the destination, other data is removed as far as possible. */
  async #cleanUp(): Promise<void> {
    // Columns are stored before anything is begun at the destination, possibly by another runner.
    const { columns, part, attempt } = this.#state
    if (!this.#sender.isOpen && (columns === null || (part && attempt === 1))) return
    await this.#sender.cleanUp()
  }

  async #deliverAll(): Promise<void> {
    const { bounds, replaces } = this.#sides
    const { checkpoint, read } = this.#state
    const tables = await listTables(this.#deps.runtime, this.#state, this.#deps.signal)
    if (tables) await this.#deps.host.divide(tables, unannounced)
    await this.#watch?.ask()
    const route = await this.#routeRows()
    this.#isHandedOver = route !== undefined && route.by !== 'worker'
    if (this.#isHandedOver) return
    await this.#stages.open()
    this.#ledger.say(this.#stages.sentences)
    if (replaces && checkpoint === null) await guardReplacement(this.#sides, this.#state, this.#deps, this.#stages)
    this.#reader = await this.#openReader()
    await this.#divide(this.#reader)
    const announced = await this.#stages.opened(this.#reader, this.#state, this.#repeatTools)
    const filledBatches = fillBatches(this.#reader, {
      ...this.#state,
      ...announced,
      carried: this.#carried,
      from: (checkpoint ?? beginning) as Checkpoint,
      firstNumber: read + 1,
      mapperFor: (chunk, first) => this.#stages.mapperOf(chunk, first),
      windowOf: this.#sides.windowOf,
      bounds,
      notesBatches: this.#sides.notesBatches,
      lastNumber: this.#stages.lastNumber,
    })
    // The next batches are read and mapped while a batch is delivered.
    for await (const { item: filledBatch, following } of readAhead(filledBatches, batchesAhead(bounds))) {
      await this.#deliverFilled(filledBatch, new SplitBudget(filledBatch), following)
      if (!this.#writerHolds()) await this.#confirm(following())
    }
    await this.#ledger.settled()
    this.#stages.end()
    const { unconfirmed } = this.#ledger
    if (!this.#stages.holdsCursor) unconfirmed.releaseCursor()
    if (this.#hasDelivered) await this.#flush()
    else await this.#confirm()
    await this.#ledger.settled()
    await this.#deliverRest()
    if (!this.#stages.holdsCursor) return
    unconfirmed.releaseCursor()
    await this.#confirm()
    await this.#ledger.settled()
  }

  /** Opens the reader of the rows to send. They can be raw rows if no stage reads their values. */
  #openReader(cursor?: Json | null): Promise<SourceReader> {
    const route = this.#sides.rawRoute(this.#stages.readers)
    return this.#sides.openReader(this.#deps.signal, cursor, 'formats' in route ? route.formats : [])
  }

  /** How to repeat the batch that an earlier transfer announced, if there is one and nothing was confirmed since. */
  get #carried(): CarriedBatch | undefined {
    const { announced, read, cursor } = this.#state
    if (announced?.transferId === undefined || announced.rows || read > 0) return undefined
    return {
      openBehind: (behind) => this.#openReader(behind ?? cursor),
    }
  }

  /** How stages send announced batches again, before others. */
  get #repeatTools(): RepeatTools {
    const [ledger, sender] = [this.#ledger, this.#sender]
    return {
      begin: () => ledger.begin(unannounced),
      async send(batch) {
        const sent = await sender.send(batch, Promise.resolve())
        return 'refused' in sent ? undefined : sent
      },
      add: (entry, held) => ledger.unconfirmed.add(entry, held),
      settled: () => ledger.settled(),
    }
  }

  /** Sends the remaining batches of stages after all records of the source are confirmed. */
  async #deliverRest(): Promise<void> {
    const tools = (): RestTools => ({
      confirmed: this.#ledger.unconfirmed.confirmed,
      nameKeys: (keys) => this.#sender.nameKeys(keys),
      settled: () => this.#ledger.settled(),
    })
    for (const batches of this.#stages.rest(tools)) {
      for await (const batch of batches) {
        await this.#deliverFilled(batch, new SplitBudget(batch))
        if (!this.#writerHolds()) await this.#confirm()
      }
      await this.#ledger.settled()
      if (this.#hasDelivered) await this.#flush()
    }
  }

  readonly #mappingFor = async (chunk: Pick<Chunk, 'columns' | 'types'>): Promise<RowMapping> => {
    this.#deps.onProgress()
    await this.#watch?.read(chunk)
    const { mapping, newColumns } = await this.#sides.mapperFor(chunk)
    const { part } = this.#state
    // The columns of a part are stored with the transfer.
    if (part) assertSameColumns(part.columns, chunk.columns)
    else if (newColumns) this.#ledger.newColumns = { ...newColumns, ...(this.#watch && { shape: this.#watch.shape }) }
    return mapping
  }

  /** Decides which way the rows go, and has the platforms move them if they do that themselves. */
  async #routeRows(): Promise<Route | undefined> {
    const { checkpoint } = this.#state
    const began = standingIn(checkpoint) !== undefined
    // Rows of a worker may already be at the destination.
    if (!began && (checkpoint !== null || this.#state.pending !== null)) return undefined
    const { signal, job } = this.#deps
    const whyNot = whyNotHandedOver(this.#state)
    const route = await this.#sides.route(job.id, (columns) => this.#mappingFor({ columns }), whyNot, signal)
    const opened = route?.by === 'destination' ? await route.open() : undefined
    const taken = opened && 'whyNot' in opened ? { by: 'worker' as const, whyNot: opened.whyNot } : route
    this.#ledger.route = taken && sentenceOfRoute(taken, this.#sides.names)
    if (!taken || taken.by === 'worker') {
      if (began) throw notContinued(taken?.whyNot ?? 'the connectors have no other way')
      return taken
    }
    const deps: HandoverDeps = {
      ...this.#deps,
      state: this.#state,
      replaces: this.#sides.replaces,
      begin: async (group) => {
        await this.#deps.host.beginBatch({ ...this.#ledger.startOf(unannounced), ...group })
        this.#ledger.newColumns = undefined
      },
      confirm: async (entry, bytes) => {
        this.#ledger.unconfirmed.add(entry)
        await this.#confirm(undefined, { bytes })
      },
    }
    if (taken.by === 'source') await handOverExport(deps, taken)
    else if (opened && 'loader' in opened) await handOver(deps, taken, opened)
    return taken
  }

  /** Hands the transfer over to several workers, if both sides allow it: then it ends here with `Ended`. */
  async #divide(reader: SourceReader): Promise<void> {
    const mapColumns = (columns: readonly string[]) => this.#mappingFor({ columns })
    const division = await divisionOf(reader, this.#state, this.#sides, mapColumns)
    if (!division) return
    this.#ledger.say([division.sentence])
    if (!division.parts) return
    await this.#deps.host.divide(division.parts, this.#ledger.startOf(unannounced))
  }

  /**
   * @param budget of the batch that came from the source; its halves share it
   * @param following returns the next batch, if it is already read
   */
  async #deliverFilled(
    filledBatch: FilledBatch,
    budget: SplitBudget,
    following = (): FilledBatch | undefined => undefined,
  ): Promise<void> {
    const { window, left } = filledBatch
    // Only its checkpoint counts: something was begun at the platform, days have no rows, or all of its rows are skipped.
    if (!isSent(filledBatch)) {
      if (filledBatch.covered > 0 && this.#ledger.newColumns) await this.#ledger.begin(unannounced)
      return this.#ledger.unconfirmed.add(entryOf(filledBatch, undefined))
    }
    await this.#stages.sending(filledBatch, () => this.#ledger.settled())
    // After a crash, held records are sent again in other batches, as rows are that left the source, and the others in the same batch.
    const isSame = !left && !this.#writerHolds()
    const announced = isSame ? this.#sender.announcementOf(filledBatch, budget.announced(filledBatch)) : unannounced
    const begun = this.#ledger.begin(announced)
    // A writer may check the permit only when it is about to commit.
    begun.catch(() => {})
    // The destination must know the invalid rows of a window and its end.
    const isEmpty = filledBatch.rows.length === 0 && !window
    if (isEmpty || !this.#sender.overlaps) await begun
    if (isEmpty) return this.#addRefused(entryOf(filledBatch, undefined), budget)
    const sent = await this.#sender.send(filledBatch, begun)
    this.#deps.onProgress()
    if (!('refused' in sent)) {
      budget.accept()
      this.#ledger.unconfirmed.add(sent.entry, filledBatch)
      if (!sent.delivery.held) await this.#confirm(following())
      return
    }
    budget.refuse(sent.refused, filledBatch.rows.length)
    if (sent.do === 'split') {
      for (const half of halve(filledBatch)) await this.#deliverFilled(half, budget)
    } else {
      await this.#addRefused(
        entryOf(filledBatch, { bytes: 0, rejected: [{ index: 0, reason: sent.refused.message }] }),
        budget,
      )
    }
  }

  /** Whether the destination took rows in without confirming them. */
  #writerHolds(): boolean {
    return this.#ledger.unconfirmed.lastHeld !== undefined
  }

  /**
   * Rows that were not sent to the destination are confirmed together with the rows that it holds, so that checkpoints keep their
   * order. Refused rows are confirmed only after the destination accepted another row of the same batch. Until then the cause may
   * be something other than the rows.
   */
  async #addRefused(entry: Entry, budget: SplitBudget): Promise<void> {
    this.#ledger.unconfirmed.add(entry)
    if (!this.#writerHolds() && budget.isSettled) await this.#confirm()
  }

  /** Flushes even if no rows are held: data that is written at the end must be known after a crash. */
  async #flush(): Promise<void> {
    const flushed = await this.#sender.ask(async (writer, redact) => {
      const delivery = await writer.flush?.()
      return delivery && flushEntryOf(withoutSecretsInReasons(delivery, redact), this.#ledger.unconfirmed.lastHeld)
    })
    if (flushed) this.#ledger.unconfirmed.add(flushed)
    await this.#confirm()
    await this.#ledger.settled()
  }

  /**
   * Confirms delivered rows. Does not wait until they are stored if the next batch can be sent in the meantime.
   * @param next the next batch; it is announced in the same statement
   */
  async #confirm(next?: FilledBatch, totalOfFiles?: SourceReader['total']): Promise<void> {
    const { testRows } = this.#state
    const total = totalOfFiles ?? (testRows === null ? this.#reader?.total : { rows: testRows })
    const announcement = next && isSent(next) ? this.#sender.announcementOf(next) : undefined
    await this.#ledger.confirm(this.#sides.sourceColumns, total, announcement)
    if (!this.#sender.overlaps) await this.#ledger.settled()
  }

  /** Whether the destination has got anything in this transfer. */
  get #hasDelivered(): boolean {
    return this.#ledger.unconfirmed.stored.deliveryStates.length > 0 || this.#sender.isOpen
  }

  async #finish(): Promise<void> {
    if (this.#isHandedOver) return
    await this.#stages.finish()
    // Without sent rows, nothing must be made visible, except if a replacement has no rows.
    if (this.#hasDelivered || this.#sides.replaces) await this.#sender.ask(async (writer) => writer.finish?.())
  }
}
