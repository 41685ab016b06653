import { type Blackout, type ConnectionRule, type FieldError, type RuleKey, ruleKeys } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { refuse, refuseFieldErrors, requireEditable } from '../refusal.ts'
import { errorsOfBlackout } from './blackouts.ts'
import * as queries from './connection-rules-queries.ts'
import { holdRunnable } from './queries.ts'
import type { TransferDeps } from './transfers.ts'

/** The rules of a connection. Runners judge transfers by them (`engine/src/transfer/stages/rules`). */

/** Answers 404 if there is no such connection. */
export async function getConnectionRules({
  db,
  account,
  id,
}: Call<'getConnectionRules'>): Promise<Answer<'getConnectionRules'>> {
  const found = await queries.findRules.first(db, { accountId: account.id, connectionId: id })
  return { reply: found ?? refuse('not_found') }
}

/** Replaces all rules. Transfers that have been requested keep their copy. */
export async function setConnectionRules(
  { db: tx, account, id: connectionId, body }: Call<'setConnectionRules'>,
  deps: TransferDeps,
): Promise<Answer<'setConnectionRules'>> {
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  requireEditable(row, deps)
  if (row.status === 'deleted') refuse('connection_deleted')
  const { rules, blackout = null } = body
  refuseFieldErrors([...rules.flatMap(errorsOf), ...(blackout ? errorsOfBlackout(blackout) : [])])
  const of = { accountId: account.id, connectionId }
  const before = (await queries.findRules.first(tx, of)) ?? refuse('not_found')
  const isEmpty = rules.length === 0 && blackout === null
  if (isEmpty) await queries.deleteRules.run(tx, { connectionId })
  else {
    const held = { rules: JSON.stringify(rules), blackout: blackout && JSON.stringify(blackout) }
    await queries.putRules.run(tx, { connectionId, ...held })
  }
  const after = (await queries.findRules.first(tx, of)) ?? refuse('not_found')
  return { reply: after, audited: { before: auditedOf(before), after: auditedOf(after) } }
}

const auditedOf = ({ rules, blackout }: { rules: ConnectionRule[]; blackout: Blackout | null }) => ({ rules, blackout })

/** The keys that a rule lacks or does not take, and bounds that no value keeps. */
function errorsOf(rule: ConnectionRule, index: number): FieldError[] {
  const { needs, oneOf, takes } = ruleKeys[rule.check]
  const given = (Object.keys(rule) as (keyof ConnectionRule)[]).filter((key) => key !== 'check' && key !== 'action')
  const known: readonly string[] = [...needs, ...oneOf, ...takes]
  const error = (key: RuleKey | undefined, message: string): FieldError => ({
    field: `body.rules.${index}${key ? `.${key}` : ''}`,
    message,
  })
  const missing = needs.filter((key) => rule[key] === undefined)
  return [
    ...missing.map((key) => error(key, `is required for the check ${rule.check}`)),
    ...given
      .filter((key) => !known.includes(key))
      .map((key) => error(key as RuleKey, `the check ${rule.check} does not take it`)),
    ...(oneOf.length > 0 && oneOf.every((key) => rule[key] === undefined)
      ? [error(undefined, `the check ${rule.check} needs ${oneOf.join(' or ')}`)]
      : []),
    ...(rule.min !== undefined && rule.max !== undefined && rule.min > rule.max
      ? [error('max', 'must be at least min')]
      : []),
  ]
}
