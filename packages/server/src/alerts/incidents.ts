import { auditActorOf } from '../audit/requests.ts'
import type { Answer, Call } from '../call.ts'
import { refuse } from '../refusal.ts'
import * as queries from './incident-queries.ts'
import { viewIncident } from './view.ts'

/** Operations on the incidents of alert rules. */

export async function listAlertIncidents({
  db,
  actor: { organizationId, accountIds },
  account,
  query: { open, ruleId, size, offset },
}: Call<'listAlertIncidents'>): Promise<Answer<'listAlertIncidents'>> {
  const filter = {
    organizationId,
    accountIds,
    accountId: account?.id ?? null,
    ruleId: ruleId ?? null,
    open: open ?? null,
  }
  const { list, count } = queries.incidentsOf[ruleId !== undefined ? 'rule' : account ? 'account' : 'organization']
  const [rows, counted] = await Promise.all([list.all(db, { ...filter, size, offset }), count.first(db, filter)])
  return { reply: rows.map(viewIncident), total: counted?.total ?? 0 }
}

export async function getAlertIncident({
  db,
  actor: { organizationId, accountIds },
  id,
}: Call<'getAlertIncident'>): Promise<Answer<'getAlertIncident'>> {
  const row = await queries.findIncident.first(db, { organizationId, accountIds, id })
  return { reply: viewIncident(row ?? refuse('not_found')) }
}

/** The first acknowledgement is kept. */
export async function acknowledgeAlertIncident({
  db: tx,
  actor,
  id,
}: Call<'acknowledgeAlertIncident'>): Promise<Answer<'acknowledgeAlertIncident'>> {
  const { organizationId, accountIds } = actor
  const before = (await queries.lockIncident.first(tx, { organizationId, accountIds, id })) ?? refuse('not_found')
  await queries.acknowledge.run(tx, { id, by: JSON.stringify(auditActorOf(actor)) })
  const row = (await queries.findIncident.first(tx, { organizationId, accountIds, id })) ?? refuse('not_found')
  return { reply: viewIncident(row), audited: { before: viewIncident(before) } }
}
