import { ConnectorError, type Json } from '@penstock/connector'
import type {
  BatchStart,
  ColumnReport,
  ConfirmArgument,
  Confirmation,
  DigestRecords,
  DivideArgument,
  DividedPart,
  KeptReject,
  OutcomePiece,
  RejectedKeysState,
  ReplayPage,
  StageDigestsArgument,
  TransferHost,
  TransferMethod,
  TransferState,
} from '@penstock/engine'
import type { RuleResult } from '@penstock/wire'
import type { Transaction } from '../../db/database.ts'
import { openDataKey } from '../../secrets/data-keys.ts'
import type { MasterKey } from '../../secrets/seal.ts'
import { openJson, places, sealJson } from '../sealed.ts'
import { type FrozenSides, openSide } from '../sides.ts'
import { openCarried } from './carried.ts'
import { deliveryStatesOf, findWork, type WorkRow } from './claim-queries.ts'
import { reportColumns } from './column-reports.ts'
import { assertCounts } from './confirmed-counts.ts'
import type { SupervisorDeps } from './deps.ts'
import { describeState } from './describe.ts'
import { KeptDigests } from './digests.ts'
import { divide, partsMax } from './divide.ts'
import { endingOf, Lost } from './endings.ts'
import { countKeptRejects } from './ledger-queries.ts'
import { LedgerWriter, numbersOf, type TransferKeys, transferKeys } from './ledger-writer.ts'
import { KeptOutcomes } from './outcomes.ts'
import { takePresentSettings } from './present-settings-queries.ts'
import * as queries from './queries.ts'
import { RejectBounds } from './reject-bounds.ts'
import * as replayQueries from './replays/queries.ts'
import { readReplayed } from './replays/read-replayed.ts'
import { openRejectedKeys } from './replays/rejected-keys.ts'
import type { Replay } from './replays/replays.ts'
import { rulesOf, saveRuleResults } from './rules.ts'
import { openPart, reportTableColumns } from './tables.ts'

/** Rejected records of one message to a runner. */
const replayRowsAtOnce = 1_000
const replayBytesAtOnce = 512 * 1024
/** Messages that may come ahead of a confirmation, or of a division; each is of a bounded size. */
const stagedMax = 200

/**
 * Answers what the runner of one part of a transfer asks, from the database. Every answer that changes something names the attempt,
 * so that a supervisor that lost the transfer changes nothing. Each rejects with the reason why the transfer ends.
 */
export class DatabaseTransferHost {
  readonly #deps: SupervisorDeps
  readonly #work: WorkRow
  readonly #sides: FrozenSides
  readonly #note: (text: string) => void
  #ledger: LedgerWriter | undefined
  #staged: (readonly KeptReject[])[] = []
  #stagedParts: (readonly DividedPart[])[] = []
  #digests: KeptDigests | undefined
  #outcomes: KeptOutcomes | undefined
  #stagedOutcomes: (readonly OutcomePiece[])[] = []
  /** Records of confirmed rows that came ahead of their confirmation. */
  #stagedRecords: string[] = []
  /** Whether the destination gave delivery states: it may drop the rows of a transfer that ends without success. */
  #hasDeliveryStates = false
  #replayKey: MasterKey | undefined
  #keys: TransferKeys | undefined

  /**
   * @param sides get the settings that the transfer takes later
   * @param note adds a line to the log of the transfer
   */
  constructor(deps: SupervisorDeps, work: WorkRow, sides: FrozenSides, note: (text: string) => void) {
    this.#note = note
    this.#deps = deps
    this.#work = work
    this.#sides = sides
  }

