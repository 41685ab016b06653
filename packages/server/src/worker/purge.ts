import { limits } from '@penstock/wire'
import { purgeAccounts } from '../accounts/queries.ts'
import { purgeDeliveries } from '../alerts/delivery-queries.ts'
import { purgeIncidents } from '../alerts/incident-queries.ts'
import { purgeAudit } from '../audit/audit.ts'
import { record, serviceActor } from '../audit/record.ts'
import { deleteExpiredAuthorizations } from '../authorizations/queries.ts'
import { deleteOldLinks } from '../connect-links/queries.ts'
import { purgeConnections } from '../connections/queries.ts'
import type { Database, Transaction } from '../db/database.ts'
import { purgeEvents } from '../events/queries.ts'
import { deleteOldKeys } from '../http/idempotency.ts'
import type { Logger } from '../log.ts'
import { purgeClients } from '../organizations/client-queries.ts'
import { purgeCounts as purgeMailCounts } from '../organizations/mail-queries.ts'
import { repeat } from '../repeat.ts'
import { purgeDataKeys } from '../secrets/queries.ts'
import { deleteExpiredTokens } from '../tokens/queries.ts'
import {
  forgetDataKeys,
  purgeLedger,
  purgeOldTransfers,
  purgeRejects,
  purgeRowCounts,
  purgeTransfers,
  sumLedger,
} from '../transfers/purge-queries.ts'
import { purgeExpiredUploads } from '../uploads/purge.ts'
import { deleteExpiredChallenges } from '../users/passkey-queries.ts'
import { deleteExpiredLinks, deleteExpiredSessions } from '../users/queries.ts'
import { endPurge, endSumming, extendPurge, ledgerToSum, releasePurge, takePurge } from './queries.ts'

/** Rows of a kind that one statement removes. A longer statement would hold locks for longer. */
const batchRows = 1_000
/** Deleting an event deletes its deliveries, and each delivery deletes its attempts. */
const eventBatchRows = 100
const accountBatchRows = 10
/** Deleting a transfer deletes its parts, and the logs of its attempts. */
const transferBatchRows = 200
/** Rows on which nothing else depends. */
const leafBatchRows = 10_000

/** How often a worker looks whether the purge is due, in milliseconds. */
const everyMs = 5_000
/** How long other processes wait before they take over a purge whose process may have died. */
const leaseSeconds = 300

/** How long each kind of data is kept before it is purged. */
type KeptDays = {
  /** The rejected records of a transfer that has ended. */
  readonly rejectDays: number
  /**
   * Transfers that have ended, with their logs and parts, except the newest of each connection. 0 or missing keeps them as long
   * as their connection.
   */
  readonly transferDays?: number
  /** Single entries of the ledger. After that, their sums by connection and day are kept. */
  readonly ledgerDays: number
  /** Events of the audit log. 0 keeps them forever. */
  readonly auditDays: number
}

/** Purges once a day, in one of the workers, until the signal aborts. A day that was missed is made up for. */
export function keepPurging(database: Database, kept: KeptDays, log: Logger, signal: AbortSignal): Promise<void> {
  // Whatever interrupted it, such as a database that was away, this process continues with it.
  let isInterrupted = false
  const run = async () => {
    if (!isInterrupted && !(await takePurge.first(database, { leaseSeconds }))) return
    isInterrupted = true
    const extend = () => void extendPurge.run(database, { leaseSeconds }).catch(() => {})
    const timer = setInterval(extend, (leaseSeconds * 1_000) / 3)
    try {
      log.info({ purged: await purge(database, kept, signal) }, 'purged')
      await (signal.aborted ? releasePurge : endPurge).run(database, {})
      isInterrupted = false
    } finally {
      clearInterval(timer)
    }
  }
  return repeat({ name: 'daily purge', everyMs, run }, log, signal)
}

/** How often a worker looks for uploaded files that have expired, in milliseconds. */
const uploadsEveryMs = 60_000

/** Purges uploaded files once they expire, which is a matter of hours, until the signal aborts. */
export function keepPurgingUploads(database: Database, log: Logger, signal: AbortSignal): Promise<void> {
  const run = async () => {
    const uploads = await purgeExpiredUploads(database, signal)
    if (uploads > 0) log.info({ uploads }, 'purged uploaded files')
  }
  return repeat({ name: 'purge of uploaded files', everyMs: uploadsEveryMs, run }, log, signal)
}

/** How many of each kind were removed. */
export type Purged = {
  rejects: number
  transfers: number
  dataKeys: number
  connections: number
  ledgerEntries: number
  /** Entries of the ledger that sums replaced. */
  summedEntries: number
  events: number
  accounts: number
  tokens: number
  /** That were revoked. */
  clients: number
  authorizations: number
  connectLinks: number
  userSessions: number
  userLinks: number
  usedChallenges: number
  idempotencyKeys: number
  alertIncidents: number
  alertDeliveries: number
  auditEvents: number
}

/**
 * Permanently removes data that can no longer be accessed (invariant 5): connections and accounts that were deleted 30
 * days ago with their content, transfers and rejected records that are older than the retention, expired tokens, authorizations,
 * sessions, links and used challenges of people, idempotency keys past their window, events with their deliveries,
 * resolved incidents and messages of alerts, counts of mails, and the oldest events of the audit log. If it is
 * interrupted, the next run continues from there.
 * @param signal once it aborts, nothing more is removed than the rows at hand
 */
