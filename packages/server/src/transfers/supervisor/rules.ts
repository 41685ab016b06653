import { storable, type TransferState } from '@penstock/engine'
import { limits, type RuleResult, ruleOutcomes } from '@penstock/wire'
import type { Database } from '../../db/database.ts'
import type { WorkRow } from './claim-queries.ts'
import { Lost } from './endings.ts'
import { saveResults, usualRows } from './rule-queries.ts'

/** The rules of a transfer, with the usual number of records if one of them asks for it. */
export async function rulesOf(
  database: Database,
  { id, connectionId, rules, backfill }: Pick<WorkRow, 'id' | 'connectionId' | 'rules' | 'backfill'>,
): Promise<TransferState['rules']> {
  if (!rules) return null
  // How many records a range has says nothing about the usual number.
  const asks = backfill === null && rules.some(({ check }) => check === 'volume')
  const usual = asks
    ? await usualRows.first(database, { id, connectionId, transfers: limits.ruleTransfers })
    : undefined
  return { list: rules, usual: usual ? { rows: usual.rows ?? 0, transfers: usual.transfers } : null }
}

/**
 * Stores the results of the rules of a transfer. Those of a runner are not trusted: each must be of a rule that the transfer has.
 * Throws `Lost` for a transfer that is another worker's by now.
 */
export async function saveRuleResults(
  database: Database,
  { id, attempt, rules }: WorkRow,
  results: readonly RuleResult[],
): Promise<void> {
  if (!rules || results.length > rules.length) throw unknownRule()
  const stored = JSON.stringify(results.map((result) => resultOf(result, rules)))
  if ((await saveResults.run(database, { id, attempt, results: stored })) === 0) throw new Lost()
}

function resultOf(
  { check, action, column, outcome, message }: RuleResult,
  rules: NonNullable<WorkRow['rules']>,
): RuleResult {
  const isOf = (rule: (typeof rules)[number]) =>
    rule.check === check && rule.action === action && (rule.column ?? null) === column
  if (!rules.some(isOf) || !ruleOutcomes.includes(outcome)) throw unknownRule()
  return { check, action, column, outcome, message: storable(String(message)) }
}

const unknownRule = () => new Error('A runner reported rules that the transfer does not have')
