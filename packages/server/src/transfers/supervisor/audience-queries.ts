import type { Values } from '@penstock/connector'
import { statement } from '../../db/statement.ts'

/** Statements about the audiences that connections feed, of which platforms are asked once a day. */

/** Has the audiences of a connection measured an hour after its first transfer, and then once a day. */
export const watchAudiences = statement<{ connectionId: string }>(`
  insert into audience_checks (connection_id, next_time) values (:connectionId, now() + interval '1 hour')
  on conflict (connection_id) do nothing
`)
export const forgetAudiences = statement<{ connectionId: string }>(`
  delete from audience_checks where connection_id = :connectionId
`)

export type TakenCheck = {
  organizationId: string
  connectionId: string
  accountId: string
  destConnectorId: string
  destConfigurationId: string
  destConfig: Values
  /** Whether data can move; otherwise the platform is not asked. */
  live: boolean
  dataKeyId: string | null
  stateSealed: Buffer | null
}
/**
 * Takes connections that are due, each put off for a day already. None while schedules are paused since a backup was restored: the
 * original service may use the same tokens.
 */
export const takeChecks = statement<{ limit: number }, TakenCheck>(`
  with due as materialized (
    select connection_id from audience_checks
    where next_time <= now() and not exists (select from schedule_pauses where reason = 'restore')
    order by next_time limit :limit for update skip locked
  ), taken as (
    update audience_checks a set next_time = now() + interval '1 day' from due d where a.connection_id = d.connection_id
    returning a.connection_id
  )
  select c.organization_id, c.id as connection_id, c.account_id, c.dest_connector_id, c.dest_configuration_id, c.dest_config,
    c.status = 'active' and not c.account_deleted and a.enabled as live, s.data_key_id, s.state_sealed
  from taken t join connections c on c.id = t.connection_id join accounts a on a.id = c.account_id
    left join connection_states s on s.connection_id = c.id
`)

/** Makes this the key of the connection, unless a transfer has made one meanwhile. */
export const keepFirstKey = statement<{ connectionId: string; dataKeyId: string }>(`
  insert into connection_states (connection_id, data_key_id) values (:connectionId, :dataKeyId)
  on conflict (connection_id) do update set data_key_id = excluded.data_key_id
  where connection_states.data_key_id is null
`)

/** Stores the measures of a day, in place of earlier ones, and removes those of more than `keptDays` ago. */
export const storeMeasures = statement<{
  connectionId: string
  day: string
  sealed: Buffer
  smallest: number | null
  matchRate: number | null
  matchRateBefore: number | null
  keptDays: number
}>(`
  with old as (
    delete from audience_measures where connection_id = :connectionId and day < :day::date - :keptDays::integer
  ), checked as (
    update audience_checks set measured_time = now(), problem = null, smallest = :smallest,
      match_rate = :matchRate, match_rate_before = :matchRateBefore
    where connection_id = :connectionId
  )
  insert into audience_measures (connection_id, day, sealed) values (:connectionId, :day, :sealed)
  on conflict (connection_id, day) do update set sealed = excluded.sealed
`)
export const storeProblem = statement<{ connectionId: string; problem: string }>(`
  update audience_checks set problem = :problem where connection_id = :connectionId
`)
