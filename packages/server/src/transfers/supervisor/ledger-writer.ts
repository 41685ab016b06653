import { acceptedOf, type BatchStart, type Confirmation, type KeptReject } from '@penstock/engine'
import type { Database, Db, Transaction } from '../../db/database.ts'
import { DataKey } from '../../secrets/data-keys.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { type MasterKey, type SealedPlace, seal } from '../../secrets/seal.ts'
import { textOfReasons } from '../reject-reasons.ts'
import { places, sealJson } from '../sealed.ts'
import type { WorkRow } from './claim-queries.ts'
import { Lost } from './endings.ts'
import * as queries from './ledger-queries.ts'
import { fenceOf, type StandingRow } from './queries.ts'
import type { RejectBounds } from './reject-bounds.ts'
import { supersede } from './replays/rejected-keys.ts'
import { type Replay, settleReplay } from './replays/replays.ts'

/** The keys that are used while a transfer runs: its own, and that of its connection for values that outlive it. */
export type TransferKeys = { readonly transfer: DataKey; readonly connection: DataKey }
type OpenedKeys = { readonly [Key in keyof TransferKeys]: MasterKey | undefined }

/** The keys of a transfer. A new key is stored with what it was made for. */
export const transferKeys = (
  keyring: Keyring,
  { id, attempt, connectionId, dataKeyId, connectionDataKeyId }: WorkRow,
): TransferKeys => ({
  transfer: new DataKey(keyring, dataKeyId, async (tx, made) => {
    if ((await queries.keepDataKey.run(tx, { id, attempt, dataKeyId: made })) === 0) throw new Lost()
  }),
  connection: new DataKey(keyring, connectionDataKeyId, (tx, made) =>
    queries.keepConnectionDataKey.run(tx, { connectionId, dataKeyId: made }),
  ),
})

/** The batch that may be delivered before it is confirmed. */
export type PendingBatch = Pick<BatchStart, 'pending' | 'announced'>

/** Ledger entries, and rejected records, of each of several parts: part 3 has the numbers from 3,000,001. */
const numbersOfPart = 1_000_000

/** The numbers of the ledger entries and rejects of a part: those above `after`, up to `until`. */
export const numbersOf = ({ part, parts }: Pick<WorkRow, 'part' | 'parts'>): { after: number; until: number } =>
  parts === 1
    ? { after: 0, until: 2 ** 31 - 1 }
    : { after: part * numbersOfPart, until: (part + 1) * numbersOfPart - 1 }

/** How much of a part is already stored, and how many rejects of the transfer may be stored. */
export type Stored = {
  readonly read: number
  readonly entries: number
  /** Of the transfer, with all its parts. */
  readonly keptRejects: number
  /** The number of the last one. */
  readonly lastReject: number
  readonly rejectsMax: number
}

/**
 * Writes what was confirmed of one part of a transfer: the ledger entry together with its checkpoint, the rejected records,
 * and the volumes that follow, all or nothing (invariants 9 and 10). Nothing else moves a checkpoint.
 */
export class LedgerWriter {
  readonly #db: Database
  readonly #keys: TransferKeys
  readonly #work: WorkRow
  readonly #replay: Replay | undefined
  readonly #bounds: RejectBounds | undefined
  #stored: Stored

  /**
   * @param replay what the transfer sends again, if it is a replay
   * @param bounds of the bytes of the rejected records that are kept
   */
  constructor(
    db: Database,
    keys: TransferKeys,
    work: WorkRow,
    stored: Stored,
    { replay, bounds }: { replay?: Replay | undefined; bounds?: RejectBounds | undefined } = {},
  ) {
    this.#bounds = bounds
    this.#db = db
    this.#keys = keys
    this.#work = work
    this.#stored = stored
    this.#replay = replay
  }

