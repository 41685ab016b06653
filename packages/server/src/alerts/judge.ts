import { type AlertConditions, type AlertReason, type AlertResolution, alertReasons } from '@penstock/wire'
import { type Facts, isLookedFor, reasons, reasonsOf } from './reasons.ts'

/** Action on the incident of a rule and a connection. */
export type Verdict =
  | { readonly do: 'nothing' }
  | { readonly do: 'open'; readonly reasons: readonly AlertReason[] }
  | { readonly do: 'extend'; readonly reasons: readonly AlertReason[] }
  | { readonly do: 'resolve'; readonly resolution: AlertResolution }

/**
 * Judges a connection under a rule.
 * @param rule null: the rule is off, or does not cover the connection
 * @param open the open incident; null if there is no open incident
 */
export function judge(
  facts: Facts,
  rule: AlertConditions | null,
  open: { readonly reasons: readonly AlertReason[]; readonly openedTime: Date } | null,
): Verdict {
  const found = rule ? reasonsOf(facts, rule) : []
  if (!open) return found.length > 0 ? { do: 'open', reasons: found } : { do: 'nothing' }
  if (!rule) return { do: 'resolve', resolution: 'rule_changed' }
  if (found.length > 0) {
    const all = alertReasons.filter((reason) => open.reasons.includes(reason) || found.includes(reason))
    return all.length > open.reasons.length ? { do: 'extend', reasons: all } : { do: 'nothing' }
  }
  if (!facts.live) return { do: 'resolve', resolution: 'stopped' }
  const lookedFor = open.reasons.filter((reason) => isLookedFor(reason, rule))
  const hasMoved = facts.successTime !== null && facts.successTime > open.openedTime
  if (!hasMoved && lookedFor.some((reason) => reasons[reason].untilSuccess)) return { do: 'nothing' }
  return { do: 'resolve', resolution: lookedFor.length > 0 ? 'recovered' : 'rule_changed' }
}
