import {
  asOutcome,
  type Chunk,
  type Connector,
  type Destination,
  type DestinationContext,
  type DestinationWriter,
  type Json,
  Outcome,
  type SourceReader,
} from '@penstock/connector'
import type { Catalogue } from '../../connectors/catalogue.ts'
import type { Database } from '../../db/database.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { movingEnds, openContext, type Reach, settingsOf } from '../ends.ts'
import { type RowMapping, requireMapping } from '../map-rows.ts'
import { batchOf, beginning, fillLoads, halve, type Load, type Position } from './batches.ts'
import { Books, type Entry } from './books.ts'
import { endingOf, Stopped } from './endings.ts'
import { type Patience, Troubles } from './patience.ts'
import * as queries from './queries.ts'
import { openReplay } from './replay.ts'

/** What the engine works with. */
export type EngineDeps = {
  readonly database: Database
  readonly keyring: Keyring
  readonly catalogue: Catalogue
  readonly reach: Reach
  readonly settings: EngineSettings
}

export type EngineSettings = {
  readonly patience: Patience
  /** A worker that does not say for so long that it lives is dead. */
  readonly silenceMs: number
  /** Rejected records that are kept of one transfer; counts are never bounded. */
  readonly rejectsMax: number
  /** A transfer that replaces everything with less than this share of what the last one sent waits for confirmation. */
  readonly replaceShareMin: number
}

/**
 * Runs one transfer from where it stands to its end: read → map → batch → deliver → confirm.
 * Resolves once everything is delivered, confirmed and visible. Throws `Lost`, `Released` or `Stopped` where it ends
 * before, an `Outcome` where an end of the connection is to blame, and whatever else happened to our own database.
 * @param signal aborted with the reason why the run must end
 */
export async function runTransfer(deps: EngineDeps, work: queries.WorkRow, signal: AbortSignal): Promise<void> {
  const run = new Run(deps, work, signal)
  const troubles = new Troubles(deps.settings.patience)
  for (;;) {
    try {
      await run.go(troubles)
      return
    } catch (error) {
      if (!isOfTheEnds(error)) throw error
      await run.tell(error)
      await troubles.wait(error, signal)
    }
  }
}

/** Whether the connectors are to blame, and not our database or a stop. */
const isOfTheEnds = (error: unknown) => asOutcome(error) !== undefined || error instanceof ConnectorDefect

/** A connector threw something that is no outcome. */
class ConnectorDefect extends Error {
  override readonly name = 'ConnectorDefect'
}

/** Calls a connector: what it throws is told apart from what our own code throws. */
async function ofConnector<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  try {
    return await call()
  } catch (error) {
    signal.throwIfAborted()
    if (asOutcome(error)) throw error
    throw new ConnectorDefect('The connector met a defect of its own.', { cause: error })
  }
}

class Run {
  readonly #deps: EngineDeps
  readonly #work: queries.WorkRow
  readonly #signal: AbortSignal
  readonly #source: Connector
  readonly #destination: Connector
  readonly #deliver: Destination
  readonly #open: NonNullable<NonNullable<Connector['source']>['open']>

  constructor(deps: EngineDeps, work: queries.WorkRow, signal: AbortSignal) {
    const { source, destination, open, deliver } = movingEnds(deps.catalogue, work)
    this.#deps = deps
    this.#work = work
    this.#signal = signal
    this.#source = source
    this.#destination = destination
    this.#open = open
    this.#deliver = deliver
  }

