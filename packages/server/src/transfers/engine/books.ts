import type { Delivery, Json, Rejection, Row } from '@penstock/connector'
import type { Database, Transaction } from '../../db/database.ts'
import { makeDataKey, openDataKey } from '../../secrets/data-keys.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { type MasterKey, seal } from '../../secrets/seal.ts'
import { redactRow } from '../mapping/redact.ts'
import { endOf, type Load, type Position } from './batches.ts'
import { Lost } from './endings.ts'
import * as queries from './queries.ts'
import { rejectPlace } from './replay.ts'

/**
 * The books of one transfer: what was confirmed goes into the ledger together with the position behind it, the rejected
 * records, and the volumes that follow, in one transaction (invariants 9 and 10). Nothing else moves a position.
 */

/** What is written down of a load and its delivery; the records themselves are let go, but for the rejected ones. */
export type Entry = {
  readonly read: number
  readonly sent: number
  readonly bytes: number
  readonly rejects: readonly Kept[]
  readonly receipt: Json | undefined
  readonly memory: Json | undefined
  readonly position: Position
  readonly marker: Json | undefined
}

/** The entry of a load; without a delivery where nothing of it was fit to be sent. */
export function entryOf(load: Load, delivery?: Delivery): Entry {
  return {
    read: load.covered,
    sent: delivery ? load.rows.length : 0,
    bytes: delivery?.bytes ?? 0,
    rejects: rejectsOf(load, delivery?.rejected ?? []),
    receipt: delivery?.receipt,
    memory: delivery?.memory,
    ...endOf(load),
  }
}

/** The entry of records that a flush confirmed: what it said beside what was known of them. */
export const flushed = (entry: Entry, { bytes, rejected = [], receipt, memory }: Delivery): Entry => ({
  ...entry,
  bytes: entry.bytes + bytes,
  // The flush knows no batch, and so no row by its index.
  rejects: [
    ...entry.rejects,
    ...rejected.map(
      ({ count = 1, field = null, reason }): Kept => ({ row: null, count, field, reason, raw: undefined }),
    ),
  ],
  receipt: receipt ?? entry.receipt,
  memory: memory ?? entry.memory,
})

type Kept = { row: number | null; count: number; field: string | null; reason: string; raw: Row | undefined }

export class Books {
  readonly #db: Database
  readonly #keyring: Keyring
  readonly #work: queries.WorkRow
  readonly #rejectsMax: number
  #entries: number
  #keptRejects: number
  #dataKeyId: string | null
  #dataKey: MasterKey | undefined

  constructor(
    db: Database,
    keyring: Keyring,
    work: queries.WorkRow,
    rejectsMax: number,
    state: { entries: number; keptRejects: number },
  ) {
    this.#db = db
    this.#keyring = keyring
    this.#work = work
    this.#rejectsMax = rejectsMax
    this.#entries = state.entries
    this.#keptRejects = state.keptRejects
    this.#dataKeyId = work.dataKeyId
  }

  /**
   * Stores that these deliveries are confirmed, the last of which the destination just confirmed.
   * Throws `Lost` where the transfer is another worker's by now: nothing is stored then.
   * @returns the receipt that was stored, if there is one
   */
  async confirm(
    entries: readonly Entry[],
    progress: number | null,
    columns: readonly string[],
  ): Promise<Json | undefined> {
    const { id, attempt, accountId, connectionId, organizationId, trigger } = this.#work
    const last = entries.at(-1)
    if (!last) return undefined
    const sum = (count: (entry: Entry) => number) => entries.reduce((total, entry) => total + count(entry), 0)
    const rejects = entries.flatMap((entry) => entry.rejects)
    const counts = {
      read: sum(({ read }) => read),
      sent: sum(({ sent }) => sent),
      rejected: rejects.reduce((total, { count }) => total + count, 0),
      bytes: sum(({ bytes }) => bytes),
    }
    const receipt = entries.findLast((entry) => entry.receipt !== undefined)?.receipt
    const memory = entries.findLast((entry) => entry.memory !== undefined)?.memory
    const marker = entries.findLast((entry) => entry.marker !== undefined)?.marker
    const accepted = counts.read - counts.rejected
    if (accepted < 0) throw new Error('A destination rejected more records than it was sent')
    const { position } = last
    const number = this.#entries + 1
    const kept = rejects.slice(0, Math.max(0, this.#rejectsMax - this.#keptRejects))
    await this.#db.transaction(async (tx) => {
      await queries.addAccountVolume.run(tx, { accountId, accepted })
      await queries.addConnectionVolume.run(tx, { connectionId, read: counts.read, accepted })
      const stored = await queries.confirmTransfer.run(tx, {
        ...{ id, attempt, ...counts, accepted, progress },
        position: JSON.stringify(position),
        marker: marker === undefined ? null : JSON.stringify(marker),
      })
      if (stored === 0) throw new Lost()
      await queries.insertLedger.run(tx, {
        ...{ transferId: id, number, organizationId, accountId, connectionId, accepted },
        ...{ read: counts.read, rejected: counts.rejected, bytes: counts.bytes },
        replayed: trigger === 'replay' ? accepted : 0,
        receipt: receipt === undefined ? null : JSON.stringify(receipt),
      })
      if (memory !== undefined) await queries.rememberMemory.run(tx, { connectionId, memory: JSON.stringify(memory) })
      if (kept.length > 0) await this.#keepRejects(tx, kept, columns)
    })
    this.#entries = number
    this.#keptRejects += kept.length
    return receipt
  }

  async #keepRejects(tx: Transaction, rejects: readonly Kept[], columns: readonly string[]): Promise<void> {
    const { id } = this.#work
    const key = await this.#openDataKey(tx)
    await queries.insertRejects.run(tx, {
      transferId: id,
      after: this.#keptRejects,
      rows: rejects.map(({ row }) => row),
      counts: rejects.map(({ count }) => count),
      fields: rejects.map(({ field }) => field),
      reasons: rejects.map(({ reason }) => reason),
      records: rejects.map(({ raw }) => JSON.stringify(raw ? redactRow(columns, raw) : {})),
      sealed: rejects.map(({ raw }, i) =>
        raw ? seal(key, rejectPlace(id, this.#keptRejects + i + 1), JSON.stringify(raw)).toString('base64') : null,
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
    // Remembered only once it is stored: a transaction that fails takes the key with it.
    tx.afterCommit(() => {
      this.#dataKey = key
      this.#dataKeyId = dataKeyId
    })
    return key
  }
}

/** What was rejected of a load, on the way and by the destination, in the order of the source. */
function rejectsOf(load: Load, rejected: readonly Rejection[]): Kept[] {
  const byDestination = rejected.map(({ index, count = 1, field = null, reason }): Kept => {
    if (index === undefined) return { row: null, count, field, reason, raw: undefined }
    const row = load.numbers[index]
    if (row === undefined) throw new Error('A destination rejected a record that it was not sent')
    return { row, count: 1, field, reason, raw: load.raws[index] }
  })
  const onTheWay = load.unfit.map(
    ({ number, raw, fault }): Kept => ({
      row: number,
      count: 1,
      field: fault.field ?? null,
      reason: fault.reason,
      raw,
    }),
  )
  return [...onTheWay, ...byDestination].sort((a, b) => (a.row ?? Infinity) - (b.row ?? Infinity))
}
