import type { OpenedStream, StreamStart } from '@penstock/connector'
import type { EventBatch } from '@penstock/engine'
import type { Db } from '../db/database.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { type MasterKey, unseal } from '../secrets/seal.ts'
import * as queries from './consume-queries.ts'
import { batchPlace } from './lines.ts'
import { columnsOf } from './open-queries.ts'

/** Reads the events of a stream, for the jobs that deliver them. */

/** Batches in one message, and their bytes. A batch is never divided. */
const batchesAtOnce = 64
const bytesAtOnce = 384 * 1024
const newestAtOnce = 16

/** The stream of a configuration as a job reads it: up to its end when it was opened. */
export class ConsumedStream {
  readonly #id: string
  readonly #number: number
  readonly #key: MasterKey
  #removed: number

  constructor(of: { id: string; number: number; key: MasterKey; removed: number }) {
    this.#id = of.id
    this.#number = of.number
    this.#key = of.key
    this.#removed = of.removed
  }

  /** Batches with events after a number. Throws `Unreadable` if one was altered. */
  async after(db: Db, after: number): Promise<EventBatch[]> {
    const of = { stream: this.#number, after, removed: this.#removed, limit: batchesAtOnce }
    return this.#opened(await queries.batchesAfter.all(db, of))
  }

  /** The newest batches, in the order of their numbers. */
  async newest(db: Db): Promise<EventBatch[]> {
    const of = { stream: this.#number, removed: this.#removed, limit: newestAtOnce }
    return this.#opened(await queries.newestBatches.all(db, of)).toSorted((a, b) => a.first - b.first)
  }

  #opened(rows: readonly queries.BatchRow[]): EventBatch[] {
    const batches: EventBatch[] = []
    let bytes = 0
    for (const { firstNumber: first, count, sealed } of rows) {
      bytes += sealed.length
      if (batches.length > 0 && bytes > bytesAtOnce) break
      const lines = unseal(this.#key, batchPlace(this.#id, first, count), sealed)
      batches.push({ first, count, lines: lines.toString('base64') })
    }
    return batches
  }
}

/**
 * Opens the stream of a configuration at a start. A configuration that never had a write key has an empty stream.
 * @returns the stream, and what can be read of it. `consumed` is omitted if the stream is empty
 */
export async function openConsumed(
  { database, keyring }: { readonly database: Db; readonly keyring: Keyring },
  { id, accountId }: { readonly id: string; readonly accountId: string },
  start: StreamStart,
): Promise<{ opened: OpenedStream; consumed?: ConsumedStream }> {
  const found = await queries.findConsumed.first(database, { id, accountId })
  const key = found && (await openDataKey(database, keyring, found.dataKeyId))
  if (!found || !key) return { opened: { id, last: 0, removed: 0, begin: 0, columns: [] } }
  const { number, lastNumber: last, removedNumber: removed } = found
  const columns = await columnsOf.all(database, { stream: number })
  const begin = await beginOf(database, { number, last, removed }, start)
  return {
    opened: { id, last, removed, begin, columns },
    consumed: new ConsumedStream({ id, number, key, removed }),
  }
}

async function beginOf(
  db: Db,
  { number, last, removed }: { number: number; last: number; removed: number },
  start: StreamStart,
): Promise<number> {
  if (start.at !== 'time') return start.at === 'newest' ? last : removed
  const found = await queries.numberBefore.first(db, { stream: number, time: new Date(start.ms) })
  return Math.min(last, Math.max(removed, found?.before ?? last))
}
