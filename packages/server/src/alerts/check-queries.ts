import type { AlertReason, ConnectionStatus, Role } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** Statements that find what alert rules look for. */

/** One process looks at a time, so that none acts on what another one has seen change. Held until the transaction ends. */
export const takeTurn = statement<Record<never, never>, { taken: boolean }>(`
  select pg_try_advisory_xact_lock(hashtext('penstock alerts'), 0) as taken
`)

/** Takes connections that are to be looked at. What changes after this statement is to be looked at again. */
export const takeChecks = statement<{ limit: number }, { connectionId: string }>(`
  delete from alert_checks where number in (select number from alert_checks order by number limit :limit)
  returning connection_id
`)

export type FactsRow = {
  ruleId: string
  ruleAccountId: string | null
  organizationId: string
  accountId: string
  connectionId: string
  covers: boolean
  transferFailed: boolean
  connectionBroken: boolean
  rejectedPercent: number | null
  noSuccessHours: number | null
  volumePercent: number | null
  status: ConnectionStatus
  live: boolean
  transferId: string | null
  transferStatus: string | null
  transferTime: Date | null
  errorCode: string | null
  errorSide: Role | null
  successTime: Date | null
  accepted: number | null
  rejected: number | null
  idleHours: number
  volumes: number[] | null
  incidentId: string | null
  incidentReasons: AlertReason[] | null
  openedTime: Date | null
}

/** The newest transfer of each of some statuses, each found by its index, and the newest of these. */
const newestOf = (...statuses: readonly string[]) => `(
    select * from (${statuses
      .map(
        (status) => `
      (select id, status, created_time, finished_time, accepted, rejected, error_code, error_side from transfers
       where connection_id = c.id and status = '${status}' order by created_time desc, id desc limit 1)`,
      )
      .join(' union all')}
    ) newest order by created_time desc, id desc limit 1
  )`

/**
 * What the rules have to know of some connections: a row for each rule that covers one, or has an open incident of it.
 * Everything is looked up by an index, so it costs what is asked for, however many connections and transfers there are.
 */
export const factsOf = statement<{ connectionIds: readonly string[]; mailIsSetUp: boolean; weeks: number }, FactsRow>(`
  with pairs as (
    select connection_id, rule_id, bool_or(covers) as covers from (
      select c.id as connection_id, r.id as rule_id, true as covers
      from connections c join alert_rules r
        on r.organization_id = c.organization_id and coalesce(r.account_id, '') in ('', c.account_id)
          and (r.connection_ids is null or c.id = any(r.connection_ids)) and coalesce(r.enabled, :mailIsSetUp)
      where c.id = any(:connectionIds)
      union all
      select connection_id, rule_id, false from alert_incidents
      where connection_id = any(:connectionIds) and resolved_time is null
    ) found group by connection_id, rule_id
  )
  select p.rule_id, r.account_id as rule_account_id, c.organization_id, c.account_id, p.connection_id, p.covers,
    r.transfer_failed, r.connection_broken, r.rejected_percent, r.no_success_hours, r.volume_percent, c.status,
    (c.status in ('active', 'broken', 'offline') and not c.account_deleted and a.enabled) as live,
    t.id as transfer_id, t.status as transfer_status, t.finished_time as transfer_time, t.error_code, t.error_side,
    s.finished_time as success_time, s.accepted, s.rejected,
    (extract(epoch from now() - greatest(c.created_time, s.finished_time, e.created_time)) / 3600)::float8 as idle_hours,
    v.volumes, i.id as incident_id, i.reasons as incident_reasons, i.opened_time
  from pairs p join connections c on c.id = p.connection_id join alert_rules r on r.id = p.rule_id
  join accounts a on a.id = c.account_id
  left join alert_incidents i
    on i.rule_id = p.rule_id and i.connection_id = p.connection_id and i.resolved_time is null
  left join lateral ${newestOf('succeeded', 'partial', 'failed')} t on true
  left join lateral ${newestOf('succeeded', 'partial')} s on true
  left join lateral (
    select created_time from connection_events
    where connection_id = c.id and kind = 'status' and became = 'active' and r.no_success_hours is not null
    order by number desc limit 1
  ) e on true
  left join lateral (
    select array_agg(least(coalesce(l.accepted, 0), 2147483647)::integer order by d.day desc) as volumes
    from (
      select (now() at time zone 'utc')::date - 1 - 7 * week as day from generate_series(0, :weeks::integer) as week
    ) d
    cross join lateral (
      select sum(accepted)::bigint as accepted from ledger
      where account_id = c.account_id and connection_id = c.id and day = d.day
    ) l
    where r.volume_percent is not null
      and exists (select from ledger where account_id = c.account_id and connection_id = c.id and day <= d.day)
  ) v on true
`)

