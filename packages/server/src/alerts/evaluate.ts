import type { AlertReason, AlertResolution } from '@penstock/wire'
import type { Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import * as queries from './check-queries.ts'
import { judge } from './judge.ts'
import { numbersOf, reasons } from './reasons.ts'
import { weeksOfHistory } from './volume.ts'

/**
 * Opens and resolves incidents. Triggers note each connection whose transfer ended or whose status changed; sweeps note
 * others. Each note is evaluated once, by one process, in the transaction that removes it.
 */

/** Connections that are looked at in one transaction. */
const checksAtOnce = 200
/** Incidents that are opened or changed in one transaction. A single connection can have more. */
const changesAtOnce = 2_000

/** Evaluates noted connections, up to a limit. Resolves with the number of notes that it evaluated. */
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
  const extended: queries.ExtendedIncident[] = []
  const resolved: { id: string; resolution: AlertResolution }[] = []
  const left: string[] = []
  for (const facts of all) {
    if (opened.length + extended.length + resolved.length >= changesAtOnce) {
      left.push(facts.connectionId)
      continue
    }
    const incidents = new Map(open.get(facts.connectionId)?.map((incident) => [incident.ruleId, incident]))
    for (const rule of covering.get(facts.organizationId) ?? []) {
      if (!covers(rule, facts)) continue
      const incident = incidents.get(rule.id)
      incidents.delete(rule.id)
      const verdict = judge(facts, rule, incident ?? null)
      if (verdict.do === 'open') opened.push(incidentOf(facts, rule, verdict.reasons))
      if (!incident) continue
      if (verdict.do === 'extend') {
        const added = verdict.reasons.filter((reason) => !incident.reasons.includes(reason))
        extended.push({ id: incident.id, reasons: verdict.reasons, numbers: numbersOf(facts, rule, added) })
      }
      if (verdict.do === 'resolve') resolved.push({ id: incident.id, resolution: verdict.resolution })
    }
    for (const incident of incidents.values()) {
      const verdict = judge(facts, null, incident)
      if (verdict.do === 'resolve') resolved.push({ id: incident.id, resolution: verdict.resolution })
    }
  }
  if (opened.length > 0) await queries.openIncidents.run(tx, { incidents: JSON.stringify(opened) })
  if (extended.length > 0) await queries.extendIncidents.run(tx, { incidents: JSON.stringify(extended) })
  if (resolved.length > 0) await queries.resolveIncidents.run(tx, { incidents: JSON.stringify(resolved) })
  if (left.length > 0) await queries.noteAgain.run(tx, { connectionIds: left })
  return noted.length
}

const covers = (rule: queries.CoveringRow, { accountId, connectionId }: queries.FactsRow): boolean =>
  (rule.accountId === null || rule.accountId === accountId) &&
  (rule.connectionIds === null || rule.connectionIds.includes(connectionId))

function incidentOf(
  facts: queries.FactsRow,
  rule: queries.CoveringRow,
  found: readonly AlertReason[],
): queries.OpenedIncident {
  const { organizationId, accountId, connectionId } = facts
  const isAbout = facts.transferStatus === 'failed' && found.some((reason) => reasons[reason].untilSuccess)
  return {
    id: newIdentifier(),
    ruleId: rule.id,
    ruleAccountId: rule.accountId,
    organizationId,
    accountId,
    connectionId,
    reasons: found,
    numbers: numbersOf(facts, rule, found),
    transferId: isAbout || found.includes('transfer_partial') ? facts.transferId : null,
    errorCode: isAbout ? facts.errorCode : null,
    errorSide: isAbout ? facts.errorSide : null,
    openedTime: isAbout ? facts.transferTime : null,
  }
}
