import type { Confirmation, KeptReject } from '@penstock/engine'
import type { Database, Transaction } from '../../db/database.ts'
import { DataKey } from '../../secrets/data-keys.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { type Place, seal } from '../../secrets/seal.ts'
import { places, sealJson } from '../sealed.ts'
import { Lost } from './endings.ts'
import * as queries from './queries.ts'
import { type Replay, settleReplay } from './replays/replays.ts'

/** The keys that are used while a transfer runs: its own, and that of its connection for what outlives it. */
export type TransferKeys = { readonly transfer: DataKey; readonly connection: DataKey }

/** The keys of a transfer; what one that is made is kept for stores it. */
export const transferKeys = (
  keyring: Keyring,
  { id, attempt, connectionId, dataKeyId, connectionDataKeyId }: queries.WorkRow,
): TransferKeys => ({
  transfer: new DataKey(keyring, dataKeyId, async (tx, made) => {
    if ((await queries.keepDataKey.run(tx, { id, attempt, dataKeyId: made })) === 0) throw new Lost()
  }),
  connection: new DataKey(keyring, connectionDataKeyId, (tx, made) =>
    queries.keepConnectionDataKey.run(tx, { connectionId, dataKeyId: made }),
  ),
})

/** How much of a transfer is stored already, and how many of its rejects may be. */
export type Stored = {
  readonly read: number
  readonly entries: number
  readonly keptRejects: number
  readonly rejectsMax: number
}

/**
 * Writes what was confirmed of one transfer: the ledger entry together with the position behind it, the rejected records,
 * and the volumes that follow, in one transaction (invariants 9 and 10). Nothing else moves a position.
 */
export class LedgerWriter {
  readonly #db: Database
  readonly #keys: TransferKeys
  readonly #work: queries.WorkRow
  readonly #replay: Replay | undefined
  #stored: Stored

  /** @param replay what the transfer sends again, where it is a replay */
  constructor(db: Database, keys: TransferKeys, work: queries.WorkRow, stored: Stored, replay?: Replay) {
    this.#db = db
    this.#keys = keys
    this.#work = work
    this.#stored = stored
    this.#replay = replay
  }

  /**
   * Stores a confirmation, with rejected records that came ahead of it.
   * @throws Lost where the transfer is another worker's by now: nothing is stored then
   */
  async confirm(confirmation: Confirmation, stagedRejects: readonly (readonly KeptReject[])[]): Promise<void> {
    const { id, attempt, accountId, connectionId, organizationId, trigger } = this.#work
    const { read, sent, bytes, rejected, progress, position, marker, receipt, memory } = confirmation
    const accepted = read - rejected
    const number = this.#stored.entries + 1
    const rejects = [...stagedRejects, confirmation.rejects].filter((part) => part.length > 0)
    const { transfer, connection } = this.#keys
    const keptRejects = await this.#db.transaction(async (tx) => {
      await queries.addAccountVolume.run(tx, { accountId, accepted })
      await queries.addConnectionVolume.run(tx, { connectionId, read, accepted })
      const stored = await queries.confirmTransfer.run(tx, {
        ...{ id, attempt, read, sent, bytes, rejected, accepted, progress },
        position: await sealJson(tx, transfer, places.position(id), position),
        marker: await sealJson(tx, connection, places.marker(connectionId), marker),
      })
      if (stored === 0) throw new Lost()
      await queries.insertLedger.run(tx, {
        ...{ transferId: id, number, organizationId, accountId, connectionId, accepted, read, rejected, bytes },
        replayed: trigger === 'replay' ? accepted : 0,
        receipt: await sealJson(tx, transfer, places.receipt(id, number), receipt),
      })
      const sealedMemory = await sealJson(tx, connection, places.memory(connectionId), memory)
      if (sealedMemory) await queries.rememberMemory.run(tx, { connectionId, memory: sealedMemory })
      let kept = this.#stored.keptRejects
      for (const some of rejects) {
        const part = some.slice(0, Math.max(0, this.#stored.rejectsMax - kept))
        if (part.length === 0) break
        await this.#keepRejects(tx, part, kept)
        kept += part.length
      }
      if (this.#replay) {
        const before = { read: this.#stored.read, after: this.#stored.keptRejects }
        await settleReplay(tx, id, this.#replay, before, confirmation, rejects.flat())
      }
      return kept
    })
    this.#stored = { ...this.#stored, read: this.#stored.read + read, entries: number, keptRejects }
  }

  /** @param after how many are kept already */
  async #keepRejects(tx: Transaction, rejects: readonly KeptReject[], after: number): Promise<void> {
    const { id } = this.#work
    const key = await this.#keys.transfer.make(tx)
    const sealed = (place: Place, text: string) => seal(key, place, text).toString('base64')
    await queries.insertRejects.run(tx, {
      transferId: id,
      after,
      rows: rejects.map(({ row }) => row),
      counts: rejects.map(({ count }) => count),
      fields: rejects.map(({ field }) => field),
      reasons: rejects.map(({ reason }, i) => sealed(places.reason(id, after + i + 1), reason)),
      records: rejects.map(({ record }) => record),
      sealed: rejects.map(({ raw }, i) => (raw === null ? null : sealed(places.reject(id, after + i + 1), raw))),
    })
  }
}