/** What is to be written of incidents that are opened. */
export type OpenedIncident = {
  id: string
  ruleId: string
  ruleAccountId: string | null
  organizationId: string
  accountId: string
  connectionId: string
  reasons: readonly AlertReason[]
  transferId: string | null
  errorCode: string | null
  errorSide: Role | null
  openedTime: Date | null
}
/** What webhooks get of an incident, beside its sub-account and its connection. */
const eventData = `
    'incidentId', i.id, 'ruleId', i.rule_id, 'ruleName', r.name, 'reasons', to_json(i.reasons), 'transferId', i.transfer_id,
    'errorCode', i.error_code, 'errorSide', i.error_side, 'openedTime', floor(extract(epoch from i.opened_time))::bigint`

/** Opens incidents, each to be announced, with its event. */
export const openIncidents = statement<{ incidents: string }>(`
  with opened as (
  insert into alert_incidents (id, rule_id, rule_account_id, organization_id, account_id, connection_id, reasons,
    transfer_id, error_code, error_side, opened_time, pending)
  select id, "ruleId", "ruleAccountId", "organizationId", "accountId", "connectionId",
    array(select jsonb_array_elements_text(reasons)), "transferId", "errorCode", "errorSide",
    coalesce("openedTime", now()), 'opened'
  from jsonb_to_recordset(:incidents::jsonb) as opened (
    id text, "ruleId" text, "ruleAccountId" text, "organizationId" text, "accountId" text, "connectionId" text,
    reasons jsonb, "transferId" text, "errorCode" text, "errorSide" text, "openedTime" timestamptz
  )
  on conflict (rule_id, connection_id) where resolved_time is null do nothing
  returning *
  )
  select emit_event('alert.opened', i.organization_id, i.account_id, i.connection_id, json_build_object(${eventData}))
  from opened i join alert_rules r on r.id = i.rule_id
`)
export const extendIncidents = statement<{ incidents: string }>(`
  update alert_incidents i set reasons = array(select jsonb_array_elements_text(x.reasons))
  from jsonb_to_recordset(:incidents::jsonb) as x (id text, reasons jsonb) where i.id = x.id
`)
/**
 * Resolves incidents. That it is over is announced where it was announced that it began; not where the rule was changed so
 * that it is off, or does not cover the connection.
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
  from resolved i join alert_rules r on r.id = i.rule_id
`)

/** Takes a sweep that is due, and says when the next one is. */
export const takeSweep = statement<{ name: string; nextTime: Date }, { name: string }>(`
  update alert_sweeps set next_time = :nextTime where name = :name and next_time <= now() returning name
`)

/** Has connections looked at that have an open incident, or no success for as long as a rule allows and no incident yet. */
export const sweepOpenAndIdle = statement<Record<never, never>>(`
  insert into alert_checks (connection_id)
  select connection_id from alert_incidents where resolved_time is null
  union
  select c.id from alert_rules r join connections c
    on c.organization_id = r.organization_id and (r.account_id is null or c.account_id = r.account_id)
      and (r.connection_ids is null or c.id = any(r.connection_ids))
  where r.no_success_hours is not null and r.enabled is not false
    and c.status in ('active', 'broken', 'offline') and not c.account_deleted
    and c.created_time < now() - make_interval(hours => r.no_success_hours)
    and not exists (
      select from transfers t where t.connection_id = c.id and t.status in ('succeeded', 'partial')
        and t.created_time > now() - make_interval(hours => r.no_success_hours)
    )
`)
/** Has every connection looked at whose volume a rule compares. */
export const sweepVolumes = statement<Record<never, never>>(`
  insert into alert_checks (connection_id)
  select distinct c.id from alert_rules r join connections c
    on c.organization_id = r.organization_id and (r.account_id is null or c.account_id = r.account_id)
      and (r.connection_ids is null or c.id = any(r.connection_ids))
  where r.volume_percent is not null and r.enabled is not false
    and c.status in ('active', 'broken', 'offline') and not c.account_deleted
`)
