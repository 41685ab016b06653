import type { RuleCheck } from './terms.ts'

/** The keys that each check of a rule takes: all of `needs`, of `oneOf` at least one, and those of `takes` if they are given. */
export const ruleKeys: Readonly<
  Record<
    RuleCheck,
    { readonly needs: readonly RuleKey[]; readonly oneOf: readonly RuleKey[]; readonly takes: readonly RuleKey[] }
  >
> = {
  rejected: { needs: [], oneOf: ['count', 'percent'], takes: [] },
  rows: { needs: [], oneOf: ['min', 'max'], takes: [] },
  volume: { needs: [], oneOf: ['min', 'max'], takes: [] },
  freshness: { needs: ['column', 'hours'], oneOf: [], takes: [] },
  empty: { needs: ['column', 'percent'], oneOf: [], takes: [] },
  unique: { needs: ['column'], oneOf: [], takes: [] },
  values: { needs: ['column', 'values'], oneOf: [], takes: ['percent'] },
  range: { needs: ['column'], oneOf: ['min', 'max'], takes: ['percent'] },
}

/** A key of a rule beside its check and its action. */
export type RuleKey = 'column' | 'count' | 'percent' | 'hours' | 'values' | 'min' | 'max'
