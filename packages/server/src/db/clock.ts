import type { Db } from './database.ts'
import { statement } from './statement.ts'

/**
 * The clock of the database. The clocks of processes can differ by hours. So every time that two processes compare, or that the
 * database compares, comes from the database.
 */

const readTime = statement<Record<never, never>, { now: Date }>(`select clock_timestamp() as now`)

/** The present time of the database. */
export async function databaseNow(db: Db): Promise<Date> {
  const row = await readTime.first(db, {})
  if (!row) throw new Error('The database did not say its time')
  return row.now
}

/**
 * The time of the database, for callers that need it too often for a statement. It is read from time to time, and extrapolated.
 */
export class DatabaseClock {
  readonly #db: Db
  #readMs = Number.NEGATIVE_INFINITY
  /** Offset of the monotonic counter of this process from the time of the database. */
  #behindMs = Number.NaN

  constructor(db: Db) {
    this.#db = db
  }

  /** Reads the time unless it was read within the last `withinMs` milliseconds. Rejects if the database does not answer. */
  async read(withinMs: number): Promise<void> {
    if (performance.now() - this.#readMs < withinMs) return
    const askedMs = performance.now()
    const now = await databaseNow(this.#db)
    this.#readMs = performance.now()
    this.#behindMs = now.getTime() - (askedMs + this.#readMs) / 2
  }

  /** The time. An invalid date before the first read. */
  now(): Date {
    return new Date(performance.now() + this.#behindMs)
  }
}
