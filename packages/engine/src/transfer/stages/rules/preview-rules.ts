import type { Row } from '@penstock/connector'
import type { ConnectionRule, Preview } from '@penstock/wire'
import { countRows } from './counts.ts'
import { judgeAll } from './judge.ts'
import { UniqueValues } from './unique-values.ts'

/** Findings of a preview: the rules that its records break. @param rejected how many of the rows would be rejected */
export function findingsOfRules(
  rules: readonly ConnectionRule[],
  columns: readonly string[],
  rows: readonly Row[],
  rejected: number,
): Preview['findings'] {
  const numbered = rows.map((raw, i) => ({ number: i + 1, raw }))
  const results = judgeAll(rules, {
    read: rows.length,
    rejected,
    skipped: 0,
    counts: countRows(rules, columns, numbered, new UniqueValues()),
    uniqueRowsMax: rows.length,
    isBeyondUnique: false,
    usual: null,
    nowMs: Date.now(),
    isSample: true,
  })
  return results
    .filter(({ outcome }) => outcome === 'broken')
    .map(({ action, column, message }) => ({
      code: 'rule_broken',
      message: `${action === 'stop' ? 'A rule would stop a transfer' : 'A rule is broken'}: ${message}`,
      column,
    }))
}
