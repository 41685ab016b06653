import type { AlertReason, AlertResolution } from '@penstock/wire'
import type { Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import * as queries from './check-queries.ts'
import { judge } from './judge.ts'
import { weeksOfHistory } from './volume.ts'

/**
 * Opens and resolves incidents. Triggers note each connection whose transfer ended or whose status changed; sweeps note
 * others. Each note is evaluated once, by one process, in the transaction that removes it.
 */

/** Connections that are looked at in one transaction. */
const checksAtOnce = 200
/** Incidents that are opened or changed in one transaction. A single connection can have more. */
const changesAtOnce = 2_000

/** Looks at connections that are noted, at most so many. Resolves with how many notes there were. */
export async function evaluate(tx: Transaction): Promise<number> {
  const noted = await queries.takeChecks.all(tx, { limit: checksAtOnce })
  const connectionIds = [...new Set(noted.map(({ connectionId }) => connectionId))]
  if (connectionIds.length === 0) return 0
  const all = await queries.factsOf.all(tx, { connectionIds, weeks: weeksOfHistory })
  const covering = Map.groupBy(
    await queries.findCovering.all(tx, {
      connectionIds,
      organizationIds: [...new Set(all.map(({ organizationId }) => organizationId))],
      accountIds: [...new Set(all.map(({ accountId }) => accountId))],
    }),
    ({ organizationId }) => organizationId,
  )
  const open = Map.groupBy(await queries.findOpen.all(tx, { connectionIds }), ({ connectionId }) => connectionId)
  const opened: queries.OpenedIncident[] = []
  const extended: { id: string; reasons: readonly AlertReason[] }[] = []
  const resolved: { id: string; resolution: AlertResolution }[] = []
  const left: string[] = []
  for (const facts of all) {
    if (opened.length + extended.length + resolved.length >= changesAtOnce) {
      left.push(facts.connectionId)
      continue
    }
    const incidents = new Map(open.get(facts.connectionId)?.map((incident) => [incident.ruleId, incident]))
    const judged = (rule: Rule, incident: queries.OpenRow | undefined) =>
      judge({ ...facts, ...rule, incidentReasons: incident?.reasons ?? null, openedTime: incident?.openedTime ?? null })
    for (const rule of covering.get(facts.organizationId) ?? []) {
      if (!covers(rule, facts)) continue
      const incident = incidents.get(rule.id)
      incidents.delete(rule.id)
      const verdict = judged({ ...rule, covers: true }, incident)
      if (verdict.do === 'open') opened.push(incidentOf(facts, rule, verdict.reasons))
      if (!incident) continue
      if (verdict.do === 'extend') extended.push({ id: incident.id, reasons: verdict.reasons })
      if (verdict.do === 'resolve') resolved.push({ id: incident.id, resolution: verdict.resolution })
    }
    for (const incident of incidents.values()) {
      const verdict = judged(noRule, incident)
      if (verdict.do === 'resolve') resolved.push({ id: incident.id, resolution: verdict.resolution })
    }
  }
  if (opened.length > 0) await queries.openIncidents.run(tx, { incidents: JSON.stringify(opened) })
  if (extended.length > 0) await queries.extendIncidents.run(tx, { incidents: JSON.stringify(extended) })
  if (resolved.length > 0) await queries.resolveIncidents.run(tx, { incidents: JSON.stringify(resolved) })
  if (left.length > 0) await queries.noteAgain.run(tx, { connectionIds: left })
  return noted.length
}

type Rule = Pick<
  queries.CoveringRow,
  | 'transferFailed'
  | 'connectionBroken'
  | 'rejectedPercent'
  | 'noSuccessHours'
  | 'volumePercent'
  | 'logKeptGb'
  | 'behindMinutes'
  | 'audienceBelow'
> & { readonly covers: boolean }

/** The rule to use if the real one is off, or no longer covers the connection. */
const noRule: Rule = {
  covers: false,
  transferFailed: false,
  connectionBroken: false,
  rejectedPercent: null,
  noSuccessHours: null,
  volumePercent: null,
  logKeptGb: null,
  behindMinutes: null,
  audienceBelow: null,
}

const covers = (rule: queries.CoveringRow, { accountId, connectionId }: queries.FactsRow): boolean =>
  (rule.accountId === null || rule.accountId === accountId) &&
  (rule.connectionIds === null || rule.connectionIds.includes(connectionId))

const aboutTransfer: readonly AlertReason[] = [
  'connection_broken',
  'connection_offline',
  'columns_changed',
  'transfer_failed',
]

function incidentOf(
  facts: queries.FactsRow,
  rule: queries.CoveringRow,
  reasons: readonly AlertReason[],
): queries.OpenedIncident {
  const { organizationId, accountId, connectionId } = facts
  const isAbout = facts.transferStatus === 'failed' && reasons.some((reason) => aboutTransfer.includes(reason))
  return {
    id: newIdentifier(),
    ruleId: rule.id,
    ruleAccountId: rule.accountId,
    organizationId,
    accountId,
    connectionId,
    reasons,
    transferId: isAbout || reasons.includes('transfer_partial') ? facts.transferId : null,
    errorCode: isAbout ? facts.errorCode : null,
    errorSide: isAbout ? facts.errorSide : null,
    openedTime: isAbout ? facts.transferTime : null,
  }
}
