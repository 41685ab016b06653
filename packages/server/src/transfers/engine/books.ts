import type { Delivery, Json, Rejection, Row } from '@penstock/connector'
import type { Database, Transaction } from '../../db/database.ts'
import { makeDataKey, openDataKey } from '../../secrets/data-keys.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { type MasterKey, seal } from '../../secrets/seal.ts'
import { redactRow } from '../mapping/redact.ts'
import { endOf, type Load } from './batches.ts'
import { Lost } from './endings.ts'
import * as queries from './queries.ts'
import { rejectPlace } from './replay.ts'
import { storable } from './storable.ts'

/**
 * The books of one transfer: what was confirmed goes into the ledger together with the position behind it, the rejected
 * records, and the volumes that follow, in one transaction (invariants 9 and 10). Nothing else moves a position.
 */

/** What became of a load, or of a flush: all that the books must know of it, without its rows. */
export type Entry = {
  readonly read: number
  readonly sent: number
  readonly bytes: number
  readonly rejects: readonly Kept[]
  /** Where reading goes on behind it; a flush moves nothing. */
  readonly end: ReturnType<typeof endOf> | undefined
  readonly receipt: Json | undefined
  readonly memory: Json | undefined
}

type Kept = {
  readonly row: number | null
  readonly count: number
  readonly field: string | null
  readonly reason: string
  readonly raw: Row | undefined
}

/** The entry of a load that was delivered, or of which everything was unfit. */
export const entryOf = (load: Load, delivery: Delivery | undefined): Entry => ({
  read: load.covered,
  sent: delivery ? load.rows.length : 0,
  bytes: delivery?.bytes ?? 0,
  rejects: [...unfitOf(load), ...rejectedOf(load, delivery?.rejected)].sort(byRow),
  end: endOf(load),
  receipt: delivery?.receipt,
  memory: delivery?.memory,
})

/** The entry of a flush. What it rejects by index is of the last load that was held. */
export const flushEntryOf = (flushed: Delivery, lastHeld: Load | undefined): Entry => ({
  ...{ read: 0, sent: 0, bytes: flushed.bytes, end: undefined, receipt: flushed.receipt, memory: flushed.memory },
  rejects: rejectedOf(lastHeld, flushed.rejected).sort(byRow),
})

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
   * Stores what became of these loads, the last of which the destination just confirmed.
   * Throws `Lost` where the transfer is another worker's by now: nothing is stored then.
   * @returns the receipt that was stored, if there is one
   */
  async confirm(
    entries: readonly Entry[],
    progress: number | null,
    columns: readonly string[],
  ): Promise<Json | undefined> {
    const { id, attempt, accountId, connectionId, organizationId, trigger } = this.#work
    const rejects = entries.flatMap((entry) => entry.rejects)
    const total = (of: (entry: Entry) => number) => entries.reduce((sum, entry) => sum + of(entry), 0)
    const counts = {
      read: total(({ read }) => read),
      sent: total(({ sent }) => sent),
      bytes: total(({ bytes }) => bytes),
      rejected: rejects.reduce((sum, { count }) => sum + count, 0),
    }
    const accepted = counts.read - counts.rejected
    if (accepted < 0) throw new Error('A destination rejected more records than it was sent')
    const receipt = entries.findLast((entry) => entry.receipt !== undefined)?.receipt
    const memory = entries.findLast((entry) => entry.memory !== undefined)?.memory
    const { position, marker } = entries.findLast(({ end }) => end)?.end ?? {}
    const number = this.#entries + 1
    const kept = rejects.slice(0, Math.max(0, this.#rejectsMax - this.#keptRejects))
    await this.#db.transaction(async (tx) => {
      await queries.addAccountVolume.run(tx, { accountId, accepted })
      await queries.addConnectionVolume.run(tx, { connectionId, read: counts.read, accepted })
      const stored = await queries.confirmTransfer.run(tx, {
        ...{ id, attempt, ...counts, accepted, progress },
        position: position === undefined ? null : JSON.stringify(position),
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
    const names = columns.map(storable)
    const key = await this.#openDataKey(tx)
    await queries.insertRejects.run(tx, {
      transferId: id,
      after: this.#keptRejects,
      rows: rejects.map(({ row }) => row),
      counts: rejects.map(({ count }) => count),
      fields: rejects.map(({ field }) => (field === null ? null : storable(field))),
      reasons: rejects.map(({ reason }) => storable(reason)),
      records: rejects.map(({ raw }) => JSON.stringify(raw ? redactRow(names, raw) : {})),
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

const unfitOf = ({ unfit }: Load): Kept[] =>
  unfit.map(({ number, raw, fault }) => ({
    ...{ row: number, count: 1, field: fault.field ?? null, reason: fault.reason, raw },
  }))

/** Throws where a destination names a row that it was not sent. */
const rejectedOf = (load: Load | undefined, rejected: readonly Rejection[] = []): Kept[] =>
  rejected.map(({ index, count = 1, field = null, reason }) => {
    if (index === undefined) return { row: null, count, field, reason, raw: undefined }
    const row = load?.numbers[index]
    if (row === undefined) throw new Error('A destination rejected a record that it was not sent')
    return { row, count: 1, field, reason, raw: load?.raws[index] }
  })

/** In the order of the source; last what is only counted. */
const byRow = (a: Kept, b: Kept): number => (a.row ?? Infinity) - (b.row ?? Infinity)
