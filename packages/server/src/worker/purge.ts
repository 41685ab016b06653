import { limits } from '@penstock/wire'
import { purgeAccounts } from '../accounts/queries.ts'
import { deleteExpiredAuthorizations } from '../authorizations/queries.ts'
import { purgeConnections } from '../connections/queries.ts'
import type { Database } from '../db/database.ts'
import { deleteOldKeys } from '../http/idempotency.ts'
import { purgeDataKeys } from '../secrets/queries.ts'
import { deleteExpiredTokens } from '../tokens/queries.ts'
import { forgetDataKeys, purgeLedger, purgeRejects, purgeTransfers } from '../transfers/purge-queries.ts'

/** Rows of a kind that one statement removes; a longer one would hold locks for longer. */
const batchRows = 1_000
const accountBatchRows = 10
/** Rows on which nothing else depends. */
const leafBatchRows = 10_000

/** How many of each kind were removed. */
export type Purged = {
  rejects: number
  transfers: number
  dataKeys: number
  connections: number
  ledgerEntries: number
  accounts: number
  tokens: number
  authorizations: number
  idempotencyKeys: number
}

/**
 * Permanently removes what no one can ask for any more (invariant 5): connections and accounts that were deleted 30 days
 * ago with all that was theirs, rejected records that were kept long enough, expired tokens and authorizations, idempotency keys past their
 * window. If it is interrupted, the next run continues where it stopped.
 * @param rejectDays how long the rejected records of a transfer that has ended are kept
 */
export async function purge(database: Database, rejectDays: number): Promise<Purged> {
  const windowDays = limits.restoreWindowDays
  const windowHours = limits.idempotencyWindowHours
  const old = { days: rejectDays }
  const gone = { windowDays }
  // What hangs on a row goes before it: the row itself then takes little with it, and its statement is short.
  const rejects = await inBatches(leafBatchRows, (limit) => purgeRejects.run(database, { ...old, limit }))
  await inBatches(batchRows, (limit) => forgetDataKeys.run(database, { ...old, limit }))
  const transfers = await inBatches(batchRows, (limit) => purgeTransfers.run(database, { ...gone, limit }))
  const connections = await inBatches(batchRows, (limit) => purgeConnections.run(database, { ...gone, limit }))
  const ledgerEntries = await inBatches(leafBatchRows, (limit) => purgeLedger.run(database, { ...gone, limit }))
  const accounts = await inBatches(accountBatchRows, (limit) => purgeAccounts.run(database, { ...gone, limit }))
  return {
    ...{ rejects, transfers, connections, ledgerEntries, accounts },
    dataKeys: await inBatches(batchRows, (limit) => purgeDataKeys.run(database, { limit })),
    tokens: await inBatches(batchRows, (limit) => deleteExpiredTokens.run(database, { limit })),
    authorizations: await inBatches(batchRows, (limit) => deleteExpiredAuthorizations.run(database, { limit })),
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
