import { type Json, Outcome } from '@penstock/connector'
import type {
  Confirmation,
  HostMethod,
  KeptReject,
  OpenedSide,
  ReplayPage,
  TransferHost,
  TransferState,
} from '@penstock/engine'
import { openDataKey } from '../../secrets/data-keys.ts'
import type { MasterKey } from '../../secrets/seal.ts'
import { openJson, openText, places } from '../sealed.ts'
import { openSide } from '../sides.ts'
import { endingOf, Lost } from './endings.ts'
import { LedgerWriter, transferKeys } from './ledger-writer.ts'
import * as queries from './queries.ts'
import * as replayQueries from './replays/queries.ts'
import type { Replay } from './replays/replays.ts'
import type { SupervisorDeps } from './supervise.ts'

/** Rejected records of one message to a runner. */
const replayRowsAtOnce = 1_000
const replayBytesAtOnce = 512 * 1024
/** Parts of a confirmation that may come ahead of it; each is a message of a bounded size. */
const stagedPartsMax = 200

/**
 * Answers what the runner of one transfer asks, from the database. Every answer that changes something names the attempt,
 * so that a supervisor that lost the transfer changes nothing. Each rejects with the reason why the transfer ends.
 */
export class DatabaseTransferHost {
  readonly #deps: SupervisorDeps
  readonly #work: queries.WorkRow
  #ledger: LedgerWriter | undefined
  #staged: (readonly KeptReject[])[] = []
  #replayKey: MasterKey | undefined
  #isOpened = false

  constructor(deps: SupervisorDeps, work: queries.WorkRow) {
    this.#deps = deps
    this.#work = work
  }

  async answer(method: HostMethod, argument: unknown): Promise<unknown> {
    switch (method) {
      case 'open':
        return this.#open()
      case 'keepColumns':
        return this.#keepColumns(argument as Parameters<TransferHost['keepColumns']>[0])
      case 'beginBatch':
        return this.#beginBatch(argument as number | null)
      case 'stageRejects':
        return this.#stageRejects(argument as readonly KeptReject[])
      case 'confirm':
        return this.#confirm(argument as Confirmation)
      case 'reportRetry':
        return this.#reportRetry(argument as Parameters<TransferHost['reportRetry']>[0])
      case 'readRejects':
        return this.#readRejects(argument as number)
    }
  }

  get #fence() {
    return { id: this.#work.id, attempt: this.#work.attempt }
  }

