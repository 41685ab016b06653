import type { RuleCheck } from './terms.ts'

/** The keys of each check of a rule: `needs` are required, at least one of `oneOf` is required, and `takes` are optional. */
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

/** A key of a rule, without its check and its action. */
export type RuleKey = 'column' | 'count' | 'percent' | 'hours' | 'values' | 'min' | 'max'
