import type { TransferState } from '@penstock/engine'
import { limits, type RuleResult } from '@penstock/wire'
import type { Database } from '../../db/database.ts'
import type { WorkRow } from './claim-queries.ts'
import { Lost } from './endings.ts'
import { saveResults, usualRows } from './rule-queries.ts'

/** The rules of a transfer, with the usual number of records if one of them asks for it. */
export async function rulesOf(
  database: Database,
  { id, connectionId, rules }: Pick<WorkRow, 'id' | 'connectionId' | 'rules'>,
): Promise<TransferState['rules']> {
  if (!rules) return null
  const asks = rules.some(({ check }) => check === 'volume')
  const usual = asks
    ? await usualRows.first(database, { id, connectionId, transfers: limits.ruleTransfers })
    : undefined
  return { list: rules, usual: usual ? { rows: usual.rows ?? 0, transfers: usual.transfers } : null }
}

/**
 * Stores the results of the rules of a transfer. Those of a runner are not trusted: of each it has the check, the action and the column.
 * Throws `Lost` for a transfer that is another worker's by now.
 */
export async function saveRuleResults(
  database: Database,
  { id, attempt, rules }: WorkRow,
  results: readonly RuleResult[],
): Promise<void> {
  if (!rules || results.length > rules.length)
    throw new Error('A runner reported rules that the transfer does not have')
  const stored = JSON.stringify(results).replaceAll('\\u0000', '')
  if ((await saveResults.run(database, { id, attempt, results: stored })) === 0) throw new Lost()
}
