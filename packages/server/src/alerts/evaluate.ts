import type { AlertReason, AlertResolution } from '@penstock/wire'
import type { Database, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import * as queries from './check-queries.ts'
import { judge } from './judge.ts'
import { weeksOfHistory } from './volume.ts'

/**
 * Opens and resolves incidents. Triggers note each connection whose transfer ended or whose status changed; sweeps note those
 * for which time has passed. What is noted is looked at once, by one process, in the transaction that removes the note.
 */

/** Connections that are looked at in one transaction. */
const checksAtOnce = 500

export type Evaluated = { readonly checked: number; readonly opened: number; readonly resolved: number }

/** Looks at connections that are noted, at most so many. Undefined where another process looks at present. */
export async function evaluate(tx: Transaction, mailIsSetUp: boolean): Promise<Evaluated> {
  const noted = await queries.takeChecks.all(tx, { limit: checksAtOnce })
  const connectionIds = [...new Set(noted.map(({ connectionId }) => connectionId))]
  if (connectionIds.length === 0) return { checked: 0, opened: 0, resolved: 0 }
  const rows = await queries.factsOf.all(tx, { connectionIds, mailIsSetUp, weeks: weeksOfHistory })
  const opened: queries.OpenedIncident[] = []
  const extended: { id: string; reasons: readonly AlertReason[] }[] = []
  const resolved: { id: string; resolution: AlertResolution }[] = []
  for (const row of rows) {
    const verdict = judge(row)
    if (verdict.do === 'open') opened.push(incidentOf(row, verdict.reasons))
    if (row.incidentId === null) continue
    if (verdict.do === 'extend') extended.push({ id: row.incidentId, reasons: verdict.reasons })
    if (verdict.do === 'resolve') resolved.push({ id: row.incidentId, resolution: verdict.resolution })
  }
  if (opened.length > 0) await queries.openIncidents.run(tx, { incidents: JSON.stringify(opened) })
  if (extended.length > 0) await queries.extendIncidents.run(tx, { incidents: JSON.stringify(extended) })
  if (resolved.length > 0) await queries.resolveIncidents.run(tx, { incidents: JSON.stringify(resolved) })
  return { checked: noted.length, opened: opened.length, resolved: resolved.length }
}

const aboutTransfer: readonly AlertReason[] = ['connection_broken', 'connection_offline', 'transfer_failed']

function incidentOf(row: queries.FactsRow, reasons: readonly AlertReason[]): queries.OpenedIncident {
  const isAbout = row.transferStatus === 'failed' && reasons.some((reason) => aboutTransfer.includes(reason))
  return {
    ...{ id: newIdentifier(), ruleId: row.ruleId, ruleAccountId: row.ruleAccountId },
    ...{ organizationId: row.organizationId, accountId: row.accountId, connectionId: row.connectionId, reasons },
    ...{ transferId: isAbout || reasons.includes('transfer_partial') ? row.transferId : null },
    ...{ errorCode: isAbout ? row.errorCode : null, errorSide: isAbout ? row.errorSide : null },
    openedTime: isAbout ? row.transferTime : null,
  }
}

const minuteMs = 60_000
const dayMs = 86_400_000
/** After midnight UTC, when the volume of the day before is compared. */
const volumeAfterMs = 30 * minuteMs

/** Notes connections for which time has passed. The first process to find a sweep due does it. */
export async function sweep(database: Database, now = Date.now()): Promise<void> {
  await database.transaction(async (tx) => {
    const nextTime = new Date(now + minuteMs)
    if (await queries.takeSweep.first(tx, { name: 'open and idle', nextTime }))
      await queries.sweepOpenAndIdle.run(tx, {})
  })
  await database.transaction(async (tx) => {
    const nextTime = new Date(Math.floor((now - volumeAfterMs) / dayMs + 1) * dayMs + volumeAfterMs)
    if (await queries.takeSweep.first(tx, { name: 'volume', nextTime })) await queries.sweepVolumes.run(tx, {})
  })
}