  async #open(): Promise<TransferState> {
    const { database, keyring, catalogue, settings } = this.#deps
    // It was read just now, when the transfer was claimed; later it may have moved.
    const now = this.#isOpened ? await queries.findWork.first(database, { id: this.#work.id }) : this.#work
    if (!now || now.attempt !== this.#work.attempt) throw new Lost()
    this.#isOpened = true
    const keys = transferKeys(keyring, now)
    const { transfer, connection } = keys
    const isNew = now.attempt === 1 && now === this.#work
    const entries = isNew ? [] : await queries.receiptsOf.all(database, { transferId: now.id })
    const receipts: Json[] = []
    for (const { number, receiptSealed: sealed, receipt: plain } of entries) {
      const receipt = await openJson(database, transfer, places.receipt(now.id, number), { sealed, plain })
      if (receipt !== null) receipts.push(receipt)
    }
    const kept = isNew ? undefined : await queries.countKeptRejects.first(database, { transferId: now.id })
    const keptRejects = kept?.kept ?? 0
    const replay = now.replayOf ? await this.#openReplay(now.replayOf) : undefined
    const stored = { read: now.read, entries: entries.length, keptRejects, rejectsMax: settings.rejectsMax }
    this.#ledger = new LedgerWriter(database, keys, now, stored, replay)
    this.#staged = []
    const side = (connectorId: string, frozen: queries.WorkRow['srcSettings'], config: OpenedSide['settings']) =>
      openSide(this.#deps, catalogue.known(connectorId), now.accountId, config, frozen ?? undefined)
    return {
      source: now.replayOf ? null : await side(now.srcConnectorId, now.srcSettings, now.srcConfig),
      destination: await side(now.destConnectorId, now.destSettings, now.destConfig),
      replay: replay ? { columns: replay.columns, rows: replay.numbers.length } : null,
      confirmed: now.confirmed,
      read: now.read,
      position: await openJson(database, transfer, places.position(now.id), {
        ...{ sealed: now.positionSealed, plain: now.position },
      }),
      pending: now.pending,
      unconfirmed: now.unconfirmed,
      columns: now.columns,
      startedTime: now.startedTime.toISOString(),
      marker: await openJson(database, connection, places.marker(now.connectionId), {
        ...{ sealed: now.markerSealed, plain: now.marker },
      }),
      memory: await openJson(database, connection, places.memory(now.connectionId), {
        ...{ sealed: now.memorySealed, plain: now.memory },
      }),
      replaced: now.replaced,
      receipts,
      // Of a replay it must be known of each record whether it was rejected again, kept or not.
      rejectsRoom: Math.max(0, settings.rejectsMax - keptRejects, (replay?.numbers.length ?? 0) - keptRejects),
    }
  }

  async #keepColumns({ source, destination }: Parameters<TransferHost['keepColumns']>[0]): Promise<void> {
    const columns = { sourceColumns: JSON.stringify(source), columns: JSON.stringify(destination) }
    await queries.keepColumns.run(this.#deps.database, { ...this.#fence, ...columns })
  }

  async #beginBatch(pending: number | null): Promise<void> {
    const ending = endingOf(await queries.beginBatch.first(this.#deps.database, { ...this.#fence, pending }))
    if (ending) throw ending
  }

  async #stageRejects(rejects: readonly KeptReject[]): Promise<void> {
    if (this.#staged.length >= stagedPartsMax) throw new Error('A runner sent too many rejected records ahead')
    this.#staged.push(rejects)
  }

  async #confirm(confirmation: Confirmation): Promise<void> {
    if (!this.#ledger) throw new Error('A runner confirmed before it opened its transfer')
    assertCounts(confirmation)
    const staged = this.#staged
    this.#staged = []
    await this.#ledger.confirm(confirmation, staged)
  }

  async #reportRetry({ code, message, side }: Parameters<TransferHost['reportRetry']>[0]): Promise<void> {
    await queries.tellTrouble.run(this.#deps.database, { ...this.#fence, code, message, side })
  }

  async #openReplay(transferId: string): Promise<Replay & { columns: readonly string[] }> {
    const { database, keyring } = this.#deps
    const replayed = await replayQueries.replayedTransfer.first(database, { transferId, replay: this.#work.id })
    this.#replayKey = replayed?.dataKeyId ? await openDataKey(database, keyring, replayed.dataKeyId) : undefined
    if (!this.#replayKey || !replayed?.sourceColumns) {
      const message = 'The rejected records are no longer kept: start a new transfer instead.'
      throw new Outcome('failed', 'nothing_to_replay', message)
    }
    return { transferId, numbers: replayed.numbers, columns: replayed.sourceColumns }
  }

  async #readRejects(after: number): Promise<ReplayPage> {
    const transferId = this.#work.replayOf
    const key = this.#replayKey
    if (!transferId || !key) throw new Error('A runner asked for rejected records of a transfer that sends none again')
    const kept = await replayQueries.replayedRejects.all(this.#deps.database, {
      ...{ transferId, replay: this.#work.id, number: after, limit: replayRowsAtOnce, bytes: replayBytesAtOnce },
    })
    return kept.map(({ number, sealed }) => ({
      number,
      raw: openText(key, places.reject(transferId, number), sealed),
    }))
  }
}

/** A runner is not believed to count right. */
function assertCounts({ read, sent, rejected, bytes }: Confirmation): void {
  const counts = [read, sent, rejected, bytes]
  if (counts.some((count) => !Number.isSafeInteger(count) || count < 0) || rejected > read) {
    throw new Error('A runner confirmed counts that cannot be')
  }
}
