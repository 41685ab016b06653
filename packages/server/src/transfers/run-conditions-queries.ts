import type { RunConditions, TransferGroup } from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { statement } from '../db/statement.ts'

/** Statements of run conditions, and of the groups of a sub-account. */

/** Locks the conditions and the groups of a sub-account: they are changed by one transaction at a time. */
export const lockConditions = statement<{ accountId: string }>(`
  select pg_advisory_xact_lock(hashtext('penstock run conditions'), hashtext(:accountId))
`)

/** A connection that is waited for, `u`, for `d.connection_id`. */
const stateOf = `
  case
    when u.id is null or u.status = 'deleted' then 'deleted'
    when u.status <> 'active' then 'inactive'
    when last_success_time(u.id) > coalesce(last_run_time(d.connection_id), '-infinity') then 'done'
    when exists (
      select from transfers t where t.connection_id = u.id and t.latest and t.status in ('failed', 'cancelled')
    ) then 'failed'
    else 'waiting'
  end`

export const findConditions = statement<{ accountId: string; connectionId: string }, RunConditions>(`
  select c.id as connection_id,
    (select g.group_name from connection_groups g where g.connection_id = c.id) as "group",
    coalesce((
      select jsonb_agg(
        jsonb_build_object('connectionId', d.after_connection_id, 'name', u.name, 'state', ${stateOf})
        order by u.name, d.after_connection_id
      )
      from connection_dependencies d left join connections u on u.id = d.after_connection_id
      where d.connection_id = c.id
    ), '[]') as run_after
  from connections c
  where c.id = :connectionId and c.account_id = :accountId and not c.account_deleted and ${isKept('c')}
`)

/** The connections that exist in the sub-account and are not deleted. */
export const findNamed = statement<{ accountId: string; ids: readonly string[] }, { id: string; name: string }>(`
  select id, name from connections
  where id = any(:ids) and account_id = :accountId and status <> 'deleted' and not account_deleted
`)

/** The connections that run after the given one, directly or through others. */
export const findLooped = statement<{ connectionId: string; ids: readonly string[] }, { id: string }>(`
  with recursive earlier (root, id) as (
    select named, named from unnest(:ids::text[]) named
    union
    select e.root, d.after_connection_id
    from earlier e join connection_dependencies d on d.connection_id = e.id
    where e.id <> :connectionId
  )
  select distinct root as id from earlier where id = :connectionId
`)

/** Replaces the connections that one runs after. */
export const putDependencies = statement<{
  connectionId: string
  organizationId: string
  accountId: string
  ids: readonly string[]
}>(`
  with removed as (
    delete from connection_dependencies where connection_id = :connectionId and after_connection_id <> all(:ids::text[])
  )
  insert into connection_dependencies (connection_id, after_connection_id, organization_id, account_id)
  select :connectionId, named, :organizationId, :accountId from unnest(:ids::text[]) named
  on conflict do nothing
`)

export const putGroupOf = statement<{ connectionId: string; accountId: string; group: string }>(`
  insert into connection_groups (connection_id, account_id, group_name) values (:connectionId, :accountId, :group)
  on conflict (connection_id) do update set group_name = excluded.group_name
`)
export const deleteGroupOf = statement<{ connectionId: string }>(`
  delete from connection_groups where connection_id = :connectionId
`)

/** Adds an event to the history of a connection, which the caller has locked. */
export const addEvent = statement<{ connectionId: string; kind: string; from: string | null; to: string | null }>(`
  select add_connection_event(:connectionId, :kind, :from::text, :to::text, null)
`)

type GroupScope = {
  organizationId: string
  /** Null: of all sub-accounts. */
  accountId: string | null
  /** The sub-accounts that the actor is limited to; null: all. */
  accountIds: readonly string[] | null
}
const groupsOf = `
  from transfer_groups g join accounts a on a.id = g.account_id
  where a.organization_id = :organizationId and a.deleted_time is null
    and (:accountId::text is null or g.account_id = :accountId)
    and (:accountIds::text[] is null or g.account_id = any(:accountIds))`

export const listGroups = statement<GroupScope & { size: number; offset: number }, TransferGroup>(`
  select g.account_id, g.name, g.transfers_max,
    (
      select count(*) from connection_groups k join connections c on c.id = k.connection_id
      where k.account_id = g.account_id and k.group_name = g.name and c.status <> 'deleted'
    ) as connections,
    runs_of_group(g.account_id, g.name) as running,
    (
      select count(*) from active_transfers t
      where t.account_id = g.account_id and t.group_name = g.name and not t.running
    ) as waiting
  ${groupsOf} order by g.name, g.account_id limit :size offset :offset
`)
export const countGroups = statement<GroupScope, { total: number }>(`select count(*) as total ${groupsOf}`)

/** Whether a sub-account has a group. */
export const findGroup = statement<{ accountId: string; name: string }, { name: string }>(`
  select name from transfer_groups where account_id = :accountId and name = :name
`)

export const deleteOtherGroups = statement<{ accountId: string; names: readonly string[] }>(`
  delete from transfer_groups where account_id = :accountId and name <> all(:names::text[])
`)
export const putGroups = statement<{ accountId: string; names: readonly string[]; limits: readonly number[] }>(`
  insert into transfer_groups (account_id, name, transfers_max)
  select :accountId, name, transfers_max from unnest(:names::text[], :limits::integer[]) as given (name, transfers_max)
  on conflict (account_id, name) do update set transfers_max = excluded.transfers_max
  where transfer_groups.transfers_max <> excluded.transfers_max
`)