  /** What the run meets, for whoever looks while it goes on trying. */
  async tell(error: unknown): Promise<void> {
    const { id, attempt } = this.#work
    const outcome = asOutcome(error)
    const message = `${outcome?.message ?? 'The connector met a defect of its own.'} Trying again.`
    await queries.tellTrouble.run(this.#deps.database, { id, attempt, code: outcome?.code ?? 'internal', message })
  }

  /** Opens both ends at the last confirmed position, and goes on from there to the end. */
  async go(troubles: Troubles): Promise<void> {
    const { database, keyring } = this.#deps
    const now = await queries.findWork.first(database, { id: this.#work.id })
    if (!now || now.attempt !== this.#work.attempt) throw endingOf(undefined)
    const receipts = await queries.receiptsOf.all(database, { transferId: now.id })
    const settings = settingsOf(this.#destination, 'Destination', now.destConfig)
    const kept = await queries.countKeptRejects.first(database, { transferId: now.id })
    const books = new Books(database, keyring, now, this.#deps.settings.rejectsMax, {
      entries: receipts.length,
      keptRejects: kept?.kept ?? 0,
    })
    const session = new Session(this.#deps, now, this.#signal, books, troubles, {
      openReader: () => this.#openReader(now),
      openWriter: (columns, given, memory) => this.#openWriter(now, columns, given, memory),
      planFor: (columns) => requireMapping(this.#destination, columns, settings),
      bounds: this.#deliver.batch(settings),
      replaces: this.#deliver.replaces?.(settings) ?? false,
      records: Object.keys(this.#destination.destination?.records ?? {}),
    })
    await session.run(receipts.flatMap(({ receipt }) => (receipt === null ? [] : [receipt])))
  }

  async #openReader(work: queries.WorkRow): Promise<SourceReader> {
    const { database, keyring } = this.#deps
    if (work.replayOf) return openReplay(database, keyring, work.replayOf)
    const end = { role: 'Source', settings: work.srcConfig } as const
    const context = await openContext(database, this.#deps, this.#source, work.accountId, end, this.#signal)
    return ofConnector(this.#signal, () => this.#open({ ...context, marker: work.marker ?? undefined }))
  }

  async #openWriter(
    work: queries.WorkRow,
    columns: readonly string[],
    receipts: readonly Json[],
    memory: Json | undefined,
  ): Promise<DestinationWriter> {
    const end = { role: 'Destination', settings: work.destConfig } as const
    const context: DestinationContext = {
      ...(await openContext(this.#deps.database, this.#deps, this.#destination, work.accountId, end, this.#signal)),
      transferId: work.id,
      startedTime: work.startedTime.toISOString(),
      columns,
      receipts,
      memory,
    }
    return ofConnector(this.#signal, () => this.#deliver.open(context))
  }
}

type Ends = {
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
class Session {
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
    for (;;) {
      const load = await next
      if (!load) break
      next = this.#pull(loads)
      // Its failure is met when its turn comes.
      next.catch(() => {})
      await this.#deliver(load)
    }
    const flushed = this.#held.length > 0 ? await this.#ask((writer) => writer.flush()) : undefined
    if (this.#held.length > 0) await this.#confirmHeld(flushed ?? { bytes: 0 })
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
      if (this.#held.length > 0) this.#held.push({ load, delivery: undefined })
      else await this.#confirm([{ load, delivery: undefined }])
      return
    }
    const batch = batchOf(load, id, this.#columns())
    for (;;) {
      try {
        const delivery = await this.#ask((writer) => writer.deliver(batch))
        this.#held.push({ load, delivery })
        if (!delivery.held) await this.#confirmHeld()
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
    const entry: Entry = { load, delivery: { bytes: 0, rejected: [{ index: 0, reason: message }] } }
    if (this.#held.length > 0) this.#held.push(entry)
    else await this.#confirm([entry])
  }

  async #confirmHeld(flushed?: Entry['delivery']): Promise<void> {
    const entries = this.#held
    const last = entries.at(-1)
    if (flushed && last) {
      entries[entries.length - 1] = {
        load: last.load,
        delivery: {
          ...last.delivery,
          ...flushed,
          bytes: (last.delivery?.bytes ?? 0) + flushed.bytes,
          rejected: [...(last.delivery?.rejected ?? []), ...(flushed.rejected ?? [])],
        },
      }
    }
    this.#held = []
    await this.#confirm(entries)
  }

  async #confirm(entries: readonly Entry[]): Promise<void> {
    const receipt = await this.#books.confirm(entries, this.#progressAfter(entries), this.#sourceColumns)
    if (receipt !== undefined) this.#receipts.push(receipt)
    this.#memory = entries.findLast(({ delivery }) => delivery?.memory !== undefined)?.delivery?.memory ?? this.#memory
    this.#troubles.forget()
  }

  #progressAfter(entries: readonly Entry[]): number | null {
    const total = this.#reader?.total
    const last = entries.at(-1)
    if (!total || !last) return null
    const bytes = last.load.segments.at(-1)?.bytes ?? 0
    const part = total.bytes
      ? bytes / total.bytes
      : total.rows
        ? (last.load.first + last.load.covered - 1) / total.rows
        : Number.NaN
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
