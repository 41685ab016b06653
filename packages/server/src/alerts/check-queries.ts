import type { AlertAmountName, AlertConditions, AlertReason, Role } from '@penstock/wire'
import { statement } from '../db/statement.ts'
import { behindOf } from '../streams/behind.ts'
import { columnOf, conditionColumns } from './condition-columns.ts'
import type { Facts } from './reasons.ts'

/** Statements that find what alert rules look for. */

/**
 * Lets one process evaluate at a time, so that no process acts on a state that another one has changed. Held until the
 * transaction ends. No process gets the turn while schedules are paused after a restore, because the restored state can be
 * outdated.
 */
export const takeTurn = statement<Record<never, never>, { taken: boolean }>(`
  select pg_try_advisory_xact_lock(hashtext('penstock alerts'), 0) as taken
  where not exists (select from schedule_pauses where reason = 'restore')
`)

/** Claims connections that must be checked. Changes after this statement are checked again. */
export const takeChecks = statement<{ limit: number }, { connectionId: string }>(`
  delete from alert_checks where number = any(array(select number from alert_checks order by number limit :limit))
  returning connection_id
`)

export type FactsRow = Facts & {
  organizationId: string
  accountId: string
  connectionId: string
  transferId: string | null
  errorSide: Role | null
}

/**
 * The newest transfer with one of some statuses. Each status has an index, which finds its newest transfer. Tests are skipped,
 * and so are transfers that a restore ended: what they moved is not known, and the person who restored knows about them.
 */
export const newestOf = (...statuses: readonly string[]) => `(
    select * from (${statuses
      .map(
        (status) => `
      (select id, status, created_time, finished_time, accepted, rejected, error_code, error_side from transfers
       where connection_id = c.id and test_rows is null and status = '${status}'${status === 'failed' ? ` and error_code is distinct from 'restored'` : ''}
       order by created_time desc, id desc limit 1)`,
      )
      .join(' union all')}
    ) newest order by created_time desc, id desc limit 1
  )`

/** Whether a rule of the organization of `c` has a condition. */
const isLookedFor = (name: AlertAmountName) =>
  `exists (select from alert_rules where organization_id = c.organization_id and ${columnOf(name)} is not null)`

/**
 * Facts of some connections for all rules. All look-ups use an index, so the cost does not depend on the number of
 * connections and transfers. Facts that only some rules need are read only if there is such a rule.
 */
export const factsOf = statement<{ connectionIds: readonly string[]; weeks: number }, FactsRow>(`
  select c.organization_id, c.account_id, c.id as connection_id, c.status,
    (c.status in ('active', 'broken', 'offline') and not c.account_deleted and a.enabled) as live,
    t.id as transfer_id, t.status as transfer_status, t.finished_time as transfer_time, t.error_code, t.error_side,
    s.finished_time as success_time, s.accepted, s.rejected,
    (extract(epoch from now() - greatest(c.created_time, s.finished_time, e.created_time)) / 3600)::float8 as idle_hours,
    v.volumes, k.bytes as log_kept_bytes, coalesce(k.at_risk, false) as log_at_risk,
    b.seconds as behind_seconds, u.smallest as smallest_audience, u.match_rate, u.match_rate_before
  from connections c join accounts a on a.id = c.account_id
  left join lateral ${newestOf('succeeded', 'partial', 'failed')} t on true
  left join lateral ${newestOf('succeeded', 'partial')} s on true
  left join lateral (
    select created_time from connection_events
    where connection_id = c.id and kind = 'status' and became = 'active'
      and ${isLookedFor('noSuccessHours')}
    order by number desc limit 1
  ) e on true
  left join lateral (
    select array_agg(least(coalesce(l.accepted, 0), 2147483647)::integer order by d.day desc) as volumes
    from (
      select (now() at time zone 'utc')::date - 1 - 7 * week as day from generate_series(0, :weeks::integer) as week
    ) d
    cross join lateral (
      select sum(accepted)::bigint as accepted from ledger
      where account_id = c.account_id and connection_id = c.id and day = d.day and not test
    ) l
    where ${isLookedFor('volumePercent')}
      and exists (
        select from ledger
        where account_id = c.account_id and connection_id = c.id and day <= d.day and not test
      )
  ) v on true
  left join lateral (
    select max(kept_bytes) as bytes, bool_or(status in ('unreserved', 'lost')) as at_risk from change_logs
    where connection_id = c.id and leaving_since is null
  ) k on true
  left join lateral (
    select seconds from (${behindOf('c')}) behind
    where ${isLookedFor('behindMinutes')}
  ) b on true
  left join lateral (select smallest, match_rate, match_rate_before from audience_checks where connection_id = c.id limit 1) u on true
  where c.id = any(:connectionIds)
`)