  async answer(method: TransferMethod, argument: unknown): Promise<unknown> {
    switch (method) {
      case 'open':
        return this.#open()
      case 'beginBatch':
        return this.#beginBatch(argument as BatchStart)
      case 'stageRejects':
        return this.#stageRejects(argument as readonly KeptReject[])
      case 'confirm':
        return this.#confirm(argument as ConfirmArgument)
      case 'reportRetry':
        return this.#reportRetry(argument as Parameters<TransferHost['reportRetry']>[0])
      case 'reportLine':
        // The log of the transfer takes it from the answered call.
        return undefined
      case 'reportColumns':
        return this.#reportColumns(argument as ColumnReport)
      case 'reportRules':
        return saveRuleResults(this.#deps.database, this.#work, argument as readonly RuleResult[])
      case 'readRejects':
        return this.#readRejects(argument as number)
      case 'rejectedKeys':
        return this.#rejectedKeys()
      case 'readDigests':
        return this.#digestsOf().read(argument as number)
      case 'doubtRows':
        return this.#digestsOf().doubt(argument as DigestRecords)
      case 'readKeys':
        return this.#digestsOf().readKeys(argument as number)
      case 'stageDigests':
        return this.#stageDigests(argument as StageDigestsArgument)
      case 'replaceDigests':
        return this.#digestsOf().replace(argument as { isEmpty: boolean })
      case 'stageOutcomes':
        return this.#stageOutcomes(argument as readonly OutcomePiece[])
      case 'stageParts':
        return this.#stageParts(argument as readonly DividedPart[])
      case 'divide':
        return this.#divide(argument as DivideArgument)
    }
  }

  async #open(): Promise<TransferState> {
    const { database, keyring, settings } = this.#deps
    // It was read just now, when the transfer was claimed; later it may have moved.
    const isFirst = this.#keys === undefined
    const found = await this.#present(isFirst ? this.#work : undefined)
    await this.#takeSettings(found)
    const isDescribed = found.parts === 1 && (await describeState(database, found, this.#sides, this.#note))
    const now = isDescribed ? await this.#present() : found
    const keys = transferKeys(keyring, now)
    this.#keys = keys
    const { transfer, connection } = keys
    const isNew = isFirst && now.attempt === 1 && now.parts === 1
    const entries = isNew ? [] : await deliveryStatesOf.all(database, { transferId: now.id, ...numbersOf(now) })
    const deliveryStates: Json[] = []
    for (const { number, deliveryStateSealed } of entries) {
      const place = places.deliveryState(now.id, number)
      const deliveryState = await openJson(database, transfer, place, deliveryStateSealed)
      if (deliveryState !== null) deliveryStates.push(deliveryState)
    }
    const kept = isNew ? undefined : await countKeptRejects.first(database, { transferId: now.id, ...numbersOf(now) })
    const keptRejects = kept?.kept ?? 0
    const replay = now.replayOf ? await this.#openReplay(now.replayOf) : undefined
    const { rejectsMax } = settings
    const lastReject = kept?.last ?? numbersOf(now).after
    const stored = { read: now.read, entries: entries.length, keptRejects, lastReject, rejectsMax }
    this.#ledger = new LedgerWriter(database, keys, now, stored, { replay, bounds: this.#rejectBounds(now) })
    this.#staged = []
    this.#stagedRecords = []
    this.#hasDeliveryStates = deliveryStates.length > 0
    const digests = now.parts === 1 ? await KeptDigests.open(database, now, connection, settings.limits) : undefined
    this.#digests = digests?.kept
    const { source, destination } = this.#sides
    this.#outcomes = await KeptOutcomes.open(this.#deps, now, this.#note)
    this.#stagedOutcomes = []
    const carried = await openCarried(database, keyring, now)
    const { srcConfig, destConfig, part } = await openPart(database, now, transfer)
    const placeOfCursor = places.cursor(now.connectionId, now.table)
    const use = { job: 'transfer', id: now.id }
    return {
      source: now.replayOf ? null : await openSide(this.#deps, source, use, srcConfig),
      destination: await openSide(this.#deps, destination, use, destConfig),
      replay: replay ? { columns: replay.columns, rows: replay.numbers.length } : null,
      confirmed: now.confirmed,
      testRows: now.testRows,
      range: now.backfill,
      attempt: now.attempt,
      read: now.read,
      rejected: now.rejected,
      checkpoint: await openJson(database, transfer, places.checkpoint(now.id, now.part), now.checkpointSealed),
      pending: now.pending ?? carried?.pending ?? null,
      // Under a corrected configuration, it is the same batch: its destination may be the same one at another address.
      announced: carried?.announced ?? (await this.#announcedOf(now, transfer)),
      unconfirmed: now.unconfirmed,
      columns: now.columns,
      startedTime: now.startedTime.toISOString(),
      cursor: now.backfill ? null : await openJson(database, connection, placeOfCursor, now.cursorSealed),
      reached: await openJson(database, connection, placeOfCursor, now.reachedSealed),
      state: await openJson(database, connection, places.state(now.connectionId), now.stateSealed),
      keysSalt: now.keysSalt,
      replaced: now.replaced,
      deliveryStates,
      part,
      table: now.table,
      plan: await openJson(database, transfer, places.plan(now.id), now.planSealed),
      divides: dividesOf(now, settings),
      rules: await rulesOf(database, now),
      purposes: now.purposes,
      outcomes: this.#outcomes?.common ?? null,
      drift: now.drift,
      shape: now.shape,
      // Of a replay it must be known of each record whether it was rejected again, kept or not.
      rejectsLeft: Math.max(0, settings.rejectsMax - keptRejects, (replay?.numbers.length ?? 0) - keptRejects),
      digests: digests?.state ?? null,
    }
  }

  #rejectBounds(work: WorkRow): RejectBounds | undefined {
    const { limits: keptLimits } = this.#deps.settings
    return keptLimits && new RejectBounds(keptLimits, work, this.#note)
  }

  /** The transfer as it is now, or as it was `read`. Throws `Lost` if it is another worker's. */
  async #present(read?: WorkRow): Promise<WorkRow> {
    const { database } = this.#deps
    const { id, part, parts, attempt } = this.#work
    const now = read ?? (await findWork.first(database, { id, part, parts }))
    if (!now || now.attempt !== attempt) throw new Lost()
    return now
  }

  /** Has both sides use the configuration that the transfer keeps, or the present one as long as nothing was confirmed. */
  async #takeSettings({ id, attempt, parts, srcChanged, destChanged, ...kept }: WorkRow): Promise<void> {
    const isChanged = parts === 1 && (srcChanged || destChanged)
    const taken = isChanged ? await takePresentSettings.first(this.#deps.database, { id, attempt }) : undefined
    const { source, destination } = this.#sides
    source.frozen.settings = (taken ?? kept).srcSettings
    destination.frozen.settings = (taken ?? kept).destSettings
  }

  /** The announcement of the batch that comes next; an older worker counts batches, and leaves that of an earlier one. */
  async #announcedOf({ id, part, read, pending, announcedSealed }: WorkRow, key: TransferKeys['transfer']) {
    if (pending === null) return null
    const opened = await openJson(this.#deps.database, key, places.announced(id, part), announcedSealed)
    const announced = opened as TransferState['announced']
    return announced?.rows || announced?.first === read + 1 ? announced : null
  }

  #reportColumns(report: ColumnReport): Promise<string | null> {
    const store = this.#work.table === null ? reportColumns : reportTableColumns
    return store(this.#deps.database, this.#work, report)
  }

  #stageParts(parts: readonly DividedPart[]): void {
    if (this.#stagedParts.length >= stagedMax) throw new Error('A runner divided a transfer into too much')
    this.#stagedParts.push(parts)
  }

  async #divide({ parts: last, start }: DivideArgument): Promise<never> {
    if (!this.#keys) throw new Error('A runner divided a transfer that it did not open')
    const parts = [...this.#stagedParts.flat(), ...last]
    return divide(this.#deps, this.#work, this.#keys, parts, start)
  }

  async #beginBatch(start: BatchStart): Promise<void> {
    this.#digests?.requireCapacity()
    const ending = endingOf(await this.#announce(start))
    if (ending) throw ending
  }

  async #announce({ pending, announced, columns, plan = null }: BatchStart): Promise<queries.StandingRow | undefined> {
    const { database } = this.#deps
    const { id, attempt, part, table } = this.#work
    const key = this.#keys?.transfer
    const candidate = columns && key?.candidate()
    const seals = plan !== null || announced !== undefined
    const opened = seals ? (candidate?.key ?? (await key?.open(database))) : undefined
    const sealAnnounced = (under: MasterKey | undefined) =>
      sealJson(under, places.announced(id, part), announced ?? null)
    const sealPlan = (under: MasterKey | undefined) => sealJson(under, places.plan(id), plan)
    const batch = { pending, announced: sealAnnounced(opened) }
    if (!columns) return queries.beginBatch.first(database, { ...queries.fenceOf(this.#work), ...batch })
    const ofSource = {
      sourceColumns: JSON.stringify(columns.source),
      columns: JSON.stringify(columns.destination),
      shape: columns.shape ? JSON.stringify(columns.shape) : null,
    }
    if (table !== null) {
      return queries.beginTable.first(database, { ...queries.fenceOf(this.#work), ...batch, ...ofSource })
    }
    const row = await queries.beginFirstBatch.first(database, {
      id,
      attempt,
      ...batch,
      ...ofSource,
      dataKeyId: candidate?.id ?? null,
      keyId: candidate?.keyId ?? null,
      sealed: candidate?.sealed ?? null,
      planSealed: sealPlan(opened),
    })
    if (candidate && row?.dataKeyId === candidate.id) key?.use(candidate)
    else if (candidate && row && seals && key) {
      await database.transaction(async (tx) => {
        const made = await key.make(tx)
        await queries.keepSealed.run(tx, {
          id,
          attempt,
          planSealed: sealPlan(made),
          announcedSealed: sealAnnounced(made),
        })
      })
    }
    return row
  }

  async #stageRejects(rejects: readonly KeptReject[]): Promise<void> {
    if (this.#staged.length >= stagedMax) throw new Error('A runner sent too many rejected records ahead')
    this.#staged.push(rejects)
  }

  /** Answers whether the batch that follows is begun. */
  async #confirm({ confirmation, next }: ConfirmArgument): Promise<boolean> {
    if (!this.#ledger) throw new Error('A runner confirmed before it opened its transfer')
    assertCounts(confirmation)
    const staged = this.#staged
    this.#staged = []
    // Columns come with the first batch of a session, before anything is confirmed.
    const following = next?.columns || this.#digests?.isFull ? undefined : next
    const standing = await this.#ledger.confirm(
      confirmation,
      staged,
      following ?? { pending: null },
      this.#keeping(confirmation),
    )
    return following !== undefined && endingOf(standing) === undefined
  }

  /** Stores the digests and the outcomes of a confirmation, if there are some. */
  #keeping({ digests, deliveryState, outcomes }: Confirmation): ((tx: Transaction) => Promise<void>) | undefined {
    const records = [...this.#stagedRecords, ...(digests === null ? [] : [digests])]
    const pieces = [...this.#stagedOutcomes.flat(), ...outcomes]
    this.#stagedRecords = []
    this.#stagedOutcomes = []
    if (deliveryState !== null) this.#hasDeliveryStates = true
    const [keptDigests, keptOutcomes] = [this.#digests, this.#outcomes]
    const isConditional = this.#hasDeliveryStates
    if (!(keptDigests && records.length > 0) && !(keptOutcomes && pieces.length > 0)) return undefined
    return async (tx) => {
      if (records.length > 0) await keptDigests?.confirm(tx, records, isConditional)
      // Last, since connections that record into one stream wait for each other from here to the commit.
      if (pieces.length > 0) await keptOutcomes?.confirm(tx, pieces)
    }
  }

  async #stageOutcomes(pieces: readonly OutcomePiece[]): Promise<void> {
    if (this.#stagedOutcomes.length >= stagedMax) throw new Error('A runner sent too many outcomes ahead')
    this.#stagedOutcomes.push(pieces)
  }

  #digestsOf(): KeptDigests {
    if (!this.#digests) throw new Error('A runner asked for digests of a connection that has none')
    return this.#digests
  }

  async #stageDigests({ records, keys, of }: StageDigestsArgument): Promise<void> {
    if (of !== 'confirmation') return this.#digestsOf().stage({ records, keys, isFirst: of === 'first page' })
    if (this.#stagedRecords.length >= stagedMax) throw new Error('A runner sent too many digests ahead')
    this.#stagedRecords.push(records)
  }

  async #reportRetry({ code, message, side }: Parameters<TransferHost['reportRetry']>[0]): Promise<void> {
    await queries.recordRetry.run(this.#deps.database, { ...queries.fenceOf(this.#work), code, message, side })
  }

  async #openReplay(transferId: string): Promise<Replay & { columns: readonly string[] }> {
    const { database, keyring } = this.#deps
    const replayed = await replayQueries.replayedTransfer.first(database, { transferId, replay: this.#work.id })
    this.#replayKey = replayed?.dataKeyId ? await openDataKey(database, keyring, replayed.dataKeyId) : undefined
    if (!this.#replayKey || !replayed?.sourceColumns) {
      const message = 'The rejected records are no longer kept: start a new transfer instead.'
      throw new ConnectorError('nothing_to_replay', message)
    }
    return { transferId, numbers: replayed.numbers, columns: replayed.sourceColumns }
  }

  async #rejectedKeys(): Promise<RejectedKeysState> {
    if (!this.#keys) throw new Error('A runner asked for keys before it opened its transfer')
    return openRejectedKeys(this.#deps.database, this.#keys.connection, this.#work.connectionId)
  }

  async #readRejects(after: number): Promise<ReplayPage> {
    const transferId = this.#work.replayOf
    const key = this.#replayKey
    if (!transferId || !key) throw new Error('A runner asked for rejected records of a transfer that sends none again')
    const kept = await replayQueries.replayedRejects.all(this.#deps.database, {
      transferId,
      replay: this.#work.id,
      number: after,
      limit: replayRowsAtOnce,
      bytes: replayBytesAtOnce,
    })
    return kept.map((row) => readReplayed(key, transferId, row))
  }
}

/** How a transfer may be divided: only before anything moved, and only once. */
function dividesOf(work: WorkRow, { parts }: SupervisorDeps['settings']): TransferState['divides'] {
  const { parts: before, replayOf, testRows, columns, checkpointSealed, read, pending, unconfirmed } = work
  const began = columns !== null || checkpointSealed !== null || read > 0 || (pending ?? unconfirmed) !== null
  if (before > 1 || parts.atOnce < 2 || replayOf !== null || testRows !== null || began) return null
  return { bytesMin: parts.bytesMin, partsMax }
}
