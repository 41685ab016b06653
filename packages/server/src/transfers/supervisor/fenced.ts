import type { Db } from '../../db/database.ts'
import type { WorkRow } from './claim-queries.ts'
import * as partQueries from './part-queries.ts'
import * as queries from './queries.ts'

/** Statements of a worker about what it claimed, a transfer or a part of one, under its attempt. */

/** Entries of the ledger, and rejected records, of one part: those of part 3 have the numbers 3,000,001 and up. */
const numbersOfPart = 1_000_000
/** The most parts of a transfer, so that their numbers are integers of PostgreSQL. */
export const partsMax = 1_000

/** The numbers of the ledger entries and rejects of a transfer, or of a part of one: those above `after`, up to `until`. */
export const numbersOf = ({ part }: Pick<WorkRow, 'part'>): { readonly after: number; readonly until: number } =>
  part === 0 ? { after: 0, until: 2 ** 31 - 1 } : { after: part * numbersOfPart, until: (part + 1) * numbersOfPart - 1 }

type Claimed = Pick<WorkRow, 'id' | 'attempt' | 'part'>
type Retry = Omit<Parameters<typeof queries.recordRetry.run>[1], 'id' | 'attempt'>

/** The statements that a worker makes of its claim while it works on it. */
export function fenced({ id, attempt, part }: Claimed) {
  const whole = { id, attempt }
  const ofPart = { id, attempt, part }
  const isWhole = part === 0
  return {
    heartbeat: (db: Db) =>
      isWhole ? queries.heartbeat.first(db, whole) : partQueries.heartbeatOfPart.first(db, ofPart),
    beginBatch: (db: Db, pending: queries.PendingParameters) =>
      isWhole
        ? queries.beginBatch.first(db, { ...whole, ...pending })
        : partQueries.beginBatchOfPart.first(db, { ...ofPart, ...pending }),
    recordRetry: (db: Db, error: Retry) =>
      isWhole
        ? queries.recordRetry.run(db, { ...whole, ...error })
        : partQueries.recordRetryOfPart.run(db, { ...ofPart, ...error }),
    release: (db: Db) => (isWhole ? queries.releaseTransfer.run(db, whole) : partQueries.releasePart.run(db, ofPart)),
    requeueCrashed: (db: Db, crashesMax: number) =>
      isWhole
        ? queries.requeueCrashed.run(db, { ...whole, crashesMax })
        : partQueries.requeueCrashedPart.run(db, { ...ofPart, crashesMax }),
  }
}