export async function purge(
  database: Database,
  { rejectDays, transferDays = 0, ledgerDays, auditDays }: KeptDays,
  signal?: AbortSignal,
): Promise<Purged> {
  const inBatches = async (limit: number, removeSome: (limit: number) => Promise<number>): Promise<number> => {
    let removed = 0
    for (let batch = limit; batch === limit && !signal?.aborted; removed += batch) batch = await removeSome(limit)
    return removed
  }

  const windowDays = limits.restoreWindowDays
  const windowHours = limits.idempotencyWindowHours
  const old = { days: rejectDays }
  const gone = { windowDays }
  // Dependent rows are removed before a row, so that the statement for the row itself removes little and is short.
  const rejects = await inBatches(leafBatchRows, (limit) => purgeRejects.run(database, { ...old, limit }))
  await inBatches(batchRows, (limit) => forgetDataKeys.run(database, { ...old, limit }))
  const ofDeleted = await inBatches(batchRows, (limit) => purgeTransfers.run(database, { ...gone, limit }))
  const transfers = ofDeleted + (await removeOldTransfers(database, transferDays, signal))
  const connections = await inBatches(batchRows, (limit) =>
    database.transaction(async (tx) => {
      const removed = await purgeConnections.all(tx, { ...gone, limit })
      return recordPurged(tx, 'purgeConnection', removed)
    }),
  )
  const ledgerEntries = await inBatches(leafBatchRows, (limit) => purgeLedger.run(database, { ...gone, limit }))
  const summedEntries = await sumOldEntries(database, ledgerDays, signal)
  const events = await inBatches(eventBatchRows, (limit) =>
    purgeEvents.run(database, { days: limits.eventDays, limit }),
  )
  // Not reported: they are no one's data.
  if (!signal?.aborted) await purgeRowCounts.run(database, {})
  await inBatches(batchRows, (limit) => purgeMailCounts.run(database, { limit }))
  const accounts = await inBatches(accountBatchRows, (limit) =>
    database.transaction(async (tx) => {
      const removed = await purgeAccounts.all(tx, { ...gone, limit })
      const named = removed.map((account) => ({ ...account, accountId: account.id }))
      return recordPurged(tx, 'purgeAccount', named)
    }),
  )
  return {
    rejects,
    transfers,
    connections,
    ledgerEntries,
    summedEntries,
    events,
    accounts,
    dataKeys: await inBatches(batchRows, (limit) => purgeDataKeys.run(database, { limit })),
    tokens: await inBatches(batchRows, (limit) => deleteExpiredTokens.run(database, { limit })),
    clients: await inBatches(batchRows, (limit) =>
      purgeClients.run(database, { days: limits.revokedClientDays, limit }),
    ),
    authorizations: await inBatches(batchRows, (limit) => deleteExpiredAuthorizations.run(database, { limit })),
    connectLinks: await inBatches(batchRows, (limit) =>
      deleteOldLinks.run(database, { days: limits.connectLinkKeptDays, limit }),
    ),
    userSessions: await inBatches(batchRows, (limit) =>
      deleteExpiredSessions.run(database, { idleDays: limits.userSessionIdleDays, limit }),
    ),
    userLinks: await inBatches(batchRows, (limit) => deleteExpiredLinks.run(database, { limit })),
    usedChallenges: await inBatches(batchRows, (limit) => deleteExpiredChallenges.run(database, { limit })),
    idempotencyKeys: await inBatches(batchRows, (limit) => deleteOldKeys.run(database, { windowHours, limit })),
    alertIncidents: await inBatches(batchRows, (limit) =>
      purgeIncidents.run(database, { days: limits.alertIncidentDays, limit }),
    ),
    alertDeliveries: await inBatches(batchRows, (limit) =>
      purgeDeliveries.run(database, { days: limits.alertDeliveryDays, limit }),
    ),
    auditEvents: signal?.aborted ? 0 : await purgeAudit(database, auditDays),
  }
}

/**
 * Removes transfers that ended longer ago than `days`, except the newest of each connection. Each batch has its own
 * transaction.
 * @returns how many transfers it removed. If it is interrupted, the next run removes the rest.
 */
async function removeOldTransfers(database: Database, days: number, signal?: AbortSignal): Promise<number> {
  let removed = 0
  let connection: string | null = days === 0 ? null : ''
  while (connection !== null && !signal?.aborted) {
    const of: Parameters<typeof purgeOldTransfers.first>[1] = {
      days,
      kept: limits.transfersKeptMin,
      connection,
      limit: transferBatchRows,
    }
    const batch = await database.transaction((tx) => purgeOldTransfers.first(tx, of))
    removed += batch?.removed ?? 0
    connection = batch?.connection ?? null
  }
  return removed
}

/**
 * Replaces entries of the ledger that are older than `days` by their sums. Volumes and reports stay the same.
 * @returns how many entries it replaced. If it is interrupted, the next run replaces the rest.
 */
async function sumOldEntries(database: Database, days: number, signal?: AbortSignal): Promise<number> {
  const span = await ledgerToSum.first(database, { days })
  if (!span) return 0
  let removed = 0
  let account: string | null = ''
  while (account !== null) {
    if (signal?.aborted) return removed
    const place: Parameters<typeof sumLedger.run>[1] = { ...span, account, limit: leafBatchRows }
    // Two processes can lock the same entries in a different order. In a transaction, the step is retried after a deadlock.
    const batch = await database.transaction((tx) => sumLedger.first(tx, place))
    removed += batch?.removed ?? 0
    account = batch?.account ?? null
  }
  await endSumming.run(database, { until: span.until })
  return removed
}

/** Records what is removed permanently, in the same transaction. */
function recordPurged(
  tx: Transaction,
  action: string,
  removed: readonly { id: string; organizationId: string; accountId: string; name: string }[],
): number {
  record(
    tx,
    ...removed.map(({ id, organizationId, accountId, name }) => ({
      organizationId,
      actor: serviceActor,
      action,
      accountId,
      targetId: id,
      before: { name },
    })),
  )
  return removed.length
}
