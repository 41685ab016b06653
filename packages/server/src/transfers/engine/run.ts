import type { Connector, Destination, DestinationContext, DestinationWriter, SourceReader } from '@penstock/connector'
import type { Catalogue } from '../../connectors/catalogue.ts'
import type { Database } from '../../db/database.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { movingEnds, openContext, type Reach, settingsOf } from '../ends.ts'
import { requireMapping } from '../map-rows.ts'
import { Books } from './books.ts'
import { guarded, ofConnector } from './connector-calls.ts'
import { endingOf } from './endings.ts'
import { type Patience, pause, Troubles } from './patience.ts'
import * as queries from './queries.ts'
import { openReplay } from './replay.ts'
import { type Begun, Session } from './session.ts'

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
    const waitMs = await run.go(troubles)
    if (waitMs === undefined) return
    await pause(waitMs, signal)
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

  /**
   * Opens both ends at the last confirmed position, and goes on from there to the end.
   * @returns how long to wait until another try, in milliseconds; nothing once all is done
   */
  async go(troubles: Troubles): Promise<number | undefined> {
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
      openWriter: (begun, ending) => this.#openWriter(now, begun, ending),
      planFor: (columns) => requireMapping(this.#destination, columns, settings),
      bounds: this.#deliver.batch(settings),
      replaces: this.#deliver.replaces?.(settings) ?? false,
      records: Object.keys(this.#destination.destination?.records ?? {}),
    })
    return session.run(receipts.flatMap(({ receipt }) => (receipt === null ? [] : [receipt])))
  }

  async #openReader(work: queries.WorkRow): Promise<SourceReader> {
    const { database, keyring } = this.#deps
    if (work.replayOf) return openReplay(database, keyring, work.replayOf)
    const end = { role: 'Source', settings: work.srcConfig } as const
    const context = await openContext(database, this.#deps, this.#source, work.accountId, end, this.#signal)
    const reader = await ofConnector(this.#signal, () => this.#open({ ...context, marker: work.marker ?? undefined }))
    return guarded(reader, this.#signal)
  }

  async #openWriter(work: queries.WorkRow, begun: Begun, signal = this.#signal): Promise<DestinationWriter> {
    const end = { role: 'Destination', settings: work.destConfig } as const
    const context: DestinationContext = {
      ...(await openContext(this.#deps.database, this.#deps, this.#destination, work.accountId, end, signal)),
      transferId: work.id,
      startedTime: work.startedTime.toISOString(),
      ...begun,
    }
    return ofConnector(signal, () => this.#deliver.open(context))
  }
}
