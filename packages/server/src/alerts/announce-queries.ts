import type { AlertReason, AlertResolution, Role, UserRole } from '@penstock/wire'
import { distinct } from '../db/distinct.ts'
import { statement } from '../db/statement.ts'
import { type WhereRow, whereColumns } from './where.ts'

/** Statements that write the messages about incidents. */

/** Remaining budget of a rule. Each minute restores a part of it. */
const budget = `least(:atOnce, r.message_budget + extract(epoch from now() - r.message_time) / (60 * :minutes))`

export type AnnouncingRow = {
  id: string
  name: string
  accountId: string | null
  emails: string[]
  emailRoles: UserRole[]
  hasSlack: boolean
  hasTeams: boolean
}
const ruleColumns = `
  r.id, r.name, r.account_id, r.emails, r.email_roles, r.slack_sealed is not null as has_slack,
  r.teams_sealed is not null as has_teams`

/**
 * Claims rules that have something to announce, are not muted and have not exceeded their limit, and counts a message for each.
 */
export const takeRules = statement<{ atOnce: number; minutes: number; limit: number }, AnnouncingRow>(`
  with recursive ${distinct('announced', 'alert_incidents', 'rule_id', 'pending is not null')}
  update alert_rules r set message_budget = ${budget} - 1, message_time = now()
  where r.id = any(array(
    select r.id from announced a cross join lateral (select * from alert_rules where id = a.id limit 1) r
    where (r.muted_until is null or r.muted_until <= now()) and ${budget} >= 1
    limit :limit
  ))
  returning ${ruleColumns}
`)

export type PendingRow = WhereRow & {
  id: string
  ruleId: string
  kind: 'opened' | 'resolved'
  accountId: string
  accountName: string
  connectionId: string
  connectionName: string
  ownerName: string | null
  srcConnectorId: string
  destConnectorId: string
  reasons: AlertReason[]
  numbers: string[]
  transferId: string | null
  errorCode: string | null
  errorSide: Role | null
  openedTime: Date
  resolvedTime: Date | null
  resolution: AlertResolution | null
}
/**
 * Claims the incidents of a rule that must be announced, up to the limit: opened incidents, or else resolved ones. Resolved
 * incidents come first if a connection of one has failed again. Otherwise the end of the earlier incident would look like the
 * end of the open one.
 */
export const takePending = statement<{ ruleId: string; limit: number }, PendingRow>(`
  with taken as (
    update alert_incidents i set pending = null
    from (
      select id, pending as kind from alert_incidents
      where rule_id = :ruleId and pending is not null and pending = (
        select case when exists (
            select from alert_incidents r
            join alert_incidents o on o.rule_id = r.rule_id and o.connection_id = r.connection_id and o.resolved_time is null
            where r.rule_id = :ruleId and r.pending = 'resolved' and o.pending = 'opened'
          ) then 'resolved' else (
            select min(pending) from alert_incidents where rule_id = :ruleId and pending is not null
          ) end
      )
      limit :limit
    ) p
    where i.id = p.id
    returning i.*, p.kind
  )
  select t.id, t.rule_id, case t.kind when 'opened' then 'opened' else 'resolved' end as kind,
    t.account_id, a.name as account_name, t.connection_id, c.name as connection_name,
    coalesce(u.name, u.email) as owner_name,
    c.src_connector_id, c.dest_connector_id, t.reasons, t.numbers, t.transfer_id, t.error_code, t.error_side, t.opened_time,
    t.resolved_time, t.resolution, ${whereColumns('t')}
  from taken t join connections c on c.id = t.connection_id join accounts a on a.id = t.account_id
  left join users u on u.id = c.owner_id
  order by t.rule_id, t.opened_time, t.id
`)

export type RecipientRow = { ruleId: string; email: string; accountIds: string[] | null }
/** People who have the roles of a rule and can see something that the rule covers. */
export const recipientsOf = statement<{ ruleIds: readonly string[]; limit: number }, RecipientRow>(`
  select r.id as rule_id, u.email, u.account_ids
  from alert_rules r cross join lateral (
    select email, account_ids from users
    where organization_id = r.organization_id and role = any(r.email_roles) and joined_time is not null
      and deactivated_time is null
      and (r.account_id is null or account_ids is null or r.account_id = any(account_ids))
    order by joined_time, id limit :limit
  ) u
  where r.id = any(:ruleIds)
`)

export const insertDeliveries = statement<{ deliveries: string }>(`
  insert into alert_deliveries (id, rule_id, kind, channel, recipient, content)
  select id, "ruleId", kind, channel, recipient, content
  from jsonb_to_recordset(:deliveries::jsonb) as d (
    id text, "ruleId" text, kind text, channel text, recipient text, content jsonb
  )
`)

/** Says at a rule why no e-mail is sent. */
export const noteUnsent = statement<{ ruleId: string; message: string }>(`
  update alert_rules set delivery_error = jsonb_build_object(
    'channel', 'email', 'message', :message::text, 'time', floor(extract(epoch from now()))::bigint)
  where id = :ruleId
`)

/** Seconds until another test of a rule is allowed. Null if a test is allowed now. */
export const testWait = statement<{ ruleId: string; perHour: number }, { seconds: number | null }>(`
  select case when count(*) >= :perHour then ceil(extract(epoch from min(time) + interval '1 hour' - now()))::integer end
    as seconds
  from (
    select distinct created_time as time from alert_deliveries
    where rule_id = :ruleId and kind = 'test' and created_time > now() - interval '1 hour'
  ) tests
`)
