import { limits } from '@penstock/wire'
import { purgeAccounts } from '../accounts/queries.ts'
import { purgeConnections } from '../connections/queries.ts'
import type { Database } from '../db/database.ts'
import { deleteOldKeys } from '../http/idempotency.ts'
import { deleteExpiredTokens } from '../tokens/queries.ts'

/** Rows of a kind that one statement removes; a longer one would hold locks for longer. */
const batchRows = 1_000
const accountBatchRows = 10

export type Purged = { connections: number; accounts: number; tokens: number; idempotencyKeys: number }

/**
 * Removes for good what nobody can ask for any more (invariant 5): connections and accounts that were deleted 30 days
 * ago, expired tokens, idempotency keys past their window. Interrupted, it goes on where it was the next time.
 */
export async function purge(database: Database): Promise<Purged> {
  const windowDays = limits.restoreWindowDays
  const windowHours = limits.idempotencyWindowHours
  return {
    connections: await inBatches(batchRows, (limit) => purgeConnections.run(database, { windowDays, limit })),
    accounts: await inBatches(accountBatchRows, (limit) => purgeAccounts.run(database, { windowDays, limit })),
    tokens: await inBatches(batchRows, (limit) => deleteExpiredTokens.run(database, { limit })),
    idempotencyKeys: await inBatches(batchRows, (limit) => deleteOldKeys.run(database, { windowHours, limit })),
  }
}

async function inBatches(limit: number, removeSome: (limit: number) => Promise<number>): Promise<number> {
  let removed = 0
  for (;;) {
    const batch = await removeSome(limit)
    removed += batch
    if (batch < limit) return removed
  }
}
