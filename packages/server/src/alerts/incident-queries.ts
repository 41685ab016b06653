import type { AlertReason, AlertResolution, AuditActor, Role } from '@penstock/wire'
import { statement } from '../db/statement.ts'
import { type WhereRow, whereColumns } from './where.ts'

/** Statements about incidents, as the API shows them. */

export type IncidentRow = WhereRow & {
  id: string
  ruleId: string
  ruleName: string
  accountId: string
  accountName: string
  connectionId: string
  connectionName: string
  reasons: AlertReason[]
  numbers: string[]
  transferId: string | null
  errorCode: string | null
  errorSide: Role | null
  openedTime: Date
  resolvedTime: Date | null
  resolution: AlertResolution | null
  acknowledgedTime: Date | null
  acknowledgedBy: AuditActor | null
}
const columns = `
  i.id, i.rule_id, r.name as rule_name, i.account_id, a.name as account_name, i.connection_id, c.name as connection_name,
  i.reasons, i.numbers, i.transfer_id, i.error_code, i.error_side, i.opened_time, i.resolved_time, i.resolution, i.acknowledged_time,
  i.acknowledged_by, ${whereColumns('i')}`
const tables = `
  alert_incidents i join alert_rules r on r.id = i.rule_id join connections c on c.id = i.connection_id
  join accounts a on a.id = i.account_id`

/** Incidents of rules that the actor can see, except incidents of deleted sub-accounts. */
type Visible = { organizationId: string; accountIds: readonly string[] | null }
const isVisible = `
  i.organization_id = :organizationId and (:accountIds::text[] is null or i.rule_account_id = any(:accountIds))
  and (select deleted_time is null from accounts where id = i.account_id)`

type Filter = Visible & { accountId: string | null; ruleId: string | null; open: boolean | null }

/** Of a rule, a sub-account or the organization: each has its index, and no plan would fit all. */
const listBy = (scope: string) => {
  const isListed = `${scope} and ${isVisible} and (:ruleId::text is null or i.rule_id = :ruleId)
    and (:accountId::text is null or i.account_id = :accountId)
    and (:open::boolean is null or (i.resolved_time is null) = :open)`
  return {
    list: statement<Filter & { size: number; offset: number }, IncidentRow>(
      `with page as materialized (
        select i.id, (i.resolved_time is not null) as resolved, i.opened_time from alert_incidents i where ${isListed}
        order by (i.resolved_time is not null), i.opened_time desc, i.id desc limit :size offset :offset
      )
      select ${columns} from page p join ${tables.trim().replace('alert_incidents i', 'alert_incidents i on i.id = p.id')}
      order by p.resolved, p.opened_time desc, p.id desc`,
      { plannedEachTime: true },
    ),
    count: statement<Filter, { total: number }>(`select count(*) as total from alert_incidents i where ${isListed}`, {
      plannedEachTime: true,
    }),
  }
}
export const incidentsOf = {
  organization: listBy('i.organization_id = :organizationId'),
  account: listBy('i.account_id = :accountId'),
  rule: listBy('i.rule_id = :ruleId'),
}

export const findIncident = statement<Visible & { id: string }, IncidentRow>(`
  select ${columns} from ${tables} where i.id = :id and ${isVisible}
`)
export const lockIncident = statement<Visible & { id: string }, IncidentRow>(`
  select ${columns} from ${tables} where i.id = :id and ${isVisible} for no key update of i
`)
export const acknowledge = statement<{ id: string; by: string }>(`
  update alert_incidents set acknowledged_time = now(), acknowledged_by = :by::jsonb
  where id = :id and acknowledged_time is null
`)

/** Counts for the metrics. The index contains only open incidents. */
export const countOpen = statement<Record<never, never>, { open: number }>(`
  select count(*) as open from alert_incidents where resolved_time is null
`)

export const purgeIncidents = statement<{ days: number; limit: number }>(`
  delete from alert_incidents where id = any(array(
    select id from alert_incidents where resolved_time < now() - make_interval(days => :days)
    order by resolved_time limit :limit
  ))
`)
