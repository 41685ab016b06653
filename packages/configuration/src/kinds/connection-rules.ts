import type { Blackout, ConnectionRule, ConnectionWithSettings } from '@penstock/wire'
import type { FieldChange } from '../values.ts'

/** The rules of a connection and its blackout, which are set together. */
export type JudgedBy = { readonly rules: readonly ConnectionRule[]; readonly blackout: Blackout | null }

/** The rules that a file wants; `undefined` if it has neither rules nor a blackout. With rules and without a blackout there is none. */
export function wantedRules(
  { rules, blackout }: { readonly rules?: JudgedBy['rules'] | undefined; readonly blackout?: Blackout | undefined },
  existing: Pick<ConnectionWithSettings, 'rules'> | undefined,
): JudgedBy | undefined {
  if (rules === undefined && blackout === undefined) return undefined
  return { rules: rules ?? existing?.rules ?? [], blackout: blackout ?? null }
}

/** Whether both are the same. The service can return keys in another order. */
export const areSameRules = (some: Partial<JudgedBy> | undefined, others: Partial<JudgedBy> | undefined): boolean =>
  (['rules', 'blackout'] as const).every((key) => textOf(some?.[key]) === textOf(others?.[key]))

/** Changes that a plan shows. */
export function compareRules(wanted: JudgedBy | undefined, existing: JudgedBy | undefined): FieldChange[] {
  if (!wanted) return []
  return (['rules', 'blackout'] as const)
    .filter((key) => textOf(wanted[key]) !== textOf(existing?.[key]))
    .map((key) => ({ field: key, ...(existing ? { from: existing[key] } : {}), to: wanted[key] }))
}

/** Text that does not depend on the order of keys; no rules are the same as an empty list. */
const textOf = (value: JudgedBy['rules'] | JudgedBy['blackout'] | undefined): string =>
  JSON.stringify(Array.isArray(value) && value.length === 0 ? null : (value ?? null), (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