  /**
   * Stores a confirmation, with rejected records that came ahead of it, and announces the batch that follows.
   * @param pending that batch, if one is known
   * @param also stores what belongs to the confirmation, in its transaction
   * @returns whether the transfer may continue
   * @throws Lost if another worker has claimed the transfer: nothing is stored then
   */
  async confirm(
    confirmed: Confirmation,
    stagedRejects: readonly (readonly KeptReject[])[],
    pending: PendingBatch,
    also?: (tx: Transaction) => Promise<void>,
  ): Promise<StandingRow> {
    // The next transfer reads the rows of a test again, and a backfill is beside the cursor.
    const { testRows, backfill } = this.#work
    const confirmation = testRows === null && backfill === null ? confirmed : { ...confirmed, cursor: null }
    const rejects = [...stagedRejects, confirmation.rejects].filter((part) => part.length > 0)
    const { read, state, cursor } = confirmation
    const keys = { transfer: this.#keys.transfer.opened, connection: this.#keys.connection.opened }
    // One statement stores most batches: those without rejected records, under keys that were made before.
    const isOneStatement =
      rejects.length === 0 &&
      confirmed.superseded.length === 0 &&
      !this.#replay &&
      !also &&
      state === null &&
      keys.transfer &&
      (cursor === null || keys.connection)
    try {
      const [standing, kept] = isOneStatement
        ? [await this.#store(this.#db, confirmation, pending, keys), undefined]
        : await this.#storeWithRejects(confirmation, rejects, pending, also)
      const { read: readBefore, entries } = this.#stored
      this.#stored = { ...this.#stored, read: readBefore + read, entries: entries + 1, ...kept }
      return standing
    } catch (error) {
      throw queries.isOfLostTransfer(error) ? new Lost() : error
    }
  }

  /** Stores the ledger entry, the checkpoint and the volumes. */
  async #store(
    db: Db,
    confirmation: Confirmation,
    { pending, announced }: PendingBatch,
    keys: OpenedKeys,
  ): Promise<StandingRow> {
    const { read, sent, bytes, rejected, removed, skipped, progress, checkpoint, cursor, deliveryState } = confirmation
    const { id, part, table, accountId, connectionId, organizationId, trigger, testRows } = this.#work
    const accepted = acceptedOf({ read, rejected, skipped })
    const number = numbersOf(this.#work).after + this.#stored.entries + 1
    const standing = await queries.confirmBatch.first(db, {
      ...fenceOf(this.#work),
      accountId,
      connectionId,
      organizationId,
      number,
      pending,
      announced: sealJson(keys.transfer, places.announced(id, part), announced ?? null),
      read,
      sent,
      accepted,
      rejected,
      removed,
      ...skipped,
      bytes,
      progress,
      replay: trigger === 'replay',
      test: testRows !== null,
      checkpoint: sealJson(keys.transfer, places.checkpoint(id, part), checkpoint),
      cursor: sealJson(keys.connection, places.cursor(connectionId, table), cursor),
      deliveryState: sealJson(keys.transfer, places.deliveryState(id, number), deliveryState),
    })
    if (!standing) throw new Lost()
    return standing
  }

  /** The same with everything else that there may be, in one transaction; answers which rejects are kept then. */
  async #storeWithRejects(
    confirmation: Confirmation,
    rejects: readonly (readonly KeptReject[])[],
    pending: PendingBatch,
    also?: (tx: Transaction) => Promise<void>,
  ): Promise<[StandingRow, Pick<Stored, 'keptRejects' | 'lastReject'>]> {
    const { id, connectionId } = this.#work
    const { checkpoint, deliveryState, state, cursor } = confirmation
    const needsTransferKey =
      checkpoint !== null || deliveryState !== null || rejects.length > 0 || pending.announced !== undefined
    return this.#db.transaction(async (tx) => {
      const keys = {
        transfer: needsTransferKey ? await this.#keys.transfer.make(tx) : undefined,
        connection: cursor !== null || state !== null ? await this.#keys.connection.make(tx) : undefined,
      }
      const standing = await this.#store(tx, confirmation, pending, keys)
      await also?.(tx)
      await supersede(tx, this.#replay, confirmation.superseded)
      const sealedState = sealJson(keys.connection, places.state(connectionId), state)
      if (sealedState) await queries.saveState.run(tx, { connectionId, state: sealedState })
      let { keptRejects: kept, lastReject: last } = this.#stored
      // Other parts may keep some meanwhile; from here to the commit, none does.
      if (this.#work.parts > 1 && rejects.length > 0) kept = await keptOf(tx, this.#work)
      for (const some of rejects) {
        const most = some.slice(0, Math.max(0, this.#stored.rejectsMax - kept))
        if (most.length === 0 || !keys.transfer) break
        const few = this.#bounds ? await this.#bounds.fit(tx, most, kept) : most
        if (few.length === 0) continue
        await this.#keepRejects(tx, keys.transfer, few, last)
        kept += few.length
        last += few.length
      }
      if (this.#replay) {
        const before = { read: this.#stored.read, after: this.#stored.keptRejects }
        await settleReplay(tx, id, this.#replay, before, confirmation, rejects.flat())
      }
      return [standing, { keptRejects: kept, lastReject: last }]
    })
  }

  /** @param after the number of the last one that is kept */
  async #keepRejects(tx: Transaction, key: MasterKey, rejects: readonly KeptReject[], after: number): Promise<void> {
    const { id } = this.#work
    const sealed = (place: SealedPlace, text: string) => seal(key, place, text).toString('base64')
    await queries.insertRejects.run(tx, {
      transferId: id,
      after,
      rows: rejects.map(({ row }) => row),
      counts: rejects.map(({ count }) => count),
      fields: rejects.map(({ field }) => field),
      reasons: rejects.map((reject, i) => sealed(places.reason(id, after + i + 1), textOfReasons(reject))),
      records: rejects.map(({ record }) => record),
      sealed: rejects.map(({ raw }, i) => (raw === null ? null : sealed(places.reject(id, after + i + 1), raw))),
      structural: rejects.map(({ structural }) => structural),
      keys: rejects.map(({ key }) => key),
      superseded: rejects.map(({ superseded }) => (superseded ? 'delivered' : null)),
      places: rejects.map(({ place }) => place && JSON.stringify(place)),
    })
  }
}

/** How many rejects of a transfer are kept, with those of all its parts. */
const keptOf = async (tx: Transaction, work: WorkRow): Promise<number> =>
  (await queries.countKeptRejects.first(tx, { transferId: work.id, ...numbersOf(work) }))?.kept ?? 0
