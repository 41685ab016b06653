import type { Confirmation, KeptReject } from '@penstock/engine'
import type { Database, Transaction } from '../../db/database.ts'
import { makeDataKey, openDataKey } from '../../secrets/data-keys.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { type MasterKey, seal } from '../../secrets/seal.ts'
import { Lost } from './endings.ts'
import * as queries from './queries.ts'
import { type Replay, settleReplay } from './replays/replays.ts'

/** What a rejected record is sealed for. */
export const rejectPlace = (transferId: string, number: number) => ['reject', transferId, String(number)]

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
  readonly #keyring: Keyring
  readonly #work: queries.WorkRow
  readonly #replay: Replay | undefined
  #stored: Stored
  #dataKeyId: string | null
  #dataKey: MasterKey | undefined

  /** @param replay what the transfer sends again, where it is a replay */
  constructor(db: Database, keyring: Keyring, work: queries.WorkRow, stored: Stored, replay?: Replay) {
    this.#db = db
    this.#keyring = keyring
    this.#work = work
    this.#stored = stored
    this.#replay = replay
    this.#dataKeyId = work.dataKeyId
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
    const text = (json: unknown) => (json === null ? null : JSON.stringify(json))
    const keptRejects = await this.#db.transaction(async (tx) => {
      await queries.addAccountVolume.run(tx, { accountId, accepted })
      await queries.addConnectionVolume.run(tx, { connectionId, read, accepted })
      const stored = await queries.confirmTransfer.run(tx, {
        ...{ id, attempt, read, sent, bytes, rejected, accepted, progress },
        position: text(position),
        marker: text(marker),
      })
      if (stored === 0) throw new Lost()
      await queries.insertLedger.run(tx, {
        ...{ transferId: id, number, organizationId, accountId, connectionId, accepted, read, rejected, bytes },
        replayed: trigger === 'replay' ? accepted : 0,
        receipt: text(receipt),
      })
      if (memory !== null) await queries.rememberMemory.run(tx, { connectionId, memory: JSON.stringify(memory) })
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
    const key = await this.#openDataKey(tx)
    await queries.insertRejects.run(tx, {
      transferId: id,
      after,
      rows: rejects.map(({ row }) => row),
      counts: rejects.map(({ count }) => count),
      fields: rejects.map(({ field }) => field),
      reasons: rejects.map(({ reason }) => reason),
      records: rejects.map(({ record }) => record),
      sealed: rejects.map(({ raw }, i) =>
        raw === null ? null : seal(key, rejectPlace(id, after + i + 1), raw).toString('base64'),
      ),
    })
  }

  async #openDataKey(tx: Transaction): Promise<MasterKey> {
    if (this.#dataKey) return this.#dataKey
    if (this.#dataKeyId) {
      this.#dataKey = await openDataKey(tx, this.#keyring, this.#dataKeyId)
      return this.#dataKey
    }
    const { id: dataKeyId, key } = await makeDataKey(tx, this.#keyring)
    await queries.keepDataKey.run(tx, { id: this.#work.id, attempt: this.#work.attempt, dataKeyId })
    // Cached only once it is stored: a transaction that fails takes the key with it.
    tx.afterCommit(() => {
      this.#dataKey = key
      this.#dataKeyId = dataKeyId
    })
    return key
  }
}