export type CoveringRow = AlertConditions & {
  id: string
  organizationId: string
  accountId: string | null
  connectionIds: string[] | null
}
/** Rules that are on and can cover some of the connections. */
export const findCovering = statement<
  {
    organizationIds: readonly string[]
    accountIds: readonly string[]
    connectionIds: readonly string[]
  },
  CoveringRow
>(`
  select id, organization_id, account_id, connection_ids, ${conditionColumns}
  from alert_rules
  where organization_id = any(:organizationIds) and coalesce(account_id, '') = any(array_append(:accountIds::text[], ''))
    and (connection_ids is null or connection_ids && :connectionIds::text[]) and enabled
`)

export type OpenRow = { id: string; ruleId: string; connectionId: string; reasons: AlertReason[]; openedTime: Date }
export const findOpen = statement<{ connectionIds: readonly string[] }, OpenRow>(`
  select id, rule_id, connection_id, reasons, opened_time from alert_incidents
  where connection_id = any(:connectionIds) and resolved_time is null
`)

/** Has connections looked at that were taken and not looked at. */
export const noteAgain = statement<{ connectionIds: readonly string[] }>(`
  insert into alert_checks (connection_id) select unnest(:connectionIds::text[])
`)

/** Values of an incident to open. */
export type OpenedIncident = {
  id: string
  ruleId: string
  ruleAccountId: string | null
  organizationId: string
  accountId: string
  connectionId: string
  reasons: readonly AlertReason[]
  numbers: readonly string[]
  transferId: string | null
  errorCode: string | null
  errorSide: Role | null
  openedTime: Date | null
}
/** Data of an incident in webhooks, in addition to its sub-account and its connection. */
const eventData = `
    'incidentId', i.id, 'ruleId', i.rule_id, 'ruleName', r.name, 'reasons', to_json(i.reasons), 'numbers', to_json(i.numbers),
    'transferId', i.transfer_id, 'errorCode', i.error_code, 'errorSide', i.error_side, 'openedTime', floor(extract(epoch from i.opened_time))::bigint`

/** The rule of each incident `i`, by its key: how many incidents a JSON array brings is not known, and no plan should read all rules. */
const ruleOfIncident = 'cross join lateral (select name from alert_rules where id = i.rule_id limit 1) r'

/**
 * Opens incidents with their events, and marks each to be announced. A rule that is deleted at the same time gets no incidents.
 */
export const openIncidents = statement<{ incidents: string }>(`
  with opened as (
  insert into alert_incidents (id, rule_id, rule_account_id, organization_id, account_id, connection_id, reasons,
    numbers, transfer_id, error_code, error_side, opened_time, pending)
  select opened.id, "ruleId", "ruleAccountId", "organizationId", "accountId", "connectionId",
    array(select jsonb_array_elements_text(reasons)), array(select jsonb_array_elements_text(numbers)), "transferId", "errorCode", "errorSide",
    coalesce("openedTime", now()), 'opened'
  from jsonb_to_recordset(:incidents::jsonb) as opened (
    id text, "ruleId" text, "ruleAccountId" text, "organizationId" text, "accountId" text, "connectionId" text,
    reasons jsonb, numbers jsonb, "transferId" text, "errorCode" text, "errorSide" text, "openedTime" timestamptz
  ) cross join lateral (select from alert_rules where id = "ruleId" for key share) rule
  on conflict (rule_id, connection_id) where resolved_time is null do nothing
  returning *
  )
  select emit_event('alert.opened', i.organization_id, i.account_id, i.connection_id, json_build_object(${eventData}))
  from opened i ${ruleOfIncident}
`)
/** Further reasons of an incident: all of them, and the numbers of the new ones. */
export type ExtendedIncident = Pick<OpenedIncident, 'id' | 'reasons' | 'numbers'>
export const extendIncidents = statement<{ incidents: string }>(`
  update alert_incidents i set reasons = array(select jsonb_array_elements_text(x.reasons)),
    numbers = i.numbers || array(select jsonb_array_elements_text(x.numbers))
  from jsonb_to_recordset(:incidents::jsonb) as x (id text, reasons jsonb, numbers jsonb) where i.id = x.id
`)
/**
 * Resolves incidents. The end of an incident is announced if its beginning was announced. It is not announced if the
 * rule was turned off or no longer covers the connection.
 */
export const resolveIncidents = statement<{ incidents: string }>(`
  with resolved as (
  update alert_incidents i set
    resolved_time = now(), resolution = x.resolution,
    pending = case when i.pending is null and x.resolution <> 'rule_changed' then 'resolved' end
  from jsonb_to_recordset(:incidents::jsonb) as x (id text, resolution text)
  where i.id = x.id and i.resolved_time is null
  returning i.*
  )
  select emit_event('alert.resolved', i.organization_id, i.account_id, i.connection_id, json_build_object(${eventData},
    'resolvedTime', floor(extract(epoch from i.resolved_time))::bigint, 'resolution', i.resolution))
  from resolved i ${ruleOfIncident}
`)
